//! A session whose agent tries its ways around a limit and then works on, until the limit stops it.

use serde_json::{Value, json};

use crate::lab::{Lab, Run};
use crate::script::{Tool, bash, call, main, work};

/// The calls that are left to an agent after its attempts.
pub const LEFT: usize = 2;
/// How a client says that it refuses to write a file by itself.
pub const NOT_READ: &str = "has not been read yet";

/// A lab, and what happened in it.
pub struct Trial {
    pub lab: Lab,
    pub run: Run,
    /// What the model read as the result of each attempt.
    pub results: Vec<String>,
}

/// Lets the main agent make so many calls, and two more.
pub fn policy(attempts: usize) -> Value {
    json!({"main": {"max_turns": attempts + LEFT, "grace_turns": 0, "timeout_action": "terminate"}})
}

/// A lab whose agent makes its attempts, a batch in each response, and then works for ever.
pub fn lab(policy: Value, batches: &[Vec<Tool>]) -> Lab {
    let lab = unregistered(batches);
    lab.write(".claude/fusebox.json", &policy.to_string());
    lab.must(&["init"]);
    lab
}

/// The same without Fusebox and a policy.
pub fn unregistered(batches: &[Vec<Tool>]) -> Lab {
    let steps = batches.iter().cloned().map(call).chain([call([work()])]);
    Lab::without_fusebox(vec![main(steps).forever()])
}

/// One attempt a batch.
pub fn in_turn(attempts: impl IntoIterator<Item = Tool>) -> Vec<Vec<Tool>> {
    attempts.into_iter().map(|attempt| vec![attempt]).collect()
}

/// How many changes of its settings the client has told of, for a shell.
const TOLD: &str = r#"$(grep -l '"hook_event_name":"ConfigChange"' "$LAB_HOOKS"/*.json | wc -l)"#;

/// A shell command that waits until the client has told of so many changes of its settings.
pub fn settled(changes: usize) -> Tool {
    bash(&format!(
        "for i in $(seq 200); do test {TOLD} -ge {changes} && break; sleep .1; done; test {TOLD} -ge {changes}"
    ))
}

/// A shell command that touches the user's settings, which changes nothing, until the client tells of it. A touch that it has not
/// told of after some seconds it never does.
pub fn noticed() -> Tool {
    let look = format!("for k in $(seq 50); do test {TOLD} -ge 1 && break 2; sleep .1; done");
    bash(&format!("for i in $(seq 5); do touch ~/.claude/settings.json; {look}; done; test {TOLD} -ge 1"))
}

impl Trial {
    /// Runs the client in a lab with these attempts.
    pub fn run(lab: Lab, batches: &[Vec<Tool>]) -> Trial {
        Trial::run_with(lab, batches, &[])
    }

    /// The same with options of the client's command line.
    pub fn run_with(lab: Lab, batches: &[Vec<Tool>], options: &[&str]) -> Trial {
        let run = lab.claude("MAIN start", options);
        let attempts = batches.iter().map(Vec::len).sum();
        let results = results(&lab);
        assert_eq!(run.code, Some(0), "{}", run.err);
        assert!(results.len() >= attempts, "{results:#?}\n{}", lab.story());
        Trial { results: results[..attempts].to_vec(), lab, run }
    }

    /// The agent's own work after its attempts was exactly what was left to it.
    pub fn held(&self) {
        self.held_to(LEFT);
    }

    /// Its work was so much.
    pub fn held_to(&self, left: usize) {
        let steps = self.lab.ran().iter().filter(|command| command.starts_with("echo step")).count();
        assert_eq!(steps, left, "{:#?}\n{}", self.results, self.lab.story());
        assert_eq!(self.lab.run_of("main")["stop_reason"], "turn_limit_reached");
    }

    /// Leaves out the attempts that the client has refused by itself, as some versions do where a file has not been read. They count
    /// as calls; returns how many they are.
    pub fn leave_out_rejected(&mut self) -> usize {
        let all = self.results.len();
        self.results.retain(|result| !result.contains(NOT_READ));
        all - self.results.len()
    }

    /// What the model read of every attempt has these words.
    pub fn all(&self, words: &str) {
        for (at, result) in self.results.iter().enumerate() {
            assert!(result.contains(words), "attempt {at}: {result}");
        }
    }

    /// The user reads these words beside the agent's, and the log has them.
    pub fn user_reads(&self, words: &str) {
        assert!(self.run.tells(words), "{}", self.run.told);
        assert!(self.logs(words), "{}", self.lab.must(&["log", "--json"]));
    }

    /// Whether the log has these words.
    pub fn logs(&self, words: &str) -> bool {
        self.lab.must(&["log", "--json"]).contains(words)
    }
}

/// Returns the results that the model has read so far, in the order of its calls.
fn results(lab: &Lab) -> Vec<String> {
    let last = lab.api.requests_of("MAIN").pop().unwrap();
    let blocks = last["messages"].as_array().unwrap().iter().flat_map(|message| message["content"].as_array().cloned());
    let results = blocks.flatten().filter(|block| block["type"] == "tool_result");
    results.map(|block| block["content"].to_string()).collect()
}
