//! What is looked at where an agent's work ends: its file of checkpoints, and what a command says of it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::domain::event::{Agent, Event};
use crate::domain::finding_source::FindingSource;
use crate::domain::incomplete;
use crate::domain::limit_set::{Checkpoints, Completion};
use crate::domain::record::{Record, RecordKind};
use crate::domain::session::Run;
use crate::domain::time_units::MINUTE_MS;
use crate::domain::verdict::Finding;
use crate::engine::agents::checkpoints;
use crate::engine::session_state::SessionState;
use crate::messages::notices;
use crate::platform::files;
use crate::platform::run_command::Program;
use crate::wire::completion::{Ruling, ruling};

/// The largest file of checkpoints that is read, in bytes.
const MOST_BYTES: u64 = 1024 * 1024;
/// The longest that a command may take: the client waits for the hook a little longer.
const MOST_PATIENCE_MS: u64 = 10 * MINUTE_MS.cast_unsigned();

/// The command to run before the state is held for the event.
pub struct Due {
    rule: Completion,
    folder: String,
}

/// What the command said.
pub struct CompletionCheck {
    rule: Completion,
    ruling: Ruling,
}

/// Returns the command that checks the work that ends with an event, where there is one.
pub fn due(state: &SessionState, event: &Event) -> Option<Due> {
    let rule = ends(state, event)?.limits.completion.clone()?;
    Some(Due { rule, folder: state.session.folder.clone() })
}

/// Returns the run whose work ends with an event: no order ends it, and no agent is at work whose report it waits for.
fn ends<'a>(state: &'a SessionState, event: &Event) -> Option<&'a Run> {
    event.ending().filter(|ending| !ending.waits && state.session.order.is_none())?;
    let id = match &event.agent {
        Agent::Sub { id, .. } => Some(id),
        Agent::Main => state.session.main.as_ref(),
    };
    state.run(id?).filter(|run| run.order.is_none())
}

/// Runs the command with the hook's input. The state must not be held meanwhile: others would wait for it.
pub fn run_command(due: Due, input: &[u8]) -> CompletionCheck {
    let Due { rule, folder } = due;
    let ruling = run(&rule, &folder, input).unwrap_or_else(|cause| Ruling::Fails(format!("it cannot be run: {cause}")));
    CompletionCheck { rule, ruling }
}

fn run(rule: &Completion, folder: &str, input: &[u8]) -> std::io::Result<Ruling> {
    let patience = rule.timeout_ms.min(MOST_PATIENCE_MS);
    let ran = Program::shell(&rule.command).folder(folder).run(input, Duration::from_millis(patience))?;
    Ok(match ran {
        Some(ran) => ruling(ran.status.code(), &ran.out, &ran.err),
        None => Ruling::Fails(format!("it took longer than {} s", patience.div_ceil(1000))),
    })
}

/// Returns what is missing where an agent's work ends; a command that failed is told to the person and the log.
pub fn missing(state: &mut SessionState, event: &Event, check: Option<&CompletionCheck>) -> Vec<Finding> {
    let Some(run) = ends(state, event) else { return Vec::new() };
    let kept = run.limits.checkpoints.as_ref().and_then(|rule| evaluate_checkpoints(rule, run, &state.session.folder));
    let mut missing: Vec<Finding> = kept.into_iter().collect();
    match check {
        Some(CompletionCheck { rule, ruling: Ruling::Blocks(why) }) => {
            missing.push(incomplete::finding(FindingSource::Completion, rule.layer, why.clone()));
        }
        Some(CompletionCheck { rule, ruling: Ruling::Fails(why) }) => {
            let run = run.clone();
            note(state, &run, rule, why);
        }
        Some(CompletionCheck { ruling: Ruling::Passes, .. }) | None => {}
    }
    missing
}

/// Says what is wrong with an agent's file of checkpoints.
fn evaluate_checkpoints(rule: &Checkpoints, run: &Run, folder: &str) -> Option<Finding> {
    let file = named(&rule.file, run);
    let text = read(&file_of(rule, run, folder));
    let problems = checkpoints::problems(rule, text.as_deref().map_err(String::as_str));
    let subject = format!("`{file}`: {}", problems.join("; "));
    (!problems.is_empty()).then(|| incomplete::finding(FindingSource::Checkpoints, rule.layer, subject))
}

/// Returns the file of checkpoints that an agent keeps.
pub fn file_of(rule: &Checkpoints, run: &Run, folder: &str) -> PathBuf {
    Path::new(folder).join(named(&rule.file, run))
}

/// Fills in what the name of the file says of the agent; an agent's type or task names no other folder.
fn named(file: &str, run: &Run) -> String {
    let part = |text: &str| text.replace(['/', '\\'], "-");
    file.replace("{agent_type}", &part(&run.agent_type)).replace("{task}", &part(run.task_id()))
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = files::bytes(path, MOST_BYTES).map_err(|cause| match cause.kind() {
        ErrorKind::NotFound => "it does not exist".to_owned(),
        ErrorKind::FileTooLarge | ErrorKind::Other => format!("it is no file of at most {MOST_BYTES} bytes"),
        _ => format!("it cannot be read: {cause}"),
    })?;
    String::from_utf8(bytes).map_err(|cause| format!("it cannot be read: {cause}"))
}

/// Notes that a command failed: nothing is known then, and nothing is held back.
fn note(state: &mut SessionState, run: &Run, rule: &Completion, why: &str) {
    let what = notices::completion_failed(&rule.command, why);
    state.session.notify_user(&what);
    state.effects.log_records.push(Record {
        error: what,
        task_id: run.task_id().to_owned(),
        agent_type: run.agent_type.clone(),
        event: Some(RecordKind::Notice),
        session: state.session.id.clone(),
        run: run.id.clone(),
        limit: FindingSource::Completion.to_string(),
        layer: rule.layer.as_str().to_owned(),
        ..Record::default()
    });
}
