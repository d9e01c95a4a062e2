//! The state's database while somebody else has it open.

use rusqlite::Connection;

use crate::world::TestWorld;

fn call(id: &str) -> String {
    format!(
        r#"{{"session_id":"s1","transcript_path":"","cwd":"/p","prompt_id":"p1","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{{}},"tool_use_id":"{id}"}}"#
    )
}

/// Returns the tool calls counted for the session.
fn turns(database: &Connection) -> i64 {
    database.query_row("SELECT turns FROM session WHERE id = 's1'", [], |row| row.get(0)).unwrap()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a person's own tool opens the database like this")]
fn a_persons_own_shell_on_the_database_holds_no_hook_up() {
    let world = TestWorld::new();
    assert_eq!(world.hook(call("one")).ok(), "");
    let shell = Connection::open(world.path("state/state.db")).unwrap();
    shell.execute_batch("PRAGMA locking_mode=NORMAL; BEGIN").unwrap();
    assert_eq!(turns(&shell), 1);
    assert_eq!(world.hook(call("two")).ok(), "");
    shell.execute_batch("COMMIT").unwrap();
    assert_eq!(turns(&shell), 2);
}
