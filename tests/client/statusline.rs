//! The line below the prompt, in a real terminal: what it shows, and what the client's own figures come to.

use serde_json::json;

use crate::lab::Lab;
use crate::script::{Step, bash, call, main, say, work};
use crate::terminal::Terminal;

/// What each of a turn's three requests costs in dollars: a call, the answer, and one past the transcript.
const ASIDE: f64 = 0.00584;

/// Turns of one call each, until prompts end.
fn turns(number: usize) -> Vec<Step> {
    (0..number).flat_map(|_| [call([work()]), say("main finished")]).collect()
}

/// What the session has cost as counted, and by the client's own total.
fn costs(lab: &Lab) -> (f64, f64) {
    let session = &lab.status()["sessions"][0];
    let usd = |key: &str| session[key].as_str().and_then(|usd| usd.parse().ok()).unwrap_or_default();
    (usd("cost_usd"), usd("client_cost_usd"))
}

#[test]
fn the_client_shows_what_is_used_and_its_own_total_is_counted() {
    let lab = Lab::new(json!({"session": {"max_cost_usd": 2}, "main": {"max_turns": 5}}), vec![main(turns(3))]);
    lab.must(&["init", "--statusline"]);
    // The client sums up each batch, by a request that no transcript shows.
    let terminal = Terminal::open_below(&lab, &["CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES=1".to_owned()], &[]);
    for (turn, prompt) in ["start", "go on", "and on"].into_iter().enumerate() {
        terminal.types(prompt);
        terminal.meets("Stop", turn + 1);
        // What it asked in this turn is charged with the next prompt, and of the turns before nothing is left, nor counted twice.
        let asked = 3.0 * (turn + 1) as f64 * ASIDE;
        let is_told = || {
            let (counted, total) = costs(&lab);
            lab.api.asides().len() == turn + 1 && (total - asked).abs() < 1e-6 && (total - counted - ASIDE).abs() < 1e-6
        };
        lab.until("the client's total beyond what was counted", is_told);
        terminal.sees("/2.00 USD");
    }
    terminal.sees("session 0.");
}

/// The client is told to keep its settings as they were, and so goes on with the status line that a limit hears the plan's windows by.
#[test]
fn a_status_line_that_a_limit_hears_by_stays_when_an_agent_replaces_it() {
    let replace = r#"python3 -c 'import json; p = ".claude/settings.local.json"; s = json.load(open(p)); s["statusLine"]["command"] = "echo other line"; json.dump(s, open(p, "w"))'"#;
    let steps = [call([bash(replace)]), call([bash("sleep 4")]), say("replaced"), call([work()]), say("gone on")];
    let lab = Lab::new(json!({}), vec![main(steps)]);
    lab.write_home(".claude/fusebox.json", &json!({"user": {"max_seven_day_percent": 90}}).to_string());
    lab.must(&["init", "--statusline"]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.meets("ConfigChange", 1);
    terminal.sees("status line away");
    terminal.types("go on");
    terminal.meets("Stop", 2);
    terminal.sees("session 0.");
    assert!(!terminal.screen().contains("other line"), "{}", terminal.screen());
}

#[test]
fn the_line_says_that_a_prompt_was_kept_back() {
    // A response may be on disk one call late.
    let calls: Vec<Step> = (0..9).map(|_| call([work()])).collect();
    let lab = Lab::new(json!({}), vec![main(calls)]);
    lab.write_home(".claude/fusebox.json", &json!({"user": {"max_cost_usd_per_day": 0.001}}).to_string());
    lab.must(&["init", "--statusline"]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.sees("max_cost_usd_per_day");
    terminal.types("go on");
    terminal.sees("operation blocked");
    terminal.sees("prompt blocked: `fusebox explain ");
}
