//! What an agent may lay at a path.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::fixture::{Fixture, make_pipe, until};

/// One kind of thing.
pub struct Kind {
    /// What it is, for people.
    pub name: &'static str,
    /// Lays it; `bool` says whether a folder lay there. Returns the script that lays the rest where the hook runs.
    pub lay: fn(&Fixture, &Path, bool) -> Option<String>,
    /// Whether it only shows to a user that is not root.
    pub needs_a_plain_user: bool,
}

const KIND: Kind = Kind { name: "", lay: |_, _, _| None, needs_a_plain_user: false };

/// Length of the sparse file, in bytes.
const SPARSE: u64 = 4 << 30;

pub const KINDS: [Kind; 11] = [
    Kind {
        name: "a pipe",
        lay: |_, path, _| {
            clear(path);
            make_pipe(path);
            None
        },
        ..KIND
    },
    Kind {
        name: "a folder, or a file for a folder",
        lay: |_, path, was_folder| {
            clear(path);
            if was_folder {
                fs::write(path, "a file\n").unwrap()
            } else {
                fs::create_dir(path).unwrap()
            }
            None
        },
        ..KIND
    },
    Kind {
        name: "a link out of the project",
        lay: |fixture, path, was_folder| {
            clear(path);
            symlink(fixture.path(if was_folder { "outside/folder" } else { "outside/victim" }), path).unwrap();
            None
        },
        ..KIND
    },
    Kind {
        name: "a link to nothing",
        lay: |fixture, path, _| {
            clear(path);
            symlink(fixture.path("outside/folder/new"), path).unwrap();
            None
        },
        ..KIND
    },
    Kind {
        name: "a second name of another file",
        lay: |fixture, path, _| {
            clear(path);
            fs::hard_link(fixture.path("outside/victim"), path).unwrap();
            None
        },
        ..KIND
    },
    Kind {
        name: "a link loop",
        lay: |_, path, _| {
            clear(path);
            symlink(path, path).unwrap();
            None
        },
        ..KIND
    },
    Kind {
        name: "a device",
        lay: |_, path, _| {
            clear(path);
            fs::write(path, "").unwrap();
            Some(format!("mount --bind /dev/zero '{}'", path.display()))
        },
        ..KIND
    },
    Kind {
        name: "something unreadable",
        lay: |_, path, _| {
            if !path.exists() {
                clear(path);
                fs::write(path, "unreadable\n").unwrap();
            }
            fs::set_permissions(path, fs::Permissions::from_mode(0)).unwrap();
            None
        },
        needs_a_plain_user: true,
        ..KIND
    },
    Kind {
        name: "a sparse file of 4 GB",
        lay: |_, path, was_folder| {
            if was_folder || !path.exists() {
                clear(path);
            }
            fs::File::options().write(true).create(true).truncate(false).open(path).unwrap().set_len(SPARSE).unwrap();
            None
        },
        ..KIND
    },
    Kind {
        name: "100,000 entries",
        lay: |fixture, path, _| {
            clear(path);
            fs::create_dir(path).unwrap();
            Some(format!("mount --bind '{}' '{}'", fixture.path("many").display(), path.display()))
        },
        ..KIND
    },
    Kind {
        name: "names that are not UTF-8",
        lay: |_, path, was_folder| {
            if !was_folder {
                clear(path);
                fs::create_dir(path).unwrap();
            }
            for name in [&b"\xff\xfe"[..], b"\xff.md", b"agent-\xff.jsonl", b"\xffd/hooks/hooks.json"] {
                let file = path.join(OsStr::from_bytes(name));
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, "{\"modules\": []}\n").unwrap();
            }
            None
        },
        ..KIND
    },
];

/// Makes room for something at a path, with the folders above it.
fn clear(path: &Path) {
    until("it is gone", || {
        // The process that prunes in the background may still write into the state.
        let _not_there = fs::remove_dir_all(path).or_else(|_| fs::remove_file(path));
        path.symlink_metadata().is_err()
    });
    if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
        fs::create_dir_all(folder).unwrap();
    }
}

/// What is said, in the answers or in a log, where something takes away what a person counts on.
struct Told {
    /// The paths.
    places: &'static [&'static str],
    /// The kinds with which nothing is lost there: it is put aside, or is what belongs there.
    harmless: &'static [&'static str],
    /// One of these is said.
    words: &'static [&'static str],
}

const TOLD: [Told; 3] = [
    Told {
        places: &["project/.claude/logs/execution-limits.log", "project/.claude/logs", "project/.claude"],
        harmless: &[
            "a sparse file of 4 GB",
            "100,000 entries",
            "names that are not UTF-8",
            "a folder, or a file for a folder",
        ],
        words: &["the log goes to the state folder"],
    },
    Told {
        places: &[
            "live/state",
            "live/state/locks",
            "live/state/state.db",
            "live/state/state.db-wal",
            "live/state/state.db-journal",
        ],
        harmless: &["100,000 entries", "names that are not UTF-8", "a sparse file of 4 GB", "something unreadable"],
        words: &["limits cannot be checked", "cannot use `", "cannot keep the state in"],
    },
    Told {
        places: &["live/s1.jsonl"],
        harmless: &[
            "a link to nothing",
            "a link out of the project",
            "a second name of another file",
            "a sparse file of 4 GB",
        ],
        words: &["cannot be read", "was rewritten"],
    },
];

/// Returns the words of which one has to be said about a thing at a path; nothing where a person loses nothing by it.
pub fn must_say(place: &str, kind: &Kind) -> Option<&'static [&'static str]> {
    let told = TOLD.iter().find(|told| told.places.contains(&place))?;
    (!told.harmless.contains(&kind.name)).then_some(told.words)
}
