//! The keys at the top of a file.

use serde_json::{Value, json};

use crate::config::key::{Apply, Key, Loosens, Merge, Setter, Takes, assign};
use crate::config::per_limit;
use crate::config::permissions;
use crate::config::place::Block;
use crate::config::resolved::{RETENTION_DAYS, RETENTION_RANGE, Resolved, SaidCeiling};
use crate::config::setting::Setting;
use crate::config::setting_value::{SettingValue, typed};
use crate::config::value_type::{Field, LOCAL_TIME, ValueType, millis};
use crate::domain::billing::{Billing, CostSource};
use crate::domain::bounds::LONGEST_HOLD_MS;
use crate::domain::layer::Layer;
use crate::domain::limit::{Limit, Span};
use crate::domain::limit_set::PLANNING;
use crate::domain::mode::{Mode, OnError};

const RETENTION: ValueType =
    ValueType::Either(&[ValueType::Whole(RETENTION_RANGE.0, RETENTION_RANGE.1), ValueType::Null]);
const ROLES: ValueType = ValueType::Object(&[Field::needed("planning", ValueType::Names)]);
const ALL_OR_NAMES: ValueType = ValueType::Either(&[ValueType::Flag, ValueType::Names]);

/// The keys at the top of a file.
pub const KEYS: &[Key] = &[
    Key {
        name: "$schema",
        takes: Takes::Note(ValueType::Text),
        doc: "Where an editor finds the schema: `fusebox config schema` prints it, `fusebox init` puts a copy beside the file.",
        example: r#""fusebox.schema.json""#,
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "mode",
        takes: Takes::One(ValueType::Word(&["enforce", "observe"])),
        apply: Apply::Value(|to, said, _| assign(&mut to.mode, said.value.as_word())),
        default: || json!(Mode::default()),
        doc: "`observe` decides and logs everything and blocks nothing, but that a member's own is not for what a repository has in `binding`: \
              that blocks.",
        example: r#""observe""#,
        ..Key::that_loosens(Loosens::Some(permissions::mode))
    },
    Key {
        name: "session",
        takes: Takes::Block(Block::Session),
        doc: "Limits over a whole session: the main agent and all subagents together.",
        example: r#"{ "max_cost_usd": 10 }"#,
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "main",
        takes: Takes::Block(Block::Main),
        doc: "Limits of one run of the main agent: its answer to one prompt.",
        example: r#"{ "max_turns": 200, "timeout_action": "request_increase" }"#,
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "agents",
        takes: Takes::Blocks,
        doc: "Limits of subagents' runs, by agent type, in any case. A name may hold `*`; within a file an exact name beats a longer \
              pattern beats `*`.",
        example: r#"{ "developer": { "max_turns": 40 }, "security-*": { "max_cost_usd": 3 } }"#,
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "user",
        takes: Takes::Block(Block::User),
        doc: "Limits over all sessions of the user on this machine: the operating system's user.",
        example: r#"{ "max_cost_usd_per_day": 25, "timeout_action": "request_increase" }"#,
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "user_budget_usd",
        takes: Takes::CostOf(Block::User, Span::Day),
        apply: Apply::Cap,
        doc: "The user's budget of a day in US dollars: `max_cost_usd_per_day` of `user` under another name.",
        example: "10",
        ..Key::that_loosens(Loosens::Some(permissions::cap))
    },
    Key {
        name: "project",
        takes: Takes::Block(Block::Project),
        doc: "Limits over all sessions of the repository and its worktrees, else of the project's folder.",
        example: r#"{ "max_cost_usd_per_week": 100 }"#,
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "ceilings",
        takes: Takes::PerLimit(per_limit::CEILINGS),
        merge: Merge::PerLimit,
        apply: Apply::Value(ceiling),
        doc: "The range that binds the limits of subagents' runs, whoever sets them: the largest cap, or `[smallest, \
              largest]`, or `null` for no ceiling. A configured value outside is an error that drops that key alone; a \
              spawn's value is cut to it. Only the managed file's limits are not bound.",
        example: r#"{ "max_turns": 200, "max_cost_usd": [0.01, 20] }"#,
        ..Key::that_loosens(Loosens::Some(permissions::ceiling))
    },
    Key {
        name: "on_error",
        takes: Takes::One(ValueType::Word(&["allow", "deny"])),
        apply: Apply::Value(|to, said, _| assign(&mut to.on_error, said.value.as_word())),
        default: || json!(OnError::default()),
        doc: "What to answer where Fusebox itself fails: let the call through, or refuse it.",
        example: r#""deny""#,
        ..Key::that_loosens(Loosens::Some(permissions::on_error))
    },
    Key {
        name: "pause_wait_ms",
        takes: Takes::One(ValueType::Millis(0, LONGEST_HOLD_MS)),
        read: |value| millis(value).map(SettingValue::Whole),
        apply: Apply::Value(|to, said, _| assign(&mut to.pause_wait_ms, said.value.as_whole())),
        default: || json!(0),
        doc: "For how many milliseconds the next call or request of a paused run is held, for a person to let it go on: the session \
              stays open, and goes on in the same process. After that, and with 0 at once, its loop is ended, as a pause is. For work \
              without a person at the terminal. `fusebox init` has the client wait for the hook so long: run it once more after a change.",
        example: "3600000",
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "billing",
        setter: Setter::Owner,
        takes: Takes::One(ValueType::Word(&["tokens", "plan"])),
        apply: Apply::Value(|to, said, _| to.billing = said.value.as_word()),
        default: || json!(Billing::default()),
        doc: "How the client is paid for: by the token, or by a `plan` such as Pro or Max. With a plan dollars are called list prices, \
              tokens stand before them, and the built-in limit of a session is one on tokens. `fusebox init` sets it where it sees \
              that the client is signed in. Only the user's and the managed file can set it.",
        example: r#""plan""#,
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "cost_source",
        setter: Setter::Owner,
        takes: Takes::One(ValueType::Word(&["counted", "client"])),
        apply: Apply::Value(|to, said, _| assign(&mut to.cost_source, said.value.as_word())),
        default: || json!(CostSource::default()),
        doc: "Which cost of a session is shown first: what Fusebox has `counted`, or the `client`'s own total, where it is known. It has what \
              transcripts do not show, such as titles. Limits go by the larger of the two, whichever is shown. Only the user's and the \
              managed file can set it.",
        example: r#""client""#,
        ..Key::that_loosens(Loosens::Nothing)
    },
    #[cfg(feature = "suggest")]
    Key {
        name: "adaptive",
        setter: Setter::Owner,
        takes: Takes::One(ValueType::Flag),
        apply: Apply::Value(|to, said, _| assign(&mut to.adaptive, said.value.as_flag())),
        default: || json!(false),
        doc: "Whether the caps of runs follow what finished runs needed. Once a day the cap of each limit that `fusebox suggest` knows is \
              set to what the runs in the state suggest, for each agent type with at least 20 finished ones. It is lowered at most: what \
              is configured is never passed. Sessions take it when they start, and `fusebox log` has each change. Only the user's and the \
              managed file can set it.",
        example: "true",
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "spawn_may_loosen",
        setter: Setter::Owner,
        takes: Takes::One(ValueType::Flag),
        apply: Apply::Value(|to, said, _| assign(&mut to.spawn_may_loosen, said.value.as_flag())),
        default: || json!(false),
        doc: "Whether an `execution_limits` block in the prompt of an Agent call may loosen limits (within the ceilings), \
              and not only tighten them. Only the user's and the managed file can set it.",
        example: "true",
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "roles",
        takes: Takes::One(ROLES),
        apply: Apply::Value(planning),
        default: || json!({ "planning": PLANNING }),
        doc: "The models whose cost `max_planning_cost_usd` counts, as patterns; all others count as execution.",
        example: r#"{ "planning": ["*opus*"] }"#,
        ..Key::that_loosens(Loosens::Some(permissions::planning))
    },
    Key {
        name: "time_zone",
        setter: Setter::Owner,
        takes: Takes::One(ValueType::Zone),
        apply: Apply::Value(|to, said, _| to.time_zone = said.value.as_text()),
        default: || json!(LOCAL_TIME),
        doc: "Where days, weeks and months of budgets begin: `local` for the machine's time, or a name of the IANA database. Only the \
              user's and the managed file can set it.",
        example: r#""Europe/Berlin""#,
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "retention_days",
        setter: Setter::Owner,
        takes: Takes::One(RETENTION),
        apply: Apply::Value(|to, said, _| to.retention_days = said.value.as_whole()),
        default: || json!(RETENTION_DAYS),
        doc: "How many days after its last event the detail of a session is kept: runs, calls, responses, records of the log. Sums of each \
              day by project and model stay for good, and so do the counters of a session as long as its transcript is there. `null` \
              keeps everything. Only the user's and the managed file can set it.",
        example: "180",
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "locked",
        setter: Setter::Managed,
        takes: Takes::Keys(ALL_OR_NAMES),
        read: all_or_names,
        merge: Merge::All,
        apply: Apply::Value(|to, said, _| to.locked.extend_from_slice(said.value.as_list().unwrap_or_default())),
        write: all_or_names_written,
        default: || json!(false),
        doc: "What the managed file alone decides: `true` for everything, or a list of keys: `max_turns` in any block, \
              `session.max_cost_usd`, `agents.developer.*`, `mode`. What other layers say of them is an error and dropped, \
              what is built in stays, and no grant raises these limits. Only the managed file can set it.",
        example: r#"["session.max_cost_usd", "agents.developer.*"]"#,
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "binding",
        setter: Setter::Repository,
        takes: Takes::Keys(ALL_OR_NAMES),
        read: all_or_names,
        merge: Merge::All,
        apply: Apply::Value(|to, said, _| to.binding.extend_from_slice(said.value.as_list().unwrap_or_default())),
        write: all_or_names_written,
        default: || json!(false),
        doc: "What this repository's file decides for everyone who works in it: `true` for all that it sets, or a list of keys as in \
              `locked`. A list binds what is built in, too, where the file leaves a key out and the limit does more than warn. \
              `fusebox.local.json`, frontmatter and spawns may only tighten them, trusted or not; what would loosen them is dropped and named. A binding value never loosens the same key of a person's own file. A person's grant may pass it, and a \
              person may refuse the file as a whole: `refuse_repositories`.",
        example: r#"["session.max_cost_usd", "agents.developer.*"]"#,
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "refuse_repositories",
        setter: Setter::Owner,
        takes: Takes::One(ValueType::Names),
        read: SettingValue::list,
        merge: Merge::All,
        apply: Apply::Value(|to, said, _| {
            to.refused_repositories.extend_from_slice(said.value.as_list().unwrap_or_default())
        }),
        default: || json!([]),
        doc: "Repositories whose own configuration does not hold for you: `.claude/fusebox.json`, and `fusebox` in `.claude/settings.json`. \
              Folders, in which `*` stands for anything and `~/` for your home. `fusebox status` and `config check` say so. Only the \
              user's and the managed file can set it.",
        example: r#"["~/code/monorepo", "/srv/builds/*"]"#,
        ..Key::that_loosens(Loosens::Nothing)
    },
];

/// The pattern of all keys.
pub const ALL: &str = "*";

/// Reads `true` as the pattern of all keys.
fn all_or_names(value: &Value) -> Option<SettingValue> {
    match value {
        Value::Bool(true) => Some(SettingValue::List(vec![ALL.to_owned()])),
        Value::Bool(false) => Some(SettingValue::List(Vec::new())),
        list => SettingValue::list(list),
    }
}

/// Writes a list with the pattern of all keys as `true`.
fn all_or_names_written(value: &SettingValue, limit: Option<&Limit>) -> Value {
    match value.as_list() {
        Some(keys) if keys.iter().any(|key| key == ALL) => json!(true),
        _ => value.written(limit),
    }
}

/// Applies `roles`.
fn planning(to: &mut Resolved<'_>, said: &Setting, _: Layer) {
    if let SettingValue::Object(roles) = &said.value {
        to.planning = roles.get("planning").and_then(typed);
    }
}

/// Applies one of `ceilings`.
fn ceiling(to: &mut Resolved<'_>, said: &Setting, layer: Layer) {
    if let (Some(limit), SettingValue::Range(range)) = (said.subject.limit, &said.value) {
        to.ceilings.push(SaidCeiling { limit, range: *range, layer });
    }
}
