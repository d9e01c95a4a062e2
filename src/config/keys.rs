//! Every key that is no limit: where it may stand, what it takes, what it means. Limits' keys are in [`crate::limits`].
//!
//! Reading, the JSON schema and `docs/config.md` all come from these rows.

use serde_json::{Value, json};

use crate::config::duties;
use crate::config::each::Each;
use crate::config::key::{Key, Setter, Takes};
use crate::config::place::{BLOCKS, Block, Place};
use crate::config::setting::{DEFAULT_ACTION, Increase, Term, typed};
use crate::config::shape::{Field, LOCAL_TIME, Shape};
use crate::engine::policy::{Mode, OnError};
use crate::engine::rules::{FINALIZE_TOOLS, PLANNING, Rules};

const TOP: &[Block] = &[];
const WORK: &[Block] = &[Block::Session, Block::Main, Block::Agents];
const RUNS: &[Block] = &[Block::Main, Block::Agents];
const AGENTS: &[Block] = &[Block::Agents];

/// How many days detail is kept.
pub const RETENTION_DAYS: u64 = 90;
/// The least and the most of them. The budget of a month is counted from detail.
pub const RETENTION_RANGE: (u64, u64) = (32, 36_500);
const RETENTION: Shape = Shape::Either(&[Shape::Whole(RETENTION_RANGE.0, RETENTION_RANGE.1), Shape::Null]);

const ROLES: Shape = Shape::Object(&[Field::needed("planning", Shape::Names)]);
const LOCKED: Shape = Shape::Either(&[Shape::Flag, Shape::Names]);

/// Every key, in the order of the documentation.
pub const KEYS: &[Key] = &[
    Key {
        name: "$schema",
        blocks: TOP,
        setter: Setter::Anyone,
        takes: Takes::Note(Shape::Text),
        default: || Value::Null,
        doc: "Where an editor finds the schema: `fusebox config schema` prints it, `fusebox init` puts a copy beside the file.",
        example: r#""fusebox.schema.json""#,
    },
    Key {
        name: "mode",
        blocks: TOP,
        setter: Setter::Anyone,
        takes: Takes::One(Shape::Word(&["enforce", "observe"]), |value| Some(Term::Mode(typed(value)?))),
        default: || json!(Mode::default()),
        doc: "`observe` decides and logs everything and blocks nothing.",
        example: r#""observe""#,
    },
    Key {
        name: "session",
        blocks: TOP,
        setter: Setter::Anyone,
        takes: Takes::Block(Place::Session),
        default: || Value::Null,
        doc: "Limits over a whole session: the main agent and all subagents together.",
        example: r#"{ "max_cost_usd": 10 }"#,
    },
    Key {
        name: "main",
        blocks: TOP,
        setter: Setter::Anyone,
        takes: Takes::Block(Place::Main),
        default: || Value::Null,
        doc: "Limits of one run of the main agent: its answer to one prompt.",
        example: r#"{ "max_turns": 200, "timeout_action": "request_increase" }"#,
    },
    Key {
        name: "agents",
        blocks: TOP,
        setter: Setter::Anyone,
        takes: Takes::Blocks,
        default: || Value::Null,
        doc: "Limits of subagents' runs, by agent type. A name may hold `*`; within a file an exact name beats a longer \
              pattern beats `*`.",
        example: r#"{ "developer": { "max_turns": 40 }, "security-*": { "max_cost_usd": 3 } }"#,
    },
    Key {
        name: "user",
        blocks: TOP,
        setter: Setter::Anyone,
        takes: Takes::Block(Place::User),
        default: || Value::Null,
        doc: "Limits over all sessions of the user on this machine: the operating system's user.",
        example: r#"{ "max_cost_usd_per_day": 25, "timeout_action": "request_increase" }"#,
    },
    Key {
        name: "project",
        blocks: TOP,
        setter: Setter::Anyone,
        takes: Takes::Block(Place::Project),
        default: || Value::Null,
        doc: "Limits over all sessions of the repository and its worktrees, else of the project's folder.",
        example: r#"{ "max_cost_usd_per_week": 100 }"#,
    },
    Key {
        name: "ceilings",
        blocks: TOP,
        setter: Setter::Anyone,
        takes: Takes::PerLimit(Each::Ceiling),
        default: || Value::Null,
        doc: "The range that binds the limits of subagents' runs, whoever sets them: the largest cap, or `[smallest, \
              largest]`, or `null` for no ceiling. A configured value outside is an error that drops that key alone; a \
              spawn's value is cut to it. Only the managed file's limits are not bound.",
        example: r#"{ "max_turns": 200, "max_cost_usd": [0.01, 20] }"#,
    },
    Key {
        name: "on_error",
        blocks: TOP,
        setter: Setter::Anyone,
        takes: Takes::One(Shape::Word(&["allow", "deny"]), |value| Some(Term::OnError(typed(value)?))),
        default: || json!(OnError::default()),
        doc: "What to answer where Fusebox itself fails: let the call through, or refuse it.",
        example: r#""deny""#,
    },
    Key {
        name: "spawn_may_loosen",
        blocks: TOP,
        setter: Setter::Owner,
        takes: Takes::One(Shape::Flag, |value| value.as_bool().map(Term::SpawnMayLoosen)),
        default: || json!(false),
        doc: "Whether an `execution_limits` block in the prompt of an Agent call may loosen limits (within the ceilings), \
              and not only tighten them. Only the user's and the managed file can set it.",
        example: "true",
    },
    Key {
        name: "roles",
        blocks: TOP,
        setter: Setter::Anyone,
        takes: Takes::One(ROLES, |value| Some(Term::Planning(typed(value.get("planning")?)?))),
        default: || json!({ "planning": PLANNING }),
        doc: "The models whose cost `max_planning_cost_usd` counts, as patterns; all others count as execution.",
        example: r#"{ "planning": ["*opus*"] }"#,
    },
    Key {
        name: "time_zone",
        blocks: TOP,
        setter: Setter::Owner,
        takes: Takes::One(Shape::Zone, |value| Some(Term::TimeZone(typed(value)?))),
        default: || json!(LOCAL_TIME),
        doc: "Where days, weeks and months of budgets begin: `local` for the machine's time, or a name of the IANA database. Only the \
              user's and the managed file can set it.",
        example: r#""Europe/Berlin""#,
    },
    Key {
        name: "retention_days",
        blocks: TOP,
        setter: Setter::Owner,
        takes: Takes::One(RETENTION, |value| Some(Term::RetentionDays(typed(value)?))),
        default: || json!(RETENTION_DAYS),
        doc: "How many days after its last event the detail of a session is kept: runs, calls, responses, records of the log. Sums of each \
              day by project and model stay for good, and so do the counters of a session as long as its transcript is there. `null` \
              keeps everything. Only the user's and the managed file can set it.",
        example: "180",
    },
    Key {
        name: "locked",
        blocks: TOP,
        setter: Setter::Managed,
        takes: Takes::One(LOCKED, locked),
        default: || json!(false),
        doc: "What the managed file alone decides: `true` for everything, or a list of keys: `max_turns` in any block, \
              `session.max_cost_usd`, `agents.developer.*`, `mode`. What other layers say of them is an error and dropped, \
              what is built in stays, and no grant raises these limits. Only the managed file can set it.",
        example: r#"["session.max_cost_usd", "agents.developer.*"]"#,
    },
    Key {
        name: "timeout_action",
        blocks: &BLOCKS,
        setter: Setter::Anyone,
        takes: Takes::One(Shape::Action, |value| Some(Term::Action { limit: None, action: typed(value)? })),
        default: || json!(DEFAULT_ACTION),
        doc: "What the limits of this block do when they trip: end the run (`terminate`), hold it until a person resumes \
              it (`pause`), ask the user for more (`request_increase`), or tell and go on (`warn`). Limits with an action \
              of their own (`loop_detection`, `max_denials`, `rate_limits`, `adapter_rate_limit`) are moved by `actions` \
              alone.",
        example: r#""pause""#,
    },
    Key {
        name: "actions",
        blocks: &BLOCKS,
        setter: Setter::Anyone,
        takes: Takes::PerLimit(Each::Action),
        default: || Value::Null,
        doc: "The action of single limits; it beats `timeout_action` of the same block. That of `rate_limits` and \
              `adapter_rate_limit` stands in the block of what they are counted over: `session`, `user`, or for runs in \
              `main` and `agents`.",
        example: r#"{ "max_duration_ms": "warn" }"#,
    },
    Key {
        name: "grace_turns",
        blocks: WORK,
        setter: Setter::Anyone,
        takes: Takes::One(Shape::Whole(0, 20), |value| Some(Term::GraceTurns(typed(value)?))),
        default: || json!(Rules::default().grace_turns),
        doc: "How many further model responses a terminated agent may use to report. With 0 it ends at once.",
        example: "2",
    },
    Key {
        name: "finalize_tools",
        blocks: WORK,
        setter: Setter::Anyone,
        takes: Takes::One(Shape::Names, |value| Some(Term::FinalizeTools(typed(value)?))),
        default: || json!(FINALIZE_TOOLS),
        doc: "The tools that still run in that grace: those that save or report work.",
        example: r#"["Write", "TaskUpdate"]"#,
    },
    Key {
        name: "warn_at",
        blocks: &BLOCKS,
        setter: Setter::Anyone,
        takes: Takes::One(Shape::Percents, |value| Some(Term::WarnAt(typed(value)?))),
        default: || json!(Rules::default().warn_at),
        doc: "Per cents of a cap at which it warns early, once each. `[]` for never.",
        example: "[50, 90]",
    },
    Key {
        name: "increase",
        blocks: &BLOCKS,
        setter: Setter::Anyone,
        takes: Takes::OneOrPerLimit(
            Shape::Number(0.01, 10.0),
            |value| Some(Term::Increase { limit: None, by: Increase::Fraction(value.as_f64()?) }),
            Each::Increase,
        ),
        default: || Term::Increase { limit: None, by: Increase::DEFAULT }.value(),
        doc: "What `request_increase` proposes to add: a number is a part of the cap (0.5 adds half of it), an object gives \
              amounts for single limits, each in its own unit.",
        example: r#"{ "max_turns": 10, "max_cost_usd": 0.5 }"#,
    },
    Key {
        name: "remaining",
        blocks: WORK,
        setter: Setter::Anyone,
        takes: Takes::One(Shape::WordOrNull(&["turn"]), |value| Some(Term::RemainingEachTurn(value.is_string()))),
        default: || Value::Null,
        doc: "`turn` tells the agent what remains of every limit after each batch of tool calls.",
        example: r#""turn""#,
    },
    Key {
        name: "count_cache_reads",
        blocks: WORK,
        setter: Setter::Anyone,
        takes: Takes::One(Shape::Flag, |value| value.as_bool().map(Term::CountCacheReads)),
        default: || json!(Rules::default().count_cache_reads),
        doc: "Whether `max_tokens` counts cache reads too.",
        example: "true",
    },
    Key {
        name: "models",
        blocks: &BLOCKS,
        setter: Setter::Anyone,
        takes: Takes::Models,
        default: || Value::Null,
        doc: "Caps on the models whose id matches a pattern: any limit of the block on cost or tokens of requests, beside the cap on \
              all models.",
        example: r#"{ "*opus*": { "max_cost_usd": 5, "max_tokens": 100000 } }"#,
    },
    Key {
        name: "checkpoints",
        blocks: RUNS,
        setter: Setter::Anyone,
        takes: Takes::One(duties::CHECKPOINTS, duties::checkpoints),
        default: || Value::Null,
        doc: "What has to be in the JSON file that the agent keeps when it ends: `{\"execution_checkpoints\": [{\"checkpoint\": \
              \"START\", \"timestamp\": \"2026-11-20T10:00:00Z\"}]}` with the `required` checkpoints in this order, and at \
              most `max_gap_ms` between two of them. `file` is its path from the folder where the client was started; \
              `{agent_type}` and `{task}` in it are filled in. The agent is sent back `retries` times (1 unless said), \
              then it is let go and the run is marked.",
        example: r#"{ "file": "steps.json", "required": ["START", "RED_COMPLETE"], "max_gap_ms": 1800000, "retries": 1 }"#,
    },
    Key {
        name: "completion",
        blocks: RUNS,
        setter: Setter::Anyone,
        takes: Takes::One(duties::COMPLETION, duties::completion),
        default: || Value::Null,
        doc: "A shell command that judges the work when the agent ends: it reads the hook's input and blocks with exit 2 or JSON. \
              A plain text is the command. It may take `timeout_ms` (60000 unless said, at most 600000), then it is ended and \
              does not block. The agent is sent back `retries` times (1 unless said), then it is let go and the run is \
              marked. Only the user's and the managed file can set it, and a repository that is trusted.",
        example: r#"{ "command": "make test", "timeout_ms": 60000, "retries": 1 }"#,
    },
    Key {
        name: "explicit_stop",
        blocks: RUNS,
        setter: Setter::Anyone,
        takes: Takes::One(duties::EXPLICIT_STOP, duties::explicit_stop),
        default: || Value::Null,
        doc: "How a tool ends the run: a call of one of the `tools` (patterns), or a line in a tool's result that begins with the \
              `marker`; the rest of the line is the reason. A plain text is a pattern of tools.",
        example: r#"{ "tools": ["mcp__*__submit"], "marker": "FUSEBOX-STOP:" }"#,
    },
    Key {
        name: "discipline",
        blocks: AGENTS,
        setter: Setter::Anyone,
        takes: Takes::One(duties::DISCIPLINE, duties::discipline),
        default: || json!(false),
        doc: "Whether the prompt of an agent gets a text about its limits, what is expected of each phase, and watching itself: \
              `true` for the one below, or a text of your own. `{{limits}}` in it becomes the list of the run's limits.",
        example: "true",
    },
];

/// Keys that other versions enforce and this one does not: no error, but worth a warning.
pub const FUTURE: &[&str] = &["team", "team_budget_usd", "user_budget_usd", "stall_after_ms"];

/// Finds a key by its name, in a kind of block or at the top.
pub fn find(block: Option<Block>, name: &str) -> Option<&'static Key> {
    at(block).find(|key| key.name == name)
}

/// Returns the keys of a kind of block, or of the top.
pub fn at(block: Option<Block>) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| match block {
        Some(block) => key.blocks.contains(&block),
        None => key.blocks.is_empty(),
    })
}

/// Reads `locked`: everything is the pattern of all keys.
fn locked(value: &Value) -> Option<Term> {
    Some(Term::Locked(match value {
        Value::Bool(true) => vec!["*".to_owned()],
        Value::Bool(false) => Vec::new(),
        list => typed(list)?,
    }))
}
