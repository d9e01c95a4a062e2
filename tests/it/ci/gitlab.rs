//! The job of `docs/ci.md` for GitLab: it is whole, and its commands do on a runner of the test's own what the page says.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::ci::{client, with_installers};
use crate::world::{Outcome, TestWorld};

/// The parts of a job that hold commands.
const COMMANDS: [&str; 3] = ["before_script", "script", "after_script"];

/// A job: each key with its lines, those of a list without their dashes.
type Job = BTreeMap<String, Vec<String>>;

/// Returns the page's job, with the keys below another as `cache.key`.
fn job() -> Job {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ci.md")).unwrap();
    let (_, rest) = page.split_once("# .gitlab-ci.yml\nagent:\n").unwrap();
    let (mut job, mut above) = (Job::new(), String::new());
    for line in rest.split("```\n").next().unwrap().lines() {
        if let Some(entry) = line.strip_prefix("    - ") {
            job.entry(above.clone()).or_default().push(entry.to_owned());
            continue;
        }
        let (key, value) = line.trim_start().split_once(':').unwrap();
        let key = if line.starts_with("    ") { format!("{above}.{key}") } else { key.to_owned() };
        if !key.contains('.') {
            above.clone_from(&key);
        }
        let value = value.split("   #").next().unwrap().trim();
        job.entry(key).or_default().extend((!value.is_empty()).then(|| value.to_owned()));
    }
    job
}

/// A runner: of one job only the cache is left for the next.
struct Runner {
    world: TestWorld,
    run: u32,
}

impl Runner {
    fn new() -> Runner {
        let world = with_installers();
        world.script("tools/apt-get", "[ \"$1\" = update ] || [ \"$*\" = 'install -y nodejs npm' ]");
        let fusebox = env!("CARGO_MANIFEST_DIR");
        let clones =
            format!("[ \"$1 $2 $3 $4\" = 'clone --depth 1 https://git.example/fusebox' ] && ln -s {fusebox} \"$5\"");
        world.script("tools/git", &clones);
        Runner { world, run: 0 }
    }

    /// Runs the job with a client that makes so many calls; returns what its script and its last commands did.
    fn job(&mut self, calls: u32) -> [Outcome; 2] {
        self.run += 1;
        let job = job();
        let world = &self.world;
        for place in ["builds", "home", "bin"] {
            let _gone = fs::remove_dir_all(world.path(place));
            fs::create_dir_all(world.path(place)).unwrap();
        }
        let policy = r#"{"main": {"max_turns": 1, "timeout_action": "terminate", "grace_turns": 0}}"#;
        world.write("builds/work/.claude/fusebox.json", policy);
        fs::create_dir_all(world.path("builds/work/.git/info")).unwrap();
        world.script("tools/client", &client(self.run, calls));
        let cached = &job["cache.paths"][0].trim_matches(['[', ']']).to_owned();
        self.copy("cache", &format!("builds/work/{cached}"));
        let work = [job["before_script"].as_slice(), &job["script"]].concat();
        let done = [self.commands(&job, &work), self.commands(&job, &job["after_script"])];
        assert_eq!(world.read(&format!("builds/work/{cached}/.gitignore")).as_deref(), Some("*\n"));
        if done[0].code == 0 || job["cache.when"] == ["always"] {
            let _gone = fs::remove_dir_all(world.path("cache"));
            self.copy(&format!("builds/work/{cached}"), "cache");
        }
        done
    }

    fn copy(&self, from: &str, into: &str) {
        if self.world.path(from).exists() {
            let paths = [from, into].map(|place| self.world.path(place).display().to_string());
            self.world.program("/bin/cp", &["-r", &paths[0], &paths[1]]).run().ok();
        }
    }

    /// Runs commands as a runner does: by `bash -e`, in the checkout.
    fn commands(&self, job: &Job, lines: &[String]) -> Outcome {
        self.world.write("script.sh", lines.join("\n"));
        let place = |place: &str| self.world.path(place).display().to_string();
        let home = job["variables.FUSEBOX_HOME"][0].replace("$CI_PROJECT_DIR", &place("builds/work"));
        let command = self.world.program("/bin/bash", &["-e", &place("script.sh")]).env("FUSEBOX_HOME", &home);
        let command = command.env("CI_PROJECT_DIR", &place("builds/work")).env("CI_BUILDS_DIR", &place("builds"));
        let command =
            command.env("FUSEBOX_REPOSITORY", "https://git.example/fusebox").env("ANTHROPIC_API_KEY", "a-key");
        let search = format!("{}:{}:/usr/bin:/bin", place("tools"), place("bin"));
        command.env("PATH", &search).folder("builds/work").run()
    }
}

#[test]
fn a_job_that_a_limit_stopped_is_reported_and_its_state_goes_on_to_the_next() {
    let mut runner = Runner::new();
    let [work, told] = runner.job(2);
    assert_eq!(work.code, 3, "{work}");
    assert!(work.stderr.contains("stopped: tool calls 1/1 (max_turns, project)"), "{work}");
    assert!(told.code == 0 && told.stdout.contains("max_turns"), "{told}");

    let [work, told] = runner.job(1);
    assert!(work.code == 0 && work.stderr.is_empty(), "{work}");
    assert_eq!(runner.world.read("builds/work/result.json").as_deref(), Some("{}\n"));
    assert!(["job1", "job2", "max_turns"].iter().all(|part| told.stdout.contains(part)), "{told}");
    assert!(told.stdout.ends_with("\n{}\n"), "what the client answered: {told}");
    assert!(told.stdout.contains(", before session job2 began, the newest of this project.\n"), "{told}");
}

#[test]
fn the_job_has_all_that_a_runner_needs() {
    let job = job();
    for key in ["image", "rules", "resource_group", "timeout", "cache.key", "cache.paths", "cache.when"]
        .iter()
        .chain(&COMMANDS)
    {
        assert!(job.get(*key).is_some_and(|lines| !lines.is_empty()), "{key}");
    }
    // A cache holds what is below the checkout alone.
    let home = job["variables.FUSEBOX_HOME"][0].strip_prefix("$CI_PROJECT_DIR/").unwrap();
    assert_eq!(job["cache.paths"], [format!("[{home}]")]);
}
