//! What the client writes to a hook: JSON on standard input, and the parts of events in it.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::domain::bounds::TASKS_TOLD;
use crate::domain::event::{Agent, Background, Call, CallOutcome, Ending, EventKind, Spawned, TaskNotification};
use crate::domain::moment::Moment;
use crate::domain::start_source::StartSource;
use crate::wire::bypass_detection::Guard;
use crate::wire::call_results::{self, was_answered_no, was_denied, was_not_made, was_refused};
use crate::wire::completion::says_partial;
use crate::wire::prompt_hash::prompt_hash;
use crate::wire::tool_input::ToolInput;
use crate::wire::{fingerprints, machine_prompts, shown_call, tools, untold_events};

/// The fields of every event that Fusebox reads; all others are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Input<'a> {
    /// The session; in a subagent too.
    #[serde(borrow)]
    pub session_id: Cow<'a, str>,
    /// The main transcript; in a subagent too.
    #[serde(borrow)]
    pub transcript_path: Cow<'a, str>,
    /// The client's current folder.
    #[serde(borrow)]
    pub cwd: Cow<'a, str>,
    /// The event's name.
    #[serde(borrow)]
    pub hook_event_name: Cow<'a, str>,
    /// The call's input.
    #[serde(borrow)]
    pub tool_input: Option<ToolInput<'a>>,
    /// The model that a session starts with.
    pub model: Option<String>,
    pub(crate) to_model: Option<String>,
    pub(super) context_tokens: Option<f64>,
    pub(super) prompt_id: Option<String>,
    agent_id: Option<String>,
    agent_type: Option<String>,
    tool_name: Option<String>,
    tool_use_id: Option<String>,
    #[serde(borrow)]
    permission_mode: Option<Cow<'a, str>>,
    /// The call's result, as it stands.
    #[serde(borrow)]
    pub tool_response: Option<&'a RawValue>,
    duration_ms: Option<f64>,
    #[serde(borrow)]
    error: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) tool_calls: Vec<BatchCall<'a>>,
    #[serde(borrow)]
    prompt: Option<Cow<'a, str>>,
    pub(crate) source: Option<StartSource>,
    pub(super) session_crons: Vec<Cron>,
    #[serde(borrow)]
    last_assistant_message: Option<Cow<'a, str>>,
    background_tasks: Vec<Task>,
    stop_hook_active: bool,
}

impl<'a> Input<'a> {
    /// Returns the id of the main conversation where it goes on in the background, in a transcript of its own.
    pub fn backgrounded_main(&self) -> Option<&str> {
        let id = self.agent_id.as_deref().filter(|id| is_backgrounded_main(id));
        id.filter(|_| self.agent_type.as_deref().unwrap_or("").is_empty())
    }

    /// Returns what a start says: the model, and how many tokens the conversation has that it takes up.
    pub fn start(&self) -> (Option<&String>, u64) {
        (self.model.as_ref(), self.context_tokens.map_or(0, |tokens| tokens as u64))
    }

    /// Returns the name of the command or skill that the prompt begins with.
    pub fn slash_command(&self) -> Option<&str> {
        self.prompt().strip_prefix('/')?.split_whitespace().next()
    }

    /// Whether the client's own judge may deny calls: in auto mode, and in plan mode where no person is asked.
    fn is_judged(&self) -> bool {
        self.permission_mode.as_deref().is_some_and(|mode| ["auto", "plan"].contains(&mode))
    }

    /// Returns the name of the tool that the event is about.
    pub(super) fn tool_name(&self) -> Option<&str> {
        self.tool_name.as_deref()
    }

    /// Returns the text of the prompt.
    pub fn prompt(&self) -> &str {
        self.prompt.as_deref().unwrap_or_default()
    }

    /// Returns the results of the calls of a batch, as JSON.
    pub fn results(&self) -> Vec<&'a str> {
        self.tool_calls.iter().map(|call| call.tool_response.map_or("", RawValue::get)).collect()
    }

    /// Returns the ids of the calls of a batch that Fusebox has refused.
    pub fn refused_calls(&self) -> impl Iterator<Item = &str> {
        let is_refused = |call: &&BatchCall| call.tool_response.is_some_and(|result| was_refused(result.get()));
        self.tool_calls.iter().filter(is_refused).map(|call| call.tool_use_id.as_str())
    }

    /// Returns the ids of the calls of a batch whose dialog a person has answered No, be it Fusebox's or the client's own.
    pub fn calls_answered_no(&self) -> impl Iterator<Item = &str> {
        let is_no = |call: &&BatchCall| call.tool_response.is_some_and(|result| was_answered_no(result.get()));
        self.tool_calls.iter().filter(is_no).map(|call| call.tool_use_id.as_str())
    }
}

/// One call of a batch.
#[derive(Debug, Deserialize)]
pub(super) struct BatchCall<'a> {
    #[serde(default)]
    tool_name: String,
    #[serde(default)]
    tool_use_id: String,
    #[serde(borrow, default)]
    tool_input: Option<ToolInput<'a>>,
    #[serde(borrow, default)]
    tool_response: Option<&'a RawValue>,
}

/// A prompt of the client's schedule.
#[derive(Debug, Deserialize)]
pub(super) struct Cron {
    #[serde(default)]
    pub(super) prompt: String,
}

#[derive(Debug, Deserialize)]
struct Task {
    #[serde(rename = "type", default)]
    kind: String,
}

/// What of a tool's response is read.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Response {
    agent_id: Option<String>,
    resumed_agent_id: Option<String>,
    status: Option<String>,
    background_task_id: Option<String>,
    task_id: Option<String>,
    timed_out_after_ms: Option<f64>,
    code: Option<f64>,
}

/// Why an input could not be read.
#[derive(Debug)]
pub struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Parses the bytes of standard input.
pub fn parse(bytes: &[u8]) -> Result<Input<'_>, Unreadable> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Unreadable("the hook's input is empty".to_owned()));
    }
    let input: Input = serde_json::from_slice(bytes)
        .map_err(|cause| Unreadable(format!("the hook's input is no event as the client writes them: {cause}")))?;
    if input.session_id.is_empty() || input.hook_event_name.is_empty() {
        return Err(Unreadable("the hook's input lacks `session_id` or `hook_event_name`".to_owned()));
    }
    let ids = [Some(&*input.session_id), input.agent_id.as_deref()];
    if let Some(id) = ids.into_iter().flatten().find(|id| !is_id(id)) {
        return Err(Unreadable(format!("`{}` is no id as the client makes them", id.escape_debug())));
    }
    Ok(input)
}

/// The longest id that is taken for one.
const LONGEST_ID: usize = 128;

/// Whether a text can be an id of the client's: ids become names of files and of entries.
pub fn is_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-:.@".contains(&byte);
    !text.is_empty() && text.len() <= LONGEST_ID && text.bytes().all(plain) && !text.contains("..")
}

/// Returns who acts.
pub(super) fn agent(input: &Input) -> Agent {
    match &input.agent_id {
        Some(id) if input.backgrounded_main().is_none() => {
            Agent::Sub { id: id.clone(), agent_type: input.agent_type.clone().unwrap_or_default() }
        }
        _ => Agent::Main,
    }
}

/// Whether an agent's id is that of the main conversation sent to the background: `s` and eight of `[0-9a-z]`.
pub fn is_backgrounded_main(id: &str) -> bool {
    let tail = id.strip_prefix('s').unwrap_or("");
    tail.len() == 8 && tail.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
}

/// Reads a prompt.
pub(super) fn prompt(input: &Input) -> EventKind {
    let text = input.prompt();
    let by_machine = machine_prompts::is_a_machines(text);
    EventKind::Prompt {
        text_hash: prompt_hash(text),
        notifications: notifications(text),
        by_machine,
        is_command: input.slash_command().is_some(),
    }
}

/// Reads the call that an event is about.
pub(super) fn call(input: &Input, guard: &Guard) -> Call {
    let (tool, given) = (input.tool_name.clone().unwrap_or_default(), input.tool_input.as_ref());
    let may_mention = tools::may_mention(&tool, given, guard);
    let (intent, nested_starts) = tools::intent_and_starts(&tool, given, guard, may_mention);
    let (id, starts_agent) = (input.tool_use_id.clone().unwrap_or_default(), tools::starts_agent(&tool));
    let (ticks_off, is_judged) = (untold_events::ticks_off(&tool, given), input.is_judged());
    let tool = shown_call::tool_name(&tool);
    Call { id, tool, intent, may_mention, nested_starts, starts_agent, ticks_off, is_judged, ..Call::default() }
}

/// Reads the calls of a batch.
pub(super) fn batch(input: &Input) -> Vec<Call> {
    let read = |call| Call { is_judged: input.is_judged(), ..batch_call(call) };
    input.tool_calls.iter().map(read).collect()
}

fn batch_call(call: &BatchCall) -> Call {
    let (tool, input) = (&call.tool_name, call.tool_input.as_ref());
    let json = input.map(ToolInput::json);
    let mut fingerprints = fingerprints::of_call(tool, json, call.tool_response);
    if tools::runs_shell(tool) && tools::runs_on(tool, input) {
        // What runs on in the background says no more than its id, and that is never the same.
        fingerprints.all = fingerprints::of_call(tool, json, None).all;
    } else {
        fingerprints.wait = tools::wait(tool, input);
    }
    if tools::runs_shell(tool) {
        fingerprints.input = json.and_then(fingerprints::of_command).unwrap_or(fingerprints.input);
    }
    let response = call.tool_response.map_or("", RawValue::get);
    fingerprints.error = tools::error(tool, input, response, fingerprints);
    fingerprints.was_rejected = was_not_made(response) || was_denied(response);
    let guard = Guard::default();
    let intent = tools::intent(tool, input, &guard, tools::may_mention(tool, input, &guard));
    let shown = shown_call::of(tool, json, call.tool_response);
    let input_bytes = input.map_or(0, |input| input.text().len() as u64);
    let (id, tool) = (call.tool_use_id.clone(), shown_call::tool_name(tool));
    let result_tokens = call_results::tokens(response);
    Call { id, tool, intent, fingerprints, shown, input_bytes, result_tokens, ..Call::default() }
}

/// Reads how an agent's turn ended. The client's lists are those of the whole session.
pub(super) fn ending(input: &Input) -> Ending {
    Ending {
        partial: input.last_assistant_message.as_deref().is_some_and(says_partial),
        again: input.stop_hook_active,
        waits: input.background_tasks.iter().any(|task| task.kind == SUBAGENT),
    }
}

/// What the client calls an agent in its list of background tasks.
const SUBAGENT: &str = "subagent";

/// Whether a call failed, by its event.
pub(super) enum Failed {
    /// It did.
    Yes,
    /// It did not.
    No,
}

/// Reads an event that says nothing of the agent's work.
pub(super) fn other(input: &Input, _: &Guard) -> EventKind {
    EventKind::Other(input.hook_event_name.clone().into_owned())
}

/// Reads how a call ended.
pub(super) fn outcome(input: &Input, failed: Failed) -> CallOutcome {
    let response: Response = match input.tool_response {
        Some(raw) if raw.get().starts_with('{') => serde_json::from_str(raw.get()).unwrap_or_default(),
        _ => Response::default(),
    };
    let launched = !matches!(response.status.as_deref(), Some("completed" | "forked"));
    let agent = match (response.agent_id, response.resumed_agent_id) {
        (Some(id), _) => Some(Spawned { id, ended: !launched }),
        (None, Some(id)) => Some(Spawned { id, ended: false }),
        (None, None) => None,
    };
    let watched = response.task_id.filter(|_| input.tool_name.as_deref().is_some_and(tools::watches));
    let background = response.background_task_id.or(watched).map(|task| Background {
        task,
        command: tools::command(input.tool_input.as_ref()).unwrap_or_default().to_owned(),
        timed_out: response.timed_out_after_ms.is_some(),
        began: Moment::default(),
        told: Moment::default(),
    });
    let duration_ms = input.duration_ms.filter(|ms| *ms >= 0.0).map(|ms| ms as u64);
    let (failed, tool) = (matches!(failed, Failed::Yes), input.tool_name.as_deref().unwrap_or_default());
    let error = input.error.as_deref().filter(|_| failed);
    let asked_nothing = tools::asked_nothing(tool, response.code, error);
    let edits =
        !failed && background.is_none() && tools::has_edited(tool, input.tool_input.as_ref(), input.tool_response);
    CallOutcome { failed, duration_ms, agent, background, stop_marker: None, asked_nothing, edits }
}

/// Reads the first notifications that a prompt is made of; none where it is something else.
pub fn notifications(text: &str) -> Vec<TaskNotification> {
    let mut found = Vec::new();
    let mut rest = text;
    while found.len() < TASKS_TOLD
        && let Some(body) = rest.trim_start().strip_prefix("<task-notification>")
    {
        let (body, after) = body.split_once("</task-notification>").unwrap_or((body, ""));
        let tag = |name: &str| {
            let after = body.split(&format!("<{name}>")).nth(1)?;
            Some(after.split(&format!("</{name}>")).next()?.trim().to_owned())
        };
        // What a watched command prints is between these: it says nothing of the task.
        let is_line = body.contains("<event>");
        let tool_use_id = tag("tool-use-id").filter(|_| !is_line);
        let is_done = tag("status").is_some_and(|status| status == "completed");
        found.extend(tag("task-id").map(|task| TaskNotification { task, tool_use_id, is_line, is_done }));
        rest = after;
    }
    found
}
