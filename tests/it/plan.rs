//! People who pay by a plan: `init` sees that, nobody is asked about dollars by default, and dollars are called list prices.

use serde_json::{Value, json};

use crate::given::GivenTime;
use crate::state::with_shop;
use crate::world::TestWorld;

/// What the client writes where somebody is signed in.
const SIGNED_IN: &str = r#"{"oauthAccount": {"accountUuid": "u"}}"#;

/// The person's own file.
const OWN: &str = "home/.claude/fusebox.json";

/// A world whose client is signed in.
fn signed_in() -> TestWorld {
    let world = TestWorld::with_git();
    world.write("home/.claude/.claude.json", SIGNED_IN);
    world
}

#[test]
fn init_says_how_the_client_is_paid_for() {
    let (account, none) = (r#"{"oauthAccount": {"accountUuid": "u"}}"#, r#"{"oauthAccount": null}"#);
    let console = r#"{"oauthAccount": {"accountUuid": "u"}, "primaryApiKey": "key"}"#;
    for (variable, client, says) in [
        (("ANTHROPIC_API_KEY", "key"), account, Some("API key")),
        (("ANTHROPIC_AUTH_TOKEN", "token"), none, Some("API key")),
        (("CLAUDE_CODE_USE_BEDROCK", "1"), account, Some("Amazon Bedrock")),
        (("CLAUDE_CODE_USE_VERTEX", "0"), account, Some("by a plan")),
        (("X", ""), account, Some("by a plan")),
        (("X", ""), console, Some("API key")),
        (("CLAUDE_CODE_OAUTH_TOKEN", "token"), none, Some("by a plan")),
        (("X", ""), none, None),
        (("X", ""), "no JSON", None),
    ] {
        let world = TestWorld::new();
        world.write("home/.claude/.claude.json", client);
        let init = || world.command(&["init", "--scope", "user"]).env(variable.0, variable.1).run().ok();
        let said = init();
        assert_eq!(said.contains("  paid"), says.is_some(), "{variable:?} {client}: {said}");
        assert!(says.is_none_or(|says| said.contains(says)), "{variable:?} {client}: {said}");
        assert_eq!(
            said.contains("ask you at cost 25.00 USD"),
            says != Some("by a plan"),
            "{variable:?} {client}: {said}"
        );
    }
    for (settings, says) in [
        (r#"{"apiKeyHelper": "/bin/key"}"#, "API key"),
        (r#"{"env": {"ANTHROPIC_API_KEY": "key"}}"#, "API key"),
        (r#"{"env": {"CLAUDE_CODE_USE_BEDROCK": "1"}}"#, "Amazon Bedrock"),
        (r#"{"env": {"CLAUDE_CODE_USE_BEDROCK": "0"}}"#, "by a plan"),
    ] {
        let world = TestWorld::new();
        world.write("home/.claude/.claude.json", account);
        world.write("home/.claude/settings.json", settings);
        let said = world.run(&["init"]).ok();
        assert!(said.contains(says), "{settings}: {said}");
    }
}

/// Whoever goes over to a plan, or back, is told, and by what to mend it.
#[test]
fn doctor_says_where_dollars_are_taken_for_something_else() {
    let world = TestWorld::with_git();
    world.run(&["init"]).ok();
    let told = |by: (&str, &str)| {
        let said = world.command(&["doctor", "--json"]).env(by.0, by.1).run().stdout;
        let said: Value = serde_json::from_str(&said).unwrap();
        let of_check = |name: &str| said["checks"].as_array().unwrap().iter().find(|it| it["check"] == name).cloned();
        of_check("billing").map(|it| it["words"].as_str().unwrap().to_owned())
    };
    assert_eq!(told(("X", "")), None);
    world.write("home/.claude/.claude.json", SIGNED_IN);
    assert!(told(("X", "")).unwrap().contains("signed in with a plan"));
    world.run(&["init"]).ok();
    assert_eq!(told(("X", "")), None);
    assert!(told(("ANTHROPIC_API_KEY", "key")).unwrap().contains("pays by the token"));
    world.write(OWN, r#"{"billing": "tokens"}"#);
    assert_eq!(told(("ANTHROPIC_API_KEY", "key")), None);
}

#[test]
fn init_writes_down_that_a_plan_pays_and_uninstall_takes_it_back() {
    let written = "{\n  \"billing\": \"plan\"\n}\n";
    for (scope, before, after) in [
        ("local", None, Some(written)),
        ("local", Some("{ \"user\": {} }\n"), Some("{ \"user\": {}, \"billing\": \"plan\" }\n")),
        ("local", Some("{ \"billing\": \"tokens\" }"), Some("{ \"billing\": \"tokens\" }")),
        ("local", Some("{ // mine\n}"), Some("{ // mine\n}")),
        ("project", None, None),
    ] {
        let world = signed_in();
        if let Some(before) = before {
            world.write(OWN, before);
        }
        let _said = world.run(&["init", "--scope", scope]).ok();
        assert_eq!(world.read(OWN).as_deref(), after, "{scope} {before:?}");
        let again = world.run(&["init", "--scope", scope]).ok();
        assert_eq!(world.read(OWN).as_deref(), after, "{again}");
        let _said = world.run(&["uninstall"]).ok();
        assert_eq!(world.read(OWN).as_deref(), before, "{scope} {before:?}");
    }
}

#[test]
fn it_stays_as_long_as_another_repository_is_registered() {
    let world = signed_in();
    world.write("project/inner/.git/HEAD", "ref: refs/heads/main\n");
    let in_inner = |args: &[&str]| world.command(args).folder("project/inner").run().ok();
    let _said = world.run(&["init"]).ok();
    let _said = in_inner(&["init"]);
    let written = world.read(OWN);
    assert!(written.as_deref().is_some_and(|text| text.contains("plan")), "{written:?}");
    let _said = world.run(&["uninstall"]).ok();
    assert_eq!(world.read(OWN), written);
    let _said = in_inner(&["uninstall"]);
    assert_eq!(world.read(OWN), None);
}

#[test]
fn init_for_all_projects_writes_it_into_the_same_file() {
    let world = signed_in();
    let _said = world.run(&["init", "--scope", "user"]).ok();
    let file: serde_json::Value = serde_json::from_str(&world.read(OWN).unwrap()).unwrap();
    assert_eq!((&file["billing"], &file["main"]), (&json!("plan"), &json!({})));
    let _said = world.run(&["uninstall"]).ok();
    assert_eq!(world.read(OWN), None);
}

#[test]
fn what_an_agent_has_init_see_changes_nothing() {
    let world = signed_in();
    let said = world.command(&["init"]).env("CLAUDECODE", "1").run().ok();
    assert_eq!(world.read(OWN), None);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("`\"billing\": \"plan\"` in ~/.claude/fusebox.json"), "{said}");
    // Nor does a file of the repository.
    world.write("project/.claude/fusebox.json", "{ \"billing\": \"plan\" }");
    let checked = world.run(&["config", "check"]).to_string();
    assert!(checked.contains("billing"), "{checked}");
    let shown = world.run(&["config", "show"]).to_string();
    assert!(shown.contains("max_cost_usd") && shown.contains("request_increase"), "{shown}");
}

#[test]
fn init_says_what_a_plan_changes() {
    let world = signed_in();
    let said = world.run(&["init"]).ok();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("session: ask you at 3.00M tokens"), "{said}");
    assert!(said.contains("paid by a plan"), "{said}");
    assert!(!said.contains("ask you at cost"), "{said}");
}

/// Spends so much in a session, and returns what the hooks say to its next call.
fn spends(config: &str, usage: &serde_json::Value) -> String {
    let world = TestWorld::new();
    world.write(OWN, config);
    let tell = |name: &str, rest: serde_json::Value| world.hook(world.event("s1", "p1", name, &rest)).ok();
    world.write("s1.jsonl", "{\"type\":\"user\",\"message\":{\"content\":\"go\"}}\n");
    tell("SessionStart", json!({"source": "startup"}));
    tell("UserPromptSubmit", json!({"prompt": "go"}));
    let message = json!({"id": "m1", "model": "claude-opus-5-5", "role": "assistant", "usage": usage, "content": []});
    let row = json!({"type": "assistant", "message": message, "timestamp": "2026-11-20T10:00:00Z"});
    world.append("s1.jsonl", format!("{row}\n"));
    let call = json!({"tool_name": "Read", "tool_input": {"file_path": "a"}, "tool_use_id": "t1"});
    tell("PreToolUse", call)
}

#[test]
fn nobody_who_pays_by_a_plan_is_asked_about_dollars_by_default() {
    // 26 USD, and few tokens.
    let dear = json!({"input_tokens": 0, "output_tokens": 1_300_000});
    // The same in tokens alone.
    let long = json!({"input_tokens": 3_100_000, "output_tokens": 0});
    let asks = |config: &str, usage| spends(config, usage).contains(r#""permissionDecision":"ask""#);
    assert!(asks("{}", &dear));
    assert!(!asks(r#"{"billing": "plan"}"#, &dear));
    assert!(!asks("{}", &long));
    assert!(asks(r#"{"billing": "plan"}"#, &long));
    assert!(!asks(r#"{"billing": "plan", "session": {"max_tokens": null}}"#, &long));
    // A cap that the person has set asks on.
    let own = r#"{"billing": "plan", "session": {"max_cost_usd": 10}}"#;
    let said = spends(own, &dear);
    assert!(said.contains("list price of the session 26.00 of 10.00 USD"), "{said}");
    let said = spends(r#"{"session": {"max_cost_usd": 10}}"#, &dear);
    assert!(said.contains("cost of the session 26.00 of 10.00 USD"), "{said}");
}

#[test]
fn whoever_pays_by_a_plan_reads_tokens_first_and_list_prices_as_such() {
    let world = with_shop();
    let show = |arguments: &[&str]| world.command(arguments).env("COLUMNS", "100").run().ok();
    let commands: [&[&str]; 5] = [
        &["status", "--all"],
        &["report", "--since", "all"],
        &["report", "--since", "all", "--by", "day"],
        &["explain", "a3fa11ed"],
        &["explain", "5f0c1d2e"],
    ];
    let before: Vec<String> = commands.iter().map(|it| show(it)).collect();
    assert!(before.iter().all(|it| !it.to_lowercase().contains("list price")), "{before:?}");
    world.write(OWN, r#"{"billing": "plan"}"#);
    for command in commands {
        let said = show(command);
        assert!(said.to_lowercase().contains("list price"), "{command:?}: {said}");
        for line in said.lines() {
            let (tokens, dollars) = (line.find(" tokens"), line.find(" USD list price"));
            assert!(tokens.is_none_or(|at| dollars.is_none_or(|usd| at < usd)), "{command:?}: {line}");
            assert!(line.chars().count() <= 100, "{command:?}: {line}");
        }
    }
    let narrow = world.run(&["status"]).ok();
    let head = "session 5f0c1d2e  running  15.0k tokens, 2.36 USD list price  2026-11-20 10:00\n";
    assert!(narrow.starts_with(head), "{narrow}");
    insta::assert_snapshot!(world.command(&["status"]).env("COLUMNS", "100").run(), @r"
    session 5f0c1d2e  running  15.0k tokens, 2.36 USD list price  since 2026-11-20 10:00
      /srv/shop
      list price  [----------] 2.36/25.00 USD max_cost_usd  built-in
      main b7d1aaaa  running  0 tool calls, 3000 tokens, 0.50 USD list price
        developer a1b2c3d4  running  17 tool calls, 3000 tokens, 0.42 USD list price  depth 1  task 7
          tool calls  [######----] 17/25 max_turns  project
          list price  [####------] 0.42/1.00 USD max_cost_usd  project
        developer a3fa11ed  ended by limit  25 tool calls, 6000 tokens, 0.64 USD list price  depth 1
      + 1 finished; --all shows it
      developer a3fa11ed, ended by limit: 25 of 25 tool calls (max_turns, project)
        fusebox grant a3fa11ed max_turns=+12
    [exit 0]
    ");
}

#[test]
fn status_says_what_the_block_of_now_has_used() {
    let world = with_shop();
    world.write(OWN, r#"{"billing": "plan"}"#);
    let block = "5-hour block from 2026-11-20 10:00: 15.0k tokens, 2.36 USD list price\n\n";
    let at = |seconds| GivenTime::at(&world, crate::state::at(seconds).wall_ms).run(&["status"]).ok();
    assert!(at(4 * 3600).starts_with(block), "{}", at(4 * 3600));
    assert!(!at(5 * 3600).contains("block"), "{}", at(5 * 3600));
    world.write(OWN, "{}");
    assert!(!at(4 * 3600).contains("block"), "{}", at(4 * 3600));
}
