//! Which repository a folder belongs to: the one that git says, and no other's trust, `off` or budget for a `.git` that points to it.

use fusebox::platform::environment::Environment;
use serde_json::{Value, json};

use crate::world::TestWorld;

/// A repository at `project`, another one beside it that a person trusts.
fn machine() -> TestWorld {
    let world = TestWorld::new();
    shell(&world, "git init -q . && git init -q ../trusted && mkdir pkg ../plain");
    shell(&world, "git commit -q --allow-empty -m one && git -C ../trusted commit -q --allow-empty -m one");
    world
}

/// Runs a line of a shell in `project`.
fn shell(world: &TestWorld, line: &str) {
    let configured: String = [("user.name", "ann"), ("user.email", "ann@x.example"), ("protocol.file.allow", "always")]
        .iter()
        .enumerate()
        .map(|(at, (key, value))| format!("export GIT_CONFIG_KEY_{at}={key} GIT_CONFIG_VALUE_{at}={value}; "))
        .collect();
    world.program("sh", &["-ec", &format!("export GIT_CONFIG_COUNT=3; {configured}{line}")]).run().ok();
}

/// Where a client is started after a line of a shell, and the project that it is of then.
const PLACES: [(&str, &str, &str); 20] = [
    // As git lays them.
    (":", "project", "project/.git"),
    (":", "project/pkg", "project/.git"),
    (":", "plain", "plain"),
    ("git worktree add -q ../tree", "tree", "project/.git"),
    ("git worktree add -q ../tree && mkdir ../tree/below", "tree/below", "project/.git"),
    (
        "git worktree add -q ../tree && mv ../tree ../moved && git worktree repair ../moved 2>&1",
        "moved",
        "project/.git",
    ),
    ("git worktree add -q .claude/worktrees/fix", "project/.claude/worktrees/fix", "project/.git"),
    ("git worktree add -q ../tree && ln -s tree ../link", "link", "project/.git"),
    ("git worktree add -q ../tree && echo ../../../../tree/.git > .git/worktrees/tree/gitdir", "tree", "project/.git"),
    ("git submodule --quiet add ../trusted sub", "project/sub", "project/sub/.git"),
    ("git init -q pkg", "project/pkg", "project/pkg/.git"),
    ("git init -q --separate-git-dir ../kept ../apart", "apart", "apart/.git"),
    // As git lays none: what is above goes on.
    ("mkdir pkg/.git", "project/pkg", "project/.git"),
    ("mkdir pkg/.git && cp .git/HEAD pkg/.git", "project/pkg", "project/.git"),
    ("touch pkg/.git", "project/pkg", "project/.git"),
    ("echo gitdir: nowhere > pkg/.git", "project/pkg", "project/.git"),
    ("mkdir ../plain/.git", "plain", "plain/.git"),
    // As somebody lays them who points to another repository.
    (FALSE_LINK, "project", "project/.git"),
    (FALSE_TREE, "project", "project/.git"),
    (OTHERS_TREE, "project", "project/.git"),
];

/// A folder that says that the trusted repository is its own.
const FALSE_LINK: &str = "mv .git .old && echo gitdir: .fake > .git && mkdir .fake && cp .old/HEAD .fake
    echo $PWD/../trusted/.git > .fake/commondir && echo $PWD/.git > .fake/gitdir";
/// The same, laid like a worktree's.
const FALSE_TREE: &str = "mv .git .old && echo gitdir: .fake/worktrees/tree > .git && mkdir -p .fake/worktrees/tree
    cp .old/HEAD .fake/worktrees/tree
    echo $PWD/../trusted/.git > .fake/worktrees/tree/commondir && echo $PWD/.git > .fake/worktrees/tree/gitdir";
/// A link to a worktree of the trusted repository that lies elsewhere.
const OTHERS_TREE: &str = "git -C ../trusted worktree add -q ../tree && mv .git .old && cp ../tree/.git .git";

#[test]
fn a_folders_project_is_the_repository_that_git_says() {
    let env = Environment::real();
    let mut wrong = Vec::new();
    for (line, place, expected) in PLACES {
        let world = machine();
        shell(&world, line);
        let (folder, project) = (world.path(place), env.project_of(&world.path(place)));
        let root = expected.trim_end_matches("/.git");
        let first = env.folders_down_to(&folder).swap_remove(0);
        if (&project, &first) != (&world.path(expected), &world.path(root)) {
            wrong.push(format!("{line}: {place} is {}, from {} on", project.display(), first.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a person has said of one repository holds for no other one that is made to look like it.
#[test]
fn no_repository_borrows_what_a_person_said_of_another() {
    for way in [FALSE_LINK, FALSE_TREE, OTHERS_TREE] {
        for said in [&["trust"][..], &["off", "--for", "1h"]] {
            let world = machine();
            world
                .write("home/.claude/fusebox.json", json!({"session": {"max_turns": 2, "grace_turns": 0}}).to_string());
            world.write("project/.claude/fusebox.json", json!({"session": {"max_turns": 9}}).to_string());
            world.command(said).folder("trusted").run().ok();
            shell(&world, way);
            let tells = |name: &str, rest: Value| world.hook(world.event("s1", "p1", name, &rest)).ok();
            tells("SessionStart", json!({"source": "startup"}));
            let call = |at: &i32| json!({"tool_name": "Read", "tool_input": {"file_path": "/x"}, "tool_use_id": format!("t{at}")});
            let through = (0..6).take_while(|at| !tells("PreToolUse", call(at)).contains("deny")).count();
            assert_eq!(through, 2, "{said:?}: {way}");
        }
    }
}
