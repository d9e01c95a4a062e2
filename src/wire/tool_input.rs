//! The input of a tool's call.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A call's input: its JSON as it stands, and the fields of it that are read.
#[derive(Debug)]
pub struct ToolInput<'a> {
    json: &'a RawValue,
    /// Nothing where one of them is not of its type, or there is no object: the client will reject it.
    fields: Option<Fields<'a>>,
}

/// The fields of all tools' inputs that are read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Fields<'a> {
    #[serde(borrow)]
    pub subagent_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub prompt: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub to: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub command: Option<Cow<'a, str>>,
    pub timeout: Option<f64>,
    pub timeout_ms: Option<f64>,
    pub persistent: Option<bool>,
    pub run_in_background: Option<bool>,
    #[serde(borrow, rename = "taskId")]
    pub task_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub file_path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub notebook_path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub skill: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub args: Option<Cow<'a, str>>,
}

impl<'a> ToolInput<'a> {
    /// Reads an input.
    pub fn new(json: &'a RawValue) -> ToolInput<'a> {
        ToolInput { json, fields: serde_json::from_str(json.get()).ok() }
    }

    /// Returns its JSON as it stands.
    pub fn json(&self) -> &'a RawValue {
        self.json
    }

    /// Returns its JSON as text.
    pub fn text(&self) -> &'a str {
        self.json.get()
    }

    /// Returns its fields.
    pub(super) fn fields(&self) -> Option<&Fields<'a>> {
        self.fields.as_ref()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ToolInput<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ToolInput<'a>, D::Error> {
        <&RawValue>::deserialize(deserializer).map(ToolInput::new)
    }
}
