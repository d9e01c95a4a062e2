//! What was wrong with a file: each problem names the key, says what is expected, and what may have been meant.

use serde_json::Value;

use crate::config::fitting::{Misfit, Why, fitting};
use crate::config::key::{Key, Takes};
use crate::config::keys;
use crate::config::limit_name;
use crate::config::limit_name::LimitName;
use crate::config::place::{belongs, blocks_of};
use crate::config::problem::{Problem, nearest};
use crate::config::read::{At, DocumentRead};
use crate::config::slips;
use crate::config::value_type::ValueType;
use crate::domain::limit::Limit;

/// The most problems of one file that are told one by one.
const MOST_PROBLEMS: usize = 100;

impl DocumentRead {
    /// Reports a cap that its limit does not take, with what may have been meant.
    pub(super) fn wrong_cap(&mut self, at: &str, value: &Value, named: LimitName) {
        let problem = Problem::of_key(&self.document, at, value);
        let problem = problem.says(format!("is ignored: it must be {} or `null`", named.expects()));
        self.report(match slips::meant(named, value) {
            Some(meant) => problem.hint(meant),
            None => problem,
        });
    }

    /// Takes note of a problem; of many, says once that there are more.
    pub(super) fn report(&mut self, problem: Problem) {
        match self.problems.len() {
            known if known < MOST_PROBLEMS => self.problems.push(problem),
            MOST_PROBLEMS => {
                self.problems.push(Problem::of_document(&self.document, "has more that is wrong; it is ignored, too"))
            }
            _ => {}
        }
    }

    /// Returns what of a value fits a form, and reports what does not.
    pub(super) fn fitting(&mut self, at: &str, value: &Value, form: ValueType) -> Option<Value> {
        let mut misfits = Vec::new();
        let fitting = fitting(form, value, at, &mut misfits);
        for Misfit { at, value, why } in misfits {
            match why {
                Why::NoSuchKey(fields) => self.nameless(&at, value, fields.iter().map(|field| field.name)),
                Why::Mismatch(form) => self.mismatch(&at, value, form),
            }
        }
        fitting
    }

    pub(super) fn mismatch(&mut self, at: &str, value: &Value, shape: ValueType) {
        let problem = Problem::of_key(&self.document, at, value);
        let problem = problem.says(format!("is ignored: {}", shape.mismatch(value)));
        let meant = slips::meant_word(&shape.words(), value)
            .or_else(|| Some(format!("the nearest is `{}`", meant_key(shape, value)?)));
        self.report(match meant {
            Some(meant) => problem.hint(meant),
            None => problem,
        });
    }

    pub(super) fn wrong(&mut self, at: &str, value: &Value, expected: &str) {
        let problem = Problem::of_key(&self.document, at, value);
        self.report(problem.says(format!("is ignored: it must be {expected}")));
    }

    pub(super) fn unknown(&mut self, here: &At<'_>, name: &str, value: &Value) {
        let block = here.block();
        let is_here = |named: &LimitName| block.is_some_and(|it| named.limit.scopes.contains(&it.scope()));
        let is_key = |named: &LimitName| named.name == named.limit.key;
        // Of names that are equally near a limit's own is meant: `maxTurns` is another limit than `max_turns`.
        let keys = limit_name::names().filter(move |named| is_here(named) && is_key(named));
        let aliases = limit_name::names().filter(move |named| is_here(named) && !is_key(named));
        let windows = limit_name::windows().filter(|_| block.is_none());
        let limits = keys.chain(aliases).chain(windows).map(|named| named.name);
        let at = format!("{}{name}", here.path);
        self.nameless(&at, value, keys::at(block).map(|key| key.name).chain(limits));
    }

    /// Reports a key that is not known here: by a later version, at another level, or not at all.
    pub(super) fn nameless<'a>(&mut self, at: &str, value: &Value, known: impl Iterator<Item = &'a str>) {
        let name = at.rsplit('.').next().unwrap_or(at);
        let problem = Problem::of_key(&self.document, at, value);
        if self.problems.len() >= MOST_PROBLEMS {
            // What it may have meant takes a while to find.
            self.report(problem);
            return;
        }
        if keys::OF_OTHER_BUILDS.contains(&name) {
            self.report(problem.says("is known but not enforced by this version").warning());
            return;
        }
        let home = keys::all().find(|key| key.name == name).map(|key| key.blocks.to_vec());
        let home = home.or_else(|| Some(blocks_of(Limit::find(name).or(limit_name::named(name).map(|it| it.limit))?)));
        // A block of limits at the top is one whose name was mistyped, or an agent type's.
        let is_block = name == at && (limits_something(value) || values(value).any(limits_something));
        let takes_limits = |key: &&Key| matches!(key.takes, Takes::Block(_) | Takes::Blocks | Takes::PerLimit(_));
        let blocks = keys::at(None).filter(takes_limits).map(|key| key.name);
        let hint = match home.as_deref() {
            Some([]) => "it belongs at the top of the file".to_owned(),
            Some(blocks) => belongs(blocks),
            None if is_block => match nearest(name, blocks) {
                Some(nearest) => format!("the nearest is `{nearest}`"),
                None if limits_something(value) => format!("an agent type stands in `agents`: `agents.{name}`"),
                None => "agent types stand in `agents`".to_owned(),
            },
            None => match nearest(name, known.chain(keys::OF_OTHER_BUILDS.iter().copied())) {
                Some(nearest) => format!("the nearest is `{nearest}`"),
                None => "`fusebox config schema` has all keys".to_owned(),
            },
        };
        let here = if home.is_some() { " here" } else { "" };
        self.report(problem.says(format!("is ignored: no such key{here}")).hint(hint));
    }
}

/// Whether a value is an object with a limit in it.
fn limits_something(value: &Value) -> bool {
    value.as_object().is_some_and(|entries| entries.keys().any(|key| Limit::find(key).is_some()))
}

fn values(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_object().into_iter().flat_map(|entries| entries.values())
}

/// Returns the key that may have been meant by the first one that an object does not have.
fn meant_key(form: ValueType, value: &Value) -> Option<&'static str> {
    let (ValueType::Object(fields), Value::Object(entries)) = (form, value) else { return None };
    let mut names = fields.iter().map(|field| field.name);
    let unknown = entries.keys().find(|key| !names.clone().any(|name| name == key.as_str()))?;
    nearest(unknown, &mut names)
}
