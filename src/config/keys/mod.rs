//! Every key that is no limit, a row each: where it may stand, what it takes, what it does, what it means.
//!
//! Reading, resolving, the rights of repositories and spawns, `fusebox config show`, the JSON schema and `docs/config.md` all
//! come from these rows. Limits' keys are in [`crate::limits`]; they share the rows [`block::CAP`] and [`block::WINDOWS`].

pub mod block;
pub mod run;
#[cfg(feature = "team")]
pub mod team;
pub mod top;
#[cfg(feature = "watch")]
pub mod watch;

use serde_json::Value;

use crate::config::key::{Key, Loosens};
use crate::config::place::Block;
use crate::config::setting::{Setting, Subject};
use crate::domain::limit::Form;

/// Every key, in the order of the documentation.
const GROUPS: &[&[Key]] = &[
    top::KEYS,
    #[cfg(feature = "team")]
    team::KEYS,
    #[cfg(feature = "watch")]
    watch::KEYS,
    block::KEYS,
    run::KEYS,
];

/// The row of a key that this version does not know: it has no effect.
const UNKNOWN: Key = Key::that_loosens(Loosens::Nothing);

/// Keys of the parts that this build is made without: no error, but worth a warning.
pub const OF_OTHER_BUILDS: &[&str] = &[
    #[cfg(not(feature = "team"))]
    "team",
    #[cfg(not(feature = "team"))]
    "team_budget_usd",
    #[cfg(not(feature = "watch"))]
    "alerts",
    #[cfg(not(feature = "watch"))]
    "watchdog",
    #[cfg(not(feature = "suggest"))]
    "adaptive",
];

/// Returns every key, in the order of the documentation.
pub fn all() -> impl Iterator<Item = &'static Key> {
    GROUPS.iter().copied().flatten()
}

/// Returns the keys of a kind of block, or of the top.
pub fn at(block: Option<Block>) -> impl Iterator<Item = &'static Key> {
    all().filter(move |key| match block {
        Some(block) => key.blocks.contains(&block),
        None => key.blocks.is_empty(),
    })
}

/// Finds a key by its name, in a kind of block or at the top.
pub fn find(block: Option<Block>, name: &str) -> Option<&'static Key> {
    at(block).find(|key| key.name == name)
}

/// Returns the row of what a setting sets.
pub fn row(subject: &Subject) -> &'static Key {
    match subject.limit.map(|limit| limit.form).filter(|_| subject.key.is_empty()) {
        Some(Form::Cap) => &block::CAP,
        Some(Form::Windows) => &block::WINDOWS,
        None => all().find(|key| key.name == subject.key).unwrap_or(&UNKNOWN),
    }
}

/// Returns a setting's value as configuration would write it.
pub fn written(setting: &Setting) -> Value {
    (row(&setting.subject).write)(&setting.value, setting.subject.limit)
}

/// Returns a setting as its file has it: `session.max_cost_usd: 50`.
pub fn shown(setting: &Setting) -> String {
    format!("{}: {}", setting.key, written(setting))
}
