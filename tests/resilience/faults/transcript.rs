//! What may lie where the transcript should be, and what may stand in it.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::symlink;

use crate::faults::{Comes, Counts, FAULT, Fault, strike_all};
use crate::fixture::{Fixture, make_pipe};

const PLACE: &str = "live/s1.jsonl";
const ASIDE: &str = "live/aside.jsonl";
/// A response's row, up to where something may be put in.
const ROW: &str = r#"{"type":"assistant","message":{"role":"assistant","id":"m-x","model":"claude-opus-5-5","usage":"#;

/// Returns lists in lists.
fn deep() -> String {
    "[".repeat(100_000) + &"]".repeat(100_000)
}

/// Lays something else under the transcript's name.
fn replace(fixture: &Fixture, lay: impl FnOnce(&std::path::Path)) {
    fs::rename(fixture.path(PLACE), fixture.path(ASIDE)).unwrap();
    lay(&fixture.path(PLACE));
}

/// Puts the transcript back.
fn put_back(fixture: &Fixture) {
    let _folder = fs::remove_dir(fixture.path(PLACE));
    fs::rename(fixture.path(ASIDE), fixture.path(PLACE)).unwrap();
}

/// Adds a line of so many megabytes, with something before and behind the filler.
fn long_line(fixture: &Fixture, megabytes: usize, before: &str, behind: &str) {
    let mut file = OpenOptions::new().append(true).open(fixture.path(PLACE)).unwrap();
    file.write_all(before.as_bytes()).unwrap();
    for _ in 0..megabytes {
        file.write_all(&[b'x'; 1 << 20]).unwrap();
    }
    file.write_all(behind.as_bytes()).unwrap();
}

/// Adds bytes to the transcript.
fn add(fixture: &Fixture, bytes: &[u8]) {
    OpenOptions::new().append(true).open(fixture.path(PLACE)).unwrap().write_all(bytes).unwrap();
}

pub const FAULTS: [Fault; 12] = [
    Fault {
        fault: "the transcript is missing",
        made: "moved away",
        make: |fixture, _| fs::rename(fixture.path(PLACE), fixture.path(ASIDE)).unwrap(),
        mend: put_back,
        ..FAULT
    },
    Fault {
        fault: "the transcript is a shorter one, or another",
        made: "truncated to nothing and to a byte; overwritten with blanks",
        says: "a transcript was rewritten",
        ways: 2,
        make: |fixture, way| {
            let text = [vec![b'{'], vec![b' '; 64 << 10]][way].clone();
            replace(fixture, |path| fs::write(path, text).unwrap());
        },
        mend: put_back,
        ..FAULT
    },
    Fault {
        fault: "the transcript is a folder, a pipe, a device or a link to itself",
        made: "`mkdir`, `mkfifo`, links to `/dev/zero` and to its own name",
        says: "cannot be read",
        ways: 4,
        make: |fixture, way| {
            replace(fixture, |path| match way {
                0 => fs::create_dir(path).unwrap(),
                1 => make_pipe(path),
                2 => symlink("/dev/zero", path).unwrap(),
                _ => symlink(path, path).unwrap(),
            });
        },
        mend: put_back,
        ..FAULT
    },
    Fault {
        fault: "the transcript pretends to be 1 TB long",
        made: "a hole without a line's end",
        says: "keeps a transcript from being read",
        make: |fixture, _| {
            replace(fixture, |path| File::create(path).unwrap().set_len(1 << 40).unwrap());
        },
        mend: put_back,
        ..FAULT
    },
    Fault {
        fault: "a line of 100 MB in the transcript",
        made: "a tool's result",
        make: |fixture, _| long_line(fixture, 100, r#"{"type":"user","toolUseResult":""#, "\"}\n"),
        ..FAULT
    },
    Fault {
        fault: "a response's row of 100 MB in the transcript",
        made: "a response with that much content",
        says: "bytes was skipped",
        make: |fixture, _| long_line(fixture, 100, &format!(r#"{ROW}{{"input_tokens":1}},"content":""#), "\"}}\n"),
        ..FAULT
    },
    Fault {
        fault: "a line of 100 MB that has not ended yet",
        made: "a tool's result, half written; then its end",
        make: |fixture, _| long_line(fixture, 100, r#"{"type":"user","toolUseResult":""#, ""),
        mend: |fixture| add(fixture, b"\"}\n"),
        ..FAULT
    },
    Fault {
        fault: "a row nested 100,000 deep",
        made: "lists in a message",
        make: |fixture, _| {
            add(fixture, format!("{{\"type\":\"user\",\"message\":{{\"content\":{}}}}}\n", deep()).as_bytes())
        },
        ..FAULT
    },
    Fault {
        fault: "a response whose usage is nested 100,000 deep",
        made: "lists in its place",
        counts: Counts::Itself,
        make: |fixture, _| add(fixture, format!("{ROW}{}}}}}\n", deep()).as_bytes()),
        ..FAULT
    },
    Fault {
        fault: "rows that are no UTF-8, or no JSON",
        made: "bytes `ff fe`, a lone surrogate, NUL, a row cut in half",
        ways: 4,
        make: |fixture, way| {
            let row = [
                &b"{\"usage\":{\"\xff\xfe\":1}}\n"[..],
                b"{\"message\":{\"id\":\"\\ud800\",\"usage\":{}}}\n",
                b"\0\0\0\n",
                b"{\"message\":{\"usage\":\n",
            ];
            add(fixture, row[way]);
        },
        ..FAULT
    },
    Fault {
        fault: "a last row that is only half there",
        made: "half of it, then the rest",
        make: |fixture, _| add(fixture, &ROW.as_bytes()[..40]),
        mend: |fixture| {
            let path = fixture.path(PLACE);
            let file = OpenOptions::new().write(true).open(path).unwrap();
            let length = file.metadata().unwrap().len();
            file.set_len(length - 40).unwrap();
        },
        ..FAULT
    },
    Fault {
        fault: "a gigabyte of new rows",
        made: "blank lines, a line's end in each MiB",
        make: |fixture, _| {
            let mut file = OpenOptions::new().write(true).open(fixture.path(PLACE)).unwrap();
            for _ in 0..1024 {
                file.seek(SeekFrom::End((1 << 20) - 1)).unwrap();
                file.write_all(b"\n").unwrap();
            }
        },
        comes: Comes::Decided,
        ..FAULT
    },
];

#[test]
fn a_transcript_in_any_state() {
    strike_all(&FAULTS);
}
