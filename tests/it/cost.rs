//! What recorded sessions cost: the transcripts' sum against the client's own total.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fusebox::engine::amount::Amount;
use fusebox::pricing::price::price;
use fusebox::pricing::table::Table;
use fusebox::transcript::layout::agent_files;
use fusebox::transcript::tail::{Chunk, read_from};
use serde::Deserialize;

/// The model that the recordings' client had as its default: it stands in for ids without a price.
const DEFAULT_MODEL: &str = "claude-opus-5-5";

#[derive(Deserialize)]
struct ClientResult {
    total_cost_usd: f64,
    #[serde(rename = "modelUsage")]
    models: BTreeMap<String, ModelUsage>,
}

#[derive(Deserialize)]
struct ModelUsage {
    #[serde(rename = "costUSD")]
    cost: f64,
}

fn recordings() -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Returns a session's main transcript and those of its subagents.
fn transcripts(recording: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(recording.join("transcripts")).unwrap();
    let main =
        entries.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some_and(|kind| kind == "jsonl"));
    let main = main.unwrap();
    let agents = agent_files(&main).into_iter().map(|(_, path)| path);
    [main.clone()].into_iter().chain(agents).collect()
}

fn micro(usd: f64) -> i64 {
    (usd * 1e6).round() as i64
}

#[test]
fn every_recording_costs_what_the_client_says_by_model_too() {
    let table = Table::embedded();
    assert_eq!(recordings().len(), 17);
    for recording in recordings() {
        let client: ClientResult =
            serde_json::from_slice(&fs::read(recording.join("client-result.json")).unwrap()).unwrap();
        let mut seen = BTreeSet::new();
        let mut models: BTreeMap<String, Amount> = BTreeMap::new();
        let mut client_cost = None;
        for path in transcripts(&recording) {
            let Chunk { responses, client_cost: found, suspicious, .. } = read_from(&path, 0, None).unwrap();
            assert_eq!(suspicious, Vec::<String>::new(), "{}", path.display());
            client_cost = client_cost.or(found);
            for response in responses.into_iter().filter(|response| seen.insert(response.id.clone())) {
                let priced = price(&table, &response.model, response.at_ms, &response.usage, Some(DEFAULT_MODEL));
                assert_eq!(priced.known, response.model != "claude-never-heard-of-9");
                *models.entry(response.model).or_default() += priced.cost;
            }
        }
        let ours: BTreeMap<&str, i64> =
            models.iter().map(|(model, cost)| (model.as_str(), micro(cost.usd()))).collect();
        let theirs = client.models.iter().map(|(model, usage)| (model.as_str(), micro(usage.cost))).collect();
        assert_eq!(ours, theirs, "{}", recording.display());
        let total: Amount = models.into_values().sum();
        assert_eq!(micro(total.usd()), micro(client.total_cost_usd), "{}", recording.display());
        assert_eq!(client_cost.map(|cost| micro(cost.usd())), Some(micro(client.total_cost_usd)));
    }
}
