//! How work that `fusebox run` has seen stopped goes on.

use crate::domain::action::Action;
use crate::domain::scope::Scope;
use crate::domain::session::{Order, Run, Session};
use crate::domain::verdict::Finding;
use crate::messages::advice::{self, Stopped};
use crate::messages::next_step::{NextStep, before_prompt};
use crate::report::next_prompt::all_steps;
use crate::ui::terminal::plain;
use crate::wire::user_lines;

/// Says how the work of a stopped main agent goes on: what has to be given or lifted before, and the prompt that takes it up.
pub fn next_step(
    session: &Session,
    run: &Run,
    held: Option<&Order>,
    blocks: &[(Finding, NextStep)],
    again: &str,
) -> String {
    let Some(finding) = held.map(|order| &order.finding) else { return format!("`{again}`") };
    let ends_session = finding.ends_session();
    let stopped = if ends_session { Stopped::Session } else { Stopped::MainRun };
    // A pause of the run's own is lifted by the run's name.
    let is_own = finding.scope == Scope::Run || finding.action == Action::Pause && !ends_session;
    let own = advice::lifts(finding, stopped, if is_own { &run.id } else { &session.id });
    let is_said = finding.scope == Scope::Team && finding.passes();
    let own = if is_said { NextStep::NextPrompt } else { own };
    then(&all_steps(own, finding, blocks, None), &format!("`{again}`"))
}

/// Says how a blocked prompt is sent again: what has to be given or lifted before, and the command with the whole id.
pub fn sent_again(session: &Session, main: &Run, why: &Finding) -> String {
    let more = &session.more_prompt_blocks;
    // A team's block says when it passes, and whom to ask.
    let is_said = why.scope == Scope::Team && why.passes();
    let own = if is_said { NextStep::NextPrompt } else { user_lines::unblocks(session, main, why) };
    let step = before_prompt(own, user_lines::beside(session, main, why, more));
    then(&step, &format!("again with `--resume {}`", plain(&session.id)))
}

/// Joins what has to be done with the words for how the work is taken up.
fn then(step: &NextStep, again: &str) -> String {
    match (step.command(), step) {
        (Some(command), _) => format!("`{command}`, then {again}"),
        (None, NextStep::NextPrompt | NextStep::Passed) => again.to_owned(),
        (None, step) => format!("{step} Then {again}"),
    }
}
