//! One handler in a settings file: what ours looks like, and how it is recognised again.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::domain::bounds::LONGEST_HOLD_MS;
use crate::install::client_versions::Version;
use crate::messages::to_people;
use crate::wire::events::{EventName, EventRow};

/// What a shared settings file runs: it does nothing on a machine without Fusebox, and hands its answer and exit code on.
pub const GUARDED_LINE: &str = "command -v fusebox >/dev/null 2>&1 || exit 0; exec fusebox hook";

/// The file in the client's folder that a machine without Fusebox has once its person was told so.
pub const TOLD_MISSING: &str = "fusebox-is-missing";

/// Returns the same where a session starts: on a machine without Fusebox it says so once, where somebody reads it. What it cannot
/// write down it says again.
pub fn guarded_start() -> String {
    format!(
        "command -v fusebox >/dev/null 2>&1 || {{ told=\"${{CLAUDE_CONFIG_DIR:-$HOME/.claude}}/{TOLD_MISSING}\"; [ -e \"$told\" ] || \
         {{ echo '{{\"systemMessage\":\"{}\"}}'; case \"$CLAUDE_CODE_SESSION_ATTENDED$CLAUDE_CODE_ENTRYPOINT\" in 0*|sdk*) ;; \
         *) {{ true >\"$told\"; }} 2>/dev/null;; esac; }}; exit 0; }}; exec fusebox hook",
        to_people::program_missing()
    )
}

/// How the prompt of a judge of ours begins, whichever version has written it.
const JUDGE_BEGINS: &str = "Fusebox asks you to judge";

/// What a model is asked where a subagent ends: the source's three questions, answered as the client expects of a prompt hook.
/// One that was sent back already may end, and so may one that would only go on in circles.
const JUDGE: &str = "Fusebox asks you to judge whether a subagent may end. What the client tells of its end: $ARGUMENTS\n\n\
    1. Is all the work that it was given done?\n\
    2. Did it get stuck, repeating the same steps without getting further?\n\
    3. Did it go beyond what it was asked to do?\n\n\
    Answer with JSON alone. {\"ok\": true} where the work is done, where the agent is stuck or went beyond its task, where its last \
    message says that the work is PARTIAL, and where `stop_hook_active` is true. Else, where work is left that it can still do, \
    {\"ok\": false, \"reason\": \"what is left\"}.";

/// The keys of a handler that Fusebox decides; any other is the user's.
const OWN_KEYS: [&str; 11] =
    ["type", "command", "args", "timeout", "onFailure", "if", "shell", "async", "asyncRewake", "once", "prompt"];

/// For how many seconds the client waits at a tool call, where calls are held.
pub const HOLD_S: u32 = 610;

/// Returns for how many seconds the client has to wait for a hook that holds a paused run's call for so many milliseconds; 0 where
/// none is held.
pub const fn pause_hold_s(wait_ms: u64) -> u32 {
    if wait_ms == 0 { 0 } else { wait_ms.div_ceil(1000) as u32 + 20 }
}

/// How the client is to run the hook.
#[derive(Clone, Debug)]
pub enum Launch {
    /// This binary, without a shell.
    Binary(PathBuf),
    /// The binary on the PATH, where there is one.
    Guarded,
}

/// What happens to a call when the hook itself breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// The client goes on.
    Continue,
    /// The client refuses the call, for the events where it can.
    Block,
}

/// The handler that `init` wants in a settings file.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// How it is run.
    pub launch: Launch,
    /// What happens when it breaks.
    pub on_failure: OnFailure,
    /// Whether a model judges the end of each subagent.
    pub judge: Judge,
    /// Whether calls are held until a rate has a slot for them.
    pub holds_calls: bool,
    /// For how many milliseconds a paused run's call or request is held; 0 where none is.
    pub pause_wait_ms: u64,
    /// The oldest client that reads it: what that does not know is not registered.
    pub client: Version,
    /// The command of the status line, where one is wanted.
    pub status_line: Option<String>,
}

/// Whether a model judges the end of each subagent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// One that is there stays; none is put in.
    AsItIs,
    /// It does.
    Asked,
}

/// Returns the handler that has a model judge the end of each subagent.
pub fn judge_handler() -> Value {
    json!({ "type": "prompt", "prompt": JUDGE, "timeout": 30 })
}

impl Wanted {
    /// Whether its client knows an event.
    pub fn knows(&self, row: &EventRow) -> bool {
        row.since.is_none_or(|since| self.client >= since)
    }

    /// Returns the handler for an event. What stands in the `present` one and is not ours to decide stays; so does its
    /// `onFailure`, since doing the same again must not make limits weaker.
    pub fn handler(&self, row: &EventRow, present: &Map<String, Value>) -> Value {
        let mut handler = Map::new();
        handler.insert("type".into(), json!("command"));
        match &self.launch {
            Launch::Binary(path) => {
                handler.insert("command".into(), json!(path.display().to_string()));
                handler.insert("args".into(), json!(["hook"]));
            }
            Launch::Guarded => {
                let is_start = row.event == EventName::SessionStart;
                let line = if is_start { guarded_start() } else { GUARDED_LINE.to_owned() };
                handler.insert("command".into(), json!(line));
            }
        }
        handler.insert("timeout".into(), json!(self.timeout_s(row)));
        let strict_already = matches!(self.launch, Launch::Binary(_)) && present.contains_key("onFailure");
        if row.can_fail_closed && self.on_failure == OnFailure::Block {
            handler.insert("onFailure".into(), json!("block"));
        } else if let (true, Some(value)) = (strict_already, present.get("onFailure")) {
            handler.insert("onFailure".into(), value.clone());
        }
        let foreign = present.iter().filter(|(key, _)| !OWN_KEYS.contains(&key.as_str()));
        handler.extend(foreign.map(|(key, value)| (key.clone(), value.clone())));
        Value::Object(handler)
    }

    fn timeout_s(&self, row: &EventRow) -> u32 {
        let is_held = matches!(row.event, EventName::PreToolUse | EventName::PostToolBatch);
        let for_rate = if self.holds_calls && row.event == EventName::PreToolUse { HOLD_S } else { row.timeout_s };
        if is_held { for_rate.max(pause_hold_s(self.pause_wait_ms)) } else { for_rate }
    }

    /// Returns the group that holds a new handler for an event: it matches everything.
    pub fn group(&self, row: &EventRow) -> Value {
        let handler = self.handler(row, &Map::new());
        match row.has_matcher {
            true => json!({ "matcher": "*", "hooks": [handler] }),
            false => json!({ "hooks": [handler] }),
        }
    }
}

/// A handler as it stands in a settings file, as far as Fusebox cares.
#[derive(Clone, Debug, PartialEq)]
pub struct Handler {
    /// What is run.
    pub command: String,
    /// Its arguments; none in shell form.
    pub args: Option<Vec<String>>,
    kind: String,
    timeout: Option<f64>,
    prompt: Option<String>,
    on_failure: Option<String>,
    /// Whether the client runs it at times only, does not wait for it, or what it does with one of the fields is not known.
    is_conditional: bool,
}

impl From<Map<String, Value>> for Handler {
    fn from(mut fields: Map<String, Value>) -> Handler {
        let mut is_odd = false;
        let mut take = |key: &str, is_kind: fn(&Value) -> bool| {
            let value = fields.remove(key)?;
            is_odd |= !is_kind(&value);
            Some(value)
        };
        let [kind, command, prompt, on_failure, condition, shell] =
            ["type", "command", "prompt", "onFailure", "if", "shell"].map(|key| take(key, Value::is_string));
        let switches = ["async", "asyncRewake", "once"].map(|key| take(key, Value::is_boolean));
        let (timeout, args) = (take("timeout", Value::is_number), take("args", Value::is_array));
        let text = |value: Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
        let words = |args: &Vec<Value>| args.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let has_condition = condition.is_some() || shell.is_some() || switches.contains(&Some(Value::Bool(true)));
        Handler {
            command: text(command).unwrap_or_default(),
            args: args.as_ref().and_then(Value::as_array).map(words),
            kind: text(kind).unwrap_or_else(|| "command".to_owned()),
            timeout: timeout.as_ref().and_then(Value::as_f64),
            prompt: text(prompt),
            on_failure: text(on_failure),
            is_conditional: is_odd || has_condition,
        }
    }
}

impl Handler {
    /// Whether Fusebox wrote it: a program called `fusebox` with the argument `hook`, in whatever folder and form.
    pub fn is_ours(&self) -> bool {
        if self.kind != "command" {
            return false;
        }
        if let Some(args) = &self.args {
            return args.first().is_some_and(|word| word == "hook") && is_fusebox(&self.command);
        }
        self.looks_first() || self.shell_program().is_some()
    }

    /// Whether it is a judge that Fusebox wrote, by how its prompt begins.
    pub fn is_judge(&self) -> bool {
        self.kind == "prompt" && self.prompt.as_ref().is_some_and(|prompt| prompt.starts_with(JUDGE_BEGINS))
    }

    /// Whether it is run at every call of its event, and the client waits so many seconds for the answer, or longer.
    pub fn is_attended(&self, least_s: u32) -> bool {
        !self.is_conditional && self.timeout.is_none_or(|seconds| seconds >= f64::from(least_s))
    }

    /// Returns for how many whole seconds the client waits for it; 0 where the settings do not say.
    pub fn timeout_s(&self) -> u32 {
        self.timeout.map_or(0, |seconds| seconds.clamp(0.0, f64::from(pause_hold_s(LONGEST_HOLD_MS))) as u32)
    }

    /// Whether the client is asked to refuse what the event is about where the handler breaks.
    pub fn fails_closed(&self) -> bool {
        self.on_failure.as_deref() == Some("block")
    }

    /// Whether the client takes both for one.
    pub fn runs_as(&self, other: &Handler) -> bool {
        (&self.command, &self.args) == (&other.command, &other.args)
    }

    /// Whether it does nothing where there is no Fusebox.
    pub fn looks_first(&self) -> bool {
        let line = self.command.trim();
        self.args.is_none() && line.starts_with("command -v fusebox ") && line.ends_with("exec fusebox hook")
    }

    /// Whether it runs one program and nothing beside it, as Fusebox writes it.
    pub fn is_plain(&self) -> bool {
        !self.looks_first() || self.command == GUARDED_LINE || self.command == guarded_start()
    }

    /// Returns the program that it names by path; none where it is looked up on the PATH.
    pub fn program(&self) -> Option<&Path> {
        let program = match &self.args {
            Some(_) => Some(self.command.as_str()),
            None => self.shell_program(),
        };
        program.filter(|program| program.contains(['/', '\\'])).map(Path::new)
    }

    /// Returns the program of a shell line that is `PROGRAM hook` and nothing else.
    fn shell_program(&self) -> Option<&str> {
        let program = self.command.trim().strip_suffix(" hook")?.trim();
        let unquoted = ['"', '\''].iter().find_map(|quote| program.strip_prefix(*quote)?.strip_suffix(*quote));
        let plain = !program.contains([' ', '"', '\'', ';', '&', '|', '$', '(', '`', '>', '<']);
        unquoted.or_else(|| plain.then_some(program)).filter(|program| is_fusebox(program))
    }
}

/// Whether a path's last part is our program's name.
fn is_fusebox(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name == "fusebox" || name == "fusebox.exe"
}

#[cfg(test)]
mod tests;
