//! What a person sees: terminal, styles, tables and formats.

pub mod formats;
pub mod json;
pub mod style;
pub mod table;
pub mod terminal;
pub mod wrap;
