//! A client reads its settings in the folder that it works in. Where it moves to another one, the settings there are what a change
//! puts in force, and what is judged before.

use serde_json::{Value, json};

use crate::world::{TestWorld, with};

/// Where a session begins, and where it moves.
const FIRST: &str = "project";
const TREE: &str = "project/.claude/worktrees/fix";

const OFF: &str = r#"{"disableAllHooks": true}"#;

/// A repository with a worktree, in whose settings the hooks are registered for the user, and one session.
struct Bench {
    world: TestWorld,
    /// The folder that the client was started in, the one that it works in, and the one that its transcript is filed under.
    began: &'static str,
    works: String,
    filed: String,
}

impl Bench {
    fn begun_in(began: &'static str) -> Bench {
        let world = TestWorld::new();
        world.lay_worktree("project", TREE);
        world.write("project/sub/README", "");
        world.run(&["init", "--scope", "user"]).ok();
        let bench = Bench { world, began, works: began.to_owned(), filed: began.to_owned() };
        bench.tells("SessionStart", &json!({"source": "startup"}));
        bench
    }

    fn path(&self, place: &str) -> String {
        self.world.path(place).to_string_lossy().into_owned()
    }

    fn tells(&self, name: &str, rest: &Value) -> String {
        let dashed = |it: char| if it.is_ascii_alphanumeric() { it } else { '-' };
        let name_of_home: String = self.path(&self.filed).chars().map(dashed).collect();
        let transcript = self.path(&format!("home/.claude/projects/{name_of_home}/s1.jsonl"));
        let at = json!({"cwd": self.path(&self.works), "transcript_path": transcript});
        let event = with(self.world.event("s1", "p1", name, &at), rest);
        self.world.command(&["hook"]).env("CLAUDE_PROJECT_DIR", &self.path(self.began)).stdin(event).run().ok()
    }

    fn ended(&self, tool: &str, response: &Value) {
        self.tells(
            "PostToolUse",
            &json!({"tool_name": tool, "tool_input": {}, "tool_use_id": "t1", "tool_response": response}),
        );
    }

    /// Enters the worktree; the client files the transcript under it, but for worktrees of other repositories.
    fn enters(&mut self, files_anew: bool) {
        self.works = TREE.to_owned();
        if files_anew {
            self.filed = TREE.to_owned();
        }
        self.ended("EnterWorktree", &json!({"worktreePath": self.path(TREE), "worktreeBranch": "fix"}));
    }

    fn leaves(&mut self, to: &str) {
        (self.works, self.filed) = (to.to_owned(), to.to_owned());
        self.ended(
            "ExitWorktree",
            &json!({"action": "keep", "originalCwd": self.path(to), "worktreePath": self.path(TREE)}),
        );
    }

    /// Changes the settings of a folder, and says whether the client may take the change.
    fn is_held_with(&self, place: &str) -> bool {
        self.world.write(&format!("{place}/.claude/settings.json"), OFF);
        let answer = self.tells("ConfigChange", &json!({"source": "project_settings"}));
        let _gone = std::fs::remove_file(self.world.path(&format!("{place}/.claude/settings.json")));
        let (held, said) = (answer.contains("\"block\""), answer.contains("switch all hooks off"));
        assert_eq!(held, said, "{answer}");
        held
    }
}

#[test]
fn the_settings_of_a_worktree_that_was_entered_are_judged() {
    for files_anew in [true, false] {
        let mut bench = Bench::begun_in(FIRST);
        assert!(!bench.is_held_with(TREE), "the client is not there yet");
        bench.enters(files_anew);
        assert!(bench.is_held_with(TREE), "filed anew: {files_anew}");
        assert!(!bench.is_held_with(FIRST), "the client has left it: {files_anew}");
        let told = bench.tells("Stop", &json!({}));
        assert!(told.contains("where this session works now"), "{told}");
    }
}

#[test]
fn after_the_worktree_the_first_folder_is_judged_again() {
    for files_anew in [true, false] {
        let mut bench = Bench::begun_in(FIRST);
        bench.enters(files_anew);
        bench.leaves(FIRST);
        assert!(bench.is_held_with(FIRST));
        assert!(!bench.is_held_with(TREE), "{files_anew}");
    }
}

#[test]
fn a_session_that_began_in_a_worktree_may_leave_it() {
    let mut bench = Bench::begun_in(TREE);
    assert!(bench.is_held_with(TREE));
    bench.leaves(FIRST);
    assert!(bench.is_held_with(FIRST));
    assert!(!bench.is_held_with(TREE));
}

#[test]
fn a_persons_move_is_known_by_where_the_transcript_goes() {
    let mut bench = Bench::begun_in(FIRST);
    (bench.works, bench.filed) = ("elsewhere".to_owned(), "elsewhere".to_owned());
    bench.world.write("elsewhere/README", "");
    assert!(bench.is_held_with("elsewhere"));
}

#[test]
fn a_shells_folder_and_a_subagents_worktree_move_no_client() {
    let mut bench = Bench::begun_in(FIRST);
    bench.works = "project/sub".to_owned();
    bench.ended("Bash", &json!({"stdout": ""}));
    assert!(!bench.is_held_with("project/sub"));
    let entered = json!({"agent_id": "a1", "agent_type": "worker", "tool_name": "EnterWorktree", "tool_input": {},
        "tool_use_id": "t2", "tool_response": {"worktreePath": bench.path(TREE)}});
    bench.tells("PostToolUse", &entered);
    assert!(!bench.is_held_with(TREE));
    assert!(bench.is_held_with(FIRST));
}

#[test]
fn what_no_client_writes_of_a_move_moves_nothing() {
    for response in
        [json!({}), json!("x"), json!({"worktreePath": 7}), json!({"worktreePath": ""}), json!({"worktreePath": "sub"})]
    {
        let bench = Bench::begun_in(FIRST);
        bench.ended("EnterWorktree", &response);
        assert!(bench.is_held_with(FIRST), "{response}");
    }
}
