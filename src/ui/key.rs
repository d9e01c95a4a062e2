//! Keys that a person presses on the live screen.

/// A key, as far as the screen knows any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// One line up.
    Up,
    /// One line down.
    Down,
    /// One page up.
    PageUp,
    /// One page down.
    PageDown,
    /// To the first line.
    Home,
    /// To the last line.
    End,
    /// Says yes to what was typed.
    Enter,
    /// Leaves what is asked.
    Escape,
    /// Takes the last character away.
    Backspace,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-Z.
    Suspend,
    /// A character.
    Letter(char),
}
