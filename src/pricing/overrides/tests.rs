//! A person's own prices: what is read, and what is wrong with the rest.

use crate::pricing::overrides::*;
use crate::pricing::table::Table;

const FIVE: &str = r#""input":1,"output":2,"write_5m":3,"write_1h":4,"cache_read":0.5"#;

/// Reads one row of a model `m` with the five prices and `more`, and returns what is wrong with it.
fn problems(more: &str) -> String {
    let found = read(&format!(r#"{{"rows":[{{"model":"m",{FIVE}{more}}}]}}"#));
    assert_eq!(found.rows.len(), usize::from(found.problems.is_empty()));
    found.problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_wrong_field_is_named_with_its_row_and_what_to_write() {
    let price = "must be a price in USD per million tokens, from 0 to 100000, no finer than 0.000001";
    for (more, problem) in [
        // right
        ("", String::new()),
        (r#","from":null,"fast":null,"long_prompt":null,"source":"a bill""#, String::new()),
        (r#","from":"2027-01-31","web_search":0,"us_multiplier":1.25"#, String::new()),
        // the prices
        (
            r#","fast":{"input":1}"#,
            ["output", "write_5m", "write_1h", "cache_read"]
                .map(|name| format!("row 1 (`m`): `fast.{name}` is missing: it {price}"))
                .join("; "),
        ),
        (&format!(r#","fast":{{{FIVE},"input":-1}}"#), format!("row 1 (`m`): `fast.input` {price}")),
        (&format!(r#","fast":{{{FIVE},"input":"1"}}"#), format!("row 1 (`m`): `fast.input` {price}")),
        (&format!(r#","fast":{{{FIVE},"input":1e-7}}"#), format!("row 1 (`m`): `fast.input` {price}")),
        (&format!(r#","fast":{{{FIVE},"input":1e300}}"#), format!("row 1 (`m`): `fast.input` {price}")),
        (r#","fast":2"#, "row 1 (`m`): `fast` must be an object of prices, or left out".into()),
        // the others
        (
            &format!(r#","long_prompt":{{{FIVE}}}"#),
            "row 1 (`m`): `long_prompt.over` must be a number of prompt tokens, such as 200000".into(),
        ),
        (r#","from":"soon""#, "row 1 (`m`): `from` must be a day, such as \"2027-01-31\", or left out".into()),
        (r#","web_search":-1"#, "row 1 (`m`): `web_search` must be a price in USD per search, from 0 to 1000".into()),
        (
            r#","us_multiplier":0.5"#,
            "row 1 (`m`): `us_multiplier` must be a factor from 1 to 10, no finer than 0.01".into(),
        ),
        (
            r#","cache_reed":1"#,
            "row 1 (`m`): `cache_reed` is no field: there are input, output, write_5m, write_1h, \
            cache_read, model, from, fast, long_prompt, web_search, us_multiplier, source"
                .into(),
        ),
    ] {
        assert_eq!(problems(more), problem, "{more}");
    }
}

#[test]
fn a_file_of_another_shape_is_refused() {
    for (json, problem) in [
        ("", "the file is no JSON: it ends where a value has to stand at line 1 column 0"),
        ("[]", "the file has no list `rows`: write {\"rows\": [{\"model\": …}]}"),
        (r#"{"rows":{}}"#, "the file has no list `rows`: write {\"rows\": [{\"model\": …}]}"),
        (r#"{"rows":[7]}"#, "row 1: is no object: write {\"model\": …}"),
        (r#"{"rows":[{}]}"#, "row 1: `model` must be a model's id, such as \"claude-opus-5-5\""),
        (r#"{"rows":[],"row":[]}"#, "the file: `row` is no field: there are $schema, version, unit, rows"),
    ] {
        let error = read(json).error().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(problem), "{json}");
    }
    let deep = "[".repeat(100_000);
    assert!(read(&deep).error().is_some());
}

#[test]
fn a_bad_row_does_not_take_the_good_ones_along() {
    let found = read(&format!(r#"{{"rows":[{{"model":"bad"}},{{"model":"good",{FIVE}}}]}}"#));
    assert_eq!((found.rows.len(), found.problems.len()), (1, 5));
    let table = Table::embedded().with_rows(found.rows);
    assert_eq!(table.find("good", 0).map(|price| price.standard.cache_read), Some(500_000));
}
