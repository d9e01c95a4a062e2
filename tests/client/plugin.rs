//! Fusebox as a plugin alone: its hooks come by the client's plugins, and no settings file names them.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::lab::{Lab, Run, claude, copy_fusebox};
use crate::script::{Script, bash, call, child, main, say, work};

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
    // A plugin does not know the client, and leaves out what older ones warn of.
    let weaker = "the plugin fusebox@fusebox (version 7.8.9) alone, without PostModelSwitch: older clients warn of it -> the weaker guard";
    assert!(alone.contains(weaker), "{alone}");
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

/// Runs one of the plugin's commands in a headless client that finds Fusebox nowhere else; returns what the model is given.
fn command(lab: &Lab, prompt: &str) -> (Run, String) {
    let mut client = lab.command(&claude());
    client.env("PATH", "/usr/bin:/bin");
    let run = lab.finish(client, prompt);
    let first = lab.api.requests().into_iter().rev().find(|request| !request.to_string().contains("tool_result"));
    (run, first.unwrap()["messages"].to_string())
}

#[test]
fn its_commands_show_status_and_report() {
    let lab = plugged(three_turns(), vec![main([say("shown")]).forever()]);
    let (run, given) = command(&lab, "/fusebox:status");
    assert_eq!((run.code, run.text()), (Some(0), "shown"), "{}", run.err);
    // Older clients run it before they ask about the prompt, so that no run has begun yet.
    assert!(given.contains("0.00/25.00 USD max_cost_usd"), "{given}");
    let (run, given) = command(&lab, "/fusebox:report");
    assert_eq!((run.code, run.text()), (Some(0), "shown"), "{}", run.err);
    assert!(given.contains("2 sessions"), "{given}");
    assert!(lab.hooks().iter().all(|input| input["tool_name"].is_null()), "{}", lab.story());
}

#[test]
fn its_command_has_the_agent_explain() {
    let explains = child("/fusebox:explain", [call([bash("fusebox explain")]), say("shown")]).each();
    let lab = plugged(three_turns(), vec![explains, main([call([work()])]).forever()]);
    lab.claude("start", &["--max-turns", "9"]);
    let (run, given) = command(&lab, "/fusebox:explain");
    assert_eq!((run.code, run.text()), (Some(0), "shown"), "{}", run.err);
    assert!(given.contains("Run `fusebox explain ` once"), "{given}");
    let told = lab.api.requests().last().unwrap()["messages"].to_string();
    assert!(told.contains("3/3"), "{told}");
    let (_, given) = command(&lab, "/fusebox:explain a5b484");
    assert!(given.contains("Run `fusebox explain a5b484` once"), "{given}");
}
