//! What `init` says of raising a cap, done as it says.

use crate::world::TestWorld;

/// Returns the words of one line of what `init` says.
fn line<'a>(said: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("  {name:<8}");
    said.lines().find_map(|line| line.strip_prefix(&start))
}

/// Runs `init` in this scope, on a screen that is wide enough for each of its lines.
fn init(world: &TestWorld, scope: &str) -> String {
    world.command(&["init", "--scope", scope]).env("COLUMNS", "400").run().ok()
}

/// Writes a cap into the file that these words name, and returns the cap that holds.
fn cap_in_force(world: &TestWorld, words: &str) -> String {
    let named = words.split([' ', ':', ',']).find(|word| word.ends_with("fusebox.json")).unwrap();
    let place = named.strip_prefix("~/").map_or_else(|| format!("project/{named}"), |path| format!("home/{path}"));
    world.write(&place, r#"{"session":{"max_cost_usd":50}}"#);
    let shown = world.run(&["config", "show"]).stdout;
    let mut session = shown.lines().skip_while(|row| *row != "session");
    let row = session.find(|row| row.trim_start().starts_with("max_cost_usd ")).unwrap();
    row.split_whitespace().nth(1).unwrap().to_owned()
}

#[test]
fn a_cap_is_raised_in_the_file_that_init_names() {
    for scope in ["local", "project"] {
        let world = TestWorld::with_git();
        let said = init(&world, scope);
        assert_eq!(cap_in_force(&world, line(&said, "raise").unwrap()), "50", "{scope}: {said}");
    }
    // In the other file it is not, until the repository is trusted.
    let world = TestWorld::with_git();
    let said = init(&world, "local");
    assert_eq!(cap_in_force(&world, line(&said, "change").unwrap()), "25", "{said}");
    world.run(&["trust"]).ok();
    assert_eq!(cap_in_force(&world, line(&said, "change").unwrap()), "50", "{said}");
    let said = init(&world, "local");
    assert_eq!(line(&said, "raise"), None, "{said}");
    // One's own file raises it.
    let world = TestWorld::new();
    let said = init(&world, "user");
    assert_eq!(line(&said, "raise"), None, "{said}");
    assert_eq!(cap_in_force(&world, line(&said, "change").unwrap()), "50", "{said}");
}
