//! The figures in the line.

use serde_json::{Value, json};

use crate::statusline::{Client, ONE};

#[test]
fn the_line_shows_tokens_where_a_plan_pays() {
    for (policy, used) in [
        (json!({"billing": "plan"}), "session 1030/3.00M tokens"),
        (json!({"billing": "plan", "session": {"max_tokens": 1_000_000}}), "session 1030/1.00M tokens"),
        (json!({"billing": "plan", "session": {"max_tokens": null}}), "session 1030 tokens"),
        (json!({}), "session 0.0058/25.00 USD"),
    ] {
        let client = Client::with(&policy);
        client.batch("m1");
        let line = client.line(0.0, &json!({}));
        assert!(line.contains(used), "{policy}: {line}");
    }
}

/// The client writes a turn's last response after its last event.
#[test]
fn at_rest_the_line_has_what_the_report_has() {
    let client = Client::with(&json!({}));
    client.batch("m1");
    client.event("Stop", &json!({}));
    let told = || client.line(0.0, &json!({})).trim().to_owned();
    let before = told();
    client.response("m2");
    assert_eq!(client.session().counters.spent.cost, ONE);
    let line = told();
    assert_ne!(line, before);
    let report: Value = serde_json::from_str(&client.world.run(&["report", "--json"]).ok()).unwrap();
    let cost: f64 = report["sessions"][0]["cost_usd"].as_str().unwrap().parse().unwrap();
    assert!(line.starts_with(&format!("session {cost:.4}/")), "{cost}: {line}");
    assert_eq!(client.session().counters.spent.cost.0, 2 * ONE.0);
}
