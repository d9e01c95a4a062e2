//! The keys of blocks that say how limits act, warn and count.

use serde_json::json;

use crate::config::key::{Apply, Key, Loosens, Merge, Takes, assign};
use crate::config::per_limit;
use crate::config::permissions;
use crate::config::place::{BLOCKS, Block};
use crate::config::resolved::{DEFAULT_ACTION, LimitSettings, Resolved};
use crate::config::setting::Setting;
use crate::config::setting_value::{Increase, SettingValue};
use crate::config::value_type::ValueType;
use crate::domain::layer::Layer;
use crate::domain::limit::Limit;
use crate::domain::limit_set::{FINALIZE_TOOLS, LimitSet};
use crate::domain::tool_name;

const WORK: &[Block] = &[Block::Session, Block::Main, Block::Agents];

/// The keys of blocks that say how limits act, warn and count.
pub const KEYS: &[Key] = &[
    Key {
        name: "timeout_action",
        blocks: &BLOCKS,
        takes: Takes::One(ValueType::Action),
        read: SettingValue::action,
        merge: Merge::PerLimit,
        apply: Apply::Limit(|to, limit, value| {
            if limit.action.is_none() {
                action(to, value);
            }
        }),
        default: || json!(DEFAULT_ACTION),
        doc: "What the limits of this block do when they trip: end the run (`terminate`), hold it until a person resumes \
              it (`pause`), ask the user for more (`request_increase`; end it where nobody can answer), or tell and go on (`warn`). Limits with an action \
              of their own, such as those on repetition and refusals, are moved by `actions` alone.",
        example: r#""pause""#,
        ..Key::that_loosens(Loosens::Some(permissions::action))
    },
    Key {
        name: "actions",
        blocks: &BLOCKS,
        takes: Takes::PerLimit(per_limit::ACTIONS),
        merge: Merge::PerLimit,
        apply: Apply::Limit(|to, _, value| action(to, value)),
        doc: "The action of single limits; it beats `timeout_action` of the same block. That of `rate_limits` and \
              `adapter_rate_limit` stands in the block of what they are counted over: `session`, `user`, or for runs in \
              `main` and `agents`.",
        example: r#"{ "max_duration_ms": "warn" }"#,
        ..Key::that_loosens(Loosens::Some(permissions::action))
    },
    Key {
        name: "grace_turns",
        blocks: WORK,
        takes: Takes::One(ValueType::Whole(0, 20)),
        apply: Apply::Value(grace_turns),
        default: || json!(LimitSet::default().grace_turns),
        doc: "How many further model responses a terminated agent may use to report. With 0 it ends at once.",
        example: "2",
        ..Key::that_loosens(Loosens::Some(permissions::grace_turns))
    },
    Key {
        name: "finalize_tools",
        blocks: WORK,
        takes: Takes::One(ValueType::Names),
        read: SettingValue::list,
        apply: Apply::Value(|to, said, _| {
            let named = |tools: &[String]| tools.iter().map(|tool| tool_name::told_as(tool).to_owned()).collect();
            to.rules.finalize_tools = said.value.as_list().map(named);
        }),
        default: || json!(FINALIZE_TOOLS),
        doc: "The tools that still run in that grace: those that save or report work, up to 20 calls.",
        example: r#"["Write", "TaskUpdate"]"#,
        ..Key::that_loosens(Loosens::Some(permissions::finalize_tools))
    },
    Key {
        name: "warn_at",
        blocks: &BLOCKS,
        takes: Takes::One(ValueType::Percents),
        read: SettingValue::percents,
        apply: Apply::Value(warn_at),
        default: || json!(LimitSet::default().warn_at),
        doc: "Per cents of a cap at which it warns early, once each. `[]` for never.",
        example: "[50, 90]",
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "increase",
        blocks: &BLOCKS,
        takes: Takes::OneOrPerLimit(ValueType::Number(0.01, 10.0), per_limit::INCREASES),
        read: SettingValue::fraction,
        merge: Merge::PerLimit,
        apply: Apply::Limit(increase),
        default: || SettingValue::Increase(Increase::DEFAULT).written(None),
        doc: "What `request_increase` proposes to add: a number is a part of the cap (0.5 adds half of it), an object gives \
              amounts for single limits, each in its own unit.",
        example: r#"{ "max_turns": 10, "max_cost_usd": 0.5 }"#,
        ..Key::that_loosens(Loosens::Some(permissions::increase))
    },
    Key {
        name: "remaining",
        blocks: WORK,
        takes: Takes::One(ValueType::WordOrNull(&["turn"])),
        apply: Apply::Value(|to, said, _| to.rules.remaining_each_turn = said.value.as_text().is_some()),
        doc: "`turn` tells the agent what remains of every limit after each batch of tool calls.",
        example: r#""turn""#,
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "count_cache_reads",
        blocks: WORK,
        takes: Takes::One(ValueType::Flag),
        apply: Apply::Value(|to, said, _| assign(&mut to.rules.count_cache_reads, said.value.as_flag())),
        default: || json!(LimitSet::default().count_cache_reads),
        doc: "Whether `max_tokens` counts cache reads too.",
        example: "true",
        ..Key::that_loosens(Loosens::Some(permissions::count_cache_reads))
    },
    Key {
        name: "models",
        blocks: &BLOCKS,
        takes: Takes::Models,
        merge: Merge::PerLimit,
        apply: Apply::Cap,
        doc: "Caps on the models whose id matches a pattern: any limit of the block on cost or tokens of requests, beside the cap on \
              all models.",
        example: r#"{ "*opus*": { "max_cost_usd": 5, "max_tokens": 100000 } }"#,
        ..Key::that_loosens(Loosens::Some(permissions::cap))
    },
];

/// The row that the keys of all limits with a cap share: what differs is in [`crate::limits`].
pub const CAP: Key =
    Key { merge: Merge::PerLimit, apply: Apply::Cap, ..Key::that_loosens(Loosens::Some(permissions::cap)) };

/// The row that the keys of all limits of so many in so much time share.
pub const WINDOWS: Key = Key { merge: Merge::All, apply: Apply::Cap, ..Key::that_loosens(Loosens::Nothing) };

/// Applies `timeout_action`, or one of `actions`.
fn action(to: &mut LimitSettings, value: &SettingValue) {
    if let SettingValue::Action(action) = value {
        to.action = Some(*action);
    }
}

/// Applies `increase`, for all limits or for one.
fn increase(to: &mut LimitSettings, _: &Limit, value: &SettingValue) {
    if let SettingValue::Increase(by) = value {
        to.increase = Some(*by);
    }
}

/// Applies `grace_turns`.
fn grace_turns(to: &mut Resolved<'_>, said: &Setting, _: Layer) {
    assign(&mut to.rules.grace_turns, said.value.as_whole().and_then(|turns| u32::try_from(turns).ok()));
}

/// Applies `warn_at`.
fn warn_at(to: &mut Resolved<'_>, said: &Setting, _: Layer) {
    if let SettingValue::Percents(percents) = &said.value {
        to.rules.warn_at.clone_from(percents);
    }
}
