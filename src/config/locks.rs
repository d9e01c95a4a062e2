//! Keys that others may not set as they like: those that the managed file has `locked`, and a repository's `binding` ones.

use serde_json::Value;

use crate::config::key::{Apply, Key, Takes};
use crate::config::keys;
use crate::config::keys::top::ALL;
use crate::config::limit_name;
use crate::config::place::{BLOCKS, SettingPlace, Who};
use crate::config::problem::{Problem, nearest};
use crate::config::resolved::Resolved;
use crate::config::setting::{Document, Setting};
use crate::domain::agent_type::folded;
use crate::domain::layer::Layer;
use crate::domain::text::pattern;
use crate::domain::unit::Unit;
use crate::limits::REGISTRY;

/// Patterns of keys.
#[derive(Clone, Debug, Default)]
pub struct Locks(Vec<String>);

impl Locks {
    /// Collects what the managed documents lock.
    pub fn of(documents: &[&Document]) -> Locks {
        Locks(said_by(Layer::Managed, documents).locked)
    }

    /// Collects what the repository's documents bind.
    pub fn binding(documents: &[&Document]) -> Locks {
        Locks(said_by(Layer::Project, documents).binding)
    }

    /// Whether nothing is locked, which spares asking for every key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a key is locked in a block about `who`: by its path, or by its name in any block.
    pub fn hold(&self, who: Who<'_>, key: &str) -> bool {
        self.any(who, key, |_| true)
    }

    /// Whether a list names such a key, which `true` does not.
    pub fn name(&self, who: Who<'_>, key: &str) -> bool {
        self.any(who, key, |lock| lock != ALL)
    }

    /// Whether a pattern is for a cap on cost, of anybody.
    pub fn hold_costs(&self) -> bool {
        let last = |lock: &String| lock.rsplit('.').next().unwrap_or_default().to_owned();
        let costs = || REGISTRY.iter().filter(|limit| limit.unit == Unit::Usd);
        self.0.iter().map(last).any(|lock| costs().any(|limit| pattern::matches(&lock, limit.key)))
    }

    fn any(&self, who: Who<'_>, key: &str, counts: impl Fn(&str) -> bool) -> bool {
        if self.is_empty() {
            return false;
        }
        let path = match who {
            Who::Agent(name) | Who::Declaring(name) => format!("{}{key}", Who::Agent(&folded(name)).path()),
            who => format!("{}{key}", who.path()),
        };
        let is_path = |lock: &String| pattern::matches(lock, &path) || pattern::matches(&folded(lock), &path);
        let matches = |lock: &String| is_path(lock) || pattern::matches(lock, key);
        self.0.iter().any(|lock| counts(lock) && matches(lock))
    }
}

/// Returns what the documents of a layer say at their top.
pub fn said_by<'a>(layer: Layer, documents: &[&'a Document]) -> Resolved<'a> {
    let mut said = Resolved::default();
    for document in documents.iter().filter(|document| document.layer == layer) {
        for setting in document.settings.iter().filter(|setting| setting.place == SettingPlace::Top) {
            if let Apply::Value(apply) = keys::row(&setting.subject).apply {
                apply(&mut said, setting, layer);
            }
        }
    }
    said
}

/// Returns what is wrong of patterns that name no key, by an alias or a slip: what they were meant for would stay open.
pub fn idle(document: &Document, at: &str, patterns: &[String]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for pattern in patterns {
        let name = pattern.rsplit('.').next().unwrap_or(pattern);
        let other_name = |key: &Key| match key.takes {
            Takes::CostOf(block, span) => {
                limit_name::on_cost_of(span).map(|named| format!("{}.{}", block.name(), named.name))
            }
            _ => None,
        };
        if let Some(meant) = keys::find(None, pattern).and_then(other_name) {
            let problem = Problem::of_key(document, at, &Value::from(pattern.as_str())).says("names no key");
            problems.push(problem.hint(format!("the nearest is `{meant}`")));
            continue;
        }
        let names = || keys::all().map(|key| key.name).chain(REGISTRY.iter().map(|limit| limit.key));
        if name.contains('*') || names().any(|known| known == name) {
            continue;
        }
        let problem = Problem::of_key(document, at, &Value::from(pattern.as_str())).says("names no key");
        let limit = limit_name::named(name).map(|named| named.limit.key);
        problems.push(match limit.or_else(|| nearest(name, names())) {
            Some(nearest) => {
                let block = pattern.strip_suffix(name).unwrap_or_default();
                let first = block.split('.').next().unwrap_or_default();
                let is_block = first.is_empty() || BLOCKS.iter().any(|block| block.name() == first);
                let agents = if is_block { "" } else { "agents." };
                problem.hint(format!("the nearest is `{agents}{block}{nearest}`"))
            }
            None => problem,
        });
    }
    problems
}

/// Names what a repository's files bind although neither they nor what is built in set it, by a slip in an agent's type or a
/// block: it would bind nothing.
pub fn binds_nothing(documents: &[Document]) -> Vec<Problem> {
    let built_in = documents.iter().filter(|document| document.layer == Layer::BuiltIn);
    let everyone = SettingPlace::Agents(ALL.to_owned());
    let built_in: Vec<(Who<'_>, String)> = built_in
        .flat_map(|document| &document.settings)
        .filter(|setting| setting.place != SettingPlace::Top && setting.place != everyone)
        .map(|setting| (setting.place.who(), setting.subject.path()))
        .collect();
    documents.iter().flat_map(|document| idle_bindings(document, &built_in)).collect()
}

fn idle_bindings(document: &Document, built_in: &[(Who<'_>, String)]) -> Vec<Problem> {
    let binding = |setting: &&Setting| setting.place == SettingPlace::Top && setting.subject.key == "binding";
    let Some(said) = document.settings.iter().rfind(binding).filter(|_| document.layer == Layer::Project) else {
        return Vec::new();
    };
    // A file that sets no limits yet has nothing to bind.
    let has_limits = document.settings.iter().any(|setting| setting.place != SettingPlace::Top);
    let set = document.settings.iter().filter(|setting| !std::ptr::eq(*setting, said));
    let paths: Vec<(Who<'_>, String)> = set.map(|it| (it.place.who(), it.subject.path())).collect();
    let full: Vec<String> = paths.iter().map(|(who, key)| format!("{}{key}", who.path())).collect();
    let idle = |pattern: &&String| {
        let lock = Locks(vec![(*pattern).clone()]);
        has_limits
            && !paths.iter().chain(built_in).any(|(who, key)| lock.hold(*who, key))
            && self::idle(document, "", &[(*pattern).clone()]).is_empty()
    };
    let patterns = said.value.as_list().unwrap_or_default();
    let problem = |pattern: &String| {
        let problem = Problem::of_setting(document, said).warning();
        let problem = problem.says(format!("has `{pattern}`, which binds nothing: this file does not set it"));
        match nearest_set(pattern, &full) {
            Some(nearest) => problem.hint(format!("the nearest that it sets is `{nearest}`")),
            None => problem,
        }
    };
    patterns.iter().filter(idle).map(problem).collect()
}

/// Returns what a pattern was meant for, of the keys that a file sets: one of them, or all of a block.
fn nearest_set(pattern: &str, set: &[String]) -> Option<String> {
    let Some(block) = pattern.strip_suffix(".*") else {
        // The block of an agent type stands in `agents`.
        let full = format!("agents.{pattern}");
        let near = |pattern: &str| nearest(pattern, set.iter().map(String::as_str)).map(str::to_owned);
        return near(pattern).or_else(|| near(&full));
    };
    let blocks = set.iter().filter_map(|key| Some(key.rsplit_once('.')?.0));
    nearest(block, blocks).map(|block| format!("{block}.*"))
}

/// Whether a lock binds a layer: what is built in stays, and the managed file may say what it likes.
pub fn bind(layer: Layer) -> bool {
    !matches!(layer, Layer::BuiltIn | Layer::Managed)
}
