//! Tools of MCP servers: what writes a file of limits or gives a person's command is refused under any name that says so; what reads,
//! and what writes other files, passes.

use serde_json::{Value, json};

use crate::ordinary::refused;

/// Files that an agent may not write.
const OURS: [&str; 4] = [
    ".claude/fusebox.json",
    "/home/you/src/fusebox/.claude/fusebox.local.json",
    "~/.claude/fusebox.json",
    "~/.claude/fusebox.pricing.json",
];

/// Files that are anybody's.
const OTHERS: [&str; 4] =
    ["src/main.rs", "docs/.claude/fusebox.json", "/home/you/src/other/.claude/fusebox.json", "fusebox.json"];

/// Calls that write the file at a path.
fn writes(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("mcp__filesystem__write_file", json!({"path": path, "content": "{}"})),
        ("mcp__filesystem__edit_file", json!({"path": path, "edits": [{"oldText": "a", "newText": "b"}]})),
        ("mcp__filesystem__move_file", json!({"source": path, "destination": "/tmp/x"})),
        ("mcp__filesystem__move_file", json!({"source": "/tmp/x", "destination": path})),
        ("mcp__fs__deleteFile", json!({"filePath": path})),
        ("mcp__plugin_files_fs__files-remove", json!({"paths": ["a", path]})),
        ("mcp__ide__applyPatch", json!({"changes": [{"file": {"uri": format!("file://{path}")}, "text": "x"}]})),
        ("mcp__serena__replace_content", json!({"relative_path": path, "needle": "3", "repl": "99"})),
        ("mcp__fs__create_symlink", json!({"target": "/dev/null", "path": path})),
    ]
}

/// Calls that only read it.
fn reads(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("mcp__filesystem__read_file", json!({"path": path})),
        ("mcp__filesystem__get_file_info", json!({"path": path})),
        ("mcp__filesystem__search_files", json!({"path": ".", "pattern": path})),
        ("mcp__memory__create_entities", json!({"entities": [{"name": "limits", "observations": [path]}]})),
        ("mcp__slack__send_message", json!({"channel": "x", "text": path})),
    ]
}

#[test]
fn what_writes_a_file_of_limits_is_refused() {
    for (tool, input) in OURS.into_iter().flat_map(writes) {
        assert!(refused(tool, &input).is_some(), "{tool} {input}");
    }
}

#[test]
fn what_writes_others_and_what_reads_passes() {
    for (tool, input) in OTHERS.into_iter().flat_map(writes).chain(OURS.into_iter().flat_map(reads)) {
        assert_eq!(refused(tool, &input), None, "{tool} {input}");
    }
}

#[test]
fn a_file_of_a_repository_elsewhere_is_written() {
    let input = json!({"owner": "you", "repo": "x", "path": ".claude/fusebox.json", "content": "{}", "branch": "main"});
    for server in ["github", "plugin_x_gitlab", "bitbucket-cloud"] {
        assert_eq!(refused(&format!("mcp__{server}__create_or_update_file"), &input), None, "{server}");
    }
    for (tool, input) in OURS.into_iter().flat_map(writes) {
        let mut named = input.clone();
        named["owner"] = json!("you");
        named["repo"] = json!("fusebox");
        assert!(refused(tool, &named).is_some(), "a field more changes nothing: {tool} {named}");
    }
}

#[test]
fn an_address_is_read_as_its_server_reads_it() {
    for uri in [
        "file:///home/you/src/fusebox/.claude/fuse%62ox.json",
        "FILE:///home/you/src/fusebox/.claude/fusebox.json",
        "file://localhost/home/you/src/fusebox/%2Eclaude/%66%75sebox.json",
    ] {
        assert!(refused("mcp__ide__write_document", &json!({"uri": uri, "text": "{}"})).is_some(), "{uri}");
    }
    assert_eq!(refused("mcp__ide__write_document", &json!({"uri": "file:///tmp/100%25.txt", "text": "%zz%"})), None);
}

#[test]
fn a_copy_reads_what_it_copies() {
    let ours = ".claude/fusebox.json";
    assert_eq!(refused("mcp__fs__copy_file", &json!({"source": ours, "destination": "/tmp/x"})), None);
    assert!(refused("mcp__fs__copy_file", &json!({"source": "/tmp/x", "destination": ours})).is_some());
}

#[test]
fn a_command_is_read_as_in_a_shell() {
    let refused_commands = [
        json!({"command": "fusebox grant max_turns=+9"}),
        json!({"command": "fusebox", "args": ["resume", "5f0c1d2e"]}),
        json!({"command": "sh", "args": ["-c", "rm -f .claude/fusebox.json"]}),
        json!({"script": "cd .claude && echo '{}' >fusebox.json"}),
        json!({"command": ["fusebox", "off"]}),
        json!({"command": "fusebox", "args": "off"}),
        json!({"process": {"command": "fusebox", "args": ["off"]}}),
        json!({"command": ["cp", "/tmp/x", ".claude/fusebox.json"]}),
    ];
    let run = [
        "mcp__shell__run_command",
        "mcp__desktop-commander__start_process",
        "mcp__shell__run__it",
        "mcp__term__executeShell",
    ];
    for tool in run {
        for input in &refused_commands {
            assert!(refused(tool, input).is_some(), "{tool} {input}");
        }
        for input in [json!({"command": "fusebox status"}), json!({"command": "cat", "args": [".claude/fusebox.json"]})]
        {
            assert_eq!(refused(tool, &input), None, "{tool} {input}");
        }
    }
    assert_eq!(refused("mcp__notes__find", &refused_commands[0]), None, "a tool that runs nothing");
}

#[test]
fn a_deep_field_hides_nothing_beside_it() {
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    let called = [
        ("mcp__shell__run_command", json!({"command": "claude --bare -p x", "z": deep})),
        ("mcp__filesystem__write_file", json!({"path": OURS[0], "content": "x", "z": deep})),
        ("Bash", json!({"command": "claude --bare -p x", "z": deep})),
        ("Write", json!({"file_path": OURS[0], "content": "x", "z": deep})),
    ];
    for (tool, input) in called {
        assert!(refused(tool, &input).is_some(), "{tool}");
    }
    let reads = json!({"command": "claude --bare -p x", "path": OURS[0], "z": deep});
    assert_eq!(refused("mcp__filesystem__read_file", &reads), None);
}
