//! The keys of what a run owes and how it may end.

use serde_json::json;

use crate::config::key::{Apply, Key, Loosens, Setter, Takes};
use crate::config::permissions;
use crate::config::place::Block;
use crate::config::run_policies;

const RUNS: &[Block] = &[Block::Main, Block::Agents];
const AGENTS: &[Block] = &[Block::Agents];

/// The keys of what a run owes and how it may end.
pub const KEYS: &[Key] = &[
    Key {
        name: "checkpoints",
        blocks: RUNS,
        takes: Takes::One(run_policies::CHECKPOINTS),
        read: run_policies::checkpoints,
        apply: Apply::Value(|to, said, layer| to.rules.checkpoints = run_policies::of_layer(&said.value, layer)),
        doc: "What has to be in the JSON file that the agent keeps when it ends: `{\"execution_checkpoints\": [{\"checkpoint\": \
              \"START\", \"timestamp\": \"2026-11-20T10:00:00Z\"}]}` with the `required` checkpoints in this order, and at \
              most `max_gap_ms` between two of them. `file` is its path from the folder where the client was started; \
              `{agent_type}` and `{task}` in it are filled in. The agent is sent back `retries` times (1 unless said), \
              then it is let go and the run is marked.",
        example: r#"{ "file": "steps.json", "required": ["START", "RED_COMPLETE"], "max_gap_ms": 1800000, "retries": 1 }"#,
        ..Key::that_loosens(Loosens::Some(permissions::checkpoints))
    },
    Key {
        name: "completion",
        blocks: RUNS,
        setter: Setter::Trusted,
        takes: Takes::One(run_policies::COMPLETION),
        read: run_policies::completion,
        apply: Apply::Value(|to, said, layer| to.rules.completion = run_policies::of_layer(&said.value, layer)),
        doc: "A shell command that judges the work when the agent ends: it reads the hook's input and blocks with exit 2 or JSON. \
              A plain text is the command. It may take `timeout_ms` (60000 unless said, at most 600000), then it is ended and \
              does not block. The agent is sent back `retries` times (1 unless said), then it is let go and the run is \
              marked. Only the user's and the managed file can set it, and a repository that is trusted.",
        example: r#"{ "command": "make test", "timeout_ms": 60000, "retries": 1 }"#,
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "explicit_stop",
        blocks: RUNS,
        setter: Setter::Files,
        takes: Takes::One(run_policies::EXPLICIT_STOP),
        read: run_policies::explicit_stop,
        apply: Apply::Value(|to, said, layer| to.rules.explicit_stop = run_policies::of_layer(&said.value, layer)),
        doc: "How a tool ends the run: a call of one of the `tools` (patterns), or a line in a tool's result that begins with the \
              `marker`; the rest of the line is the reason. A plain text is a pattern of tools.",
        example: r#"{ "tools": ["mcp__*__submit"], "marker": "FUSEBOX-STOP:" }"#,
        ..Key::that_loosens(Loosens::Some(permissions::explicit_stop))
    },
    Key {
        name: "discipline",
        blocks: AGENTS,
        setter: Setter::Files,
        takes: Takes::One(run_policies::DISCIPLINE),
        read: run_policies::discipline,
        apply: Apply::Value(|to, said, _| to.discipline = run_policies::discipline_of(&said.value)),
        default: || json!(false),
        doc: "Whether the prompt of an agent gets a text about its limits, what is expected of each phase, and watching itself: \
              `true` for the one below, or a text of your own. `{{limits}}` in it becomes the list of the run's limits.",
        example: "true",
        ..Key::that_loosens(Loosens::Nothing)
    },
];
