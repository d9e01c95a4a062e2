//! What can grow in what a client brings along: plugins, and the hooks of agents' types.

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::growth::{DIMENSION, Dimension, grow_all};

/// Something that is there when the client starts.
const BEFORE: Dimension = Dimension { before: true, ..DIMENSION };

/// A hook that asks the model at an event that no call of the test brings.
fn handler(at: usize) -> Value {
    json!({"matcher": format!("Tool{at}"), "hooks": [{"type": "prompt", "prompt": "well?"}]})
}

fn plugin(fixture: &Fixture, name: &str, hooks: &Value) {
    fixture.write(&format!("project/.claude/skills/{name}/.claude-plugin/plugin.json"), "{}".to_owned());
    let hooks = json!({"hooks": {"PermissionRequest": hooks}});
    fixture.write(&format!("project/.claude/skills/{name}/hooks/hooks.json"), hooks.to_string());
}

const GROWS: [Dimension; 3] = [
    Dimension {
        grows: "plugins among the skills",
        most: 6_000,
        make: |fixture, size| (0..size).for_each(|at| plugin(fixture, &format!("p{at}"), &json!([handler(at)]))),
        ..BEFORE
    },
    Dimension {
        grows: "handlers of one plugin",
        most: 3_000,
        make: |fixture, size| plugin(fixture, "p", &(0..size).map(handler).collect()),
        ..BEFORE
    },
    Dimension {
        grows: "handlers in one agent's frontmatter",
        most: 20_000,
        make: |fixture, size| {
            let hook = |at| format!("    - matcher: Tool{at}\n      hooks: [{{type: prompt, prompt: well}}]\n");
            let hooks: String = (0..size).map(hook).collect();
            let text = format!("---\nname: a1\nhooks:\n  PermissionRequest:\n{hooks}---\nwork\n");
            fixture.write("project/.claude/agents/a1.md", text);
        },
        ..BEFORE
    },
];

#[test]
fn what_a_client_brings_along_may_grow() {
    grow_all(&GROWS);
}
