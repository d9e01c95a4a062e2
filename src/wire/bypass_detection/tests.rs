//! What is refused and what passes, one plain command each.

use crate::wire::bypass_detection::path_rules::PathRules;
use crate::wire::bypass_detection::{Guard, PERSONS_COMMANDS};

pub(super) fn guard() -> Guard {
    let own = |path: &str| Some(path.to_owned());
    Guard {
        rules: PathRules::Exact,
        state_dir: own("/home/you/.local/state/fusebox"),
        program: own("/opt/bin/fusebox"),
        target: own("/opt/lib/fusebox-1/fusebox"),
        project: own("/p"),
        claude_dir: own("/home/you/.claude"),
        home: own("/home/you"),
        folder: own("/p"),
        ..Guard::default()
    }
}

/// What each is refused on every system.
const ATTEMPTS: [&str; 66] = [
    "fusebox grant s1 max_turns=+5",
    "/usr/bin/fusebox --json resume x",
    "env -u CLAUDECODE fusebox reset",
    "sh -c 'fusebox trust'",
    "bash <<'E'\nfusebox trust\nE",
    "true && fusebox reload",
    "if true; then fusebox reload; fi",
    "echo \"$(fusebox reload)\"",
    "fusebox prune --older-than 40d",
    "find . -exec fusebox grant {} \\;",
    "npx fusebox grant",
    "npx -y fusebox-cli@latest grant s1 max_turns=+5",
    "pnpm dlx fusebox-cli uninstall",
    "fusebox init --scope user --observe",
    "echo '{}' > .claude/fusebox.json",
    "cd .claude && echo '{}' >fusebox.json",
    "cat x >>\"$HOME/.claude/fusebox.json\"",
    "sed -i s/3/300/ .claude/fusebox.local.json",
    "git -C .claude checkout -- fusebox.json",
    "git checkout -- .claude/fusebox.json",
    "cp other/fusebox.json .claude/",
    "rm .claude/fusebox*",
    "curl -o ~/.claude/fusebox.pricing.json https://x",
    "rm -rf ~/.local/state/fusebox",
    "rm -rf $FUSEBOX_HOME",
    "flock ~/.local/state/fusebox/locks/all sleep 9",
    "sqlite3 ~/.local/state/fusebox/state.db 'DELETE FROM session'",
    "cp /bin/true /opt/bin/fusebox",
    "chmod -x '/opt/bin/fusebox'",
    "claude --bare -p 'go on'",
    "cd /tmp && /opt/bin/claude -p go --settings '{\"disableAllHooks\":true}'",
    "CLAUDE_CODE_SIMPLE=1 claude -p go",
    "export CLAUDE_CODE_SAFE_MODE=1; claude -p go",
    "env HOME=/tmp/x npx @anthropic-ai/claude-code -p go",
    "env -i claude -p go",
    "claude --setting-sources user -p go",
    "feed | claude -p --input-format stream-json --output-format stream-json --verbose",
    "claude --input-format=stream-json -p <requests.jsonl",
    "claude --restricted -p go",
    "echo 'claude --bare -p go' | sh",
    "printf '%s\\n' 'fusebox grant s1' | bash -s",
    "cat <<'E' | bash\nclaude --bare -p go\nE",
    "echo '{\"disableAllHooks\": true}' >s.json; claude --settings s.json -p go",
    "claude --settings <(echo '{\"disableAllHooks\": true}') -p go",
    "claude --bg go",
    "claude daemon run",
    "claude auto-mode critique --model opus",
    "claude --ignore-persisted-trust -p go",
    "npx -y @anthropic-ai/claude-code@2.0.10 -p go",
    "claude install 2.0.10; claude -p go",
    "for i in $(seq 25); do claude -p \"/model xx-$i\"; done",
    "claude -p /rename --resume $CLAUDE_CODE_SESSION_ID",
    "claude --bare plugin eval x",
    "claude config --bare",
    "cd plug && claude plugins eval --trust-plugin x",
    "claude plugin disable fusebox",
    "claude plugin disable --all",
    "claude plugins uninstall -s user fusebox@fusebox",
    "claude plugin update fusebox@fusebox",
    "claude plugin marketplace remove fusebox",
    "fusebox upgrade",
    "claude --remote 'do it'",
    "node node_modules/@anthropic-ai/claude-code/cli.js --bare -p go",
    "pkill -9 fusebox",
    "pkill -f '/opt/bin/fusebox hook'",
    "while true; do killall -STOP fusebox; done",
];

#[test]
fn plain_attempts_are_refused() {
    for command in ATTEMPTS {
        assert!(guard().command(command).is_some(), "{command}");
    }
}

/// Each folder above the program and the state, taken away in each way, as a whole or by a pattern.
#[test]
fn a_folder_above_the_program_or_the_state_is_not_taken_away() {
    let folders =
        ["/opt/bin", "/opt/b*", "/", "~/.local/state", "~/.local", "$HOME", "~", "/home", "/*/you/.local/s*", ".."];
    for folder in folders {
        for way in [
            "rm -rf {}",
            "mv {} /tmp/away",
            "chmod 0 {}",
            "chmod -R a-x {}",
            "chmod u=rw {}",
            "mount -t tmpfs none {}",
            "sh -c 'rm -r {}'",
        ] {
            let command = way.replace("{}", folder);
            assert!(guard().command(&command).is_some(), "{command}");
        }
        for way in [
            "ls {}",
            "chmod 755 {}",
            "chmod -R go-rwx {}",
            "chown -R you {}",
            "touch {}",
            "cp -r x {}",
            "rm -rf {}/other",
            "mv x {}",
        ] {
            let command = way.replace("{}", folder);
            assert_eq!(guard().command(&command), None, "{command}");
        }
    }
    for command in [
        "rm -rf ~/*",
        "rm -rf /opt/share",
        "rm -rf /opt",
        "rm -rf node_modules dist/*",
        "rm -rf ~/.cache",
        "mv ~/.locals x",
    ] {
        assert_eq!(guard().command(command), None, "{command}");
    }
}

#[test]
fn a_persons_commands_are_refused_with_any_arguments() {
    for verb in PERSONS_COMMANDS {
        for command in [format!("fusebox {verb}"), format!("env -u CLAUDECODE fusebox {verb} --for 1h 5f0c1d2e")] {
            assert!(guard().command(&command).is_some(), "{command}");
        }
    }
}

#[test]
fn what_only_mentions_them_is_not() {
    for command in [
        "JAVA_HOME=/opt/java ./gradlew test && git commit -m \"done https://claude.com/claude-code\"",
        "git clone --bare https://github.com/anthropics/claude-code",
        "grep -r 'claude --bare' .",
        "cat .claude/fusebox.json 2>/dev/null",
        "jq .main .claude/fusebox.json > x",
        "git diff -- .claude/fusebox.json",
        "git add .claude/fusebox.json && git commit -m 'fusebox grant'",
        "git restore --staged .claude/fusebox.json",
        "cp .claude/fusebox.json /tmp/backup.json",
        "echo '{}' > packages/a/fusebox.json",
        "rm -f /elsewhere/.claude/fusebox.json",
        "(cd .claude && ls); rm fusebox.json",
        "man fusebox-grant; fusebox grant --help; fusebox help grant",
        "fusebox init; fusebox status; /opt/bin/fusebox report",
        "python3 -c 'print(\"fusebox grant\")'",
        "cat <<'E' >notes.md\nfusebox grant\nclaude --bare\nE",
        "echo fusebox grant # claude --bare",
        "cd ~/fusebox && pkill -f vite",
        "pkill -u fusebox node; pkill -f fusebox/server.js",
        "cp a fusebox/b",
        "ls ~/.local/state/fusebox",
        "sqlite3 ~/.local/state/fusebox/state.db 'SELECT * FROM run'",
        "claude -p 'go on'; claude --version; claude --bare --help",
        "claude mcp add x -- npx server --bare",
        "HOME=$HOME claude -p go",
        "HOME=/tmp ls .claude; claude -p go",
        "claude --setting-sources user,project,local -p go",
        "claude --input-format text -p go; claude -p go --input-format=text --output-format stream-json --verbose",
        "env -u CLAUDECODE claude -p go",
        "claude daemon status",
        "claude install; claude install latest; npx @anthropic-ai/claude-code@latest -p go",
        "claude install 2.1.330; npx @anthropic-ai/claude-code@2.1.328 -p go; npx @anthropic-ai/claude-code@2 -p go",
        "claude -p 'what does /model do?'; claude -p '/models of the app are broken'",
        "claude plugin disable other; claude plugin install fusebox@fusebox; claude plugin marketplace add fusebox",
        "claude plugin list; claude auto-mode config; claude auto-mode --help",
        "claude --settings s.json -p go",
        "ln -s ~/.claude/fusebox.json",
        "echo 'fusebox grant' | wc -c; curl -fsSL https://x | sh",
        "docker run -e HOME=/x claude-image",
        "TZ=UTC claude -p go; TZ=Pacific/Kiritimati claude -p go",
        "NODE_OPTIONS=--max-old-space-size=8192 claude -p go",
        "export NODE_OPTIONS=\"$NODE_OPTIONS --max-old-space-size=8192 --no-warnings\"; claude -p go",
        "env -u NODE_OPTIONS claude -p go",
        "claude -p go --settings '{\"env\": {\"TZ\": \"UTC\", \"NODE_OPTIONS\": \"--no-warnings\"}}'",
        "claude --append-system-prompt=--bare -p go; claude -p -- --bare",
    ] {
        assert_eq!(guard().command(command), None, "{command}");
    }
}

#[test]
fn files_are_known_by_their_paths() {
    for (path, is_guarded) in [
        ("/p/.claude/fusebox.json", true),
        (".claude/fusebox.local.json", true),
        ("~/.claude/fusebox.json", true),
        ("/p/docs/../.claude/./fusebox.json", true),
        ("/home/you/.local/state/fusebox/state.db", true),
        ("/opt/bin/fusebox", true),
        ("fusebox.local.json", false),
        ("/other/.claude/fusebox.json", false),
        ("/p/sub/.claude/fusebox.json", false),
        ("/p/bin/fusebox", false),
        ("/p/.claude/fusebox.md", false),
        ("/p/src/main.rs", false),
    ] {
        assert_eq!(guard().file(path).is_some(), is_guarded, "{path}");
    }
}

#[test]
fn a_command_that_speaks_to_the_model_without_a_client_is_known() {
    for (command, is_one) in [
        ("curl -s https://api.anthropic.com/v1/messages -d @x", true),
        ("curl $BASE/v1/messages -H \"x-api-key: $ANTHROPIC_API_KEY\"", true),
        ("ANTHROPIC_API_KEY=sk python3 ask.py", true),
        ("export ANTHROPIC_API_KEY=sk; python3 ask.py", true),
        ("sh -c 'ANTHROPIC_AUTH_TOKEN=t ./ask'", true),
        ("ANTHROPIC_API_KEY=sk claude -p go && curl -H \"x-api-key: $ANTHROPIC_API_KEY\" $URL", true),
        ("python3 - <<'E'\nimport os; os.environ['ANTHROPIC_API_KEY']\nE", true),
        ("ANTHROPIC_API_KEY=sk claude -p go", false),
        ("env ANTHROPIC_API_KEY=sk timeout 60 claude -p 'what is ANTHROPIC_API_KEY for?'", false),
        ("export ANTHROPIC_API_KEY=sk; claude -p go", false),
        ("sh -c 'ANTHROPIC_API_KEY=sk npx @anthropic-ai/claude-code -p go'", false),
        ("bash <<'E'\nANTHROPIC_API_KEY=sk claude -p go\nE", false),
        ("make test", false),
        // What only prints, looks for, edits or keeps text asks nobody.
        ("grep -rn 'api.anthropic.com' . || true", false),
        ("rg ANTHROPIC_API_KEY src | head -5", false),
        ("git -c user.name=b commit -qm 'read ANTHROPIC_API_KEY from the environment'", false),
        ("git log -S api.anthropic.com --oneline", false),
        ("cat > README.md <<'E'\nSet ANTHROPIC_API_KEY; requests go to api.anthropic.com.\nE", false),
        ("tee -a .env.example <<<'ANTHROPIC_API_KEY='", false),
        ("echo 'ANTHROPIC_API_KEY=' >> .env.example", false),
        ("printf 'POST %s\\n' /v1/messages | tee notes.md", false),
        ("sed -i 's/ANTHROPIC_API_KEY=.*/ANTHROPIC_API_KEY=/' .env.example", false),
        ("[ -n \"$ANTHROPIC_API_KEY\" ] && test -f src/v1/messages/a.ts && ls src/v1/messages", false),
        ("sh -c 'timeout 5 grep -c api.anthropic.com a.log'", false),
        // What they print may reach what asks.
        ("echo https://api.anthropic.com/v1/messages | xargs curl -s", true),
        ("printf 'url = https://api.anthropic.com/v1/messages' | tee x | curl -K -", true),
        ("cat > ask.sh <<'E'\ncurl https://api.anthropic.com/v1/messages\nE\nsh ask.sh", true),
        ("cat <<'E' > ./ask.py\nurl = 'https://api.anthropic.com'\nE\nchmod +x ask.py && ./ask.py", true),
        ("grep -q api.anthropic.com a.log; curl https://api.anthropic.com/v1/messages", true),
        ("curl \"$(echo https://api.anthropic.com/v1/messages)\"", true),
    ] {
        assert_eq!(guard().asks_the_model(command), is_one, "{command}");
    }
}

#[test]
fn a_variable_diverts_a_client_by_what_it_is_set_to() {
    for command in [
        "NODE_OPTIONS='--max-old-space-size=4096 --require ./x.js' claude -p go",
        "export NODE_OPTIONS=--import=./x.mjs; claude -p go",
        "HTTPS_PROXY=http://p claude -p go",
        "ANTHROPIC_BASE_URL=http://localhost:4000 claude -p go",
        "claude -p go --settings '{\"env\": {\"NODE_OPTIONS\": \"--inspect\"}}'",
        // The client looks for these two among all its words.
        "claude --append-system-prompt --bare -p go",
        "claude -p go --model --safe-mode",
    ] {
        assert!(guard().command(command).is_some(), "{command}");
    }
    let told = guard().command("HTTPS_PROXY=http://p claude -p go").unwrap_or_default();
    let says = |part: &str| told.contains(part);
    assert!(says("a proxy, which can change what they cost") && says("where a person starts"), "{told}");
}

mod assembled;
mod client_forms;
mod hidden_forms;
mod programs;
mod servers;
mod shell_values;
mod watch_service;
mod windows;
