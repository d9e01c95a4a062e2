//! What is known of the client's tools, as a table, and the little of their input that limits care about.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::byte_search;
use crate::domain::event::{Fingerprints, Intent, Wait};
use crate::domain::nested_start::NestedStart;
use crate::domain::time_units::MINUTE_MS;
use crate::wire::answers;
use crate::wire::bypass_detection::Guard;
use crate::wire::bypass_detection::model_names::names_the_model;
use crate::wire::bypass_detection::path_rules::from_powershell;
use crate::wire::edits;
use crate::wire::polling;
use crate::wire::prompt_hash::prompt_hash;
use crate::wire::served_tools;
use crate::wire::tool_input::ToolInput;

/// What a tool does, as far as limits care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    /// Starts a subagent.
    Spawns,
    /// Sends a message to an agent.
    Messages,
    /// Runs a shell command, at most for its `timeout` (default in milliseconds).
    RunsShell(u64),
    /// Runs a shell command in the background whose lines are prompts, at most for its `timeout_ms` (default in milliseconds).
    Watches(u64),
    /// Waits for a background task, at most for its `timeout` (default in milliseconds).
    Waits(u64),
    /// Schedules a prompt.
    Schedules,
    /// Updates a task.
    UpdatesTask,
    /// Writes the file it names.
    Writes,
}

/// The tool whose commands are PowerShell's.
const POWERSHELL: &str = "PowerShell";

/// The tools whose input is looked at; all others are plain.
const TOOLS: [(&str, Does); 15] = [
    ("Agent", Does::Spawns),
    ("Task", Does::Spawns),
    ("SendMessage", Does::Messages),
    ("Bash", Does::RunsShell(120_000)),
    (POWERSHELL, Does::RunsShell(120_000)),
    ("Monitor", Does::Watches(300_000)),
    ("TaskOutput", Does::Waits(30_000)),
    ("CronCreate", Does::Schedules),
    ("ScheduleWakeup", Does::Schedules),
    ("TaskUpdate", Does::UpdatesTask),
    ("Write", Does::Writes),
    ("Edit", Does::Writes),
    ("MultiEdit", Does::Writes),
    ("NotebookEdit", Does::Writes),
    ("NotebookWrite", Does::Writes),
];

/// What a request to the model holds that the client makes for a tool, and that no transcript shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnloggedRequest {
    /// Tokens of its prompt.
    pub prompt: u64,
    /// Tokens of its answer.
    pub completion: u64,
    /// Web searches that the server makes for it.
    pub searches: u64,
}

/// The tools that are requests themselves, to the session's model. What a search finds comes back as input; of a page client
/// 2.1.328 sends 100,000 characters at most, and half of that is taken for a page.
const ASKING: [(&str, UnloggedRequest); 2] = [
    ("WebSearch", UnloggedRequest { prompt: 12_500, completion: 500, searches: 1 }),
    ("WebFetch", UnloggedRequest { prompt: 12_500, completion: 500, searches: 0 }),
];

/// Returns what a tool asks the model that no transcript shows. A client that serves its tools (`claude mcp serve`) asks as much.
pub fn unlogged_request(tool: &str) -> Option<UnloggedRequest> {
    let tool = served_tools::name(tool).unwrap_or(tool);
    ASKING.iter().find(|(name, _)| *name == tool).map(|(_, asks)| *asks)
}

/// How the errors of `WebFetch` begin that come before the client asks the model, as clients 2.1.328 and 2.1.330 word them. One that
/// is not among them is taken to come after.
const NO_PAGE: [&str; 6] = [
    "getaddrinfo ",
    "connect ",
    "Too many redirects",
    "maxContentLength size of ",
    "stream has been aborted",
    "WebFetch cannot fetch ",
];

/// Whether the result of a tool shows that the client asked the model nothing for it: there was no page to sum up.
pub fn asked_nothing(tool: &str, code: Option<f64>, error: Option<&str>) -> bool {
    let is_page = |code: f64| (200.0..300.0).contains(&code);
    let has_none = code.is_some_and(|code| !is_page(code));
    tool == "WebFetch"
        && (has_none || error.is_some_and(|error| NO_PAGE.iter().any(|begins| error.starts_with(begins))))
}

/// How long the client lets a shell command run in the background that names no `timeout`.
const BACKGROUND_SHELL_MS: u64 = 10 * MINUTE_MS.cast_unsigned();

/// The agent type that the client uses where a call names none.
const DEFAULT_AGENT: &str = "general-purpose";

/// Reads what a call is about. Input that does not fit its tool is plain: the client will reject it.
pub fn intent(tool: &str, input: Option<&ToolInput>, guard: &Guard, may_mention: bool) -> Intent {
    intent_and_starts(tool, input, guard, may_mention).0
}

/// Returns the same, and how its shell command plainly starts clients.
pub fn intent_and_starts(
    tool: &str,
    input: Option<&ToolInput>,
    guard: &Guard,
    may_mention: bool,
) -> (Intent, Vec<NestedStart>) {
    let command = command(input).filter(|_| runs_shell(tool)).map(|command| as_posix(tool, command));
    let command = command.map(|command| guard.read_command(&command, may_mention)).unwrap_or_default();
    match command.refused {
        Some(what) => (Intent::Tampering { what }, command.starts),
        None => (intent_of(tool, input, guard), command.starts),
    }
}

/// Returns what a call is about whose shell command, where it has one, is not refused.
fn intent_of(tool: &str, input: Option<&ToolInput>, guard: &Guard) -> Intent {
    let Some((_, does)) = TOOLS.iter().find(|(name, _)| *name == tool) else {
        return served_tools::tampering(tool, input, guard).map_or(Intent::Plain, |what| Intent::Tampering { what });
    };
    let Some(fields) = input.and_then(ToolInput::fields) else { return Intent::Plain };
    let owned = |text: &Option<Cow<str>>| text.as_deref().map(str::to_owned);
    match does {
        Does::Spawns => Intent::Spawn {
            agent_type: owned(&fields.subagent_type).unwrap_or_else(|| DEFAULT_AGENT.to_owned()),
            name: owned(&fields.name),
            model: owned(&fields.model),
            prompt: owned(&fields.prompt).unwrap_or_default(),
        },
        Does::Messages => owned(&fields.to).map_or(Intent::Plain, |to| Intent::Message { to }),
        Does::Schedules => {
            let prompt = fields.prompt.as_deref();
            prompt.map_or(Intent::Plain, |prompt| Intent::Schedules { prompt: prompt_hash(prompt) })
        }
        Does::UpdatesTask => owned(&fields.task_id).map_or(Intent::Plain, |id| Intent::Task { id }),
        Does::Writes => {
            let path = subject(tool, input).unwrap_or_default();
            guard.file(path).map_or(Intent::Plain, |what| Intent::Tampering { what })
        }
        Does::RunsShell(default) => {
            let default = if fields.run_in_background == Some(true) { BACKGROUND_SHELL_MS } else { *default };
            Intent::Timed { timeout_ms: given(fields.timeout, default) }
        }
        Does::Watches(_) if fields.persistent == Some(true) => Intent::Timed { timeout_ms: u64::MAX },
        Does::Watches(default) => Intent::Timed { timeout_ms: given(fields.timeout_ms, *default) },
        Does::Waits(default) => Intent::Timed { timeout_ms: given(fields.timeout, *default) },
    }
}

/// Whether what the guard looks at of a call may name anything that it keeps: most calls name nothing, and are not read any further.
pub fn may_mention(tool: &str, input: Option<&ToolInput>, guard: &Guard) -> bool {
    subject(tool, input).is_some_and(|subject| guard.may_mention(&as_posix(tool, subject)))
}

/// Whether a call runs a shell command that speaks to the model itself. Most commands name nothing of it, and are not read.
pub fn asks_the_model(tool: &str, input: Option<&ToolInput>, guard: &Guard) -> bool {
    let named = command(input).filter(|command| runs_shell(tool) && names_the_model(command));
    named.is_some_and(|command| guard.asks_the_model(&as_posix(tool, command)))
}

/// Returns a tool's command as a Unix shell would read it.
fn as_posix<'a>(tool: &str, command: &'a str) -> Cow<'a, str> {
    if tool == POWERSHELL { Cow::Owned(from_powershell(command)) } else { Cow::Borrowed(command) }
}

/// Whether a tool runs a shell command.
pub fn runs_shell(tool: &str) -> bool {
    let shell = |does: &Does| matches!(does, Does::RunsShell(_) | Does::Watches(_));
    TOOLS.iter().any(|(name, does)| *name == tool && shell(does))
}

/// Returns the timeout that a call asks for, else the tool's own; nothing and less count as not asked for.
fn given(timeout: Option<f64>, default: u64) -> u64 {
    timeout.filter(|given| *given >= 1.0).map_or(default, |given| given as u64)
}

/// Returns how a call waits, as its tool and input show.
pub fn wait(tool: &str, input: Option<&ToolInput>) -> Wait {
    match TOOLS.iter().find(|(name, _)| *name == tool) {
        Some((_, Does::Waits(_))) => Wait::Named,
        Some((_, Does::RunsShell(_))) => {
            let waits = command(input).filter(|command| polling::may_wait(command));
            waits.map_or(Wait::No, polling::of_shell)
        }
        _ => polling::of_name(tool),
    }
}

/// Returns the fingerprint of a call's error. An exit code that is an answer is an error of its own command alone. A result that
/// is longer is not read.
pub fn error(tool: &str, input: Option<&ToolInput>, result: &str, fingerprints: Fingerprints) -> u32 {
    let is_short = runs_shell(tool) && result.len() < 32;
    let is_answer = |command: &str| answers::is_answer(&as_posix(tool, command), result);
    if is_short && command(input).is_some_and(is_answer) { fingerprints.all } else { fingerprints.error }
}

/// Whether a tool runs a command in the background whose lines are prompts.
pub fn watches(tool: &str) -> bool {
    TOOLS.iter().any(|(name, does)| *name == tool && matches!(does, Does::Watches(_)))
}

/// Whether what a call starts runs on in the background once the call has ended.
pub fn runs_on(tool: &str, input: Option<&ToolInput>) -> bool {
    watches(tool) || input.and_then(ToolInput::fields).is_some_and(|fields| fields.run_in_background == Some(true))
}

/// The tool whose call starts agents without telling how many.
const WORKFLOW: &str = "Workflow";

/// Whether a tool starts agents by itself.
pub fn starts_agent(tool: &str) -> bool {
    tool == WORKFLOW
}

/// The tool that loads a skill.
const SKILL: &str = "Skill";

/// Returns what a skill is called with.
pub fn skill_arguments<'a>(input: Option<&'a ToolInput>) -> &'a str {
    input.and_then(ToolInput::fields).and_then(|fields| fields.args.as_deref()).unwrap_or_default()
}

/// Returns the name of the skill that a call loads.
pub fn skill<'a>(tool: &str, input: Option<&'a ToolInput>) -> Option<&'a str> {
    input.filter(|_| tool == SKILL)?.fields()?.skill.as_deref()
}

/// Whether the guard looks at what a tool does: it runs a shell command or writes a file.
pub fn is_guarded(tool: &str) -> bool {
    runs_shell(tool) || writes(tool)
}

fn writes(tool: &str) -> bool {
    TOOLS.iter().any(|(name, does)| *name == tool && *does == Does::Writes)
}

/// Returns what the guard looks at of a call: its command, or the path that it writes.
pub fn subject<'a>(tool: &str, input: Option<&'a ToolInput>) -> Option<&'a str> {
    let fields = input.filter(|_| is_guarded(tool))?.fields()?;
    let path = || fields.file_path.as_ref().or(fields.notebook_path.as_ref());
    if writes(tool) { path().map(Cow::as_ref) } else { fields.command.as_deref() }
}

/// Whether a call that ended well has edited files, or committed.
pub fn has_edited(tool: &str, input: Option<&ToolInput>, response: Option<&RawValue>) -> bool {
    let is_shell = TOOLS.iter().any(|(name, does)| *name == tool && matches!(does, Does::RunsShell(_)));
    let names_it = |command: &&str| byte_search::find(b"commit", command.as_bytes()).is_some();
    let commits = |command: &str| edits::has_committed(command, &printed(response));
    writes(tool) || is_shell && command(input).filter(names_it).is_some_and(commits)
}

/// Returns what a shell call has printed.
fn printed(response: Option<&RawValue>) -> String {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Printed {
        stdout: String,
    }
    let printed = response.and_then(|response| serde_json::from_str::<Printed>(response.get()).ok());
    printed.unwrap_or_default().stdout
}

/// Returns a shell call's command.
pub fn command<'a>(input: Option<&'a ToolInput>) -> Option<&'a str> {
    input?.fields()?.command.as_deref()
}

/// Returns a call's input with a text at the end of its `prompt`, everything else as it was; nothing where it is there already.
pub fn with_prompt_tail(input: &RawValue, tail: &str) -> Option<Box<RawValue>> {
    let mut fields = members(input)?;
    let prompt: String = serde_json::from_str(fields.get("prompt")?.get()).ok()?;
    let tail = tail.trim();
    if tail.is_empty() || prompt.trim_end().ends_with(tail) {
        return None;
    }
    let longer = serde_json::to_string(&format!("{}\n\n{tail}", prompt.trim_end())).ok()?;
    fields.insert("prompt".to_owned(), RawValue::from_string(longer).ok()?);
    serde_json::value::to_raw_value(&fields).ok()
}

/// Returns a call's input with its tool's timeout set, everything else as it was.
pub fn with_timeout(tool: &str, input: &RawValue, timeout_ms: u64) -> Option<Box<RawValue>> {
    let mut fields = members(input)?;
    let field = if watches(tool) { "timeout_ms" } else { "timeout" };
    fields.insert(field.to_owned(), RawValue::from_string(timeout_ms.to_string()).ok()?);
    if let Some(persistent) = fields.get_mut("persistent").filter(|_| watches(tool)) {
        // One that persists has no timeout.
        *persistent = RawValue::from_string("false".to_owned()).ok()?;
    }
    serde_json::value::to_raw_value(&fields).ok()
}

/// Returns the fields of an input as they stand, however deep their values are nested.
fn members(input: &RawValue) -> Option<BTreeMap<String, Box<RawValue>>> {
    serde_json::from_str(input.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_input_is_changed_as_any_other() {
        for depth in [0, 200, 20_000] {
            let deep = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
            let input = RawValue::from_string(format!(r#"{{"a":{deep},"prompt":"go","timeout":1}}"#)).unwrap();
            let timed = with_timeout("Bash", &input, 7).unwrap();
            assert_eq!(timed.get(), format!(r#"{{"a":{deep},"prompt":"go","timeout":7}}"#), "{depth}");
            let told = with_prompt_tail(&input, "on").unwrap();
            assert_eq!(told.get(), format!(r#"{{"a":{deep},"prompt":"go\n\non","timeout":1}}"#), "{depth}");
        }
    }
}
