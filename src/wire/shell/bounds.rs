//! How deep, how long and how much of a text is read. What goes beyond is refused where the text names Fusebox or the client.

/// How deep subshells, substitutions and words in braces may stand in one another; what is deeper is not read, and the text says so.
pub(super) const DEEPEST: usize = 16;

/// The most words and substitutions of a text that are read: they are held in memory.
pub(super) const MOST_READ: usize = 100_000;

/// The longest text in braces that is read, in bytes.
pub(super) const LONGEST_IN_BRACES: usize = 1024;
