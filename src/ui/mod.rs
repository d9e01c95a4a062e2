//! What a person sees: terminal, styles, tables and formats.

pub mod formats;
pub mod json;
#[cfg(feature = "screen")]
pub mod key;
#[cfg(any(feature = "screen", feature = "watch"))]
pub mod pace;
pub mod style;
pub mod table;
pub mod terminal;
pub mod wrap;
