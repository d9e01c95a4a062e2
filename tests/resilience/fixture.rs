//! A home, a project and a state folder of their own, and the hook run in them: plainly, or through whatever harms it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

/// Seconds after which a hook is killed, so that a test ends: more than any client waits for it but where commands judge.
const FOREVER: &str = "30";

/// A temporary folder with `home`, `project` and `live/state` in it.
pub struct Fixture {
    root: PathBuf,
    _folder: tempfile::TempDir,
    /// A process that a fault needs beside the hooks.
    pub beside: RefCell<Option<Child>>,
}

impl Fixture {
    /// Makes a fixture under a user's configuration.
    pub fn under(config: &Value) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let fixture = Fixture { root, _folder: folder, beside: RefCell::default() };
        for place in ["project", "live/state", "live/s1/subagents"] {
            fs::create_dir_all(fixture.path(place)).unwrap();
        }
        fixture.write("home/.claude/fusebox.json", config.to_string());
        fixture
    }

    /// Returns a place in the fixture.
    pub fn path(&self, place: &str) -> PathBuf {
        self.root.join(place)
    }

    /// Returns a place in the fixture as text.
    pub fn text(&self, place: &str) -> String {
        self.path(place).display().to_string()
    }

    /// Writes a file, with its folders.
    pub fn write(&self, place: &str, content: impl AsRef<[u8]>) {
        let path = self.path(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Adds rows to a file of JSON lines.
    pub fn append(&self, place: &str, rows: &[Value]) {
        let mut file = OpenOptions::new().create(true).append(true).open(self.path(place)).unwrap();
        let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// Returns a hook call that is about to be made.
    pub fn hook(&self) -> Hook<'_> {
        let folder = self.path("project");
        Hook { fixture: self, before: Vec::new(), unset: Vec::new(), set: Vec::new(), binary: binary(), folder }
    }

    /// Keeps the state and the transcripts as they are now under a name.
    pub fn keep(&self, name: &str) {
        let _earlier = fs::remove_dir_all(self.path(name));
        copy(&self.path("live"), &self.path(name));
    }

    /// Puts the state and the transcripts back as they were kept.
    pub fn put_back(&self, name: &str) {
        fs::remove_dir_all(self.path("live")).unwrap();
        copy(&self.path(name), &self.path("live"));
    }

    /// Returns what the logs of the state folder and of the project say.
    pub fn log(&self) -> String {
        let logs = ["live/state", "project/.claude/logs"].map(|folder| self.path(folder).join("execution-limits.log"));
        let files = logs.iter().filter(|log| log.is_file());
        files.map(|log| fs::read_to_string(log).unwrap_or_default()).collect()
    }

    /// Returns every row of the database by its table and key, and demands that the database is sound.
    pub fn rows(&self) -> BTreeMap<String, Value> {
        // A copy is looked at: to open a database is to change it.
        let _gone = fs::remove_dir_all(self.path("look"));
        copy(&self.path("live/state"), &self.path("look"));
        let database =
            Connection::open_with_flags(self.path("look/state.db"), OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
        let found: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(found, "ok");
        let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
        let mut statement = database.prepare(tables).unwrap();
        let tables = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        tables.flat_map(|table| rows_of(&database, &table.unwrap())).collect()
    }

    /// Returns what has been counted: the numbers of every session and run, and what each response spent. Left out are times,
    /// and what estimates are made of: an event that is lost makes those larger.
    pub fn counters(&self) -> BTreeMap<String, Value> {
        let counted = self.rows().into_iter().filter_map(|(name, row)| {
            let table = name.split_once('/')?.0;
            let mut counters = json!({"spent": SPENT.map(|column| row[column].clone())});
            match table {
                "session" | "run" => {
                    let mut counted = row["engine"]["counters"].clone();
                    if let Some(counted) = counted.as_object_mut() {
                        counted.retain(|key, _| !["over", "typical"].contains(&key.as_str()));
                    }
                    counters["turns"] = row["turns"].clone();
                    counters["counters"] = counted;
                }
                "response" => {}
                _ => return None,
            }
            Some((name, counters))
        });
        counted.collect()
    }

    /// Returns a number of a session.
    pub fn meter(&self, session: &str, meter: Meter) -> u64 {
        let row = self.rows().remove(&format!("session/{session}")).unwrap_or_default();
        let number = match meter {
            Meter::Turns => &row["turns"],
            Meter::Requests => &row["requests"],
        };
        number.as_u64().unwrap_or(0)
    }
}

/// The columns of what was spent.
const SPENT: [&str; 4] = ["requests", "tokens", "cache_read_tokens", "cost_pico_usd"];

/// Reads the rows of a table, by the table and the columns of its key.
fn rows_of(database: &Connection, table: &str) -> Vec<(String, Value)> {
    let columns = format!("SELECT name, pk FROM pragma_table_info('{table}')");
    let mut statement = database.prepare(&columns).unwrap();
    let columns = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)? > 0))).unwrap();
    let columns: Vec<(String, bool)> = columns.map(Result::unwrap).collect();
    let mut statement = database.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let rows = statement.query_map([], |row| {
        let values = (0..columns.len()).map(|at| Ok(value(row.get_ref(at)?)));
        values.collect::<rusqlite::Result<Vec<Value>>>()
    });
    let rows = rows.unwrap().map(|values| {
        let values = values.unwrap();
        let key = columns.iter().zip(&values).filter(|((_, is_key), _)| *is_key);
        let name = key
            .fold(table.to_owned(), |name, (_, part)| format!("{name}/{}", part.as_str().unwrap_or(&part.to_string())));
        (name, columns.iter().map(|(column, _)| column.clone()).zip(values.clone()).collect())
    });
    rows.collect()
}

/// Returns a column's value; JSON in it as such.
fn value(column: ValueRef) -> Value {
    match column {
        ValueRef::Integer(number) => json!(number),
        ValueRef::Text(text) => {
            let text = str::from_utf8(text).unwrap();
            let is_json = |value: &Value| value.is_object() || value.is_array();
            serde_json::from_str(text).ok().filter(is_json).unwrap_or_else(|| json!(text))
        }
        _ => Value::Null,
    }
}

/// A number of a session's counters.
#[derive(Clone, Copy)]
pub enum Meter {
    /// Tool calls.
    Turns,
    /// Responses.
    Requests,
}

/// Copies a folder with all below it.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A hook call that is about to be made.
pub struct Hook<'a> {
    fixture: &'a Fixture,
    before: Vec<String>,
    unset: Vec<&'static str>,
    set: Vec<(&'static str, String)>,
    binary: PathBuf,
    folder: PathBuf,
}

impl<'a> Hook<'a> {
    /// Returns the fixture.
    pub fn fixture(&self) -> &'a Fixture {
        self.fixture
    }

    /// Runs the hook by a command that takes its command line.
    pub fn through(mut self, words: &[&str]) -> Self {
        self.before.extend(words.iter().map(|word| (*word).to_owned()));
        self
    }

    /// Runs the hook at the end of a shell script, as `"$@"`.
    pub fn in_shell(self, script: &str) -> Self {
        self.through(&["sh", "-c", script, "sh"])
    }

    /// Runs another binary.
    pub fn of(mut self, binary: impl Into<PathBuf>) -> Self {
        self.binary = binary.into();
        self
    }

    /// Runs it in another folder than the project's.
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Takes a variable out of the environment.
    pub fn without(mut self, name: &'static str) -> Self {
        self.unset.push(name);
        self
    }

    /// Sets a variable.
    pub fn with(mut self, name: &'static str, value: String) -> Self {
        self.set.push((name, value));
        self
    }

    /// Returns the command, with the environment that the client gives its hooks.
    pub fn command(&self, before: &[String]) -> Command {
        let binary = self.binary.display().to_string();
        let words: Vec<&String> = before.iter().chain(&self.before).chain([&binary]).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg("hook").env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
        command.env("HOME", self.fixture.path("home")).env("FUSEBOX_HOME", self.fixture.path("live/state"));
        command.env("CLAUDE_PROJECT_DIR", self.fixture.path("project")).env("CLAUDECODE", "1");
        // A hook looks at every process above the client; these may change while the tests run, but for the first.
        command.env("CLAUDE_PID", "1").current_dir(&self.folder);
        for name in &self.unset {
            command.env_remove(name);
        }
        command.envs(self.set.iter().map(|(name, value)| (*name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Makes the call with an input that is written and ended.
    pub fn feed(self, input: impl AsRef<[u8]>) -> Outcome {
        self.run(|child| {
            // A hook that does not read it closes the pipe; that is its business.
            let _closed = child.stdin.take().unwrap().write_all(input.as_ref());
        })
    }

    /// Makes the call with an event.
    pub fn tell(self, event: &Value) -> Outcome {
        self.feed(event.to_string())
    }

    /// Makes the call; `write` sees to its standard input, which stays open until it has ended where it is not taken.
    pub fn run(self, write: impl FnOnce(&mut Child)) -> Outcome {
        let peak = self.fixture.path("peak");
        let measured =
            ["timeout", "-s", "KILL", FOREVER, "/usr/bin/time", "-q", "-f", "%U %S %M", "-o"].map(str::to_owned);
        let before: Vec<String> = measured.into_iter().chain([peak.display().to_string()]).collect();
        let from = Instant::now();
        let mut child = self.command(&before).spawn().unwrap();
        write(&mut child);
        let held = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(held);
        let said = fs::read_to_string(peak).unwrap_or_default();
        let measured: Vec<&str> = said.lines().last().unwrap_or_default().split(' ').collect();
        let number = |at: usize| measured.get(at).and_then(|number| number.parse::<f64>().ok());
        let worked = number(0).zip(number(1)).map(|(user, system)| Duration::from_secs_f64(user + system));
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            took: from.elapsed(),
            worked: worked.unwrap_or(Duration::MAX),
            peak_kib: number(2).map(|peak| peak as u64),
        }
    }
}

/// What came of a hook call.
#[derive(Debug)]
pub struct Outcome {
    /// The exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// How long it took.
    pub took: Duration,
    /// How long it kept a processor busy; for ever where that is not known.
    pub worked: Duration,
    /// The most memory that it held, in KiB.
    pub peak_kib: Option<u64>,
}

impl Outcome {
    /// Returns the answer of a call that has to succeed, silently on standard error.
    #[track_caller]
    pub fn ok(self) -> Answer {
        assert!(self.code == Some(0) && self.stderr.is_empty(), "{self:?}");
        Answer::of(&self.stdout)
    }
}

/// What a hook has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The call may run, the work may go on.
    Allowed,
    /// It may not, for a reason.
    Refused(String),
}

impl Answer {
    /// Reads an answer, which has to be nothing or JSON.
    #[track_caller]
    pub fn of(stdout: &str) -> Answer {
        if stdout.is_empty() {
            return Answer::Allowed;
        }
        let answer: Value = serde_json::from_str(stdout).unwrap_or_else(|cause| panic!("{cause}: {stdout}"));
        let call = &answer["hookSpecificOutput"];
        let reasons = [
            (call["permissionDecision"] == "deny", &call["permissionDecisionReason"]),
            (answer["decision"] == "block", &answer["reason"]),
            (answer["continue"] == false, &answer["stopReason"]),
        ];
        let refused = reasons.into_iter().find(|(refuses, _)| *refuses);
        refused.map_or(Answer::Allowed, |(_, reason)| Answer::Refused(reason.to_string()))
    }
}

/// Makes a pipe with a name.
pub fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Waits until something is so; it comes by itself, soon.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let from = Instant::now();
    while !is_so() {
        assert!(from.elapsed() < Duration::from_secs(30), "never: {what}");
        std::thread::yield_now();
    }
}

/// Returns the command that gives what it runs a file system of its own: a user that may mount needs no user namespace, which
/// some machines forbid.
pub fn apart() -> &'static [&'static str] {
    let mounts = Command::new("unshare").args(["-m", "--", "true"]).output().unwrap().status.success();
    if mounts { &["unshare", "-m", "--"] } else { &["unshare", "-Umr", "--"] }
}

/// Returns the binary that is tried: the static build where one is named.
#[expect(clippy::disallowed_methods, reason = "the test says which binary it tries")]
pub fn binary() -> PathBuf {
    let named = ["FUSEBOX_MUSL_BIN", "FUSEBOX_BIN"].iter().find_map(std::env::var_os);
    named.map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_fusebox")), PathBuf::from)
}

/// Returns a variable of the test's own environment.
#[expect(clippy::disallowed_methods, reason = "the test says how much of it is run")]
pub fn asked(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
