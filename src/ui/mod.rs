//! What a person sees: terminal, styles, tables and formats.

pub mod formats;
pub mod json;
#[cfg(feature = "screen")]
pub mod key;
#[cfg(feature = "screen")]
pub mod pace;
pub mod style;
pub mod table;
pub mod terminal;
pub mod wrap;
