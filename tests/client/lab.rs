//! A home, a project and a client that know nothing of the machine's own.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Once;
use std::thread;
use std::time::{Duration, Instant};

use fusebox::install::client_versions::Feature;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::Api;
use crate::script::Script;
use crate::transcript;
pub use crate::version::claude;
use crate::version::has;

/// How long anything may take before the test gives up.
pub const PATIENCE: Duration = Duration::from_secs(75);
/// How long to leave what is waited for alone: files and screens send no signal.
const BETWEEN_LOOKS: Duration = Duration::from_millis(30);
const KEY: &str = "sk-ant-none-loopback-only";
/// Every event whose input the tests look at, for a hook of their own beside Fusebox's.
const WITNESSED: [&str; 12] = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "PermissionRequest",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "ConfigChange",
];
/// Keeps the input in a file of its own, named by the time of arrival.
const WITNESS: &str = r#"f="$LAB_HOOKS/$(date +%s%N)-$$"; cat >"$f.part" && mv "$f.part" "$f.json""#;

/// One hermetic setup with a scripted API.
pub struct Lab {
    dir: TempDir,
    pub api: Api,
}

/// How a headless client ended.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    /// The client's own JSON result, or null.
    pub result: Value,
    /// What Fusebox and the client tell the user beside the agent's texts.
    pub told: String,
    pub out: String,
    pub err: String,
    pub took: Duration,
}

impl Run {
    /// Returns the text that the user reads.
    pub fn text(&self) -> &str {
        self.result["result"].as_str().unwrap_or_default()
    }

    /// Whether the user reads these words beside the agent's texts, where the client shows any of them.
    pub fn tells(&self, words: &str) -> bool {
        self.told.contains(words) || !has(Feature::HeadlessNotices)
    }

    /// Returns the client's own total.
    pub fn usd(&self) -> f64 {
        self.result["total_cost_usd"].as_f64().unwrap_or(f64::NAN)
    }

    /// Returns the session's id.
    pub fn session(&self) -> &str {
        self.result["session_id"].as_str().unwrap_or_default()
    }
}

impl Lab {
    /// Lays out a project with `policy` as its `fusebox.json`, and registers Fusebox there.
    pub fn new(policy: Value, scripts: Vec<Script>) -> Lab {
        let lab = Lab::without_fusebox(scripts);
        lab.write(".claude/fusebox.json", &policy.to_string());
        lab.must(&["init"]);
        lab
    }

    /// Lays out a project whose client runs without Fusebox.
    pub fn without_fusebox(scripts: Vec<Script>) -> Lab {
        let dir = TempDir::with_prefix("fusebox-").unwrap();
        let id: String = dir.path().to_string_lossy().chars().filter(char::is_ascii_alphanumeric).collect();
        let lab = Lab { api: Api::start(&id, scripts), dir };
        for folder in ["home/.claude", "project/.claude", "other/.claude", "state", "hooks"] {
            fs::create_dir_all(lab.dir.path().join(folder)).unwrap();
        }
        for folder in [lab.project(), lab.other_project()] {
            assert!(Command::new("git").args(["init", "-q"]).arg(folder).status().unwrap().success());
        }
        let hook = json!([{"hooks": [{"type": "command", "command": WITNESS}]}]);
        let hooks: serde_json::Map<_, _> = WITNESSED.iter().map(|event| (event.to_string(), hook.clone())).collect();
        lab.write_home(".claude/settings.json", &json!({"hooks": hooks}).to_string());
        // A fresh home is made to look used, or the client asks about theme, key and trust first.
        let known = json!({"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true});
        let seen = json!({"hasCompletedOnboarding": true, "theme": "dark", "bypassPermissionsModeAccepted": true,
            "customApiKeyResponses": {"approved": [&KEY[KEY.len() - 20..]], "rejected": []},
            "projects": {lab.project().to_string_lossy().as_ref(): known,
                lab.other_project().to_string_lossy().as_ref(): known}});
        lab.write_home(".claude.json", &seen.to_string());
        lab
    }

    /// Returns the folder of the project.
    pub fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    /// Returns the folder of another repository, in which Fusebox is not registered.
    pub fn other_project(&self) -> PathBuf {
        self.dir.path().join("other")
    }

    /// Returns the folder of Fusebox's state.
    pub fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, text: &str) {
        write(&self.project().join(path), text);
    }

    /// Writes a file below the home folder.
    pub fn write_home(&self, path: &str, text: &str) {
        write(&self.dir.path().join("home").join(path), text);
    }

    /// Returns the environment of everything that is run here, and nothing else.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let here = |name: &str| self.dir.path().join(name).to_string_lossy().into_owned();
        let api = format!("http://127.0.0.1:{}", self.api.port);
        let mut environment = vec![
            ("PATH", format!("{}:{}", folder_of(&fusebox()), std::env::var("PATH").unwrap())),
            ("HOME", here("home")),
            ("TMPDIR", here("")),
            ("LAB_HOOKS", here("hooks")),
            ("FUSEBOX_HOME", here("state")),
            ("ANTHROPIC_BASE_URL", api),
        ];
        let fixed = [("ANTHROPIC_API_KEY", KEY), ("TERM", "xterm-256color"), ("LANG", "C.UTF-8"), ("IS_SANDBOX", "1")];
        let off = [
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "DISABLE_AUTOUPDATER",
            "DISABLE_TELEMETRY",
            "DISABLE_ERROR_REPORTING",
        ];
        environment
            .extend(fixed.into_iter().chain(off.map(|name| (name, "1"))).map(|(name, value)| (name, value.into())));
        environment
    }

    /// Runs `fusebox` in the project, as a person does who has the client on the path.
    pub fn fusebox(&self, args: &[&str]) -> Output {
        self.of_person(&fusebox()).args(args).output().unwrap()
    }

    /// Returns a program as a person starts it, who has the client on the path.
    pub fn of_person(&self, program: &Path) -> Command {
        let path = format!("{}:{}:{}", folder_of(&fusebox()), folder_of(&claude()), std::env::var("PATH").unwrap());
        let mut command = self.command(program);
        // No sentence that a scenario looks for is broken.
        command.env("PATH", path).env("COLUMNS", "200");
        command
    }

    /// Returns the log's records of one event of Fusebox: `AGENT_FAILED`, `AGENT_WARNING`, ...
    pub fn logged(&self, event: &str) -> Vec<Value> {
        let lines = self.must(&["log", "--json"]);
        let records = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        records.filter(|record| record["event"] == event).collect()
    }

    /// Runs `fusebox` and returns its output; the test fails if the command does.
    pub fn must(&self, args: &[&str]) -> String {
        let output = self.fusebox(args);
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "fusebox {args:?}: {out}{}", String::from_utf8_lossy(&output.stderr));
        out
    }

    /// Returns what `fusebox status` says.
    pub fn status(&self) -> Value {
        serde_json::from_str(&self.must(&["status", "--all", "--json"])).unwrap()
    }

    /// Returns the runs of all sessions, as `fusebox status --json` has them.
    pub fn runs(&self) -> Vec<Value> {
        let sessions = self.status()["sessions"].as_array().unwrap().clone();
        sessions.iter().flat_map(|session| session["runs"].as_array().unwrap().clone()).collect()
    }

    /// Returns the one run of agents of type `kind`; main runs are of type `main`.
    pub fn run_of(&self, kind: &str) -> Value {
        let is_main = |run: &Value| run["parent_run_id"].is_null() && run["depth"] == 0;
        let of_kind = |run: &&Value| if kind == "main" { is_main(run) } else { run["agent_type"] == kind };
        let runs = self.runs();
        let found: Vec<&Value> = runs.iter().filter(of_kind).collect();
        assert_eq!(found.len(), 1, "runs of {kind} among {runs:#?}");
        found[0].clone()
    }

    /// Runs a headless client that may do anything.
    pub fn claude(&self, prompt: &str, args: &[&str]) -> Run {
        self.headless(&claude(), &[], prompt, args)
    }

    /// Runs the same in the other repository.
    pub fn claude_in_the_other(&self, prompt: &str) -> Run {
        let mut command = self.command(&claude());
        command.current_dir(self.other_project());
        self.finish(command, prompt)
    }

    /// Runs the same below `fusebox run`.
    pub fn fusebox_run(&self, prompt: &str, args: &[&str]) -> Run {
        self.headless(&fusebox(), &["run", "--", &claude().to_string_lossy()], prompt, args)
    }

    fn headless(&self, program: &Path, before: &[&str], prompt: &str, args: &[&str]) -> Run {
        let mut command = self.command(program);
        command.args(before).args(args);
        self.finish(command, prompt)
    }

    /// Runs a headless client that may do anything, however it is started.
    pub fn finish(&self, mut command: Command, prompt: &str) -> Run {
        let began = Instant::now();
        let aloud = ["--output-format", "stream-json", "--verbose"];
        command.args(["-p", prompt, "--dangerously-skip-permissions"]).args(aloud);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = read(child.stdout.take().unwrap());
        let err = read(child.stderr.take().unwrap());
        let code = end(&mut child, began);
        let (out, err) = (out.join().unwrap(), err.join().unwrap());
        assert!(began.elapsed() < PATIENCE, "the client did not end\nout: {out}\nerr: {err}\n{}", self.story());
        let rows: Vec<Value> = out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let shown = rows.iter().filter(|row| row["type"] == "system" && row["subtype"] == "informational");
        let told = shown.map(Value::to_string).collect::<Vec<_>>().join("\n");
        let result = rows.iter().rfind(|row| row["type"] == "result").cloned().unwrap_or_default();
        Run { code, result, told, out, err, took: began.elapsed() }
    }

    /// Starts a program in the project.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.project()).env_clear().envs(self.environment());
        command
    }

    /// Returns the inputs of all hook calls so far, in the order of arrival.
    pub fn hooks(&self) -> Vec<Value> {
        let files = fs::read_dir(self.dir.path().join("hooks")).unwrap().flatten().map(|entry| entry.path());
        let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
        files.sort();
        // A client that is ended meanwhile leaves an input that is empty or half.
        files.iter().filter_map(|path| serde_json::from_slice(&fs::read(path).unwrap()).ok()).collect()
    }

    /// Returns the inputs of one event.
    pub fn events(&self, name: &str) -> Vec<Value> {
        self.hooks().into_iter().filter(|input| input["hook_event_name"] == name).collect()
    }

    /// Returns the shell commands that really ran, by whichever agent.
    ///
    /// The transcript is late, and a hook is killed where another one stops the agent, so each fills the other's gaps.
    pub fn ran(&self) -> Vec<String> {
        let ends = ["PostToolUse", "PostToolUseFailure"];
        let ended =
            |input: &Value| input["tool_name"] == "Bash" && ends.iter().any(|end| input["hook_event_name"] == *end);
        let call = |input: &Value| {
            let id = input["tool_use_id"].as_str().unwrap_or_default();
            (id.to_string(), input["tool_input"]["command"].as_str().unwrap_or_default().to_string())
        };
        let mut ran: Vec<(String, String)> = self.hooks().iter().filter(|input| ended(input)).map(call).collect();
        for (id, command) in transcript::commands_run(&self.dir.path().join("home/.claude/projects")) {
            if ran.iter().all(|(known, _)| *known != id) {
                ran.push((id, command));
            }
        }
        ran.into_iter().map(|(_, command)| command).collect()
    }

    /// Waits until `holds`, for as long as patience lasts; `what` is for the report of a failure.
    pub fn until(&self, what: &str, holds: impl Fn() -> bool) {
        self.until_in(PATIENCE, what, holds);
    }

    /// Waits until `holds`, for so long at the most.
    pub fn until_in(&self, patience: Duration, what: &str, holds: impl Fn() -> bool) {
        let began = Instant::now();
        while !holds() {
            assert!(began.elapsed() < patience, "waited in vain for {what}\n{}", self.story());
            thread::park_timeout(BETWEEN_LOOKS);
        }
    }

    /// Tells in one line a hook call what happened, for the report of a failure.
    pub fn story(&self) -> String {
        let line = |input: &Value| {
            let word = |key: &str| input[key].as_str().unwrap_or("-").to_string();
            let detail = input["tool_input"].to_string() + &input["prompt"].to_string();
            let detail: String = detail.chars().take(160).collect();
            format!("{} {} {} {detail}", word("hook_event_name"), word("agent_id"), word("tool_name"))
        };
        self.hooks().iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if thread::panicking() {
            self.dir.disable_cleanup(true);
            eprintln!("kept for a look: {}\n{}", self.dir.path().display(), self.story());
        }
    }
}

fn folder_of(program: &Path) -> String {
    program.parent().unwrap().display().to_string()
}

/// Puts a copy of the program somewhere. Another process writes it: a file that this one has open for writing, and with it a
/// child of another thread, cannot be run.
pub fn copy_fusebox(to: impl AsRef<Path>) {
    assert!(Command::new("cp").arg(fusebox()).arg(to.as_ref()).status().unwrap().success());
}

/// Returns the binary under test, in a folder of its own: where cargo builds it, `init` would register a copy.
pub fn fusebox() -> PathBuf {
    const PLACE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/client/fusebox");
    static PLACED: Once = Once::new();
    PLACED.call_once(|| {
        let named = std::env::var_os("FUSEBOX_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_fusebox").into());
        fs::create_dir_all(Path::new(PLACE).parent().unwrap()).unwrap();
        let new = format!("{PLACE}-{}", std::process::id());
        fs::hard_link(&named, &new).or_else(|_| fs::copy(&named, &new).map(|_| ())).unwrap();
        fs::rename(&new, PLACE).unwrap();
    });
    PathBuf::from(PLACE)
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut text = Vec::new();
        pipe.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    })
}

fn end(child: &mut Child, began: Instant) -> Option<i32> {
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
        }
        thread::park_timeout(BETWEEN_LOOKS);
    }
}
