//! A trial: the registered command, run as the client runs it, in a place of its own with a policy that has to block.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::doctor::diagnosis::Diagnosis;
use crate::doctor::installation::{Installation, registers};
use crate::domain::stable_sort::sort_by_key;
use crate::error::{Error, Result};
use crate::install::files;
use crate::install::handler::Handler;
use crate::platform::changes;
use crate::platform::run_command::Program;
use crate::platform::stopwatch::Stopwatch;
use crate::store::{self, private};

/// How many calls the latency is the median of.
const CALLS: usize = 20;

/// Milliseconds that a hook may take before it is felt.
const NOTICEABLE_MS: f64 = 50.0;

/// One tool call, and then the run is over.
const POLICY: &str = include_str!("trial_policy.json");

/// What must not reach the trial from a client around us.
const OUTSIDE: [&str; 6] = [
    "CLAUDECODE",
    "CLAUDE_PID",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "FUSEBOX_RUN",
    "XDG_STATE_HOME",
];

/// A folder for one trial; it goes when the trial does.
struct Trial {
    folder: PathBuf,
}

impl Drop for Trial {
    fn drop(&mut self) {
        let _gone = changes::remove_folder(&self.folder);
    }
}

impl Trial {
    fn begin(installation: &Installation<'_>, name: &str) -> Result<Trial> {
        let folder = store::folder(installation.env)?.join(format!("trial-{name}-{}", installation.env.pid()));
        let trial = Trial { folder };
        let files = [("claude/fusebox.json", POLICY), ("project/README", "")];
        for (name, content) in files {
            let written = files::write_private(&trial.folder.join(name), content);
            written.map_err(|error| error.hint(private::ELSEWHERE))?;
        }
        Ok(trial)
    }

    /// Sends one tool call through the hook; returns the answer.
    fn call(&self, launch: &Handler, number: usize) -> Result<Value> {
        let input = json!({
            "session_id": "trial", "transcript_path": self.folder.join("none.jsonl"), "cwd": self.folder.join("project"),
            "prompt_id": "trial", "hook_event_name": "PreToolUse", "permission_mode": "default",
            "tool_name": "Read", "tool_input": { "file_path": "README" }, "tool_use_id": format!("toolu_trial_{number}"),
        });
        let failed =
            |cause: &dyn std::fmt::Display| Error::failed(format!("`{}` does not run: {cause}", launch.command));
        let ran = self.command(launch).answer(&format!("{input}\n")).map_err(|cause| failed(&cause))?;
        if !ran.status.success() {
            return Err(failed(&ran.status));
        }
        let text = String::from_utf8_lossy(&ran.out);
        Ok(serde_json::from_str(text.trim()).unwrap_or(Value::Null))
    }

    /// Returns the command as the client makes it of a handler: without a shell in exec form.
    fn command(&self, launch: &Handler) -> Program {
        let program = match &launch.args {
            Some(args) => Program::new(&launch.command).args(args),
            None => Program::shell(&launch.command),
        };
        let project = self.folder.join("project");
        program
            .without(&OUTSIDE)
            .env("FUSEBOX_HOME", self.folder.join("state"))
            .env("CLAUDE_CONFIG_DIR", self.folder.join("claude"))
            .env("CLAUDE_PROJECT_DIR", &project)
            .folder(project)
    }
}

/// Whether what is registered refuses a call past the cap.
pub fn blocking(installation: &Installation<'_>) -> Diagnosis {
    let launches = installation.launches();
    for (number, launch) in launches.iter().enumerate() {
        let name = launch.program().unwrap_or(Path::new(&launch.command)).display().to_string();
        let answers = Trial::begin(installation, &format!("block-{number}"))
            .and_then(|trial| Ok((trial.call(launch, 1)?, trial.call(launch, 2)?)));
        let hint = "run `fusebox init`, which registers again: limits do not hold; `fusebox config show` has the mode in force";
        match answers {
            Err(error) => return Diagnosis::fail(error.to_string(), error.advice().unwrap_or(hint)),
            Ok((first, _)) if is_denied(&first) => return Diagnosis::fail(format!("{name} refuses every call"), hint),
            Ok((_, second)) if !is_denied(&second) => {
                return Diagnosis::fail(format!("{name} let a call past the cap of a trial session"), hint);
            }
            Ok(_) => {}
        }
    }
    match launches.is_empty() {
        true => Diagnosis::fail("nothing is registered that could block", registers(installation)),
        false => Diagnosis::ok("the call past the cap of a trial session was refused"),
    }
}

fn is_denied(answer: &Value) -> bool {
    answer.pointer("/hookSpecificOutput/permissionDecision").and_then(Value::as_str) == Some("deny")
}

/// How long a tool call waits for us.
pub fn latency(installation: &Installation<'_>) -> Diagnosis {
    let hint = "is the state folder on a slow disk, or the machine busy?";
    let Some(launch) = installation.launches().into_iter().next() else {
        return Diagnosis::warn("not measured: nothing is registered", registers(installation));
    };
    match Trial::begin(installation, "latency").and_then(|trial| median(&trial, &launch)) {
        Ok(ms) if ms > NOTICEABLE_MS => Diagnosis::warn(format!("a hook takes {ms:.1} ms (median of {CALLS})"), hint),
        Ok(ms) => Diagnosis::ok(format!("a hook takes {ms:.1} ms (median of {CALLS})")),
        Err(_) => Diagnosis::warn("not measured: the registered command does not run", "see `blocking`"),
    }
}

fn median(trial: &Trial, launch: &Handler) -> Result<f64> {
    let mut times = Vec::with_capacity(CALLS);
    for number in 0..CALLS {
        let begun = Stopwatch::start();
        trial.call(launch, number)?;
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    // Of times, which are above zero, the bits are in the same order.
    sort_by_key(&mut times, |time| time.to_bits());
    Ok(times.get(CALLS / 2).copied().unwrap_or_default())
}
