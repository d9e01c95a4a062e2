//! `fusebox run`: what it hands on of its command, and what it says of a limit.

use crate::world::{FUSEBOX, TestWorld};

#[test]
fn run_hands_on_what_the_command_says() {
    let world = TestWorld::new();
    world.script("bin/client", "cat; echo \"$@\"; exit 7");
    let outcome = world.command(&["run", "--", "client", "-p", "--", "x"]).stdin("in ").run();
    insta::assert_snapshot!(outcome, @r"
    in -p -- x
    [stderr]
    fusebox: no hook of this command was heard: nothing was counted, and no limit could strike. `fusebox doctor` shows what is registered here.
    fusebox: the client failed by itself with exit code 7: its own output says why
    [exit 7]
    ");
    world.script("bin/client", "kill -TERM $$");
    let ended = world.run(&["run", "client"]);
    assert_eq!(ended.code, 128 + 15);
    assert!(ended.stderr.contains("signal 15 ended the client: exit code 143"), "{ended}");
    world.script("bin/client", "kill -TERM $PPID; sleep 5");
    assert_eq!(world.run(&["run", "client"]).code, 128 + 15, "what ends only us is handed on");
    world.script("bin/client", "kill -INT $PPID; exec sleep 5");
    assert_eq!(world.run(&["run", "client"]).code, 128 + 2, "no terminal has told the client");
    world.script("bin/client", "trap 'exit 0' INT; kill -INT $PPID; while :; do :; done");
    assert_eq!(world.run(&["run", "client"]).code, 128 + 2, "a job that was cancelled has not passed");
    insta::assert_snapshot!(world.run(&["run", "no-such-client"]), @r"
    [stderr]
    error: cannot run `no-such-client`: No such file or directory (os error 2)
      hint: is it installed and on the PATH?
    [exit 1]
    ");
    assert_eq!(world.run(&["run"]).code, 2);
}

/// The last that a runner does to a job that was cancelled. Elsewhere than on Linux nothing tells the client.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_is_killed_takes_its_client_with_it() {
    use std::fs::OpenOptions;
    use std::io::{Read, Write};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    let world = TestWorld::new();
    assert!(Command::new("mkfifo").arg(world.path("project/go")).status().unwrap().success());
    let mut go = OpenOptions::new().read(true).write(true).open(world.path("project/go")).unwrap();
    world.script("bin/client", "kill -KILL $PPID; read on < go; echo the next request");
    let mut command = Command::new(FUSEBOX);
    command.args(["run", "client"]).env_clear().envs(world.variables()).current_dir(world.path("project"));
    let mut run = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    assert_eq!(run.wait().unwrap().signal(), Some(9));
    // The kernel has sent its signal before it tells of the end.
    go.write_all(b"on\n").unwrap();
    let mut said = String::new();
    run.stdout.unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}

/// A client in six lines: it starts a session and makes two calls, as a client runs hooks.
#[test]
fn run_says_that_a_limit_stopped_the_client() {
    let world = TestWorld::new();
    let policy = r#"{ "main": { "max_turns": 1, "timeout_action": "terminate", "grace_turns": 0 } }"#;
    world.write("home/.claude/fusebox.json", policy);
    let call = |session: &str, number: u32| {
        format!(
            "echo '{{\"session_id\":\"{session}\",\"transcript_path\":\"\",\"cwd\":\"/\",\"prompt_id\":\"p\",\"hook_event_name\":\
             \"PreToolUse\",\"tool_name\":\"Read\",\"tool_input\":{{}},\"tool_use_id\":\"{session}-{number}\"}}' | {} hook >/dev/null",
            crate::world::FUSEBOX
        )
    };
    world.script("bin/client", &call("one", 1));
    insta::assert_snapshot!(world.run(&["run", "client"]), @"[exit 0]");
    world.script("bin/client", &format!("{}\n{}", call("two", 1), call("two", 2)));
    insta::assert_snapshot!(world.run(&["run", "client"]), @r"
    [stderr]
    fusebox: stopped: tool calls 1/1 (max_turns, user); the work is partial. `fusebox run -- claude -p --resume two 'go on'`
    fusebox: that limit is `main.max_turns` in ~/.claude/fusebox.json
    [exit 3]
    ");
}

/// A client whose prompt comes after the session has spent what it may: it ends at once, and says that all is well.
fn with_blocked_client(program: &str) -> TestWorld {
    let world = TestWorld::new();
    let policy = r#"{ "session": { "max_cost_usd": 0.01, "timeout_action": "terminate" } }"#;
    world.write("home/.claude/fusebox.json", policy);
    let usage =
        r#"{"input_tokens":10,"output_tokens":20,"cache_creation_input_tokens":1000,"cache_read_input_tokens":2000}"#;
    let rows = (1..4).map(|number| {
        let message = format!(r#"{{"id":"m{number}","model":"claude-opus-5-5","usage":{usage}}}"#);
        format!("{{\"type\":\"assistant\",\"timestamp\":\"2026-11-20T10:00:00.000Z\",\"message\":{message}}}\n")
    });
    world.write("one.jsonl", rows.collect::<String>());
    let event = |name: &str, prompt: &str| {
        let path = world.path("one.jsonl");
        let input = format!(
            "{{\"session_id\":\"one\",\"transcript_path\":\"{}\",\"cwd\":\"/\",\"prompt_id\":\"{prompt}\",\
             \"hook_event_name\":\"{name}\",\"prompt\":\"go\"}}",
            path.display()
        );
        format!("echo '{input}' | {} hook >/dev/null", crate::world::FUSEBOX)
    };
    let events = [event("UserPromptSubmit", "p1"), event("Stop", "p1"), event("UserPromptSubmit", "p2")];
    world.script(&format!("bin/{program}"), &events.join("\n"));
    world
}

#[test]
fn run_says_that_a_limit_kept_the_prompt_back_where_the_client_does_not() {
    insta::assert_snapshot!(with_blocked_client("client").run(&["run", "client"]), @r"
    [stderr]
    fusebox: the prompt was blocked: cost of the session 0.0175/0.0100 USD (max_cost_usd, user). `fusebox grant one max_cost_usd=+0.03`, then again with `--resume one`
    fusebox: that limit is `session.max_cost_usd` in ~/.claude/fusebox.json
    [exit 3]
    ");
    // The client prints the reason as its result, but where it prints JSON.
    let ran = |args: &[&str]| with_blocked_client("claude").run(&[&["run", "claude"], args].concat()).to_string();
    insta::assert_snapshot!(ran(&[]), @r"
    [stderr]
    fusebox: nothing was done for the prompt: exit code 3. Once it may be sent, run it again with `--resume one`
    fusebox: that limit is `session.max_cost_usd` in ~/.claude/fusebox.json
    [exit 3]
    ");
    assert!(ran(&["--output-format", "json"]).contains("the prompt was blocked: cost of the session"));
}

/// A job that is to be strict spends nothing where no limit could strike; what another program starts is not known before.
#[test]
fn a_strict_run_starts_no_client_that_would_run_no_hook() {
    for (registers, command, starts) in [
        (&[][..], &["claude", "-p", "x"][..], false),
        (&[], &["claude", "-p", "x", "--settings", "hooks.json"], true),
        (&[], &["claude", "-p", "x", "--plugin-dir=plugin"], true),
        (&[], &["client", "-p", "x"], true),
        (&["init", "--scope", "user"], &["claude", "-p", "x"], true),
        (&["init", "--scope", "project"], &["claude", "-p", "x"], true),
    ] {
        let world = TestWorld::new();
        for name in ["claude", "client"] {
            world.script(&format!("bin/{name}"), "echo started");
        }
        if !registers.is_empty() {
            world.run(registers).ok();
        }
        let words: Vec<&str> = ["run", "--strict", "--"].iter().chain(command).copied().collect();
        let ran = world.run(&words);
        assert_eq!((ran.stdout.contains("started"), ran.code), (starts, 3), "{registers:?} {command:?}: {ran}");
        assert_eq!(ran.stderr.contains("was not started. `fusebox doctor`"), !starts, "{ran}");
    }
}

/// A client that does not know its own options never comes to a hook: that is no fault of what is registered.
#[test]
fn a_client_that_fails_by_itself_keeps_its_exit_code() {
    let world = TestWorld::new();
    world.script("bin/claude", "echo \"error: unknown option '--nonsense'\" >&2; exit 4");
    world.run(&["init"]).ok();
    for options in [&["run"][..], &["run", "--strict"]] {
        let ran = world.run(&[options, &["claude", "-p", "x", "--nonsense"]].concat());
        assert_eq!(ran.code, 4, "{ran}");
        assert!(
            ran.stderr.ends_with("fusebox: the client failed by itself with exit code 4: its own output says why\n"),
            "{ran}"
        );
        assert!(!ran.stderr.contains("no hook"), "{ran}");
    }
}

/// Its hooks refused the prompt, and the client has said that all is well.
#[test]
fn a_run_whose_state_cannot_be_read_has_not_passed() {
    let world = TestWorld::new();
    world.script("bin/client", "exit 0");
    world.write("state", "a file");
    let ran = world.run(&["run", "client"]);
    assert_eq!(ran.code, 3, "{ran}");
    assert!(ran.stderr.contains("is not known") && ran.stderr.contains("FUSEBOX_HOME"), "{ran}");
}

/// What is printed goes on where it is pasted: with all that the first one was given, but for its prompt and its session.
#[test]
fn the_command_that_goes_on_has_the_options_of_the_first() {
    const GIVEN: [(&str, &str); 6] = [
        ("-p PROMPT --allowedTools Bash,Edit", "--allowedTools Bash,Edit"),
        ("-p --allowedTools Bash(git:*) Edit --model=opus PROMPT", "--allowedTools 'Bash(git:*)' Edit --model=opus"),
        ("PROMPT -p --permission-mode acceptEdits -r old --fork-session", "--permission-mode acceptEdits"),
        ("--append-system-prompt it's -p -c -- --model", "--append-system-prompt 'it'\\''s'"),
        (
            "-p PROMPT --resume=old --output-format json --mcp-config a.json b.json",
            "--output-format json --mcp-config a.json b.json",
        ),
        ("-p PROMPT --append-system-prompt --verbose --verbose", "--append-system-prompt --verbose --verbose"),
    ];
    for (given, kept) in GIVEN {
        let world = TestWorld::new();
        std::os::unix::fs::symlink(FUSEBOX, world.path("bin/fusebox")).unwrap();
        world.write(
            "home/.claude/fusebox.json",
            r#"{"main": {"max_turns": 1, "timeout_action": "terminate", "grace_turns": 0}}"#,
        );
        world.run(&["init", "--scope", "user"]).ok();
        let events = ["UserPromptSubmit", "PreToolUse", "PreToolUse"].iter().enumerate().map(|(at, name)| {
            let more = serde_json::json!({"prompt": "go", "tool_name": "Read", "tool_input": {}, "tool_use_id": format!("t{at}")});
            world.write(&format!("e{at}"), world.event("two", "p", name, &more).to_string());
            format!("fusebox hook <../e{at} >/dev/null\n")
        });
        let events: String = events.collect();
        let again = "case \"$*\" in *'--resume two'*) for word; do echo \"<$word>\"; done; exit 0;; esac";
        world.script("bin/claude", &format!("{again}\n{events}"));
        let words = given.split(' ').map(|word| if word == "PROMPT" { "fix it" } else { word });
        let begin = ["run", "--strict", "--summary", "out.json", "--", "claude"];
        let ran = world.run(&begin.into_iter().chain(words).collect::<Vec<_>>());
        let expected = format!("fusebox run --strict --summary out.json -- claude -p --resume two 'go on' {kept}");
        let (_, printed) = ran.stderr.split_once("is partial. `").unwrap_or_else(|| panic!("{ran}"));
        assert_eq!(printed.split('`').next(), Some(&*expected), "{given}");
        let pasted = world.program("/bin/sh", &["-c", &expected]).run();
        let typed = kept.replace("'it'\\''s'", "it's").replace("'Bash(git:*)'", "Bash(git:*)");
        let words: Vec<&str> = ["-p", "--resume", "two", "go on"].into_iter().chain(typed.split(' ')).collect();
        assert_eq!(pasted.stdout, words.iter().map(|word| format!("<{word}>\n")).collect::<String>(), "{pasted}");
    }
}

/// In a job nobody is asked for more: its log says where more is written.
#[test]
fn a_stop_names_the_file_and_the_key_of_its_cap() {
    for (place, policy, said) in [
        (
            "home/.claude/settings.json",
            r#"{"fusebox": {"main": {"max_turns": 1, "grace_turns": 0}}}"#,
            "`fusebox.main.max_turns` in ~/.claude/settings.json",
        ),
        (
            "project/.claude/fusebox.json",
            r#"{"session": {"max_turns": 1, "grace_turns": 0}}"#,
            "`session.max_turns` in .claude/fusebox.json",
        ),
        (
            "project/.claude/fusebox.local.json",
            r#"{"main": {"max_turns": 1, "grace_turns": 0}}"#,
            "`main.max_turns` in .claude/fusebox.local.json",
        ),
    ] {
        let world = TestWorld::new();
        world.write(place, policy);
        let mut script = String::new();
        let call =
            |at: u32| serde_json::json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": format!("t{at}")});
        let prompt = ("UserPromptSubmit", serde_json::json!({"prompt": "go"}));
        let calls = (0..2).map(|at| ("PreToolUse", call(at)));
        for (at, (name, more)) in std::iter::once(prompt).chain(calls).enumerate() {
            world.write(&format!("e{at}"), world.event("one", "p", name, &more).to_string());
            script += &format!("{FUSEBOX} hook <../e{at} >/dev/null\n");
        }
        world.script("bin/client", &script);
        let ran = world.run(&["run", "client"]);
        assert_eq!(ran.code, 3, "{ran}");
        assert!(ran.stderr.ends_with(&format!("fusebox: that limit is {said}\n")), "{place}: {ran}");
    }
    let world = with_blocked_client("client");
    world.write("home/.claude/fusebox.json", "{}");
    let spent = world.read("one.jsonl").unwrap().replace(r#""output_tokens":20,"#, r#""output_tokens":2000000,"#);
    world.write("one.jsonl", spent);
    let ran = world.run(&["run", "client"]);
    let said = "`session.max_cost_usd` (built in; ~/.claude/fusebox.json may set another)";
    assert!(ran.stderr.ends_with(&format!("fusebox: that limit is {said}\n")), "{ran}");
}
