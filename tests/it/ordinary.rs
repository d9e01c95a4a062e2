//! Ordinary work is never refused: commands as people publish them, with and without mentions of Fusebox and the client, and
//! edits of files that are not this session's. What is an attempt is refused, however it is wrapped.

mod attempts;
mod elsewhere;
mod growth;
mod large;
mod programs;
mod served;

use std::collections::BTreeSet;

use fusebox::domain::event::Intent;
use fusebox::domain::stored::stable_hash;
use fusebox::wire::bypass_detection::Guard;
use fusebox::wire::bypass_detection::path_rules::PathRules;
use fusebox::wire::shell::invocation::Invocation;
use fusebox::wire::shell::{self, Part};
use fusebox::wire::tool_input::ToolInput;
use fusebox::wire::tools;
use serde_json::{json, value::to_raw_value};

use crate::world::TestWorld;

/// The commands, one a line.
const COMMANDS: &str = include_str!("corpus/commands.txt");

/// Commands that mention the client, or projects that are called like this one.
const MENTIONING: &str = include_str!("corpus/mentions.txt");

/// One half of the corpus. The second was not looked at while the guard was written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    First,
    HeldBack,
}

fn commands(half: Half) -> Vec<String> {
    let lines =
        COMMANDS.lines().chain(MENTIONING.lines()).filter(|line| !line.starts_with('#') && half_of(line) == half);
    lines.map(unescaped).collect()
}

/// Splits by a hash of the line that stays the same, so that the halves stay what they are.
fn half_of(line: &str) -> Half {
    if (stable_hash::of(line.as_bytes()) >> 32) & 1 == 0 { Half::First } else { Half::HeldBack }
}

fn unescaped(line: &str) -> String {
    let mut text = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => text.push(match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                other => other.unwrap_or('\\'),
            }),
            (c, _) => text.push(c),
        }
    }
    text
}

/// What is this session's own: its project has the name that the program has.
fn guard() -> Guard {
    let own = |path: &str| Some(path.to_owned());
    Guard {
        rules: PathRules::default(),
        state_dir: own("/home/you/.local/state/fusebox"),
        program: own("/home/you/.cargo/bin/fusebox"),
        target: None,
        project: own("/home/you/src/fusebox"),
        claude_dir: own("/home/you/.claude"),
        home: own("/home/you"),
        folder: own("/home/you/src/fusebox"),
        ..Guard::default()
    }
}

/// Says why a tool call is refused.
fn refused(tool: &str, input: &serde_json::Value) -> Option<String> {
    let (json, guard) = (to_raw_value(input).unwrap(), guard());
    let input = ToolInput::new(&json);
    let may_mention = tools::may_mention(tool, Some(&input), &guard);
    match tools::intent(tool, Some(&input), &guard, may_mention) {
        Intent::Tampering { what } => Some(what),
        _ => None,
    }
}

fn refused_command(command: &str) -> Option<String> {
    refused("Bash", &json!({"command": command}))
}

/// Says which of these commands are refused.
fn assert_none_is_refused(commands: impl IntoIterator<Item = String>) {
    let refused: Vec<String> = commands
        .into_iter()
        .filter_map(|command| refused_command(&command).map(|what| format!("{what}: {command}")))
        .collect();
    assert!(refused.is_empty(), "{} are refused:\n{}", refused.len(), refused[..refused.len().min(40)].join("\n"));
}

#[test]
fn the_corpus_is_broad() {
    let all: Vec<String> = [Half::First, Half::HeldBack].into_iter().flat_map(commands).collect();
    let distinct: BTreeSet<&String> = all.iter().collect();
    let mut programs = BTreeSet::new();
    for command in &all {
        for part in shell::parts(command) {
            let Part::Command(simple) = part else { continue };
            let names: Vec<String> = Invocation::of(&simple).iter().map(|it| it.name().to_owned()).collect();
            programs.extend(names.into_iter().filter(|name| is_name(name)));
        }
    }
    assert!(distinct.len() >= 4000 && distinct.len() == all.len(), "{} of {} commands", distinct.len(), all.len());
    assert!(programs.len() >= 900, "{} programs: {programs:?}", programs.len());
}

/// Whether a word can be a program's name: it starts with a letter, and nothing in it is for a shell to expand.
fn is_name(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte);
    word.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase()) && word.bytes().all(plain)
}

#[test]
fn ordinary_commands_pass() {
    assert_none_is_refused(commands(Half::First));
}

#[test]
fn ordinary_commands_that_were_held_back_pass() {
    assert_none_is_refused(commands(Half::HeldBack));
}

/// What a document, a message or a pattern may say: each would be refused as a command.
const MENTIONS: [&str; 12] = [
    "fusebox grant s1 max_turns=+5",
    "fusebox uninstall",
    "fusebox init --observe",
    "claude --bare -p go",
    "CLAUDE_CODE_SIMPLE=1 claude -p go",
    "claude --settings {\"disableAllHooks\":true} -p go",
    "npx @anthropic-ai/claude-code --safe-mode",
    "rm -rf ~/.local/state/fusebox",
    "echo {} > .claude/fusebox.json",
    "sed -i s/3/99/ ~/.claude/fusebox.json",
    "pkill -9 fusebox",
    "cp /bin/true /home/you/.cargo/bin/fusebox",
];

/// Where a mention is data: `§` is one, `'§'` and `"§"` in quotes, `¶` an ordinary command.
const AS_DATA: [&str; 20] = [
    "git commit -m 'Say what § does' && ¶",
    "git commit -m \"Mention §\" -m 'https://claude.com/claude-code'; ¶",
    "git commit -F - <<'END'\n§\nEND\n¶",
    "git tag -a v1 -m '§'\n¶",
    "grep -rn '§' docs || ¶",
    "rg --fixed-strings \"§\" .claude; ¶",
    "cat <<'END' >docs/notes.md\n§\nEND\n¶",
    "cat >README.md <<END\n§\nEND\n¶",
    "tee -a notes.txt <<<'§' && ¶",
    "printf '%s\\n' '§' >>notes.md; ¶",
    "echo '§' | wc -c; ¶",
    "# §\n¶",
    "true # §\n¶",
    "TOOL_HOME='§' true; ¶",
    "export NOTE_HOME='§'\n¶",
    "python3 -c 'print(r\"\"\"§\"\"\")'; ¶",
    "jq --arg text '§' '. + {$text}' .claude/fusebox.json >out.json; ¶",
    "[ \"$1\" = '§' ] && ¶",
    "gh pr create --title '§' --body \"§\"; ¶",
    "sed -n '/§/p' .claude/fusebox.json 2>/dev/null; ¶",
];

/// Puts a mention into a form, in quotes where that has some.
fn with_mention(form: &str, mention: &str, command: &str) -> String {
    let single = mention.replace('\'', "'\\''");
    let double = mention.replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = String::new();
    let mut quote = None;
    for c in form.chars() {
        match (c, quote) {
            ('§', None) => text.push_str(mention),
            // What is substituted within quotes has quotes of its own.
            ('§', Some('"')) if text.ends_with("$( ") => text.push_str(mention),
            ('§', Some('\'')) => text.push_str(&single),
            ('§', Some(_)) => text.push_str(&double),
            ('¶', None) => text.push_str(command),
            _ => {
                let toggles = matches!(c, '\'' | '"') && quote.is_none_or(|open| open == c);
                quote = if toggles { quote.map_or(Some(c), |_| None) } else { quote };
                text.push(c);
            }
        }
    }
    text
}

/// Every form with every mention, and each command with one of them.
fn mutations(half: Half) -> impl Iterator<Item = String> {
    let pairs = AS_DATA.iter().flat_map(|form| MENTIONS.map(|mention| with_mention(form, mention, "make")));
    let each = commands(half).into_iter().enumerate().flat_map(|(at, command)| {
        (0..3).map(move |turn| {
            let at = at * 3 + turn;
            with_mention(AS_DATA[at % AS_DATA.len()], MENTIONS[at / AS_DATA.len() % MENTIONS.len()], &command)
        })
    });
    pairs.chain(each)
}

#[test]
fn commands_that_mention_what_is_refused_pass() {
    assert_none_is_refused(mutations(Half::First));
}

#[test]
fn commands_held_back_that_mention_what_is_refused_pass() {
    assert_none_is_refused(mutations(Half::HeldBack));
}

#[test]
fn edits_of_other_files_pass() {
    // Files of these names are others' elsewhere; around them, every path that the corpus mentions.
    let names = ["fusebox.json", "fusebox.local.json", "fusebox.pricing.json", "fusebox", "state.db"];
    let folders = [
        "/home/you/src/fusebox",
        "/home/you/src/other/.claude",
        "/home/you/src/fusebox/docs/.claude",
        "/tmp",
        "/home/you",
    ];
    let elsewhere = folders.iter().flat_map(|folder| names.map(|name| format!("{folder}/{name}")));
    let words = commands(Half::First).into_iter().flat_map(|command| {
        let words = command.split_whitespace().map(str::to_owned).filter(|word| word.contains('/')).collect::<Vec<_>>();
        words.into_iter().map(|word| format!("/home/you/src/fusebox/{word}"))
    });
    for path in elsewhere.chain(words) {
        let called = [
            ("Write", json!({"file_path": path, "content": MENTIONS[0]})),
            ("Edit", json!({"file_path": path, "old_string": MENTIONS[3], "new_string": MENTIONS[8]})),
            ("NotebookEdit", json!({"notebook_path": path, "new_source": MENTIONS[5]})),
        ];
        for (tool, input) in called {
            assert_eq!(refused(tool, &input), None, "{tool} {path}");
        }
    }
}

#[test]
fn reading_is_never_refused() {
    let files = [
        ".claude/fusebox.json",
        "~/.claude/fusebox.local.json",
        "$HOME/.claude/fusebox.json",
        "~/.local/state/fusebox/state.db",
        "/home/you/.cargo/bin/fusebox",
    ];
    let reads = [
        "cat F 2>/dev/null",
        "jq .session F > /tmp/x",
        "git diff -- F",
        "git log -p F | head",
        "git add F && git commit -m 'Limit the work'",
        "ls -l F; stat F; file F; wc -c <F",
        "cp F /tmp/copy",
        "sed -n 1,5p F",
        "diff F other.json >difference.txt || true",
        "test -e F && echo there",
        "sha256sum F | tee sums.txt",
        "python3 -m json.tool F",
        "tar czf backup.tgz F",
        "rsync -a F backup/",
        "head -c 20 F >&2",
    ];
    assert_none_is_refused(files.iter().flat_map(|file| reads.map(|read| read.replace('F', file))));
    for file in files {
        for tool in ["Read", "Grep", "Glob", "LS"] {
            assert_eq!(
                refused(tool, &json!({"file_path": file, "path": file, "pattern": file})),
                None,
                "{tool} {file}"
            );
        }
    }
}

#[test]
fn the_hook_answers_ordinary_commands_with_nothing() {
    let world = TestWorld::new();
    let every = 61;
    let sample = commands(Half::First).into_iter().chain(mutations(Half::First)).step_by(every);
    for (at, command) in sample.enumerate() {
        let call = json!({
            "session_id": "s1", "transcript_path": "", "cwd": world.path("project"), "prompt_id": "p1",
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command},
            "tool_use_id": format!("toolu_{at}"),
        });
        assert_eq!(world.hook(call.to_string()).ok(), "", "{command}");
    }
}
