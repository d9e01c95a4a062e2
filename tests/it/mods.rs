//! Mods: code that a client loads into itself and that can answer for every hook. Wherever a client would load one from, it is not
//! started with it, the person is told of it, and `doctor` shows it.

use serde_json::{Value, json};

use crate::client_starts::Bench;
use crate::nested::event;
use crate::world::TestWorld;

/// What makes a plugin a mod.
const MODULES: &str = "{\"modules\": [\"./register.js\"]}";

/// A way to have a client load a plugin, `FOLDER` being where its files go.
struct Way {
    name: &'static str,
    /// The folder of the plugin.
    folder: &'static str,
    /// Other files, with their texts; `ROOT` is the world's folder.
    files: fn() -> Vec<(&'static str, Value)>,
}

fn catalog(source: &str) -> Value {
    json!({"name": "y", "owner": {"name": "a"}, "plugins": [{"name": "free", "source": source}]})
}

fn settings(source: &str, path: &str) -> Value {
    json!({"enabledPlugins": {"free@y": true}, "extraKnownMarketplaces": {"y": {"source": {"source": source, "path": path}}}})
}

fn enabled() -> Value {
    json!({"enabledPlugins": {"free@y": true}})
}

const WAYS: [Way; 9] = [
    Way { name: "a skill of the user's", folder: "home/.claude/skills/free", files: Vec::new },
    Way { name: "a skill of the project's", folder: "project/.claude/skills/free", files: Vec::new },
    Way { name: "written for a session", folder: "home/.claude/dev-mods/s/free", files: Vec::new },
    Way {
        name: "installed",
        folder: "home/.claude/plugins/cache/y/free/1.0.0",
        files: || {
            let place = json!([{"scope": "user", "installPath": "ROOT/home/.claude/plugins/cache/y/free/1.0.0"}]);
            vec![
                ("home/.claude/plugins/installed_plugins.json", json!({"version": 2, "plugins": {"free@y": place}})),
                ("project/.claude/settings.json", enabled()),
            ]
        },
    },
    Way {
        name: "installed elsewhere",
        folder: "elsewhere/free",
        files: || {
            let plugins = json!({"free@y": [{"scope": "user", "installPath": "ROOT/elsewhere/free"}]});
            vec![
                ("home/.claude/plugins/installed_plugins.json", json!({"version": 2, "plugins": plugins})),
                ("project/.claude/settings.json", enabled()),
            ]
        },
    },
    Way {
        name: "a known marketplace's",
        folder: "project/mk/free",
        files: || {
            let source = json!({"source": "directory", "path": "ROOT/project/mk"});
            let known = json!({"y": {"source": source, "installLocation": "ROOT/project/mk"}});
            vec![
                ("home/.claude/plugins/known_marketplaces.json", known),
                ("project/mk/.claude-plugin/marketplace.json", catalog("./free")),
                ("project/.claude/settings.local.json", enabled()),
            ]
        },
    },
    Way {
        name: "of a directory that settings declare",
        folder: "project/mk/free",
        files: || {
            vec![
                ("project/.claude/settings.json", settings("directory", "ROOT/project/mk")),
                ("project/mk/.claude-plugin/marketplace.json", catalog("./free")),
            ]
        },
    },
    Way {
        name: "of a file that settings declare",
        folder: "elsewhere/mk/plugins/free",
        files: || {
            let mut catalog = catalog("free");
            catalog["metadata"] = json!({"pluginRoot": "./plugins"});
            vec![
                ("project/.claude/settings.json", settings("file", "../elsewhere/mk/.claude-plugin/marketplace.json")),
                ("elsewhere/mk/.claude-plugin/marketplace.json", catalog),
            ]
        },
    },
    Way {
        name: "of a marketplace that was fetched",
        folder: "home/.claude/plugins/marketplaces/y/free",
        files: || {
            vec![
                ("home/.claude/plugins/marketplaces/y/.claude-plugin/marketplace.json", catalog("./free")),
                ("project/.claude/settings.json", enabled()),
            ]
        },
    },
];

/// How a plugin is a mod, and whether it is one.
const KINDS: [(&[(&str, &str)], bool); 8] = [
    (&[("hooks/hooks.json", MODULES)], true),
    (&[("hooks/hooks.json", "{\"\\u006dodules\": [\"./register.js\"]}")], true),
    (&[(".claude-plugin/plugin.json", "{\"name\":\"free\",\"hooks\":\"./h.json\"}"), ("h.json", MODULES)], true),
    (&[("plugin.json", "{\"name\":\"free\",\"hooks\":[\"./h.json\"]}"), ("h.json", MODULES)], true),
    (&[("hooks/hooks.json", "{\"hooks\": {}}")], false),
    (&[("hooks/hooks.json", "{\"description\": \"no \\\"modules\\\" in it\", \"hooks\": {}}")], false),
    (&[("hooks/hooks.json", "{\"hooks\": {}, \"modules\": []}")], false),
    (&[(".claude-plugin/plugin.json", "{\"name\":\"free\"}"), ("commands/a.md", "modules")], false),
];

fn put(bench: &Bench, way: &Way, kind: &[(&str, &str)]) {
    let root = bench.world.path("").to_string_lossy().trim_end_matches('/').to_owned();
    for (file, text) in (way.files)() {
        // A file of the project's may be ours as well.
        bench.world.write(file, text.to_string().replace("ROOT", &root));
    }
    kind.iter().for_each(|(file, text)| bench.world.write(&format!("{}/{file}", way.folder), text));
}

fn says(bench: &Bench, name: &str, input: &Value) -> String {
    event(&bench.world, bench.pid(), "s1", name, input)
}

#[test]
fn no_client_is_started_that_would_load_a_new_mod() {
    for way in &WAYS {
        for (kind, expected) in KINDS {
            let bench = Bench::of(TestWorld::new(), "user");
            assert!(!bench.refuses("claude -p go"), "{}", way.name);
            put(&bench, way, kind);
            assert_eq!(bench.refuses("claude -p 'go on'"), expected, "{}: {kind:?}", way.name);
            assert!(!bench.refuses("npm test"), "{}: {kind:?}", way.name);
        }
    }
}

#[test]
fn settings_on_the_command_line_bring_no_mod_along() {
    let bench = Bench::of(TestWorld::new(), "user");
    bench.world.write("project/mk/.claude-plugin/marketplace.json", catalog("./free").to_string());
    let path = bench.world.path("project/mk").to_string_lossy().into_owned();
    for (hooks, expected) in [("{\"hooks\":{}}", false), (MODULES, true)] {
        bench.world.write("project/mk/free/hooks/hooks.json", hooks);
        let text = settings("directory", &path).to_string();
        bench.world.write("project/own.json", &text);
        assert_eq!(bench.refuses(&format!("claude -p go --settings '{text}'")), expected, "{hooks}");
        assert_eq!(bench.refuses("claude -p go --settings own.json"), expected, "{hooks}");
    }
    let off = "{\"enabledPlugins\":{\"free@y\":false}}";
    assert!(!bench.refuses(&format!("claude -p go --settings '{off}'")), "one that is switched off is not loaded");
}

/// What is not there yet when the command is looked at cannot be read beforehand.
#[test]
fn no_client_is_started_in_one_command_with_what_adds_a_plugin() {
    let bench = Bench::of(TestWorld::new(), "user");
    for (command, expected) in [
        ("claude plugin marketplace add ./mk && claude plugin install free@y && claude -p go", true),
        ("claude plugin enable free@y; claude -p go", true),
        ("claude plugins i free@y\nclaude -p go", true),
        ("cp h.json mk/free/hooks/hooks.json; claude -p go", true),
        ("cp -r mk/free ~/.claude/skills/free; claude -p go", true),
        ("mv free .claude/skills; claude -p go", true),
        ("claude plugin list; claude -p go", false),
        ("claude plugin marketplace add ./mk && claude plugin install free@y", false),
        ("echo done > .claude/skills/a/SKILL.md; claude -p go", false),
        ("cp hooks.json docs/hooks.json; claude -p go", false),
    ] {
        assert_eq!(bench.refuses(command), expected, "{command}");
    }
}

#[test]
fn a_person_is_told_of_a_new_mod_and_doctor_shows_it() {
    for way in &WAYS {
        let bench = Bench::of(TestWorld::new(), "user");
        put(&bench, way, KINDS[0].0);
        let told = says(&bench, "SessionEnd", &json!({"reason": "other"})) + &bench.world.run(&["log"]).stdout;
        assert!(told.contains("a mod was put into"), "{}: {told}", way.name);
        let doctor = bench.world.run(&["doctor"]).stdout.replace('\n', " ");
        assert!(doctor.contains("the client loads mods"), "{}: {doctor}", way.name);
    }
}

#[test]
fn a_mod_that_was_there_before_the_session_keeps_no_client_back() {
    for way in &WAYS {
        let bench = Bench::prepared(TestWorld::new(), "user", |bench| put(bench, way, KINDS[0].0));
        assert!(!bench.refuses("claude -p go"), "{}", way.name);
        let told = says(&bench, "SessionEnd", &json!({"reason": "other"})) + &bench.world.run(&["log"]).stdout;
        assert!(!told.contains("a mod was put into"), "{}: {told}", way.name);
    }
}

#[test]
fn many_and_large_plugins_are_answered_in_time() {
    let bench = Bench::of(TestWorld::new(), "user");
    let names: Vec<String> = (0..3_000).map(|at| format!("p{at}")).collect();
    let entries: Vec<Value> = names.iter().map(|name| json!({"name": name, "source": format!("./{name}")})).collect();
    bench.world.write("project/mk/.claude-plugin/marketplace.json", json!({"plugins": entries}).to_string());
    let on: serde_json::Map<String, Value> = names.iter().map(|name| (format!("{name}@y"), json!(true))).collect();
    let mut text = settings("directory", "mk");
    text["enabledPlugins"] = Value::Object(on);
    bench.world.write("project/.claude/settings.json", text.to_string());
    let large = format!("{{\"hooks\":{{}},\"a\":\"{}\"}}", "modules".repeat(100_000));
    names.iter().take(30).for_each(|name| bench.world.write(&format!("project/mk/{name}/hooks/hooks.json"), &large));
    assert!(bench.refuses_in_time("claude -p go"));
}
