//! A team's caps as reports show them: what the store has said of each, and what this machine may spend.

use crate::domain::action::Action;
use crate::domain::budget::SharedBudget;
use crate::domain::layer::Layer;
use crate::domain::limit::Limit;
use crate::domain::moment::Moment;
use crate::domain::scope::Scope;
use crate::domain::spend::amount::Amount;
use crate::domain::team_cap::CapUse;
use crate::report::reading::{self, Budget, LimitReading, of_shared_budget};
use crate::report::rows::SessionRows;
use crate::ui::formats::Quantity;

/// Reads what these sessions share: the budgets of the user and of the projects, and the caps of their team.
pub fn with_team(rows: &[SessionRows], shared_budgets: &[SharedBudget], now: Moment) -> Vec<Budget> {
    let mut budgets = reading::budgets(rows, shared_budgets, now);
    budgets.extend(team(rows, shared_budgets, now));
    budgets
}

/// Reads the caps of the latest session's team. Where nobody has set one, returns what this machine may spend alone.
fn team(rows: &[SessionRows], shared_budgets: &[SharedBudget], now: Moment) -> Vec<Budget> {
    let in_team = rows.iter().map(|rows| &rows.session).filter(|session| session.team.is_some());
    let Some(session) = in_team.max_by_key(|session| session.last.wall_ms) else { return Vec::new() };
    let Some(terms) = &session.team else { return Vec::new() };
    let known = shared_budgets.iter().find(|budget| budget.scope == Scope::Team && budget.id == terms.name);
    let mut budget = known.cloned().unwrap_or_else(|| SharedBudget::new(Scope::Team, &terms.name));
    budget.stand(terms, now);
    let (caps, heard_at) =
        budget.team.as_ref().map(|share| (share.caps.clone(), share.heard_at.clone())).unwrap_or_default();
    let spent: Vec<Amount> = caps.iter().map(|cap| budget.spent_of(cap)).collect();
    let shares = of_shared_budget(session, budget, 0, now);
    let share = shares.first().map(|budget| budget.reading.clone());
    let of_cap = |(cap, spent)| of_cap(cap, spent, share.clone(), &heard_at);
    let budgets: Vec<Budget> = caps.iter().zip(spent).filter_map(of_cap).collect();
    if !budgets.is_empty() {
        return budgets;
    }
    shares.into_iter().map(|budget| Budget { share: share.clone(), is_set: false, ..budget }).collect()
}

fn of_cap(cap: &CapUse, spent: Amount, share: Option<LimitReading>, heard_at: &str) -> Option<Budget> {
    let limit = Limit::on_cost_of(cap.span())?;
    let quantity = |amount: Amount| Quantity { limit, value: amount.0 };
    let reading = LimitReading {
        limit: limit.key.to_owned(),
        used: quantity(spent),
        to_finish: 0,
        cap: quantity(cap.cap),
        action: Action::Terminate,
        layer: Layer::Team,
        increase: 0,
        per_ms: None,
        frees_in_ms: None,
    };
    let (remaining, anew) = (reading.left(), cap.resets.clone());
    let own = spent.minus(cap.spent.minus(cap.own));
    let since = if own > Amount::ZERO { format!(", and {own} of this machine since") } else { String::new() };
    let (scope, id, heard_at) = (Scope::Team, cap.owner(), format!("{heard_at}{since}"));
    let leaves = Some((format!("{} ", cap.named()), cap.cap.minus(cap.committed.max(cap.spent)).0));
    let asks = cap.asks();
    Some(Budget { scope, id, reading, remaining, resets: None, anew, asks, leaves, heard_at, share, is_set: true })
}
