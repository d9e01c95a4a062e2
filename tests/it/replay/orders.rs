//! What a replay sums over a folder does not depend on how its sessions are called, and so on the order in which they are read.

use serde_json::{Value, json};

use crate::world::{TestWorld, in_long_form, with};

/// A transcript: its rows, a line each.
type Rows = Vec<Value>;

/// A row of a session's, so many seconds after ten o'clock.
fn row(session: &str, second: usize, fields: &Value) -> Value {
    let time = format!("2026-11-20T10:{:02}:{:02}.000Z", second / 60, second % 60);
    with(json!({"sessionId": session, "timestamp": time, "uuid": format!("{session}-{second}")}), fields)
}

/// What a session does from a second on: a prompt, and so many responses with a failing call each.
fn work(session: &str, from: usize, responses: usize) -> Rows {
    let prompt = json!({"type": "user", "promptId": format!("p-{session}-{from}"), "message": {"content": "go on"}});
    let mut rows = vec![row(session, from, &prompt)];
    for second in (from + 1..).step_by(2).take(responses) {
        let (message, call) = (format!("m-{session}-{second}"), format!("t-{session}-{second}"));
        let content = json!([{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "make"}}]);
        let usage = json!({"input_tokens": 100_000 + second, "output_tokens": 1_000});
        let answer = json!({"id": message, "model": "claude-opus-5-5", "content": content, "usage": usage});
        rows.push(row(session, second, &json!({"type": "assistant", "message": answer})));
        let result = json!([{"type": "tool_result", "tool_use_id": call, "is_error": true, "content": "no"}]);
        rows.push(row(session, second + 1, &json!({"type": "user", "message": {"content": result}})));
    }
    rows
}

/// Copies rows into a fork, which names the session that was billed, as newer clients do, or not.
fn copied(rows: &[Value], fork: &str, is_marked: bool) -> Rows {
    let copy = |row: &Value| {
        let mut copy = row.clone();
        let origin = std::mem::replace(&mut copy["sessionId"], json!(fork));
        if is_marked && copy.get("requestSessionId").is_none() && copy["type"] == "assistant" {
            copy["requestSessionId"] = origin;
        }
        copy
    };
    rows.iter().map(copy).collect()
}

/// A session, a fork of it, a fork of the fork, one that does not say what it has copied, one that stands by itself, and one that
/// lies there twice, once cut short.
fn family() -> Vec<Rows> {
    let original = work("aaaa", 0, 6);
    let fork = [copied(&original[..9], "bbbb", true), work("bbbb", 100, 3)].concat();
    let again = [copied(&fork, "cccc", true), work("cccc", 200, 4)].concat();
    let silent = [copied(&original[..5], "dddd", false), work("dddd", 300, 5)].concat();
    let alone = work("eeee", 400, 7);
    let cut = alone[..7].to_vec();
    vec![original, fork, again, silent, alone, cut]
}

/// Returns every order of so many things.
fn orders(of: usize) -> Vec<Vec<usize>> {
    let Some(fewer) = of.checked_sub(1) else { return vec![Vec::new()] };
    let put = |order: Vec<usize>| (0..=fewer).map(move |at| [&order[..at], &[fewer], &order[at..]].concat());
    orders(fewer).into_iter().flat_map(put).collect()
}

/// Replays sessions under names that sort as an order has it; returns the sums.
fn summed(sessions: &[Rows], order: &[usize], policy: &Value) -> Value {
    let world = TestWorld::new();
    world.write("policy.json", policy.to_string());
    for (session, place) in sessions.iter().zip(order) {
        let text: String = session.iter().map(|row| format!("{row}\n")).collect();
        world.write(&format!("past/{place}.jsonl"), text);
    }
    let [policy, past] = ["policy.json", "past"].map(|place| world.path(place).display().to_string());
    let told = world.run(&["replay", "--json", "--config", &policy, &past]).ok();
    serde_json::from_str::<Value>(&told).unwrap()["summary"].clone()
}

#[test]
fn sums_do_not_depend_on_the_names_of_what_is_summed() {
    let sessions = family();
    let every = if in_long_form() { 1 } else { 29 };
    for policy in [
        json!({"main": {"loop_detection": false}}),
        json!({"main": {"max_turns": 2}}),
        json!({"main": {"max_cost_usd": 1.5}, "session": {"max_cost_usd": 3, "timeout_action": "terminate"}}),
    ] {
        let first = summed(&sessions, &[0, 1, 2, 3, 4, 5], &policy);
        for order in orders(sessions.len()).into_iter().step_by(every) {
            assert_eq!(summed(&sessions, &order, &policy), first, "{order:?} under {policy}");
        }
    }
}

#[test]
fn each_response_is_summed_once_and_by_the_session_that_was_billed() {
    let policy = json!({"main": {"loop_detection": false}});
    let all = |sessions: &[Rows]| summed(sessions, &(0..sessions.len()).collect::<Vec<_>>(), &policy);
    let sessions = family();
    // 6 of the original, 3, 4, 5 and 7: copies and what lies there twice are no more.
    assert_eq!(all(&sessions)["recorded"]["requests"], 25);
    assert_eq!(all(&sessions[1..2])["recorded"]["requests"], 3, "what a fork says it has copied is another's");
    assert_eq!(all(&sessions[3..4])["recorded"]["requests"], 7, "what it does not is its own while nobody else has it");
}
