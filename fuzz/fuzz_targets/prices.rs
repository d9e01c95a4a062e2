//! A pricing file of any text: a wrong row drops itself alone, a right one is written and read back as it was, and no response is
//! cheaper for using more.

#![no_main]

use fusebox::pricing::overrides::{self, Overrides};
use fusebox::pricing::price::price;
use fusebox::pricing::show;
use fusebox::pricing::table::Table;
use fusebox::pricing::usage::TokenUsage;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let found = overrides::read(&text);
    let again = overrides::read(&text);
    assert_eq!((&found.rows, &found.problems), (&again.rows, &again.problems), "read twice");
    assert_eq!(found.error().is_none(), found.problems.is_empty());
    a_wrong_row_drops_itself_alone(&text, &found);
    let rows: Vec<_> = found.rows.iter().map(|(model, price)| (model.as_str(), price)).collect();
    let written = overrides::read(&show::json(&rows));
    assert_eq!((&written.rows, written.problems.len()), (&found.rows, 0), "written and read back");
    let models: Vec<String> = found.rows.iter().map(|(model, _)| model.clone()).collect();
    more_never_costs_less(&Table::embedded().with_rows(found.rows), &models);
});

fn a_wrong_row_drops_itself_alone(text: &str, found: &Overrides) {
    let Ok(mut file) = serde_json::from_str::<Value>(text) else { return };
    let Some(rows) = file.get_mut("rows").and_then(Value::as_array_mut) else { return };
    rows.push(json!({ "model": "wrong", "input": -1 }));
    let more = overrides::read(&file.to_string());
    assert_eq!(more.rows, found.rows);
    assert!(more.problems.len() > found.problems.len());
}

fn more_never_costs_less(table: &Table, models: &[String]) {
    let usage = |input, output| TokenUsage { input, output, fast: true, us: true, ..TokenUsage::default() };
    for model in models.iter().map(String::as_str).chain(["unheard-of"]) {
        for at_ms in [0, i64::MAX] {
            let cost = |input, output| price(table, model, at_ms, &usage(input, output), None).cost;
            assert!(cost(1_000, 10) <= cost(1_000, 20) && cost(0, u64::MAX) >= cost(0, 1), "{model}");
        }
    }
}
