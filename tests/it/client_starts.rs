//! A client that a plain command starts has its settings read beforehand: the file that its command line names, and those of the
//! folder that it is started in. Where they would take our hooks away, or divert anything, it is not started.
//!
//! The cases are made of the list of what diverts, and of the ways to name a file and a folder.

use std::cell::Cell;

use serde_json::{Value, json};

use crate::diversions::{Entry, diverting, ordinary, with};
use crate::nested::{Processes, event, start};
use crate::world::{FUSEBOX, TestWorld, in_long_form};

/// Ways to start a client with a settings file, `FILE`.
const NAMED: [&str; 8] = [
    "claude -p go --settings FILE",
    "claude --settings=FILE -p go",
    "claude -p go --settings 'FILE' </dev/null | tail -c 300",
    "cd /tmp && claude -p go --settings \"FILE\"",
    "sh -c 'claude -p go --settings FILE'",
    "X=1 timeout 20 npx @anthropic-ai/claude-code -p go --settings FILE",
    "cp FILE other.json; claude -p go --settings other.json",
    "true > other.json && claude -p go --settings=./other.json",
];
/// Ways to start a client in a folder, `DIR`.
const ENTERED: [&str; 20] = [
    "d=DIR; cd $d && claude -p go",
    "for d in DIR; do (cd $d; claude -p go); done",
    "env -C DIR claude -p go",
    "env --chdir=DIR A=1 sh -c 'claude -p go'",
    "sudo -D DIR claude -p go",
    "unshare --wd DIR claude -p go",
    "unshare --wd=DIR claude -p go",
    "nsenter -t 1 --wd=DIR claude -p go",
    "bwrap --bind / / --chdir DIR claude -p go",
    "start-stop-daemon --start --chdir DIR --exec /usr/bin/claude -- -p go",
    "start-stop-daemon --start --exec /usr/bin/claude -d DIR -- -p go",
    "tmux new-session -d -c DIR 'claude -p go'",
    "parallel --wd DIR claude -p ::: go",
    "uv --directory DIR run claude -p go; uv run --directory DIR claude -p go",
    "bash -c 'env -C DIR claude -p go'",
    "cd DIR && claude -p go",
    "cd DIR; git init -q; claude -p go </dev/null",
    "(cd DIR; claude -p go)",
    "pushd DIR; claude -p go; popd",
    "bash -c 'cd DIR; claude -p go'",
];
/// Ways to start a client in a folder that the text does not tell.
const UNTOLD: [&str; 10] = [
    "cd $D && claude -p go",
    "for d in $(ls); do (cd $d; claude -p go); done",
    "cd \"$(ls -d */)\" && claude -p go",
    "cd - && claude -p go",
    "find DIR -name x -execdir claude -p go \\;",
    "CDPATH=/tmp; cd sub; claude -p go",
    "export CDPATH=/tmp && cd sub && claude -p go",
    "su - me -c 'claude -p go'",
    "claude -p go --worktree \"$W\"",
    "claude -w ../x -p go",
];
/// Ways to write a settings file in the command that starts the client.
const WRITTEN: [&str; 11] = [
    "cp -r ../other/.claude DIR/.claude; cd DIR; claude -p go",
    "mv ../other/.claude DIR; cd DIR && claude -p go",
    "ln -s ../other lnk; cd lnk; claude -p go",
    "git clone -q ../other copy && cd copy && claude -p go",
    "mkdir -p DIR/.claude; echo '{\"disableAllHooks\":true}' > DIR/.claude/settings.json; cd DIR; claude -p go",
    "mkdir -p DIR/.claude; cp x.json DIR/.claude/settings.local.json; cd DIR; claude -p go",
    "cd DIR; tee .claude/settings.json < x.json; claude -p go",
    "cd DIR/.claude; mv x.json settings.json; cd ..; claude -p go",
    "ln -s /tmp/x.json DIR/.claude/settings.json; (cd DIR; claude -p go)",
    "rm .claude/settings.local.json; claude -p go",
    "iconv -t UTF-16 x > DIR/.claude/settings.json; cd DIR; claude -p go",
];

/// A person's session, with our hooks in the user's settings or in the project's.
pub struct Bench {
    pub world: TestWorld,
    processes: Processes,
    /// How many calls there were: a call that comes twice is answered as it was.
    calls: Cell<usize>,
}

impl Bench {
    fn new(scope: &str) -> Bench {
        Bench::of(TestWorld::new(), scope)
    }

    /// Makes one of this world.
    pub fn of(world: TestWorld, scope: &str) -> Bench {
        Bench::prepared(world, scope, |_| ())
    }

    /// Makes one of this world in which something is done before the session starts.
    pub fn prepared(world: TestWorld, scope: &str, prepare: impl FnOnce(&Bench)) -> Bench {
        world.run(&["init", "--scope", scope]).ok();
        let bench = Bench { world, processes: Processes::start(), calls: Cell::new(0) };
        prepare(&bench);
        start(&bench.world, bench.processes.pids[0], "s1");
        bench
    }

    /// The process of its client.
    pub fn pid(&self) -> u32 {
        self.processes.pids[0]
    }

    /// Whether a command is refused.
    pub fn refuses(&self, command: &str) -> bool {
        event(&self.world, self.pid(), "s1", "PreToolUse", &self.call(command)).contains(r#""deny""#)
    }

    /// The same, by a hook that the kernel kills once it has worked for two seconds, however busy the machine is.
    pub fn refuses_in_time(&self, command: &str) -> bool {
        let input = self.world.event("s1", "p-s1", "PreToolUse", &self.call(command));
        let hook = self.world.program("/bin/sh", &["-c", "ulimit -t 2; exec \"$0\" hook", FUSEBOX]);
        hook.env("CLAUDE_PID", &self.pid().to_string()).stdin(input).run().ok().contains(r#""deny""#)
    }

    fn call(&self, command: &str) -> Value {
        let id = self.calls.replace(self.calls.get() + 1);
        json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": format!("t{id}")})
    }
}

/// Tries commands with the same text in a file; returns those that are not treated as expected.
fn wrong(bench: &Bench, what: (&Value, &str), commands: &[String], expected: bool) -> Vec<String> {
    let (text, file) = what;
    bench.world.write(file, text.to_string());
    commands
        .iter()
        .filter(|command| bench.refuses(command) != expected)
        .map(|command| format!("{text} in {file}: {command}: refused should be {expected}"))
        .collect()
}

fn texts(entries: &[Entry], step: usize) -> Vec<Value> {
    let step = if in_long_form() { 1 } else { step };
    entries.iter().step_by(step).map(|entry| with(&json!({}), entry, 0)).collect()
}

#[test]
fn a_client_is_not_started_with_a_settings_file_that_diverts() {
    let mut wrongs = Vec::new();
    let diverts = texts(&diverting(), 9).into_iter().chain([json!({"disableAllHooks": true})]);
    for text in diverts {
        for scope in ["local", "user"] {
            let bench = Bench::new(scope);
            let file = bench.world.path("project/own.json");
            let commands = NAMED.map(|way| way.replace("FILE", &file.to_string_lossy()));
            wrongs.extend(wrong(&bench, (&text, "project/own.json"), &commands, true));
        }
    }
    let bench = Bench::new("user");
    bench.world.write("project/own.json", "{\"disableAllHooks\":true}");
    for unknown in [
        "claude -p go --settings \"$(echo own.json)\"",
        "claude -p go --settings $F",
        "claude -p go --settings=`ls *.json`",
    ] {
        wrongs.extend((!bench.refuses(unknown)).then(|| unknown.to_owned()));
    }
    assert!(wrongs.is_empty(), "{wrongs:#?}");
}

/// What settings on a client's command line may bring along, and whether it is started with them.
#[test]
fn settings_on_the_command_line_are_read_as_a_file_is() {
    let asks =
        |kind: &str| json!({"hooks": {"PreToolUse": [{"hooks": [{"type": kind, "prompt": "ok?"}]}]}}).to_string();
    for scope in ["local", "user"] {
        let bench = Bench::new(scope);
        for (settings, expected) in [
            (asks("prompt"), true),
            (asks("agent"), true),
            ("{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"true\"}]}]}}".to_owned(), false),
            ("{\"disableAllHooks\":true}".to_owned(), true),
            ("{\"hooks\":$H}".to_owned(), true),
            ("{\"model\":\"opus\"}".to_owned(), false),
        ] {
            for command in
                [format!("claude -p go --settings '{settings}'"), format!("claude '--settings={settings}' -p go")]
            {
                assert_eq!(bench.refuses(&command), expected, "{scope}: {command}");
            }
        }
    }
}

/// The variables in the file of what the client remembers are put in force at its start.
#[test]
fn a_client_is_not_started_with_what_it_remembers_where_that_diverts() {
    for file in ["home/.claude/.claude.json", "home/.claude/.config.json"] {
        for scope in ["local", "user"] {
            let bench = Bench::new(scope);
            let mut wrongs = Vec::new();
            for (env, expected) in [
                (json!({"CLAUDE_CODE_SIMPLE": "1"}), true),
                (json!({"CLAUDE_CODE_SAFE_MODE": 1}), true),
                (json!({"ANTHROPIC_BASE_URL": "http://localhost:1"}), true),
                (json!({"EDITOR": "vim"}), false),
            ] {
                let text =
                    json!({"numStartups": 3, "projects": {"/x": {"env": {"CLAUDE_CODE_SIMPLE": "1"}}}, "env": env});
                wrongs.extend(wrong(&bench, (&text, file), &["claude -p go".to_owned()], expected));
            }
            bench.world.write(file, "{\"env\": {");
            assert!(!bench.refuses("claude -p go"), "the client takes nothing from what is no JSON");
            assert!(wrongs.is_empty(), "{scope}: {wrongs:#?}");
        }
    }
}

/// What an agent writes there is told to the person before the session ends, and by `doctor`.
#[test]
fn a_person_is_told_of_variables_that_the_next_client_would_take() {
    for ends in ["Stop", "SessionEnd"] {
        let bench = Bench::new("user");
        bench.world.write("home/.claude/.claude.json", "{\"env\": {\"CLAUDE_CODE_SIMPLE\": \"1\"}}");
        let told = event(&bench.world, bench.processes.pids[0], "s1", ends, &json!({"reason": "other"}));
        let log = bench.world.run(&["log"]).stdout;
        assert!(told.contains("CLAUDE_CODE_SIMPLE") || log.contains("CLAUDE_CODE_SIMPLE"), "{ends}: {told} {log}");
        let doctor = bench.world.run(&["doctor"]).stdout.replace("\n", " ");
        assert!(doctor.contains("`CLAUDE_CODE_SIMPLE` in `env`"), "{doctor}");
    }
}

#[test]
fn a_client_is_not_started_in_a_folder_whose_settings_take_the_hooks_away() {
    let mut wrongs = Vec::new();
    let bench = Bench::new("user");
    bench.world.write("project/sub/x", "");
    for name in ["settings.json", "settings.local.json"] {
        for folder in ["project/sub", "elsewhere", "project"] {
            let path = bench.world.path(folder).to_string_lossy().into_owned();
            let commands = ENTERED.map(|way| way.replace("DIR", &path));
            let file = format!("{folder}/.claude/{name}");
            wrongs.extend(wrong(&bench, (&json!({"disableAllHooks": true}), &file), &commands, true));
            std::fs::remove_file(bench.world.path(&file)).unwrap();
        }
    }
    wrongs.extend(WRITTEN.iter().filter(|way| !bench.refuses(&way.replace("DIR", "sub"))).map(|way| (*way).to_owned()));
    assert!(wrongs.is_empty(), "{wrongs:#?}");
}

#[test]
fn a_client_is_not_started_where_the_text_does_not_tell() {
    let bench = Bench::new("user");
    bench.world.write("project/sub/x", "");
    let wrongs: Vec<_> = UNTOLD.iter().filter(|way| !bench.refuses(&way.replace("DIR", "sub"))).collect();
    assert!(wrongs.is_empty(), "{wrongs:#?}");
}

#[test]
fn a_client_is_not_started_in_a_worktree_whose_settings_take_the_hooks_away() {
    let bench = Bench::new("user");
    bench.world.write("project/.claude/worktrees/pw/.claude/settings.json", "{\"disableAllHooks\": true}");
    bench.world.write("project/.claude/worktrees/free/x", "");
    for (command, expected) in [
        ("claude -w pw -p go", true),
        ("claude -p go --worktree=pw", true),
        ("mkdir -p sub; cd sub; claude --worktree pw -p go", true),
        ("claude -w free -p go", false),
        ("claude -w new -p go", false),
        ("claude -p go -w", false),
    ] {
        assert_eq!(bench.refuses(command), expected, "{command}");
    }
}

#[test]
fn a_client_is_not_started_where_nothing_limits_it() {
    let bench = Bench::new("local");
    let elsewhere = bench.world.path("elsewhere").to_string_lossy().into_owned();
    let ways = ENTERED.iter().map(|way| way.replace("DIR", &elsewhere));
    let wrongs: Vec<_> = ways.filter(|way| !bench.refuses(way)).collect();
    assert!(wrongs.is_empty(), "{wrongs:#?}");
}

#[test]
fn many_clients_in_one_command_are_answered_in_time() {
    let bench = Bench::new("user");
    bench.world.write("elsewhere/x", "");
    let same = format!("cd {}; {}", bench.world.path("elsewhere").display(), "claude -p a;".repeat(10_000));
    let apart: String = (0..3_000).map(|at| format!("(cd d{at}; claude -p a > o{at});")).collect();
    let written = format!(
        "cd {}; {}",
        bench.world.path("elsewhere").display(),
        (0..3_000).map(|at| format!("claude -p a >o{at};")).collect::<String>()
    );
    for (command, expected) in [(same, false), (apart, true), (written, false)] {
        assert_eq!(bench.refuses_in_time(&command), expected);
    }
}

#[test]
fn a_client_is_not_started_with_a_mod() {
    let bench = Bench::new("user");
    bench.world.write("free/hooks/hooks.json", "{\"modules\": [\"x.js\"]}");
    bench.world.write("plain/hooks/hooks.json", "{\"hooks\": {}}");
    bench.world.write("free.zip", "PK");
    let path = |name: &str| bench.world.path(name).to_string_lossy().into_owned();
    let (free, plain, archive) = (path("free"), path("plain"), path("free.zip"));
    for (command, expected) in [
        (format!("claude -p go --plugin-dir {free}"), true),
        (format!("claude --plugin-dir={free} -p go"), true),
        (format!("claude -p go --plugin-dir {plain} --plugin-dir-no-mcp {free}"), true),
        (format!("claude -p go --plugin-dir {archive}"), true),
        (format!("cp x {plain}/hooks/hooks.json; claude -p go --plugin-dir {plain}"), true),
        ("claude -p go --plugin-url https://x/free.zip".to_owned(), true),
        (format!("CLAUDE_CODE_PLUGIN_DIRS={free} claude -p go"), true),
        (format!("claude -p go --plugin-dir {plain}"), false),
        (format!("cat {free}/hooks/hooks.json; claude -p 'write --plugin-dir {free}'"), false),
    ] {
        assert_eq!(bench.refuses(&command), expected, "{command}");
    }
}

#[test]
fn ordinary_starts_pass() {
    let mut wrongs = Vec::new();
    for scope in ["local", "user"] {
        let bench = Bench::new(scope);
        let file = bench.world.path("project/own.json");
        // A registration for one project reaches no other folder.
        let is_here = |way: &&&str| scope == "user" || !way.starts_with("cd ");
        let own: Vec<String> =
            NAMED[..6].iter().filter(is_here).map(|way| way.replace("FILE", &file.to_string_lossy())).collect();
        let folder = bench.world.path("elsewhere").to_string_lossy().into_owned();
        let entered = ENTERED.map(|way| way.replace("DIR", &folder));
        for text in texts(&ordinary(), 5) {
            wrongs.extend(wrong(&bench, (&text, "project/own.json"), &own, false));
            let is_limited_there = scope == "user";
            wrongs.extend(wrong(&bench, (&text, "elsewhere/.claude/settings.json"), &entered, !is_limited_there));
        }
        for command in [
            "cat .claude/settings.json; claude -p 'what does disableAllHooks do?'",
            "claude -p go --settings '{\"model\":\"opus\"}'",
            "mkdir -p sub/.claude; echo '{}' > sub/.claude/settings.json; git add -A; git commit -m 'claude -p --settings x'",
            "cp a.json b.json; claude -p go",
            "cp ../spec.md . && claude -p 'implement spec.md'",
            "mv ../x . ; rsync -a a/ . && claude -p go",
            "git checkout . && claude -p go",
            "cp report.md ~; chown -R me .; claude -p go",
            "echo done > out.txt; claude -p go > answer.txt",
        ] {
            wrongs.extend(bench.refuses(command).then(|| command.to_owned()));
        }
    }
    assert!(wrongs.is_empty(), "{wrongs:#?}");
}
