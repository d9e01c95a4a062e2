//! Every key that is no limit: where it may stand, what it takes, what it means. Limits' keys are in [`crate::limits`].
//!
//! Reading, the JSON schema and `docs/config.md` all come from these rows.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::config::setting::{DEFAULT_ACTION, Increase, Place, Term};
use crate::config::shape::{Named, Shape};
use crate::engine::policy::{FINALIZE_TOOLS, Mode, OnError, Rules};

/// Where a key may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// At the top of a file.
    Top,
    /// In `session`, `main` and each of `agents`.
    Block,
}

/// Who may set a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setter {
    /// Every layer.
    Anyone,
    /// Only the user's and the managed file.
    Owner,
}

/// How a typed value is made of JSON that has the right shape.
type Make = fn(&Value) -> Option<Term>;

/// What a key takes.
#[derive(Debug)]
pub enum Takes {
    /// One value.
    One(Shape, Make),
    /// One object with a value for each limit.
    PerLimit(Each),
    /// One value for all limits, or an object with a value for each.
    OneOrPerLimit(Shape, Make, Each),
    /// A block of limits.
    Block(Place),
    /// A block of limits for each pattern of agent types.
    Blocks,
    /// Something for editors, which means nothing to Fusebox.
    Note(Shape),
}

/// What a key takes for each limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// An action.
    Action,
    /// An amount in the limit's unit.
    Increase,
    /// The largest cap, or the smallest and the largest, or `null`.
    Ceiling,
}

/// One key.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Where it may stand.
    pub level: Level,
    /// Who may set it.
    pub setter: Setter,
    /// What it takes.
    pub takes: Takes,
    /// What holds where nobody sets it, as JSON.
    pub default: fn() -> Value,
    /// What it means.
    pub doc: &'static str,
    /// One example value as JSON.
    pub example: &'static str,
}

/// Every key, in the order of the documentation.
pub const KEYS: &[Key] = &[
    Key {
        name: "$schema",
        level: Level::Top,
        setter: Setter::Anyone,
        takes: Takes::Note(Shape::Text),
        default: || Value::Null,
        doc: "Where an editor finds the schema: `fusebox config schema` prints it, `fusebox init` puts a copy beside the file.",
        example: r#""fusebox.schema.json""#,
    },
    Key {
        name: "mode",
        level: Level::Top,
        setter: Setter::Anyone,
        takes: Takes::One(Shape::Word(&["enforce", "observe"]), |value| Some(Term::Mode(typed(value)?))),
        default: || json!(Mode::default()),
        doc: "`observe` decides and logs everything and blocks nothing.",
        example: r#""observe""#,
    },
    Key {
        name: "session",
        level: Level::Top,
        setter: Setter::Anyone,
        takes: Takes::Block(Place::Session),
        default: || Value::Null,
        doc: "Limits over a whole session: the main agent and all subagents together.",
        example: r#"{ "max_cost_usd": 10 }"#,
    },
    Key {
        name: "main",
        level: Level::Top,
        setter: Setter::Anyone,
        takes: Takes::Block(Place::Main),
        default: || Value::Null,
        doc: "Limits of one run of the main agent: its answer to one prompt.",
        example: r#"{ "max_turns": 200, "timeout_action": "request_increase" }"#,
    },
    Key {
        name: "agents",
        level: Level::Top,
        setter: Setter::Anyone,
        takes: Takes::Blocks,
        default: || Value::Null,
        doc: "Limits of subagents' runs, by agent type. A name may hold `*`; within a file an exact name beats a longer \
              pattern beats `*`.",
        example: r#"{ "developer": { "max_turns": 40 }, "security-*": { "max_cost_usd": 3 } }"#,
    },
    Key {
        name: "ceilings",
        level: Level::Top,
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
        level: Level::Top,
        setter: Setter::Anyone,
        takes: Takes::One(Shape::Word(&["allow", "deny"]), |value| Some(Term::OnError(typed(value)?))),
        default: || json!(OnError::default()),
        doc: "What to answer where Fusebox itself fails: let the call through, or refuse it.",
        example: r#""deny""#,
    },
    Key {
        name: "spawn_may_loosen",
        level: Level::Top,
        setter: Setter::Owner,
        takes: Takes::One(Shape::Flag, |value| value.as_bool().map(Term::SpawnMayLoosen)),
        default: || json!(false),
        doc: "Whether an `execution_limits` block in the prompt of an Agent call may loosen limits (within the ceilings), \
              and not only tighten them. Only the user's and the managed file can set it.",
        example: "true",
    },
    Key {
        name: "timeout_action",
        level: Level::Block,
        setter: Setter::Anyone,
        takes: Takes::One(Shape::Action, |value| Some(Term::Action { limit: None, action: typed(value)? })),
        default: || json!(DEFAULT_ACTION),
        doc: "What the limits of this block do when they trip: end the run (`terminate`), hold it until a person resumes \
              it (`pause`), ask the user for more (`request_increase`), or tell and go on (`warn`).",
        example: r#""pause""#,
    },
    Key {
        name: "actions",
        level: Level::Block,
        setter: Setter::Anyone,
        takes: Takes::PerLimit(Each::Action),
        default: || Value::Null,
        doc: "The action of single limits; it beats `timeout_action` of the same block.",
        example: r#"{ "max_duration_ms": "warn" }"#,
    },
    Key {
        name: "grace_turns",
        level: Level::Block,
        setter: Setter::Anyone,
        takes: Takes::One(Shape::Whole(0, 20), |value| Some(Term::GraceTurns(typed(value)?))),
        default: || json!(Rules::default().grace_turns),
        doc: "How many further model responses a terminated agent may use to report. With 0 it ends at once.",
        example: "2",
    },
    Key {
        name: "finalize_tools",
        level: Level::Block,
        setter: Setter::Anyone,
        takes: Takes::One(Shape::Names, |value| Some(Term::FinalizeTools(typed(value)?))),
        default: || json!(FINALIZE_TOOLS),
        doc: "The tools that still run in that grace: those that save or report work.",
        example: r#"["Write", "TaskUpdate"]"#,
    },
    Key {
        name: "warn_at",
        level: Level::Block,
        setter: Setter::Anyone,
        takes: Takes::One(Shape::Percents, |value| Some(Term::WarnAt(typed(value)?))),
        default: || json!(Rules::default().warn_at),
        doc: "Per cents of a cap at which it warns early, once each. `[]` for never.",
        example: "[50, 90]",
    },
    Key {
        name: "increase",
        level: Level::Block,
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
        level: Level::Block,
        setter: Setter::Anyone,
        takes: Takes::One(Shape::WordOrNull(&["turn"]), |value| Some(Term::RemainingEachTurn(value.is_string()))),
        default: || Value::Null,
        doc: "`turn` tells the agent what remains of every limit after each batch of tool calls.",
        example: r#""turn""#,
    },
    Key {
        name: "count_cache_reads",
        level: Level::Block,
        setter: Setter::Anyone,
        takes: Takes::One(Shape::Flag, |value| value.as_bool().map(Term::CountCacheReads)),
        default: || json!(Rules::default().count_cache_reads),
        doc: "Whether `max_tokens` counts cache reads too.",
        example: "true",
    },
];

/// Keys that other versions enforce and this one does not: no error, but worth a warning.
pub const FUTURE: &[&str] = &[
    "rate_limits",
    "adapter_rate_limit",
    "user",
    "team",
    "roles",
    "models",
    "locked",
    "loop_detection",
    "checkpoints",
    "completion",
    "discipline",
    "explicit_stop",
    "max_delegation_depth",
    "max_parallel_subagents",
    "max_subagents",
    "max_denials",
    "max_planning_cost_usd",
    "max_execution_cost_usd",
    "max_tokens_per_turn",
    "max_context_tokens",
    "max_cost_usd_per_day",
    "max_cost_usd_per_week",
    "max_cost_usd_per_month",
    "team_budget_usd",
    "user_budget_usd",
    "stall_after_ms",
];

/// Finds a key by its name at a level.
pub fn find(level: Level, name: &str) -> Option<&'static Key> {
    at(level).find(|key| key.name == name)
}

/// Returns the keys of a level.
pub fn at(level: Level) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.level == level)
}

impl Each {
    /// Makes the typed value for one limit, where the JSON is right.
    pub fn read(self, named: Named, value: &Value) -> Option<Term> {
        let limit = named.limit;
        match self {
            Each::Action => Some(Term::Action { limit: Some(limit), action: typed(value)? }),
            Each::Increase => Some(Term::Increase { limit: Some(limit), by: Increase::Amount(named.read(value)?) }),
            Each::Ceiling => Some(Term::Ceiling { limit, range: range(named, value)? }),
        }
    }

    /// Returns the words for what is accepted.
    pub fn expects(self, named: Named) -> String {
        match self {
            Each::Action => Shape::Action.expects(),
            Each::Increase => named.expects(),
            Each::Ceiling => format!("{}, `[smallest, largest]` of such, or `null`", named.expects()),
        }
    }

    /// Returns the JSON schema.
    pub fn schema(self, named: Named) -> Value {
        match self {
            Each::Action => Shape::Action.schema(),
            Each::Increase => named.schema(),
            Each::Ceiling => {
                let pair = json!({ "type": "array", "items": named.schema(), "minItems": 2, "maxItems": 2 });
                json!({ "anyOf": [named.schema(), pair, { "type": "null" }] })
            }
        }
    }
}

/// Reads a ceiling: nothing where it is wrong, `Some(None)` for no ceiling.
fn range(named: Named, value: &Value) -> Option<Option<(u64, u64)>> {
    match value {
        Value::Null => Some(None),
        Value::Array(ends) => {
            let [low, high] = ends.as_slice() else { return None };
            let (low, high) = (named.read(low)?, named.read(high)?);
            (low <= high).then_some(Some((low, high)))
        }
        number => {
            let low = named.limit.ceiling.map_or(named.limit.range.0, |(low, _)| low);
            let high = named.read(number)?;
            Some(Some((low.min(high), high)))
        }
    }
}

fn typed<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}
