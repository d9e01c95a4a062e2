//! The forms in which a plain command starts a client: what is a command of the client's, and what runs it.

use crate::wire::bypass_detection::tests::guard;

fn missed(commands: &[&str]) -> Vec<String> {
    commands.iter().filter(|command| guard().command(command).is_none()).map(|it| (*it).to_owned()).collect()
}

fn refused(commands: &[&str]) -> Vec<String> {
    commands.iter().filter_map(|command| Some(format!("{command}: {}", guard().command(command)?))).collect()
}

/// With `-p` client 2.1.330 takes a command's word for the prompt, and so it does with some of them behind an option.
#[test]
fn a_word_that_is_the_prompt_is_no_command_of_the_client() {
    let missed = missed(&[
        "echo JOB | claude --bare agents -p",
        "echo JOB | claude agents --bare --print",
        "claude update --bare -p --append-system-prompt JOB",
        "claude mcp -p --safe-mode",
        "claude doctor -p --setting-sources ''",
        "claude stop -p --settings '{\"disableAllHooks\":true}'",
        "CLAUDE_CODE_SAFE_MODE=1 claude logs -p",
        "CLAUDE_CODE_SAFE_MODE=1 claude mcp add x npx -p y",
        "env HOME=/tmp/x claude auth -dp",
        "HOME=/tmp/x claude agents -- -p",
        "export CLAUDE_CODE_SIMPLE=1; claude plugin list -p",
        "claude --bare logs",
        "claude --bare daemon status",
        "env -i claude --debug mcp list",
    ]);
    assert!(missed.is_empty(), "{missed:#?}");
    for (command, starts) in [
        ("claude agents -p", true),
        ("claude mcp -p", true),
        ("claude --bare logs", true),
        // Its screen starts sessions of their own.
        ("claude agents", true),
        ("claude mcp add x -- npx -p y", false),
        ("claude --bare --help", false),
        ("claude --version -p", false),
        ("claude daemon status -p", false),
    ] {
        assert_eq!(!guard().client_starts(command).is_empty(), starts, "{command}");
    }
}

#[test]
fn commands_of_the_client_that_ask_the_model_are_found_behind_its_options() {
    let missed = missed(&[
        "(cat calls.jsonl; sleep 4) | CLAUDE_CODE_SAFE_MODE=1 claude mcp serve",
        "claude mcp serve <calls.jsonl",
        "claude --model opus mcp serve",
        "claude -- mcp serve --debug",
        "claude --verbose --model opus plugin eval x",
        "claude --model opus plugin disable fusebox",
    ]);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn commands_of_the_client_that_start_no_agent_pass() {
    let refused = refused(&[
        "CLAUDE_CONFIG_DIR=/tmp/x claude mcp list; HOME=/tmp/x claude update",
        "HOME=/tmp/x claude mcp add x -e A=1 -- npx -p y --bare",
        "HOME=/tmp/x claude mcp add db -- docker run -p 5432:5432 db",
        "claude mcp add own -- claude mcp serve",
        "claude mcp add --transport http --scope project x https://x",
        "claude mcp add-json x '{\"command\": \"claude\", \"args\": [\"mcp\", \"serve\"]}'",
        "claude mcp serve --help; claude mcp help serve; claude plugin eval -h; claude --help mcp serve",
        "claude agents -p; claude mcp -p 'go on'",
        "claude -p 'start an mcp serve process'; claude -p 'plugin eval'",
        "claude --model opus plugin disable other",
        "HOME=/tmp/x claude --version",
    ]);
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn a_client_is_known_whatever_program_runs_it() {
    let missed = missed(&[
        "$(which claude) --bare -p JOB",
        "`command -v claude` --bare -p JOB",
        "\"$(type -p claude)\" --bare -p JOB",
        "node $(which claude) --bare -p JOB",
        "bun run node_modules/@anthropic-ai/claude-code/cli.js --bare -p JOB",
        "/proc/$CLAUDE_PID/exe --bare -p JOB",
        "\"/proc/$PPID/exe\" --bare -p JOB",
        "npm exec @anthropic-ai/claude-code -- --bare -p JOB",
        "npm x claude -- --bare -p JOB",
        "npx -yp @anthropic-ai/claude-code claude --bare -p JOB",
        "deno run -A npm:@anthropic-ai/claude-code --bare -p JOB",
        "nix run nixpkgs#claude-code -- --bare -p JOB",
        "nix-shell -p claude-code --run 'claude --bare -p JOB'",
        "nix shell nixpkgs#claude-code --command claude --bare -p JOB",
        "volta run --node 22 claude --bare -p JOB",
        "mise x node@22 -- claude --bare -p JOB",
        "perf stat -e cycles claude --bare -p JOB",
        "perf record -F 99 -g -- claude --bare -p JOB",
        "setpriv --no-new-privs claude --bare -p JOB",
        "setpriv --reuid 1000 --clear-groups claude --bare -p JOB",
        "choom -n 5 -- claude --bare -p JOB",
        "setarch -R claude --bare -p JOB",
        "setarch x86_64 -R claude --bare -p JOB",
        "x86_64 claude --bare -p JOB",
        "fakeroot -- claude --bare -p JOB",
        "screen -dmS a claude --bare -p JOB",
        "bwrap --dev-bind / / --setenv A 1 claude --bare -p JOB",
        "bwrap --bind / / --proc /proc --unshare-all -- claude --bare -p JOB",
        "start-stop-daemon --start --exec /usr/bin/claude -- --bare -p JOB",
        "start-stop-daemon -S -b -x /usr/bin/claude -- --bare -p JOB",
        "daemonize -c /tmp claude --bare -p JOB",
        "systemd-inhibit --what=idle claude --bare -p JOB",
        "numactl -C 0 claude --bare -p JOB",
        "uclampset -m 5 claude --bare -p JOB",
        "catchsegv claude --bare -p JOB",
        "rlwrap claude --bare",
        "cpulimit -l 10 -- claude --bare -p JOB",
        "ls | entr claude --bare -p JOB",
        "ls | entr -rs 'claude --bare -p JOB'",
        "gdb -batch -ex run --args claude --bare -p JOB",
        "xterm -T x -e claude --bare",
        "coproc claude --bare -p JOB",
        "hyperfine -N true 'claude --bare -p JOB'",
        "env -iu X claude -p JOB",
        "mapfile -C 'claude --bare -p JOB #' -c 1 x <<<a",
        "split --filter='claude --bare -p JOB' x",
        "script --command='claude --bare -p JOB' /dev/null",
        "at now <<<'claude --bare -p JOB'",
        "echo 'claude --bare -p JOB' | at now",
        ". /dev/stdin <<<'claude --bare -p JOB'",
        "echo 'claude --bare -p JOB' | bash /dev/stdin",
    ]);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_client_with_its_hooks_passes_below_each_of_them() {
    let refused = refused(&[
        "$(which claude) -p go; npm exec @anthropic-ai/claude-code -- -p go",
        "perf stat -r 3 claude -p go; setarch -R claude -p go; screen -dmS a claude -p go",
        "bwrap --bind / / claude -p go; start-stop-daemon --start --exec /usr/bin/claude -- -p go",
        "npm exec -- prettier --bare claude; npx -p claude-kit tool --bare",
        "mise x node@22 -- npm test -- --bare claude; nix run nixpkgs#hello -- --bare claude",
        "readlink /proc/$CLAUDE_PID/exe; ls -l /proc/$PPID/exe --bare",
        "deno run -A scripts/claude.ts --bare; bun run claude --bare; node tools/claude.js --bare",
        "source claude.sh --bare; . venv/claude/activate --bare -c x",
        "gdb -batch -ex 'print claude' --args ./x --bare",
    ]);
    assert!(refused.is_empty(), "{refused:#?}");
}
