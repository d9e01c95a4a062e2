//! Fusebox as a plugin alone: what takes its hooks away waits, and a client that has them is started.

use std::os::unix::fs::symlink;

use fusebox::install::client_versions::TRIED;
use fusebox::install::handler::{Judge, Launch, OnFailure, Wanted};
use fusebox::install::hooks;
use serde_json::{Value, json};

use crate::client_starts::Bench;
use crate::nested::event;
use crate::world::{FUSEBOX, TestWorld, check_current};

const FOLDER: &str = "home/.claude/plugins/cache/fusebox/fusebox/0.1.0";
const USER: &str = "home/.claude/settings.json";
const HOOKS: &str = include_str!("../../plugin/fusebox/hooks/hooks.json");

/// Lays the plugin into a world as the client installs it, and switches it on.
fn install(world: &TestWorld) {
    let places = json!([{"scope": "user", "installPath": world.path(FOLDER), "version": "0.1.0"}]);
    let list = json!({"version": 2, "plugins": {"fusebox@fusebox": places}});
    world.write("home/.claude/plugins/installed_plugins.json", list.to_string());
    world.write(&format!("{FOLDER}/hooks/hooks.json"), HOOKS);
    world.write(&format!("{FOLDER}/bin/README"), "");
    symlink(FUSEBOX, world.path(FOLDER).join("bin/fusebox")).unwrap();
    world.write(USER, switched(true).to_string());
}

fn switched(on: bool) -> Value {
    json!({"enabledPlugins": {"fusebox@fusebox": on}})
}

/// A person's session whose hooks come by the plugin alone.
fn plugged() -> Bench {
    Bench::prepared(TestWorld::new(), "user", |bench| {
        let _said = bench.world.run(&["uninstall", "--scope", "user"]).ok();
        install(&bench.world);
    })
}

/// Whether a change of settings waits, once this text stands in a file.
fn waits(bench: &Bench, file: &str, text: &str) -> bool {
    bench.world.write(file, text);
    event(&bench.world, bench.pid(), "s1", "ConfigChange", &json!({"source": "user_settings"})).contains("\"block\"")
}

#[test]
fn what_takes_the_plugins_hooks_away_waits() {
    let off = switched(false).to_string();
    for (file, text, expected) in [
        (USER, off.as_str(), true),
        (USER, "{}", true),
        ("project/.claude/settings.json", &off, true),
        ("project/.claude/settings.local.json", &off.replace("Plugins", "\\u0050lugins"), true),
        ("project/.claude/settings.local.json", "{\"disableAllHooks\": true}", true),
        ("project/.claude/settings.json", &switched(true).to_string(), false),
        ("project/.claude/settings.json", "{\"enabledPlugins\": {\"other@fusebox\": false}}", false),
        ("project/.claude/settings.json", "{\"model\": \"opus\"}", false),
    ] {
        assert_eq!(waits(&plugged(), file, text), expected, "{text} in {file}");
    }
}

#[test]
fn the_plugin_may_go_where_the_settings_have_the_hooks_too() {
    let bench = plugged();
    let _said = bench.world.run(&["init", "--scope", "local"]).ok();
    event(&bench.world, bench.pid(), "s2", "SessionStart", &json!({"source": "startup"}));
    assert!(!waits(&bench, USER, &switched(false).to_string()));
}

#[test]
fn a_client_is_started_where_the_plugin_is_on() {
    for (file, text, expected) in [
        ("elsewhere/.claude/settings.json", "{}", false),
        ("elsewhere/.claude/settings.json", &*switched(false).to_string(), true),
        ("elsewhere/.claude/settings.json", "{\"disableAllHooks\": true}", true),
    ] {
        let bench = plugged();
        bench.world.write(file, text);
        let folder = bench.world.path("elsewhere");
        assert_eq!(bench.refuses(&format!("cd {} && claude -p go", folder.display())), expected, "{text}");
    }
    let bench = plugged();
    bench.world.write("project/own.json", switched(false).to_string());
    assert!(bench.refuses("claude -p go --settings own.json"));
    assert!(!bench.refuses("claude -p go"));
}

/// A plugin that was laid beside them while the session runs stands for no hooks that go.
#[test]
fn another_plugin_takes_the_place_of_no_hooks() {
    let bench = Bench::prepared(TestWorld::new(), "user", |_| {});
    let hooks = HOOKS.replace("${CLAUDE_PLUGIN_ROOT}/bin/fusebox", FUSEBOX);
    bench.world.write(&format!("{FOLDER}/hooks/hooks.json"), hooks);
    let places = json!([{"scope": "user", "installPath": bench.world.path(FOLDER), "version": "0.1.0"}]);
    let list = json!({"version": 2, "plugins": {"fusebox@fusebox": places}});
    bench.world.write("home/.claude/plugins/installed_plugins.json", list.to_string());
    assert!(waits(&bench, USER, &switched(true).to_string()));
}

/// The plugin's hooks are those that `init` writes, by the path that the client gives a plugin.
#[test]
fn the_plugin_has_every_hook() {
    let launch = Launch::Binary("${CLAUDE_PLUGIN_ROOT}/bin/fusebox".into());
    let wanted = Wanted {
        launch,
        on_failure: OnFailure::Continue,
        judge: Judge::AsItIs,
        holds_calls: false,
        pause_wait_ms: 0,
        client: TRIED[0],
        status_line: None,
    };
    let text = hooks::merge("{}\n", &wanted).ok().unwrap();
    check_current("plugin/fusebox/hooks/hooks.json", &text);
}

/// What lies in the client's cache alone it does not load, and what is switched off runs nothing.
#[test]
fn a_strict_run_is_started_where_the_plugin_brings_hooks_and_nowhere_else() {
    let off = json!({"enabledPlugins": {"fusebox@fusebox": true}, "disableAllHooks": true});
    let list = "home/.claude/plugins/installed_plugins.json";
    for (file, text, starts) in [
        (USER, switched(true), true),
        (USER, switched(false), false),
        (USER, off, false),
        (list, json!({"version": 2, "plugins": {}}), false),
    ] {
        let world = TestWorld::new();
        install(&world);
        world.write(file, text.to_string());
        world.script("bin/claude", "echo started");
        let ran = world.run(&["run", "--strict", "--", "claude", "-p", "x"]);
        assert_eq!((ran.stdout.contains("started"), ran.code), (starts, 3), "{file} {text}: {ran}");
    }
}
