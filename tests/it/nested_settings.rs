//! A client that an agent starts works with no settings that wait for a person in the agent's own session. The cases are made of
//! the list of what diverts. `FUSEBOX_LAWS=full` tries each row in each file.

use std::fs;

use serde_json::{Value, json};

use crate::diversions::{Entry, FILES, diverting, ordinary, with};
use crate::nested::{Processes, call, event, start};
use crate::world::{TestWorld, in_long_form};

/// What becomes of an entry between the starts of the two clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edit {
    Comes,
    Changes,
    Goes,
    Stays,
}

const EDITS: [Edit; 4] = [Edit::Comes, Edit::Changes, Edit::Goes, Edit::Stays];

/// A project in whose local settings our hooks are registered, with a session of a person's and one below it.
struct Bench {
    world: TestWorld,
    processes: Processes,
    file: usize,
    plain: Value,
}

impl Bench {
    /// Starts the person's client, makes the edit, and starts the agent's client.
    fn new(entry: &Entry, file: usize, edit: Edit) -> Bench {
        let bench = Bench::of_person(entry, file, edit);
        event(&bench.world, bench.processes.pids[1], "below", "SessionStart", &json!({"source": "startup"}));
        bench
    }

    fn of_person(entry: &Entry, file: usize, edit: Edit) -> Bench {
        let world = TestWorld::new();
        world.run(&["init"]).ok();
        let plain = world.read(FILES[file]).map_or(json!({}), |text| serde_json::from_str(&text).unwrap());
        let bench = Bench { world, processes: Processes::start(), file, plain };
        let set = |value: Option<usize>| {
            let text = value.map_or(bench.plain.clone(), |value| with(&bench.plain, entry, value)).to_string();
            bench.world.write(FILES[file], text);
        };
        set((edit != Edit::Comes).then_some(0));
        event(&bench.world, bench.processes.pids[0], "above", "SessionStart", &json!({"source": "startup"}));
        match edit {
            Edit::Comes => set(Some(0)),
            Edit::Changes => set(Some(1)),
            Edit::Goes => set(None),
            Edit::Stays => {}
        }
        bench
    }

    /// Sends a prompt and a call of a session; says whether both are let through. They are treated alike.
    fn passes(&self, session: &str, number: usize) -> bool {
        let client = self.processes.pids[usize::from(session == "below")];
        let said = self.prompt(session, number);
        let (blocked, call) =
            (said.contains(r#""decision":"block""#), call(&self.world, client, session, &format!("t{number}")));
        assert_eq!(blocked, call.contains(r#""deny""#), "{said}\n{call}");
        assert!(!blocked || (said.contains("`fusebox reload`") && call.contains("`fusebox reload`")), "{said}\n{call}");
        !blocked
    }

    fn prompt(&self, session: &str, number: usize) -> String {
        let client = self.processes.pids[usize::from(session == "below")];
        let prompt = json!({"prompt": "go on", "prompt_id": format!("p{number}")});
        event(&self.world, client, session, "UserPromptSubmit", &prompt)
    }

    /// Asks to run a shell command in the person's session; returns the answer.
    fn shell(&self, command: &str, id: &str) -> String {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id});
        event(&self.world, self.processes.pids[0], "above", "PreToolUse", &call)
    }

    fn reload(&self) {
        self.world.run(&["reload"]).ok();
    }

    fn undo(&self) {
        match self.plain.as_object().unwrap().is_empty() {
            true => fs::remove_file(self.world.path(FILES[self.file])).unwrap(),
            false => self.world.write(FILES[self.file], self.plain.to_string()),
        }
    }
}

/// Tries each entry in a file by some edits; returns the cases in which `is_held` is not what comes of it.
fn check(entries: &[Entry], is_held: impl Fn(&Entry, Edit) -> bool) {
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for (at, entry) in entries.iter().enumerate() {
        let files = if in_long_form() { vec![0, 1, 2] } else { vec![at % FILES.len()] };
        // In the short form each row comes, and some are edited in another way, too.
        let few = if at % 4 == 0 { vec![Edit::Comes, EDITS[1 + at / 4 % 3]] } else { vec![Edit::Comes] };
        let edits = if in_long_form() { EDITS.to_vec() } else { few };
        for (file, edit) in files.iter().flat_map(|file| edits.iter().map(move |edit| (*file, *edit))) {
            let (bench, expected) = (Bench::new(entry, file, edit), is_held(entry, edit));
            tried += 1;
            if bench.passes("below", 1) == expected {
                wrong.push(format!("{edit:?} {} in {}: held {expected}", entry.path.join("."), FILES[file]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_client_below_a_session_does_nothing_with_settings_that_wait_there() {
    check(&diverting(), |entry, edit| match edit {
        Edit::Comes | Edit::Changes => true,
        Edit::Goes => entry.stays,
        Edit::Stays => false,
    });
}

#[test]
fn ordinary_settings_hold_no_client_below() {
    check(&ordinary(), |_, _| false);
}

#[test]
fn the_person_is_told_once_above_and_a_reload_lets_the_client_below_go_on() {
    for (at, entry) in diverting().iter().enumerate().step_by(13) {
        let bench = Bench::new(entry, at % FILES.len(), Edit::Comes);
        assert!(!bench.passes("below", 1), "{entry:?}");
        let name = entry.path.last().unwrap();
        let told = bench.prompt("above", 2);
        assert!(told.contains("a client that its agent started") && told.contains(name), "{told}");
        assert!(!told.contains("block") && !bench.prompt("above", 3).contains(name), "{entry:?}");
        // The client below works with what it has read, whatever the file holds by now.
        bench.undo();
        assert!(!bench.passes("below", 4), "{entry:?}");
        bench.world.write(FILES[bench.file], with(&bench.plain, entry, 0).to_string());
        assert!(!bench.passes("below", 5), "{entry:?}");
        bench.reload();
        assert!(bench.passes("below", 6) && bench.passes("above", 7), "{entry:?}");
    }
}

#[test]
fn a_session_that_the_client_below_begins_anew_is_held_too() {
    let bench = Bench::new(&diverting()[0], 1, Edit::Comes);
    let below = bench.processes.pids[1];
    event(&bench.world, below, "again", "SessionStart", &json!({"source": "clear"}));
    assert!(call(&bench.world, below, "again", "t1").contains(r#""deny""#));
    // So is the client of its own agent.
    start(&bench.world, bench.processes.pids[2], "deepest");
    assert!(call(&bench.world, bench.processes.pids[2], "deepest", "t2").contains(r#""deny""#));
}

#[test]
fn a_name_as_long_as_its_file_is_not_kept_whole() {
    let mut long = diverting()[0].clone();
    long.path = vec!["env".to_owned(), format!("FUSEBOX_{}", "X".repeat(1 << 20))];
    let bench = Bench::new(&long, 1, Edit::Comes);
    assert!(!bench.passes("below", 1));
    assert!(bench.prompt("above", 2).len() < 10_000 && bench.prompt("below", 3).len() < 10_000);
}

#[test]
fn a_persons_own_client_takes_what_waits() {
    let bench = Bench::of_person(&diverting()[0], 1, Edit::Comes);
    let apart = Processes::start();
    start(&bench.world, apart.pids[0], "own");
    assert_eq!(call(&bench.world, apart.pids[0], "own", "t1"), "");
}

#[test]
fn a_client_in_another_folder_is_held_until_a_person_has_started_one_there() {
    let bench = Bench::of_person(&diverting()[0], 1, Edit::Stays);
    let begin = |client: u32, session: &str, folder: &str| {
        let input = json!({"session_id": session, "transcript_path": bench.world.path(session), "cwd": bench.world.path(folder),
            "hook_event_name": "SessionStart", "source": "startup"});
        bench.world.command(&["hook"]).env("CLAUDE_PID", &client.to_string()).stdin(input).run().ok();
        call(&bench.world, client, session, &format!("t-{session}")).contains(r#""deny""#)
    };
    fs::create_dir_all(bench.world.path("plain")).unwrap();
    bench.world.write("other/.claude/settings.json", r#"{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}}"#);
    assert!(!begin(bench.processes.pids[1], "plain", "plain"), "what is not set there diverts nothing");
    assert!(begin(bench.processes.pids[2], "other", "other"));
    let apart = Processes::start();
    assert!(!begin(apart.pids[0], "own", "other"), "a person's own client is never held");
    // By then a person was told of what is set there.
    assert!(!call(&bench.world, bench.processes.pids[2], "other", "t-later").contains(r#""deny""#));
}

#[test]
fn no_command_starts_a_client_while_a_change_waits() {
    let starts = [
        "claude -p 'go'",
        "cd .. && timeout 9 claude --model opus -p go",
        "sh -c \"npx @anthropic-ai/claude-code -p go\"",
    ];
    let others = ["ls", "claude --version", "claude mcp list", "echo claude -p go", "git commit -m 'claude -p go'"];
    let off = Entry { path: vec!["disableAllHooks".to_owned()], values: [json!(true), json!(true)], stays: false };
    for (at, entry) in diverting().iter().step_by(13).chain([&off]).enumerate() {
        let bench = Bench::of_person(entry, at % FILES.len(), Edit::Comes);
        for (number, command) in starts.iter().enumerate() {
            let said = bench.shell(command, &format!("a{number}"));
            assert!(said.contains(r#""deny""#) && said.contains("`fusebox reload`"), "{entry:?} {command}: {said}");
        }
        for (number, command) in others.iter().enumerate() {
            assert_eq!(bench.shell(command, &format!("b{number}")), "", "{entry:?} {command}");
        }
        if at % 2 == 0 {
            bench.undo()
        } else {
            bench.reload()
        }
        let said = bench.shell(starts[0], "c");
        assert!(!said.contains("deny"), "{entry:?}: {said}");
    }
}
