//! Getting in and out of settings files: everybody else's bytes stay where they are.

use crate::world::TestWorld;

const LOCAL: &str = "project/.claude/settings.local.json";
const PROJECT: &str = "project/.claude/settings.json";

/// Settings files that people have, with a name.
const SETTINGS: [(&str, &str); 20] = [
    ("nothing in it", ""),
    ("only white space", " \n\n"),
    ("an empty object", "{}"),
    ("an empty object over two lines", "{\n}\n"),
    ("other keys", "{\n  \"model\": \"opus\",\n  \"permissions\": { \"allow\": [\"Bash(ls:*)\"] }\n}\n"),
    (
        "four spaces, no line end at the end",
        "{\n    \"model\": \"opus\",\n    \"env\": {\n        \"A\": \"1\"\n    }\n}",
    ),
    ("tabs", "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": []\n\t}\n}\n"),
    ("CRLF", "{\r\n  \"model\": \"opus\"\r\n}\r\n"),
    ("a byte order mark", "\u{feff}{\n  \"model\": \"opus\"\n}\n"),
    ("all on one line", "{\"model\":\"opus\",\"hooks\":{\"PreToolUse\":[{\"hooks\":[]}]}}"),
    ("one line with air", "{ \"model\": \"opus\", \"hooks\": { } }\n"),
    (
        "odd formatting",
        "{\"a\" :1 ,\n\n      \"hooks\":\n  {\"Stop\"\t:[ ] ,\n \"PreToolUse\":[\n]}   ,\"b\":[1 , 2,{}]\n\n}\n\n\n",
    ),
    (
        "other people's hooks",
        r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [{ "type": "command", "command": "echo fusebox hook" }]
      }
    ],
    "Notification": [{ "hooks": [{ "type": "command", "command": "beep" }] }]
  }
}
"#,
    ),
    (
        "strings full of punctuation",
        "{\n  \"a\\\"]}\": \"{[\\\\\",\n  \"hooks\": {\n    \"Stop\": [\"}\\\"]\"]\n  },\n  \"\\u00e9\": \"é{\"\n}\n",
    ),
    ("wrong types elsewhere", "{\n  \"model\": [null, true, -1.5e3],\n  \"permissions\": \"no\"\n}\n"),
    ("groups of wrong types", "{\n  \"hooks\": {\n    \"Stop\": [1, \"two\", {\"hooks\": \"three\"}, [{}]]\n  }\n}\n"),
    ("a name twice", "{\n  \"hooks\": {\"Stop\": []},\n  \"hooks\": {}\n}\n"),
    ("hooks with nothing in them", "{\n  \"hooks\": {}\n}\n"),
    (
        "not ours: another argument",
        "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"/x/fusebox\",\"args\":[\"status\"]}]}]}}",
    ),
    (
        "not ours: another program",
        "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"/x/fusebox/guard\",\"args\":[\"hook\"]}]}]}}",
    ),
];

/// Puts Fusebox in, again, and out: in has every event, again changes nothing, out gives the bytes back.
#[track_caller]
fn check_round_trip(name: &str, scope: &str, file: &str, before: Option<&str>) {
    let world = TestWorld::with_git();
    if let Some(text) = before {
        world.write(file, text);
    }
    let files = world.files("project");
    let said = world.run(&["init", "--scope", scope]).ok();
    assert!(said.starts_with("registered at [ALL] hooks"), "{name}: {said}");
    let after = world.read(file).unwrap();
    let all = fusebox::wire::events::EVENTS.iter().filter(|row| row.since.is_none());
    assert_eq!(events_of(&after), all.map(|row| row.name.to_owned()).collect::<Vec<_>>(), "{name}: {after}");

    let said = world.run(&["init", "--scope", scope]).ok();
    assert!(said.starts_with("already registered"), "{name}: {said}");
    assert_eq!(world.read(file).as_deref(), Some(after.as_str()), "{name}: twice is once");

    let _said = world.run(&["uninstall"]).ok();
    assert_eq!(world.read(file).as_deref(), before, "{name}: out again");
    assert_eq!(world.files("project"), files, "{name}: no other file stays");
}

/// Returns the events where our handler is, in the order of our table.
fn events_of(settings: &str) -> Vec<String> {
    let found = fusebox::install::hooks::find(settings);
    assert!(found.iter().all(|found| found.covers()), "{settings}");
    let rows = fusebox::wire::events::EVENTS.iter();
    let once = rows.filter(|row| found.iter().filter(|found| found.event == row.name).count() == 1);
    once.map(|row| row.name.to_owned()).collect()
}

#[test]
fn init_and_uninstall_give_every_byte_back() {
    for (name, text) in SETTINGS {
        check_round_trip(name, "local", LOCAL, Some(text));
    }
    let (name, text) = SETTINGS[6];
    check_round_trip(name, "project", PROJECT, Some(text));
    check_round_trip(name, "user", "home/.claude/settings.json", Some(text));
    check_round_trip("no file", "local", LOCAL, None);
    check_round_trip("no file", "project", PROJECT, None);
    check_round_trip("no file", "user", "home/.claude/settings.json", None);
    let deep = format!("{{\n  \"deep\": {}{}\n}}\n", "[".repeat(5000), "]".repeat(5000));
    check_round_trip("deeply nested", "local", LOCAL, Some(&deep));
}

/// A file that somebody edited after `init` loses our handlers and nothing else.
#[test]
fn an_edited_file_keeps_its_edits() {
    for (name, text) in SETTINGS.iter().filter(|(_, text)| text.contains("opus")) {
        let world = TestWorld::new();
        let edited = |text: &str| text.replace("opus", "sonnet");
        world.write(LOCAL, text);
        let _said = world.run(&["init"]).ok();
        world.write(LOCAL, edited(&world.read(LOCAL).unwrap()));
        let _said = world.run(&["uninstall"]).ok();
        assert_eq!(world.read(LOCAL).unwrap(), edited(text).replace("{ }", "{}"), "{name}");
    }
}

/// Shows what one settings file becomes.
fn merged(text: &str, arguments: &[&str]) -> String {
    let world = TestWorld::new();
    world.write(LOCAL, text);
    let _said = world.run(arguments).ok();
    world.normalized(&world.read(LOCAL).unwrap())
}

#[test]
fn our_handler_is_brought_up_to_date_where_it_stands() {
    let old = r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          { "type": "command", "command": "lint" },
          { "type": "command", "command": "/gone/fusebox", "args": ["hook"] }
        ]
      },
      { "hooks": [{ "command": "fusebox hook", "timeout": 1, "statusMessage": "counting" }, { "command": "x" }] },
      { "hooks": [{ "command": "/other/fusebox", "args": ["hook"] }] }
    ]
  }
}
"#;
    let text = merged(old, &["init"]);
    let (updated, _added) = text.split_once(",\n    \"SessionStart\"").unwrap();
    insta::assert_snapshot!(updated, @r#"
    {
      "hooks": {
        "PreToolUse": [
          {
            "matcher": "Bash",
            "hooks": [
              { "type": "command", "command": "lint" }
            ]
          },
          { "hooks": [{ "type": "command", "command": "[FUSEBOX]", "args": [ "hook" ], "timeout": 10, "statusMessage": "counting" }, { "command": "x" }] }
        ]
    "#);
}

/// Checks that a settings file is refused and left alone.
#[track_caller]
fn check_refused(text: &str, expected: &str) {
    let world = TestWorld::with_git();
    world.write(LOCAL, text);
    let outcome = world.run(&["init"]);
    assert_eq!(outcome.code, 1, "{outcome}");
    let first = outcome.stderr.lines().next().unwrap_or_default();
    assert_eq!(first.replace("[ROOT]/project/.claude/settings.local.json", "FILE"), expected);
    assert_eq!(world.read(LOCAL).as_deref(), Some(text));
    assert_eq!(world.files(""), LOCAL, "nothing else was written");
}

#[test]
fn a_file_that_cannot_be_edited_is_refused() {
    // no JSON
    check_refused(
        "{\n  // my hooks\n  \"a\": 1\n}\n",
        "error: `FILE` is no JSON: key must be a string at line 2 column 3",
    );
    check_refused("{\"a\": 1,}", "error: `FILE` is no JSON: key must be a string at line 1 column 9");
    check_refused("{\"a\": 1", "error: `FILE` is no JSON: its last `}` is missing at line 1 column 7");
    check_refused("{} {}", "error: `FILE` is no JSON: trailing characters at line 1 column 4");
    check_refused("hello", "error: `FILE` is no JSON: expected value at line 1 column 1");
    // JSON of another shape
    check_refused("[]", "error: `the file` in `FILE` must be an object (line 1 column 1)");
    check_refused("{\n  \"hooks\": \"none\"\n}", "error: `hooks` in `FILE` must be an object (line 2 column 12)");
    check_refused("{\"hooks\": null}", "error: `hooks` in `FILE` must be an object (line 1 column 11)");
    check_refused(
        "\u{feff}{\"hooks\": {\"é\": 1, \"Stop\": {}}}",
        "error: `hooks.Stop` in `FILE` must be a list (line 1 column 28)",
    );
}

#[test]
fn init_says_what_is_wrong_with_the_limits_and_what_fail_closed_does() {
    let world = TestWorld::with_git();
    world.write("home/.claude/fusebox.json", r#"{"session": {"max_turns": "x"}, "main": {"max_turnz": 3}}"#);
    let said = world.run(&["init", "--fail-closed"]).ok().split_whitespace().collect::<Vec<_>>().join(" ");
    let errors = world.run(&["config", "check"]).stdout.matches("error: ").count();
    assert!(errors > 0 && said.contains(&format!("note: {errors} error")), "{said}");
    assert!(said.contains("--fail-closed"), "{said}");
}

/// Whoever switches limits, checks them or asks how they stand learns that nothing counts here.
#[test]
fn commands_about_limits_say_where_no_hook_is_registered() {
    let world = TestWorld::with_git();
    for (before, times) in
        [(&[][..], 1), (&["init", "--scope", "project"], 0), (&["uninstall", "--scope", "project"], 1)]
    {
        let _said = (!before.is_empty()).then(|| world.run(before).ok());
        for words in [&["off"][..], &["on"], &["config", "check"], &["status"]] {
            let said = world.run(words).to_string();
            let told = said.matches("no hook of Fusebox is registered here").count();
            assert_eq!(told, times, "after {before:?}: {words:?}: {said}");
        }
    }
}
