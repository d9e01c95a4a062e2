//! Which handlers are in force, by the settings of all files.

use crate::install::handler::{Judge, Launch, OnFailure, Wanted};
use crate::install::handlers::*;
use crate::install::place::SettingsPlace;
use crate::wire::events::EVENTS;

const BINARY: &str = "/opt/fusebox";

fn ours() -> String {
    let wanted = Wanted {
        launch: Launch::Binary(BINARY.into()),
        on_failure: OnFailure::Continue,
        judge: Judge::AsItIs,
        holds_calls: false,
        pause_wait_ms: 0,
        client: [2, 1, 332],
        status_line: None,
    };
    hooks::merge("{}", &wanted).unwrap()
}

/// Checks how many events are covered, and by which scope's file they are switched off.
#[track_caller]
fn check(files: &[(InstallScope, String)], covered: usize, disabled: Option<InstallScope>) {
    let registered = resolve(&read(files), &[], Some(Path::new(BINARY)));
    assert_eq!(registered.events.len(), covered);
    assert_eq!(registered.disabled, disabled.map(|scope| folders().place(scope).unwrap().settings));
}

fn folders() -> Folders {
    Folders {
        project: "/p".into(),
        repository: None,
        speaking: Vec::new(),
        claude: Some("/c".into()),
        plugins: None,
        remembered: Vec::new(),
        managed: "/etc/cc".into(),
    }
}

/// Returns the settings of every scope, with these texts in some.
fn read(files: &[(InstallScope, String)]) -> Vec<Settings> {
    let text = |place: &SettingsPlace| {
        let own = files.iter().find(|file| folders().place(file.0).is_ok_and(|it| it == *place));
        own.map(|file| file.1.clone()).unwrap_or_default()
    };
    let places = folders().places().into_iter();
    places.map(|place| Settings { text: text(&place), place, unread: None }).collect()
}

fn with(text: &str, key: &str, value: bool) -> String {
    json::insert(text, &json::root(text).unwrap(), Some(key), &value.into())
}

#[test]
fn prices_are_the_clients_where_they_are_managed() {
    let priced = |scope| resolve(&read(&[(scope, with("{}", "modelPricing", true))]), &[], None).has_prices;
    assert_eq!([InstallScope::Managed, InstallScope::User, InstallScope::Project].map(priced), [true, false, false]);
}

#[test]
fn the_client_waits_as_long_as_its_hastiest_handler_says() {
    let long = ours().replace("\"timeout\":", "\"was\":").replace("\"type\":", "\"timeout\": 610, \"type\":");
    let unsaid = ours().replace("\"timeout\":", "\"was\":");
    for (files, waits) in [([&long, &unsaid], 0), ([&unsaid, &long], 0), ([&long, &long], 610)] {
        let settings: Vec<_> = [InstallScope::User, InstallScope::Local].into_iter().zip(files).collect();
        let of = |it: &(InstallScope, &String)| (it.0, it.1.clone());
        let found = resolve(&read(&settings.iter().map(of).collect::<Vec<_>>()), &[], Some(Path::new(BINARY)));
        assert_eq!(found.call_timeout_s, waits, "{files:?}");
    }
}

#[test]
fn what_is_registered_is_what_the_client_runs() {
    let all = EVENTS.len();
    let off = |text: &str| with(text, "disableAllHooks", true);
    let on = |text: &str| with(text, "disableAllHooks", false);
    check(&[], 0, None);
    check(&[(InstallScope::Local, ours())], all, None);
    check(&[(InstallScope::User, ours()), (InstallScope::Project, ours())], all, None);
    // switched off, and on again by a stronger file
    check(&[(InstallScope::Local, off(&ours()))], 0, Some(InstallScope::Local));
    check(&[(InstallScope::User, off("{}")), (InstallScope::Project, ours())], 0, Some(InstallScope::User));
    check(&[(InstallScope::User, off("{}")), (InstallScope::Local, on(&ours()))], all, None);
    // nothing of ours is lost by it
    check(&[(InstallScope::User, off("{}"))], 0, None);
    // managed hooks are switched off by managed settings only
    check(&[(InstallScope::Local, off(&ours())), (InstallScope::Managed, ours())], all, None);
    check(&[(InstallScope::Managed, off(&ours()))], 0, Some(InstallScope::Managed));
    let only_managed = with("{}", "allowManagedHooksOnly", true);
    check(
        &[(InstallScope::Local, ours()), (InstallScope::Managed, only_managed.clone())],
        0,
        Some(InstallScope::Managed),
    );
    check(&[(InstallScope::Local, with(&ours(), "allowManagedHooksOnly", true))], all, None);
}

#[test]
fn a_handler_that_does_not_reach_every_call_does_not_count() {
    let changed = |from: &str, to: &str| [(InstallScope::Local, ours().replace(from, to))];
    let matched = EVENTS.iter().filter(|row| !row.has_matcher).count();
    check(&changed("\"*\"", "\"Bash\""), matched, None);
    check(&changed("\"*\"", "\"\""), EVENTS.len(), None);
    check(&changed("\"timeout\"", "\"async\": true, \"timeout\""), 0, None);
    check(&changed("\"timeout\"", "\"if\": \"Bash(x)\", \"timeout\""), 0, None);
    check(&changed("\"timeout\": ", "\"timeout\": 0.00"), 0, None);
    check(&changed("/opt/fusebox", "/tmp/fusebox"), 0, None);
    check(&changed("\"PreToolUse\"", "\"Unknown\""), EVENTS.len() - 1, None);
    // the client reads the later of two lists
    check(&changed("\"Stop\": [", "\"Stop\": [], \"Stop\": ["), EVENTS.len(), None);
    check(&changed("\"SessionEnd\": [", "\"Stop\": [], \"SessionEnd\": ["), EVENTS.len() - 1, None);
}
