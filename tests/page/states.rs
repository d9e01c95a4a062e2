//! State as the program keeps it: recordings played through the hook at times of the test's own, and rows written through the store.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fusebox::cmd;
use fusebox::domain::moment::Moment;
use fusebox::domain::text::rfc3339;
use fusebox::hook;
use fusebox::platform::environment::Environment;
use fusebox::platform::given::GivenWorld;
use fusebox::store::Store;
use serde_json::Value;

/// 2026-11-09 08:00:00 UTC, in milliseconds since 1970.
pub const BEGAN_MS: i64 = 1_794_211_200_000;
pub const HOUR_MS: i64 = 3_600_000;
pub const DAY_MS: i64 = 24 * HOUR_MS;

/// A home and a state folder below one temporary folder.
pub struct State {
    folder: tempfile::TempDir,
}

impl State {
    /// Makes an empty one, whose user has these limits.
    pub fn new(config: &str) -> State {
        let state = State { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(state.path("home/.claude")).unwrap();
        state.configure(config);
        state
    }

    /// Gives the user other limits.
    pub fn configure(&self, config: &str) {
        fs::write(self.path("home/.claude/fusebox.json"), config).unwrap();
    }

    /// Returns the full path of a place.
    pub fn path(&self, place: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(place)
    }

    /// Saves what `write` writes.
    pub fn save(&self, write: impl FnOnce(&Store)) {
        let store = Store::open_for(&self.path("state"), None).unwrap();
        store.begin().unwrap();
        write(&store);
        store.commit().unwrap();
    }

    /// Runs the program at a moment; returns its standard output.
    pub fn run(&self, at_ms: i64, arguments: &[&str], input: Option<&Value>) -> String {
        let variable = |name: &str, place: &str| (name.to_owned(), self.path(place).to_str().unwrap().to_owned());
        let given = GivenWorld {
            variables: [variable("HOME", "home"), variable("FUSEBOX_HOME", "state")].into(),
            folder: self.path(""),
            binary: env!("CARGO_BIN_EXE_fusebox").into(),
            arguments: arguments.iter().map(Into::into).collect(),
            input: input.map(|input| input.to_string().into_bytes()).unwrap_or_default(),
            ..GivenWorld::default()
        };
        // The machine has run since long before.
        given.now.set(Moment {
            wall_ms: at_ms,
            mono_ms: (at_ms - BEGAN_MS + 400 * DAY_MS) as u64,
            boot: 1,
            slept_ms: 0,
        });
        let env = Environment::given(given);
        let code = if input.is_some() { hook::run(&env) } else { cmd::run(&env) };
        let given = env.given_world().unwrap();
        let text = |text: &RefCell<String>| text.borrow().clone();
        assert!(code == ExitCode::SUCCESS, "{arguments:?}: {}{}", text(&given.output), text(&given.errors));
        text(&given.output)
    }

    /// Returns a report as JSON.
    pub fn json(&self, at_ms: i64, arguments: &[&str]) -> Value {
        let all = ["report", "--since", "all", "--json"].iter().chain(arguments).copied().collect::<Vec<_>>();
        serde_json::from_str(&self.run(at_ms, &all, None)).unwrap()
    }

    /// Writes the page of all sessions, and returns its path.
    pub fn page(&self, at_ms: i64) -> PathBuf {
        let said = self.run(at_ms, &["report", "--since", "all", "--html", "report.html"], None);
        assert!(said.starts_with("Wrote report.html: ") && said.contains("Open it in a browser: file:///"), "{said}");
        self.path("report.html")
    }

    /// Plays a recording of the real client from a moment on, as a session of its own in a project.
    pub fn play(&self, recording: &Path, number: usize, at_ms: i64, project: &str) {
        let transcripts = recording.join("transcripts");
        let names = fs::read_dir(&transcripts).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let session = names.into_iter().find_map(|name| name.strip_suffix(".jsonl").map(str::to_owned)).unwrap();
        let renamed = format!("{:08x}{}", 0x5e55_0000 + number * 0x11, &session[8..]);
        let home = self.path("home").to_str().unwrap().to_owned();
        let own = |text: &str| {
            let text = text.replace(&session, &renamed).replace("$HOME", &home).replace("$PROJECT", project);
            let text = text.replace("$LAB", &home).replace("$TASKS", &home);
            text.replace("\"msg_", &format!("\"msg_{number}_")).replace("\"toolu_", &format!("\"toolu_{number}_"))
        };
        let hooks = own(&fs::read_to_string(recording.join("hooks.jsonl")).unwrap());
        let events: Vec<Value> = hooks.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let main = fs::read_to_string(transcripts.join(format!("{session}.jsonl"))).unwrap();
        // The prompt's row is the first.
        let prompt = events.iter().find(|event| event["input"]["hook_event_name"] == "UserPromptSubmit").unwrap();
        let moved_ms = at_ms + prompt["at_ms"].as_i64().unwrap() - main.lines().find_map(moment).unwrap();
        let files = files(&transcripts, &transcripts)
            .into_iter()
            .map(|(name, text)| (name.replace(&session, &renamed), own(&text)));
        let files: Vec<(String, String)> = files.collect();
        let lay = |now_ms: i64| {
            for (name, text) in &files {
                let path = self.path("home/.claude/projects/-project").join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, if name.ends_with(".jsonl") { until(text, moved_ms, now_ms) } else { text.clone() })
                    .unwrap();
            }
        };
        for event in events {
            let now_ms = at_ms + event["at_ms"].as_i64().unwrap();
            lay(now_ms);
            self.run(now_ms, &["hook"], Some(&event["input"]));
        }
        lay(i64::MAX);
    }
}

/// Returns the recordings in `tests/fixtures` that have the hooks' inputs.
pub fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries.filter(|path| path.join("hooks.jsonl").exists()).collect();
    found.sort();
    found
}

/// Returns when a row of a transcript was written.
fn moment(row: &str) -> Option<i64> {
    rfc3339::parse(serde_json::from_str::<Value>(row).ok()?["timestamp"].as_str()?)
}

/// Moves a row's time.
fn moved(row: &str, by_ms: i64) -> String {
    let Some(at_ms) = moment(row) else { return row.to_owned() };
    let mut changed: Value = serde_json::from_str(row).unwrap();
    changed["timestamp"] = rfc3339::format(at_ms + by_ms).into();
    changed.to_string()
}

/// Returns the rows of a transcript that are written by a moment, with their times moved; what has no time stands with what is before it.
fn until(text: &str, moved_ms: i64, now_ms: i64) -> String {
    let is_written = |row: &&str| moment(row).is_none_or(|at_ms| at_ms + moved_ms <= now_ms);
    text.lines().take_while(is_written).map(|row| moved(row, moved_ms) + "\n").collect()
}

/// Returns the files below a folder, each by its path from there.
fn files(folder: &Path, root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(files(&path, root));
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            found.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

/// The time zone of these.
pub const ZONE: &str = "Europe/Berlin";
/// How often each recording is played, and the limits of its user.
const PLAYS: usize = 5;
const LIMITS: [&str; 3] = [
    r#"{"time_zone": "Europe/Berlin", "main": {"max_turns": 4, "timeout_action": "warn"},
        "agents": {"*": {"max_turns": 3, "max_duration_ms": 5000, "max_cost_usd": 0.05, "timeout_action": "terminate"}},
        "user": {"max_cost_usd_per_day": 25}}"#,
    r#"{"time_zone": "Europe/Berlin", "main": {"max_requests": 3, "timeout_action": "pause"},
        "agents": {"*": {"max_turns": 2, "max_cost_usd": 0.05, "timeout_action": "pause"}},
        "user": {"max_cost_usd_per_day": 25}}"#,
    r#"{"time_zone": "Europe/Berlin", "session": {"max_cost_usd": 0.1},
        "agents": {"*": {"max_turns": 20, "max_duration_ms": 60000, "timeout_action": "warn"}},
        "user": {"max_cost_usd_per_day": 25}}"#,
];
/// When the recordings are over.
pub const OVER_MS: i64 = BEGAN_MS + 14 * DAY_MS;

/// Plays every recording several times, on the working days of two weeks, under limits that they reach.
pub fn two_weeks() -> State {
    let state = State::new(LIMITS[0]);
    let recordings = recordings();
    let all = recordings.len() * PLAYS;
    for number in 0..all {
        // By such steps each recording is met at all parts of the time.
        let recording = &recordings[(number * 11 + number / 17 * 4) % recordings.len()];
        let minutes = (number * 10 * 9 * 60 / all) as i64;
        let (day, minute) = (minutes / (9 * 60), minutes % (9 * 60));
        let at_ms = BEGAN_MS + (day + day / 5 * 2) * DAY_MS + minute * 60_000;
        state.configure(LIMITS[number % 5 % 3]);
        state.play(recording, number, at_ms, ["/home/you/shop", "/home/you/billing", "/home/you/site"][number % 8 % 3]);
    }
    state
}
