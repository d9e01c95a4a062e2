//! What a finding comes from: a limit, an order, or what is missing at the end of an agent's work.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::domain::limit::Limit;

/// What a finding comes from. State and records hold its name.
#[derive(Clone, Debug, PartialEq)]
pub enum FindingSource {
    /// A limit over all models that it counts.
    Limit(&'static Limit),
    /// A limit over the models whose id matches a pattern.
    LimitOfModels(&'static Limit, String),
    /// A person's or a tool's order to stop.
    ExplicitStop,
    /// A person's order to pause.
    ExplicitPause,
    /// The rule about an agent's file of checkpoints.
    Checkpoints,
    /// The command that checks an agent's work.
    Completion,
    /// A person's `fusebox reset`, which is about no limit.
    Reset,
    /// What only a newer version knows, by its name.
    Unknown(String),
}

/// The sources that are no limits, with their names.
pub const NAMED: [(FindingSource, &str); 5] = [
    (FindingSource::ExplicitStop, "explicit_stop"),
    (FindingSource::ExplicitPause, "explicit_pause"),
    (FindingSource::Checkpoints, "checkpoints"),
    (FindingSource::Completion, "completion"),
    (FindingSource::Reset, "reset"),
];

impl FindingSource {
    /// Finds the source with this name.
    pub fn parse(name: &str) -> FindingSource {
        if let Some((source, _)) = NAMED.iter().find(|(_, known)| *known == name) {
            return source.clone();
        }
        match (Limit::find(name), pattern_in(name)) {
            (Some(limit), Some(like)) => FindingSource::LimitOfModels(limit, like.to_owned()),
            (Some(limit), None) if limit.key == name => FindingSource::Limit(limit),
            _ => FindingSource::Unknown(name.to_owned()),
        }
    }

    /// Returns its name, which grants and records call it by: `max_turns`, `models.*opus*.max_cost_usd`.
    pub fn name(&self) -> Cow<'_, str> {
        match self {
            FindingSource::Limit(limit) => Cow::Borrowed(limit.key),
            FindingSource::LimitOfModels(limit, like) => Cow::Owned(format!("models.{like}.{}", limit.key)),
            FindingSource::Unknown(name) => Cow::Borrowed(name),
            other => Cow::Borrowed(NAMED.iter().find(|(source, _)| source == other).map_or("", |(_, name)| name)),
        }
    }

    /// Returns the limit; `None` where it is none.
    pub fn limit(&self) -> Option<&'static Limit> {
        match self {
            FindingSource::Limit(limit) | FindingSource::LimitOfModels(limit, _) => Some(limit),
            _ => None,
        }
    }

    /// Returns the pattern of the models that it is about; `None` where that is all of them.
    pub fn models(&self) -> Option<&str> {
        match self {
            FindingSource::LimitOfModels(_, like) => Some(like),
            _ => None,
        }
    }
}

/// Returns the pattern of models in the name of a rule: `*opus*` of `models.*opus*.max_cost_usd`.
pub fn pattern_in(name: &str) -> Option<&str> {
    Some(name.strip_prefix("models.")?.rsplit_once('.')?.0)
}

impl fmt::Display for FindingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl PartialEq<str> for FindingSource {
    fn eq(&self, name: &str) -> bool {
        self.name() == name
    }
}

impl Serialize for FindingSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

impl<'de> Deserialize<'de> for FindingSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FindingSource, D::Error> {
        Ok(FindingSource::parse(&<Cow<'de, str>>::deserialize(deserializer)?))
    }
}
