//! What limits fit an agent type, from what its past runs needed, and the page that says so.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::config::limit_name;
use crate::config::policy::Policy;
use crate::domain::limit::Limit;
use crate::domain::run_figure::{MEANING, MEANING_UNHOOKED};
use crate::domain::unit::Unit;
use crate::replay::evidence::{FIGURES, MAIN, TypeRuns};
use crate::replay::quantile::{Observation, quantile};
use crate::ui::formats::{Quantity, counted};
use crate::ui::style::{Style, Terminal, plain};
use crate::ui::table::{Align, Column, table};

/// The finished runs below which nothing is suggested.
const ENOUGH: usize = 20;

/// How many times what 90 of 100 runs need a run has used that ran away: it says nothing of what work needs.
const RUNAWAY: u64 = 10;

/// What is said of the runs of all agent types.
#[derive(Serialize)]
pub struct Suggestions {
    /// The version of this JSON.
    pub version: u32,
    /// The sessions that were played.
    pub sessions: usize,
    /// Those whose transcripts are gone: what the state has of them counts in, too.
    pub sessions_without_transcript: usize,
    /// Each agent type that ran.
    pub agents: Vec<AgentType>,
}

/// What is said of one agent type.
#[derive(Serialize)]
pub struct AgentType {
    /// Its name; `main` is the main agent.
    pub agent_type: String,
    /// Its runs.
    pub runs: usize,
    /// Those that came to their end by themselves.
    pub finished: usize,
    /// Each limit that its runs can be held against.
    pub limits: Vec<Suggested>,
}

/// What is said of one limit of an agent type.
#[derive(Serialize)]
pub struct Suggested {
    /// The limit's name in a fusebox.json.
    pub limit: &'static str,
    /// What half of the runs need at most; none where too many did not finish.
    pub p50: Option<Quantity>,
    /// What 90 of 100 runs need at most.
    pub p90: Option<Quantity>,
    /// What 99 of 100 runs need at most.
    pub p99: Option<Quantity>,
    /// The cap that fits; none where there is no reason for one.
    pub suggested: Option<Quantity>,
    /// Why.
    pub reason: String,
    /// The past runs in which it would have tripped.
    pub would_trip: Option<usize>,
    /// The past runs in which it would have tripped, as a share of all, 0 to 1.
    pub would_trip_share: Option<f64>,
}

impl Suggestions {
    /// Adds the runs that no replay can try: one that has used more than a suggested limit would have tripped it.
    pub fn add_trips_of(&mut self, types: &BTreeMap<String, TypeRuns>) {
        for agent in &mut self.agents {
            let Some(of_type) = types.get(&agent.agent_type) else { continue };
            for limit in &mut agent.limits {
                let figure = FIGURES.iter().position(|(figure, _)| {
                    limit_name::named(limit.limit).is_some_and(|named| named.limit.run_figure == Some(*figure))
                });
                let (Some(figure), Some(trips), Some(cap)) = (figure, limit.would_trip, limit.suggested) else {
                    continue;
                };
                let trips = trips + of_type[figure].iter().filter(|run| run.used > cap.value).count();
                limit.would_trip = Some(trips);
                limit.would_trip_share = Some(trips as f64 / agent.runs.max(1) as f64);
            }
        }
    }
}

/// Says what fits one agent type.
pub fn agent(policy: &Policy, name: &str, runs: &TypeRuns) -> AgentType {
    let finished = runs[0].iter().filter(|it| it.finished).count();
    let limits = FIGURES.iter().zip(runs).filter_map(|((figure, _), observations)| {
        let limit = limit_name::names().find(|named| named.limit.run_figure == Some(*figure))?.limit;
        Some(suggested(policy, name, limit, observations, finished))
    });
    AgentType { agent_type: name.to_owned(), runs: runs[0].len(), finished, limits: limits.collect() }
}

fn suggested(
    policy: &Policy,
    name: &str,
    limit: &'static Limit,
    observations: &[Observation],
    finished: usize,
) -> Suggested {
    let quantity = |value| Quantity { limit, value };
    let [p50, p90, p99] = [50, 90, 99].map(|percent| quantile(observations, percent));
    let largest = observations.iter().map(|it| it.used).max().unwrap_or(0);
    let stopped = observations.len() - finished;
    let ran_away = |used: u64| p90.is_some_and(|p90| p90 > 0 && used > p90.saturating_mul(RUNAWAY));
    let runaways = observations.iter().filter(|it| ran_away(it.used)).count();
    let tame = observations.iter().map(|it| it.used).filter(|used| !ran_away(*used)).max().unwrap_or(0);
    let basis = p99.unwrap_or(largest).min(tame);
    let is_led_astray = basis < p99.unwrap_or(largest);
    let cap = rounded(limit.unit, basis.saturating_mul(2));
    let ceiling = policy.resolved(policy.who(name)).resolved().ceiling(limit).filter(|_| name != MAIN);
    let bound = ceiling.map_or(cap, |it| cap.clamp(it.range.0, it.range.1));
    let counts = match stopped {
        0 => format!("{finished} finished"),
        _ => format!("{finished} finished, {stopped} did not"),
    };
    // A name with `*` would be a pattern for others too.
    let reason = match p99 {
        _ if finished < ENOUGH => format!("{}: {ENOUGH} are needed", counted(finished as u64, "finished run")),
        _ if name.is_empty() || name.contains('*') => "its name cannot stand in a fusebox.json".to_owned(),
        // What was not used or not counted says nothing of what is needed.
        _ if basis == 0 => format!("its runs used none of it ({counts})"),
        _ if is_led_astray => {
            let runs = counted(runaways as u64, "run");
            let tame = limit.show(tame);
            format!(
                "without {runs} of over {RUNAWAY} times what 90 of 100 need, the largest is {tame} ({counts}); twice that"
            )
        }
        Some(p99) => format!("99 of 100 runs need at most {} ({counts}); twice that", limit.show(p99)),
        None => format!("too many of the largest runs did not finish ({counts}); twice the largest"),
    };
    let is_enough = finished >= ENOUGH && !name.is_empty() && !name.contains('*') && basis > 0 && bound > 0;
    let reason = if is_enough && bound < cap { format!("{reason}, but no more than the ceiling") } else { reason };
    Suggested {
        limit: limit.key,
        p50: p50.map(quantity),
        p90: p90.map(quantity),
        p99: p99.map(quantity),
        suggested: is_enough.then(|| quantity(bound)),
        reason,
        would_trip: None,
        would_trip_share: None,
    }
}

/// Rounds a cap up to whole seconds, cents, and thousands of tokens.
fn rounded(unit: Unit, value: u64) -> u64 {
    let step = match unit {
        Unit::Millis | Unit::Tokens => 1_000,
        Unit::Usd => 10_000_000_000,
        Unit::Count | Unit::Percent | Unit::Switch => 1,
    };
    value.div_ceil(step).max(1).saturating_mul(step)
}

const COLUMNS: [Column; 7] = [
    Column::new("AGENT TYPE", Align::Left, 0),
    Column::new("LIMIT", Align::Left, 0),
    Column::new("50 %", Align::Right, 2),
    Column::new("90 %", Align::Right, 1),
    Column::new("99 %", Align::Right, 0),
    Column::new("SUGGESTED", Align::Right, 0),
    Column::new("WOULD TRIP", Align::Right, 0),
];

/// What a hyphen in the table says.
const NONE: &str = "`-`: too few runs came to their end to tell, or nothing is suggested.";

/// Writes the suggestions as a table, with the reason of each, and how they get into the file.
pub fn page(said: &Suggestions, terminal: &Terminal, file: &str, writes: bool) -> String {
    let mut rows = Vec::new();
    let mut reasons = String::new();
    for agent in &said.agents {
        let show = |value: Option<Quantity>| value.map_or("-".to_owned(), Quantity::show);
        for limit in &agent.limits {
            let trips = limit.would_trip.map_or("-".to_owned(), |trips| format!("{trips} of {}", agent.runs));
            let cells = [agent.agent_type.clone(), limit.limit.to_owned()].into_iter();
            let figures = [limit.p50, limit.p90, limit.p99, limit.suggested].map(show);
            rows.push((Style::Plain, cells.chain(figures).chain([trips]).collect()));
        }
        let mut told: Vec<String> = Vec::new();
        for limit in &agent.limits {
            let is_same = agent.limits.iter().all(|other| other.reason == limit.reason);
            let of = if is_same { String::new() } else { format!(" {}", limit.limit) };
            told.push(format!("{}{of}: {}", plain(&agent.agent_type), limit.reason));
        }
        told.dedup();
        reasons.extend(told.iter().map(|line| terminal.wrap("", line)));
    }
    if rows.is_empty() {
        return "no past run was found that this could be told from\n".to_owned();
    }
    let gone = match said.sessions_without_transcript {
        0 => String::new(),
        gone => format!(", and in {} whose transcripts are gone", counted(gone as u64, "session")),
    };
    let mut text = format!("what past runs used, in {}{gone}\n\n", counted(said.sessions as u64, "session"));
    text += &table(&COLUMNS, &rows, terminal);
    text = text + "\n" + &reasons;
    text += &terminal.wrap("", &format!("{MEANING} {MEANING_UNHOOKED} {NONE}"));
    if !writes
        && !file.is_empty()
        && said.agents.iter().flat_map(|agent| &agent.limits).any(|limit| limit.suggested.is_some())
    {
        text += &terminal.wrap("", &format!("`fusebox suggest --write` puts them into {}", plain(file)));
    }
    text
}
