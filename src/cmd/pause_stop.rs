//! `fusebox pause` and `fusebox stop`: orders that hold back. A person gives them to anything, an agent to its own session and those
//! below it.

use std::process::ExitCode;

use crate::cmd::clear_order;
use crate::cmd::everything::{self, BulkArgs, BulkCommand};
use crate::cmd::order_giver::OrderGiver;
use crate::cmd::require_human;
use crate::cmd::session_edit::{self, SessionEdit};
use crate::cmd::target::{Fits, Target};
use crate::domain::action::Action;
use crate::domain::finding_source::FindingSource;
use crate::domain::pending_prompt::PendingPrompt;
use crate::domain::record::RecordKind;
use crate::domain::scope::Scope;
use crate::domain::session::{Order, Run, Session, Status};
use crate::domain::verdict::Finding;
use crate::engine::lifecycle;
use crate::engine::log_records;
use crate::engine::session_state::SessionState;
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::wire::completion;
use crate::wire::messages::short;

/// Arguments of `fusebox pause` and `fusebox stop`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    bulk: BulkArgs,
    /// Why: the agent, whoever started it and the log are told
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// What the help of `fusebox pause` says besides.
pub const PAUSE_HELP: &str = "\
It takes effect at the next event of the run or session; subagents below a run follow it. `fusebox resume` lifts it. Without
an id it takes the one session at work on this machine, or all of them once you have said yes; --yes does not ask.

Examples:
  fusebox pause              all sessions at work on this machine
  fusebox pause --yes        the same for scripts
  fusebox pause a1b2c3d4     hold a run and keep its work
  fusebox pause developer    the only developer at work
  fusebox pause 5f0c1d2e --reason 'over night'";

/// What the help of `fusebox stop` says besides.
pub const STOP_HELP: &str = "\
It takes effect at the next event of the run or session, and at once where a pause holds one; subagents below a run follow it.
`fusebox resume` lifts it. Without an id it takes the one session at work or held on this machine, or all of them once you
have said yes; --yes does not ask.

Examples:
  fusebox stop              all sessions at work or held on this machine
  fusebox stop --yes        the same for scripts
  fusebox stop a1b2c3d4     end a run
  fusebox stop developer    the only developer at work
  fusebox stop 5f0c1d2e --reason 'wrong branch'";

/// What an order does, in its words.
#[derive(Debug)]
struct OrderKind {
    source: FindingSource,
    action: Action,
    record: RecordKind,
    status: Status,
}

/// The order to hold.
const PAUSE: OrderKind = OrderKind {
    source: FindingSource::ExplicitPause,
    action: Action::Pause,
    record: RecordKind::AgentPaused,
    status: Status::Paused,
};
/// The order to end.
const STOP: OrderKind = OrderKind {
    source: FindingSource::ExplicitStop,
    action: Action::Terminate,
    record: RecordKind::AgentStopped,
    status: Status::Stopped,
};

/// Holds a run or session until it is resumed.
pub fn pause(env: &Environment, args: &Args) -> Result<ExitCode> {
    give_orders(env, args, &PAUSE)
}

/// Ends a run or session at its next event.
pub fn stop(env: &Environment, args: &Args) -> Result<ExitCode> {
    give_orders(env, args, &STOP)
}

/// Holds one run or session; returns what is said of it.
#[cfg(feature = "screen")]
pub fn pause_one(env: &Environment, target: &Target) -> Result<Vec<String>> {
    session_edit::edit(env, target, giving(env, &PAUSE, None)?)
}

/// Ends one run or session; returns what is said of it.
#[cfg(feature = "screen")]
pub fn stop_one(env: &Environment, target: &Target) -> Result<Vec<String>> {
    session_edit::edit(env, target, giving(env, &STOP, None)?)
}

/// Returns what gives the order to one session or run that is named.
fn giving<'a>(
    env: &Environment,
    kind: &'a OrderKind,
    reason: Option<&'a str>,
) -> Result<impl FnOnce(&mut SessionEdit) -> Result<Vec<String>> + use<'a>> {
    // After a stop a person's next prompt is let through, and after a pause it is not: that is a person's to change.
    let may_replace = if kind.status == Status::Stopped { require_human::require(env, verb(kind)) } else { Ok(()) };
    let giver = OrderGiver::of(env, verb(kind))?;
    Ok(move |edit: &mut SessionEdit| {
        giver.may_order(verb(kind), &edit.state.session)?;
        give(edit, kind, reason, &giver, may_replace)
    })
}

fn give_orders(env: &Environment, args: &Args, kind: &OrderKind) -> Result<ExitCode> {
    let reason = args.reason.as_deref();
    if let Some(named) = args.bulk.named() {
        return session_edit::edit_session(env, named, Fits::AtWork, giving(env, kind, reason)?);
    }
    // What is held would go on with a resume: a stop ends that, too.
    let with_held = kind.status == Status::Stopped;
    let takes = if with_held { "open (at work, held, or at a prompt)" } else { "open (at work, or at a prompt)" };
    let bulk = BulkCommand { verb: verb(kind), takes, apart: "" };
    everything::take_confirmed(env, bulk, everything::at_work(env, with_held)?, args.bulk.yes(), |target| {
        session_edit::edit(env, target, |edit| give(edit, kind, reason, &OrderGiver::Person, Ok(())))
    })
}

/// Gives an order; one that replaces a pause where `may_replace` says so.
fn give(
    edit: &mut SessionEdit,
    kind: &OrderKind,
    reason: Option<&str>,
    giver: &OrderGiver,
    may_replace: Result<()>,
) -> Result<Vec<String>> {
    let reason = reason.map(completion::reason).filter(|reason| !reason.is_empty());
    let name = edit.name(&edit.target);
    let status = edit.status(&edit.target);
    let held = clear_order::order(edit.state, &edit.target).is_some();
    let replaces = held && status == Status::Paused && kind.status == Status::Stopped;
    if (held && !replaces) || status == Status::Orphaned {
        let word = status.deed();
        return Err(Error::failed(format!("{name} is {word} already"))
            .hint(format!("`fusebox explain {}` tells why", short(edit.target.id()))));
    }
    if replaces {
        may_replace?;
    }
    let scope = if matches!(edit.target, Target::Session(_)) { Scope::Session } else { Scope::Run };
    let finding = Finding { subject: giver.name(), ..Finding::ordered(kind.source.clone(), scope, kind.action) };
    let order = Order::halted(finding.clone(), reason.clone());
    let followers = match edit.target.clone() {
        Target::Session(_) => {
            replace_taken(edit.state, &order);
            edit.state.session.order = Some(order);
            edit.state.session.status = kind.status;
            let follows = |run: &&Run| run.status == Status::Running && !run.is_main() && !edit.is_interrupted(&run.id);
            edit.state.runs().filter(follows).count()
        }
        Target::Run { run, .. } => halt(edit, &run, &order),
    };
    let who = if scope == Scope::Session { "Session" } else { "Agent" };
    let by = if finding.subject.is_empty() { String::new() } else { format!(" of {}", finding.subject) };
    let words = format!("{who} was {} by `fusebox {}`{by}", kind.status.as_str(), verb(kind));
    edit.record(kind.record, &finding, &words, Some(reason.as_deref().unwrap_or(&words)));
    let withdrawn = if kind.status == Status::Stopped { withdraw(edit.state) } else { 0 };
    Ok(said(edit, kind, followers, withdrawn))
}

/// Gives the order to a run and to all below it that are at work, or were held with it; returns how many those are.
pub fn halt(edit: &mut SessionEdit, id: &str, order: &Order) -> usize {
    let follows = |run: &&Run| run.status == Status::Running || (run.order.is_some() && run.stopped_by() == id);
    let is_below = |run: &&Run| edit.state.is_below(run, id);
    let below: Vec<String> = edit.state.runs().filter(follows).filter(is_below).map(|run| run.id.clone()).collect();
    for one in below.iter().map(String::as_str).chain([id]) {
        if let Some(run) = edit.state.run_mut(one) {
            run.order = None;
            lifecycle::halt_below(run, order.clone(), id);
        }
    }
    below.len()
}

/// Gives a session's new order to the runs that have taken over the one before it. A stop also takes the place of a pause of the main run:
/// what it held would go on.
fn replace_taken(state: &mut SessionState, order: &Order) {
    let is_held = |run: &Run| run.status == Status::Paused && state.session.main.as_ref() == Some(&run.id);
    let stops = order.finding.action != Action::Pause;
    let has_taken =
        |run: &&Run| run.order.as_ref().is_some_and(|known| known.finding.ends_session()) || stops && is_held(run);
    let taken: Vec<String> = state.runs().filter(has_taken).map(|run| run.id.clone()).collect();
    for id in taken {
        if let Some(run) = state.run_mut(&id) {
            run.order = None;
            lifecycle::halt_below(run, order.clone(), &id);
        }
    }
}

/// Withdraws the questions that still wait for an answer in what is stopped: a Yes grants nothing any more. Returns how many those
/// are.
fn withdraw(state: &mut SessionState) -> usize {
    let is_stopped = |session: &Session, run: Option<&Run>| {
        session.status == Status::Stopped || run.is_some_and(|run| run.status == Status::Stopped)
    };
    let all = std::mem::take(&mut state.session.pending_prompts);
    let (withdrawn, kept): (Vec<PendingPrompt>, Vec<PendingPrompt>) =
        all.into_iter().partition(|ask| !ask.granted && is_stopped(&state.session, state.run(&ask.run)));
    state.session.pending_prompts = kept;
    for ask in &withdrawn {
        log_records::write(state, &ask.run, RecordKind::IncreaseWithdrawn, &ask.finding);
    }
    withdrawn.chunk_by(|one, next| one.tool_use_id == next.tool_use_id).count()
}

fn is_main(edit: &SessionEdit) -> bool {
    edit.state.run(edit.target.id()).is_some_and(Run::is_main)
}

fn verb(kind: &OrderKind) -> &'static str {
    if kind.status == Status::Paused { "pause" } else { "stop" }
}

fn said(edit: &SessionEdit, kind: &OrderKind, followers: usize, withdrawn: usize) -> Vec<String> {
    let (name, id) = (edit.name(&edit.target), short(edit.target.id()));
    let mut said = vec![format!("{name} is {}; that takes effect at its next event", kind.status.as_str())];
    match followers {
        0 => {}
        1 => said.push("1 run below it follows".to_owned()),
        followers => said.push(format!("{followers} runs below it follow")),
    }
    if withdrawn > 0 {
        said.push("the question that it has on the screen is withdrawn: a Yes there grants nothing".to_owned());
    }
    said.push(format!("`fusebox resume {id}` lets it go on"));
    if kind.status == Status::Stopped && is_main(edit) {
        let session = short(&edit.state.session.id);
        said.push(format!("the next prompt has a run of its own; `fusebox stop {session}` holds that back, too"));
    }
    said
}
