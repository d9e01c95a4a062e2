//! What of a registration is one person's, and what is everybody's who works in a repository.

use serde_json::json;

use crate::world::TestWorld;

/// Runs git in the project, as somebody.
fn git(world: &TestWorld, arguments: &[&str]) {
    let mut git = std::process::Command::new("git");
    git.args(["-c", "user.name=member", "-c", "user.email=member@example.org"]);
    let status = git.current_dir(world.path("project")).args(arguments).output().unwrap().status;
    assert!(status.success(), "git {arguments:?}");
}

/// A repository whose registration is committed, as a member gets it.
fn cloned() -> TestWorld {
    let world = TestWorld::new();
    world.write("project/README", "");
    git(&world, &["init", "--quiet"]);
    world.run(&["init", "--scope", "project"]).ok();
    git(&world, &["add", ".claude/settings.json", ".claude/fusebox.json"]);
    git(&world, &["commit", "--quiet", "--message", "limits"]);
    // Another state: a member has run no `init`.
    let _gone = std::fs::remove_dir_all(world.path("state"));
    world
}

#[test]
fn what_is_committed_is_everybodys_and_stays_unless_it_is_named() {
    let world = cloned();
    let kept =
        || ["project/.claude/settings.json", "project/.claude/fusebox.json"].map(|file| world.read(file).unwrap());
    let committed = kept();
    insta::assert_snapshot!(world.run(&["uninstall"]), @r#"
    nothing of yours alone to take out
    left, since it is committed: .claude/settings.json is for all who work here.
      `fusebox uninstall --scope project` takes it out for all;
      `"refuse_repositories": ["[ROOT]/project"]` in ~/.claude/fusebox.json
      refuses its limits for you alone
    left, what was counted and the log: [ROOT]/state
    [exit 0]
    "#);
    assert_eq!(kept(), committed);
    // What is one's own goes, and nothing is said twice.
    world.run(&["init"]).ok();
    let said = world.run(&["uninstall"]).ok();
    assert!(said.contains("settings.local.json") && said.contains("fusebox uninstall --scope project"), "{said}");
    let mut lines: Vec<&str> = said.lines().collect();
    let all = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!((lines.len(), kept()), (all, committed), "{said}");
    // Whoever means it for all says so.
    let said = world.run(&["uninstall", "--scope", "project"]).ok();
    assert!(said.contains("[ROOT]/project/.claude/settings.json") && said.contains("commit and push"), "{said}");
    assert!(!world.read("project/.claude/settings.json").unwrap_or_default().contains("fusebox"), "{said}");
}

/// Until the last commit has the hooks, nobody else does: they are the person's own to take out, and there is nothing to commit.
#[test]
fn what_was_never_committed_is_ones_own() {
    let stages: [&[&[&str]]; 3] = [
        &[],
        &[&["add", ".claude/settings.json"]],
        // What was committed has no hook of ours.
        &[&["add", "README"], &["commit", "--quiet", "--message", "first"], &["add", ".claude/settings.json"]],
    ];
    for has_settings in [false, true] {
        for stage in stages {
            for words in [&["uninstall"][..], &["uninstall", "--scope", "project"]] {
                let world = TestWorld::new();
                world.write("project/README", "");
                git(&world, &["init", "--quiet"]);
                if has_settings {
                    world.write("project/.claude/settings.json", "{\"model\": \"opus\"}\n");
                    git(&world, &["add", ".claude/settings.json"]);
                    git(&world, &["commit", "--quiet", "--message", "settings"]);
                }
                world.run(&["init", "--scope", "project"]).ok();
                stage.iter().for_each(|words| git(&world, words));
                let said = world.run(words).ok();
                assert!(!said.contains("commit") && !said.contains("for all"), "{stage:?}, {words:?}: {said}");
                let left = world.read("project/.claude/settings.json").unwrap_or_default();
                assert!(
                    !left.contains("hook") && left.contains("opus") == has_settings,
                    "{stage:?}, {words:?}: {said}"
                );
            }
        }
    }
}

/// What somebody has edited since, as the client does by itself, is not as it was.
#[test]
fn only_what_is_as_it_was_is_called_restored() {
    for (before, edits, verb) in [
        (Some("{\"model\": \"opus\"}\n"), false, "restored"),
        (Some("{\"model\": \"opus\"}\n"), true, "took the hooks out of"),
        (None, true, "took the hooks out of"),
        (None, false, "removed"),
    ] {
        let (world, file) = (TestWorld::new(), "project/.claude/settings.local.json");
        if let Some(text) = before {
            world.write(file, text);
        }
        world.run(&["init"]).ok();
        if edits {
            let text = world.read(file).unwrap();
            world.write(file, text.replacen('{', "{\"theme\": \"dark\",", 1));
        }
        let said = world.run(&["uninstall"]).ok();
        let line = said.lines().find(|line| line.contains("settings.local.json")).unwrap_or_default();
        assert!(line.starts_with(verb), "{before:?}, {edits}: {said}");
    }
}

/// A project whose settings are a link to a file elsewhere: git has the link.
#[test]
fn what_a_committed_link_leads_to_is_left() {
    let world = TestWorld::new();
    world.write("shared/settings.json", "{}\n");
    world.write("project/.claude/README", "");
    std::os::unix::fs::symlink("../../shared/settings.json", world.path("project/.claude/settings.json")).unwrap();
    git(&world, &["init", "--quiet"]);
    world.run(&["init", "--scope", "project"]).ok();
    git(&world, &["add", "."]);
    git(&world, &["commit", "--quiet", "--message", "settings"]);
    let before = world.read("shared/settings.json").unwrap();
    assert!(before.contains("hook"), "{before}");
    world.run(&["uninstall"]).ok();
    assert_eq!(world.read("shared/settings.json").unwrap(), before);
}

#[test]
fn uninstall_speaks_of_sessions_only_where_one_runs() {
    let world = TestWorld::new();
    world.run(&["init"]).ok();
    let said = world.run(&["uninstall"]).ok();
    assert!(!said.contains("fusebox reload"), "{said}");
    world.run(&["init"]).ok();
    world
        .hook(serde_json::json!({"session_id": "s1", "transcript_path": world.path("s1.jsonl"),
            "cwd": world.path("project"), "hook_event_name": "SessionStart", "source": "startup"}))
        .ok();
    let said = world.run(&["uninstall"]).ok();
    assert!(said.contains("`fusebox reload` lets them go now"), "{said}");
    world.run(&["reload"]).ok();
}

/// Who stands in a repository and takes out what is theirs may think of that one alone.
#[test]
fn that_hooks_were_for_all_repositories_is_said() {
    let world = TestWorld::new();
    world.run(&["init"]).ok();
    let told = "were for all of your repositories";
    assert!(!world.run(&["uninstall"]).ok().contains(told));
    world.run(&["init", "--scope", "user"]).ok();
    let said = world.run(&["uninstall"]).ok();
    assert!(said.contains(told) && said.contains("`fusebox init --scope user`"), "{said}");
    world.run(&["init", "--scope", "user"]).ok();
    let said = world.run(&["uninstall", "--scope", "user"]).ok();
    assert!(!said.contains(told), "{said}");
}

#[test]
fn init_in_a_repository_that_has_it_says_so_and_names_the_members_own_file() {
    let said = cloned().command(&["init"]).env("COLUMNS", "400").run().ok();
    assert!(said.contains("this repository registers them for all who work here (.claude/settings.json)"), "{said}");
    assert!(said.contains("change  edit .claude/fusebox.local.json, then"), "{said}");
}

#[test]
fn a_file_that_another_state_has_begun_goes_as_a_whole() {
    let world = TestWorld::new();
    world.run(&["init"]).ok();
    let elsewhere = world.path("elsewhere");
    let said = world.command(&["uninstall"]).env("FUSEBOX_HOME", &elsewhere.to_string_lossy()).run().ok();
    assert_eq!(world.read("project/.claude/settings.local.json"), None, "{said}");
    // What somebody has in it stays.
    world.write("project/.claude/settings.local.json", "{\n  \"model\": \"opus\"\n}\n");
    world.run(&["init"]).ok();
    world.command(&["uninstall"]).env("FUSEBOX_HOME", &elsewhere.to_string_lossy()).run().ok();
    let left = world.read("project/.claude/settings.local.json").unwrap();
    assert_eq!(left.split_whitespace().collect::<String>(), r#"{"model":"opus"}"#);
    world.write("project/.claude/settings.local.json", "{}");
    let _said = world.command(&["uninstall"]).env("FUSEBOX_HOME", &elsewhere.to_string_lossy()).run();
    assert_eq!(world.read("project/.claude/settings.local.json").as_deref(), Some("{}"));
}

/// Sends an event of a session that runs; returns the answer.
fn event(world: &TestWorld, session: &str, name: &str) -> String {
    world.hook(world.event(session, "p1", name, &json!({"source": "startup", "prompt": "go on"}))).stdout
}

/// How often the person is told that a change waits, and that it was a person who took the hooks out; then nothing more is said of it.
fn told_of_the_change(world: &TestWorld, session: &str) -> (usize, usize) {
    let answer = event(world, session, "ConfigChange");
    assert!(answer.contains("block"), "{answer}");
    let told = event(world, session, "UserPromptSubmit");
    assert!(!told.contains("waits too"), "{told}");
    for name in ["Stop", "UserPromptSubmit"] {
        let more = event(world, session, name);
        assert!(!more.contains("settings") && !more.contains("uninstall"), "{name}: {more}");
    }
    (told.matches("it waits").count(), told.matches("ran `fusebox uninstall`").count())
}

#[test]
fn a_change_that_waits_is_told_once_and_as_a_persons_own_where_it_is() {
    let world = TestWorld::new();
    world.run(&["init"]).ok();
    let edited = |session| {
        world.write("project/.claude/settings.local.json", "{}");
        told_of_the_change(&world, session)
    };
    event(&world, "s1", "SessionStart");
    assert_eq!(edited("s1"), (1, 0));
    // Once it is taken, what comes then is another change.
    world.run(&["init"]).ok();
    world.run(&["reload"]).ok();
    assert_eq!(edited("s1"), (1, 0));
    world.run(&["init"]).ok();
    event(&world, "s2", "SessionStart");
    world.run(&["uninstall"]).ok();
    assert_eq!(told_of_the_change(&world, "s2"), (0, 1));
}

/// A machine that was without Fusebox once is told again where it is without it again.
#[test]
fn the_mark_of_a_machine_without_fusebox_goes() {
    let world = TestWorld::new();
    let mark = "home/.claude/fusebox-is-missing";
    world.write(mark, "");
    world.run(&["init", "--dry-run"]).ok();
    assert!(world.read(mark).is_some(), "a dry run changes nothing");
    world.run(&["init"]).ok();
    assert_eq!(world.read(mark), None);
    world.write(mark, "");
    let said = world.run(&["uninstall"]).ok();
    assert!(world.read(mark).is_none() && said.contains("removed [ROOT]/home/.claude/fusebox-is-missing"), "{said}");
}
