//! Limits shown of an agent type that nothing here knows.

use crate::world::TestWorld;

#[test]
fn an_unknown_type_is_named_with_the_nearest() {
    let world = TestWorld::new();
    world.write("project/.claude/agents/critic.md", "---\nname: code-critic\n---\nCriticise.\n");
    world.write("project/.claude/fusebox.json", r#"{"agents": {"sec-*": {"max_turns": 9}, "mine": {"max_turns": 9}}}"#);
    let note = |name: &str| world.run(&["config", "show", "--agent", name]).stderr;
    for (name, nearest) in [("developr", "developer"), ("Developer2", "developer"), ("code-critik", "code-critic")] {
        let said = format!(
            "note: no agent of type `{name}` is known here: these are the limits of all others; the nearest is `{nearest}`\n"
        );
        assert_eq!(note(name), said);
    }
    let far = "note: no agent of type `zzzzzzzz` is known here: these are the limits of all others\n";
    assert_eq!(note("zzzzzzzz"), far);
    for known in ["developer", "Explore", "general-purpose", "code-critic", "sec-review", "mine", "plugin:any"] {
        assert_eq!(note(known), "", "{known}");
    }
}
