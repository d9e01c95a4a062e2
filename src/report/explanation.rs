//! Why a limit tripped, and what would have helped, in sentences.

use crate::domain::billing::Billing;
use crate::domain::finding_source::pattern_in;
use crate::domain::frees::Frees;
use crate::domain::layer::LAYERS;
use crate::domain::limit::{Ends, Form, Limit};
use crate::domain::limit_meter::{ComingStep, Meter, Stage};
use crate::domain::loops::denials::LAST_FOR;
use crate::domain::moment::Moment;
use crate::domain::record::Warning;
use crate::domain::run::kind_of;
use crate::domain::scope::Scope;
use crate::domain::session::{Run, Session, Status};
use crate::domain::text::duration;
use crate::domain::unit::Unit;
use crate::domain::verdict::Finding;
use crate::engine::estimate;
use crate::messages::advice::typed;
use crate::report::reading::{self, LimitReading};
use crate::report::rows::TimelineSource;
use crate::report::run_report::RunReport;
use crate::report::suggestion;
use crate::report::trip::Trip;
use crate::ui::formats::Quantity;
use crate::ui::style::plain;
use crate::wire::messages::{bare_of_label, short};

/// The scopes beyond a run: how the log calls them, how a sentence does, and the block of the configuration that holds them.
const WIDE: [(&str, &str, &str); 4] = [
    ("session", " of the whole session", "session"),
    ("outer session", " of the session that started this one", "session"),
    ("project", " of all sessions of this repository", "project"),
    ("user", " of all sessions of this user", "user"),
];

/// What a limit has done that had no room for the prompt that began a run.
const BLOCKED: &str = "Nothing was ended: a prompt was blocked";
/// What a limit does that has no room for a prompt, whatever its action.
const KEPT_BACK: &str = "Nothing was ended: a prompt was blocked, or a turn that had ended was not prolonged";

/// What a limit does that hooks pass at an agent's end.
const HAD_ENDED: &str = "Nothing was stopped: its work was done, and what hooks asked at its end passed the cap";

/// Says which limit tripped, whose it was, what it did, and when it passes by itself.
pub fn why(run: &RunReport, trip: &Trip, frees: Option<Frees>, billing: Billing) -> String {
    let Some(limit) = Limit::find(&trip.limit) else { return String::new() };
    let show = |value: Option<Quantity>| value.map(|it| it.show()).unwrap_or_default();
    let over = WIDE.iter().find(|row| row.0 == trip.scope).map_or("", |row| row.1);
    let owner = LAYERS.iter().find(|row| row.1 == trip.layer).map_or("", |row| row.2);
    let (used, cap, label) = (show(trip.used), show(trip.cap), limit.label_of(billing));
    let subject = plain(trip.subject.as_deref().unwrap_or_default());
    let who = format!("{} ({})", plain(run.kind()), short(&run.run_id));
    let what = match (limit.unit, limit.form) {
        _ if trip.scope == Scope::Team.as_str() => {
            // When that passes is said of the prompt that it blocks.
            format!("{who} was held back by the team: {subject}")
        }
        (Unit::Switch, _) if subject.is_empty() => format!("{who} repeated itself; {} was set by {owner}", limit.key),
        (Unit::Switch, _) => format!("{who} repeated itself: {subject}; {} was set by {owner}", limit.key),
        (_, Form::Windows) => {
            let frees = frees.map(|frees| format!(", the next slot to open {}", plain(&frees.to_string())));
            let frees = frees.unwrap_or_default();
            format!("{who} was at {used} of {cap} {label}{over} ({subject}){frees}; the cap was set by {owner}")
        }
        (..) if limit.ends == Ends::Call => {
            format!("{who} asked for one more when {label}{over} stood at {used}; the cap of {cap} was set by {owner}")
        }
        (..) if let Some(did) = limit.texts.did => format!("{who} {}; the cap of {cap} was set by {owner}", did(&used)),
        _ => {
            let models =
                pattern_in(&trip.limit).map(|like| format!(" on models like `{}`", plain(like))).unwrap_or_default();
            let anew = frees.map(|frees| format!(", which begins anew {}", plain(&frees.to_string())));
            let anew = anew.unwrap_or_default();
            // What the label names is not said again: `tokens 7012120`, `cost 6.03 USD`.
            let bare = trip.used.map(|used| bare_of_label(limit, used.value)).unwrap_or_default();
            let stands = match (limit.unit, over) {
                (Unit::Usd | Unit::Tokens, over) => format!("was at {label}{models}{over} {bare}"),
                (_, "") => format!("used {used} {label}{models}"),
                (_, over) => format!("was at {used} {label}{models}{over}"),
            };
            format!("{who} {stands}{}{anew}; the cap of {cap} was set by {owner}", trip.ahead())
        }
    };
    // What refuses single calls does so where it would end a run otherwise.
    let did = match trip.warning.filter(|_| !trip.observed) {
        Some(Warning::CallRefused) => "The call was refused, and the run went on".to_owned(),
        Some(Warning::KeptBack) if run.is_blocked_prompt() => BLOCKED.to_owned(),
        Some(Warning::KeptBack) => KEPT_BACK.to_owned(),
        None if run.status == Status::Failed && !run.partial => HAD_ENDED.to_owned(),
        _ => format!("Its action is {}: {}", trip.action, did(trip)),
    };
    format!("{what}. {did}.")
}

fn did(trip: &Trip) -> &'static str {
    match trip.action.as_str() {
        _ if trip.mode == "off" => "nothing was blocked, since a person had switched the limits off",
        _ if trip.observed => "nothing was blocked, since the mode is observe",
        "warn" => "the limit only warns, and work went on",
        "request_increase" => "no Yes counted, or nobody was asked: the run was stopped, and its work is partial",
        "pause" => "the run was paused and its work kept",
        _ => "the run was stopped and its work is partial",
    }
}

/// What is said of a team's cap that was used up.
const WHAT_OTHERS_SPEND: &str = "What others of the team spend counts too; `fusebox team status` shows its caps.";

/// Says what would have helped.
pub fn helps(source: &TimelineSource, run: &Run, trip: &Trip) -> String {
    if trip.observed {
        return "Nothing was blocked, so nothing is to be done.".to_owned();
    }
    if trip.scope == Scope::Team.as_str() && !source.is_in_team {
        return "This machine takes no part in that team any more: its caps bind no session that begins now."
            .to_owned();
    }
    if trip.scope == Scope::Team.as_str() {
        let waits_for_store = matches!(trip.frees.clone().map(Frees::from), Some(Frees::Once(_)));
        return if waits_for_store { "" } else { WHAT_OTHERS_SPEND }.to_owned();
    }
    let (Some(limit), Some(cap)) = (Limit::find(&trip.limit), trip.cap) else { return String::new() };
    let block = WIDE.iter().find(|row| row.0 == trip.scope).map_or("the agent's block", |row| row.2);
    match (limit.form, trip.scope.as_str()) {
        _ if let Some(advice) = limit.texts.advice => advice.to_owned() + &opens(source, run, trip),
        (Form::Windows, _) => format!(
            "Spread over time nothing would have been refused; more in the same time takes a larger number in `{}`.",
            limit.key
        ),
        _ if limit.ends == Ends::Call => {
            let (key, enough) = (limit.key, cap.value + 1);
            format!("A cap of {enough} (`{key}: {enough}` in `{block}`) would have let this call through.")
        }
        (_, "session") => {
            let id = short(&source.rows.session.id);
            match enough(source, trip) {
                Some(more) => {
                    let more = format!("{}=+{}", plain(&trip.limit), typed(limit, more));
                    format!("The cap is the whole session's; `fusebox grant {id} {more}` gives more.")
                }
                // What tripped once holds nothing any more.
                None => format!("The cap was the whole session's; a larger `{}` in `session` gives more.", trip.limit),
            }
        }
        (_, "outer session") => {
            let outer = source.rows.session.outer.as_deref().map_or("ID", short);
            format!(
                "The cap is that other session's; `fusebox grant {outer} {}` gives more.",
                more(trip, limit, cap.value)
            )
        }
        (_, "project" | "user") => format!(
            "The budget is shared: what other sessions spend counts too. A larger `{}` in `{block}` gives more each time.",
            trip.limit
        ),
        _ => from_peers(source, run, trip, cap),
    }
}

/// Says when the window of the rate opens again that the last refusal was for.
fn opens(source: &TimelineSource, run: &Run, trip: &Trip) -> String {
    let last = trip.subject.as_deref().and_then(|subject| subject.strip_prefix(LAST_FOR)).unwrap_or_default();
    let own = reading::of_run(&source.rows.session, run, source.now).into_iter();
    let shared = reading::budgets(std::slice::from_ref(source.rows), source.budgets, source.now).into_iter();
    let all = own.chain(reading::of_session(source.rows, source.now)).chain(shared.map(|budget| budget.reading));
    let is_last = |it: &LimitReading| !last.is_empty() && it.limit.starts_with(last);
    let windows = all.filter(is_last).filter_map(|it| Some((it.frees_in_ms?, it.limit)));
    match windows.max() {
        None => String::new(),
        Some((0, limit)) => format!(" `{}` has a free slot now.", plain(&limit)),
        Some((ms, limit)) => format!(" `{}` opens its next slot in {}.", plain(&limit), duration::to_pass(ms)),
    }
}

/// How many runs have to come to their end before a cap is compared with them.
const TELLING: usize = 3;

/// Says what would have helped by the largest need of runs of this type that came to their end by themselves.
fn from_peers(source: &TimelineSource, run: &Run, trip: &Trip, cap: Quantity) -> String {
    let is_done = |peer: &&Run| peer.has_finished() && peer.counters.turns > 0;
    let done = source.peers.iter().filter(is_done);
    let needs: Vec<u64> = done.filter_map(|peer| need(peer, run, &trip.limit, source.now)).collect();
    let kind = plain(kind_of(&run.agent_type));
    let runs = match needs.len() {
        1 => format!("the one {kind} run"),
        count => format!("all {count} {kind} runs"),
    };
    match needs.iter().max() {
        None => format!("No {kind} run has come to its end yet, so how much one needs is not known."),
        Some(most) if *most > cap.value => {
            let enough = limit_text(cap.limit, *most);
            format!(
                "A cap of {enough} sufficed for {runs} that came to an end; this one was cut before, and may need more."
            )
        }
        Some(most) if needs.len() < TELLING => {
            let needed = cap.limit.show(*most);
            format!("For {runs} that came to an end {needed} was enough: that is little to go by.")
        }
        Some(most) => format!(
            "A cap of {} sufficed for {runs} that came to an end: look at what this one was doing before giving it more.",
            limit_text(cap.limit, *most)
        ),
    }
}

/// Returns what is enough for work to go on that a limit of the session holds.
fn enough(source: &TimelineSource, trip: &Trip) -> Option<u64> {
    let orders = source.rows.runs.iter().filter_map(|run| run.order.as_ref());
    let findings = source.rows.session.order.iter().chain(orders).map(|order| &order.finding);
    let same = |finding: &&Finding| finding.source == *trip.limit && finding.scope == Scope::Session;
    let limits = reading::of_session(source.rows, source.now);
    let of_now = |finding: &Finding| suggestion::finding_of_now(finding, Scope::Session, &limits).sufficient_increase();
    findings.chain(&source.rows.session.prompt_block).filter(same).map(of_now).max()
}

fn more(trip: &Trip, limit: &Limit, cap: u64) -> String {
    format!("{}=+{}", plain(&trip.limit), typed(limit, (cap / 2).max(1)))
}

/// Returns a cap as it is configured.
fn limit_text(limit: &Limit, value: u64) -> String {
    format!("{} ({}: {})", limit.show(value), limit.key, typed(limit, value))
}

/// Returns the smallest cap that would have let a run come to its end, as the rules of another count.
fn need(peer: &Run, run: &Run, name: &str, now: Moment) -> Option<u64> {
    let ruled = Run { limits: run.limits.clone(), ..peer.clone() };
    let readings = reading::of_run(&Session::default(), &ruled, now);
    let LimitReading { used, .. } = readings.into_iter().find(|reading| reading.limit == name)?;
    Some(match &used.limit.meter {
        Meter::Spend { part, .. } => {
            let ahead = part(&estimate::next(peer, &run.limits)).saturating_mul(u64::from(run.limits.grace_turns));
            used.value.saturating_add(ahead)
        }
        Meter::Count { adds, .. } => used.value.saturating_add(adds(ComingStep::at(Stage::Request)).unwrap_or(0)),
        Meter::Window | Meter::Silence => used.value,
    })
}
