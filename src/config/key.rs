//! What a row of [`crate::config::keys`] is: where a key may stand, who may set it, what it takes.

use serde_json::Value;

use crate::config::each::Each;
use crate::config::place::{Block, Place};
use crate::config::setting::Term;
use crate::config::shape::Shape;

/// Who may set a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setter {
    /// Every layer.
    Anyone,
    /// Only the user's and the managed file.
    Owner,
    /// Only the managed file.
    Managed,
}

/// How a typed value is made of JSON that has the right shape.
pub type Make = fn(&Value) -> Option<Term>;

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
    /// Caps for each pattern of models.
    Models,
    /// Something for editors, which means nothing to Fusebox.
    Note(Shape),
}

/// One key.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// The blocks in which it may stand; none for the top of a file.
    pub blocks: &'static [Block],
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
