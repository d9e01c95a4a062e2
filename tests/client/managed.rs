//! The managed file, in a file system of the client's own, so that nothing of this machine's is touched.

use std::process::Command;

use serde_json::{Value, json};

use crate::lab::{Lab, Run, claude, fusebox};
use crate::script::{Script, agent, call, child, main, say, work};
use crate::terminal::Terminal;

/// Lays a copy of the machine's settings over them, for this process and those that it starts.
const APART: [&str; 4] = ["--", "sh", "-c", r#"mount --bind "$0" /etc && exec "$@""#];

/// A lab with a managed file, whose `/etc` is a copy of the machine's.
pub struct Managed {
    pub lab: Lab,
}

impl Managed {
    /// A lab whose managed `fusebox.json` says `managed`; its agent works for ever.
    pub fn new(managed: &Value, project: Value) -> Managed {
        Managed::with(managed, project, vec![main([call([work()])]).forever()])
    }

    /// The same with scripts of its own.
    pub fn with(managed: &Value, project: Value, scripts: Vec<Script>) -> Managed {
        Managed::in_lab(Lab::new(project, scripts), managed)
    }

    fn in_lab(lab: Lab, managed: &Value) -> Managed {
        let etc = lab.other_project().join("etc");
        let copied = Command::new("cp").args(["-a", "/etc"]).arg(&etc).status().unwrap();
        assert!(copied.success());
        lab.write("../other/etc/claude-code/fusebox.json", &managed.to_string());
        Managed { lab }
    }

    fn before(&self) -> Vec<String> {
        let etc = self.lab.other_project().join("etc").to_string_lossy().into_owned();
        // A user that may mount needs no user namespace, which some machines forbid.
        let mounts = Command::new("unshare").args(["-m", "--", "true"]).output().unwrap().status.success();
        let own = if mounts { "-m" } else { "-Umr" };
        ["unshare", own].into_iter().chain(APART).map(str::to_owned).chain([etc]).collect()
    }

    fn command(&self) -> Command {
        let before = self.before();
        let mut command = self.lab.command(before[0].as_ref());
        command.args(&before[1..]);
        command
    }

    /// Runs a headless client beside the managed file.
    pub fn claude(&self, prompt: &str) -> Run {
        let mut command = self.command();
        command.arg(claude());
        self.lab.finish(command, prompt)
    }

    /// Runs `fusebox` beside the managed file; returns all that it says.
    pub fn fusebox(&self, args: &[&str]) -> String {
        let output = self.command().arg(fusebox()).args(args).output().unwrap();
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat()
    }
}

#[test]
fn what_is_locked_nobody_else_changes() {
    let managed = json!({"main": {"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate"}, "locked": ["main.max_turns"]});
    let world = Managed::new(&managed, json!({"main": {"max_turns": 50, "max_requests": 40}}));
    world.lab.write_home(".claude/fusebox.json", r#"{"main": {"max_turns": null}}"#);
    let check = world.fusebox(&["config", "check"]);
    let said = ["the managed fusebox.json has locked it", "the stricter `max_turns: 2` (managed) stands: it is locked"];
    assert_eq!(said.map(|words| check.matches(words).count()), [1, 1], "{check}");
    assert_eq!(world.claude("MAIN start").code, Some(0));
    assert_eq!(world.lab.ran().len(), 2);
    let run = world.lab.run_of("main");
    assert_eq!((&run["trips"][0]["limit"], &run["trips"][0]["layer"]), (&json!("max_turns"), &json!("managed")));
    let granted = world.fusebox(&["grant", run["run_id"].as_str().unwrap(), "max_turns=+5"]);
    assert!(granted.contains("locked"), "{granted}");
    assert!(world.lab.logged("LIMIT_GRANTED").is_empty());
}

#[test]
fn nobody_is_asked_to_raise_what_is_locked() {
    let managed = json!({"main": {"max_turns": 2, "grace_turns": 0, "timeout_action": "request_increase"}, "locked": ["main.max_turns"]});
    let world = Managed::new(&managed, json!({}));
    let terminal = Terminal::open_below(&world.lab, &world.before(), &[]);
    terminal.types("MAIN start");
    terminal.sees("tool calls 2/2 (max_turns");
    world.lab.until("the end of the run", || world.lab.run_of("main")["status"] == "failed");
    assert_eq!((world.lab.ran().len(), world.lab.events("PermissionRequest").len()), (2, 0));
}

#[test]
fn without_a_lock_the_managed_file_still_has_the_last_word() {
    let managed = json!({"main": {"max_turns": 3, "grace_turns": 0, "timeout_action": "terminate"}});
    let world = Managed::new(&managed, json!({"main": {"max_turns": 1}}));
    world.claude("MAIN start");
    assert_eq!(world.lab.ran().len(), 3);
    let run = world.lab.run_of("main");
    let granted = world.fusebox(&["grant", run["run_id"].as_str().unwrap(), "max_turns=+5"]);
    assert!(world.lab.logged("LIMIT_GRANTED").len() == 1, "{granted}");
}

/// Of a managed hook's answer to PostToolUse the client shows nothing, and there the parent learns of a subagent's end.
#[test]
fn a_person_reads_of_a_subagent_that_managed_hooks_have_stopped() {
    let managed = json!({"agents": {"*": {"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate"}}});
    let looping = child("CHILD-A", [call([work()])]).forever();
    let scripts = vec![looping, main([call([agent("CHILD-A loop")]), say("done")])];
    let world = Managed::in_lab(Lab::without_fusebox(scripts), &managed);
    let said = world.fusebox(&["init", "--scope", "managed"]);
    let run = world.claude("MAIN start");
    assert_eq!(world.lab.ran().len(), 2, "{said}");
    assert!(run.tells("Fusebox stopped general-purpose") && run.tells("2/2 (max_turns"), "{}", run.told);
}
