//! The database and its lock files, damaged, held or gone.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::faults::{Comes, Counts, FAULT, Fault, strike_all};
use crate::fixture::{Answer, Fixture, Hook, until};
use crate::session::Session;

const DATABASE: &str = "live/state/state.db";
const LOG: &str = "live/state/state.db-wal";
const YEAR_MS: i64 = 365 * 86_400_000;
/// What the log says where a lock file did not come.
const UNLOCKED: &str = "the lock of the state did not come in time";

/// Opens the database as another program would; closing it folds the write-ahead log back.
fn database(fixture: &Fixture) -> Connection {
    let database = Connection::open_with_flags(fixture.path(DATABASE), OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    database.execute_batch("PRAGMA locking_mode=NORMAL; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    database
}

/// Folds the write-ahead log back, so that the database has everything.
fn folded(fixture: &Fixture) {
    drop(database(fixture));
}

/// Moves every time in the state.
fn shift(fixture: &Fixture, by_ms: i64) {
    let database = database(fixture);
    let day_ms = 86_400_000;
    let columns = format!(
        "UPDATE session SET started_at_ms = started_at_ms + {by_ms}, last_event_at_ms = last_event_at_ms + {by_ms},
            last_active_day = (last_event_at_ms + {by_ms}) / {day_ms};
        UPDATE run SET started_at_ms = started_at_ms + {by_ms}, last_event_at_ms = last_event_at_ms + {by_ms};
        UPDATE tool_call SET requested_at_ms = requested_at_ms + {by_ms}; UPDATE response SET at_ms = at_ms + {by_ms}"
    );
    database.execute_batch(&columns).unwrap();
    for table in ["session", "run", "tool_call", "response", "budget"] {
        shift_json(&database, table, by_ms);
    }
}

/// Moves every time in what only the engine reads.
fn shift_json(database: &Connection, table: &str, by_ms: i64) {
    let mut read = database.prepare(&format!("SELECT DISTINCT engine FROM {table}")).unwrap();
    let texts: Vec<String> = read.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for text in texts {
        let moved = text.split_inclusive(|letter: char| !letter.is_ascii_digit()).map(|part| {
            let digits = part.trim_end_matches(|letter: char| !letter.is_ascii_digit());
            let rest = &part[digits.len()..];
            let is_time = digits.len() == 13 && digits.starts_with('1');
            if is_time { format!("{}{rest}", digits.parse::<i64>().unwrap() + by_ms) } else { part.to_owned() }
        });
        let moved = moved.collect::<String>();
        database
            .execute(
                &format!("UPDATE {table} SET engine = json_remove(?2, '$.seal') WHERE engine = ?1"),
                (&text, moved),
            )
            .unwrap();
    }
}

/// Sends a signal to the process beside the hooks.
fn signal(fixture: &Fixture, signal: &str) {
    let pid = fixture.beside.borrow().as_ref().unwrap().id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
}

/// Waits until the process beside the hooks has ended.
fn end(fixture: &Fixture) {
    fixture.beside.take().unwrap().wait().unwrap();
}

/// Starts another hook, and stops it while it writes.
fn stop_a_hook_that_writes(fixture: &Fixture) {
    fixture.write("event", Session::named(fixture, "s1").ends("Read", "t1").to_string());
    let told = fixture.path("stopped");
    let _not_there = fs::remove_file(&told);
    let words = ["strace", "-D", "-qqq", "-e", "trace=pwrite64", "-e", "inject=pwrite64:signal=STOP:when=1", "-o"];
    let mut command = fixture.hook().through(&[&words[..], &[told.to_str().unwrap()]].concat()).command(&[]);
    command.stdin(fs::File::open(fixture.path("event")).unwrap()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    // A traced process stands still at every system call: only its tracer knows the stop that is meant.
    until("the hook stands still", || fs::read_to_string(&told).is_ok_and(|told| told.contains("stopped by SIGSTOP")));
    fixture.beside.replace(Some(child));
}

/// Has another process hold the lock for all, and stops it.
fn stop_a_process_with_the_lock(fixture: &Fixture) {
    let lock = fixture.path("live/state/locks/all");
    let flock = |options: &[&str], words: &[&str]| {
        Command::new("flock").args(options).arg("--no-fork").arg(&lock).args(words).spawn().unwrap()
    };
    fixture.beside.replace(Some(flock(&[], &["sleep", "60"])));
    // Only a lock that somebody holds makes it exit so.
    until("the lock is held", || flock(&["-n", "-E", "99"], &["true"]).wait().unwrap().code() == Some(99));
    signal(fixture, "-STOP");
}

fn database_aside(fixture: &Fixture) -> PathBuf {
    fixture.path("live/state/aside")
}

pub const FAULTS: [Fault; 15] = [
    Fault {
        fault: "the database is garbage",
        made: "overwritten with a text, and with zeros",
        says: "the database was set aside",
        ways: 2,
        make: |fixture, way| {
            folded(fixture);
            let text = ["no database ".repeat(5_000), "\0".repeat(20_000)][way].clone();
            fixture.write(DATABASE, text);
        },
        ..FAULT
    },
    Fault {
        fault: "the database is truncated",
        made: "at its first pages, and at odd bytes among them",
        says: "the database was set aside",
        ways: 6,
        make: |fixture, way| {
            folded(fixture);
            let length = [100, 2047, 2048, 2049, 3001, 4096][way];
            fs::File::options().write(true).open(fixture.path(DATABASE)).unwrap().set_len(length).unwrap();
        },
        ..FAULT
    },
    Fault {
        fault: "a page of the database is flipped",
        made: "every bit of a page inverted, each page that a call reads in turn",
        says: "the database was set aside",
        ways: 2,
        make: |fixture, way| {
            folded(fixture);
            let file = fs::File::options().read(true).write(true).open(fixture.path(DATABASE)).unwrap();
            let mut page = [0; 2048];
            file.read_exact_at(&mut page, way as u64 * 2048).unwrap();
            file.write_all_at(&page.map(|byte| !byte), way as u64 * 2048).unwrap();
        },
        ..FAULT
    },
    Fault {
        fault: "a row of the session is damaged",
        made: "its JSON cut in half",
        says: "the database was set aside",
        make: |fixture, _| {
            let cut = "UPDATE session SET engine = substr(engine, 1, length(engine) / 2);
                UPDATE run SET engine = substr(engine, 1, length(engine) / 2)";
            database(fixture).execute_batch(cut).unwrap();
        },
        ..FAULT
    },
    Fault {
        fault: "the state folder is deleted",
        made: "`rm -r`",
        make: |fixture, _| fs::remove_dir_all(fixture.path("live/state")).unwrap(),
        ..FAULT
    },
    Fault {
        fault: "the database is a folder",
        made: "`mkdir` under its name",
        comes: Comes::Refused,
        says: "limits cannot be checked",
        make: |fixture, _| {
            folded(fixture);
            fs::rename(fixture.path(DATABASE), database_aside(fixture)).unwrap();
            fs::create_dir(fixture.path(DATABASE)).unwrap();
        },
        mend: |fixture| {
            fs::remove_dir(fixture.path(DATABASE)).unwrap();
            fs::rename(database_aside(fixture), fixture.path(DATABASE)).unwrap();
        },
        ..FAULT
    },
    Fault {
        fault: "the write-ahead log is gone, or garbage",
        made: "`rm state.db-wal`; overwritten with a text",
        counts: Counts::Responses,
        ways: 2,
        make: |fixture, way| match way {
            0 => fs::remove_file(fixture.path(LOG)).unwrap(),
            _ => fixture.write(LOG, "no log ".repeat(5_000)),
        },
        ..FAULT
    },
    Fault {
        fault: "a shared-memory file of garbage",
        made: "a text as `state.db-shm`",
        make: |fixture, _| fixture.write("live/state/state.db-shm", "no memory ".repeat(5_000)),
        ..FAULT
    },
    Fault {
        fault: "a stopped process holds the lock file",
        made: "`flock`, then `kill -STOP`",
        says: UNLOCKED,
        make: |fixture, _| stop_a_process_with_the_lock(fixture),
        mend: |fixture| {
            signal(fixture, "-KILL");
            end(fixture);
        },
        ..FAULT
    },
    Fault {
        fault: "a hook was stopped while it writes",
        made: "`kill -STOP` at its first write; later `kill -CONT`",
        comes: Comes::Refused,
        says: "database is locked",
        make: |fixture, _| stop_a_hook_that_writes(fixture),
        mend: |fixture| {
            signal(fixture, "-CONT");
            end(fixture);
        },
        ..FAULT
    },
    Fault {
        fault: "a file system without lock files",
        made: "`flock` fails with `ENOLCK`",
        says: UNLOCKED,
        call: |hook, event| without_locks(hook, "flock").tell(event),
        ..FAULT
    },
    Fault {
        fault: "a file system without any locks",
        made: "`flock` and `fcntl` fail with `ENOLCK`",
        comes: Comes::Refused,
        says: "limits cannot be checked",
        call: |hook, event| without_locks(hook, "flock,fcntl").tell(event),
        ..FAULT
    },
    Fault {
        fault: "a newer version has written the state",
        made: "one more step of the schema, a table and columns more, a field more in every JSON",
        make: |fixture, _| {
            let database = database(fixture);
            database.execute_batch("CREATE TABLE later (id); PRAGMA user_version=199").unwrap();
            for table in ["session", "run", "tool_call", "response", "budget"] {
                let newer = format!(
                    "ALTER TABLE {table} ADD COLUMN of_a_newer_version INTEGER NOT NULL DEFAULT 7;
                    UPDATE {table} SET engine = json_remove(json_insert(engine, '$.of_a_newer_version', 1), '$.seal')"
                );
                database.execute_batch(&newer).unwrap();
            }
        },
        ..FAULT
    },
    Fault {
        fault: "a version of another kind of state has written it",
        made: "a later schema of another form",
        comes: Comes::Refused,
        says: "a newer version of fusebox has written the state",
        make: |fixture, _| {
            database(fixture).execute_batch("ALTER TABLE session RENAME TO later; PRAGMA user_version=200").unwrap()
        },
        mend: |fixture| {
            database(fixture).execute_batch("ALTER TABLE later RENAME TO session; PRAGMA user_version=101").unwrap()
        },
        ..FAULT
    },
    Fault {
        fault: "the clock was set back or forth by a year",
        made: "all times in the state moved by a year, forth and back",
        ways: 2,
        make: |fixture, way| shift(fixture, [YEAR_MS, -YEAR_MS][way]),
        ..FAULT
    },
];

fn without_locks<'a>(hook: Hook<'a>, calls: &str) -> Hook<'a> {
    hook.through(&["strace", "-f", "-qqq", "-o", "/dev/null", "-e", &format!("inject={calls}:error=ENOLCK")])
}

#[test]
fn a_damaged_policy_is_no_policy_without_limits() {
    let fixture = Fixture::under(&json!({"main": {"max_turns": 1, "grace_turns": 0}}));
    let session = Session::begin(&fixture, "s1");
    assert_eq!(session.works("t1"), Answer::Allowed);
    let cut = "UPDATE policy SET content = substr(content, 1, length(content) / 2)";
    database(&fixture).execute(cut, []).unwrap();
    let in_a_new_run = |mut event: Value| {
        event["prompt_id"] = json!("s1-p2");
        fixture.hook().tell(&event).ok()
    };
    assert_eq!(in_a_new_run(session.prompt()), Answer::Allowed);
    assert!(fixture.log().contains("changed or deleted the pinned policy"), "{}", fixture.log());
    assert_eq!(in_a_new_run(session.requests("Read", "t2")), Answer::Allowed);
    assert_ne!(in_a_new_run(session.requests("Read", "t3")), Answer::Allowed);
}

#[test]
fn state_in_any_state() {
    strike_all(&FAULTS);
}
