//! What a repository's file binds: keys that `fusebox.local.json`, frontmatter, spawns and a person's own file may only tighten.

use std::path::{Path, PathBuf};

use crate::config::key::Apply;
use crate::config::keys;
use crate::config::locks::Locks;
use crate::config::place::Who;
use crate::config::resolved::Resolved;
use crate::config::setting::{Document, Setting, Subject};
use crate::domain::action::Action;
use crate::domain::layer::Layer;
use crate::domain::limit::Limit;

/// What a person's own file says for `who`: a looser value that a repository binds gives way to it.
#[derive(Debug)]
pub struct PersonsOwn<'a> {
    keys: Locks,
    who: Who<'a>,
    stands: Resolved<'a>,
}

impl<'a> PersonsOwn<'a> {
    /// Makes it of what that file alone says for `who`.
    pub fn of(keys: &Locks, who: Who<'a>, mut stands: Resolved<'a>) -> PersonsOwn<'a> {
        // A cap that only warns is none that the repository's would loosen.
        stands.rules.limits.retain(|rule| rule.action != Action::Warn);
        PersonsOwn { keys: keys.clone(), who, stands }
    }

    /// Returns the person's value to which a setting of the repository's gives way.
    pub fn is_tighter(&self, setting: &Setting, layer: Layer) -> Option<String> {
        let is_bound = layer == Layer::Project && self.keys.hold(self.who, &setting.subject.path());
        if is_bound { keys::row(&setting.subject).loosened(setting, &self.stands) } else { None }
    }
}

/// The keys that a repository binds for `who`, and what stands without those who may only tighten them.
#[derive(Debug)]
pub struct Binding<'a> {
    keys: Locks,
    who: Who<'a>,
    /// What the repository says.
    said: Vec<&'a Setting>,
    own: PersonsOwn<'a>,
    stands: Resolved<'a>,
    /// What stands without a person's own file, too.
    without_person: Resolved<'a>,
}

impl<'a> Binding<'a> {
    /// Makes it of what `stands` for `who` by the documents that are not bound, with a person's own file and without.
    pub fn of(own: PersonsOwn<'a>, documents: &[&'a Document], stands: [Resolved<'a>; 2]) -> Binding<'a> {
        let ([stands, without_person], keys, who) = (stands, own.keys.clone(), own.who);
        let of_repository = documents.iter().filter(|document| document.layer == Layer::Project);
        let said = of_repository.flat_map(|document| &document.settings).filter(|it| it.place.fit(who).is_some());
        Binding { keys, who, said: said.collect(), own, stands, without_person }
    }

    /// Whether a setting does not hold: it would loosen what is bound, or gives way to a person's own.
    pub fn drops(&self, setting: &Setting, layer: Layer) -> bool {
        let is_loosened = || !is_of_many(&setting.subject) && self.loosened(setting, layer).is_some();
        self.own.is_tighter(setting, layer).is_some() || is_loosened()
    }

    /// Returns the repository's value that a setting would loosen.
    pub fn loosened(&self, setting: &Setting, layer: Layer) -> Option<String> {
        let stands = self.stands_against(layer)?;
        let key = keys::row(&setting.subject);
        if self.binds(&setting.subject, stands) {
            return key.loosened(setting, stands);
        }
        let bound = stands.rules.limits.iter().map(|rule| rule.limit).filter(|limit| self.binds_cap(limit, stands));
        bound
            .filter(|_| is_of_many(&setting.subject))
            .find_map(|limit| key.loosened(&as_of_one(setting, limit)?, stands))
    }

    /// Whether a setting that speaks of many limits may change what one of them does.
    pub fn may_change(&self, setting: &Setting, layer: Layer, limit: &'static Limit) -> bool {
        let Some(stands) = self.stands_against(layer) else { return true };
        let key = keys::row(&setting.subject);
        let is_free = !(self.binds(&setting.subject, stands) || self.binds_cap(limit, stands));
        is_free || as_of_one(setting, limit).and_then(|setting| key.loosened(&setting, stands)).is_none()
    }

    /// Returns what a layer may only tighten; `None` for those that may say what they like.
    fn stands_against(&self, layer: Layer) -> Option<&Resolved<'a>> {
        match layer {
            Layer::User => Some(&self.without_person),
            layer => is_bound(layer).then_some(&self.stands),
        }
    }

    /// Whether the repository binds a key: one that it sets, or one that its list names, where something stands.
    fn binds(&self, subject: &Subject, stands: &Resolved) -> bool {
        let path = subject.path();
        let is_said = || self.said.iter().any(|said| said.subject == *subject);
        let is_named = || self.keys.name(self.who, &path) && !only_warns(subject, stands);
        self.keys.hold(self.who, &path) && (is_said() || is_named())
    }

    fn binds_cap(&self, limit: &'static Limit, stands: &Resolved) -> bool {
        self.binds(&Subject::of_limit("", limit), stands)
    }
}

/// Whether what stands of a limit is built in and only warns: whoever sets one that blocks takes nothing away.
fn only_warns(subject: &Subject, stands: &Resolved) -> bool {
    let rule = subject.limit.filter(|_| subject.key.is_empty()).and_then(|limit| stands.rules.get(limit));
    rule.is_some_and(|rule| rule.layer == Layer::BuiltIn && rule.action == Action::Warn)
}

/// Returns a setting as if it were said of one limit only; `None` where it is said of another one.
fn as_of_one(setting: &Setting, limit: &'static Limit) -> Option<Setting> {
    let is_of_it = setting.subject.limit.is_none_or(|it| it == limit);
    let subject = Subject { limit: Some(limit), ..setting.subject.clone() };
    is_of_it.then(|| Setting { subject, ..setting.clone() })
}

/// Whether a key says something of many limits, and so is compared for each of them.
pub fn is_of_many(subject: &Subject) -> bool {
    matches!(keys::row(subject).apply, Apply::Limit(_))
}

/// Has the files of a repository in folders below the one whose file binds anything only tighten that, as a member's own: anybody can
/// put one there, and need not commit it.
pub fn hold_below(documents: &mut [Document]) {
    let is_of_repository = |document: &&Document| document.layer == Layer::Project;
    let binds = |document: &&Document| !Locks::binding(&[*document]).is_empty();
    let binding: Vec<PathBuf> = documents.iter().filter(is_of_repository).filter(binds).map(folder).collect();
    for document in documents.iter_mut().filter(|document| document.layer == Layer::Project) {
        let own = folder(document);
        if binding.iter().any(|above| own != *above && own.starts_with(above)) {
            document.layer = Layer::ProjectLocal;
        }
    }
}

/// Returns the folder that a document is about: the one that holds its `.claude`.
fn folder(document: &Document) -> PathBuf {
    Path::new(&document.path).ancestors().nth(2).map(Path::to_path_buf).unwrap_or_default()
}

/// Whether a layer may only tighten what is bound.
pub fn is_held(layer: Layer) -> bool {
    layer == Layer::User || is_bound(layer)
}

/// Whether a layer is bound with all that it says: it is stronger than the repository's file, and not the machine's owner's.
pub fn is_bound(layer: Layer) -> bool {
    matches!(layer, Layer::ProjectLocal | Layer::Frontmatter | Layer::Spawn)
}
