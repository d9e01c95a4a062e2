//! The model that a request goes to, where something names it before the request is made.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::spend::meters::Spend;

/// The model that the request at hand goes to, where it is another than the run's last, or the one of an agent about to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NextModel {
    /// Its id.
    pub name: String,
    /// What a request like the run's last ones spends there; nothing where there was none.
    pub spend: Spend,
}

/// The models that a client's files name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NamedModels {
    /// By the types of agents.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, String>,
    /// By the session's own agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// By the settings: a conversation that goes on keeps its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
}
