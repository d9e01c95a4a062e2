//! Replays of all that the client has kept: without a path, in a period, in one sentence.

use std::fs;

use serde_json::Value;

use crate::replay::{copy, fixtures};
use crate::world::TestWorld;

/// Returns a world with three past sessions, two of which a strict policy stops.
fn world() -> TestWorld {
    let world = TestWorld::new();
    world.write("project/strict.json", r#"{"main":{"max_turns":1,"timeout_action":"terminate"}}"#);
    for name in ["cost-claude-opus-5-5", "loop-identical-failing-call", "subagent-foreground-parallel-calls"] {
        copy(&fixtures().join(name).join("transcripts"), &world.path(&format!("home/.claude/projects/-{name}")));
    }
    world
}

#[test]
fn without_a_path_all_past_sessions_are_played() {
    let world = world();
    let projects = world.path("home/.claude/projects").display().to_string();
    for more in [&[][..], &["--json"]] {
        let plain = world.run(&[&["replay", "--config", "strict.json"], more].concat()).ok();
        assert_eq!(plain, world.run(&[&["replay", &projects, "--config", "strict.json"], more].concat()).ok());
    }
}

#[test]
fn the_first_line_says_what_the_summary_does() {
    let world = world();
    let said = world.run(&["replay", "--config", "strict.json"]).ok();
    let json: Value = serde_json::from_str(&world.run(&["replay", "--config", "strict.json", "--json"]).ok()).unwrap();
    let (summary, sessions) = (&json["summary"], json["sessions"].as_array().unwrap());
    let saved: f64 = summary["saved"]["cost_usd"].as_str().unwrap().parse().unwrap();
    let tripped = ["tripped", "stopped"].map(Value::from);
    let moments = sessions.iter().flat_map(|session| session["timeline"].as_array().unwrap());
    let mut trips: Vec<String> = moments
        .filter(|moment| tripped.contains(&moment["what"]))
        .map(|moment| format!("{} {}", moment["run_id"], moment["limit"]))
        .collect();
    trips.sort();
    trips.dedup();
    assert_eq!(summary["trips"], trips.len());
    let first = said.lines().next().unwrap();
    let sentence = format!("On 2026-11-20 these limits would have tripped {} times and saved ", trips.len());
    let dollars = first.strip_prefix(&sentence).unwrap_or_else(|| panic!("{first}")).strip_suffix(" USD.").unwrap();
    assert!((dollars.parse::<f64>().unwrap() - saved).abs() < 0.0051, "{first}: {saved}");
    assert!(summary["began_at"].as_str().unwrap().starts_with("2026-11-20"), "{summary}");
}

/// Beside what a file comes to stands what the built-in defaults alone do with the same sessions.
#[test]
fn a_given_file_is_shown_beside_the_built_in_defaults() {
    let world = world();
    world.write("project/empty.json", "{}");
    let json = |file: &str| {
        let said = world.run(&["replay", "--json", "--config", file]).ok();
        serde_json::from_str::<Value>(&said).unwrap()
    };
    let [strict, empty] = ["strict.json", "empty.json"].map(json);
    assert_eq!(strict["defaults"], empty["summary"]);
    assert_ne!(strict["defaults"], strict["summary"]);
    assert_eq!(empty["defaults"], empty["summary"]);
    let of_config: Value = serde_json::from_str(&world.run(&["replay", "--json"]).ok()).unwrap();
    assert!(of_config["defaults"].is_null() && of_config["summary"].is_object(), "{of_config}");
    let text = |file: &str| world.run(&["replay", "--config", file]).ok();
    let (_, beside) = text("strict.json").split_once("beside the built-in defaults\n").map(owned).unwrap();
    for (name, summary) in [("this file", &strict["summary"]), ("defaults", &strict["defaults"])] {
        let line = beside.lines().find_map(|line| line.trim_start().strip_prefix(name)).unwrap();
        let (trips, runs) = (summary["trips"].as_u64().unwrap(), summary["runs_stopped"].as_u64().unwrap());
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let expected = format!("{trips} trip{}, {runs} run{} stopped", plural(trips), plural(runs));
        assert!(line.trim_start().starts_with(&expected), "{expected}: {beside}");
    }
    assert!(text("empty.json").ends_with("the built-in defaults alone come to the same\n"), "{}", text("empty.json"));
}

fn owned((before, after): (&str, &str)) -> (String, String) {
    (before.to_owned(), after.to_owned())
}

#[test]
fn a_period_leaves_out_what_was_before_and_after() {
    let world = world();
    for (period, sessions) in [
        (&["--since", "2026-11-20"][..], 3),
        (&["--since", "all", "--until", "2026-11-20"], 3),
        (&["--since", "2026-11-21"], 0),
        (&["--until", "2026-11-19"], 0),
    ] {
        let printed = world.run(&[&["replay", "--json"], period].concat());
        match sessions {
            0 => assert!(printed.stderr.contains("no session with any work was found"), "{printed}"),
            _ => {
                let json: Value = serde_json::from_str(&printed.stdout).unwrap();
                assert_eq!(json["summary"]["sessions"], sessions, "{period:?}");
            }
        }
    }
}

/// What cannot be read is left out of the figures, so it is said: of a session, of a subagent, and of the only one that was asked for.
#[cfg(unix)]
#[test]
fn a_transcript_that_cannot_be_read_is_named() {
    let world = world();
    let files = world.files("home/.claude/projects");
    let with = |part: &str| {
        let mut transcripts = files.lines().filter(|file| file.ends_with(".jsonl"));
        world.path(transcripts.find(|file| file.contains(part)).unwrap())
    };
    let (of_subagent, main) = (with("/subagents/agent-"), with("-loop-identical-failing-call/"));
    for path in [&of_subagent, &main] {
        fs::remove_file(path).unwrap();
        std::os::unix::fs::symlink(path, path).unwrap();
    }
    for command in [&["replay", "--config", "strict.json"][..], &["suggest"]] {
        let said = world.run(command);
        for path in [&of_subagent, &main] {
            assert!(
                said.stderr.contains(&*path.file_name().unwrap().to_string_lossy()),
                "{command:?}: {}",
                said.stderr
            );
        }
    }
    let json = world.run(&["replay", "--config", "strict.json", "--json"]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["summary"]["remarks"].as_array().unwrap().len(), 2, "{json}");
    let alone = world.run(&["replay", &main.display().to_string()]);
    assert_eq!(alone.code, 1, "{}", alone.stdout);
    assert!(alone.stderr.contains("cannot read"), "{}", alone.stderr);
}

/// Limits that a repository only observes are what somebody wants to try.
#[test]
fn what_is_only_observed_is_played_like_all_else() {
    let world = world();
    let limits = fs::read_to_string(world.path("project/strict.json")).unwrap();
    let stopped = |mode: &str| {
        let file = limits.replacen('{', &format!("{{\"mode\": \"{mode}\", "), 1);
        world.write("project/.claude/fusebox.json", file);
        let outcome = world.run(&["replay", "--json"]);
        (serde_json::from_str::<Value>(&outcome.stdout).unwrap()["summary"].clone(), outcome.stderr)
    };
    let ((enforced, plain), (observed, noted)) = (stopped("enforce"), stopped("observe"));
    assert!(enforced["trips"].as_u64().unwrap() > 0, "{enforced}");
    assert_eq!(enforced, observed);
    assert!(!plain.contains("only observed") && noted.contains("only observed"), "{plain}{noted}");
}
