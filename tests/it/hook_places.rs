//! Hooks that ask the model are charged wherever the client finds what brings them: each place by each holder.

use serde_json::{Value, json};

use crate::brought_hooks::{MANIFEST, asked_at, frontmatter};
use crate::missing_usage::Story;
use crate::world::TestWorld;

/// A skill or command in a place of its own.
struct Case {
    /// Where its file is.
    path: String,
    /// The name that its frontmatter says.
    said: &'static str,
    /// By what it is called.
    called: String,
    /// How many of its hooks run at a call.
    asks: u64,
}

/// The folders that speak for a client in the project, with that of the person.
const FOLDERS: [&str; 3] = [".claude", "project/.claude", "home/.claude"];

fn case(path: impl Into<String>, said: &'static str, called: impl Into<String>, asks: u64) -> Case {
    Case { path: path.into(), said, called: called.into(), asks }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for folder in FOLDERS {
        let skill = format!("{folder}/skills/folder/SKILL.md");
        for (called, asks) in [("sk", 1), ("folder", 1), ("other", 0), ("sub:sk", 0)] {
            cases.push(case(&skill, "sk", called, asks));
        }
        cases.push(case(format!("{folder}/commands/sk.md"), "", "sk", 1));
        cases.push(case(format!("{folder}/commands/a/b/sk.md"), "", "a:b:sk", 1));
        cases.push(case(format!("{folder}/commands/a/SKILL.md"), "", "a", 1));
    }
    for (called, asks) in [("sk", 1), ("folder", 1), ("sub/far:folder", 1), ("sub/far:sk", 1), ("sub:sk", 0)] {
        cases.push(case("project/sub/far/.claude/skills/folder/SKILL.md", "sk", called, asks));
    }
    cases.push(case("project/sub/.claude/commands/sk.md", "", "sk", 0));
    cases.push(case("project/node_modules/sub/.claude/skills/sk/SKILL.md", "", "sk", 0));
    for plugin in ["home/.claude/skills/plug", "project/.claude/skills/plug", "market/plug"] {
        for (file, asks) in [
            ("skills/folder/SKILL.md", 1),
            ("odd/folder/SKILL.md", 1),
            ("single/SKILL.md", 1),
            ("commands/sk.md", 0),
            ("strange/sk.md", 0),
        ] {
            cases.push(case(format!("{plugin}/{file}"), "sk", "plug:sk", asks));
        }
    }
    cases
}

/// Lays out what says that a folder is a plugin, and where its skills are: its manifest, or its marketplace.
fn lay_out_plugins(world: &TestWorld) {
    let said = json!({"name": "plug", "source": "./plug", "skills": ["./odd", "./single"], "commands": "./strange"});
    for folder in ["home", "project"] {
        world.write(&format!("{folder}/.claude/skills/plug/{MANIFEST}"), said.to_string());
    }
    enable(world, &said);
}

/// Lays out a marketplace with one plugin, which settings switch on.
fn enable(world: &TestWorld, entry: &Value) {
    world.write("market/.claude-plugin/marketplace.json", json!({"name": "m", "plugins": [entry]}).to_string());
    world.write("market/plug/readme", "");
    let source = json!({"source": "directory", "path": world.path("market")});
    let settings = json!({"enabledPlugins": {"plug@m": true}, "extraKnownMarketplaces": {"m": {"source": source}}});
    world.write("project/.claude/settings.json", settings.to_string());
}

fn read(id: &str) -> Value {
    json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": id, "tool_response": "x"})
}

fn call(skill: &str) -> Value {
    json!({"tool_name": "Skill", "tool_input": {"skill": skill}, "tool_use_id": "s"})
}

/// The hooks of each are those of one file, and no other is there that could bring them.
#[test]
fn a_skills_hooks_are_charged_wherever_its_file_is_and_by_whichever_name_it_is_called() {
    for case in cases() {
        let story = Story::with(&json!({}), |world| {
            world.write(".git/HEAD", "");
            lay_out_plugins(world);
        });
        story.write(&["m0"]);
        // It is written once the session works.
        let name = if case.said.is_empty() { "description: nameless" } else { "name: sk" };
        story.world.write(&case.path, frontmatter("sk", "").replacen("name: sk", name, 1));
        let called = (case.path.as_str(), case.called.as_str());
        assert_eq!(asked_at(&story, "PostToolUse", &call(&case.called)), case.asks, "{called:?} at its own call");
        assert_eq!(asked_at(&story, "PreToolUse", &read("t")), case.asks, "{called:?} later");
    }
}

#[test]
fn of_several_skills_by_one_name_the_one_with_the_most_hooks_counts() {
    let plain = "---\nname: sk\ndescription: d\n---\nWork.\n";
    for (one, other) in [("folder", "sk"), ("sk", "folder")] {
        let story = Story::with(&json!({}), |world| {
            world.write(&format!("project/.claude/skills/{one}/SKILL.md"), plain);
            world.write(&format!("home/.claude/skills/{other}/SKILL.md"), frontmatter("sk", ""));
        });
        story.write(&["m0"]);
        assert_eq!(asked_at(&story, "PostToolUse", &call("sk")), 1, "{one}");
    }
}

/// A folder that was found through a link is named by the transcript alone.
#[test]
fn a_skill_in_a_folder_that_the_transcript_names_is_found() {
    let story = Story::with(&json!({}), |world| {
        world.write("far/.claude/skills/folder/SKILL.md", frontmatter("sk", ""));
    });
    story.write(&["m0"]);
    assert_eq!(asked_at(&story, "PostToolUse", &call("sk")), 0);
    let folder = story.world.path("far/.claude/skills");
    let found = json!({"type": "attachment", "attachment": {"type": "dynamic_skill", "skillDir": folder, "skillNames": ["folder"]}});
    story.world.append("s1.jsonl", format!("{found}\n"));
    assert_eq!(asked_at(&story, "PostToolUse", &call("sk")), 1);
}

#[test]
fn skills_that_are_too_many_to_be_read_are_taken_for_hooks() {
    let story = Story::begin(&json!({}));
    story.write(&["m0"]);
    for number in 0..=5_000 {
        std::fs::create_dir_all(story.world.path(&format!("project/.claude/skills/s{number}"))).unwrap();
    }
    assert_eq!(asked_at(&story, "PostToolUse", &call("sk")), 1);
}

#[test]
fn hooks_in_a_marketplaces_own_entry_are_charged_once() {
    let hook = json!([{"hooks": [{"type": "prompt", "prompt": "well?"}]}]);
    let hooks = json!({"PreToolUse": hook});
    let said = [hooks.clone(), json!([hooks.clone()]), json!({"hooks": hooks}), json!(["./more.json"])];
    for said in said {
        for is_installed in [false, true] {
            let story = Story::with(&json!({}), |world| {
                enable(world, &json!({"name": "plug", "source": "./plug", "hooks": said}));
                world.write("market/plug/more.json", hooks.to_string());
                if is_installed {
                    world.write("home/.claude/plugins/cache/m/plug/1/more.json", hooks.to_string());
                }
            });
            story.write(&["m0"]);
            assert_eq!(asked_at(&story, "PreToolUse", &read("t")), 1, "{said} {is_installed}");
        }
    }
}
