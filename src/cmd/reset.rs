//! `fusebox reset`.

use std::process::ExitCode;

use crate::cmd::clear_order;
use crate::cmd::session_edit::{self, Grip};
use crate::cmd::target::Target;
use crate::cmd::{require_human, target};
use crate::domain::charge::RecordKind;
use crate::domain::meters::Spend;
use crate::domain::policy::{Action, Scope};
use crate::domain::session::Tally;
use crate::domain::verdict::Finding;
use crate::error::Result;
use crate::platform::environment::World;

/// Arguments of `fusebox reset`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Tool calls, requests, tokens, cost (also by model and role), working time and a session's spawns count from zero
again, against the same caps, and the run or session may go on. What was spent stays in `fusebox report`.
Wall time counts from the beginning and cannot be reset; nor can the budgets that sessions share.

Examples:
  fusebox reset a1b2c3d4    one run; its session's counters stay
  fusebox reset 5f0c1d2e    a session; its runs' counters stay")]
pub struct Args {
    #[command(flatten)]
    target: target::Whom,
}

/// Sets the counters of a run or session to zero.
pub fn run(world: &World, args: &Args) -> Result<ExitCode> {
    require_human::require(world, "reset")?;
    session_edit::pull(world, &args.target, |grip| Ok(reset(grip)))
}

fn reset(grip: &mut Grip) -> Vec<String> {
    let target = grip.target.clone();
    let name = grip.name(&target);
    let was = zero(grip);
    let spent = was.spent;
    let mut said = vec![format!(
        "{name} counts from zero again; it had {} tool calls, {} requests, {} tokens and {}",
        was.turns, spent.requests, spent.tokens, spent.cost
    )];
    let finding = clear_order::order(grip.book, &target).map(|order| order.finding.clone());
    let words = format!("A person set the counters of {} to zero", grip.it());
    grip.record(RecordKind::Notice, &finding.clone().unwrap_or_else(|| none(&target)), (&words, None));
    grip.notice(format!("a person set the counters of {name} to zero."));
    if finding.is_some() && clear_order::holder(grip.book, &target) == target {
        clear_order::lift(grip.book, &target);
        said.push(grip.goes_on(&target));
    }
    said.extend(grip.held_still(&[]));
    said
}

/// Sets the counters to zero, and forgets what was said about them; returns what they were.
fn zero(grip: &mut Grip) -> Tally {
    match &grip.target {
        Target::Session(_) => {
            let session = &mut grip.book.session;
            session.inherited = Spend::default();
            session.turns_below = 0;
            session.earlier = session.earlier.of_no_spend();
            session.models.clear();
            session.subagents = 0;
            session.warned.clear();
            session.wants.clear();
            std::mem::take(&mut session.tally)
        }
        Target::Run { run, .. } => {
            let Some(run) = grip.book.run_mut(run) else { return Tally::default() };
            run.models.clear();
            run.extremes = (0, 0);
            run.loops.forget();
            run.denials = 0;
            run.warned.clear();
            run.wants.clear();
            run.declined.clear();
            std::mem::take(&mut run.tally)
        }
    }
}

/// Stands for no limit in the record.
fn none(target: &Target) -> Finding {
    let scope = if matches!(target, Target::Session(_)) { Scope::Session } else { Scope::Run };
    Finding::ordered("reset", scope, Action::Warn)
}
