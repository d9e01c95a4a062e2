//! Which next step is right: for a person whose work a limit or an order holds.

use crate::domain::action::Action;
use crate::domain::frees::Frees;
use crate::domain::limit::Limit;
use crate::domain::scope::Scope;
use crate::domain::spend::amount::Amount;
use crate::domain::unit::Unit;
use crate::domain::verdict::Finding;
use crate::messages::next_step::NextStep;
use crate::messages::short;

/// Returns a value of a limit as people would type it, never less than it is: whole seconds, whole cents.
pub fn typed(limit: &Limit, value: u64) -> String {
    match limit.unit {
        Unit::Usd => Amount(value).typed(),
        Unit::Millis => (value.div_ceil(1000) * 1000).to_string(),
        Unit::Count | Unit::Tokens | Unit::Percent | Unit::Switch => value.to_string(),
    }
}

/// Returns the step that resumes a run or session.
pub fn resume(id: &str) -> NextStep {
    NextStep::Resume { id: short(id).to_owned() }
}

/// Returns the step that gives so much more of a finding's limit that work goes on; of a locked one, whoever may.
pub fn grant(finding: &Finding, id: &str) -> NextStep {
    let (Some(limit), 1..) = (finding.limit(), finding.increase) else { return NextStep::Administrator };
    let whose = match finding.scope {
        Scope::Project | Scope::User | Scope::Team => finding.scope.as_str(),
        Scope::Run | Scope::Session | Scope::Outer => short(id),
    };
    let increase = finding.sufficient_increase();
    let is_mostly_spent = finding.overshoot() > increase / 2;
    let spent = if is_mostly_spent { limit.show(finding.overshoot()) } else { String::new() };
    NextStep::Grant { id: whose.to_owned(), limit: finding.source.to_string(), more: typed(limit, increase), spent }
}

/// Who is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// A run of the main agent: the next prompt has one of its own.
    MainRun,
    /// A subagent.
    Subagent,
    /// A session.
    Session,
}

/// Returns what a person does next about work that a finding holds or has ended. `id` is what a command calls its holder.
pub fn lifts(finding: &Finding, stopped: Stopped, id: &str) -> NextStep {
    let is_budget = matches!(finding.scope, Scope::Project | Scope::User) && !finding.is_window();
    match (finding.limit(), finding.action) {
        _ if finding.declined && stopped != Stopped::MainRun => resume(id),
        // A resume alone would be paused again at once.
        (Some(_), _) if is_budget && finding.increase > 0 => grant(finding, id),
        (_, Action::Pause) => resume(id),
        _ if stopped == Stopped::MainRun && (finding.scope == Scope::Run || is_of_left_team(finding)) => {
            NextStep::NextPrompt
        }
        _ if stopped == Stopped::MainRun && finding.passes() => NextStep::Passes { when: since_then(&finding.frees) },
        _ if finding.passes() || is_of_left_team(finding) => resume(id),
        (Some(limit), _) if limit.unit != Unit::Switch => grant(finding, id),
        _ => resume(id),
    }
}

/// Whether a team's cap has stopped it that binds no client any more: one that binds says when it passes, or whom to ask.
fn is_of_left_team(finding: &Finding) -> bool {
    finding.scope == Scope::Team && !finding.passes()
}

/// Says when a limit passes that may have tripped a while ago: `in 12 s` was true then.
fn since_then(frees: &Frees) -> String {
    match frees {
        Frees::In(span) => format!("{span} after it tripped"),
        other => other.to_string(),
    }
}
