//! What a row of [`crate::config::keys`] is: all that Fusebox knows of one key.

use serde_json::Value;

use crate::config::per_limit::Each;
use crate::config::place::Block;
use crate::config::resolved::{LimitSettings, Resolved};
use crate::config::setting::Setting;
use crate::config::setting_value::SettingValue;
use crate::config::value_type::ValueType;
use crate::domain::layer::Layer;
use crate::domain::limit::{Limit, Span};

/// Who may set a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setter {
    /// Every layer.
    Anyone,
    /// Every layer but a spawn.
    Files,
    /// The user's and the managed file, and a repository that is trusted: the value is a command.
    Trusted,
    /// Only the user's and the managed file.
    Owner,
    /// Only the managed file.
    Managed,
    /// Only the repository's own file.
    Repository,
}

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// One value.
    One(ValueType),
    /// One value that names keys, or patterns of them.
    Keys(ValueType),
    /// One object with a value for each limit.
    PerLimit(Each),
    /// One value for all limits, or an object with a value for each.
    OneOrPerLimit(ValueType, Each),
    /// A block of limits.
    Block(Block),
    /// A block of limits for each pattern of agent types.
    Blocks,
    /// Caps for each pattern of models.
    Models,
    /// The cap on cost of a period in another block: the same under another name.
    CostOf(Block, Span),
    /// Something for editors, which means nothing to Fusebox.
    Note(ValueType),
}

/// Which settings of a key hold where several layers have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// The strongest.
    Strongest,
    /// For each limit the strongest. One that singles out the limit beats one for all limits of the same block.
    PerLimit,
    /// All of them.
    All,
}

/// How a setting that holds takes effect.
#[derive(Clone, Copy, Debug)]
pub enum Apply {
    /// It has no effect of its own: a note, or blocks of other keys.
    Nothing,
    /// It is a value at the top of the files or of a block; the layer is whose setting it is.
    Value(for<'a> fn(&mut Resolved<'a>, &'a Setting, Layer)),
    /// It says something of each limit that it is said of.
    Limit(fn(&mut LimitSettings, &Limit, &SettingValue)),
    /// It is the cap of a limit, or its windows.
    Cap,
}

/// Returns what stands and would be loosened by a setting; `None` where nothing is.
pub type Loosened = fn(&Setting, &Resolved<'_>) -> Option<String>;

/// Whether a value of a key can loosen what stands, which an untrusted repository and a spawn may not do.
#[derive(Clone, Copy, Debug)]
pub enum Loosens {
    /// No value does, or the key is set only by those who may loosen everything.
    Nothing,
    /// Some values do: the function, one of [`crate::config::permissions`], says which.
    Some(Loosened),
}

/// One key. Its row ends with `..Key::that_loosens(…)`: no row can leave open what its values loosen.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// The blocks in which it may stand; none for the top of a file.
    pub blocks: &'static [Block],
    /// Who may set it.
    pub setter: Setter,
    /// What it takes.
    pub takes: Takes,
    /// Makes the typed value of JSON that has the right form, where it is one value.
    pub read: fn(&Value) -> Option<SettingValue>,
    /// Which of several settings hold.
    pub merge: Merge,
    /// How they take effect.
    pub apply: Apply,
    /// What its values can loosen.
    pub loosens: Loosens,
    /// Writes a value as configuration would; the limit is the one that it is said of.
    pub write: fn(&SettingValue, Option<&Limit>) -> Value,
    /// What holds where nobody sets it, as JSON.
    pub default: fn() -> Value,
    /// What it means.
    pub doc: &'static str,
    /// One example value as JSON.
    pub example: &'static str,
}

impl Key {
    /// Returns what most keys are, for the rest of a row.
    pub const fn that_loosens(loosens: Loosens) -> Key {
        Key {
            name: "",
            blocks: &[],
            setter: Setter::Anyone,
            takes: Takes::Note(ValueType::Text),
            read: SettingValue::plain,
            merge: Merge::Strongest,
            apply: Apply::Nothing,
            loosens,
            write: SettingValue::written,
            default: || Value::Null,
            doc: "",
            example: "",
        }
    }

    /// Returns what stands and would be loosened by a setting of this key; `None` where nothing is.
    pub fn loosened(&self, setting: &Setting, stands: &Resolved<'_>) -> Option<String> {
        match self.loosens {
            Loosens::Nothing => None,
            Loosens::Some(loosened) => loosened(setting, stands),
        }
    }
}

/// Overwrites a value in force where there is a new one.
pub fn assign<T>(in_force: &mut T, new: Option<T>) {
    if let Some(new) = new {
        *in_force = new;
    }
}
