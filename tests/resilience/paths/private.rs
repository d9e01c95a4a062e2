//! The state and the log are their owner's alone, and lie where they belong: whatever the process's mask, and whoever made them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture};
use crate::session::Session;

/// The masks that a client may hand down.
const MASKS: [&str; 5] = ["0", "022", "077", "0277", "0777"];
/// A project's log.
const LOG: &str = "project/.claude/logs/execution-limits.log";
/// The log in the state folder.
const LOG_OF_STATE: &str = "live/state/execution-limits.log";

/// Returns a fixture whose project has a policy of its own, or has none.
fn fixture(has_policy: bool) -> Fixture {
    let fixture = Fixture::under(&json!({"main": {"max_turns": 1, "grace_turns": 0, "warn_at": []}}));
    if has_policy {
        fixture.write("project/.claude/fusebox.json", "{}");
    }
    fixture
}

/// Makes a call as a user that is not root would, under a mask.
fn tell(fixture: &Fixture, mask: &str, event: &Value) -> Answer {
    let as_others = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"];
    fixture.hook().in_shell(&format!("umask {mask}; exec \"$@\"")).through(&as_others).tell(event).ok()
}

/// Plays a session into its limit, which writes the log.
fn trip(fixture: &Fixture, mask: &str) {
    let session = Session::named(fixture, "s1");
    session.append(&[session.user(&json!("go"))]);
    for event in [session.starts(), session.prompt()] {
        tell(fixture, mask, &event);
    }
    assert_eq!(tell(fixture, mask, &session.requests("Read", "t1")), Answer::Allowed);
    assert_ne!(tell(fixture, mask, &session.requests("Read", "t2")), Answer::Allowed, "mask {mask}");
}

/// Returns everything in a folder, itself first.
fn all_in(folder: &Path) -> Vec<PathBuf> {
    let mut paths = vec![folder.to_path_buf()];
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => paths.extend(all_in(&entry.path())),
            false => paths.push(entry.path()),
        }
    }
    paths
}

/// Demands that everything in a folder is its owner's alone.
#[track_caller]
fn is_private(folder: &Path, why: &str) {
    for path in all_in(folder) {
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        let mode = path.metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!(format!("{mode:o}"), format!("{wanted:o}"), "{} ({why})", path.display());
    }
}

#[test]
fn state_and_log_are_private_under_every_mask() {
    for mask in MASKS {
        for has_policy in [true, false] {
            let fixture = fixture(has_policy);
            fs::remove_dir_all(fixture.path("live/state")).unwrap();
            trip(&fixture, mask);
            is_private(&fixture.path("live/state"), &format!("mask {mask}"));
            // A mask that keeps the owner out of new folders leaves the log to the state folder.
            let has_log = fixture.path("project/.claude/logs").exists();
            assert_eq!(has_log, has_policy && mask != "0777", "mask {mask}");
            if has_log {
                is_private(&fixture.path("project/.claude/logs"), &format!("mask {mask}"));
            }
        }
    }
}

#[test]
fn what_others_may_read_is_closed_at_the_next_start() {
    let fixture = fixture(false);
    trip(&fixture, "0");
    fixture.write("live/state/state.db-shm", "");
    for path in all_in(&fixture.path("live/state")) {
        let open = if path.is_dir() { 0o777 } else { 0o666 };
        fs::set_permissions(path, Permissions::from_mode(open)).unwrap();
    }
    let another = Session::named(&fixture, "s2");
    tell(&fixture, "0", &another.starts());
    is_private(&fixture.path("live/state"), "opened to others before");
}

#[test]
fn a_log_is_in_a_project_with_a_policy_of_its_own_alone() {
    let stage_with = fixture(true);
    trip(&stage_with, "022");
    assert!(fs::read_to_string(stage_with.path(LOG)).unwrap().contains("AGENT_FAILED"));
    assert!(!stage_with.path(LOG_OF_STATE).exists());
    assert_eq!(fs::read_to_string(stage_with.path("project/.claude/logs/.gitignore")).unwrap(), "*\n");
    let stage_without = fixture(false);
    trip(&stage_without, "022");
    assert!(!stage_without.path("project/.claude").exists());
    assert!(fs::read_to_string(stage_without.path(LOG_OF_STATE)).unwrap().contains("AGENT_FAILED"));
}

#[test]
fn a_folder_of_logs_that_is_somebody_elses_keeps_its_files_in_git() {
    let fixture = fixture(true);
    fixture.write("project/.claude/logs/notes.md", "mine");
    trip(&fixture, "022");
    let ignored = fs::read_to_string(fixture.path("project/.claude/logs/.gitignore")).unwrap();
    assert!(ignored.contains("/execution-limits.log*") && !ignored.contains("*\n*") && ignored != "*\n", "{ignored}");
}

/// What an agent may make a link: the log, the one that was put aside, the folders above them.
const LINKS: [(&str, &str); 5] = [
    (LOG, "outside/.bashrc"),
    (LOG, "outside/new"),
    ("project/.claude/logs/execution-limits.log.1", "outside/.bashrc"),
    ("project/.claude/logs", "outside"),
    ("project/.claude", "outside"),
];

#[test]
fn a_log_follows_no_link() {
    for (link, target) in LINKS {
        let fixture = fixture(true);
        fixture.write("outside/.bashrc", "a person's own file\n");
        fixture.write("outside/fusebox.json", "{}");
        let session = Session::begin(&fixture, "s1");
        let is_earlier = link.ends_with(".1");
        if is_earlier {
            // It is put aside when it has grown long.
            fixture.write(LOG, "x".repeat((10 << 20) + 1));
        }
        let path = fixture.path(link);
        let _not_there = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(fixture.path(target), &path).unwrap();
        session.works("t1");
        let outcome = fixture.hook().tell(&session.requests("Read", "t2"));
        let said = outcome.stdout.clone();
        assert_ne!(outcome.ok(), Answer::Allowed, "{link}");
        assert_eq!(fs::read_to_string(fixture.path("outside/.bashrc")).unwrap(), "a person's own file\n", "{link}");
        let mut left: Vec<_> =
            fs::read_dir(fixture.path("outside")).unwrap().map(|it| it.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".bashrc", "fusebox.json"], "{link}");
        let log = fixture.path(if is_earlier { LOG } else { LOG_OF_STATE });
        assert!(fs::read_to_string(log).unwrap().contains("AGENT_FAILED"), "{link}");
        assert_eq!(said.contains("the log goes to the state folder"), !is_earlier, "{link}: {said}");
        // The person is told once.
        session.batch("Read", "t2");
        assert!(!fixture.hook().tell(&session.prompt()).stdout.contains("the log goes"), "{link}");
    }
}

#[test]
fn a_persons_linked_settings_folder_still_counts() {
    let fixture = fixture(false);
    fs::rename(fixture.path("home/.claude"), fixture.path("home/dotfiles")).unwrap();
    symlink(fixture.path("home/dotfiles"), fixture.path("home/.claude")).unwrap();
    trip(&fixture, "022");
}

#[test]
fn a_persons_linked_state_folder_still_counts() {
    let fixture = fixture(false);
    trip(&fixture, "022");
    fs::rename(fixture.path("live/state"), fixture.path("live/elsewhere")).unwrap();
    symlink(fixture.path("live/elsewhere"), fixture.path("live/state")).unwrap();
    let session = Session::named(&fixture, "s1");
    assert!(
        matches!(tell(&fixture, "022", &session.requests("Read", "t3")), Answer::Refused(why) if why.contains("max_turns"))
    );
}
