//! Reads the limits in an agent's frontmatter: `execution_limits:`, AgentMD's `settings:`, the client's `maxTurns:`.

use serde_json::{Map, Value};

use crate::config::place::SettingPlace;
use crate::config::problem::Problem;
use crate::config::read::DocumentRead;
use crate::config::setting::Document;
use crate::config::yaml;
use crate::domain::layer::Layer;
use crate::limits::REGISTRY;

/// The top-level keys of a frontmatter that are read.
const KEYS: [&str; 4] = ["name", "execution_limits", "settings", "maxTurns"];

/// Returns the keys of AgentMD's `settings` that are limits. It skips others: AgentMD's `max_tokens` is the size of one response.
pub fn agentmd_keys() -> impl Iterator<Item = &'static str> {
    REGISTRY.iter().filter_map(|limit| limit.agentmd)
}

/// An agent type, and what its frontmatter says.
pub struct Agent {
    /// The type.
    pub name: String,
    /// The limits that it declares.
    pub reading: DocumentRead,
}

/// The longest frontmatter that is read, in bytes.
pub const LONGEST: usize = 64 << 10;

/// Stands for the files that are too many to be read: nobody can say what they hold.
pub const UNREAD: &str = "---\nhooks: [\n---\n";

/// How many bytes of a file are read to find it: the longest frontmatter, its first line, and enough to see that it is too long.
pub const HEAD: u64 = LONGEST as u64 + 16;

/// Reads the start of an agent's file; `stem` is its name without the ending.
pub fn agent(path: &str, stem: &str, text: &str) -> Option<Agent> {
    let picked = picked(text, &KEYS)?;
    let mut reading = DocumentRead { document: Document::empty(Layer::Frontmatter, path), problems: Vec::new() };
    if length(text) >= LONGEST {
        let what = format!("has a frontmatter of more than {LONGEST} bytes; its limits are ignored");
        reading.problems.push(Problem::of_document(&reading.document, what));
        return Some(Agent { name: stem.to_owned(), reading });
    }
    match yaml::parse(&picked) {
        Ok(Value::Object(entries)) => {
            let name = entries.get("name").and_then(Value::as_str).unwrap_or(stem).to_owned();
            blocks(&mut reading, &SettingPlace::Agents(name.clone()), &entries);
            Some(Agent { name, reading })
        }
        Ok(_) => Some(Agent { name: stem.to_owned(), reading }),
        Err(cause) => {
            let what = format!("has limits that are no YAML: {cause}; its limits are ignored");
            reading.problems.push(Problem::of_document(&reading.document, what));
            Some(Agent { name: stem.to_owned(), reading })
        }
    }
}

fn blocks(reading: &mut DocumentRead, place: &SettingPlace, entries: &Map<String, Value>) {
    match entries.get("execution_limits") {
        Some(Value::Object(limits)) => {
            reading.document.declares = true;
            reading.block(place, "execution_limits.", limits);
        }
        Some(Value::Null) | None => {}
        Some(other) => {
            let problem = Problem::of_key(&reading.document, "execution_limits", other);
            reading.problems.push(problem.says("is ignored: it must be an object of limits"));
        }
    }
    if let Some(Value::Object(settings)) = entries.get("settings") {
        let ours = settings.iter().filter(|(name, _)| agentmd_keys().any(|key| key == name.as_str()));
        reading.block(place, "settings.", &ours.map(|(name, value)| (name.clone(), value.clone())).collect());
    }
    if let Some(turns) = entries.get("maxTurns") {
        reading.block(place, "", &Map::from_iter([("maxTurns".to_owned(), turns.clone())]));
    }
}

/// Returns the bytes of a text's frontmatter.
pub fn length(text: &str) -> usize {
    lines(text).map(|line| line.len() + 1).sum()
}

/// Returns the lines of a text's frontmatter; none where it has none.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let has_some = lines.next().is_some_and(|line| line.trim_end() == "---");
    lines.take_while(move |line| has_some && line.trim_end() != "---")
}

/// Returns the values of these keys in a frontmatter; `None` where it is too long or not valid YAML.
pub fn entries(text: &str, keys: &[&str]) -> Option<Map<String, Value>> {
    let Some(picked) = picked(text, keys) else { return Some(Map::new()) };
    if length(text) >= LONGEST {
        return None;
    }
    match yaml::parse(&picked).ok()? {
        Value::Object(entries) => Some(entries),
        _ => Some(Map::new()),
    }
}

/// Returns the key that a line begins with, as people write it or in plain quotes; nothing where it may be any.
fn key_of(line: &str) -> Option<&str> {
    let line = line.strip_prefix("? ").unwrap_or(line).trim();
    match line.chars().next()? {
        quote @ ('"' | '\'') => line[1..].split_once(quote).map(|(key, _)| key).filter(|key| !key.contains('\\')),
        '{' | '!' | '&' => None,
        '<' if line.starts_with("<<") => None,
        // An alias; what a list of text begins with is none.
        '*' if line[1..].starts_with(char::is_alphanumeric) => None,
        _ => Some(line.split_once(':').map_or(line, |(key, _)| key.trim_end())),
    }
}

/// Picks the lines of the keys that are read, and empties the others so that line numbers stay. The rest is left alone:
/// descriptions in the wild are often no YAML. A line whose key is written in another way than people do is picked, too.
fn picked(text: &str, keys: &[&str]) -> Option<String> {
    text.trim_start_matches('\u{feff}').lines().next().filter(|line| line.trim_end() == "---")?;
    let mut picked = String::from("\n");
    let mut inside = false;
    for line in lines(text) {
        let goes_on = line.starts_with([' ', '\t', '}', ']', '#', '-', ':']) || line.trim().is_empty();
        if !goes_on {
            inside = key_of(line).is_none_or(|key| keys.contains(&key));
        }
        if inside {
            picked.push_str(line);
        }
        picked.push('\n');
    }
    Some(picked)
}
