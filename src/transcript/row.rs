//! One row of a transcript, for every reader of transcripts: what is new, what is counted again, what is replayed, who answered.
//!
//! All of them forgive the same. A field of another shape than the client's is taken for empty (`field.rs`). Bytes that are no
//! UTF-8 and lone surrogates are replaced. A line that is not valid JSON is no row.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess};
use serde_json::value::RawValue;

use crate::domain::text::rfc3339;
use crate::transcript::field::{self, Flag, List, Object, Shape, Text, Usd, short};
use crate::transcript::usage_row::RawUsage;
use crate::wire::machine_prompts::is_a_machines;
use crate::wire::replace_lone_surrogates::replace_lone_surrogates;

/// The model of rows that the client makes up itself.
const SYNTHETIC: &str = "<synthetic>";

/// Who begins a turn that no person has begun, as clients 2.1.330 call it: another session or a program over the client's socket, its
/// schedule, a task in the background or a hook that wakes the agent, the client itself.
const MACHINES: [&str; 6] = ["peer", "scheduled", "task_notification", "auto_continuation", "host_synthetic", "system"];

/// How the text of a prompt begins that the client writes where a person has left a turn.
pub const INTERRUPTED: &str = "[Request interrupted by user";

/// How the text of a prompt begins that says that a background task ended.
pub const NOTIFICATION: &str = "<task-notification>";

/// A row with what its reader wants of the message's content: [`Content`], or `IgnoredAny`, which skips it unread.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a, C: Deserialize<'de> + Default"))]
pub struct Row<'a, C = IgnoredAny> {
    /// `user`, `assistant`, `system`, `attachment`, ...
    #[serde(rename = "type")]
    pub kind: Text<'a>,
    /// What kind of a `system` row.
    pub subtype: Text<'a>,
    /// The row's own id.
    pub uuid: Text<'a>,
    timestamp: Text<'a>,
    /// The session whose transcript it is.
    pub session_id: Text<'a>,
    /// How the client was started: `cli` in a terminal.
    pub entrypoint: Text<'a>,
    /// The prompt that the row belongs to; clients did not always write it.
    pub prompt_id: Text<'a>,
    /// The prompt that a schedule has sent.
    pub prompt: Text<'a>,
    request_session_id: Text<'a>,
    forked_from: Option<IgnoredAny>,
    /// Who sent a prompt: `scheduled`, ...
    pub turn_origin: Text<'a>,
    origin: Object<Origin<'a>>,
    /// Whether the client wrote a prompt beside another.
    pub is_meta: Flag,
    is_compact_summary: Flag,
    is_api_error_message: Flag,
    is_virtual: Flag,
    /// Whether nobody is billed for the response.
    pub is_unmetered: Flag,
    message: Object<Message<'a, C>>,
    /// What a tool responded.
    pub tool_use_result: Option<&'a RawValue>,
    /// Where the decision on a call came from. Clients before 2.1.328 do not say it.
    pub permission_decision: Object<Decision<'a>>,
    /// What a hook did.
    pub attachment: Object<Attachment<'a>>,
    /// The hooks that ran when the agent stopped.
    pub hook_infos: List<Attachment<'a>>,
    /// The client's own total.
    #[serde(rename = "totalCostUSD")]
    pub total_cost: Usd,
    /// The client's own total of each model.
    pub model_usage: Object<BTreeMap<String, Object<ModelTotal>>>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Origin<'a> {
    kind: Text<'a>,
}

/// A message of the conversation.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a, C: Deserialize<'de> + Default"))]
pub struct Message<'a, C> {
    id: Text<'a>,
    /// The model that answered.
    pub model: Text<'a>,
    /// What the response used.
    pub usage: Object<RawUsage<'a>>,
    /// Why the response ended: `end_turn`, `tool_use`, ...
    pub stop_reason: Text<'a>,
    /// What it says.
    pub content: C,
}

/// Where the decision on a call came from.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Decision<'a> {
    /// `hook`, `user_temporary`, ...
    pub source: Text<'a>,
}

/// What a hook did.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct Attachment<'a> {
    /// What it is about.
    #[serde(rename = "type")]
    pub kind: Text<'a>,
    /// The call.
    #[serde(rename = "toolUseID")]
    pub call: Text<'a>,
    /// The event.
    pub hook_event: Text<'a>,
    /// The hook's command.
    pub command: Text<'a>,
    /// What it printed.
    pub stdout: Text<'a>,
    /// What of that the client shows.
    pub content: Text<'a>,
}

/// The client's own total of a model.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ModelTotal {
    /// What it cost.
    #[serde(rename = "costUSD")]
    pub cost: Usd,
}

/// The beginning of a turn.
#[derive(Debug, PartialEq, Eq)]
pub struct Opening {
    /// The id of its prompt.
    pub prompt: String,
    /// Whether no person has sent that.
    pub by_machine: bool,
}

/// What a message says.
#[derive(Default)]
pub enum Content<'a> {
    /// Nothing that can be read.
    #[default]
    Other,
    /// Plain text.
    Text(Cow<'a, str>),
    /// Blocks: text, tool calls, their results.
    Blocks(Vec<Block<'a>>),
}

/// A block of a message.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Block<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    /// A call's own id.
    pub id: Text<'a>,
    /// The tool that it calls.
    pub name: Text<'a>,
    /// The tool's input.
    pub input: Option<&'a RawValue>,
    /// The call whose result it is.
    pub tool_use_id: Text<'a>,
    /// Whether the call failed.
    pub is_error: Flag,
    /// What the model was told of the call.
    pub content: Option<&'a RawValue>,
    /// Its text.
    pub text: Option<Text<'a>>,
}

impl<'de: 'a, 'a> Shape<'de> for Content<'a> {
    fn of_text(text: Cow<'de, str>) -> Content<'a> {
        Content::Text(text)
    }

    fn of_list<A: SeqAccess<'de>>(list: A) -> Result<Content<'a>, A::Error> {
        List::of_list(list).map(|blocks| Content::Blocks(blocks.objects))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Content<'a>, D::Error> {
        field::read(deserializer)
    }
}

/// Parses a line. `replaced` is where it is kept when something in it has to be replaced.
pub fn parse<'a, C>(line: &'a [u8], replaced: &'a mut Vec<u8>) -> serde_json::Result<Row<'a, C>>
where
    C: Deserialize<'a> + Default,
{
    serde_json::from_slice(line).or_else(|_| {
        *replaced = replace_lone_surrogates(String::from_utf8_lossy(line).into_owned().into_bytes());
        serde_json::from_slice(replaced)
    })
}

impl<'a, C> Row<'a, C> {
    /// Returns when it was written, in milliseconds since 1970; `None` where it does not say.
    pub fn at_ms(&self) -> Option<i64> {
        rfc3339::parse(&self.timestamp.0)
    }

    /// Returns the message.
    pub fn message(&self) -> Option<&Message<'a, C>> {
        self.message.get()
    }

    /// Takes the message out of the row.
    pub fn take_message(&mut self) -> Option<Message<'a, C>> {
        std::mem::take(&mut self.message).known()
    }

    /// Whether it is of a response that a model gave: the client makes up some itself.
    pub fn is_a_models(&self) -> bool {
        let is_made_up = self.is_api_error_message.0 || self.is_virtual.0;
        let is_models = |message: &Message<C>| message.model.0 != SYNTHETIC;
        self.kind.0 == "assistant" && !is_made_up && self.message().is_some_and(is_models)
    }

    /// Whether the client tells in it of a request that failed.
    pub fn is_of_a_failure(&self) -> bool {
        self.is_api_error_message.0
    }

    /// Whether it is a branch's copy of another session's. Clients before 2.1.328 do not say whose a response is.
    pub fn is_copied(&self) -> bool {
        self.forked_from.is_some()
    }

    /// Returns the session that made the request, where the row is a fork's copy of another session's.
    pub fn billed_by(&self) -> Option<Cow<'a, str>> {
        self.request_session_id.some().map(|_| short(self.request_session_id.0.clone()))
    }
}

impl<'a, C> Message<'a, C> {
    /// Returns the response's `message.id`.
    pub fn id(&self) -> Cow<'a, str> {
        short(self.id.0.clone())
    }
}

impl<'a> Row<'a, Content<'a>> {
    /// Returns the message's text, where it is plain text.
    pub fn text(&self) -> Option<&str> {
        match &self.message()?.content {
            Content::Text(text) => Some(text),
            Content::Blocks(_) | Content::Other => None,
        }
    }

    /// Returns the message's text, or that of its first block with one.
    pub fn first_text(&self) -> Option<&str> {
        match &self.message()?.content {
            Content::Text(text) => Some(text),
            Content::Blocks(blocks) => blocks.iter().find_map(|block| block.text.as_ref()).map(|text| &*text.0),
            Content::Other => None,
        }
    }

    /// Whether it is the summary of a compaction.
    pub fn is_summary(&self) -> bool {
        self.kind.0 == "user" && self.is_compact_summary.0 && self.uuid.some().is_some()
    }

    /// Whether it is a prompt that says that a background task ended.
    pub fn is_notification(&self) -> bool {
        // Blocks of content never open as one.
        let opens = self.text().is_some_and(|text| text.trim_start().starts_with(NOTIFICATION));
        let by_origin = self.origin.get().is_some_and(|origin| origin.kind.0 == "task-notification");
        self.kind.0 == "user" && (opens || by_origin)
    }

    /// Returns the prompt whose turn this row begins, and whether no person has sent it. Older clients do not say that; an agent can
    /// change what a row says, so a prompt in a machine's words is a machine's.
    pub fn opening(&self) -> Option<Opening> {
        let is_worded = || self.first_text().is_some_and(is_a_machines);
        let by_origin = self.origin.get().is_some_and(|origin| MACHINES.contains(&&*origin.kind.0));
        let is_said = self.turn_origin.some().is_some();
        let by_machine = MACHINES.contains(&&*self.turn_origin.0) || by_origin || is_worded();
        // A notification that comes amid a turn begins none.
        let is_opening = self.kind.0 == "user" && (is_said || by_machine && !self.is_notification());
        let is_opening = is_opening && self.prompt_id.some().is_some();
        is_opening.then(|| Opening { prompt: short(self.prompt_id.0.clone()).into_owned(), by_machine })
    }

    /// Returns the calls of a response.
    pub fn calls(&self) -> impl Iterator<Item = &Block<'a>> {
        self.blocks("assistant", "tool_use").filter(|block| block.id.some().is_some())
    }

    /// Returns the results of calls.
    pub fn results(&self) -> impl Iterator<Item = &Block<'a>> {
        self.blocks("user", "tool_result").filter(|block| block.tool_use_id.some().is_some())
    }

    fn blocks(&self, row: &'static str, kind: &'static str) -> impl Iterator<Item = &Block<'a>> {
        let message = self.message().filter(|_| self.kind.0 == row);
        let blocks = match message.map(|message| &message.content) {
            Some(Content::Blocks(blocks)) => blocks.as_slice(),
            _ => &[],
        };
        blocks.iter().filter(move |block| block.kind.0 == kind)
    }
}
