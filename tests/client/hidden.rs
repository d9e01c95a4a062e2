//! Requests that no transcript shows: web searches, and hooks that ask the model.

use std::time::Duration;

use serde_json::json;

use crate::lab::{Lab, claude};
use crate::script::{Step, agent, agent_of, call, child, main, say, tool, work};

fn searches(count: usize) -> Vec<Step> {
    let search = || call([tool("WebSearch", json!({"query": "what is new, $N"}))]);
    (0..count).map(|_| search()).chain([say("main finished")]).collect()
}

#[test]
fn searches_end_at_a_cap_on_cost() {
    // What a search finds makes it dear: 0.1 USD each, and one is taken for 0.07.
    let found = child("Perform a web search", [say("found it").output(5_000)]).forever();
    let policy = json!({"session": {"max_cost_usd": 0.3, "grace_turns": 0, "timeout_action": "terminate"}});
    let lab = Lab::new(policy, vec![found, main(searches(12))]);
    lab.claude("MAIN start", &[]);
    assert_eq!(lab.api.requests_of("Perform a web search").len(), 3, "{}", lab.story());
    assert_eq!(lab.run_of("main")["stop_reason"], "cost_budget_exhausted");
}

#[test]
fn searches_by_a_client_that_serves_its_tools_end_at_a_cap_on_cost() {
    let found = child("Perform a web search", [say("found it").output(5_000)]).forever();
    let search = || call([tool("mcp__own__WebSearch", json!({"query": "what is new, $N"}))]);
    let steps = (0..12).map(|_| search()).chain([say("main finished")]);
    let lab = Lab::without_fusebox(vec![found, main(steps)]);
    let server = json!({"command": claude(), "args": ["mcp", "serve"]});
    lab.write(".mcp.json", &json!({"mcpServers": {"own": server}}).to_string());
    lab.write(".claude/settings.json", &json!({"enableAllProjectMcpServers": true}).to_string());
    let policy = json!({"session": {"max_cost_usd": 0.3, "grace_turns": 0, "timeout_action": "terminate"}});
    lab.write(".claude/fusebox.json", &policy.to_string());
    lab.must(&["init"]);
    lab.claude("MAIN start", &[]);
    // Each search is taken for 0.07 USD, whatever its client says.
    assert_eq!(lab.api.requests_of("Perform a web search").len(), 3, "{}", lab.story());
    assert_eq!(lab.run_of("main")["stop_reason"], "cost_budget_exhausted");
}

#[test]
fn hooks_that_ask_the_model_are_charged() {
    let hook = json!([{"hooks": [{"type": "prompt", "prompt": "is this well? $ARGUMENTS"}]}]);
    let lab = Lab::without_fusebox(vec![main([call([work()])]).forever()]);
    lab.write(".claude/settings.json", &json!({"hooks": {"PreToolUse": hook}}).to_string());
    let policy = json!({"session": {"max_cost_usd": 0.1, "grace_turns": 0, "timeout_action": "terminate"}});
    lab.write(".claude/fusebox.json", &policy.to_string());
    lab.must(&["init"]);
    lab.claude("MAIN start", &[]);
    // Each call costs its response and a hook's request, which is taken for 0.022 USD.
    let made = lab.api.asides().len();
    assert!((3..=4).contains(&made), "{made} hooks asked the model\n{}", lab.story());
}

#[test]
fn agents_with_dear_first_requests_start_one_after_another() {
    // Each child's only response costs half a dollar.
    let dear = child("CHILD", [say("child done").output(25_000)]).each();
    let agents = (0..10).map(|n| agent(&format!("CHILD {n}")));
    let policy = json!({"session": {"max_cost_usd": 0.1, "grace_turns": 0, "timeout_action": "terminate"}});
    let lab = Lab::new(policy, vec![dear, main([call(agents), say("main finished")])]);
    lab.claude("MAIN start", &[]);
    assert_eq!(lab.api.requests_of("CHILD").len(), 1, "{}", lab.story());
}

/// A frontmatter with hooks of type `prompt` at each call.
fn asks_at_each_call(name: &str) -> String {
    let hook = "    - hooks:\n        - type: prompt\n          prompt: \"is this well? $ARGUMENTS\"\n";
    format!("---\nname: {name}\ndescription: works\nhooks:\n  PreToolUse:\n{hook}---\nWork.\n")
}

/// Plays a client that works on and on, with hooks that stand in no settings file; returns how many of them asked the model.
fn asked(lay_out: impl Fn(&Lab), arguments: &[&str], steps: Vec<Step>) -> usize {
    let worker = child("CHILD", [call([work()])]).forever();
    let lab = Lab::without_fusebox(vec![worker, main(steps).forever()]);
    lay_out(&lab);
    let policy = json!({"session": {"max_cost_usd": 0.1, "grace_turns": 0, "timeout_action": "terminate"}});
    lab.write(".claude/fusebox.json", &policy.to_string());
    lab.must(&["init"]);
    lab.claude("MAIN start", arguments);
    assert_eq!(lab.run_of("main")["stop_reason"], "cost_budget_exhausted", "{}", lab.story());
    lab.api.asides().len()
}

#[test]
fn hooks_that_stand_in_no_settings_are_charged() {
    let skill = |lab: &Lab| lab.write(".claude/skills/sk/SKILL.md", &asks_at_each_call("sk"));
    let kind = |lab: &Lab| lab.write(".claude/agents/worker.md", &asks_at_each_call("worker"));
    let hooks =
        json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "prompt", "prompt": "well? $ARGUMENTS"}]}]}}).to_string();
    let plugin = |lab: &Lab| {
        lab.write("plug/.claude-plugin/plugin.json", r#"{"name": "plug", "version": "1.0.0", "description": "d"}"#);
        lab.write("plug/hooks/hooks.json", &hooks);
    };
    let among_skills = |lab: &Lab| {
        lab.write_home(".claude/skills/plug/.claude-plugin/plugin.json", r#"{"name": "plug", "version": "1.0.0"}"#);
        lab.write_home(".claude/skills/plug/hooks/hooks.json", &hooks);
    };
    let loads = || vec![call([tool("Skill", json!({"skill": "sk"}))]), call([work()])];
    // An agent writes the skill in its session, in a folder of another name than it has.
    let somewhat = |lab: &Lab| lab.write(".claude/skills/old/SKILL.md", "---\nname: old\ndescription: d\n---\nWork.\n");
    let writes = || {
        let file = json!({"file_path": ".claude/skills/folder/SKILL.md", "content": asks_at_each_call("sk")});
        // The client watches the folder, and takes a moment.
        let calls = call([tool("Skill", json!({"skill": "sk"}))]).slowly(Duration::from_secs(2));
        vec![call([tool("Write", file)]), calls, call([work()])]
    };
    let nested = |lab: &Lab| {
        lab.write("sub/.claude/skills/folder/SKILL.md", &asks_at_each_call("sk"));
        lab.write("sub/x.txt", "x");
    };
    let reads = || [vec![call([tool("Read", json!({"file_path": "sub/x.txt"}))])], loads()].concat();
    let added = |lab: &Lab| {
        lab.write("far/.claude/skills/folder/SKILL.md", &asks_at_each_call("sk"));
        lab.write("far/.claude/agents/any.md", &asks_at_each_call("worker"));
    };
    let works = || vec![call([work()])];
    let spawns = || vec![call([agent_of("worker", "CHILD loop")]), call([work()])];
    type Way<'a> = (&'a str, &'a dyn Fn(&Lab), &'a [&'a str], Vec<Step>);
    let ways: [Way; 9] = [
        ("a skill", &skill, &[], loads()),
        ("a skill that is written as it works", &somewhat, &[], writes()),
        ("a skill of a folder below", &nested, &[], reads()),
        ("a skill of an added folder", &added, &["--add-dir", "far"], loads()),
        ("an agent's type of an added folder", &added, &["--add-dir", "far"], spawns()),
        ("an agent's type", &kind, &[], spawns()),
        ("the session's agent", &kind, &["--agent", "worker"], works()),
        ("a plugin by its folder", &plugin, &["--plugin-dir", "plug"], works()),
        ("a plugin among the skills", &among_skills, &[], works()),
    ];
    for (what, lay_out, arguments, steps) in ways {
        // Each call costs its response and a hook's request, which is taken for 0.022 USD.
        let made = asked(lay_out, arguments, steps);
        assert!((2..=4).contains(&made), "{what}: {made} hooks asked the model");
    }
}

/// So many hooks of type `prompt` at an event, in the settings from the start.
fn asking(event: &str, hooks: usize) -> String {
    let hooks: Vec<_> = (0..hooks).map(|it| json!({"type": "prompt", "prompt": format!("{it}? $ARGUMENTS")})).collect();
    json!({"hooks": {event: [{"hooks": hooks}]}}).to_string()
}

/// What hooks of a repository ask is known before a response is asked for, and no hook is told of it.
#[test]
fn hooks_that_are_there_from_the_start_pass_no_cap() {
    const CAP: usize = 15;
    for (event, hooks) in [("PreToolUse", 50), ("Stop", 50), ("PostToolBatch", 50), ("SubagentStop", 5)] {
        let worker = child("CHILD", [say("done")]).each();
        let works = match event {
            "SubagentStop" => call((0..8).map(|number| agent(&format!("CHILD {number}")))),
            _ => call([work()]),
        };
        let lab = Lab::without_fusebox(vec![worker, main([works, say("main finished")])]);
        lab.write(".claude/settings.json", &asking(event, hooks));
        let policy = json!({"session": {"max_requests": CAP, "timeout_action": "terminate"}});
        lab.write(".claude/fusebox.json", &policy.to_string());
        lab.must(&["init"]);
        lab.claude("MAIN start", &[]);
        let made = lab.api.asides().len() + lab.api.requests().len();
        assert!(made <= CAP, "{hooks} hooks at {event}: {made} requests\n{}", lab.story());
    }
}
