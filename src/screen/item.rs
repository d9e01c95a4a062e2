//! A line of the screen's tree: a session or a run, with its limits and what it does now.

use crate::domain::billing::Billing;
use crate::domain::session::{Order, Status};
use crate::domain::stable_sort::sort_by_key;
use crate::messages::advice::typed;
use crate::report::bars::percent;
use crate::report::doing::Doing;
use crate::report::model::SessionReport;
use crate::report::more_room;
use crate::report::reading::{Budget, LimitReading};
use crate::report::run_report::RunReport;
use crate::report::standing::{INTERRUPTED, WAITS};
use crate::report::suggestion;
use crate::ui::style::Terminal;
use crate::ui::terminal::plain;
use crate::wire::messages::short;

/// How wide the word for where something stands is.
pub const STATE: u16 = 9;

/// A session, or one of its runs, by its full id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemId {
    /// The session.
    pub session: String,
    /// The run; `None` where the session itself is meant.
    pub run: Option<String>,
}

/// How much of one limit is used.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    /// What is counted, in words.
    pub label: String,
    /// How much is used, in per cent; more than 100 past the cap.
    pub percent: u128,
    /// Used and cap, the limit's key and whose rule it is, which are written of the chosen line alone.
    pub reading: LimitReading,
}

impl Gauge {
    /// Makes the gauge of a limit.
    pub fn of(reading: &LimitReading, billing: Billing) -> Gauge {
        Gauge {
            label: reading.cap.limit.label_of(billing).into_owned(),
            percent: percent(reading),
            reading: reading.clone(),
        }
    }

    /// Returns what is counted in one word: `calls`, `time`, `cost`; of a budget its period.
    pub fn word(&self) -> &str {
        noun(&self.label)
    }
}

/// A line of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What it is.
    pub id: ItemId,
    /// How deep it stands in the tree; a session is 0.
    pub depth: usize,
    /// Its name.
    pub name: String,
    /// Where it stands, in a word.
    pub standing: String,
    /// Where it stands.
    pub status: Status,
    /// Tool calls.
    pub turns: u64,
    /// Input, cache-write and output tokens.
    pub tokens: u64,
    /// List price.
    pub cost: String,
    /// What it does now.
    pub doing: String,
    /// Whether it waits for a person.
    pub waits: bool,
    /// Its limits.
    pub gauges: Vec<Gauge>,
    /// What `fusebox grant` is proposed to give: `max_turns=+12`.
    pub proposal: String,
}

impl Item {
    /// Returns its cost without the unit, as a column has it.
    pub fn bare_cost(&self) -> &str {
        self.cost.trim_end_matches(" USD")
    }

    /// Returns the word for where it stands, as a column has it.
    pub fn state(&self) -> &str {
        brief(&self.standing)
    }

    /// Returns the gauge that is nearest to its cap.
    pub fn nearest(&self) -> Option<&Gauge> {
        self.gauges.iter().max_by_key(|gauge| gauge.percent)
    }

    /// Makes the line of a session. What it shares with others stands among its limits: that may stop it first.
    pub fn of_session(session: &SessionReport, shared: &[Budget], doing: String, page: &Terminal) -> Item {
        let billing = page.billing;
        let (standing, status) = session.standing();
        let shared = shared.iter().filter(|budget| budget.reading.tells()).map(|budget| {
            let own = Gauge::of(&budget.reading, billing);
            Gauge { label: format!("{}, {}", own.label, budget.scope.as_str()), ..own }
        });
        let mut gauges: Vec<Gauge> = gauges(&session.limits, billing).into_iter().chain(shared).collect();
        sort_by_key(&mut gauges, |gauge| std::cmp::Reverse(gauge.percent));
        let client = session.client_cost_usd.map(|cost| cost.0);
        let project = session.project.rsplit(['/', '\\']).next().unwrap_or_default();
        Item {
            id: ItemId { session: session.session_id.clone(), run: None },
            depth: 0,
            name: plain(&format!("{} {project}", short(&session.session_id))),
            standing: standing.to_owned(),
            status,
            turns: session.turns,
            tokens: session.tokens,
            // Runs below it have a counted cost in the same column.
            cost: page.client_first(client).map_or(session.cost_usd.0.to_string(), |cost| format!("client {cost}")),
            doing,
            waits: false,
            gauges,
            proposal: proposal(&session.limits, session.order.as_ref()),
        }
    }

    /// Makes the line of a run.
    pub fn of_run(run: &RunReport, session: &SessionReport, depth: usize, doing: Doing, billing: Billing) -> Item {
        Item {
            id: ItemId { session: session.session_id.clone(), run: Some(run.run_id.clone()) },
            depth,
            name: plain(&format!("{} {}", run.kind(), short(&run.run_id))),
            standing: run.standing().to_owned(),
            status: run.status,
            turns: run.turns,
            tokens: run.tokens,
            cost: run.cost_usd.0.to_string(),
            doing: plain(&doing.words),
            waits: doing.waits,
            gauges: gauges(&run.limits, billing),
            proposal: proposal(&run.limits, run.order.as_ref()),
        }
    }
}

/// Returns what a label counts in one word, of a budget its period.
fn noun(label: &str) -> &str {
    let label = label.split(',').next().unwrap_or_default();
    let ends =
        [" of one ", " of sub", " in ", " at ", " with ", " without "].iter().filter_map(|link| label.find(link));
    let noun = &label[..ends.min().unwrap_or(label.len())];
    noun.rsplit(' ').next().unwrap_or_default().trim_start_matches("sub")
}

fn brief(standing: &str) -> &str {
    match standing.split(',').next().unwrap_or_default() {
        "ended by limit" => "at limit",
        INTERRUPTED => "cut off",
        WAITS => "waits",
        word => word,
    }
}

fn gauges(limits: &[LimitReading], billing: Billing) -> Vec<Gauge> {
    let told = limits.iter().filter(|reading| reading.tells());
    told.map(|reading| Gauge::of(reading, billing)).collect()
}

/// Proposes a sufficient increase of the limit that has given the order, else of the one that is nearest to its cap.
fn proposal(limits: &[LimitReading], order: Option<&Order>) -> String {
    let may_grow = || limits.iter().filter(|reading| reading.tells() && reading.increase > 0);
    let ordered = may_grow().find(|reading| order.is_some_and(|order| order.finding.source == *reading.limit));
    // Of several that are as near the first counts: what is spent stands before what is counted.
    let nearest = || may_grow().rev().max_by_key(|reading| percent(reading));
    let proposed = ordered.or_else(nearest);
    proposed.map_or_else(String::new, |reading| {
        let given = order.filter(|order| order.finding.source == *reading.limit).map(|order| &order.finding);
        let more = match given.map(|finding| suggestion::finding_of_now(finding, finding.scope, limits)) {
            Some(finding) => finding.sufficient_increase(),
            None => more_room::sufficient(reading.increase, reading.used.value.saturating_sub(reading.cap.value)),
        };
        format!("{}=+{}", reading.limit, typed(reading.cap.limit, more))
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::domain::action::Action;
    use crate::domain::layer::Layer;
    use crate::domain::limit::Limit;
    use crate::domain::limit_set::LimitRule;
    use crate::domain::scope::Scope;
    use crate::domain::verdict::Finding;
    use crate::ui::formats::Quantity;

    /// Returns what is used of a limit that the project sets.
    pub fn reading(key: &str, used: u64, cap: u64) -> LimitReading {
        let limit = Limit::find(key).unwrap();
        let [used, cap] = [used, cap].map(|value| Quantity { limit, value });
        LimitReading {
            limit: key.to_owned(),
            used,
            to_finish: 0,
            cap,
            action: Action::Terminate,
            layer: Layer::Project,
            increase: 0,
            per_ms: None,
            frees_in_ms: None,
        }
    }

    #[test]
    fn what_a_column_has_room_for_says_what_it_is() {
        for (standing, state) in
            [(INTERRUPTED, "cut off"), ("held, waits for resume", "held"), ("ended by limit", "at limit")]
        {
            assert_eq!(brief(standing), state);
            assert!(state.len() <= usize::from(STATE), "{state}");
        }
        for (label, word) in [
            ("subagents at once", "agents"),
            ("batches with a refusal in a row", "batches"),
            ("cost of the day, user", "day"),
        ] {
            assert_eq!(noun(label), word);
        }
    }

    #[test]
    fn as_much_is_proposed_as_lets_it_go_on() {
        let limit = Limit::find("max_turns").unwrap();
        let (action, layer, cap) = (Action::Terminate, Layer::User, 10);
        for (used, is_stopped, more) in [(10, true, 5), (14, true, 5), (17, true, 10), (3, false, 5), (17, false, 10)] {
            let reading = LimitReading { action, layer, increase: 5, ..reading("max_turns", used, cap) };
            let (increase, models, billing, responses_alone) = (5, None, Billing::default(), false);
            let rule =
                LimitRule { limit, cap, action, layer, increase, models, locked: false, billing, responses_alone };
            let finding = Finding::of(&rule, Scope::Run, used);
            let order = Order::halted(finding, None);
            let proposed = proposal(&[reading], Some(&order).filter(|_| is_stopped));
            assert_eq!(proposed, format!("max_turns=+{more}"), "{used}, {is_stopped}");
        }
    }
}
