//! Requests that no transcript shows are charged when they are asked for: web searches, pages, hooks that ask the model.

use fusebox::domain::spend::amount::Amount;
use serde_json::{Value, json};

use crate::missing_usage::Story;
use crate::world::{TestWorld, with};

/// 12,500 tokens in, 500 out, at the price of the session's model; a search is 0.01 USD more.
const SEARCH: Amount = Amount(70_000_000_000);
const PAGE: Amount = Amount(60_000_000_000);
/// 4,000 tokens in, 300 out.
const HOOK: Amount = Amount(22_000_000_000);
/// What one of the story's responses costs.
const ONE: Amount = Amount(5_840_000_000);

fn asked(story: &Story, id: &str, tool: &str) -> String {
    story.event("PreToolUse", &json!({"tool_name": tool, "tool_input": {"query": id}, "tool_use_id": id}))
}

fn reported(story: &Story, command: &[&str]) -> Value {
    serde_json::from_str(&story.world.run(command).ok()).unwrap()
}

#[test]
fn a_search_and_a_page_are_charged_once_when_they_are_asked_for() {
    let story = Story::begin(&json!({"user": {"max_cost_usd_per_day": 100}}));
    story.write(&["m0"]);
    for _ in 0..2 {
        assert_eq!(asked(&story, "t0", "WebSearch"), "");
        assert_eq!(asked(&story, "t1", "WebFetch"), "");
    }
    let ended = json!({"tool_name": "WebSearch", "tool_input": {}, "tool_use_id": "t0", "tool_response": {}});
    story.event("PostToolUse", &ended);
    assert_eq!(story.cost(), ONE + SEARCH + PAGE);
    assert_eq!(story.spent_today(), ONE + SEARCH + PAGE);
    let by_session = reported(&story, &["report", "--json"]);
    assert_eq!(by_session["sessions"][0]["cost_usd"], "0.135840000000");
    assert_eq!(by_session["sessions"][0]["estimated_cost_usd"], "0.130000000000");
    assert_eq!(by_session["sessions"][0]["requests"], 3);
    // A person sees that a part is estimated.
    assert!(story.world.run(&["status"]).ok().contains("estimated: 0.13 USD"));
    let table = story.world.run(&["report"]).ok();
    assert!(table.contains("~0.14 USD") && table.contains("~ 0.13 USD of this is estimated"), "{table}");
    let by_day = reported(&story, &["report", "--by", "day", "--json"]);
    assert_eq!(by_day["days"][0]["cost_usd"], "0.135840000000");
    story.event("SessionStart", &json!({"session_id": "s2", "transcript_path": "", "source": "startup"}));
    assert_eq!(story.spent_today(), ONE + SEARCH + PAGE);
}

/// `claude mcp serve` serves the client's own tools: as a server of the session's their names begin with its.
#[test]
fn a_search_and_a_page_by_a_client_that_serves_its_tools_are_charged_like_its_own() {
    let story = Story::begin(&json!({}));
    story.write(&["m0"]);
    for (at, other) in ["mcp__own__web_search", "mcp__own__WebSearchAll", "mcp__WebSearch"].iter().enumerate() {
        assert_eq!(asked(&story, &format!("o{at}"), other), "");
    }
    assert_eq!(story.cost(), ONE, "tools of other servers");
    for (id, tool) in [("t0", "mcp__own__WebSearch"), ("t1", "mcp__plugin_kit_own__WebFetch")] {
        assert_eq!(asked(&story, id, tool), "");
        assert_eq!(asked(&story, id, tool), "");
    }
    assert_eq!(story.cost(), ONE + SEARCH + PAGE);
}

/// How a fetch of a page ends: the event and what it brings, and whether the client has asked the model by then. Each was seen with
/// clients 2.1.328 and 2.1.330.
fn ends_of_a_fetch() -> Vec<(&'static str, Value, bool)> {
    let page = |code: u32| ("PostToolUse", json!({"tool_response": {"bytes": 1, "code": code, "result": "words"}}));
    let error = |text: &str| ("PostToolUseFailure", json!({"error": text}));
    let rejected = |text: &str| ("", json!(text));
    let with = |(name, input): (&'static str, Value), asks: bool| (name, input, asks);
    let mut ends: Vec<_> = [404, 403, 500, 302].map(|code| with(page(code), false)).into();
    ends.push(with(page(200), true));
    let before = [
        "getaddrinfo ENOTFOUND no-such-host.invalid",
        "connect ECONNREFUSED 127.0.0.1:1",
        "Too many redirects (exceeded 10)",
        "maxContentLength size of 10485760 exceeded",
        "stream has been aborted",
        "WebFetch cannot fetch localhost or other hostnames without a dot.",
    ];
    ends.extend(before.map(|text| with(error(text), false)));
    ends.extend(["API Error: 400 scripted", "something new"].map(|text| with(error(text), true)));
    ends.push(with(rejected("WebFetch denied access to domain:denied.example.com."), false));
    ends.push(with(rejected("<tool_use_error>InputValidationError: the parameter `prompt` is missing"), false));
    ends.push(with(rejected("a hook has killed what would have told the end"), true));
    ends
}

/// What is taken back frees no name: two requests that no transcript shows are two charges, whatever comes between them.
#[test]
fn each_estimate_has_a_name_of_its_own() {
    let story = Story::begin(&json!({"user": {"max_cost_usd_per_day": 100}}));
    story.write(&["m0"]);
    asked(&story, "t9", "Read");
    let side_question = |id: &str| {
        story.event("SubagentStop", &json!({"agent_id": id, "agent_type": "", "stop_hook_active": false}));
    };
    asked(&story, "t0", "WebFetch");
    side_question("h1");
    let call = json!({"tool_name": "WebFetch", "tool_input": {"url": "x"}, "tool_use_id": "t0"});
    story.event("PostToolUseFailure", &with(call, &json!({"error": "Too many redirects (exceeded 10)"})));
    side_question("h2");
    story.world.run(&["reset", "s1"]).ok();
    side_question("h3");
    let store = fusebox::store::Store::open_for(&story.world.path("state"), None).unwrap();
    let charges = store.charges_of("s1").unwrap();
    let asked = charges.iter().filter(|charge| charge.spend.requests > 0 && charge.message != "m0").count();
    let charged: Amount = charges.iter().map(|charge| charge.spend.cost).sum();
    drop(store);
    assert_eq!((asked, charged), (3, story.spent_today()), "{charges:#?}");
}

#[test]
fn a_page_that_could_not_be_fetched_is_charged_to_nobody() {
    for (name, input, asks) in ends_of_a_fetch() {
        for agent in [json!({}), json!({"agent_id": "a1", "agent_type": "worker"})] {
            let policy = json!({"user": {"max_cost_usd_per_day": 100}, "project": {"max_cost_usd_per_day": 100}});
            let story = Story::begin(&policy);
            story.write(&["m0"]);
            let tell = |name: &str, more: &Value| {
                let call = json!({"tool_name": "WebFetch", "tool_input": {"url": "x"}, "tool_use_id": "t0"});
                story.event(name, &with(with(call, &agent), more))
            };
            // An event of the main agent's has its response charged.
            asked(&story, "t9", "Read");
            assert_eq!(tell("PreToolUse", &json!({})), "");
            assert_eq!(story.cost(), ONE + PAGE, "while it is asked for");
            if !name.is_empty() {
                tell(name, &input);
                tell(name, &input);
            }
            let response = if name.is_empty() { input.clone() } else { json!("words") };
            let call = json!({"tool_name": "WebFetch", "tool_input": {"url": "x"}, "tool_use_id": "t0",
                "tool_response": response});
            tell("PostToolBatch", &json!({"tool_calls": [call]}));
            let cost = if asks { ONE + PAGE } else { ONE };
            assert_eq!((story.cost(), story.spent_today()), (cost, cost), "{name} {input}");
            let told = reported(&story, &["report", "--json"]);
            let session = &told["sessions"][0];
            assert_eq!(session["requests"], if asks { 2 } else { 1 }, "{name} {input}");
            let estimated = if asks { "0.060000000000" } else { "0.000000000000" };
            assert_eq!(session["estimated_cost_usd"], estimated, "{name} {input}");
            let by_day = reported(&story, &["report", "--by", "day", "--json"]);
            assert_eq!(by_day["days"][0]["cost_usd"], session["cost_usd"], "{name} {input}");
            // What is counted anew says the same.
            story.event("SessionStart", &json!({"session_id": "s2", "transcript_path": "", "source": "startup"}));
            assert_eq!(story.spent_today(), cost, "{name} {input}");
        }
    }
}

#[test]
fn searches_that_would_pass_a_cap_are_refused_before_they_run() {
    for (limit, cap, fit) in
        [("max_cost_usd", json!(0.16), 2), ("max_requests", json!(4), 3), ("max_tokens", json!(30_000), 2)]
    {
        for scope in ["main", "session"] {
            let story = Story::begin(
                &json!({scope: {limit: cap, "timeout_action": "terminate", "grace_turns": 0}, "session": {"grace_turns": 0, limit: cap, "timeout_action": "terminate"}}),
            );
            story.write(&["m0"]);
            let refused = (0..5).position(|n| asked(&story, &format!("t{n}"), "WebSearch").contains("deny"));
            assert_eq!(refused, Some(fit), "{limit} over {scope}");
        }
    }
}

#[test]
fn a_day_has_no_room_for_a_search_that_passes_its_cap() {
    let policy =
        json!({"user": {"max_cost_usd_per_day": 0.16, "timeout_action": "terminate"}, "session": {"grace_turns": 0}});
    let story = Story::begin(&policy);
    story.write(&["m0"]);
    let refused = (0..5).position(|n| asked(&story, &format!("t{n}"), "WebSearch").contains("deny"));
    assert_eq!(refused, Some(2));
}

#[test]
fn hooks_of_the_settings_that_ask_the_model_are_charged_at_their_events() {
    let hook = |kind: &str| json!({"type": kind, "prompt": "well?"});
    let settings = json!({"hooks": {
        "PreToolUse": [{"matcher": "Bash|Read", "hooks": [hook("prompt"), hook("agent")]}, {"hooks": [hook("prompt")]}],
        "Stop": [{"hooks": [hook("prompt")]}],
    }});
    let story = Story::with(&json!({}), |world| world.write("home/.claude/settings.json", settings.to_string()));
    story.write(&["m0"]);
    asked(&story, "t0", "Read");
    assert_eq!(story.cost(), ONE + HOOK * 3);
    asked(&story, "t1", "Glob");
    assert_eq!(story.cost(), ONE + HOOK * 4);
    // The whole conversation goes to a hook at the end.
    story.write_row("m1", &story.now(), &json!({"input_tokens": 10_000, "output_tokens": 0}));
    story.event("Stop", &json!({}));
    let end = Amount(10_000 * 4_000_000 + 300 * 20_000_000);
    assert_eq!(story.cost(), ONE + HOOK * 4 + Amount(10_000 * 4_000_000) + end);
}

#[test]
fn a_hook_that_is_an_agent_is_charged_for_each_of_its_responses() {
    let story = Story::begin(&json!({}));
    story.write(&["m0"]);
    asked(&story, "t0", "Read");
    for (name, id) in [("PreToolUse", "h0"), ("PostToolUse", "h0"), ("PostToolBatch", "h0"), ("PreToolUse", "h1")] {
        let call =
            json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id, "tool_response": id});
        let input = with(json!({"agent_id": "hook-agent-1aad5d31-0051", "tool_calls": [call]}), &call);
        story.event(name, &input);
    }
    // The first is an agent of a skill's, the second a response like those that the session has seen.
    assert_eq!(story.cost(), ONE + HOOK + Amount((ONE + HOOK).0 / 2));
}

/// The client tells of each end of such an agent, and asks one that has answered in words once more.
#[test]
fn a_hook_that_is_an_agent_and_answers_in_words_is_charged_for_being_asked_again() {
    let settings = json!({"hooks": {"PostToolUse": [{"hooks": [{"type": "agent", "prompt": "well?"}]}]}});
    let story = Story::with(&json!({}), |world| world.write("home/.claude/settings.json", settings.to_string()));
    story.write(&["m0"]);
    asked(&story, "t0", "Read");
    story.event(
        "PostToolUse",
        &json!({"tool_name": "Read", "tool_input": {"file_path": "t0"}, "tool_use_id": "t0", "tool_response": "x"}),
    );
    assert_eq!(story.cost(), ONE + HOOK);
    let ends = |again: bool| {
        let input = json!({"agent_id": "hook-agent-1aad5d31-0051", "agent_type": "", "stop_hook_active": again});
        story.event("SubagentStop", &input);
    };
    ends(false);
    assert_eq!(story.cost(), ONE + HOOK, "its first answer is charged where it was asked for");
    ends(true);
    assert_eq!(story.cost(), ONE + HOOK * 2);
}

/// Hooks of type `prompt` for a frontmatter, one at each event, with a word of their own.
pub fn frontmatter(name: &str, more: &str) -> String {
    let events =
        ["PreToolUse", "PostToolUse", "PostToolBatch", "Stop", "SubagentStop", "UserPromptSubmit", "SubagentStart"];
    let hook = |event: &str| format!("  {event}:\n    - hooks:\n        - type: prompt\n          prompt: well?\n");
    format!("---\nname: {name}\ndescription: it: is no YAML\n{more}hooks:\n{}---\nWork.\n", events.map(hook).concat())
}

/// The same for a plugin.
fn plugin_hooks() -> Value {
    let hook = json!([{"hooks": [{"type": "prompt", "prompt": "well?"}, {"type": "command", "command": "true"}]}]);
    json!({"hooks": {"PreToolUse": hook, "SubagentStart": hook, "SessionStart": hook}})
}

pub const MANIFEST: &str = ".claude-plugin/plugin.json";

/// Returns how many hooks are charged at an event, each at the price of a short one.
pub fn asked_at(story: &Story, name: &str, more: &Value) -> u64 {
    let before = story.cost();
    story.event(name, more);
    (story.cost().0 - before.0) / HOOK.0
}

#[test]
fn hooks_of_an_agents_type_are_charged_at_its_events() {
    let story = Story::with(&json!({}), |world| {
        world.write("project/.claude/agents/any.md", frontmatter("worker", ""));
    });
    story.write(&["m0"]);
    assert_eq!(asked_at(&story, "PreToolUse", &json!({"tool_name": "Read", "tool_use_id": "t0"})), 0);
    for (kind, each) in [("worker", 1), ("other", 0)] {
        let at = |name: &str, more: Value| {
            let input = with(json!({"agent_id": format!("a-{kind}"), "agent_type": kind}), &more);
            asked_at(&story, name, &input)
        };
        assert_eq!(at("SubagentStart", json!({})), 0, "there the client has nothing to show");
        let call =
            json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": format!("t-{kind}"), "tool_response": "x"});
        assert_eq!(at("PreToolUse", call.clone()), each, "{kind}");
        assert_eq!(at("PostToolUse", call.clone()), each, "{kind}");
        assert_eq!(at("PostToolBatch", json!({"tool_calls": [call]})), each, "{kind}");
    }
    // Its end is told to its `Stop` and its `SubagentStop`.
    let before = story.cost();
    story.event("SubagentStop", &json!({"agent_id": "a-worker", "agent_type": "worker"}));
    assert!(story.cost().0 - before.0 >= 2 * HOOK.0, "{}", story.cost());
}

#[test]
fn hooks_of_a_skill_are_charged_at_the_main_agents_events_from_its_call_on() {
    for (path, name) in [
        ("project/.claude/skills/sk/SKILL.md", "sk"),
        ("home/.claude/skills/sk/SKILL.md", "sk"),
        ("project/.claude/commands/sk.md", "sk"),
        ("home/.claude/commands/deep/sk.md", "deep:sk"),
        ("home/.claude/skills/plug/skills/sk/SKILL.md", "plug:sk"),
    ] {
        for typed in [false, true] {
            let story = Story::with(&json!({}), |world| {
                world.write(path, frontmatter("sk", ""));
                world.write(&format!("home/.claude/skills/plug/{MANIFEST}"), "{}");
            });
            story.write(&["m0"]);
            let read =
                |id: &str| json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": id, "tool_response": "x"});
            assert_eq!(asked_at(&story, "PreToolUse", &read("t0")), 0);
            for number in 0..2 {
                match typed {
                    true => drop(story.event(
                        "UserPromptSubmit",
                        &json!({"prompt": format!("/{name} now"), "prompt_id": number.to_string()}),
                    )),
                    false => {
                        let call = json!({"tool_name": "Skill", "tool_input": {"skill": name}, "tool_use_id": format!("s{number}")});
                        assert_eq!(
                            asked_at(&story, "PostToolUse", &call),
                            1,
                            "{path}: it is at work at the end of its call"
                        );
                    }
                }
            }
            assert_eq!(asked_at(&story, "PreToolUse", &read("t1")), 1, "{path} {typed}");
            let mut of_agent = read("t2");
            of_agent["agent_id"] = json!("a1");
            assert_eq!(asked_at(&story, "PreToolUse", &of_agent), 0, "{path} {typed}");
        }
    }
}

#[test]
fn a_skill_that_works_in_an_agent_of_its_own_brings_no_hooks() {
    let story = Story::with(&json!({}), |world| {
        world.write("project/.claude/skills/sk/SKILL.md", frontmatter("sk", "context: fork\n"));
    });
    story.write(&["m0"]);
    story.event("PostToolUse", &json!({"tool_name": "Skill", "tool_input": {"skill": "sk"}, "tool_use_id": "s"}));
    assert_eq!(asked_at(&story, "PreToolUse", &json!({"tool_name": "Read", "tool_use_id": "t1"})), 0);
}

#[test]
fn hooks_of_plugins_are_charged_at_everybodys_events() {
    let installed = json!({"version": 2, "plugins": {"p@m": [{"scope": "user", "installPath": "PATH"}]}}).to_string();
    type LayOut<'a> = &'a dyn Fn(&TestWorld);
    let lays: [(&str, LayOut); 4] = [
        ("among the project's skills", &|world| {
            world.write(&format!("project/.claude/skills/p/{MANIFEST}"), "{}");
            world.write("project/.claude/skills/p/hooks/hooks.json", plugin_hooks().to_string());
        }),
        ("among the user's, in its manifest", &|world| {
            world.write(&format!("home/.claude/skills/p/{MANIFEST}"), plugin_hooks().to_string());
        }),
        ("named by its manifest", &|world| {
            world.write(&format!("home/.claude/skills/p/{MANIFEST}"), r#"{"hooks": ["./more.json"]}"#);
            world.write("home/.claude/skills/p/more.json", plugin_hooks().to_string());
        }),
        ("installed", &|world| {
            let folder = world.path("home/.claude/plugins/cache/m/p/1");
            world.write(
                "home/.claude/plugins/installed_plugins.json",
                installed.replace("PATH", &folder.to_string_lossy()),
            );
            world.write("home/.claude/plugins/cache/m/p/1/hooks/hooks.json", plugin_hooks().to_string());
            world.write("home/.claude/settings.json", r#"{"enabledPlugins": {"p@m": true}}"#);
        }),
    ];
    for (what, lay) in lays {
        let story = Story::with(&json!({}), |world| lay(world));
        story.write(&["m0"]);
        for agent in [json!({}), json!({"agent_id": "a1", "agent_type": "worker"})] {
            let call = with(json!({"tool_name": "Read", "tool_use_id": format!("t{agent}").len().to_string()}), &agent);
            assert_eq!(asked_at(&story, "PreToolUse", &call), 1, "{what} {agent}");
        }
        assert_eq!(asked_at(&story, "SubagentStart", &json!({"agent_id": "a2", "agent_type": "worker"})), 0, "{what}");
    }
}

#[test]
fn a_plugin_that_is_switched_off_or_no_plugin_brings_no_hooks() {
    let story = Story::with(&json!({}), |world| {
        // No manifest makes it a plugin.
        world.write("project/.claude/skills/p/hooks/hooks.json", plugin_hooks().to_string());
        let folder = world.path("home/.claude/plugins/cache/m/q/1");
        let list = json!({"version": 2, "plugins": {"q@m": [{"installPath": folder}]}});
        world.write("home/.claude/plugins/installed_plugins.json", list.to_string());
        world.write("home/.claude/plugins/cache/m/q/1/hooks/hooks.json", plugin_hooks().to_string());
        world.write("home/.claude/settings.json", r#"{"enabledPlugins": {"q@m": false}}"#);
    });
    story.write(&["m0"]);
    assert_eq!(asked_at(&story, "PreToolUse", &json!({"tool_name": "Read", "tool_use_id": "t"})), 0);
}

#[test]
fn a_frontmatter_that_cannot_be_read_is_taken_for_a_hook_at_each_event() {
    let long = format!("description: {}\n", "x".repeat(70_000));
    for more in [long.as_str(), "hooks: [\n"] {
        let story = Story::with(&json!({}), |world| {
            world.write(
                "project/.claude/agents/worker.md",
                format!("---\nhooks:\n  PreToolUse: []\n{more}---\nWork.\n"),
            );
        });
        story.write(&["m0"]);
        let call = json!({"tool_name": "Read", "tool_use_id": "t", "agent_id": "a1", "agent_type": "worker"});
        assert_eq!(asked_at(&story, "PreToolUse", &call), 1);
    }
}
