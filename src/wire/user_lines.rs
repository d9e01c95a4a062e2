//! What a person reads where a limit or an order acts: one line each, with the next command. Nothing in them is meant for an agent.

use std::borrow::Cow;

use crate::domain::action::Action;
use crate::domain::billing::Billing;
use crate::domain::frees::Frees;
use crate::domain::incomplete::is_of_end;
use crate::domain::limit::Limit;
use crate::domain::run::kind_of;
use crate::domain::run_end::RunEnd;
use crate::domain::scope::Scope;
use crate::domain::session::{Run, Session};
use crate::domain::unit::Unit;
use crate::domain::verdict::Finding;
use crate::messages::advice::{self, Stopped};
use crate::messages::next_step::{NextStep, before_prompt};
use crate::messages::to_people;
use crate::ui::formats::counted;
use crate::ui::style::tokens;
use crate::wire::block_phrase::phrase_of_block;
use crate::wire::messages::{
    Ahead, ahead_of_trip, because, clause, figures_of_trip, orders, pair, passes_for_team, short,
};
use crate::wire::two_lines::fit;

/// Whether a text takes two lines of 100 columns at most, wherever words break.
pub fn is_short(text: &str) -> bool {
    text.chars().count() <= 170
}

/// Returns what is used of a limit, whose rule it is and when it passes: `tool calls 23/25 (max_turns, project)`.
pub fn by_layer(finding: &Finding) -> String {
    reading(finding, over(finding.scope), label)
}

/// Returns the same for a line with a command, which leaves a long key to say what is counted.
pub fn beside_command(finding: &Finding) -> String {
    reading(finding, over(finding.scope), first_word)
}

/// Returns the same, and what is used by now where more has been spent since: of one stop all tell the figure of its moment.
pub fn by_layer_and_now(finding: &Finding) -> String {
    by_layer(finding) + &used_now(finding)
}

/// Returns what is used by now, where more has been spent since: `; 11.20 USD now`.
pub fn used_now(finding: &Finding) -> String {
    let is_more = finding.used_by_now > finding.used && finding.scope != Scope::Team;
    let now =
        finding.limit().filter(|_| is_more).map(|limit| [finding.used_by_now, finding.used].map(|it| limit.show(it)));
    now.filter(|[now, then]| now != then).map(|[now, _]| format!("; {now} now")).unwrap_or_default()
}

/// Returns the same of what has ended an agent, a count in words: `25 of 25 tool calls (max_turns, project)`.
pub fn of_end(finding: &Finding) -> String {
    let is_plain = finding.subject.is_empty() && finding.ahead == 0 && finding.frees == Frees::Never;
    let limit = finding.limit().filter(|limit| is_plain && limit.unit == Unit::Count && finding.scope != Scope::Team);
    let Some(limit) = limit else { return by_layer_and_now(finding) };
    let (what, no, by) = (label(finding, limit), declined(finding), by(finding));
    let words = format!("{} of {} {what}{}{no} {by}", finding.used, finding.cap, over(finding.scope));
    words + &used_now(finding)
}

fn declined(finding: &Finding) -> &'static str {
    if finding.declined { ", answered with No" } else { "" }
}

/// Returns what is used of a limit without when it passes, for a line that says that itself.
pub fn without_wait(finding: &Finding) -> String {
    beside_command(&Finding { frees: Frees::Never, ..finding.clone() })
}

fn reading(finding: &Finding, over: &str, label: fn(&Finding, &Limit) -> Cow<'static, str>) -> String {
    let by = by(finding);
    let Some(limit) = finding.limit() else { return orders(finding, &by) };
    let text = match (limit.unit, finding.subject.as_str()) {
        (Unit::Switch, "") => format!("{} {by}", limit.texts.label),
        (Unit::Switch, subject) => format!("{subject} {by}"),
        (_, subject) if finding.scope == Scope::Team => {
            format!("{subject}{}", clause("; ", passes_for_team(&finding.frees)))
        }
        (_, "") => {
            let ahead = Ahead { amount: finding.ahead, requests: finding.requests_ahead };
            let to_come = ahead_of_trip(limit, finding.used, finding.cap, ahead);
            let used = pair(limit, finding.used, finding.cap);
            let no = declined(finding);
            // A long key says the period.
            let until = if is_long(finding) { String::new() } else { until(&finding.frees) };
            format!("{}{over} {used}{until}{to_come}{no} {by}", label(finding, limit))
        }
        (_, subject) => {
            format!("{}{over} {}, {subject} {by}", label(finding, limit), pair(limit, finding.used, finding.cap))
        }
    };
    let is_unsaid = finding.is_window() && finding.passes() && finding.scope != Scope::Team;
    if is_unsaid { format!("{text}; next slot {}", finding.frees) } else { text }
}

/// Says when a budget begins anew, in the configured time zone.
fn until(frees: &Frees) -> String {
    let Frees::At(end) = frees else { return String::new() };
    let (end, _zone) = end.rsplit_once(' ').unwrap_or((end, ""));
    format!(" until {}", end.strip_suffix(" 00:00").unwrap_or(end))
}

/// A key that is longer leaves little room for what is counted.
const LONG_KEY: usize = 19;

/// Whether a limit's name leaves little room beside it.
pub fn has_long_key(finding: &Finding) -> bool {
    finding.source.to_string().len() > LONG_KEY
}

/// Whether the name of a limit and what is counted leave little room.
fn is_long(finding: &Finding) -> bool {
    finding.billing == Billing::Plan && has_long_key(finding)
}

/// Returns what people call the thing counted, as short as its row has it.
pub fn label(finding: &Finding, limit: &Limit) -> Cow<'static, str> {
    let label = limit.texts.short_label.unwrap_or(limit.texts.label);
    match finding.billing {
        Billing::Plan if is_long(finding) => Cow::Owned(label.replacen("cost", "price", 1)),
        Billing::Plan => finding.label(),
        Billing::Tokens => Cow::Borrowed(label),
    }
}

/// Returns the first word of that where the key is long.
fn first_word(finding: &Finding, limit: &Limit) -> Cow<'static, str> {
    let label = label(finding, limit);
    let is_cut = limit.key.len() > LONG_KEY && (finding.billing == Billing::Tokens || is_long(finding));
    match label.split_once(' ').filter(|_| is_cut) {
        Some((first, _)) => Cow::Owned(first.to_owned()),
        None => label,
    }
}

/// Says which limit it is and whose rule: `(max_turns, project)`.
pub fn by(finding: &Finding) -> String {
    format!("({}, {})", finding.source, finding.layer)
}

/// Returns the words for what a limit is counted over, where that is more than the run.
pub fn over(scope: Scope) -> &'static str {
    match scope {
        Scope::Run => "",
        Scope::Session => " of the session",
        Scope::Outer => " of the one above",
        Scope::Project => " of this repository",
        Scope::User => " of this user",
        Scope::Team => " of the team",
    }
}

/// Names a run: `the main agent`, `developer (a1b2c3d4)`.
pub fn named(run: &Run) -> String {
    if run.is_main() {
        "the main agent".to_owned()
    } else {
        format!("{} ({})", kind_of(&run.agent_type), short(&run.id))
    }
}

/// Tells of a subagent that was stopped or paused: what ended it, what it had used, and what tells more.
pub fn ended_subagent(end: &RunEnd, session: &Session, run: &Run) -> String {
    let id = short(&end.run);
    let above = end.stopped_with.as_ref();
    let with = above.map(|above| format!(", with the agent above it ({})", short(above))).unwrap_or_default();
    let (did, next) = match end.paused {
        true => ("paused", advice::lifts(&end.finding, Stopped::Subagent, &end.run)),
        false => ("stopped", NextStep::Explain { id: id.to_owned() }),
    };
    // The command says whose budget it is.
    let is_said = matches!(next, NextStep::Grant { .. });
    let why = reading(&end.finding, if is_said { "" } else { over(end.finding.scope) }, first_word);
    let why = why + &because(end.reason.as_ref());
    // Of calls the reason tells, and of what comes round how often.
    let counts_calls = end.finding.limit().is_some_and(Limit::counts_calls);
    let calls = if counts_calls || end.finding.is_switch() { String::new() } else { format!("{}, ", calls(run)) };
    let spent = spent(session, run);
    // What has ended it was its own cost: one stop has one figure, and the report after it is told by `explain`.
    let tells_cost =
        end.finding.scope == Scope::Run && end.finding.limit().is_some_and(|limit| limit.unit == Unit::Usd);
    let used = |moment: &str| match (tells_cost, counts_calls) {
        // Of what passes by itself it says when, and what was used is no matter.
        _ if end.finding.passes() => String::new(),
        (true, true) => String::new(),
        (true, false) => format!("{}. ", self::calls(run)),
        (false, _) => format!("{calls}{spent}{moment}. "),
    };
    let who = format!("{} ({id}){with}", kind_of(&end.agent_type));
    let says = |moment: &str| to_people::stopped_agent(did, &who, &why, used(moment), &next);
    let mut all = [" by now; what is in flight counts later", " so far"].into_iter().map(says);
    fit(all.find(|said| is_short(said)).unwrap_or_else(|| says(if end.paused { "" } else { " so far" })), &end.finding)
}

/// Tells that the main agent has ended as a limit had it, what its work came to, and how that goes on.
pub fn ended_main(session: &Session, run: &Run, finding: &Finding, blocks: &[Finding]) -> String {
    // What was to come then has come, or was left.
    let bare = &Finding { ahead: 0, requests_ahead: 0, frees: Frees::Never, ..finding.clone() };
    let stopped = if finding.ends_session() { Stopped::Session } else { Stopped::MainRun };
    let next = advice::lifts(finding, stopped, holder(session, run, finding));
    match before_prompt(next, beside(session, run, finding, blocks)) {
        next @ NextStep::BeforePrompt { .. } => stopped_by_several("stopped", of_end(bare), finding, next),
        next => {
            let (why, used) = (reading(bare, "", first_word), format!("{}, {}", calls(run), spent(session, run)));
            let whole = to_people::ended_main(&why, used, &next);
            // What repeats is long.
            let is_long = finding.is_switch() && !is_short(&whole);
            fit(if is_long { to_people::stopped_main("stopped", why, next) } else { whole }, finding)
        }
    }
}

/// Tells why the main agent has ended where several steps lead to its next prompt: in brief where that takes more than two lines.
fn stopped_by_several(did: &str, why: String, finding: &Finding, next: NextStep) -> String {
    let whole = to_people::stopped_main(did, why, &next);
    // The commands name the limits.
    let is_named = next.command().is_some_and(|command| command.contains(" && "));
    let by = if is_named { format!("({})", finding.layer) } else { by(finding) };
    let brief = |limit: &Limit| match limit.unit {
        Unit::Switch => format!("{} {by}", limit.texts.label),
        _ => format!("{} {by}", pair(limit, finding.used, finding.cap)),
    };
    match finding.limit().filter(|_| !is_short(&whole)) {
        Some(limit) => to_people::stopped_main(did, brief(limit), next),
        None => whole,
    }
}

fn spent(session: &Session, run: &Run) -> String {
    match session.billing {
        Billing::Tokens => run.counters.spent.cost.to_string(),
        Billing::Plan => format!("{} tokens", tokens(run.counters.spent.tokens)),
    }
}

fn calls(run: &Run) -> String {
    counted(run.counters.turns, "call")
}

/// Returns what of the next prompt's blocks is another limit than what has ended the work, each with what lifts it.
pub fn beside(session: &Session, run: &Run, finding: &Finding, blocks: &[Finding]) -> Vec<(String, NextStep)> {
    let others = blocks.iter().filter(|it| !it.is_same_limit(finding));
    others.map(|it| (it.source.to_string(), unblocks(session, run, it))).collect()
}

/// Tells why the main agent's loop ended, and what of `blocks` has to be lifted besides before its next prompt.
pub fn stopped(session: &Session, run: &Run, finding: &Finding, blocks: &[Finding]) -> String {
    let did = if finding.action == Action::Pause { "paused" } else { "stopped" };
    let order = run.order.as_ref().or(session.order.as_ref());
    let held = if finding.ends_session() { Stopped::Session } else { Stopped::MainRun };
    let (reading, next) = match advice::lifts(finding, held, holder(session, run, finding)) {
        NextStep::Passes { .. } => (without_wait(finding), NextStep::Passes { when: finding.frees.to_string() }),
        // The command says whose budget it is.
        next @ NextStep::Grant { .. } if finding.passes() || run.is_main() && has_long_key(finding) => {
            (reading(finding, "", first_word), next)
        }
        next if finding.passes() => (reading(finding, "", first_word), next),
        next => (beside_command(finding), next),
    };
    let why = reading + &because(order.and_then(|order| order.reason.as_ref()));
    if run.is_main() {
        return match before_prompt(next, beside(session, run, finding, blocks)) {
            next @ NextStep::BeforePrompt { .. } => stopped_by_several(did, why, finding, next),
            next => fit(to_people::stopped_main(did, why, next), finding),
        };
    }
    let explain = || NextStep::Explain { id: short(&run.id).to_owned() };
    let next = if finding.action == Action::Pause { next } else { explain() };
    let counts_calls = finding.limit().is_some_and(Limit::counts_calls);
    let used = if counts_calls { String::new() } else { format!("{}. ", calls(run)) };
    fit(to_people::stopped_agent(did, named(run), why, used, next), finding)
}

/// Tells that a limit tripped, and that a report is still to come.
pub fn ending(run: &Run, finding: &Finding) -> String {
    fit(to_people::ending(named(run), by_layer(finding)), finding)
}

/// Tells why a turn that has ended is not prolonged once more.
pub fn ended_for_good(run: &Run, finding: &Finding) -> String {
    to_people::ended_for_good(named(run), by_layer(finding))
}

/// Tells what a warning is about.
pub fn warning(run: &Run, finding: &Finding) -> String {
    let (who, reading) = (named(run), by_layer(finding));
    match finding.percent {
        _ if is_of_end(finding) => to_people::ended_incomplete(who, reading),
        percent if percent < 100 && finding.is_switch() => to_people::repeats(who, reading),
        100 => to_people::warned(who, reading),
        _ if finding.percent_used() > 100 => to_people::passed(who, reading),
        _ => to_people::part_used(finding.percent_used(), who, reading),
    }
}

/// Tells why a prompt is not sent, and what lifts that; `too` would keep it back besides.
pub fn blocked_prompt(session: &Session, run: &Run, finding: &Finding, too: &[&Finding]) -> String {
    let next = unblocks(session, run, finding);
    // `status` names the others, and so does the next prompt.
    let other = too.iter().find_map(|it| Some((it, unblocks(session, run, it).command()?)));
    if let (NextStep::Grant { .. }, Some(one), Some((other, and))) = (&next, next.command(), other) {
        // Of how many requests it is there is no room to say.
        let figures = |it: &Finding| {
            let ahead = Ahead { amount: it.ahead, requests: 0 };
            it.limit().map_or_else(String::new, |limit| figures_of_trip(limit, it.used, it.cap, ahead))
        };
        let whose = if finding.layer == other.layer { String::new() } else { format!(" ({})", finding.layer) };
        let both = format!("{}{whose} and {} ({})", figures(finding), figures(other), other.layer);
        return to_people::blocked_by_two(both, one, and);
    }
    let order = run.order.as_ref().or(session.order.as_ref());
    // The phrase says what it is counted over, and the next step when it passes.
    let says_when = finding.is_window() || finding.scope == Scope::Team && matches!(next, NextStep::Passes { .. });
    let said = &Finding { frees: if says_when { Frees::Never } else { finding.frees.clone() }, ..finding.clone() };
    let why = reading(said, "", first_word) + &because(order.and_then(|order| order.reason.as_ref()));
    fit(to_people::blocked_prompt(phrase_of_block(said), why, next), finding)
}

/// Returns what a person does about what keeps a prompt back.
pub fn unblocks(session: &Session, run: &Run, finding: &Finding) -> NextStep {
    let id = holder(session, run, finding);
    // More of a budget is what lets the work go on, whether it was paused for it or not.
    let is_budget = matches!(finding.scope, Scope::Project | Scope::User);
    let paused = finding.action == Action::Pause && !is_budget;
    match (finding.limit(), paused) {
        (Some(_), false) if finding.is_window() => NextStep::Passes { when: finding.frees.to_string() },
        (Some(_), false) if finding.is_switch() => advice::resume(id),
        (Some(_), false) if finding.increase == 0 && finding.passes() => {
            NextStep::Passes { when: finding.frees.to_string() }
        }
        (Some(_), false) => advice::grant(finding, id),
        (_, true) | (None, false) => advice::resume(id),
    }
}

/// Returns what a command calls the holder of a limit or order.
fn holder<'a>(session: &'a Session, run: &'a Run, finding: &'a Finding) -> &'a str {
    match finding.scope {
        Scope::Run => &run.id,
        Scope::Session | Scope::Outer if !finding.ends_session() => &run.id,
        Scope::Session => &session.id,
        Scope::Outer if !finding.above.is_empty() => &finding.above,
        Scope::Outer => session.outer.as_deref().unwrap_or(&session.id),
        shared => shared.as_str(),
    }
}
