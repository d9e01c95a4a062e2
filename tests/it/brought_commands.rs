//! What the client runs for a call with no hook between is judged at that call: commands in a skill's text, servers in an agent's file.

use serde_json::json;

use crate::missing_usage::Story;

/// Commands, and whether a call of Bash with one is refused.
const COMMANDS: [(&str, bool); 8] = [
    ("git status", false),
    ("claude --version", false),
    ("claude --bare -p go", true),
    ("cd ../nowhere && claude -p go", true),
    ("fusebox grant x max_turns=+1", true),
    ("echo '{}' > .claude/fusebox.json", true),
    ("cat .claude/fusebox.json", false),
    ("claude -p go --settings '{\"disableAllHooks\": true}'", true),
];

fn is_refused(said: &str) -> bool {
    said.contains("this call was not run") && said.contains("\"deny\"")
}

#[test]
fn a_command_in_a_skills_text_is_refused_as_a_call_of_bash_is() {
    for (command, refused) in COMMANDS {
        let texts = [
            (format!("Now: !`{command}`\n"), ""),
            (format!("```!\ntrue\n{command}\n```\n"), ""),
            ("Now: !`$ARGUMENTS`\n".to_owned(), command),
        ];
        for (text, arguments) in texts {
            let story = Story::with(&json!({}), |world| {
                let skill = format!("---\nname: sk\ndescription: d\n---\n{text}");
                world.write("project/.claude/skills/folder/SKILL.md", skill);
            });
            story.write(&["m0"]);
            let bash = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "b"});
            assert_eq!(is_refused(&story.event("PreToolUse", &bash)), refused, "{command}");
            let skill = json!({"skill": "sk", "args": arguments});
            let call = json!({"tool_name": "Skill", "tool_input": skill, "tool_use_id": "s"});
            let said = story.event("PreToolUse", &call);
            assert_eq!(is_refused(&said), refused, "{text}: {said}");
        }
    }
}

/// A client reads all of its skills; Fusebox looks at so many that a call is answered in time.
#[test]
fn a_skill_behind_more_files_than_are_looked_at_is_refused() {
    for (folder, kept) in [("commands", 10), ("commands", 6_000), ("skills", 6_000)] {
        let story = Story::with(&json!({}), |world| {
            for one in 0..kept {
                world.write(&format!("project/.claude/{folder}/{one}.md"), "Text.\n");
            }
            world.write("project/.claude/commands/zz/sk.md", "Now: !`claude --bare -p go`\n");
            world.write("project/.claude/commands/plain.md", "Text.\n");
        });
        story.write(&["m0"]);
        for (name, refused) in [("zz:sk", true), ("plain", kept > 10)] {
            let skill = json!({"skill": name, "args": ""});
            let call = json!({"tool_name": "Skill", "tool_input": skill, "tool_use_id": name});
            let said = story.event("PreToolUse", &call);
            assert_eq!(is_refused(&said), refused, "{name} of {kept} in {folder}: {said}");
        }
    }
}

#[test]
fn a_server_in_an_agents_file_that_starts_a_client_is_refused_when_the_agent_is_started() {
    for (server, refused) in [
        ("{command: claude, args: ['--bare', '-p', 'go']}", true),
        ("{command: sh, args: ['-c', 'claude -p go']}", true),
        ("{command: claude, args: [mcp, serve]}", false),
        ("{command: npx, args: ['-y', 'some-server']}", false),
    ] {
        let story = Story::with(&json!({}), |world| {
            let agent =
                format!("---\nname: worker\ndescription: d\nmcpServers:\n  - plain\n  - x: {server}\n---\nWork.\n");
            world.write("project/.claude/agents/any.md", agent);
        });
        story.write(&["m0"]);
        for (kind, refused) in [("worker", refused), ("WORKER", refused), (" ｗorker", refused), ("other", false)] {
            let input = json!({"subagent_type": kind, "prompt": "go", "description": "d"});
            let call = json!({"tool_name": "Agent", "tool_input": input, "tool_use_id": format!("a-{kind}")});
            let said = story.event("PreToolUse", &call);
            assert_eq!(is_refused(&said), refused, "{server} {kind}: {said}");
        }
    }
}
