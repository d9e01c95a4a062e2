//! Finds the models that a client's files name: for agent types, for the session's own agent, in the settings and in skills.

use serde_json::Value;

use crate::config::frontmatter;
use crate::domain::next_model::NamedModels;
use crate::install::model_hooks::{self, Client, DescribedType};
use crate::wire::javascript_json;

/// The keys of a frontmatter that say which model an agent works with.
const KEYS: [&str; 2] = ["name", "model"];

/// Returns which models the files of a client name when it starts, with these agent types. It does not read them again.
pub fn of_client(client: &Client, types: &[DescribedType]) -> NamedModels {
    let mut named = NamedModels::default();
    for (name, said) in types {
        let Ok(entries) = model_hooks::said_under(said, &KEYS) else { continue };
        match model_of(entries.get("model")) {
            Some(model) => named.types.insert(name.clone(), model),
            None => named.types.remove(name),
        };
    }
    named.agent = model_hooks::main_type(client).and_then(|name| named.types.get(&name).cloned());
    named.settings = client.value_of("--settings").and_then(of_settings);
    named.settings = named.settings.or_else(|| client.setting("model"));
    named
}

/// Returns the model that settings on the command line (`--settings`) name.
fn of_settings(text: &str) -> Option<String> {
    model_of(javascript_json::parse::<Value>(text)?.get("model"))
}

/// Returns the model that a skill or command works with, once a person has typed its name.
pub fn of_skill(client: &Client, name: &str) -> Option<String> {
    let file = client.skills(name, None).files.into_iter().next()?;
    let entries = frontmatter::entries(&file.text, &KEYS)?;
    model_of(entries.get("model"))
}

fn model_of(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).map(str::to_owned)
}
