//! A repository's files speak for every client that is started in it: at its root, in a folder below, in a worktree.

use serde_json::{Value, json};

use crate::world::TestWorld;

/// Where clients are started, of a repository at `project` whose worktree is `tree`.
const PLACES: [&str; 5] = ["project", "project/sub", "project/sub/deep/er", "tree", "tree/sub"];

/// A repository with a worktree beside it.
fn repository() -> TestWorld {
    let world = TestWorld::new();
    world.lay_worktree("project", "tree");
    PLACES.iter().for_each(|place| world.write(&format!("{place}/README"), ""));
    world
}

/// Returns how many of the calls of a client started at a place are let through.
fn let_through(world: &TestWorld, place: &str, session: &str) -> usize {
    let told = |name: &str, rest: &Value| {
        let mut event = world.event(session, &format!("p-{session}"), name, rest);
        event["cwd"] = json!(world.path(place));
        let project = world.path(place).to_string_lossy().into_owned();
        world.command(&["hook"]).env("CLAUDE_PROJECT_DIR", &project).stdin(event).run().ok()
    };
    told("SessionStart", &json!({"source": "startup"}));
    let calls = (0..9).map(
        |at| json!({"tool_name": "Read", "tool_input": {"file_path": "/x"}, "tool_use_id": format!("{session}-{at}")}),
    );
    calls.take_while(|call| !told("PreToolUse", call).contains("deny")).count()
}

fn turns(cap: u32) -> String {
    json!({"session": {"max_turns": cap, "grace_turns": 0}}).to_string()
}

#[test]
fn the_policy_of_the_root_binds_in_every_folder() {
    for (at, file) in ["fusebox.json", "fusebox.local.json", "settings.json", "settings.local.json"].iter().enumerate()
    {
        let world = repository();
        let text = if file.starts_with("fusebox") { turns(3) } else { format!("{{\"fusebox\": {}}}", turns(3)) };
        world.write(&format!("project/.claude/{file}"), text);
        for place in PLACES {
            assert_eq!(let_through(&world, place, &format!("s{at}")), 3, "{file} for {place}");
            let said = world.command(&["config", "show"]).folder(place).env("COLUMNS", "200").run().ok();
            assert!(said.contains("max_turns"), "{place}: {said}");
            let _pruned = std::fs::remove_dir_all(world.path("state"));
        }
    }
}

#[test]
fn a_nearer_file_stands_over_one_above_it_key_by_key() {
    for (nearer, expected) in [(turns(2), 2), ("{}".to_owned(), 4), (json!({"main": {}}).to_string(), 4)] {
        let world = repository();
        world.write("project/.claude/fusebox.json", turns(4));
        world.write("project/sub/.claude/fusebox.json", &nearer);
        assert_eq!(let_through(&world, "project/sub/deep/er", "s"), expected, "{nearer}");
        assert_eq!(let_through(&world, "project", "t"), 4, "{nearer}");
    }
}

#[test]
fn a_folder_outside_of_a_repository_speaks_for_itself() {
    let world = TestWorld::new();
    world.write("project/.claude/fusebox.json", turns(3));
    world.write("project/sub/README", "");
    assert_eq!((let_through(&world, "project", "s"), let_through(&world, "project/sub", "t")), (3, 9));
}

#[test]
fn thousands_of_folders_above_are_answered_in_bounds() {
    let world = repository();
    world.write("project/.claude/fusebox.json", turns(3));
    let deep = format!("project/{}", "d/".repeat(1_000));
    world.write(&format!("{deep}README"), "");
    assert_eq!(let_through(&world, deep.trim_end_matches('/'), "s"), 3);
}

#[test]
fn the_log_stands_beside_the_policy() {
    let world = repository();
    world.write("project/.claude/fusebox.json", turns(2));
    let _calls = let_through(&world, "project/sub", "s");
    assert!(world.read("project/.claude/logs/execution-limits.log").is_some(), "{}", world.files("project"));
}

#[test]
fn a_repository_that_its_user_refuses_is_refused_in_every_folder_of_it() {
    let world = repository();
    world.write("project/.claude/fusebox.json", turns(3));
    let refused = json!({"refuse_repositories": [world.path("project")]});
    world.write("home/.claude/fusebox.json", refused.to_string());
    let through: Vec<usize> =
        PLACES.iter().enumerate().map(|(at, place)| let_through(&world, place, &format!("s{at}"))).collect();
    assert_eq!(through, [9; PLACES.len()]);
}

/// Who follows an advice in a folder below registers where it holds for all of the repository.
#[test]
fn every_line_gives_the_same_advice_where_nothing_is_registered() {
    let world = TestWorld::with_git();
    std::fs::create_dir_all(world.path("project/src")).unwrap();
    let said = world.command(&["doctor"]).folder("project/src").run().stdout;
    let advice: Vec<&str> = said.lines().filter_map(|line| line.trim_start().strip_prefix("-> ")).collect();
    let init: Vec<&&str> = advice.iter().filter(|advice| advice.contains("fusebox init")).collect();
    assert!(!init.is_empty() && init.iter().all(|advice| advice.ends_with("/project")), "{said}");
}
