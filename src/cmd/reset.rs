//! `fusebox reset`: sets the counters of a run or session to zero.

use std::process::ExitCode;

use crate::cmd::clear_order;
use crate::cmd::session_edit::{self, SessionEdit};
use crate::cmd::target::{Fits, Target};
use crate::cmd::{require_human, target};
use crate::domain::action::Action;
use crate::domain::finding_source::FindingSource;
use crate::domain::loops::denials::Denials;
use crate::domain::own_counts::OwnCounts;
use crate::domain::record::RecordKind;
use crate::domain::scope::Scope;
use crate::domain::session::{Counters, TokenExtremes};
use crate::domain::spend::meters::Spend;
use crate::domain::verdict::Finding;
use crate::error::{Error, Result};
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::store::Store;
use crate::ui::terminal::plain;
use crate::wire::messages::short;

/// Arguments of `fusebox reset`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Tool calls, requests, tokens, cost (also by model and role), working time and a session's spawns count from zero
again, against the same caps, and the run or session may go on. What was spent stays in `fusebox report`.
Wall time counts from the beginning and cannot be reset; nor can the budgets that sessions share. Without an id it takes
the last that was stopped, or the only session, once you have said yes to that.

Examples:
  fusebox reset a1b2c3d4    one run; its session's counters stay
  fusebox reset 5f0c1d2e    a session; its runs' counters stay")]
pub struct Args {
    #[command(flatten)]
    target: target::TargetArgs,
    /// Without an id: do not ask
    #[arg(long, short)]
    yes: bool,
}

/// Sets the counters of a run or session to zero.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    require_human::require(env, "reset")?;
    if args.yes || args.target.is_named() {
        return session_edit::edit_session(env, &args.target, Fits::Open, |edit| Ok(reset(edit)));
    }
    let store = Store::open(env)?;
    let found = target::find(env, &store, &args.target, Fits::Open)?;
    // The session's lock is taken before the one for all.
    drop(store);
    let id = short(found.target.id());
    if !env.is_attended() {
        return Err(Error::failed(format!("`fusebox reset` would set the counters of {id} to zero"))
            .hint(format!("nobody is here to say yes: add `--yes`, or name it: `fusebox reset {id}`")));
    }
    let because = found.because.iter().map(|because| format!("{}\n", plain(because)));
    env.print(&because.collect::<String>());
    if !env.confirms(&format!("Set the counters of {id} to zero?")) {
        env.print("nothing was changed\n");
        return Ok(ExitCode::FAILURE);
    }
    let said = session_edit::edit(env, &found.target, |edit| Ok(reset(edit)))?;
    session_edit::print(env, &said);
    Ok(ExitCode::SUCCESS)
}

fn reset(edit: &mut SessionEdit) -> Vec<String> {
    let target = edit.target.clone();
    let name = edit.name(&target);
    let was = zero(edit);
    let spent = was.spent;
    let mut said = vec![format!(
        "{name} counts from zero again; it had {} tool calls, {} requests, {} tokens and {}",
        was.turns, spent.requests, spent.tokens, spent.cost
    )];
    let mut freed = Vec::new();
    let finding = clear_order::order(edit.state, &target).map(|order| order.finding.clone());
    let words = edit.somebody(&format!("set the counters of {} to zero", edit.it()));
    edit.record(RecordKind::Notice, &finding.clone().unwrap_or_else(|| none(&target)), &words, None);
    edit.notice(notices::reset(&edit.by, &name));
    if finding.is_some() && clear_order::holder(edit.state, &target) == target {
        clear_order::clear(edit.state, &target, edit.now);
        freed.push(target);
    }
    said.extend(edit.what_is_next(edit.held_still(&[]), &freed));
    said
}

/// Sets the counters to zero, and forgets the notices about them; returns the counters as they were.
fn zero(edit: &mut SessionEdit) -> Counters {
    match &edit.target {
        Target::Session(_) => {
            let session = &mut edit.state.session;
            let is_known = session.nested_turns == 0 || session.nested_spend != Spend::default();
            session.spend_before_reset = if is_known { session.own_spend() } else { Spend::default() };
            session.estimates = session.estimates.max(session.counters.unlogged.requests);
            session.inherited = Spend::default();
            session.nested_turns = 0;
            session.nested_spend = Spend::default();
            session.spend_before_install = session.spend_before_install.of_no_spend();
            session.by_model.clear();
            session.own_counts = OwnCounts::default();
            session.subagents = 0;
            session.warned.clear();
            session.pending_trips.clear();
            session.prompt_block.take_if(|finding| finding.scope == Scope::Session);
            session.more_prompt_blocks.retain(|finding| finding.scope != Scope::Session);
            std::mem::take(&mut session.counters)
        }
        Target::Run { run, .. } => {
            let Some(run) = edit.state.run_mut(run) else { return Counters::default() };
            run.by_model.clear();
            run.own_counts = OwnCounts::default();
            run.extremes = TokenExtremes::default();
            run.repetition.clear();
            run.refusals = Denials::default();
            run.warned.clear();
            run.pending_trips.clear();
            run.declined.clear();
            std::mem::take(&mut run.counters)
        }
    }
}

/// Returns the finding for the record of a reset, where no order stands.
fn none(target: &Target) -> Finding {
    let scope = if matches!(target, Target::Session(_)) { Scope::Session } else { Scope::Run };
    Finding::ordered(FindingSource::Reset, scope, Action::Warn)
}
