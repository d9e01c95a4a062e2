//! A limit on the plan's windows hears of them by the client's status line alone: whoever takes that away is kept back or told of.

use serde_json::{Value, json};

use crate::corners::{event, policy};
use crate::world::TestWorld;

const SETTINGS: &str = "home/.claude/settings.json";

/// A machine with hooks and, if it is to be, with the status line; a session has begun on it.
fn begun(status_line: bool, limits: &Value) -> (TestWorld, String) {
    let world = TestWorld::new();
    policy(&world, limits);
    let init: &[&str] =
        if status_line { &["init", "--scope", "user", "--statusline"] } else { &["init", "--scope", "user"] };
    world.command(init).folder("project").run().ok();
    let told = event(&world, "SessionStart", &json!({"source": "startup"}));
    let told = told + &event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    (world, told)
}

/// Writes another status line into the settings.
fn shows(world: &TestWorld, command: Option<&str>) {
    let mut settings: Value = serde_json::from_str(&world.read(SETTINGS).unwrap()).unwrap();
    match command {
        Some(command) => settings["statusLine"]["command"] = json!(command),
        None => {
            settings.as_object_mut().unwrap().remove("statusLine");
        }
    }
    world.write(SETTINGS, settings.to_string());
}

fn changes(world: &TestWorld) -> String {
    event(world, "ConfigChange", &json!({"source": "user_settings"}))
}

fn windows() -> [Value; 2] {
    ["max_five_hour_percent", "max_seven_day_percent"].map(|key| json!({"user": {key: 90}}))
}

#[test]
fn a_status_line_that_a_limit_hears_by_is_not_taken_away() {
    for limits in windows() {
        for command in
            [None, Some("ccstatusline"), Some("/tmp/other/fusebox statusline"), Some("fusebox statusline; true")]
        {
            let (world, told) = begun(true, &limits);
            assert!(!told.contains("hears nothing"), "{told}");
            let before = world.read(SETTINGS).unwrap();
            shows(&world, command);
            let answer = changes(&world);
            assert!(
                answer.contains(r#""decision":"block""#) && answer.contains("status line away"),
                "{command:?}: {answer}"
            );
            world.write(SETTINGS, before);
            assert_eq!(changes(&world), "", "{command:?} undone");
            shows(&world, command);
            let said = world.command(&["reload"]).folder("project").run().ok();
            assert!(said.contains("it takes the settings that waited"), "{said}");
            assert_eq!(changes(&world), "", "a person has taken {command:?}");
        }
    }
}

#[test]
fn where_no_limit_hears_by_it_a_status_line_is_anybodys() {
    let (world, _) = begun(true, &json!({"user": {"max_cost_usd_per_day": 9}}));
    shows(&world, Some("ccstatusline"));
    assert_eq!(changes(&world), "");
}

#[test]
fn a_limit_that_hears_nothing_is_told_of_and_the_advice_helps() {
    for limits in windows() {
        let (world, told) = begun(false, &limits);
        let key = limits["user"].as_object().unwrap().keys().next().unwrap();
        for words in [&format!("`{key}` hears nothing of the plan's windows"), "`fusebox init --statusline`"] {
            assert!(told.contains(words), "{told}");
        }
        let doctor = || world.command(&["doctor"]).folder("project").run().stdout;
        assert!(doctor().contains(&format!("`{key}` hears nothing")), "{}", doctor());
        world.command(&["init", "--statusline"]).folder("project").run().ok();
        assert!(!doctor().contains("hears nothing"), "{}", doctor());
        assert_eq!(changes(&world), "");
        let next = world.hook(world.event("s2", "p1", "SessionStart", &json!({"source": "startup"}))).ok();
        let next = next + &world.hook(world.event("s2", "p1", "UserPromptSubmit", &json!({"prompt": "go"}))).ok();
        assert!(!next.contains("hears nothing"), "{next}");
        // The session that was at work has taken it, too.
        shows(&world, None);
        assert!(changes(&world).contains("status line away"));
    }
}
