//! Honest conversations whose prompts are of very different lengths: each is charged as it says, and none is doubted.

use serde_json::{Value, json};

use crate::lab::{Lab, Run};
use crate::script::{Script, agent, agent_of, call, child, main, say, work};

/// What the person would read of a response that is doubted.
const DOUBT: &str = "say less than they can have used";

/// Plays prompts one after another in one session; returns how the last ended.
fn plays(scripts: Vec<Script>, prompts: &[&str]) -> (Lab, Run) {
    let lab = Lab::new(json!({}), scripts);
    let mut run = lab.claude("MAIN start", &[]);
    for prompt in prompts {
        run = lab.claude(prompt, &["--resume", run.session()]);
    }
    (lab, run)
}

/// What is counted is what so many requests spent, and nothing of it is doubted.
fn is_believed((lab, run): &(Lab, Run), estimated: bool) {
    let report: Value = serde_json::from_str(&lab.must(&["report", "--json"])).unwrap();
    let session = &report["sessions"][0];
    assert_eq!(session["requests"], lab.api.requests().len(), "{session}: {}", lab.story());
    assert_eq!(session["estimated_cost_usd"] != "0.000000000000", estimated, "{session}");
    assert!(!lab.must(&["log"]).contains(DOUBT) && !run.told.contains(DOUBT), "{}", lab.story());
}

#[test]
fn a_long_first_message_that_is_compacted_is_believed() {
    let short = || call([work()]).cached(15_000);
    let steps = [
        call([work()]).cached(150_000),
        say("read it").cached(150_000),
        say("<summary>it was read</summary>").cached(150_000),
    ];
    let after = [short(), short(), short(), say("done").cached(15_000)];
    let played = plays(vec![main(steps.into_iter().chain(after))], &["/compact", "go on"]);
    assert_eq!(played.1.text(), "done");
    is_believed(&played, true);
}

#[test]
fn a_lean_subagent_beside_a_long_main_conversation_is_believed() {
    let lean = || call([work()]).cached(400);
    let lead = main([call([agent("CHILD work")]).cached(150_000), say("done").cached(150_000)]);
    let played = plays(vec![child("CHILD", [lean(), lean(), lean(), say("child done").cached(400)]), lead], &[]);
    is_believed(&played, false);
}

#[test]
fn a_gateway_that_tells_of_no_cache_is_believed() {
    let new = |tokens: u64| call([work()]).uncached(tokens);
    let played = plays(vec![main([new(20_000), new(300), new(300), say("done").uncached(300)])], &[]);
    is_believed(&played, false);
}

/// The client counts an agent's responses for its own `maxTurns`: what a repository's hooks ask at them takes nothing of it.
#[test]
fn an_agent_has_all_of_its_own_max_turns_beside_hooks_that_ask() {
    for (turns, event, matcher, hooks) in
        [(8, "PreToolUse", "Bash", 1), (3, "PreToolUse", "Edit|Write", 2), (3, "SubagentStop", "*", 3)]
    {
        let steps = (1..turns).map(|_| call([work()])).chain([say("child done")]);
        let lead = main([call([agent_of("dev", "CHILD work")]), say("main finished")]);
        let lab = Lab::without_fusebox(vec![child("CHILD", steps), lead]);
        let kind = format!("---\nname: dev\ndescription: d\ntools: Bash, Read\nmaxTurns: {turns}\n---\nYou work.\n");
        lab.write(".claude/agents/dev.md", &kind);
        let each: Vec<_> =
            (0..hooks).map(|it| json!({"type": "prompt", "prompt": format!("{it}? $ARGUMENTS")})).collect();
        let settings = json!({"hooks": {event: [{"matcher": matcher, "hooks": each}]}});
        lab.write(".claude/settings.json", &settings.to_string());
        lab.must(&["init"]);
        lab.claude("MAIN start", &[]);
        assert_eq!(lab.api.requests_of("CHILD work").len(), turns, "{hooks} at {event}: {}", lab.story());
    }
}
