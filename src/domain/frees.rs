//! When a trip passes by itself.

use std::fmt;

use serde::{Deserialize, Serialize};

/// When a trip passes by itself. It is stored as people read it: `in 12 s`, `at 2026-11-21 00:00 +01:00`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Frees {
    /// It does not: somebody has to lift it.
    #[default]
    Never,
    /// After a span of time from the trip on: `12 s`.
    In(String),
    /// At a moment: `2026-11-21 00:00 +01:00`.
    At(String),
    /// Once something has happened: `the store is heard`.
    Once(String),
}

impl Frees {
    /// Returns that of a team's budget where the machine has left the team.
    pub fn once_team_is_left() -> Frees {
        Frees::Once("the session takes that up: `fusebox reload --all`".to_owned())
    }

    /// Says that the machine has left the team that a session began in.
    pub fn says_left(team: &str) -> String {
        format!("this session began in team {team}, which this machine has left")
    }

    /// Whether it does not pass by itself.
    pub fn is_never(&self) -> bool {
        *self == Frees::Never
    }
}

impl fmt::Display for Frees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Frees::Never => Ok(()),
            Frees::In(span) => write!(f, "in {span}"),
            Frees::At(moment) => write!(f, "at {moment}"),
            Frees::Once(what) => write!(f, "once {what}"),
        }
    }
}

impl From<Frees> for String {
    fn from(frees: Frees) -> String {
        frees.to_string()
    }
}

impl From<String> for Frees {
    fn from(text: String) -> Frees {
        match text.split_once(' ') {
            _ if text.is_empty() => Frees::Never,
            Some(("in", span)) => Frees::In(span.to_owned()),
            Some(("at", moment)) => Frees::At(moment.to_owned()),
            Some(("once", what)) => Frees::Once(what.to_owned()),
            _ => Frees::Once(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_read_as_it_was() {
        let all = [
            Frees::Never,
            Frees::In("1 h 2 min".to_owned()),
            Frees::At("2026-11-21 00:00 +01:00".to_owned()),
            Frees::Once("the store is heard".to_owned()),
        ];
        for frees in all {
            assert_eq!(Frees::from(frees.to_string()), frees);
        }
    }
}
