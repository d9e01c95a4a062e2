//! Completions: each shell that is installed parses its script, and gets from it what `fusebox complete` says.

use std::fs;
use std::process::Command;

use clap::CommandFactory;

use fusebox::cmd::Cli;
use fusebox::cmd::complete::candidates;
use fusebox::platform::environment::Environment;

use crate::world::{FUSEBOX, TestWorld};

/// A shell, how it parses a file without running it, and how it says what it would complete `fusebox init --scope us` to.
const SHELLS: [(&str, &[&str], &[&str]); 3] = [
    (
        "bash",
        &["-n"],
        &[
            "-c",
            "source \"$0\"; COMP_WORDS=(fusebox init --scope us); COMP_CWORD=3; _fusebox; echo \"${COMPREPLY[@]}\"",
        ],
    ),
    (
        "zsh",
        &["-f", "-n"],
        &[
            "-f",
            "-c",
            "compdef() { }; _describe() { shift; print -r -- ${(P)1} }; source $0; words=(fusebox init --scope us); CURRENT=4; _fusebox",
        ],
    ),
    ("fish", &["--no-config", "-n"], &["--no-config", "-c", "source $argv[1]; complete -C 'fusebox init --scope us'"]),
];

fn is_installed(shell: &str) -> bool {
    Command::new(shell).args(["-c", "exit 0"]).status().is_ok_and(|status| status.success())
}

fn skip(shell: &str) {
    let words = format!("SKIPPED, NOT PASSED: completions of {shell}: it is not installed");
    Environment::real().eprintln_safe(&words);
}

#[test]
fn each_shell_completes_what_may_follow() {
    let mut world = TestWorld::new();
    fs::hard_link(FUSEBOX, world.path("bin/fusebox")).unwrap();
    world.set("PATH", format!("{}:/usr/bin:/bin", world.path("bin").display()));
    for (shell, parse, complete) in SHELLS {
        if !is_installed(shell) {
            skip(shell);
            continue;
        }
        world.write("script", world.run(&["completions", shell]).ok());
        let script = world.path("script").display().to_string();
        let run = |words: &[&str]| world.program(shell, &[words, &[&script]].concat()).run().ok();
        assert_eq!(run(parse), "", "{shell}");
        let found = run(complete);
        assert!(found.starts_with("user"), "{shell}: {found}");
        assert!(!found.contains("local"), "{shell}: {found}");
    }
    if is_installed("pwsh") {
        world.write("script.ps1", world.run(&["completions", "powershell"]).ok());
        let ask = ". $args[0]; (TabExpansion2 'fusebox init --scope us' 23).CompletionMatches.CompletionText";
        let script = world.path("script.ps1").display().to_string();
        let found = world.program("pwsh", &["-NoProfile", "-Command", ask, &script]).run().ok();
        assert_eq!(found.trim(), "user");
    } else {
        skip("PowerShell");
    }
}

/// A person at a terminal is given a command that works as it stands, in a home where no folder is; a pipe is not.
#[test]
fn init_offers_them_to_a_person_whose_shell_is_known() {
    for (shell, file) in [
        ("bash", "home/.local/share/bash-completion/completions/fusebox"),
        ("zsh", "home/.zfunc/_fusebox"),
        ("fish", "home/.config/fish/completions/fusebox.fish"),
    ] {
        let mut world = TestWorld::new();
        world.set("SHELL", format!("/usr/bin/{shell}"));
        let init = format!("{FUSEBOX} init");
        let on_terminal = |world: &TestWorld| world.program("script", &["-qec", &init, "/dev/null"]).run().ok();
        let said = on_terminal(&world);
        let offered = said.lines().map(str::trim).find(|line| line.contains("fusebox completions"));
        let offered = offered.unwrap_or_else(|| panic!("{shell}: {said}"));
        let command = offered.trim_start_matches("note: ").strip_prefix('`').and_then(|rest| rest.split_once('`'));
        let command =
            command.unwrap_or_else(|| panic!("{shell}: {said}")).0.replace("fusebox comp", &format!("{FUSEBOX} comp"));
        world.program("sh", &["-c", &command]).run().ok();
        assert!(world.read(file).is_some_and(|script| script.contains("fusebox")), "{shell}: {command}");
        let said = on_terminal(&world);
        assert!(!said.contains("completions"), "once: {said}");
        let mut piped = TestWorld::new();
        piped.set("SHELL", format!("/usr/bin/{shell}"));
        let said = piped.run(&["init"]).ok();
        assert!(!said.contains("completions"), "nobody reads it: {said}");
    }
}

#[track_caller]
fn check(line: &str, expected: &[&str]) {
    let words: Vec<&str> = line.split(' ').collect();
    let (typed, before) = words.split_last().unwrap();
    let found: Vec<String> = candidates(Cli::command(), typed, before).into_iter().map(|(word, _)| word).collect();
    assert_eq!(found, expected, "{line}");
}

#[test]
fn what_may_follow_is_offered() {
    check("ini", &["init"]);
    check("init --sc", &["--scope"]);
    check("init --scope ", &["local", "project", "user", "managed"]);
    check("init --scope us", &["user"]);
    check("init --scope=m", &["--scope=managed"]);
    check("init --scope user --obs", &["--observe"]);
    check("config sh", &["show"]);
    check("completions z", &["zsh"]);
    check("run -- claude ini", &[]);
    check("nonsense --", &["--help", "--version"]);
}

/// Walks the command line itself: each command and each option of it is offered where it may stand.
#[test]
fn everything_that_is_understood_is_offered() {
    fn walk(command: &clap::Command, before: &[&str]) -> usize {
        let offered = |typed: &str| {
            candidates(Cli::command(), typed, before).into_iter().map(|(word, _)| word).collect::<Vec<_>>()
        };
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let Some(name) = arg.get_long().map(|name| format!("--{name}")) else { continue };
            assert!(offered("--").contains(&name), "{before:?} {name}");
        }
        let below = command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help");
        let seen = below.map(|it| {
            assert!(offered("").contains(&it.get_name().to_owned()), "{before:?} {}", it.get_name());
            walk(it, &[before, &[it.get_name()]].concat())
        });
        1 + seen.sum::<usize>()
    }
    let mut program = Cli::command();
    program.build();
    assert!(walk(&program, &[]) > 25);
}
