//! Turns JSON into typed settings. What is wrong becomes a problem and drops that key alone.

mod problems;

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::config::jsonc::{self, JsonRead};
use crate::config::key::{Key, Setter, Takes};
use crate::config::keys;
use crate::config::layers::{self, FilePart, LayerFile, SETTINGS_KEY};
use crate::config::limit_name;
use crate::config::limit_name::LimitName;
use crate::config::locks;
use crate::config::per_limit::Each;
use crate::config::place::{Block, SettingPlace, belongs, blocks_of};
use crate::config::problem::Problem;
use crate::config::rate_windows;
use crate::config::setting::{Document, Setting, Subject, Written};
use crate::config::setting_value::SettingValue;
use crate::config::slips;
use crate::domain::layer::Layer;
use crate::domain::limit::Limit;
use crate::domain::session::MAIN;

/// The most settings of one file: each is compared with the others, and with those of other files.
const MOST_SETTINGS: usize = 2_000;

/// What was read, and what was wrong with it.
pub struct DocumentRead {
    /// The settings.
    pub document: Document,
    /// What was dropped.
    pub problems: Vec<Problem>,
}

/// Where in a document the reading is: what is spoken of, and how its keys' paths begin.
struct At<'a> {
    place: &'a SettingPlace,
    path: &'a str,
}

impl At<'_> {
    fn block(&self) -> Option<Block> {
        self.place.who().block()
    }
}

/// Reads the text of a file; nothing where the file holds nothing of ours.
pub fn text(source: &LayerFile, path: &str, text: &str) -> Option<DocumentRead> {
    let JsonRead { value: json, again } = match jsonc::read(text.trim_start_matches('\u{feff}')) {
        Ok(read) => read,
        Err(cause) => {
            let document = Document::empty(source.layer, path);
            let whole = if text.contains("\"binding\"") {
                "all of it is ignored, `binding` too"
            } else {
                "all of it is ignored"
            };
            let problem = Problem::of_document(&document, format!("is no JSON: {cause}; {whole}"));
            let is_comment = text.lines().any(|line| line.trim_start().starts_with('#'));
            let hint = "comments are `// ...` or `/* ... */`, never `# ...`";
            let problems = vec![if is_comment { problem.hint(hint) } else { problem }];
            return Some(DocumentRead { document, problems });
        }
    };
    let (mut reading, prefix) = match source.part {
        FilePart::Whole => (file(source.layer, path, &json), String::new()),
        FilePart::Object => (file(source.layer, path, json.get(SETTINGS_KEY)?), format!("{SETTINGS_KEY}.")),
    };
    let ignored: Vec<String> =
        reading.problems.iter().filter(|it| it.is_error()).map(|problem| problem.key.clone()).collect();
    for again in &again {
        let Some(key) = again.key.strip_prefix(&prefix) else { continue };
        let problem = Problem::of_key(&reading.document, key, &again.value);
        let (first, this) = again.lines;
        let is_of = |whole: &String| {
            key.strip_prefix(whole.as_str()).is_some_and(|of| matches!(of.chars().next(), None | Some('.')))
        };
        let which = match (ignored.iter().any(is_of), first == this) {
            (true, true) => format!("line {this} says it twice, only the first is read, and that is ignored, too"),
            (true, false) => {
                format!("line {this} says it again, only line {first} is read, and that is ignored, too")
            }
            (false, true) => format!("line {this} says it twice, and the first counts"),
            (false, false) => format!("line {this} says it again, and line {first} counts"),
        };
        reading.report(problem.says(format!("is ignored: {which}")));
    }
    Some(reading)
}

/// Returns what of a file's text is ours, where it is JSON; cheap where a settings file has nothing of ours.
pub fn object(source: &LayerFile, text: &str) -> Option<Value> {
    match source.part {
        FilePart::Whole => jsonc::read(text).ok().map(|read| read.value),
        FilePart::Object if !text.contains(SETTINGS_KEY) => None,
        FilePart::Object => jsonc::read(text).ok()?.value.get(SETTINGS_KEY).cloned(),
    }
}

/// Reads a whole file's object.
pub fn file(layer: Layer, path: &str, json: &Value) -> DocumentRead {
    let mut reading = DocumentRead { document: Document::empty(layer, path), problems: Vec::new() };
    match json {
        Value::Object(entries) => {
            reading.top(entries);
            reading.document.written = Written(Some(Arc::new(json.clone())));
        }
        _ => reading.problems.push(Problem::of_document(&reading.document, "is no JSON object; all of it is ignored")),
    }
    reading
}

impl DocumentRead {
    /// Reads one block of limits into the document; `path` is how its keys' paths begin.
    pub fn block(&mut self, place: &SettingPlace, path: &str, entries: &Map<String, Value>) {
        let here = At { place, path };
        for (name, value) in entries {
            match (limit_name::named(name), keys::find(here.block(), name)) {
                (Some(limit), _) => self.cap(&here, limit, value),
                (None, Some(key)) => self.key(key, &here, value),
                (None, None) => self.unknown(&here, name, value),
            }
        }
    }

    fn top(&mut self, entries: &Map<String, Value>) {
        let here = At { place: &SettingPlace::Top, path: "" };
        for (name, value) in entries {
            match (keys::find(None, name), limit_name::windows().find(|named| named.name == name)) {
                (Some(key), _) => self.key(key, &here, value),
                (None, Some(named)) => self.windows(&here, named.limit, value),
                (None, None) => self.unknown(&here, name, value),
            }
        }
    }

    fn key(&mut self, key: &Key, here: &At<'_>, value: &Value) {
        let at = format!("{}{}", here.path, key.name);
        if let Some(who) = self.objects_to(key.setter) {
            let problem = Problem::of_key(&self.document, &at, value);
            self.report(problem.says(format!("is ignored: only {who} can set it")));
            return;
        }
        let inside = At { place: here.place, path: &format!("{at}.") };
        match (key.takes, value) {
            (Takes::PerLimit(each) | Takes::OneOrPerLimit(_, each), Value::Object(entries)) => {
                self.per_limit(key.name, each, &inside, entries);
            }
            (Takes::One(value_type) | Takes::Keys(value_type) | Takes::OneOrPerLimit(value_type, _), value) => {
                let Some(fitting) = self.fitting(&at, value, value_type) else { return };
                let Some(typed) = (key.read)(&fitting) else { return self.mismatch(&at, value, value_type) };
                if let (Takes::Keys(_), Some(patterns)) = (key.takes, typed.as_list()) {
                    self.problems.extend(locks::idle(&self.document, &at, patterns));
                }
                self.keep(here.place, at, Subject::of_key(key.name), typed);
            }
            (Takes::Models, Value::Object(models)) => self.models(key.name, &inside, models),
            (Takes::Models, value) => self.wrong(&at, value, "an object with caps for each pattern of models"),
            (Takes::Block(block), Value::Object(entries)) => {
                if let Some(place) = block.place() {
                    self.block(&place, &format!("{at}."), entries);
                }
            }
            (Takes::Blocks, Value::Object(blocks)) => self.blocks(&at, blocks),
            (Takes::PerLimit(_), value) => self.wrong(&at, value, "an object with a value for each limit"),
            (Takes::Block(_), value) => self.wrong(&at, value, "an object of limits"),
            (Takes::Blocks, value) => self.wrong(&at, value, "an object with a block of limits for each agent type"),
            (Takes::CostOf(block, span), value) => {
                if let (Some(place), Some(named)) = (block.place(), limit_name::on_cost_of(span)) {
                    self.cap(&At { place: &place, path: here.path }, LimitName { name: key.name, ..named }, value);
                }
            }
            (Takes::Note(_), _) => {}
        }
    }

    /// Says who may set a key, where this document may not.
    fn objects_to(&self, setter: Setter) -> Option<&'static str> {
        match setter {
            Setter::Owner if !layers::is_owner(self.document.layer) => Some("the user's or the managed file"),
            Setter::Managed if self.document.layer != Layer::Managed => Some("the managed file"),
            Setter::Repository if self.document.layer != Layer::Project => Some("a repository's .claude/fusebox.json"),
            _ => None,
        }
    }

    /// Reads a limit of so many in so much time: a wrong window is dropped alone.
    fn windows(&mut self, here: &At<'_>, limit: &'static Limit, value: &Value) {
        let at = format!("{}{limit}", here.path);
        let several: Vec<(String, &Value)> = match value {
            Value::Null => Vec::new(),
            Value::Array(list) if rate_windows::are_of_tools(limit) => {
                list.iter().enumerate().map(|(place, one)| (format!("{at}.{place}"), one)).collect()
            }
            _ if rate_windows::are_of_tools(limit) => return self.wrong(&at, value, "a list of rates, or `null`"),
            one => vec![(at.clone(), one)],
        };
        let mut read = Vec::new();
        for (at, one) in several {
            match rate_windows::read(limit, one) {
                Some(window) => read.push(window),
                None => self.mismatch(&at, one, rate_windows::value_type(limit)),
            }
        }
        self.keep(here.place, at, Subject::of_limit("", limit), SettingValue::Windows(read));
    }

    fn models(&mut self, key: &'static str, here: &At<'_>, models: &Map<String, Value>) {
        let Some(scope) = here.block().map(Block::scope) else { return };
        for (like, caps) in models {
            let at = format!("{}{like}", here.path);
            let Value::Object(caps) = caps else {
                self.wrong(&at, caps, "an object of limits");
                continue;
            };
            for (name, value) in caps {
                let at = format!("{at}.{name}");
                match limit_name::named(name).filter(|named| named.is_of_models(scope)) {
                    Some(named) => match named.cap(value) {
                        Some(cap) => {
                            let models = Some(like.clone());
                            let subject = Subject { models, ..Subject::of_limit(key, named.limit) };
                            self.keep(here.place, at, subject, SettingValue::Cap(cap));
                        }
                        None => self.wrong_cap(&at, value, named),
                    },
                    None => {
                        let names =
                            limit_name::names().filter(|named| named.is_of_models(scope)).map(|named| named.name);
                        self.nameless(&at, value, names);
                    }
                }
            }
        }
    }

    fn blocks(&mut self, at: &str, blocks: &Map<String, Value>) {
        for (pattern, block) in blocks {
            let at = format!("{at}.{pattern}");
            if pattern == MAIN {
                let problem = Problem::of_key(&self.document, &at, block).says("limits subagents of that name alone");
                self.problems.push(problem.hint("write the main agent's limits into `main`, beside `agents`"));
            }
            match block {
                Value::Object(entries) => {
                    self.block(&SettingPlace::Agents(pattern.clone()), &format!("{at}."), entries)
                }
                _ => self.wrong(&at, block, "an object of limits"),
            }
        }
    }

    fn per_limit(&mut self, key: &'static str, each: Each, here: &At<'_>, entries: &Map<String, Value>) {
        for (name, value) in entries {
            let at = format!("{}{name}", here.path);
            let Some(limit) = each.find(name) else {
                self.nameless(&at, value, each.names().map(|named| named.name));
                continue;
            };
            match (each.read)(limit, value) {
                Some(typed) => self.keep(here.place, at, Subject::of_limit(key, limit.limit), typed),
                None => self.wrong(&at, value, &(each.expects)(limit)),
            }
        }
    }

    fn cap(&mut self, here: &At<'_>, named: LimitName, value: &Value) {
        let at = format!("{}{}", here.path, named.name);
        let Some(scope) = here.block().map(Block::scope) else { return };
        if !named.limit.scopes.contains(&scope) {
            let problem = Problem::of_key(&self.document, &at, value).hint(belongs(&blocks_of(named.limit)));
            self.report(problem.says(format!("is ignored: there is no {} per {}", named.limit, scope.as_str())));
            return;
        }
        match named.cap(value) {
            Some(cap) => {
                // Below its ceiling's smallest value it is dropped, and that is said instead.
                let is_dropped = |cap: u64| {
                    here.block() == Some(Block::Agents) && named.limit.ceiling.is_some_and(|(low, _)| cap < low)
                };
                let kept = cap.filter(|cap| !is_dropped(*cap));
                if let Some(words) = kept
                    .and_then(|cap| slips::too_small(named, value, cap).or_else(|| slips::too_long(named, value, cap)))
                {
                    self.report(Problem::of_key(&self.document, &at, value).says(words).warning());
                }
                self.keep(here.place, at, Subject::of_limit("", named.limit), SettingValue::Cap(cap));
            }
            None => self.wrong_cap(&at, value, named),
        }
    }

    /// Keeps a value unless the same block has said the same thing under another name.
    fn keep(&mut self, place: &SettingPlace, key: String, subject: Subject, value: SettingValue) {
        let setting = Setting { place: place.clone(), subject, value, key };
        if self.document.settings.len() >= MOST_SETTINGS {
            let problem = Problem::of_setting(&self.document, &setting);
            self.report(problem.says(format!("is ignored: one file can have {MOST_SETTINGS} settings")));
            return;
        }
        match self.document.settings.iter().find(|it| it.place == *place && it.subject == setting.subject) {
            None => self.document.settings.push(setting),
            Some(first) => {
                let what = format!("is ignored: `{}` says the same and comes first", first.key);
                self.report(Problem::of_setting(&self.document, &setting).says(what));
            }
        }
    }
}
