//! An agent's file of any text: what is no limit changes nothing, a limit stays inside the ceilings, and an `execution_limits`
//! block in a spawn's prompt only tightens.

#![no_main]

use std::sync::LazyLock;

use fusebox::config::frontmatter::{self, Agent};
use fusebox::config::place::Who;
use fusebox::config::policy::Policy;
use fusebox::config::resolve::Trust;
use fusebox::domain::limit_set::LimitSet;
use libfuzzer_sys::fuzz_target;

static PINNED: LazyLock<Policy> = LazyLock::new(|| Policy::of(Vec::new(), Vec::new(), Trust::Untrusted).0);

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let agent = read(&text);
    assert!(same(&agent, &read(&text)), "read twice");
    let opened = text.trim_start_matches('\u{feff}').lines().next().is_some_and(|line| line.trim_end() == "---");
    assert_eq!(agent.is_some(), opened, "only what opens with `---` has a frontmatter");
    if let Some(agent) = agent {
        foreign_keys_change_nothing(&text, &agent);
        stays_inside(agent);
    }
    spawn_only_tightens(&text);
});

fn read(text: &str) -> Option<Agent> {
    frontmatter::agent("agents/a.md", "a", text)
}

fn same(one: &Option<Agent>, other: &Option<Agent>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            one.name == other.name
                && one.reading.document == other.reading.document
                && one.reading.problems.len() == other.reading.problems.len()
        }
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// Descriptions in the wild are often no YAML, and are not looked at; nor is the prompt after the frontmatter.
fn foreign_keys_change_nothing(text: &str, agent: &Agent) {
    let Some((first, rest)) = text.split_once('\n') else { return };
    let more = format!("{first}\ndescription: {{{{ no: [ \"yaml\n{rest}");
    let is_closed = rest.lines().any(|line| line.trim_end() == "---");
    let more = if is_closed { more + "\nexecution_limits:\n  max_turns: 1\n" } else { more };
    let other = read(&more).unwrap();
    assert_eq!((&other.name, &other.reading.document), (&agent.name, &agent.reading.document));
    assert_eq!(other.reading.problems.len(), agent.reading.problems.len());
}

fn stays_inside(agent: Agent) {
    for problem in &agent.reading.problems {
        assert!(problem.to_string().contains("agents/a.md"), "{problem}");
    }
    let name = agent.name.clone();
    let (pinned, _) = Policy::of(Vec::new(), vec![(agent.name, agent.reading.document)], Trust::Untrusted);
    let top = pinned.resolved(Who::Top);
    for rule in &pinned.agent(&name, None).0.limits {
        if let Some(ceiling) = top.ceiling(rule.limit).filter(|_| rule.models.is_none()) {
            let (low, high) = ceiling.range;
            assert!((low..=high).contains(&rule.cap), "{} of {}", rule.limit, rule.cap);
        }
    }
}

fn spawn_only_tightens(prompt: &str) {
    let pinned = &*PINNED;
    for agent_type in ["developer", "general-purpose"] {
        let (without, with) = (pinned.agent(agent_type, None).0, pinned.agent(agent_type, Some(prompt)).0);
        assert_no_looser(&without, &with);
    }
}

fn assert_no_looser(without: &LimitSet, with: &LimitSet) {
    for rule in &without.limits {
        let name = rule.name();
        assert!(with.named(&name).is_some_and(|other| other.cap <= rule.cap), "{name} of {}: {with:?}", rule.cap);
    }
}
