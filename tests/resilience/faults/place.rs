//! Where the hook runs: disks that are full or read-only, no home, few descriptors, little memory, another boot.

use crate::faults::{Comes, FAULT, Fault, strike_all};
use crate::fixture::{Fixture, Hook, apart};

/// Runs the hook on a copy of the state on a disk that is full, and keeps that copy as it then is.
const FULL_DISK: &str = r#"
    disk=$FUSEBOX_HOME.disk; mkdir "$disk"; mount -t tmpfs -o size=1m tmpfs "$disk"; cp -a "$FUSEBOX_HOME/." "$disk"
    head -c 2m /dev/zero > "$disk/filler" 2>/dev/null
    FUSEBOX_HOME=$disk "$@"; code=$?
    rm -r "$disk/filler" "$FUSEBOX_HOME"; cp -a "$disk" "$FUSEBOX_HOME"; exit $code"#;

/// Runs the hook where a folder cannot be written.
const READ_ONLY: &str = r#"
    mount --bind "$FOLDER" "$FOLDER" && mount -o remount,bind,ro "$FOLDER" && exec "$@""#;

/// Runs the hook with another id of the machine's boot.
const OTHER_BOOT: &str = r#"
    echo 00000000-0000-4000-8000-000000000000 > "$HOME/boot"
    mount --bind "$HOME/boot" /proc/sys/kernel/random/boot_id && exec "$@""#;

/// Runs the hook in a file system of its own.
fn in_own_disk<'a>(hook: Hook<'a>, script: &str) -> Hook<'a> {
    hook.through(apart()).in_shell(script)
}

fn read_only<'a>(hook: Hook<'a>, place: &str) -> Hook<'a> {
    let folder = hook.fixture().text(place);
    in_own_disk(hook.with("FOLDER", folder), READ_ONLY)
}

/// Puts a file where the state folder was.
fn file_for_folder(fixture: &Fixture) {
    fixture.keep("kept");
    std::fs::remove_dir_all(fixture.path("live/state")).unwrap();
    fixture.write("live/state", "no folder");
}

pub const FAULTS: [Fault; 11] = [
    Fault {
        fault: "the disk is full",
        made: "the state on a `tmpfs` of 1 MB, filled up",
        comes: Comes::Refused,
        says: "limits cannot be checked",
        call: |hook, event| in_own_disk(hook, FULL_DISK).tell(event),
        ..FAULT
    },
    Fault {
        fault: "the state folder is read-only",
        made: "a read-only mount",
        comes: Comes::Refused,
        says: "limits cannot be checked",
        call: |hook, event| read_only(hook, "live/state").tell(event),
        ..FAULT
    },
    Fault {
        fault: "the home folder and the project are read-only, the state is not",
        made: "read-only mounts",
        call: |hook, event| {
            let project = hook.fixture().text("project");
            let both = format!(
                r#"mount --bind {project} {project} && mount -o remount,bind,ro {project} && {}"#,
                READ_ONLY.trim()
            );
            let home = hook.fixture().text("home");
            in_own_disk(hook.with("FOLDER", home), &both).tell(event)
        },
        ..FAULT
    },
    Fault {
        fault: "no home",
        made: "neither `HOME` nor `FUSEBOX_HOME` is set",
        comes: Comes::Refused,
        says: "there is no folder for the state",
        call: |hook, event| hook.without("HOME").without("FUSEBOX_HOME").tell(event),
        ..FAULT
    },
    Fault {
        fault: "no home, but a folder for the state",
        made: "`HOME` is not set",
        call: |hook, event| hook.without("HOME").tell(event),
        ..FAULT
    },
    Fault {
        fault: "the state folder is a file",
        made: "a text under its name",
        comes: Comes::Refused,
        says: "limits cannot be checked",
        make: |fixture, _| file_for_folder(fixture),
        mend: |fixture| fixture.put_back("kept"),
        ..FAULT
    },
    Fault {
        fault: "no file descriptors",
        made: "`ulimit -n 3`",
        comes: Comes::Refused,
        says: "limits cannot be checked",
        call: |hook, event| hook.in_shell(r#"ulimit -n 3; exec "$@""#).tell(event),
        ..FAULT
    },
    Fault {
        fault: "few file descriptors",
        made: "`ulimit -n 16`",
        call: |hook, event| hook.in_shell(r#"ulimit -n 16; exec "$@""#).tell(event),
        ..FAULT
    },
    Fault {
        fault: "little memory",
        made: "`ulimit -v 32768`, in KiB",
        call: |hook, event| hook.in_shell(r#"ulimit -v 32768; exec "$@""#).tell(event),
        ..FAULT
    },
    Fault {
        fault: "the machine has booted anew",
        made: "another `boot_id`",
        call: |hook, event| in_own_disk(hook, OTHER_BOOT).tell(event),
        ..FAULT
    },
    Fault {
        fault: "the monotonic clock is a year ahead",
        made: "`unshare --time --boottime 31536000`",
        call: |hook, event| hook.through(&["unshare", "--time", "--boottime", "31536000"]).tell(event),
        ..FAULT
    },
];

#[test]
fn any_place() {
    strike_all(&FAULTS);
}
