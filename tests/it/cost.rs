//! What recorded sessions cost: the transcripts' sum against the client's own total. And the price table as people see it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fusebox::domain::spend::amount::Amount;
use fusebox::install::client_versions::{self, TRIED};
use fusebox::pricing::price::price;
use fusebox::pricing::show;
use fusebox::pricing::table::{SOURCE, Table};
use fusebox::transcript::cursor::{Chunk, read_from};
use fusebox::transcript::layout::agent_files;
use insta::assert_snapshot;
use serde::Deserialize;

use crate::world::{TestWorld, check_current};

/// Five prices, as a pricing file has them.
const FIVE: &str = r#""input":3,"output":15,"write_5m":3.75,"write_1h":6,"cache_read":0.15"#;

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

#[test]
fn every_row_of_the_table_is_shown_on_eighty_columns() {
    let shown = TestWorld::new().run(&["pricing", "show"]).ok();
    assert_eq!(shown.lines().filter(|line| line.chars().count() > 80).collect::<Vec<_>>(), Vec::<&str>::new());
    for (model, price) in Table::embedded().in_force() {
        let row = shown.lines().find(|line| line.starts_with(&format!("{model} "))).unwrap();
        assert!(row.ends_with(price.source), "{row}");
    }
}

#[test]
fn one_model_is_shown_by_any_form_of_its_id() {
    let world = TestWorld::new();
    assert_snapshot!(world.run(&["pricing", "show", "us.anthropic.claude-haiku-5-5-v1:0"]), @r"
    MODEL             FROM     IN  OUT     5M   1H  READ  SOURCE
    claude-haiku-5-5  always  0.1  0.5  0.125  0.2  0.01  2.1.328, 2026-11-20
      prompts > 100k          0.5  2.5  0.625    1  0.05

    USD per million tokens. 5M and 1H: tokens written to the cache for five minutes
    and for an hour; READ: tokens read from it. A web search is 0.01 USD. Inference
    bound to the US costs 1.1 times. Sources: the table inside that version of the
    client, as read on that day; `yours`: your own pricing file, whose prices count
    no lower than these where caps on cost hold that are not your own.
    [exit 0]
    ");
    assert_snapshot!(world.run(&["pricing", "show", "--json", "claude-opus-5-5[1m]"]), @r#"
    {
      "version": 1,
      "unit": "USD per million tokens",
      "rows": [
        {
          "model": "claude-opus-5-5",
          "from": null,
          "input": 4.0,
          "output": 20.0,
          "write_5m": 5.0,
          "write_1h": 8.0,
          "cache_read": 0.2,
          "fast": {
            "input": 8.0,
            "output": 40.0,
            "write_5m": 10.0,
            "write_1h": 16.0,
            "cache_read": 0.4
          },
          "web_search": 0.01,
          "us_multiplier": 1.1,
          "source": "2.1.328, 2026-11-20"
        }
      ]
    }
    [exit 0]
    "#);
    assert_snapshot!(world.run(&["pricing", "show", "opus"]), @r"
    [stderr]
    error: there is no price for `opus`: it is charged as the session's main model, or else 5 in and 25 out
      hint: add a row for it to `[ROOT]/home/.claude/fusebox.pricing.json`, then run `fusebox pricing check`
    [exit 1]
    ");
}

#[test]
fn a_pricing_file_is_checked_and_in_force() {
    let world = TestWorld::new();
    assert_snapshot!(world.run(&["pricing", "check"]), @r"
    `[ROOT]/home/.claude/fusebox.pricing.json` is not there: the embedded prices are in force
    [exit 0]
    ");
    assert_snapshot!(world.run(&["pricing", "check", "missing.json"]), @r"
    [stderr]
    error: cannot read `missing.json`: No such file or directory (os error 2)
    [exit 1]
    ");

    let good = format!(r#"{{"model":"claude-opus-5-5","from":"2027-01-01",{FIVE}}}"#);
    world.write("home/.claude/fusebox.pricing.json", format!(r#"{{"rows":[{good}]}}"#));
    assert_snapshot!(world.run(&["pricing", "check"]), @r"
    `[ROOT]/home/.claude/fusebox.pricing.json` is right: 1 row
    [exit 0]
    ");
    assert_snapshot!(world.run(&["pricing", "show", "claude-opus-5-5"]), @r"
    MODEL            FROM        IN  OUT    5M  1H  READ  SOURCE
    claude-opus-5-5  always       4   20     5   8   0.2  2.1.328, 2026-11-20
      fast mode                   8   40    10  16   0.4
    claude-opus-5-5  2027-01-01   3   15  3.75   6  0.15  yours

    USD per million tokens. 5M and 1H: tokens written to the cache for five minutes
    and for an hour; READ: tokens read from it. A web search is 0.01 USD. Inference
    bound to the US costs 1.1 times. Sources: the table inside that version of the
    client, as read on that day; `yours`: your own pricing file, whose prices count
    no lower than these where caps on cost hold that are not your own.
    [exit 0]
    ");
}

#[test]
fn a_mistake_in_a_pricing_file_is_named_and_the_other_rows_hold() {
    let world = TestWorld::new();
    let good = format!(r#"{{"model":"claude-opus-5-5","from":"2027-01-01",{FIVE}}}"#);
    let bad = r#"{"model":"claude-haiku-5-5","input":"free","output":-1,"cached":2}"#;
    world.write("home/.claude/fusebox.pricing.json", format!(r#"{{"rows":[{bad},{good}]}}"#));
    assert_snapshot!(world.run(&["pricing", "check"]), @r"
    [stderr]
    error: `[ROOT]/home/.claude/fusebox.pricing.json` has 6 problems:
      row 1 (`claude-haiku-5-5`): `cached` is no field: there are input, output, write_5m, write_1h, cache_read, model, from, fast, long_prompt, web_search, us_multiplier, source
      row 1 (`claude-haiku-5-5`): `input` must be a price in USD per million tokens, from 0 to 100000, no finer than 0.000001
      row 1 (`claude-haiku-5-5`): `output` must be a price in USD per million tokens, from 0 to 100000, no finer than 0.000001
      row 1 (`claude-haiku-5-5`): `write_5m` is missing: it must be a price in USD per million tokens, from 0 to 100000, no finer than 0.000001
      row 1 (`claude-haiku-5-5`): `write_1h` is missing: it must be a price in USD per million tokens, from 0 to 100000, no finer than 0.000001
      row 1 (`claude-haiku-5-5`): `cache_read` is missing: it must be a price in USD per million tokens, from 0 to 100000, no finer than 0.000001
      hint: rows with a problem are left out (1 other row in force); `fusebox pricing show --json` prints rows in the right form
    [exit 1]
    ");
    assert_snapshot!(world.run(&["pricing", "show", "claude-opus-5-5"]), @r"
    MODEL            FROM        IN  OUT    5M  1H  READ  SOURCE
    claude-opus-5-5  always       4   20     5   8   0.2  2.1.328, 2026-11-20
      fast mode                   8   40    10  16   0.4
    claude-opus-5-5  2027-01-01   3   15  3.75   6  0.15  yours

    USD per million tokens. 5M and 1H: tokens written to the cache for five minutes
    and for an hour; READ: tokens read from it. A web search is 0.01 USD. Inference
    bound to the US costs 1.1 times. Sources: the table inside that version of the
    client, as read on that day; `yours`: your own pricing file, whose prices count
    no lower than these where caps on cost hold that are not your own.
    [stderr]
    error: `[ROOT]/home/.claude/fusebox.pricing.json`: row 1 (`claude-haiku-5-5`): `cached` is no field: there are input, output, write_5m, write_1h, cache_read, model, from, fast, long_prompt, web_search, us_multiplier, source; and 5 more
      hint: `fusebox pricing check` shows what to write instead; rows with a problem are left out meanwhile
    [exit 1]
    ");
}

#[test]
fn the_prices_are_from_a_client_that_was_tried() {
    let version = client_versions::version(SOURCE).unwrap();
    assert!(TRIED.contains(&version), "{SOURCE}");
}

#[test]
fn the_pricing_page_has_the_table_and_an_example_that_works() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pricing.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("pricing_page -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    let heads = "| model | from | input | output | 5-minute write | 1-hour write | cache read | source |";
    let rows = show::cells(&Table::embedded().in_force());
    let rows: String = rows
        .into_iter()
        .map(|cells| format!("| {} |\n", cells.each_ref().map(|cell| cell.trim()).join(" | ")))
        .collect();
    let newest = client_versions::show(TRIED[TRIED.len() - 1]);
    let billed =
        format!("Client {newest} bills the same: `cargo test --test client every_model_costs_what_the_client_bills`.");
    let table = format!("{billed}\n\n{heads}\n|---|---|--:|--:|--:|--:|--:|---|\n{rows}");
    let current = format!("{before}pricing_page -->\n{table}<!-- end -->{after}");
    check_current("docs/pricing.md", &current);

    let (_, rest) = page.split_once("```json\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let world = TestWorld::new();
    world.write("project/example.json", example);
    assert_eq!(world.run(&["pricing", "check", "example.json"]).ok(), "`example.json` is right: 2 rows\n");
}
