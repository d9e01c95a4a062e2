//! Configuration of any text in every layer: a wrong key drops itself alone, a repository never loosens what is the user's, and
//! what is pinned is read back as it was.

#![no_main]

use fusebox::config::effective;
use fusebox::config::layers::{FilePart, LAYER_FILES, LayerFile, SETTINGS_KEY};
use fusebox::config::place::Who;
use fusebox::config::policy::Policy;
use fusebox::config::read::{self, DocumentRead};
use fusebox::config::resolve::Trust;
use fusebox::config::setting::Document;
use fusebox::domain::limit_set::LimitSet;
use fusebox::domain::layer::Layer;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

/// What stands between the texts of two layers.
const NEXT_LAYER: u8 = 0;

/// The order in which layers get their texts: our own files first, the user's and the project's. A single text is in these two.
const ORDER: [usize; 8] = [1, 3, 5, 7, 0, 2, 4, 6];

fuzz_target!(|bytes: &[u8]| {
    let texts: Vec<_> = bytes.split(|byte| *byte == NEXT_LAYER).map(String::from_utf8_lossy).collect();
    let layers = || ORDER.iter().map(|place| &LAYER_FILES[*place]).zip(texts.iter().cycle()).take(texts.len().max(2));
    let readings: Vec<DocumentRead> = layers().filter_map(|(source, text)| reading(source, text)).collect();
    for (source, text) in layers() {
        if let Ok(Value::Object(entries)) = serde_json::from_str(text.trim_start_matches('\u{feff}')) {
            a_wrong_key_drops_itself_alone(source, &entries);
            keys_do_not_meddle(source, &entries);
        }
    }
    let docs: Vec<Document> = readings.into_iter().map(|reading| reading.document).collect();
    for trust in [Trust::Untrusted, Trust::Trusted] {
        resolves(&docs, trust);
    }
    a_repository_only_tightens(&docs);
});

fn reading(source: &LayerFile, text: &str) -> Option<DocumentRead> {
    let (one, other) = (read::text(source, "f.json", text), read::text(source, "f.json", text));
    assert_eq!(
        one.as_ref().map(|it| (&it.document, &it.problems)),
        other.as_ref().map(|it| (&it.document, &it.problems))
    );
    for problem in one.iter().flat_map(|reading| &reading.problems) {
        assert!(problem.to_string().contains("f.json") && !problem.what.is_empty(), "{problem}");
    }
    one
}

fn read_object(source: &LayerFile, entries: Map<String, Value>) -> DocumentRead {
    read::file(source.layer, "f.json", &Value::Object(entries))
}

fn a_wrong_key_drops_itself_alone(source: &LayerFile, entries: &Map<String, Value>) {
    const WRONG: &str = "no_such_key";
    let before = read_object(source, entries.clone());
    let mut more = entries.clone();
    if more.insert(WRONG.to_owned(), Value::from(1)).is_some() {
        return;
    }
    let after = read_object(source, more);
    assert_eq!(after.document, before.document);
    let new: Vec<&str> =
        after.problems.iter().skip(before.problems.len()).map(|problem| problem.key.as_str()).collect();
    assert_eq!(new, [WRONG]);
    if source.part == FilePart::Object {
        let file = Value::Object(Map::from_iter([(SETTINGS_KEY.to_owned(), Value::Object(entries.clone()))]));
        assert_eq!(reading(source, &file.to_string()).map(|reading| reading.document), Some(before.document));
    }
}

/// Each key at the top says what it says alone, unless an earlier one has said the same.
fn keys_do_not_meddle(source: &LayerFile, entries: &Map<String, Value>) {
    let whole = read_object(source, entries.clone());
    let alone = |(name, value): (&String, &Value)| {
        read_object(source, Map::from_iter([(name.clone(), value.clone())])).document.settings
    };
    let alone: Vec<_> = entries.iter().flat_map(alone).collect();
    assert!(whole.document.settings.iter().all(|setting| alone.contains(setting)));
    let repeats = whole.problems.iter().filter(|problem| problem.what.contains("says the same")).count();
    assert!(alone.len() <= whole.document.settings.len() + repeats);
}

fn resolves(docs: &[Document], trust: Trust) {
    let (pinned, problems) = Policy::of(docs.to_vec(), Vec::new(), trust);
    assert!(problems.iter().all(|problem| !problem.to_string().is_empty()));
    let stored = serde_json::to_string(&pinned).unwrap();
    let again: Policy = serde_json::from_str(&stored).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), stored, "pinned and read back");
    let everyone =
        [Who::Session, Who::Main, Who::User, Who::Project, Who::Agent("developer"), Who::Agent("unheard-of")];
    for who in everyone {
        assert_eq!(again.resolved(who).rules(), pinned.resolved(who).rules(), "{who:?}");
        let _shown = effective::set(&pinned, who);
    }
    let _shown = (effective::agent_types(&pinned), effective::set(&pinned, Who::Top));
    let _settings = (pinned.mode(), pinned.on_error(), pinned.time_zone(), pinned.discipline("developer"));
}

/// Without the user's trust, what a repository says makes no cap of the user's larger and takes none away.
fn a_repository_only_tightens(docs: &[Document]) {
    let is_repository = |doc: &&Document| matches!(doc.layer, Layer::Project | Layer::ProjectLocal);
    let owned: Vec<Document> = docs.iter().filter(|doc| !is_repository(doc)).cloned().collect();
    let pin = |docs: Vec<Document>| Policy::of(docs, Vec::new(), Trust::Untrusted).0;
    let (without, with) = (pin(owned), pin(docs.to_vec()));
    for of in [Policy::session, Policy::user, Policy::main, Policy::project] {
        assert_no_looser(&of(&without), &of(&with));
    }
    assert!(with.mode() == without.mode() || with.mode() == fusebox::domain::mode::Mode::Enforce);
}

fn assert_no_looser(without: &LimitSet, with: &LimitSet) {
    for rule in &without.limits {
        let name = rule.name();
        assert!(with.named(&name).is_some_and(|other| other.cap <= rule.cap), "{name} of {}: {with:?}", rule.cap);
    }
}
