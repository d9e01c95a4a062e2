//! What a repository's file binds: keys that `fusebox.local.json`, frontmatter and spawns may only tighten. A person's own file may set
//! a tighter cap, and never what a bound cap does: a limit that only warns holds nobody.

use crate::config::key::Apply;
use crate::config::keys;
use crate::config::locks::Locks;
use crate::config::permissions;
use crate::config::place::Who;
use crate::config::resolved::Resolved;
use crate::config::setting::{Document, Setting, Subject};
use crate::config::setting_value::SettingValue;
use crate::domain::limit::Limit;
use crate::domain::policy::{Action, Layer};

/// The keys that a repository binds for `who`, and what stands without those who may only tighten them.
#[derive(Debug)]
pub struct Binding<'a> {
    keys: Locks,
    who: Who<'a>,
    /// What the repository says.
    said: Vec<&'a Setting>,
    stands: Resolved<'a>,
    /// What stands without a person's own file, too.
    without_person: Resolved<'a>,
}

impl<'a> Binding<'a> {
    /// Makes it of what `stands` for `who` by the documents that are not bound, with a person's own file and without.
    pub fn of(keys: Locks, documents: &[&'a Document], who: Who<'a>, stands: [Resolved<'a>; 2]) -> Binding<'a> {
        let [stands, without_person] = stands;
        let of_repository = documents.iter().filter(|document| document.layer == Layer::Project);
        let said = of_repository.flat_map(|document| &document.settings).filter(|it| it.place.fit(who).is_some());
        Binding { keys, who, said: said.collect(), stands, without_person }
    }

    /// Returns the repository's value that a setting would loosen.
    pub fn loosened(&self, setting: &Setting, layer: Layer) -> Option<String> {
        if layer == Layer::User {
            let bound = self.without_person.rules.limits.iter().map(|rule| rule.limit);
            return bound.filter(|limit| self.sets(limit)).find_map(|limit| self.made_milder(setting, limit));
        }
        if !is_bound(layer) {
            return None;
        }
        let loosens = keys::row(&setting.subject).loosens;
        if self.binds(&setting.subject) {
            return loosens(setting, &self.stands);
        }
        let bound = self.stands.rules.limits.iter().map(|rule| rule.limit).filter(|limit| self.binds_cap(limit));
        bound.filter(|_| is_of_many(&setting.subject)).find_map(|limit| loosens(&alone(setting, limit)?, &self.stands))
    }

    /// Whether a setting that speaks of many limits may change what one of them does.
    pub fn lets(&self, setting: &Setting, layer: Layer, limit: &'static Limit) -> bool {
        if layer == Layer::User {
            return !self.sets(limit) || self.made_milder(setting, limit).is_none();
        }
        let is_free = !is_bound(layer) || !(self.binds(&setting.subject) || self.binds_cap(limit));
        let loosens = keys::row(&setting.subject).loosens;
        is_free || alone(setting, limit).and_then(|setting| loosens(&setting, &self.stands)).is_none()
    }

    /// Whether the repository binds a key: one that it sets, or one that its list names, where something stands.
    fn binds(&self, subject: &Subject) -> bool {
        let path = subject.path();
        let is_said = || self.said.iter().any(|said| said.subject == *subject);
        self.keys.hold(self.who, &path) && (is_said() || self.keys.name(self.who, &path) && !self.only_warns(subject))
    }

    /// Whether what stands of a limit is built in and only warns: whoever sets one that blocks takes nothing away.
    fn only_warns(&self, subject: &Subject) -> bool {
        let rule = subject.limit.filter(|_| subject.key.is_empty()).and_then(|limit| self.stands.rules.get(limit));
        rule.is_some_and(|rule| rule.layer == Layer::BuiltIn && rule.action == Action::Warn)
    }

    /// Whether the repository's file sets a cap and binds it.
    fn sets(&self, limit: &'static Limit) -> bool {
        let cap = Subject::of_limit("", limit);
        self.said.iter().any(|said| said.subject == cap) && self.keys.hold(self.who, &cap.path())
    }

    /// Returns the stricter action of a limit, where a setting names a milder one.
    fn made_milder(&self, setting: &Setting, limit: &'static Limit) -> Option<String> {
        let is_action = matches!(setting.value, SettingValue::Action(_)) && is_of_many(&setting.subject);
        permissions::action(&alone(setting, limit).filter(|_| is_action)?, &self.without_person)
    }

    fn binds_cap(&self, limit: &'static Limit) -> bool {
        self.binds(&Subject::of_limit("", limit))
    }
}

/// Returns a setting as if it were said of one limit only; `None` where it is said of another one.
fn alone(setting: &Setting, limit: &'static Limit) -> Option<Setting> {
    let is_of_it = setting.subject.limit.is_none_or(|it| it == limit);
    let subject = Subject { limit: Some(limit), ..setting.subject.clone() };
    is_of_it.then(|| Setting { subject, ..setting.clone() })
}

/// Whether a key says something of many limits, and so is judged for each of them.
pub fn is_of_many(subject: &Subject) -> bool {
    matches!(keys::row(subject).apply, Apply::Limit(_))
}

/// Whether a layer is bound: it is stronger than the repository's file, and not the machine's owner's.
pub fn is_bound(layer: Layer) -> bool {
    matches!(layer, Layer::ProjectLocal | Layer::Frontmatter | Layer::Spawn)
}
