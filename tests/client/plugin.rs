//! Fusebox as a plugin alone: its hooks come by the client's plugins, and no settings file names them.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::lab::{Lab, claude, copy_fusebox};
use crate::script::{Script, call, main, work};

/// Lays out a project whose client has the plugin from a marketplace in a folder, as a person installs it.
pub fn plugged(policy: Value, scripts: Vec<Script>) -> Lab {
    let lab = Lab::without_fusebox(scripts);
    lab.write(".claude/fusebox.json", &policy.to_string());
    let market = lab.project().parent().unwrap().join("market");
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin");
    assert!(Command::new("cp").arg("-r").args([&tree, &market]).status().unwrap().success());
    let described = market.join("fusebox/.claude-plugin/plugin.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&described).unwrap()).unwrap();
    manifest["version"] = json!("7.8.9");
    fs::write(&described, manifest.to_string()).unwrap();
    fs::create_dir_all(market.join("fusebox/bin")).unwrap();
    copy_fusebox(market.join("fusebox/bin/fusebox"));
    manages_plugins(&lab, &["marketplace", "add", &market.to_string_lossy()]);
    manages_plugins(&lab, &["install", "fusebox@fusebox"]);
    lab
}

fn manages_plugins(lab: &Lab, words: &[&str]) {
    let output = lab.command(&claude()).arg("plugin").args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
}

fn three_turns() -> Value {
    json!({"main": {"max_turns": 3, "grace_turns": 0, "timeout_action": "terminate"}})
}

#[test]
fn a_loop_is_stopped_and_doctor_says_where_the_hooks_come_from() {
    let lab = plugged(three_turns(), vec![main([call([work()])]).forever()]);
    lab.claude("start", &["--max-turns", "9"]);
    assert_eq!(lab.ran().len(), 3, "{}", lab.story());
    let said =
        || String::from_utf8_lossy(&lab.fusebox(&["doctor"]).stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    let alone = said();
    assert!(alone.contains("the plugin fusebox@fusebox (version 7.8.9) alone -> the weaker guard"), "{alone}");
    assert!(alone.contains("ok blocking"), "{alone}");
    lab.must(&["init"]);
    let both = said();
    assert!(
        both.contains("events in .claude/settings.local.json, the plugin fusebox@fusebox (version 7.8.9)"),
        "{both}"
    );
    manages_plugins(&lab, &["disable", "fusebox@fusebox"]);
    assert!(!said().contains("plugin"), "{}", said());
}
