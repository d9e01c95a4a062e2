//! The workflow of `docs/ci.md`: it is whole, and its commands do on a runner of the test's own what the page says.

mod gitlab;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::world::{FUSEBOX, Outcome, TestWorld};

/// A step's keys with their values; `with.path` is what stands below `with`.
type Step = BTreeMap<String, String>;

/// What the runner knows, and puts in place of `${{ … }}`.
const CONTEXT: [(&str, &str); 5] = [
    ("vars.FUSEBOX_REPOSITORY", "someone/fusebox"),
    ("runner.temp", "[RUNNER_TEMP]"),
    ("github.run_id", "[RUN]"),
    ("github.run_attempt", "1"),
    ("secrets.ANTHROPIC_API_KEY", "a-key"),
];

/// Returns the page's workflow.
fn workflow() -> String {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ci.md")).unwrap();
    let (_, rest) = page.split_once("```yaml\n").unwrap();
    rest.split_once("```\n").unwrap().0.to_owned()
}

/// Returns the steps of the workflow's one job.
fn steps(workflow: &str) -> Vec<Step> {
    let (_, steps) = workflow.split_once("    steps:\n").unwrap();
    format!("\n{steps}").split("\n      - ").skip(1).map(step).collect()
}

/// Reads a step: keys with a value, a block of lines, or keys below.
fn step(text: &str) -> Step {
    let (mut step, mut above) = (Step::new(), String::new());
    for line in text.lines() {
        let begun = step.get_mut(&above).filter(|block| block.starts_with('|'));
        if let (Some(block), Some(line)) = (begun, line.strip_prefix("          ")) {
            *block += &format!("\n{line}");
            continue;
        }
        let (key, value) = line.trim_start().split_once(':').unwrap();
        let value = value.trim();
        if line.starts_with("          ") {
            step.insert(format!("{above}.{key}"), value.to_owned());
        } else {
            key.clone_into(&mut above);
            step.insert(key.to_owned(), value.to_owned());
        }
    }
    step
}

/// A runner: what one job leaves behind is gone before the next, but for the cache.
struct Runner {
    world: TestWorld,
    run: u32,
}

/// Makes a world with the programs that a job installs others by: they install this Fusebox, and `tools/client`.
fn with_installers() -> TestWorld {
    let world = TestWorld::new();
    let bin = world.path("bin").display().to_string();
    let installs = format!("grep -q '^name = \"fusebox-cli\"' \"$4/Cargo.toml\" && ln -s '{FUSEBOX}' {bin}/");
    world.script("tools/cargo", &format!("[ \"$1 $2 $3\" = 'install --locked --path' ] && {installs}"));
    world.script(
        "tools/npm",
        &format!("[ \"$*\" = 'install -g @anthropic-ai/claude-code' ] && cp {bin}/../tools/client {bin}/claude"),
    );
    world
}

impl Runner {
    fn new() -> Runner {
        Runner { world: with_installers(), run: 0 }
    }

    /// Runs the workflow with a client that makes so many calls; returns what each step did, by its name.
    fn job(&mut self, calls: u32) -> BTreeMap<String, Outcome> {
        self.run += 1;
        for place in ["runner", "home", "bin"] {
            let _gone = fs::remove_dir_all(self.world.path(place));
            fs::create_dir_all(self.world.path(place)).unwrap();
        }
        fs::create_dir_all(self.world.path("runner/temp")).unwrap();
        self.world.write("runner/variables", "");
        self.world.script("tools/client", &client(self.run, calls));
        let (mut done, mut has_failed) = (BTreeMap::new(), false);
        for step in steps(&workflow()) {
            let filled = step.into_iter().map(|(key, value)| (key, self.fill(&value)));
            let step: Step = filled.collect();
            if has_failed && step.get("if").is_none_or(|when| when != "always()") {
                continue;
            }
            let name = step["name"].clone();
            let Some(uses) = step.get("uses") else {
                let outcome = self.command(&step);
                has_failed |= outcome.code != 0;
                done.insert(name, outcome);
                continue;
            };
            self.action(uses.split_once('@').unwrap().0, &step);
        }
        done
    }

    fn fill(&self, text: &str) -> String {
        let known = CONTEXT.iter().fold(text.to_owned(), |text, (name, value)| {
            let value = value.replace("[RUNNER_TEMP]", &self.world.path("runner/temp").display().to_string());
            text.replace(&format!("${{{{ {name} }}}}"), &value.replace("[RUN]", &self.run.to_string()))
        });
        assert!(!known.contains("${{"), "{known}");
        known
    }

    /// Does what a public action does.
    fn action(&self, action: &str, step: &Step) {
        let place = &step["with.path"];
        match action {
            "actions/checkout" if step.contains_key("with.repository") => {
                let fusebox = self.world.path("runner/workspace").join(place);
                std::os::unix::fs::symlink(env!("CARGO_MANIFEST_DIR"), fusebox).unwrap();
            }
            "actions/checkout" => {
                let policy = r#"{"main": {"max_turns": 1, "timeout_action": "terminate", "grace_turns": 0}}"#;
                let folder = format!("runner/workspace/{place}");
                fs::create_dir_all(self.world.path(&folder).join(".git/info")).unwrap();
                self.world.write(&format!("{folder}/.claude/fusebox.json"), policy);
            }
            "actions/cache/restore" => {
                assert!(step["with.key"].starts_with(&step["with.restore-keys"]), "{step:?}");
                let newest = (1..self.run).rev().map(|run| self.cache(&step["with.key"], run));
                if let Some(found) = newest.into_iter().find(|path| Path::new(path).exists()) {
                    self.copy(&found, place);
                }
            }
            "actions/cache/save" => {
                fs::create_dir_all(self.world.path("cache")).unwrap();
                self.copy(place, &self.cache(&step["with.key"], self.run));
            }
            other => assert_eq!(other, "", "the test does not know what it does"),
        }
    }

    /// Returns where a cache lies under its key, as another run has it.
    fn cache(&self, key: &str, run: u32) -> String {
        let key = key.replace(&format!("-{}-", self.run), &format!("-{run}-"));
        self.world.path("cache").join(key).display().to_string()
    }

    fn copy(&self, from: &str, into: &str) {
        self.world.program("/bin/cp", &["-r", from, into]).folder("runner").run().ok();
    }

    /// Runs a step's commands as a runner does: by `bash -e`, with what earlier steps have put into `GITHUB_ENV`.
    fn command(&self, step: &Step) -> Outcome {
        self.world.write("runner/step.sh", step["run"].trim_start_matches(['|', '\n']));
        let script = self.world.path("runner/step.sh").display().to_string();
        let search = ["tools", "bin"].map(|place| self.world.path(place).display().to_string()).join(":");
        let folder = step.get("working-directory").map_or(String::new(), |folder| format!("/{folder}"));
        let mut command = self.world.program("/usr/bin/env", &["-u", "FUSEBOX_HOME", "bash", "-e", &script]);
        let variables = self.world.read("runner/variables").unwrap();
        for (name, value) in variables.lines().map(|line| line.split_once('=').unwrap()) {
            // `env` would take it away again.
            assert_eq!(name, "FUSEBOX_HOME");
            command = self.world.program("/usr/bin/env", &[&format!("{name}={value}"), "bash", "-e", &script]);
        }
        for (key, value) in step.iter().filter_map(|(key, value)| Some((key.strip_prefix("env.")?, value))) {
            command = command.env(key, value);
        }
        command
            .env("PATH", &format!("{search}:/usr/bin:/bin"))
            .env("GITHUB_ENV", self.world.path("runner/variables").to_str().unwrap())
            .env("RUNNER_TEMP", self.world.path("runner/temp").to_str().unwrap())
            .folder(&format!("runner/workspace{folder}"))
            .run()
    }
}

/// A client that needs the key and the options, and makes so many calls in a session of its own.
fn client(run: u32, calls: u32) -> String {
    let event = |rest: &str| {
        format!(
            "echo '{{\"session_id\":\"job{run}\",\"transcript_path\":\"\",\"cwd\":\"'\"$PWD\"'\",\"prompt_id\":\"p{run}\",{rest}}}' | \
             fusebox hook >/dev/null\n"
        )
    };
    let call = |call: u32| {
        let id = format!("\"tool_use_id\":\"t{run}-{call}\"");
        event(&format!("\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Read\",\"tool_input\":{{}},{id}"))
    };
    let given = "-p fix the tests --allowedTools Bash,Edit,Write --output-format json";
    let begins = format!("[ \"$ANTHROPIC_API_KEY\" = a-key ] && [ \"$*\" = '{given}' ] || exit 9\n");
    let prompt = event("\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"go\"");
    format!("{begins}{prompt}{}echo '{{}}'", (0..calls).map(call).collect::<String>())
}

#[test]
fn a_job_that_a_limit_stopped_is_reported_and_its_state_goes_on_to_the_next() {
    let mut runner = Runner::new();
    let stopped = runner.job(2);
    assert_eq!(stopped["Install"].code, 0, "{}", stopped["Install"]);
    assert_eq!(stopped["Register for this job"].code, 0, "{}", stopped["Register for this job"]);
    let work = &stopped["Work"];
    assert_eq!(work.code, 3, "{work}");
    assert!(work.stderr.contains("stopped: tool calls 1/1 (max_turns, project)"), "{work}");
    let told = &stopped["What it cost, and what stopped it"];
    assert!(told.code == 0 && told.stdout.contains("max_turns"), "{told}");

    let passed = runner.job(1);
    assert_eq!(passed["Work"].to_string(), "[exit 0]");
    assert_eq!(runner.world.read("runner/temp/result.json").as_deref(), Some("{}\n"));
    let told = &passed["What it cost, and what stopped it"].stdout;
    assert!(["job1", "job2", "max_turns"].iter().all(|part| told.contains(part)), "{told}");
    assert!(told.ends_with("\n{}\n"), "what the client answered: {told}");
    assert!(told.contains(", before session job2 began, the newest of this project.\n"), "{told}");
}

#[test]
fn the_workflow_has_all_that_a_runner_needs() {
    let workflow = workflow();
    for key in ["name: ", "on: ", "concurrency: ", "permissions:", "jobs:", "    runs-on: ", "    timeout-minutes: "] {
        assert_eq!(workflow.lines().filter(|line| line.starts_with(key)).count(), 1, "{key}");
    }
    let steps = steps(&workflow);
    let mut folders = Vec::new();
    for step in &steps {
        assert!(step.contains_key("uses") != step.contains_key("run"), "{step:?}");
        if step.get("uses").is_some_and(|uses| uses.starts_with("actions/checkout@v")) {
            folders.push(&step["with.path"]);
        }
        assert!(step.get("working-directory").is_none_or(|folder| folders.contains(&folder)), "{step:?}");
    }
    assert_eq!(folders.len(), 2);
    let cached = |action: &str| steps.iter().find(|step| step.get("uses").is_some_and(|uses| uses.starts_with(action)));
    let (restored, saved) = (cached("actions/cache/restore@v").unwrap(), cached("actions/cache/save@v").unwrap());
    assert_eq!((&restored["with.path"], &restored["with.key"]), (&saved["with.path"], &saved["with.key"]));
}
