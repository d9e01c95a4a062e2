//! How the state grows over a year of heavy use, with pruning and without: its size, what a hook call takes, and how long pruning
//! holds the lock that hooks wait for. The sessions of that year are copies of one that hook calls have made.
//!
//! `cargo bench --bench history` takes about ten minutes; `-- 20` makes 20 sessions a day instead of 200.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a benchmark stops at its first surprise")]
#![expect(clippy::disallowed_methods, reason = "this is about time, and says how much")]
#![expect(clippy::disallowed_macros, reason = "the figures go to the terminal")]

#[expect(dead_code, reason = "its own copies of a session are for another benchmark")]
#[path = "../tests/gates/fixture.rs"]
mod fixture;
#[expect(dead_code, reason = "this benchmark has no bars")]
mod page;
mod picture;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fixture::{Event, Fixture, MARK, feed, static_binary};
use fusebox::calendar::Zone;
use fusebox::domain::session::Session;
use fusebox::domain::time_units::DAY_MS;
use fusebox::platform::environment::Environment;
use fusebox::store::Store;
use fusebox::upkeep::prune::{PruneJob, prune};
use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

const DAYS: i64 = 365;
const RETENTION_DAYS: i64 = 90;
/// The days after which the state is looked at, as months.
const LOOKS: [(i64, f64); 4] = [(30, 1.0), (91, 3.0), (182, 6.0), (365, 12.0)];
const ROUNDS: usize = 101;

fn main() {
    let sessions = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(200);
    let fixture = Fixture::empty(&static_binary());
    let template = Template::of(&fixture);
    let [kept, pruned] = ["kept", "pruned"].map(|name| State::copied(&fixture, name));
    let mut looks = Vec::new();
    let mut prunings = Vec::new();
    for day in 1..=DAYS {
        let at_ms = Environment::real().now().wall_ms - (DAYS - day) * DAY_MS;
        for state in [&kept, &pruned] {
            template.write(state, (u32::try_from(day).unwrap(), sessions), at_ms);
        }
        prunings.push(pruned.prune(at_ms - RETENTION_DAYS * DAY_MS));
        if let Some((_, months)) = LOOKS.iter().find(|look| look.0 == day) {
            println!("day {day}");
            looks.push((*months, look(&fixture, &kept, &pruned)));
        }
    }
    page::section("history", &told(sessions, template.rows.len(), &looks, &prunings));
}

/// One folder of a state.
struct State(PathBuf);

impl State {
    /// Copies the fixture's state.
    fn copied(fixture: &Fixture, name: &str) -> State {
        let folder = fixture.path(name);
        fs::create_dir_all(folder.join("locks")).unwrap();
        fs::copy(fixture.path("state/state.db"), folder.join("state.db")).unwrap();
        State(folder)
    }

    /// Prunes as a hook would have begun it on this day; returns how long that took, and the longest step of it.
    fn prune(&self, before_ms: i64) -> Pruning {
        let begin = Instant::now();
        let (mut since, mut longest, mut steps) = (begin, Duration::ZERO, 0);
        prune(&Environment::real(), &self.0, PruneJob { before_ms, zone: &Zone::utc() }, || {
            longest = longest.max(since.elapsed());
            steps += 1;
            since = Instant::now();
        })
        .unwrap();
        Pruning { whole: begin.elapsed(), longest, steps }
    }

    fn size(&self) -> u64 {
        fs::metadata(self.0.join("state.db")).unwrap().len()
    }

    /// Opens the state and reads a session, as every hook does.
    fn open(&self, id: &str) -> Duration {
        let begin = Instant::now();
        let store = Store::open_for(&self.0, Some(id)).unwrap();
        let found: Option<Box<Session>> = store.session(id).unwrap();
        let took = begin.elapsed();
        assert!(found.is_some());
        took
    }

    /// Makes one call, and says how long the process took.
    fn call(&self, fixture: &Fixture) -> Duration {
        let input = fixture.payload(Event::PreToolUse, 2 << 10);
        let mut command = fixture.hook_command();
        command.env("FUSEBOX_HOME", &self.0);
        let begin = Instant::now();
        let output = feed(&mut command, &input);
        let took = begin.elapsed();
        assert!(output.status.success() && output.stderr.is_empty(), "the hook failed");
        took
    }

    /// Counts the instructions of one call.
    fn instructions(&self, fixture: &Fixture) -> u64 {
        let hook = fixture.hook_command();
        let mut command = fixture.command("valgrind");
        command.env("FUSEBOX_HOME", &self.0).args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        let output =
            feed(command.arg(hook.get_program()).args(hook.get_args()), &fixture.payload(Event::PreToolUse, 2 << 10));
        let said = String::from_utf8(output.stderr).unwrap();
        let count = said.lines().find_map(|line| line.split("Collected :").nth(1)?.trim().parse().ok());
        count.unwrap_or_else(|| panic!("valgrind counted nothing: {said}"))
    }
}

struct Pruning {
    whole: Duration,
    longest: Duration,
    steps: u64,
}

/// What one state is like at a look.
struct Look {
    size: u64,
    open: Duration,
    call: Duration,
    instructions: u64,
}

/// Looks at both states in turn, so that a slow moment hits both.
fn look(fixture: &Fixture, kept: &State, pruned: &State) -> [Look; 2] {
    let states = [kept, pruned];
    let mut opens = [const { Vec::new() }; 2];
    let mut calls = [const { Vec::new() }; 2];
    let mut counts = [const { Vec::new() }; 2];
    for round in 0..ROUNDS {
        for (at, state) in states.iter().enumerate() {
            opens[at].push(state.open(&fixture.session()));
            calls[at].push(state.call(fixture));
            if round < 13 {
                counts[at].push(state.instructions(fixture));
            }
        }
    }
    [0, 1].map(|at| Look {
        size: states[at].size(),
        open: median(&mut opens[at]),
        call: median(&mut calls[at]),
        instructions: median(&mut counts[at]),
    })
}

fn median<T: Ord + Copy>(figures: &mut [T]) -> T {
    figures.sort_unstable();
    figures[figures.len() / 2]
}

/// A session's rows, from which others are made: its mark and its time are replaced.
struct Template {
    rows: Vec<Row>,
    /// What stands for its time.
    times: Vec<i64>,
}

struct Row {
    table: &'static str,
    values: Vec<Value>,
}

impl Template {
    /// Makes a session of 50 calls, 40 responses and 3 subagents by hook calls.
    fn of(fixture: &Fixture) -> Template {
        fs::write(fixture.path("home/.claude/fusebox.json"), "{}").unwrap();
        fixture.hooks(&[Event::SessionStart, Event::UserPromptSubmit]);
        for call in 0..50 {
            fixture.hooks(&[Event::PreToolUse, Event::PostToolUse]);
            if call < 40 {
                fixture.write_transcript(4 << 10);
            }
            fixture.hooks(&[Event::PostToolBatch]);
        }
        fixture.hooks(&[Event::SubagentStart, Event::SubagentStop]);
        let id = fixture.session();
        let session = Store::open_for(&fixture.path("state"), None).unwrap().session(&id).unwrap().unwrap();
        let charged = Store::open_for(&fixture.path("state"), None).unwrap().charges_of(&id).unwrap();
        assert_eq!((session.counters.turns, charged.len()), (50, 40));
        let rows = read(&Connection::open(fixture.path("state/state.db")).unwrap());
        let times = vec![session.started.wall_ms, session.last.wall_ms, charged[0].at_ms];
        Template { rows, times }
    }

    /// Writes a day's sessions, whose events are all of one moment.
    fn write(&self, state: &State, (day, sessions): (u32, u32), at_ms: i64) {
        let mut database = Connection::open(state.0.join("state.db")).unwrap();
        let transaction = database.transaction().unwrap();
        for session in 0..sessions {
            let mark = format!("{:08x}", day * 10_000 + session);
            for row in &self.rows {
                let places = vec!["?"; row.values.len()].join(", ");
                let insert = format!("INSERT OR IGNORE INTO {} VALUES ({places})", row.table);
                let values = row.values.iter().map(|value| self.as_of(value, &mark, at_ms));
                transaction.prepare_cached(&insert).unwrap().execute(params_from_iter(values)).unwrap();
            }
            // Each client leaves a fact and, on average, a record of the log.
            let client = format!("client:{}:1", 5_000_000 + day * 10_000 + session);
            transaction.execute("INSERT INTO metadata VALUES (?1, ?2)", params![client, format!("1 {mark}")]).unwrap();
            let event = "INSERT INTO event VALUES (NULL, ?1, 'AGENT_WARNING', ?2, '', '', '{}')";
            transaction.execute(event, params![at_ms, mark]).unwrap();
        }
        transaction.commit().unwrap();
    }

    /// Returns what stands in a column for another session.
    fn as_of(&self, value: &Value, mark: &str, at_ms: i64) -> Value {
        match value {
            Value::Text(text) => Value::Text(text.replace(MARK, mark)),
            Value::Integer(number) if self.times.contains(number) => Value::Integer(at_ms),
            Value::Integer(day) if *day == self.times[0] / DAY_MS => Value::Integer(at_ms / DAY_MS),
            other => other.clone(),
        }
    }
}

/// Reads the rows of the fixture's session, two subagents more among them; its client is gone.
fn read(database: &Connection) -> Vec<Row> {
    database.execute("UPDATE session SET engine = json_remove(engine, '$.client')", []).unwrap();
    let mut rows = Vec::new();
    for table in ["session", "run", "tool_call", "response"] {
        let mut statement = database.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let values =
            statement.query_map([], |row| (0..columns).map(|at| row.get(at)).collect::<Result<Vec<Value>, _>>());
        rows.extend(values.unwrap().map(|values| Row { table, values: values.unwrap() }));
    }
    let subagent = Value::Text(format!("a{MARK}00000001"));
    let run = rows.iter().find(|row| row.values.get(1) == Some(&subagent)).unwrap().values.clone();
    for number in ["2", "3"] {
        let mut values = run.clone();
        values[1] = Value::Text(format!("a{MARK}0000000{number}"));
        rows.push(Row { table: "run", values });
    }
    rows
}

fn told(sessions: u32, rows: usize, looks: &[(f64, [Look; 2])], prunings: &[Pruning]) -> String {
    let mega = |bytes: u64| bytes as f64 / 1e6;
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let mut text = format!(
        "{sessions} sessions a day, each of 50 calls, 40 responses and 3 subagents ({rows} entries); pruned once a day as of \
         that day (`retention_days` 90) or never.\n\n\
         | months | database, MB | | PreToolUse, ms | | its instructions | | opening the state and reading a session, ms | |\n\
         |--:|--:|--:|--:|--:|--:|--:|--:|--:|\n\
         | | never pruned | pruned | never | pruned | never | pruned | never | pruned |\n"
    );
    for (months, [kept, pruned]) in looks {
        text += &format!(
            "| {months} | {:.0} | {:.0} | {:.2} | {:.2} | {} | {} | {:.3} | {:.3} |\n",
            mega(kept.size),
            mega(pruned.size),
            ms(kept.call),
            ms(pruned.call),
            kept.instructions,
            pruned.instructions,
            ms(kept.open),
            ms(pruned.open)
        );
    }
    let working = &prunings[RETENTION_DAYS as usize + 1..];
    let mut wholes: Vec<Duration> = working.iter().map(|pruning| pruning.whole).collect();
    let mut longest: Vec<Duration> = working.iter().map(|pruning| pruning.longest).collect();
    let steps: u64 = working.iter().map(|pruning| pruning.steps).sum();
    let each: Duration = wholes.iter().sum::<Duration>() / u32::try_from(steps).unwrap();
    text += &format!(
        "\nThe daily pruning removes {sessions} sessions in {} steps, each under the locks for {:.2} ms on average: {:.2} s of \
         work a day (median), beside pauses of 10 ms between the steps. The longest step of a day: {:.1} ms (median over the \
         days), {:.1} ms (the worst day).\n\n",
        steps / working.len() as u64,
        ms(each),
        median(&mut wholes).as_secs_f64(),
        ms(median(&mut longest)),
        ms(longest.iter().copied().max().unwrap())
    );
    let line = |at: usize, of: fn(&Look) -> f64| {
        looks.iter().map(|(months, both)| (*months, of(&both[at]))).collect::<Vec<_>>()
    };
    let size = |look: &Look| look.size as f64 / 1e6;
    let call = |look: &Look| look.call.as_secs_f64() * 1e3;
    for (name, title, y, of) in [
        ("history-size", "Size of the state", "MB", size as fn(&Look) -> f64),
        ("history-call", "A PreToolUse call", "ms", call),
    ] {
        let lines = [("never pruned", line(0, of)), ("pruned daily", line(1, of))];
        let lines: Vec<(&str, &[(f64, f64)])> = lines.iter().map(|(name, points)| (*name, points.as_slice())).collect();
        text += &page::picture(name, title, &picture::curves(title, "months of history", y, &lines));
        text += "\n\n";
    }
    text
}
