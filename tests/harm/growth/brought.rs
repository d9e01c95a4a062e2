//! What can grow in what a client brings along: plugins, and the hooks of agents' types.

use serde_json::{Value, json};

use crate::growth::{DIMENSION, Dimension, grow_all};
use crate::stage::Stage;

/// Something that is there when the client starts.
const BEFORE: Dimension = Dimension { before: true, ..DIMENSION };

/// A hook that asks the model at an event that no call of the test brings.
fn handler(at: usize) -> Value {
    json!({"matcher": format!("Tool{at}"), "hooks": [{"type": "prompt", "prompt": "well?"}]})
}

fn plugin(stage: &Stage, name: &str, hooks: &Value) {
    stage.write(&format!("project/.claude/skills/{name}/.claude-plugin/plugin.json"), "{}".to_owned());
    let hooks = json!({"hooks": {"PermissionRequest": hooks}});
    stage.write(&format!("project/.claude/skills/{name}/hooks/hooks.json"), hooks.to_string());
}

const GROWS: [Dimension; 3] = [
    Dimension {
        grows: "plugins among the skills",
        most: 6_000,
        make: |stage, size| (0..size).for_each(|at| plugin(stage, &format!("p{at}"), &json!([handler(at)]))),
        ..BEFORE
    },
    Dimension {
        grows: "handlers of one plugin",
        most: 3_000,
        make: |stage, size| plugin(stage, "p", &(0..size).map(handler).collect()),
        ..BEFORE
    },
    Dimension {
        grows: "handlers in one agent's frontmatter",
        most: 20_000,
        make: |stage, size| {
            let hook = |at| format!("    - matcher: Tool{at}\n      hooks: [{{type: prompt, prompt: well}}]\n");
            let hooks: String = (0..size).map(hook).collect();
            let text = format!("---\nname: a1\nhooks:\n  PermissionRequest:\n{hooks}---\nwork\n");
            stage.write("project/.claude/agents/a1.md", text);
        },
        ..BEFORE
    },
];

#[test]
fn what_a_client_brings_along_may_grow() {
    grow_all(&GROWS);
}
