//! What `init` and `uninstall` do around the settings: who may, what is said, what lies beside.

use crate::world::{TestWorld, check_current};

const LOCAL: &str = "project/.claude/settings.local.json";
const EXCLUDE: &str = "project/.git/info/exclude";

#[test]
fn init_says_what_happens_from_now_on() {
    insta::assert_snapshot!(TestWorld::with_git().run(&["init"]), @r"
    registered at [ALL] hooks in .claude/settings.local.json

      limits  each agent: stop at repetition, 5 batches with a refusal in a row
              session: ask you at cost 25.00 USD, and stop there without a Yes
              (`claude -p` asks nobody)
              main agent: those of its session
              subagents: warn at tool calls 100, working time 60.0 min, cost 5.00
              USD
              8 agent types have their own, which stop 5 of them: developer, devops,
              planner, qa, security-architect (`fusebox config show`)
      without PostModelSwitch, which Claude Code knows from 2.1.287 on (an older one
              warns of it): nothing is to be done, every limit holds without it
      covers  clients that are started in this repository;
              `fusebox init --scope user` covers those in all of yours
      wrote   .claude/fusebox.json, .claude/fusebox.schema.json, .git/info/exclude:
              kept out of git, so that nobody commits them by accident
      state   [ROOT]/state/state.db; log: .claude/logs/execution-limits.log
      change  edit .claude/fusebox.json, then `fusebox config check`; a session
              keeps the limits it started with until `fusebox reload`
      raise   caps of `session`, `main`, `user` and `project` in
              ~/.claude/fusebox.json: until `fusebox trust`, .claude/fusebox.json
              may only lower those that are yours or built in
      watch   `fusebox status`; below the prompt: `fusebox init --statusline`
      undo    `fusebox uninstall --scope local`
    [exit 0]
    ");
}

#[test]
fn observe_holds_or_is_refused_with_the_command_that_does() {
    let world = TestWorld::new();
    insta::assert_snapshot!(world.run(&["init", "--observe"]), @r"
    [stderr]
    error: `--observe` would not hold here: a repository's file may not loosen what is yours, and your limits block
      hint: `fusebox init --scope user --observe` observes in all your projects; after `fusebox trust`, `fusebox init --observe` observes in this one
    [exit 1]
    ");
    assert_eq!(world.files("project"), "");
    // The commands that it names do.
    let said = world.run(&["init", "--scope", "user", "--observe"]).ok();
    assert!(said.contains("only watched, nothing is blocked"), "{said}");
    let world = TestWorld::with_git();
    world.run(&["trust"]).ok();
    let said = world.run(&["init", "--observe"]).ok();
    assert!(said.contains("only watched, nothing is blocked"), "{said}");
}

/// For all who work in a repository its own limits are observed.
#[test]
fn a_repository_observes_its_own_limits() {
    let world = TestWorld::new();
    insta::assert_snapshot!(world.run(&["init", "--scope", "project", "--observe"]), @r"
    registered at [ALL] hooks in .claude/settings.json

      limits  each agent: stop at repetition, 5 batches with a refusal in a row
              session: ask you at cost 25.00 USD, and stop there without a Yes
              (`claude -p` asks nobody)
              main agent: those of its session
              subagents: warn at tool calls 100, working time 60.0 min, cost 5.00
              USD
              8 agent types have their own, which stop 5 of them: developer, devops,
              planner, qa, security-architect (`fusebox config show`)
              only watched, those of .claude/fusebox.json, which block nothing: none
              yet
      without PostModelSwitch, which Claude Code knows from 2.1.287 on (an older one
              warns of it): nothing is to be done, every limit holds without it
      covers  clients that are started in this very folder; who starts them in
              folders below runs `fusebox init` once
      wrote   .claude/fusebox.json, .claude/fusebox.schema.json
      state   [ROOT]/state/state.db; log: .claude/logs/execution-limits.log
      change  edit .claude/fusebox.json, then `fusebox config check`; a session
              keeps the limits it started with until `fusebox reload`
      raise   caps of `session`, `main`, `user` and `project` in
              ~/.claude/fusebox.json: until `fusebox trust`, .claude/fusebox.json
              may only lower those that are yours or built in
      watch   `fusebox status`
      undo    `fusebox uninstall --scope project`
      commit  .claude/settings.json and .claude/fusebox.json; each member needs
              `fusebox` on the PATH, and no `init` (`binding` there holds values
              against members' own files)

    note: the limits in .claude/fusebox.json (it has none yet: write some into it)
          are only watched, for all who work here. Your own limits and the built-in
          ones still block; `fusebox init --scope user --observe` has those watched,
          too
    [exit 0]
    ");
    insta::assert_snapshot!(world.read("project/.claude/fusebox.json").unwrap(), @r#"
    {
      "$schema": "fusebox.schema.json",
      "mode": "observe",
      "session": {},
      "main": {},
      "agents": {}
    }
    "#);
}

#[test]
fn observe_is_written_into_no_file_with_comments() {
    let world = TestWorld::new();
    let text = "{ // ours\n \"session\": {\"max_cost_usd\": 3} }\n";
    world.write("home/.claude/fusebox.json", text);
    insta::assert_snapshot!(world.run(&["init", "--scope", "user", "--observe"]), @r#"
    [stderr]
    error: `[ROOT]/home/.claude/fusebox.json` has comments or is no JSON: it is not edited
      hint: write `"mode": "observe"` into it, and run `fusebox init` without --observe
    [exit 1]
    "#);
    assert_eq!(world.read("home/.claude/fusebox.json").unwrap(), text);
    assert_eq!(world.read("home/.claude/settings.json"), None);
}

#[test]
fn observe_keeps_what_is_in_the_policy() {
    let world = TestWorld::new();
    let policy = "home/.claude/fusebox.json";
    world.write(policy, "{ \"session\": {\"max_cost_usd\":3}, \"mode\" : \"enforce\" }\n");
    let said = world.run(&["init", "--scope", "user", "--observe"]).ok();
    assert!(said.contains("only watched, nothing is blocked"), "{said}");
    let text = world.read(policy).unwrap();
    assert_eq!(text, "{ \"session\": {\"max_cost_usd\":3}, \"mode\" : \"observe\" }\n");
}

#[test]
fn a_dry_run_shows_every_line_and_changes_nothing() {
    let world = TestWorld::with_git();
    let settings =
        "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [] }\n    ]\n  },\n  \"model\": \"opus\"\n}\n";
    world.write(LOCAL, settings);
    let said = world.run(&["init", "--dry-run", "--fail-closed"]).ok();
    let (before, _) = said.split_once("+     \"UserPromptSubmit\"").unwrap();
    insta::assert_snapshot!(before, @r#"
    would create .claude/fusebox.json
    + {
    +   "$schema": "fusebox.schema.json",
    +   "session": {},
    +   "main": {},
    +   "agents": {}
    + }
    would write .claude/fusebox.schema.json
    would create .git/info/exclude
    + # fusebox: what must not be committed by accident
    + **/.claude/settings.local.json
    + **/.claude/fusebox.local.json
    + **/.claude/logs/execution-limits.log*
    + **/.claude/fusebox.schema.json
    + **/.claude/fusebox.json
    would change .claude/settings.local.json
    -       { "hooks": [] }
    +       { "hooks": [] },
    +       {
    +         "hooks": [
    +           {
    +             "type": "command",
    +             "command": "[FUSEBOX]",
    +             "args": [
    +               "hook"
    +             ],
    +             "timeout": 610
    +           }
    +         ]
    +       }
    +     ],
    +     "SessionStart": [
    +       {
    +         "matcher": "*",
    +         "hooks": [
    +           {
    +             "type": "command",
    +             "command": "[FUSEBOX]",
    +             "args": [
    +               "hook"
    +             ],
    +             "timeout": 10
    +           }
    +         ]
    +       }
    +     ],
    "#);
    assert_eq!(world.files(""), LOCAL);
    let _said = world.run(&["init"]).ok();
    assert_eq!(world.run(&["init", "--dry-run"]).ok(), "nothing would change\n");
}

#[test]
fn fail_closed_is_set_where_the_client_honours_it_and_stays() {
    let world = TestWorld::new();
    let _said = world.run(&["init", "--fail-closed"]).ok();
    let strict = world.read(LOCAL).unwrap();
    let blocked = fusebox::wire::events::EVENTS.iter().filter(|row| row.can_fail_closed).count();
    assert_eq!(strict.matches("\"onFailure\": \"block\"").count(), blocked);
    let _said = world.run(&["init"]).ok();
    assert_eq!(world.read(LOCAL).unwrap(), strict, "doing it again without the flag makes nothing weaker");
    insta::assert_snapshot!(world.run(&["init", "--scope", "project", "--fail-closed"]), @r"
    [stderr]
    error: --fail-closed is not for --scope project
      hint: it would stop everybody who has no fusebox; use it with --scope local, user or managed
    [exit 2]
    ");
}

#[test]
fn a_judge_is_put_in_once_and_taken_out_again() {
    let world = TestWorld::new();
    let _said = world.run(&["init"]).ok();
    let said = world.run(&["init", "--judge"]).ok();
    let changed = "registered at [ALL] hooks in .claude/settings.local.json; changed: SubagentStop\n";
    assert!(said.starts_with(changed), "{said}");
    let judged = world.read(LOCAL).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&judged).unwrap();
    let judge = &settings["hooks"]["SubagentStop"][1]["hooks"][0];
    assert_eq!((&judge["type"], &judge["timeout"]), (&"prompt".into(), &30.into()));
    insta::assert_snapshot!(judge["prompt"].as_str().unwrap(), @r#"
    Fusebox asks you to judge whether a subagent may end. What the client tells of its end: $ARGUMENTS

    1. Is all the work that it was given done?
    2. Did it get stuck, repeating the same steps without getting further?
    3. Did it go beyond what it was asked to do?

    Answer with JSON alone. {"ok": true} where the work is done, where the agent is stuck or went beyond its task, where its last message says that the work is PARTIAL, and where `stop_hook_active` is true. Else, where work is left that it can still do, {"ok": false, "reason": "what is left"}.
    "#);
    for again in [&["init", "--judge"][..], &["init"]] {
        let said = world.run(again).ok();
        assert!(said.starts_with("already registered in .claude/settings.local.json: nothing has changed\n"), "{said}");
        assert_eq!(world.read(LOCAL).unwrap(), judged, "it stays as it is");
    }
    let _said = world.run(&["uninstall"]).ok();
    assert_eq!(world.read(LOCAL), None);
    let older = judged.replace("Is all the work that it was given done?", "Is it done?");
    world.write(LOCAL, older);
    let _said = world.run(&["init", "--judge"]).ok();
    assert_eq!(world.read(LOCAL).unwrap(), judged, "it is brought up to date");
    // where somebody has edited the file since, exactly what is ours goes
    world.write(LOCAL, judged.replacen('{', "{\n  \"model\": \"opus\",", 1));
    let _said = world.run(&["uninstall"]).ok();
    assert_eq!(world.read(LOCAL).unwrap(), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn the_example_is_what_init_writes_for_a_project() {
    let world = TestWorld::new();
    let _said = world.run(&["init", "--scope", "project"]).ok();
    let settings = world.read("project/.claude/settings.json").unwrap();
    check_current("hooks.example.json", &settings);
}

#[test]
fn git_leaves_out_what_is_one_persons() {
    let world = TestWorld::with_git();
    world.write(EXCLUDE, "*.tmp");
    let _said = world.run(&["init"]).ok();
    insta::assert_snapshot!(world.read(EXCLUDE).unwrap(), @r"
    *.tmp
    # fusebox: what must not be committed by accident
    **/.claude/settings.local.json
    **/.claude/fusebox.local.json
    **/.claude/logs/execution-limits.log*
    **/.claude/fusebox.schema.json
    **/.claude/fusebox.json
    ");
    let _said = world.run(&["init", "--scope", "project"]).ok();
    insta::assert_snapshot!(world.read(EXCLUDE).unwrap(), @r"
    *.tmp
    # fusebox: what must not be committed by accident
    **/.claude/settings.local.json
    **/.claude/fusebox.local.json
    **/.claude/logs/execution-limits.log*
    **/.claude/fusebox.schema.json
    ");
    let _said = world.run(&["uninstall", "--scope", "local"]).ok();
    insta::assert_snapshot!(world.files("project/.claude"), @r"
    project/.claude/fusebox.json
    project/.claude/fusebox.schema.json
    project/.claude/settings.json
    ");
    assert!(world.read(EXCLUDE).unwrap().contains("# fusebox"));
    let _said = world.run(&["uninstall"]).ok();
    assert_eq!(world.read(EXCLUDE).unwrap(), "*.tmp");
    assert_eq!(world.files("project/.claude"), "");
}

#[test]
fn uninstall_is_a_persons_and_keeps_what_a_person_wrote() {
    let world = TestWorld::new();
    insta::assert_snapshot!(world.run(&["uninstall"]), @r"
    nothing to take out: no hook of fusebox is registered here
    left, what was counted and the log: [ROOT]/state
    [exit 0]
    ");
    let _said = world.run(&["init"]).ok();
    let _said = world.run(&["init", "--scope", "user"]).ok();
    insta::assert_snapshot!(world.command(&["uninstall"]).env("CLAUDECODE", "1").run(), @r"
    [stderr]
    error: `fusebox uninstall` is a person's to run: this shell was started by Claude Code
      hint: run it in a terminal of your own, outside Claude Code
    [exit 1]
    ");
    insta::assert_snapshot!(world.command(&["init", "--observe"]).env("CLAUDECODE", "1").run(), @r"
    [stderr]
    error: `fusebox init --observe` is a person's to run: this shell was started by Claude Code
      hint: run it in a terminal of your own, outside Claude Code
    [exit 1]
    ");
    world.write("project/.claude/fusebox.json", "{ \"session\": { \"max_turns\": 9 } }\n");
    insta::assert_snapshot!(world.run(&["uninstall"]), @r"
    removed [ROOT]/home/.claude/settings.json
    removed [ROOT]/home/.claude/fusebox.json
    removed [ROOT]/home/.claude/fusebox.schema.json
    removed [ROOT]/project/.claude/settings.local.json
    removed [ROOT]/project/.claude/fusebox.schema.json
    the hooks in ~/.claude/settings.json were for all of your repositories, not
      for this one alone: `fusebox init --scope user` puts them back
    left, yours to remove: .claude/fusebox.json
    left, what was counted and the log: [ROOT]/state
    [exit 0]
    ");
    assert_eq!(world.files("project") + &world.files("home"), "project/.claude/fusebox.json");
    let _said = world.run(&["init", "--scope", "user"]).ok();
    world.write("home/.claude/fusebox.json", "{ \"session\": { \"max_turns\": 9 } }\n");
    let said = world.run(&["uninstall", "--scope", "user"]).ok();
    assert_eq!(said.matches(".claude/fusebox.json").count(), 1, "{said}");
    assert!(said.contains("left, and in force wherever hooks are registered: "), "{said}");
    std::fs::remove_file(world.path("home/.claude/fusebox.json")).unwrap();
    // Where another state folder has what was there before, what says nothing of a person's goes all the same.
    let _said = world.run(&["init", "--scope", "user"]).ok();
    let other = world.path("other").display().to_string();
    let _said = world.command(&["uninstall", "--scope", "user"]).env("FUSEBOX_HOME", &other).run().ok();
    assert_eq!(world.files("home"), "");
}

#[test]
fn a_linked_settings_file_stays_a_link() {
    let world = TestWorld::new();
    world.write("home/dotfiles/settings.json", "{}\n");
    let link = world.path("home/.claude/settings.json");
    std::os::unix::fs::symlink(world.path("home/dotfiles/settings.json"), &link).unwrap();
    let _said = world.run(&["init", "--scope", "user"]).ok();
    assert!(link.is_symlink());
    assert!(world.read("home/dotfiles/settings.json").unwrap().contains("PreToolUse"));
    let _said = world.run(&["uninstall"]).ok();
    assert_eq!(world.read("home/dotfiles/settings.json").unwrap(), "{}\n");
}

/// The client reads local settings of the repository's main folder too, when it is started in a subfolder or a worktree.
#[test]
fn a_subfolder_belongs_to_its_repository() {
    let world = TestWorld::with_git();
    world.write("project/sub/README", "");
    let _said = world.run(&["init"]).ok();
    let said = world.command(&["doctor"]).env("COLUMNS", "200").folder("project/sub").run().stdout;
    assert!(said.contains("registered at [ALL] events in [ROOT]/project/.claude/settings.local.json"), "{said}");
    let said = world.command(&["init"]).env("COLUMNS", "200").folder("project/sub").run().ok();
    assert!(said.contains("the hooks in [ROOT]/project cover this folder, too"), "{said}");
    let _said = world.command(&["uninstall"]).folder("project/sub").run().ok();
    assert_eq!(world.files("project"), "project/sub/README");
    let said = world.command(&["init"]).env("COLUMNS", "200").folder("project/sub").run().ok();
    assert!(said.contains("`fusebox init` in [ROOT]/project covers the whole repository"), "{said}");
    // A team's registration is the main folder's alone.
    let _said = world.command(&["uninstall"]).folder("project/sub").run().ok();
    let _said = world.run(&["init", "--scope", "project"]).ok();
    let said = world.command(&["init"]).env("COLUMNS", "200").folder("project/sub").run().ok();
    assert!(!said.contains("cover this folder, too") && said.contains("covers the whole repository"), "{said}");
}

#[test]
fn uninstall_says_where_it_cannot_look() {
    let world = TestWorld::new();
    let _said = world.run(&["init"]).ok();
    let broken = world.read(LOCAL).unwrap().replacen('{', "{,", 1);
    world.write(LOCAL, &broken);
    insta::assert_snapshot!(world.command(&["uninstall"]).run(), @r"
    [stderr]
    error: `[ROOT]/project/.claude/settings.local.json` is no JSON: key must be a string at line 1 column 2
      hint: correct the file, which was left as it is: the client ignores it too until then
    [exit 1]
    ");
    assert_eq!(world.read(LOCAL).unwrap(), broken);
}
