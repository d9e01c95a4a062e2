//! A settings file of any text: our handlers go in, once, and out again, and whatever else is there stays, byte for byte.

#![no_main]

use std::fs;
use std::path::PathBuf;

use fusebox::install::backup::Backups;
use fusebox::install::client_versions::TRIED;
use fusebox::install::default_files::StarterMode;
use fusebox::install::handler::{Judge, Launch, OnFailure, Wanted};
use fusebox::install::place::{InstallScope, SettingsPlace};
use fusebox::install::registration::Starter;
use fusebox::install::{hooks, json, registration, uninstall};
use fusebox::platform::environment::Environment;
use fusebox::wire::events::EVENTS;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let wanted = wanted(bytes.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)));
    if json::check(text).is_ok() {
        in_and_out(text, &wanted);
    }
    init_and_uninstall(text, &wanted);
});

/// One of the registrations that `init` can be asked for.
fn wanted(choice: u8) -> Wanted {
    Wanted {
        launch: if choice & 1 == 0 { Launch::Guarded } else { Launch::Binary(PathBuf::from("/opt/bin/fusebox")) },
        on_failure: if choice & 2 == 0 { OnFailure::Continue } else { OnFailure::Block },
        judge: if choice & 4 == 0 { Judge::AsItIs } else { Judge::Asked },
        holds_calls: choice & 8 != 0,
        pause_wait_ms: u64::from(choice & 16) * 1000,
        client: if choice & 16 == 0 { TRIED[0] } else { TRIED[TRIED.len() - 1] },
        status_line: None,
    }
}

fn in_and_out(text: &str, wanted: &Wanted) {
    let Ok(merged) = hooks::merge(text, wanted) else { return };
    assert_eq!(json::check(&merged), Ok(()), "{merged}");
    assert_eq!(hooks::merge(&merged, wanted).ok().as_deref(), Some(merged.as_str()), "a second time");
    let found = hooks::find(&merged);
    for row in EVENTS.iter().filter(|row| wanted.knows(row)) {
        let covering = found.iter().filter(|found| found.event == row.name && found.handler.is_ours());
        assert_eq!(covering.map(|found| found.matches_all).collect::<Vec<_>>(), [true], "{}", row.name);
    }
    let stripped = hooks::strip(&merged, Some(text));
    assert!(hooks::find(&stripped).is_empty(), "{stripped}");
    if hooks::find(text).is_empty() && json::root(text).is_some() {
        assert_eq!(squeezed(&stripped), squeezed(text), "{stripped}");
    }
}

/// Returns a text without the white space between its tokens: an empty list may lose its.
fn squeezed(text: &str) -> String {
    let mut quoted = false;
    let mut escaped = false;
    let is_kept = |letter: &char| {
        let inside = quoted;
        quoted ^= *letter == '"' && !escaped;
        escaped = inside && *letter == '\\' && !escaped;
        inside || !" \t\r\n".contains(*letter)
    };
    text.chars().filter(is_kept).collect()
}

/// What `fusebox init` and `fusebox uninstall` do on disk.
fn init_and_uninstall(text: &str, wanted: &Wanted) {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("claude");
    let settings = folder.join("settings.json");
    let place = SettingsPlace { scope: InstallScope::User, settings: settings.clone(), folder: folder.clone() };
    let backups = Backups::in_state(&root.path().join("state"));
    let world = Environment::real();
    fs::create_dir(&folder).unwrap();
    fs::write(&settings, text).unwrap();
    let Ok(plan) = registration::plan(
        &world,
        place.clone(),
        wanted,
        &Starter { mode: StarterMode::Unsaid, paid_by_plan_in: None },
    ) else {
        assert!(json::check(text).is_err() || hooks::merge(text, wanted).is_err(), "refused without a reason");
        return;
    };
    for _ in 0..2 {
        registration::apply(&backups, &plan).unwrap();
    }
    assert_eq!(fs::read_to_string(&settings).ok(), hooks::merge(text, wanted).ok());
    uninstall::remove(&world, &backups, &place).unwrap();
    let left = fs::read_to_string(&settings).unwrap();
    if hooks::find(text).is_empty() {
        assert_eq!(left, text, "uninstall gives every byte back");
    } else {
        assert!(hooks::find(&left).is_empty(), "{left}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left behind");
}
