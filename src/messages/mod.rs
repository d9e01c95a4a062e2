//! Every message that Fusebox writes while agents work, as rows of tables: some for people, some for agents.
//!
//! A row has a name, the moment when it is written, its text with named fields, and a value that each field may have. Its text is
//! made by the function of its name: `to_people::configuration_edited(&NextStep::Reload)`. `docs/messages.md` is made from the rows.

pub mod advice;
#[cfg(feature = "watch")]
pub mod alerts;
pub mod next_step;
pub mod notices;
pub mod refusals;
pub mod to_agents;
pub mod to_people;

/// How many characters of an id people are shown.
const SHORT: usize = 8;

/// Returns the first characters of an id, enough to name it in a command.
pub fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// One message, for whoever lists them all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name, which is the function's.
    pub name: &'static str,
    /// When it is written.
    pub when: &'static str,
    /// What it says with values as they may be.
    pub sample: String,
}

/// Makes a table of messages: a function for each that writes it, and `rows`, which lists them all.
macro_rules! messages {
    ($(#[doc = $when:literal] $name:ident($($field:ident = $value:expr),*) => $text:literal;)+) => {
        $(
            #[doc = $when]
            #[must_use]
            pub fn $name($($field: impl std::fmt::Display),*) -> String {
                format!($text)
            }
        )+

        /// Returns every message of this table with values as they may be.
        #[must_use]
        pub fn rows() -> Vec<super::Row> {
            vec![$(super::Row { name: stringify!($name), when: $when.trim_ascii(), sample: $name($($value),*) }),+]
        }
    };
}
pub(crate) use messages;
