//! More values of variables than are read, folders that variables keep, and files that a client is told to write.

use crate::wire::bypass_detection::tests::guard;

#[test]
fn more_values_than_are_read_are_refused_where_they_may_be_ours() {
    let words: String = (0..3_000).map(|at| format!("w{at} ")).collect();
    let command = format!("for x in {words} ~/.claude/fusebox.json; do rm $x; done");
    assert!(guard().command(&command).is_some());
    assert_eq!(guard().command(&format!("for x in {words}; do rm $x; done")), None);
    let words: String = (0..300).map(|at| format!("w{at} ")).collect();
    assert_eq!(guard().command(&format!("for x in {words}; do echo claude $x; done")), None);
}

#[test]
fn a_file_that_a_client_writes_is_one_that_is_written() {
    let refused = [
        "claude -p x --debug-file ~/.claude/settings.json",
        "claude -p x --debug-file=.claude/settings.local.json",
        "claude --debug-file ~/.claude/fusebox.json -p x",
        "claude -p --debug-file=/opt/bin/fusebox x",
        "cd ~/.local/state && claude -p x --debug-file fusebox/state.db",
        "claude mcp list --debug-file .claude/fusebox.json",
        "timeout 9 npx @anthropic-ai/claude-code -p x --debug-file .claude/fusebox.json",
        "env -C .claude claude --debug-file fusebox.json -p x",
        "x=.claude/fusebox.json; claude --debug-file $x -p x",
        "claude -p x -- --debug-file .claude/fusebox.json",
        "CLAUDE_CODE_DEBUG_LOGS_DIR=~/.claude/fusebox.json claude -p x",
        "export CLAUDE_CODE_DEBUG_LOGS_DIR=~/.claude/settings.json; claude -p x",
        "claude mcp add y -- claude mcp serve --debug-file ~/.claude/fusebox.json",
    ];
    let missed: Vec<&str> = refused.into_iter().filter(|command| guard().command(command).is_none()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    for command in [
        "claude -p x --debug-file /tmp/debug.log",
        "claude -p x --debug-file=debug.txt --model opus",
        "CLAUDE_CODE_DEBUG_LOGS_DIR=/tmp/logs claude -p x",
        "claude -p 'what is --debug-file for?'",
        "claude --debug -p x",
    ] {
        assert_eq!(guard().command(command), None, "{command}");
    }
}

/// A variable keeps the folder that it was given, wherever its shell goes.
#[test]
fn a_folder_that_is_kept_is_the_one_at_that_time() {
    let gives = [
        "S=$PWD",
        "S=${PWD}",
        "export S=\"$PWD\"",
        "S=($PWD)",
        "declare S=$PWD",
        "T=$PWD; S=$T",
        "S=$PWD/x; S=${S%/x}",
    ];
    for gives in gives {
        for (enters, uses) in [
            ("true", "cd /tmp; echo {} > $S/.claude/fusebox.json"),
            ("cd ~/.claude", "cd /tmp; rm \"$S/fusebox.json\""),
            ("cd ~/.local", "pushd /tmp; rm -rf $S/state/fusebox"),
            ("cd /", "cd /tmp; sh -c \"rm -rf $S/p/.claude/fusebox.json\""),
            // Where it is not sure that its shell got there, it may be another one.
            ("cd /nowhere", "cd /p; rm $S/.claude/fusebox.json"),
            ("false && cd /tmp", "cd /p; rm $S/.claude/fusebox.json"),
            ("f() { cd /tmp; }", "cd /p; rm $S/.claude/fusebox.json"),
            ("cd /tmp &", "cd /p; rm $S/.claude/fusebox.json"),
        ] {
            let command = format!("{enters}; {gives}; {uses}");
            assert!(guard().command(&command).is_some(), "{command}");
        }
        for (enters, uses) in [
            ("cd /tmp/build", "cd / && rm -rf \"$S\""),
            ("mkdir -p /tmp/q; cd /tmp/q", "make && cd ~ && rm -r $S"),
            ("cd /tmp/q", "cd ~/.claude && rm -f $S/fusebox.json"),
        ] {
            let command = format!("{enters} && {} && {uses}", gives.replace("; ", " && "));
            assert_eq!(guard().command(&command), None, "{command}");
        }
    }
    for command in [
        "cd ~/.claude; S=$(pwd); cd /tmp; rm $S/fusebox.json",
        "for S in $PWD; do cd /tmp; echo {} > $S/.claude/fusebox.json; done",
        "cd /tmp; OLD=$OLDPWD; cd ~; rm $OLD/.claude/fusebox.json",
        "for d in .claude /tmp; do cd $d; echo {} > $PWD/fusebox.json; done",
        "x=.claude; [ -d y ] && x=/tmp; cd $x; echo {} > $PWD/fusebox.json",
        "f() { cd /tmp; }; g() { echo {} > $PWD/.claude/fusebox.json; }; g",
        "python3 -c \"import os; os.chdir('/tmp') # claude\"; rm $PWD/.claude/fusebox.json",
        "popd; S=$PWD; cd /p; rm $S/.claude/fusebox.json",
        "cd /tmp; PWD=/p; rm $PWD/.claude/fusebox.json",
        "cd /tmp; PWD=fusebox; $PWD grant 5",
        "cd /tmp; PWD=; fuse${PWD}box grant 5",
    ] {
        assert!(guard().command(command).is_some(), "{command}");
    }
    for command in [
        "cd /tmp/build; D=$(pwd); cd ~; rm -rf \"$D\"",
        "env -C /tmp sh -c 'rm -r $PWD/.claude'",
        "(cd /tmp; rm -r $PWD/.claude); ls $PWD",
        "pushd /tmp/a; make || { popd; exit 1; }; rm -rf .claude; popd",
        "PWDX=/tmp/x; cd /tmp; S=$PWDX; cd ~; rm -rf $S",
        "docker run -v \"$PWD:/app\" x sh -c 'cd /app && make'",
    ] {
        assert_eq!(guard().command(command), None, "{command}");
    }
}

#[test]
fn the_root_is_told_by_its_name() {
    for command in ["rm -rf /", "cd /; rm -rf $PWD"] {
        let told = guard().command(command).unwrap_or_default();
        assert!(told.starts_with("`/`, the folder"), "{command}: {told}");
    }
}
