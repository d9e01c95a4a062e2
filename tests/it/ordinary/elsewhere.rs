//! What has a text run elsewhere, or with another user's home, and a project's folder that holds no limits.

use fusebox::wire::bypass_detection::Guard;

use crate::ordinary::guard;

/// Ways to put the whole of the project's folder in place.
const REPLACED: [&str; 7] = [
    "git checkout HEAD~1 -- .claude",
    "git checkout main -- .claude/",
    "git restore --source=HEAD~1 .claude",
    "git stash push .claude",
    "cp -r template/.claude .",
    "tar xf x.tgz .claude",
    "rm -rf .claude",
];

#[test]
fn a_projects_folder_without_limits_is_an_ordinary_one() {
    let says = |holds: fn(&str) -> bool| Guard { holds_limits: Some(holds), ..guard() };
    for command in REPLACED {
        assert_eq!(says(|_| false).command(command), None, "{command}");
        assert!(says(|folder| folder == "/home/you/src/fusebox/.claude").command(command).is_some(), "{command}");
        let of_user = command.replace(".claude", "~/.claude");
        if !of_user.starts_with("cp") && !of_user.starts_with("tar") {
            assert!(says(|_| false).command(&of_user).is_some(), "{of_user}");
        }
    }
    for command in ["rm .claude/fusebox.json", "echo {} >.claude/fusebox.local.json", "cp x/fusebox.json .claude"] {
        assert!(says(|_| false).command(command).is_some(), "{command}");
    }
}

#[test]
fn what_is_typed_or_scheduled_elsewhere_is_read_as_a_command() {
    for (way, ordinary) in [
        ("tmux -L own send-keys -t person \"§\" Enter", true),
        ("tmux send -t 0 -l '§'", true),
        ("tmux set-buffer '§'", true),
        ("screen -S person -X stuff '§\n'", true),
        ("kitty @ send-text --match id:1 '§'", true),
        ("wezterm cli send-text --pane-id 1 '§'", true),
        ("zellij action write-chars '§'", true),
        ("xdotool type --delay 5 '§'", true),
        ("xdotool search --name shell type '§'", true),
        ("wtype '§'", true),
        ("echo '* * * * * §' | crontab -", true),
        ("(crontab -l; echo '*/5 0 1-9 * 1,2 §') | crontab -", true),
        ("crontab - <<< '@reboot §'", true),
        ("crontab <<'END'\n0 5 * * * true\n1 5 * * * §\nEND", true),
        ("expect -c 'spawn §'", true),
        ("op run -- §", true),
        ("doppler run -p shop -- §", true),
        ("nvm exec 20 §", true),
        ("fnm exec --using=20 §", true),
        ("ts §", true),
        ("dotenv -- §", true),
        ("cross-env A=1 §", true),
        ("npx cross-env A=1 §", true),
        ("env-cmd -f .env §", true),
    ] {
        for what in ["fusebox off", "claude --bare -p go"] {
            let command = way.replace('§', what);
            assert!(guard().command(&command).is_some(), "{command}");
        }
        for what in ["make claude", "npm test", "claude --version", "fusebox status"] {
            let command = way.replace('§', what);
            assert_eq!(guard().command(&command).filter(|_| ordinary), None, "{command}");
        }
    }
}

#[test]
fn a_client_with_another_users_home_is_no_ordinary_one() {
    for run in [
        "systemd-run --user -E HOME=/x §",
        "systemd-run --user --setenv=CLAUDE_CONFIG_DIR=/x §",
        "cross-env HOME=/x §",
        "npx cross-env HOME=/x §",
        "dotenv -v HOME=/x §",
        "su nobody -c '§'",
        "runuser -u nobody §",
        "sudo -H -u nobody §",
        "sudo -i §",
        "setpriv --reset-env §",
    ] {
        assert!(guard().command(&run.replace('§', "claude -p go")).is_some(), "{run}");
        for what in ["psql claude", "claude --version", "ls .claude"] {
            assert_eq!(guard().command(&run.replace('§', what)), None, "{run}: {what}");
        }
    }
    for command in
        ["sudo claude update", "sudo -E apt-get install claude-code", "su -p you -c 'claude -p go'", "dmesg | ts"]
    {
        assert_eq!(guard().command(command), None, "{command}");
    }
}
