//! The state and the log are their owner's alone, and lie where they belong: whatever the process's mask, and whoever made them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::session::Session;
use crate::stage::{Answer, Stage};

/// The masks that a client may hand down.
const MASKS: [&str; 5] = ["0", "022", "077", "0277", "0777"];
/// A project's log.
const LOG: &str = "project/.claude/logs/execution-limits.log";
/// The log in the state folder.
const LOG_OF_STATE: &str = "live/state/execution-limits.log";

/// Returns a stage whose project has a policy of its own, or has none.
fn stage(has_policy: bool) -> Stage {
    let stage = Stage::under(&json!({"main": {"max_turns": 1, "grace_turns": 0, "warn_at": []}}));
    if has_policy {
        stage.write("project/.claude/fusebox.json", "{}");
    }
    stage
}

/// Makes a call as a user that is not root would, under a mask.
fn tell(stage: &Stage, mask: &str, event: &Value) -> Answer {
    let as_others = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"];
    stage.hook().in_shell(&format!("umask {mask}; exec \"$@\"")).through(&as_others).tell(event).ok()
}

/// Plays a session into its limit, which writes the log.
fn trip(stage: &Stage, mask: &str) {
    let session = Session::named(stage, "s1");
    session.append(&[session.user(&json!("go"))]);
    for event in [session.starts(), session.prompt()] {
        tell(stage, mask, &event);
    }
    assert_eq!(tell(stage, mask, &session.requests("Read", "t1")), Answer::Allowed);
    assert_ne!(tell(stage, mask, &session.requests("Read", "t2")), Answer::Allowed, "mask {mask}");
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
            let stage = stage(has_policy);
            fs::remove_dir_all(stage.path("live/state")).unwrap();
            trip(&stage, mask);
            is_private(&stage.path("live/state"), &format!("mask {mask}"));
            // A mask that keeps the owner out of new folders leaves the log to the state folder.
            let has_log = stage.path("project/.claude/logs").exists();
            assert_eq!(has_log, has_policy && mask != "0777", "mask {mask}");
            if has_log {
                is_private(&stage.path("project/.claude/logs"), &format!("mask {mask}"));
            }
        }
    }
}

#[test]
fn what_others_may_read_is_closed_at_the_next_start() {
    let stage = stage(false);
    trip(&stage, "0");
    stage.write("live/state/state.db-shm", "");
    for path in all_in(&stage.path("live/state")) {
        let open = if path.is_dir() { 0o777 } else { 0o666 };
        fs::set_permissions(path, Permissions::from_mode(open)).unwrap();
    }
    let another = Session::named(&stage, "s2");
    tell(&stage, "0", &another.starts());
    is_private(&stage.path("live/state"), "opened to others before");
}

#[test]
fn a_log_is_in_a_project_with_a_policy_of_its_own_alone() {
    let stage_with = stage(true);
    trip(&stage_with, "022");
    assert!(fs::read_to_string(stage_with.path(LOG)).unwrap().contains("AGENT_FAILED"));
    assert!(!stage_with.path(LOG_OF_STATE).exists());
    assert_eq!(fs::read_to_string(stage_with.path("project/.claude/logs/.gitignore")).unwrap(), "*\n");
    let stage_without = stage(false);
    trip(&stage_without, "022");
    assert!(!stage_without.path("project/.claude").exists());
    assert!(fs::read_to_string(stage_without.path(LOG_OF_STATE)).unwrap().contains("AGENT_FAILED"));
}

#[test]
fn a_folder_of_logs_that_is_somebody_elses_keeps_its_files_in_git() {
    let stage = stage(true);
    stage.write("project/.claude/logs/notes.md", "mine");
    trip(&stage, "022");
    let ignored = fs::read_to_string(stage.path("project/.claude/logs/.gitignore")).unwrap();
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
        let stage = stage(true);
        stage.write("outside/.bashrc", "a person's own file\n");
        stage.write("outside/fusebox.json", "{}");
        let session = Session::begin(&stage, "s1");
        let is_earlier = link.ends_with(".1");
        if is_earlier {
            // It is put aside when it has grown long.
            stage.write(LOG, "x".repeat((10 << 20) + 1));
        }
        let path = stage.path(link);
        let _not_there = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(stage.path(target), &path).unwrap();
        session.works("t1");
        let outcome = stage.hook().tell(&session.requests("Read", "t2"));
        let said = outcome.stdout.clone();
        assert_ne!(outcome.ok(), Answer::Allowed, "{link}");
        assert_eq!(fs::read_to_string(stage.path("outside/.bashrc")).unwrap(), "a person's own file\n", "{link}");
        let mut left: Vec<_> = fs::read_dir(stage.path("outside")).unwrap().map(|it| it.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".bashrc", "fusebox.json"], "{link}");
        let log = stage.path(if is_earlier { LOG } else { LOG_OF_STATE });
        assert!(fs::read_to_string(log).unwrap().contains("AGENT_FAILED"), "{link}");
        assert_eq!(said.contains("the log goes to the state folder"), !is_earlier, "{link}: {said}");
        // The person is told once.
        session.batch("Read", "t2");
        assert!(!stage.hook().tell(&session.prompt()).stdout.contains("the log goes"), "{link}");
    }
}

#[test]
fn a_persons_linked_settings_folder_still_counts() {
    let stage = stage(false);
    fs::rename(stage.path("home/.claude"), stage.path("home/dotfiles")).unwrap();
    symlink(stage.path("home/dotfiles"), stage.path("home/.claude")).unwrap();
    trip(&stage, "022");
}

#[test]
fn a_persons_linked_state_folder_still_counts() {
    let stage = stage(false);
    trip(&stage, "022");
    fs::rename(stage.path("live/state"), stage.path("live/elsewhere")).unwrap();
    symlink(stage.path("live/elsewhere"), stage.path("live/state")).unwrap();
    let session = Session::named(&stage, "s1");
    assert!(
        matches!(tell(&stage, "022", &session.requests("Read", "t3")), Answer::Refused(why) if why.contains("max_turns"))
    );
}
