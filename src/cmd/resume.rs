//! `fusebox resume`.

use std::process::ExitCode;

use crate::cmd::clear_order::{self, UsedUp};
use crate::cmd::everything::{self, BulkArgs, BulkCommand};
use crate::cmd::grant;
use crate::cmd::grant_args::{self, More};
use crate::cmd::require_human;
use crate::cmd::session_edit::{self, SessionEdit, warned};
use crate::cmd::target::{self, Fits, Target, TargetArgs};
use crate::domain::record::RecordKind;
use crate::domain::session::{Run, Status};
use crate::domain::time_units::DAY_MS;
use crate::domain::verdict::Finding;
use crate::error::{Error, Result};
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::report::rows::project as project_of;
use crate::report::standing::MAY_GO_ON;
use crate::store::Store;
use crate::ui::terminal::plain;
use crate::wire::messages::short;

/// Arguments of `fusebox resume`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Where a limit has stopped the work and is still used up, it is raised by its `increase`, so that the work can go on;
--no-grant leaves it. What a person has paused or stopped goes on with the limits that it has.
A main run goes on with the next prompt, a subagent with the next message to it. Without an id it takes all that is paused
on this machine, or that a person has stopped: one at once, several once you have said yes. Where nothing is, it takes the
last that a limit has stopped, once you have said yes to that. Where nobody is asked (a script, --yes) that has to be the
main agent of the folder's last session.

Examples:
  fusebox resume             all that is paused, or that a person has stopped
  fusebox resume a1b2c3d4    a run that was paused or stopped
  fusebox resume --task 7    the run that works on task 7
  fusebox resume 5f0c1d2e --grant max_cost_usd=+5")]
pub struct Args {
    #[command(flatten)]
    bulk: BulkArgs,
    /// Raise a limit with it; may be given more than once
    #[arg(long, value_name = "LIMIT=+N", value_parser = grant_args::parse)]
    grant: Vec<More>,
    /// Raise nothing, even where the work would be stopped again at once
    #[arg(long, conflicts_with = "grant")]
    no_grant: bool,
}

/// Lets a run or session go on.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    require_human::require(env, "resume")?;
    let held = if args.bulk.named().is_none() { everything::halted(env)? } else { Vec::new() };
    match args.bulk.named() {
        Some(named) => {
            session_edit::edit_session(env, named, Fits::Halted, |edit| resume(edit, &args.grant, args.no_grant))
        }
        // What a limit has ended is no pause: the last of them alone is meant.
        None if held.is_empty() => resume_last(env, args),
        None => {
            let bulk = BulkCommand { verb: "resume", takes: "held (paused, or stopped by a person)", apart: NOT_TAKEN };
            everything::take_confirmed(env, bulk, held, args.bulk.yes(), |target| {
                session_edit::edit(env, target, |edit| resume(edit, &args.grant, args.no_grant))
            })
        }
    }
}

/// Lets one run or session go on; returns what is said of it.
#[cfg(feature = "screen")]
pub fn resume_one(env: &Environment, target: &Target) -> Result<Vec<String>> {
    require_human::require(env, "resume")?;
    session_edit::edit(env, target, |edit| resume(edit, &[], false))
}

/// What is said of those that a limit has stopped, beside those that are taken.
const NOT_TAKEN: &str = "; what a limit has stopped stays stopped until it is named";

/// Lets the last go on that a limit has ended. A person at a terminal may have typed it to look, and is asked. Where nobody is
/// asked, it takes only what waits in the session at hand.
fn resume_last(env: &Environment, args: &Args) -> Result<ExitCode> {
    let store = Store::open(env)?;
    let found = target::find(env, &store, &TargetArgs::default(), Fits::Halted)?;
    if !env.is_attended() || args.bulk.yes() {
        waits_at_hand(env, &store, &found.target)?;
    } else {
        let because = found.because.iter().map(|because| format!("nothing is paused; {}\n", plain(because)));
        env.print(&because.collect::<String>());
        if !env.confirms(&format!("Let {} go on?", short(found.target.id()))) {
            env.print("nothing was changed\n");
            return Ok(ExitCode::FAILURE);
        }
    }
    // The session's lock is taken before the one for all.
    drop(store);
    let said = session_edit::edit(env, &found.target, |edit| resume(edit, &args.grant, args.no_grant))?;
    session_edit::print(env, &found.because.into_iter().chain(said).collect::<Vec<_>>());
    Ok(ExitCode::SUCCESS)
}

/// Refuses what nobody waits for: a stop of another session than the folder's last, or of a subagent, whose parent was told of
/// it and has gone on.
fn waits_at_hand(env: &Environment, store: &Store, target: &Target) -> Result<()> {
    let folder = env.folder();
    let project = env.project_of(&folder).to_string_lossy().into_owned();
    let since_ms = env.now().wall_ms.saturating_sub(target::LATELY_DAYS * DAY_MS);
    let mut sessions = store.sessions_since(since_ms)?;
    sessions.retain(|session| project_of(&session.project) == project_of(&project));
    let last = sessions.iter().max_by_key(|session| session.last.wall_ms);
    let is_last = last.is_some_and(|last| last.id == target.session());
    let is_main = match target {
        Target::Session(_) => true,
        Target::Run { session, run } => store.run(session, run)?.is_some_and(|run| run.is_main()),
    };
    if is_last && is_main {
        return Ok(());
    }
    let id = short(target.id());
    let (what, whose) = match (is_main, last) {
        (false, _) => ("a subagent", "the agent above it was told and has gone on".to_owned()),
        (true, Some(last)) => ("another session's", format!("this folder's last session is {}", short(&last.id))),
        (true, None) => ("another session's", "this folder has none".to_owned()),
    };
    Err(Error::failed(format!("nothing is paused, and the last that a limit has stopped is {what} ({id}): {whose}"))
        .hint(format!("`fusebox resume {id}` lets it go on all the same")))
}

fn resume(edit: &mut SessionEdit, granted: &[More], keeps_limits: bool) -> Result<Vec<String>> {
    edit.target = clear_order::holder(edit.state, &edit.target);
    let taken = only_held(edit);
    let name = edit.name(&edit.target);
    let was = edit.standing(&edit.target).to_owned();
    let lifted = clear_order::clear(edit.state, &edit.target, edit.now).map(|order| order.finding);
    let finding = lifted.or_else(|| holds_prompts_back(edit)).ok_or_else(|| nothing_holds(edit, &name, &was))?;
    let words = edit.somebody(&format!("resumed {}", edit.it()));
    edit.record(RecordKind::AgentResumed, &finding, &words, None);
    edit.notice(notices::resumed(&edit.by, &name));
    let mut said: Vec<String> = taken.into_iter().chain([format!("{name}: {was} -> resumed")]).collect();
    said.extend(grant::apply(edit, granted)?.0);
    // Whoever lifts what a person has ordered says nothing about a limit: perhaps No to one, before. Whoever says how much is to be
    // given means no more than that.
    let raises = !keeps_limits && granted.is_empty() && finding.limit().is_some();
    let target = edit.target.clone();
    let mut held = Vec::new();
    for used_up in clear_order::used_up(edit.state, &target, edit.now) {
        if raises {
            said.push(raised(edit, &used_up));
        } else if granted.iter().all(|more| used_up.finding.source != *more.rule) {
            held.push(warned(&target, &used_up));
        }
    }
    if let Some(beside) = clear_order::beside(edit.state, &target).filter(|beside| !edit.is_interrupted(beside.id())) {
        held.extend(clear_order::used_up(edit.state, &beside, edit.now).iter().map(|it| warned(&beside, it)));
    }
    held.extend(clear_order::budgets_used_up(edit.state, edit.now).iter().map(|finding| edit.above(finding)));
    let beside = held_beside(edit);
    let freed = if beside.is_none() { vec![target] } else { Vec::new() };
    said.extend(beside.into_iter().chain(edit.what_is_next(held, &freed)));
    Ok(said)
}

/// Finds the session's limit that keeps prompts back: that leaves no order behind.
fn holds_prompts_back(edit: &SessionEdit) -> Option<Finding> {
    let of_session = matches!(edit.target, Target::Session(_));
    let first = clear_order::used_up(edit.state, &edit.target, edit.now).into_iter().next();
    first.filter(|_| of_session).map(|used_up| used_up.finding)
}

/// Says what is held all the same: the session of a run, or the paused main run that a session's next prompt goes on with.
fn held_beside(edit: &SessionEdit) -> Option<String> {
    let session = edit.state.session.id.clone();
    let other = match &edit.target {
        Target::Run { .. } => Target::Session(session),
        Target::Session(_) => Target::Run { run: edit.state.session.main.clone()?, session },
    };
    clear_order::order(edit.state, &other)?;
    let status = edit.status(&other);
    let holds = matches!(other, Target::Session(_)) || status == Status::Paused;
    let (name, deed, id) = (edit.name(&other), status.deed(), short(other.id()));
    holds.then(|| format!("{name} is still {deed}: `fusebox resume {id}` lets it go on"))
}

/// Takes the one run that a person has to let go on, where a session is meant that nothing holds itself; says so. What a limit has ended
/// stays so until it is named.
fn only_held(edit: &mut SessionEdit) -> Option<String> {
    let is_held = clear_order::order(edit.state, &edit.target).is_some() || holds_prompts_back(edit).is_some();
    let mut held = held_below(edit);
    let is_by_person = |run: &Target| matches!(edit.status(run), Status::Paused | Status::Stopped);
    held.retain(|run| is_by_person(run) && clear_order::holder(edit.state, run) == *run);
    let [run] = &held[..] else { return None };
    let run = Some(run).filter(|_| !is_held)?;
    let said = format!("{} is the one run of it that is held", edit.name(run));
    edit.target = run.clone();
    Some(said)
}

fn nothing_holds(edit: &SessionEdit, name: &str, was: &str) -> Error {
    let is_main = matches!(&edit.target, Target::Run { run, .. } if edit.state.run(run).is_some_and(Run::is_main));
    let status = edit.status(&edit.target);
    let afresh = if edit.is_next_prompt_free() { ", and the next prompt begins with whole limits" } else { "" };
    let error = match was {
        _ if is_main && matches!(status, Status::Failed | Status::Stopped) => {
            Error::failed(format!("{name} was {} and is over: nothing holds it{afresh}", status.deed()))
        }
        MAY_GO_ON => Error::failed(format!("nothing holds it: {}", edit.goes_on(&edit.target))),
        _ if !held_below(edit).is_empty() => Error::failed(format!("{name} is {was}: nothing holds it itself")),
        _ => Error::failed(format!("{name} is {was}: nothing holds it")),
    };
    match clear_order::budgets_used_up(edit.state, edit.now).first() {
        Some(budget) => error.hint(format!("{name} has no order to lift, but {}", edit.above(budget))),
        None => error.hint(named(edit, &held_below(edit))),
    }
}

/// Returns the runs of a session that are held, where that is meant.
fn held_below(edit: &SessionEdit) -> Vec<Target> {
    let (state, of_session) = (&*edit.state, matches!(edit.target, Target::Session(_)));
    let current = state.session.main.as_deref();
    let is_own = |run: &&Run| run.order.is_some() && run.stopped_by() == run.id;
    let may_go_on = |run: &&Run| is_own(run) && (!run.is_main() || Some(run.id.as_str()) == current);
    let held = state.runs().filter(may_go_on).filter(|_| of_session);
    held.map(|run| Target::Run { session: run.session.clone(), run: run.id.clone() }).collect()
}

/// Names runs that are held, with what lets each go on.
fn named(edit: &SessionEdit, held: &[Target]) -> String {
    let command = |run: &Target| format!("`fusebox resume {}` ({})", short(run.id()), plain(edit.kind(run)));
    let named: Vec<String> = held.iter().take(3).map(command).collect();
    match named.is_empty() {
        true => "`fusebox status` shows what is held".to_owned(),
        false => format!("of its runs: {}", named.join(", ")),
    }
}

/// Raises a limit that is used up, and says so.
fn raised(edit: &mut SessionEdit, used_up: &UsedUp) -> String {
    let finding = &used_up.finding;
    let Some(limit) = finding.limit() else { return String::new() };
    let (used, before) = (limit.show(finding.used), limit.show_cap(finding.cap));
    let rule = clear_order::rules(edit.state, &edit.target).and_then(|rules| rules.source(&finding.source));
    if rule.is_some_and(|rule| rule.locked) {
        return format!("{limit} will stop it again at once ({used} of {before} used): the managed file has locked it");
    }
    clear_order::raise(edit.state, &edit.target, finding, used_up.more);
    edit.sign_grant();
    let cap = limit.show_cap(finding.cap.saturating_add(used_up.more));
    edit.notice(notices::raised_with_resume(limit, &before, &cap));
    format!("{limit} would stop it again at once ({used} of {before} used): raised by its increase, {before} -> {cap}")
}
