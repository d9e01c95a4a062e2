//! Turns JSON into typed settings. What is wrong becomes a problem and drops that key alone.

use serde_json::{Map, Value};

use crate::config::keys::{self, Each, Key, Level, Setter, Takes};
use crate::config::layers::{self, Part, SETTINGS_KEY, Source};
use crate::config::problem::{Problem, nearest};
use crate::config::setting::{Doc, Place, Setting, Term};
use crate::config::shape::{self, Named};
use crate::engine::policy::{Layer, Scope};

/// What was read, and what was wrong with it.
pub struct Reading {
    /// The settings.
    pub doc: Doc,
    /// What was dropped.
    pub problems: Vec<Problem>,
}

/// A block of limits: what it is about, and how its keys' paths begin.
struct Block<'a> {
    place: &'a Place,
    path: &'a str,
}

/// Reads the text of a file; nothing where the file holds nothing of ours.
pub fn text(source: &Source, path: &str, text: &str) -> Option<Reading> {
    let json: Value = match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(json) => json,
        Err(cause) => {
            let doc = Doc::empty(source.layer, path);
            let problems = vec![Problem::of_doc(&doc, format!("is no JSON: {cause}; all of it is ignored"))];
            return Some(Reading { doc, problems });
        }
    };
    match source.part {
        Part::Whole => Some(file(source.layer, path, &json)),
        Part::Object => Some(file(source.layer, path, json.get(SETTINGS_KEY)?)),
    }
}

/// Returns what of a file's text is ours, where it is JSON; cheap where a settings file has nothing of ours.
pub fn object(source: &Source, text: &str) -> Option<Value> {
    match source.part {
        Part::Whole => serde_json::from_str(text).ok(),
        Part::Object if !text.contains(SETTINGS_KEY) => None,
        Part::Object => serde_json::from_str::<Value>(text).ok()?.get(SETTINGS_KEY).cloned(),
    }
}

/// Reads a whole file's object.
pub fn file(layer: Layer, path: &str, json: &Value) -> Reading {
    let mut reading = Reading { doc: Doc::empty(layer, path), problems: Vec::new() };
    match json {
        Value::Object(entries) => reading.top(entries),
        _ => reading.problems.push(Problem::of_doc(&reading.doc, "is no JSON object; all of it is ignored")),
    }
    reading
}

impl Reading {
    /// Reads one block of limits into the document; `path` is how its keys' paths begin.
    pub fn block(&mut self, place: &Place, path: &str, entries: &Map<String, Value>) {
        let block = Block { place, path };
        for (name, value) in entries {
            let at = format!("{path}{name}");
            match (shape::named(name), keys::find(Level::Block, name)) {
                (Some(limit), _) => self.cap(&block, limit, value),
                (None, Some(key)) => self.key(key, &block, value),
                (None, None) => self.unknown(Level::Block, &at, value),
            }
        }
    }

    fn top(&mut self, entries: &Map<String, Value>) {
        let block = Block { place: &Place::Top, path: "" };
        for (name, value) in entries {
            match keys::find(Level::Top, name) {
                Some(key) => self.key(key, &block, value),
                None => self.unknown(Level::Top, name, value),
            }
        }
    }

    fn key(&mut self, key: &Key, block: &Block<'_>, value: &Value) {
        let at = format!("{}{}", block.path, key.name);
        if key.setter == Setter::Owner && !layers::is_owner(self.doc.layer) {
            let problem = Problem::of_key(&self.doc, &at, value);
            self.problems.push(problem.says("is ignored: only the user's or the managed file can set it"));
            return;
        }
        match (&key.takes, value) {
            (Takes::PerLimit(each) | Takes::OneOrPerLimit(_, _, each), Value::Object(entries)) => {
                self.per_limit(*each, &Block { place: block.place, path: &format!("{at}.") }, entries);
            }
            (Takes::One(shape, make) | Takes::OneOrPerLimit(shape, make, _), value) => {
                match make(value).filter(|_| shape.accepts(value)) {
                    Some(term) => self.keep(block.place, at, term),
                    None => self.wrong(&at, value, &shape.expects()),
                }
            }
            (Takes::Block(place), Value::Object(entries)) => self.block(place, &format!("{at}."), entries),
            (Takes::Blocks, Value::Object(blocks)) => self.blocks(&at, blocks),
            (Takes::PerLimit(_), value) => self.wrong(&at, value, "an object with a value for each limit"),
            (Takes::Block(_), value) => self.wrong(&at, value, "an object of limits"),
            (Takes::Blocks, value) => self.wrong(&at, value, "an object with a block of limits for each agent type"),
            (Takes::Note(_), _) => {}
        }
    }

    fn blocks(&mut self, at: &str, blocks: &Map<String, Value>) {
        for (pattern, block) in blocks {
            let at = format!("{at}.{pattern}");
            match block {
                Value::Object(entries) => self.block(&Place::Agents(pattern.clone()), &format!("{at}."), entries),
                _ => self.wrong(&at, block, "an object of limits"),
            }
        }
    }

    fn per_limit(&mut self, each: Each, block: &Block<'_>, entries: &Map<String, Value>) {
        for (name, value) in entries {
            let at = format!("{}{name}", block.path);
            let Some(limit) = shape::named(name) else {
                self.unknown_limit(&at, value);
                continue;
            };
            match each.read(limit, value) {
                Some(term) => self.keep(block.place, at, term),
                None => self.wrong(&at, value, &each.expects(limit)),
            }
        }
    }

    fn cap(&mut self, block: &Block<'_>, named: Named, value: &Value) {
        let at = format!("{}{}", block.path, named.name);
        let scope = if *block.place == Place::Session { Scope::Session } else { Scope::Run };
        if !named.limit.scopes.contains(&scope) {
            let problem = Problem::of_key(&self.doc, &at, value);
            self.problems.push(problem.says(format!(
                "is ignored: {} has no limit per {}",
                named.limit,
                scope.as_str()
            )));
            return;
        }
        let cap = named.read(value);
        if cap.is_none() && !value.is_null() {
            self.wrong(&at, value, &format!("{} or `null`", named.expects()));
            return;
        }
        self.keep(block.place, at, Term::Cap { limit: named.limit, cap });
    }

    /// Keeps a value unless the same block has said the same thing under another name.
    fn keep(&mut self, place: &Place, key: String, term: Term) {
        let said = term.key();
        let setting = Setting { place: place.clone(), term, key };
        match self.doc.settings.iter().find(|it| it.place == *place && it.term.key() == said) {
            None => self.doc.settings.push(setting),
            Some(first) => {
                let what = format!("is ignored: `{}` says the same and comes first", first.key);
                self.problems.push(Problem::of_setting(&self.doc, &setting).says(what));
            }
        }
    }

    fn wrong(&mut self, at: &str, value: &Value, expected: &str) {
        let problem = Problem::of_key(&self.doc, at, value);
        self.problems.push(problem.says(format!("is ignored: it must be {expected}")));
    }

    fn unknown(&mut self, level: Level, at: &str, value: &Value) {
        let limits = shape::names().map(|named| named.name).filter(|_| level == Level::Block);
        self.nameless(at, value, keys::at(level).map(|key| key.name).chain(limits));
    }

    fn unknown_limit(&mut self, at: &str, value: &Value) {
        self.nameless(at, value, shape::names().map(|named| named.name));
    }

    /// Reports a key that is not known here: by a later version, at another level, or not at all.
    fn nameless<'a>(&mut self, at: &str, value: &Value, known: impl Iterator<Item = &'a str>) {
        let name = at.rsplit('.').next().unwrap_or(at);
        let problem = Problem::of_key(&self.doc, at, value);
        if keys::FUTURE.contains(&name) {
            self.problems.push(problem.says("is known but not enforced by this version").warning());
            return;
        }
        let hint = match (keys::find(Level::Top, name), shape::named(name), keys::find(Level::Block, name)) {
            (Some(_), _, _) => "it belongs at the top of the file".to_owned(),
            (None, None, None) => match nearest(name, known.chain(keys::FUTURE.iter().copied())) {
                Some(nearest) => format!("the nearest is `{nearest}`"),
                None => "`fusebox config schema` has all keys".to_owned(),
            },
            _ => "it belongs in `session`, `main` or one of `agents`".to_owned(),
        };
        self.problems.push(problem.says("is ignored: no such key").hint(hint));
    }
}
