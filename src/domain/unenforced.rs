//! Why a limit is evaluated and blocks nothing.

/// Why a limit is evaluated and blocks nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unenforced {
    /// It is a repository's, whose file only observes.
    Observed,
    /// A person has switched it off for a while.
    Off,
}

impl Unenforced {
    /// Returns the word that records have.
    pub fn as_str(self) -> &'static str {
        match self {
            Unenforced::Observed => "observe",
            Unenforced::Off => "off",
        }
    }
}
