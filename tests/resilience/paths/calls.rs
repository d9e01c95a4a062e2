//! Every kind of hook call, in a session whose caps are used up: main's and its agent's.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::session::Session;

/// The agent of the session.
const AGENT: &str = "a1";
/// What is tried in turn lies in these folders.
const TRIED: [&str; 4] = ["home", "project", "main", "outside"];

/// One kind of hook call.
pub struct Call {
    /// Its name, for people.
    pub name: String,
    /// What the hook is told.
    pub event: Value,
    /// Whether the worst paths are tried with every kind of thing before it.
    pub is_worst: bool,
}

impl Call {
    /// Returns the call over the cap that follows it; none where it is one.
    pub fn over_cap(&self, session: &Session) -> Option<Value> {
        let of_agent = self.event.get("agent_id").is_some();
        let acting = if of_agent { session.agent(AGENT) } else { session.clone() };
        (self.event["hook_event_name"] != "PreToolUse").then(|| acting.requests("Read", "t9"))
    }
}

/// Returns every kind of call.
pub fn all(session: &Session) -> Vec<Call> {
    let agent = session.agent(AGENT);
    let ended = json!({"stop_hook_active": false, "last_assistant_message": "done", "background_tasks": []});
    let failed = |session: &Session| {
        let mut event = session.ends("Read", "t1");
        event["hook_event_name"] = json!("PostToolUseFailure");
        event["error"] = json!("no such file");
        event
    };
    let dialog =
        |session: &Session| session.event("PermissionRequest", &json!({"tool_name": "Read", "tool_input": {}}));
    let change =
        json!({"source": "project_settings", "file_path": session.fixture.text("project/.claude/settings.json")});
    let mut resumed = session.starts();
    resumed["source"] = json!("resume");
    let mut another = Session::named(session.fixture, "s2").starts();
    another["source"] = json!("startup");
    let events = [
        resumed,
        another,
        session.prompt(),
        session.requests("Read", "t8"),
        session.requests("Agent", "t8"),
        dialog(session),
        session.ends("Read", "t1"),
        failed(session),
        session.batch("Read", "t1"),
        session.event("Stop", &ended),
        session.event("SessionEnd", &json!({"reason": "other"})),
        session.event("ConfigChange", &change),
        agent.requests("Read", "u8"),
        dialog(&agent),
        agent.ends("Read", "u1"),
        failed(&agent),
        agent.batch("Read", "u1"),
        agent.event("SubagentStart", &json!({})),
        agent.event("SubagentStop", &ended),
    ];
    events.into_iter().map(call).collect()
}

fn call(event: Value) -> Call {
    let name = event["hook_event_name"].as_str().unwrap_or_default();
    let who = if event.get("agent_id").is_some() { "the agent's " } else { "main's " };
    let what = event["tool_name"].as_str().or(event["source"].as_str()).unwrap_or_default();
    let is_worst = name == "PreToolUse" && who == "main's " && what == "Read";
    Call { name: format!("{who}{name} {what}").trim_end().to_owned(), event, is_worst }
}

/// Makes a fixture where every file lies that a client may have, and a session in it that has used up its caps.
pub fn fixture() -> Fixture {
    let rules = json!({"max_turns": 2, "grace_turns": 0, "warn_at": [],
        "checkpoints": {"file": "steps.json", "required": ["START"]}});
    let fixture = Fixture::under(&json!({"main": rules, "agents": {"developer": rules}}));
    files(&fixture);
    let session = Session::begin(&fixture, "s1");
    session.works("t1");
    fixture.hook().tell(&session.requests("Agent", "t2")).ok();
    session.append(&session.rows("Agent", "t2"));
    let agent = session.agent(AGENT);
    let meta = json!({"agentType": "developer", "toolUseId": "t2", "spawnDepth": 1});
    fixture.write(&agent.transcript().replace(".jsonl", ".meta.json"), format!("{meta}\n"));
    fixture.hook().tell(&agent.event("SubagentStart", &json!({}))).ok();
    for id in ["u1", "u2"] {
        agent.works(id);
    }
    fixture.keep("kept/live");
    for folder in TRIED {
        copy(&fixture, folder, &format!("kept/{folder}"));
    }
    fixture
}

/// Lays every file that a client, a repository or a person may have.
fn files(fixture: &Fixture) {
    let text = "{}";
    for place in [
        "home/.claude/settings.json",
        "project/.claude/settings.json",
        "project/.claude/settings.local.json",
        "project/.claude/fusebox.json",
        "project/.claude/fusebox.local.json",
    ] {
        fixture.write(place, text);
    }
    fixture.write("home/.claude/fusebox.pricing.json", json!({"rows": []}).to_string());
    let agent = "---\nname: developer\ndescription: works\n---\nWork.\n";
    for place in ["home/.claude/agents/developer.md", "project/.claude/agents/developer.md"] {
        fixture.write(place, agent);
    }
    for folder in ["home/.claude/skills/helper", "project/.claude/skills/other", "home/.claude/dev-mods/s1/mod"] {
        fixture.write(&format!("{folder}/hooks/hooks.json"), text);
    }
    // The project is a worktree of a repository beside it.
    for folder in ["objects", "refs"] {
        fs::create_dir_all(fixture.path(&format!("main/.git/{folder}"))).unwrap();
    }
    fixture.write("main/.git/worktrees/project/HEAD", "ref: refs/heads/project\n");
    fixture.write("main/.git/worktrees/project/commondir", "../..\n");
    fixture.write("main/.git/worktrees/project/gitdir", fixture.text("project/.git"));
    fixture.write("project/.git", format!("gitdir: {}\n", fixture.text("main/.git/worktrees/project")));
    fixture.write("project/.claude/logs/execution-limits.log", "");
    fixture.write("project/steps.json", json!({"execution_checkpoints": []}).to_string());
    fixture.write("outside/victim", "a person's own file\n");
    fixture.write("outside/folder/victim", "a person's own file\n");
    crowd(&fixture.path("many"));
}

/// Makes a folder with 100,000 entries, of every name that Fusebox looks for.
fn crowd(folder: &std::path::Path) {
    fs::create_dir(folder).unwrap();
    for number in 0..100_000 {
        let name = match number % 4 {
            0 => format!("agent-x{number}.jsonl"),
            1 => format!("{number}.md"),
            2 => format!("session-{number}"),
            _ => number.to_string(),
        };
        fs::File::create(folder.join(name)).unwrap();
    }
}

/// Puts everything back as it was kept.
pub fn put_back(fixture: &Fixture) {
    end_watches(fixture);
    for folder in TRIED.into_iter().chain(["live"]) {
        copy(fixture, &format!("kept/{folder}"), folder);
    }
}

/// Puts a copy of a folder in the place of another, links and modes as they are.
fn copy(fixture: &Fixture, from: &str, to: &str) {
    let script = r#"chmod -f u+rwx "$2"; { rm -rf "$2" || rm -rf "$2"; } 2>/dev/null && mkdir -p "$(dirname "$2")" && cp -a "$1" "$2""#;
    let done = Command::new("sh").args(["-c", script, "sh", &fixture.text(from), &fixture.text(to)]).status().unwrap();
    assert!(done.success(), "{from} to {to}");
}

/// Ends the processes that hooks have begun and that outlive them: they look at the state while its client lives, and this one's does
/// for ever.
fn end_watches(fixture: &Fixture) {
    let state = fixture.text("live/state");
    for process in fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path()) {
        let holds = |file: &str, text: &str| {
            let bytes = fs::read(process.join(file)).unwrap_or_default();
            bytes.windows(text.len()).any(|part| part == text.as_bytes())
        };
        let is_watch = || holds("cmdline", "hook-watch") && holds("environ", &state);
        while is_watch() {
            let id = process.file_name().unwrap();
            let _gone = Command::new("kill").arg("-KILL").arg(id).stderr(Stdio::null()).status().unwrap();
        }
    }
}
