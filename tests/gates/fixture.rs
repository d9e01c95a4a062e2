//! A session at work among ten thousand others: where the budgets and the benchmark are measured.

use std::cell::Cell;
use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rusqlite::Connection;

/// In every id of the fixture, so that a copy of its rows with another mark is another session.
pub const MARK: &str = "f05eb0c5";
const SESSIONS: u32 = 10_000;
/// Row ids of copies are spread over so much of all that there are.
const SPREAD: u64 = 4_000_000_000_000_030_000;

/// What the hook is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A client starts the session.
    SessionStart,
    /// The user says what to do.
    UserPromptSubmit,
    /// A Bash call is about to run.
    PreToolUse,
    /// It succeeded.
    PostToolUse,
    /// All calls of the response have results.
    PostToolBatch,
    /// A subagent starts.
    SubagentStart,
    /// It finished.
    SubagentStop,
}

/// A temporary home, project and state folder with a session that has begun.
pub struct Fixture {
    folder: tempfile::TempDir,
    binary: PathBuf,
    calls: Cell<u32>,
    rows: Cell<u32>,
}

impl Fixture {
    /// Starts a session through the binary's hook, works a little in it, and puts ten thousand others beside it.
    pub fn new(binary: &Path) -> Fixture {
        Fixture::under(binary, "{}")
    }

    /// Does the same under a user's configuration.
    pub fn under(binary: &Path, config: &str) -> Fixture {
        Fixture::among(binary, config, SESSIONS)
    }

    /// Does the same among so many sessions.
    pub fn among(binary: &Path, config: &str, sessions: u32) -> Fixture {
        let fixture = Fixture::empty(binary);
        fs::write(fixture.path("home/.claude/fusebox.json"), config).unwrap();
        fixture.hooks(&[Event::SessionStart, Event::UserPromptSubmit, Event::PreToolUse]);
        fixture.write_transcript(8 << 10);
        fixture.hooks(&[Event::PostToolUse, Event::PostToolBatch, Event::SubagentStart, Event::SubagentStop]);
        fixture.multiply(sessions);
        fixture
    }

    /// Makes the places, and nothing in them.
    pub fn empty(binary: &Path) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let fixture = Fixture { folder, binary: binary.to_owned(), calls: Cell::new(0), rows: Cell::new(0) };
        fs::create_dir_all(fixture.path("project")).unwrap();
        fs::create_dir_all(fixture.path("state")).unwrap();
        fs::create_dir_all(fixture.agent_transcript().parent().unwrap()).unwrap();
        fs::write(fixture.transcript(), "").unwrap();
        let meta = format!(r#"{{"agentType":"developer","toolUseId":"toolu_{MARK}_2","spawnDepth":1}}"#);
        fs::write(fixture.agent_transcript().with_extension("meta.json"), meta).unwrap();
        fs::write(fixture.agent_transcript(), "").unwrap();
        fixture
    }

    /// Returns a place in the fixture.
    pub fn path(&self, place: &str) -> PathBuf {
        self.folder.path().join(place)
    }

    /// Returns the session's id.
    pub fn session(&self) -> String {
        format!("{MARK}-0000-4000-8000-000000000001")
    }

    fn transcript(&self) -> PathBuf {
        self.path(&format!("home/.claude/projects/-project/{}.jsonl", self.session()))
    }

    fn agent_transcript(&self) -> PathBuf {
        self.transcript().with_extension("").join(format!("subagents/agent-a{MARK}00000001.jsonl"))
    }

    /// Returns a command with the environment that the client gives its hooks.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.path("home"));
        command.env("FUSEBOX_HOME", self.path("state")).env("CLAUDE_PROJECT_DIR", self.path("project"));
        command.env("CLAUDECODE", "1").env("CLAUDE_PID", std::process::id().to_string());
        command
    }

    /// Returns the command line of one hook call.
    pub fn hook_command(&self) -> Command {
        let mut command = self.command(&self.binary);
        command.arg("hook");
        command
    }

    /// Makes one hook call, which has to succeed.
    pub fn hook(&self, event: Event, bytes: usize) -> String {
        let output = feed(&mut self.hook_command(), &self.payload(event, bytes));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "the hook failed at {event:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Makes hook calls of 2 KB that have to succeed; the response of a batch is on disk at its end.
    pub fn hooks(&self, events: &[Event]) {
        for event in events {
            if *event == Event::PostToolBatch {
                self.write_transcript(4 << 10);
            }
            self.hook(*event, 2 << 10);
        }
    }

    /// Returns what stands on the hook's standard input, `bytes` long; every call is a new one.
    pub fn payload(&self, event: Event, bytes: usize) -> Vec<u8> {
        let head = format!(
            r#"{{"session_id":"{MARK}-0000-4000-8000-000000000001","transcript_path":"{}","cwd":"{}","prompt_id":"{MARK}-0000-4000-8000-000000000002","permission_mode":"default","effort":{{"level":"medium"}},"hook_event_name":"{event:?}","#,
            self.transcript().display(),
            self.path("project").display(),
        );
        if event == Event::PreToolUse {
            self.calls.set(self.calls.get() + 1);
        }
        let number = self.calls.get();
        let agent = format!(r#""agent_id":"a{MARK}00000001","agent_type":"developer""#);
        let agent_transcript = self.agent_transcript().display().to_string();
        let body = |filler: &str| match event {
            Event::SessionStart => r#""source":"startup","model":"claude-opus-5-5"}"#.to_owned(),
            Event::UserPromptSubmit => format!(r#""prompt":"{filler}"}}"#),
            Event::PreToolUse => format!(
                r#""tool_name":"Bash","tool_input":{{"command":"cat <<< {filler}","description":"Say it"}},"tool_use_id":"toolu_{MARK}_{number}"}}"#
            ),
            Event::PostToolUse => format!(
                r#""tool_name":"Bash","tool_input":{{"command":"make","description":"Make it"}},"tool_response":{{"stdout":"{filler}","stderr":"","interrupted":false,"isImage":false}},"tool_use_id":"toolu_{MARK}_{number}","duration_ms":13}}"#
            ),
            Event::PostToolBatch => format!(
                r#""tool_calls":[{{"tool_name":"Bash","tool_input":{{"command":"make"}},"tool_use_id":"toolu_{MARK}_{number}","tool_response":"{number} {filler}"}}]}}"#
            ),
            Event::SubagentStart => format!("{agent}}}"),
            Event::SubagentStop => format!(
                r#"{agent},"stop_hook_active":false,"agent_transcript_path":"{agent_transcript}","last_assistant_message":"{filler}","background_tasks":[],"session_crons":[]}}"#
            ),
        };
        let room = bytes.saturating_sub(head.len() + body("").len());
        (head.clone() + &body(&"lorem ipsum ".repeat(room / 12 + 1)[..room])).into_bytes()
    }

    /// Appends `bytes` to the transcript: in each 64 KiB a response, and results of tools.
    pub fn write_transcript(&self, bytes: usize) {
        let mut file = OpenOptions::new().append(true).open(self.transcript()).unwrap();
        for _ in 0..bytes.div_ceil(64 << 10) {
            let mut text = self.response();
            while text.len() < bytes.min(64 << 10) {
                let room = (bytes.min(64 << 10) - text.len()).min(8 << 10);
                text += r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":""#;
                text += &"lorem ipsum ".repeat(room / 12);
                text += "\"}]}}\n";
            }
            file.write_all(text.as_bytes()).unwrap();
        }
    }

    /// Returns the rows of one response: the client writes one for each block of its content.
    fn response(&self) -> String {
        let number = self.rows.get() + 1;
        self.rows.set(number);
        let row = |block: &str| {
            let usage = r#"{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":2000,"output_tokens":20,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard","cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":100},"inference_geo":"","iterations":[],"speed":"standard"}"#;
            let message = format!(
                r#"{{"id":"msg_{MARK}_{number}","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{block}],"stop_reason":"tool_use","usage":{usage}}}"#
            );
            format!(
                r#"{{"parentUuid":null,"isSidechain":false,"message":{message},"requestId":"req_{number}","type":"assistant","uuid":"{MARK}-{number}","timestamp":"2026-11-20T10:40:08.768Z","sessionId":"{}","version":"2.1.328"}}"#,
                self.session()
            ) + "\n"
        };
        let call =
            format!(r#"{{"type":"tool_use","id":"toolu_{MARK}_{number}","name":"Bash","input":{{"command":"make"}}}}"#);
        row(r#"{"type":"text","text":"I will make it."}"#) + &row(&call)
    }

    /// Makes the transcript 1 GiB longer, a line break in every MiB and holes between them.
    pub fn stretch_transcript(&self) {
        let mut file = OpenOptions::new().write(true).open(self.transcript()).unwrap();
        for _ in 0..1024 {
            file.seek(SeekFrom::End((1 << 20) - 1)).unwrap();
            file.write_all(b"\n").unwrap();
        }
    }

    /// Puts so many copies of the session beside it: each row that has its mark, with another.
    fn multiply(&self, sessions: u32) {
        let database = Connection::open(self.path("state/state.db")).unwrap();
        let names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
        for table in texts(&database, names) {
            let columns = texts(&database, &format!("SELECT name FROM pragma_table_info('{table}')"));
            let copies: Vec<String> =
                columns.iter().map(|column| copy_of(column, SPREAD / u64::from(sessions))).collect();
            let marked: Vec<String> = columns.iter().map(|column| format!("instr({column}, '{MARK}')")).collect();
            let copy = format!(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {sessions})
                 INSERT OR IGNORE INTO {table} SELECT {} FROM {table}, n WHERE {}",
                copies.join(", "),
                marked.join(" OR ")
            );
            database.execute_batch(&copy).unwrap();
        }
    }
}

/// Returns the expression for a column's value in copy `i`: ids get another mark, numbers stay, row ids are spread evenly.
fn copy_of(column: &str, apart: u64) -> String {
    match column {
        "id" => format!(
            "CASE typeof(id) WHEN 'integer' THEN ((id & 0x3fffffffffffffff) + i * {apart}) ELSE replace(id, '{MARK}', printf('%08x', i)) END"
        ),
        _ => format!(
            "CASE typeof({column}) WHEN 'text' THEN replace({column}, '{MARK}', printf('%08x', i))
             WHEN 'blob' THEN CAST(replace(CAST({column} AS TEXT), '{MARK}', printf('%08x', i)) AS BLOB) ELSE {column} END"
        ),
    }
}

fn texts(database: &Connection, query: &str) -> Vec<String> {
    let mut statement = database.prepare(query).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Starts a command with this on its standard input: a socket, as the client's are, so that a hook sees who has opened it.
pub fn start(command: &mut Command, input: &[u8]) -> Child {
    let (mut own, other) = UnixStream::pair().unwrap();
    command.stdin(OwnedFd::from(other)).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // The command would keep the other end open.
    command.stdin(Stdio::null());
    // A program that does not read its input closes the socket; that is its business.
    let _closed = own.write_all(input);
    child
}

/// Runs a command with this on its standard input.
pub fn feed(command: &mut Command, input: &[u8]) -> Output {
    start(command, input).wait_with_output().unwrap()
}

/// Returns the static binary: the one that `FUSEBOX_MUSL_BIN` names, else it is built.
pub fn static_binary() -> PathBuf {
    if let Some(path) = std::env::var_os("FUSEBOX_MUSL_BIN") {
        return PathBuf::from(path);
    }
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let build = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(["build", "--profile", "dist", "--target", &target])
        .status();
    assert!(build.unwrap().success(), "cannot build for {target}: `rustup target add {target}`, or run ./check");
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    folder.join(target).join("dist/fusebox")
}
