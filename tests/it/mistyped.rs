//! A command line that cannot be read: what is wrong is said in a line, and a second one has the command that was meant.

use clap::builder::PossibleValue;
use clap::{Arg, Command, CommandFactory};
use fusebox::cmd::Cli;
use fusebox::domain::session::{Run, Status};

use crate::state::{developer, main_run, save, session};
use crate::world::TestWorld;

/// How wide an answer may be, and how many lines it has.
const WIDTH: usize = 100;
const LINES: usize = 2;

/// What people type, and the command that is named to them.
const MEANT: [(&str, &str); 62] = [
    ("off 1h", "off --for 1h"),
    ("off for 1h", "off --for 1h"),
    ("off --for 60", "off --for 60m"),
    ("off --for=60", "off --for=60m"),
    ("off --for 1 hour", "off --for 1h"),
    ("off --for 30min", "off --for 30m"),
    ("report --since 7", "report --since 7d"),
    ("report --since 7 days", "report --since 7d"),
    ("report 7", "report --since 7d"),
    ("report 7d", "report --since 7d"),
    ("report yesterday", "report --since yesterday"),
    ("report by day", "report --by day"),
    ("report by day since 7", "report --by day --since 7d"),
    ("report day", "report --by day"),
    ("report --day", "report --by day"),
    ("report --by dayly", "report --by day"),
    ("report --session 5f0c1d2e", "status 5f0c1d2e"),
    ("status --session 5f0c1d2e --json", "status 5f0c1d2e --json"),
    ("explain --run a1b2c3d4", "explain a1b2c3d4"),
    ("log 7d", "log --since 7d"),
    ("log follow", "log --follow"),
    ("prune 60d", "prune --older-than 60d"),
    ("init user", "init --scope user"),
    ("init --user", "init --scope user"),
    ("init --scope usr", "init --scope user"),
    ("explain trip 47", "explain 47"),
    ("explain run a1b2c3d4", "explain a1b2c3d4"),
    ("explain all", "explain --all"),
    ("status -w", "status --watch"),
    ("status watch", "status --watch"),
    ("status -json", "status --json"),
    ("stop session 5f0c1d2e", "stop 5f0c1d2e"),
    ("stop task 7", "stop --task 7"),
    ("stop 5f0c1d2e --reson x", "stop 5f0c1d2e --reason x"),
    ("statu", "status"),
    ("config chek", "config check"),
    ("version", "--version"),
    ("kill a1b2c3d4", "stop a1b2c3d4"),
    ("doctor --verbose", "doctor"),
    ("grant a1b2 +5 max_cost_usd=+5", "grant a1b2 max_cost_usd=+5"),
    ("grant a1b2 max_cost_usd +5", "grant a1b2 max_cost_usd=+5"),
    ("grant max_cost_usd 5", "grant max_cost_usd=+5"),
    ("grant max_cost_usd = +5", "grant max_cost_usd=+5"),
    ("grant max_cost_usd= +5", "grant max_cost_usd=+5"),
    ("grant a1b2 max_cost_usd =+5", "grant a1b2 max_cost_usd=+5"),
    ("grant max_cost_usd=+$5", "grant max_cost_usd=+5"),
    ("grant max_cost_usd=$5", "grant max_cost_usd=+5"),
    ("grant max_cost_usd=+5USD", "grant max_cost_usd=+5"),
    ("grant max_cost_usd=+", "grant max_cost_usd=+5"),
    ("grant max_turns=-3", "grant max_turns=+3"),
    ("grant max_tokens=+1,000", "grant max_tokens=+1000"),
    ("grant cost=+5", "grant max_cost_usd=+5"),
    ("grant a1b2 max_turns+5", "grant a1b2 max_turns=+5"),
    ("grant a1b2 max_turns:5", "grant a1b2 max_turns=+5"),
    ("grant a1b2 +5", "grant a1b2 max_turns=+5"),
    ("grant team +5", "team grant +5"),
    ("grant team 5", "team grant +5"),
    ("grant team bob +5", "team grant bob +5"),
    ("grant team max_cost_usd_per_day=+5", "team grant +5"),
    ("grant run a1b2 max_turns=+5", "grant a1b2 max_turns=+5"),
    ("grant --task 7 turns=+5", "grant --task 7 max_turns=+5"),
    ("resume a1b2 --grant cost=+5", "resume a1b2 --grant max_cost_usd=+5"),
];

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// Whether an answer is short enough to be read.
fn is_short(text: &str) -> bool {
    text.lines().count() <= LINES && text.lines().all(|line| line.chars().count() <= WIDTH)
}

/// Returns what is wrong with the answer to a command line; it has to name a command.
fn wrong(world: &TestWorld, line: &str, meant: &str) -> Option<String> {
    let said = world.run(&words(line));
    let is_named = said.stderr.contains(&format!("`fusebox {meant}`"));
    let is_right = Cli::command().try_get_matches_from(words(&format!("fusebox {meant}")));
    let is_right = is_right.err().is_none_or(|said| !said.use_stderr());
    let is_all = said.code != 0 && said.stdout.is_empty() && is_short(&said.stderr) && is_named && is_right;
    (!is_all).then(|| format!("fusebox {line}: `fusebox {meant}` is not named, or not in two lines:\n{said}"))
}

#[test]
fn a_mistyped_command_is_answered_with_the_one_that_was_meant() {
    let world = TestWorld::new();
    let wrong: Vec<String> = MEANT.iter().filter_map(|(line, meant)| wrong(&world, line, meant)).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the mistakes that can be made with an option of a command, and what was meant.
fn of_option(command: &str, arg: &Arg, others: &[&str]) -> Vec<(String, String)> {
    let Some(long) = arg.get_long() else { return Vec::new() };
    let value = arg.get_possible_values().first().map(PossibleValue::get_name).map(str::to_owned);
    let takes = arg.get_action().takes_values();
    let is_letter_free = others.iter().filter(|other| other.starts_with(&long[..1])).count() == 1;
    let mut mistakes = Vec::new();
    let mut add =
        |wrong: String, right: String| mistakes.push((format!("{command} {wrong}"), format!("{command} {right}")));
    match (takes, value) {
        (false, _) => {
            add(format!("--{long}x"), format!("--{long}"));
            if is_letter_free && arg.get_short().is_none() {
                add(format!("-{}", &long[..1]), format!("--{long}"));
            }
        }
        (true, Some(value)) => {
            add(format!("--{long} {value}x"), format!("--{long} {value}"));
            add(format!("{long} {value}"), format!("--{long} {value}"));
            add(format!("--{long}x {value}"), format!("--{long} {value}"));
        }
        (true, None) => {}
    }
    mistakes
}

/// Returns the commands that take no words of their own, by which they could be misread.
fn commands() -> Vec<Command> {
    let mut program = Cli::command();
    program.build();
    let is_plain = |it: &&Command| !it.is_hide_set() && it.get_positionals().next().is_none() && !it.has_subcommands();
    program.get_subcommands().filter(is_plain).cloned().collect()
}

#[test]
fn every_option_that_is_mistyped_is_named() {
    let world = TestWorld::new();
    let mut mistakes = Vec::new();
    for command in commands() {
        let shown: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
        let longs: Vec<&str> = shown.iter().filter_map(|arg| arg.get_long()).collect();
        let usual = ["help", "version"];
        let own = shown.iter().filter(|arg| arg.get_long().is_some_and(|long| !usual.contains(&long)));
        mistakes.extend(own.flat_map(|arg| of_option(command.get_name(), arg, &longs)));
    }
    assert!(mistakes.len() > 40, "only {} mistakes", mistakes.len());
    let wrong: Vec<String> = mistakes.iter().filter_map(|(line, meant)| wrong(&world, line, meant)).collect();
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), mistakes.len(), wrong.join("\n"));
}

#[test]
fn whatever_cannot_be_read_is_answered_in_two_lines() {
    let world = TestWorld::new();
    let mut lines: Vec<String> =
        ["xyzzy", "run", "run --summary", "completions", "completions tcsh", "off a b", "--xyzzy"]
            .map(str::to_owned)
            .to_vec();
    // The client runs `hook`, which reads no words.
    for command in commands().iter().filter(|command| command.get_name() != "hook") {
        let name = command.get_name();
        lines.extend(["--xyzzy", "xyzzy", "-q"].map(|word| format!("{name} {word}")));
        for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values() && !arg.is_hide_set()) {
            let long = arg.get_long().unwrap();
            lines.extend([" --xyzzy", " xyzzy --xyzzy", " 1 --xyzzy"].map(|value| format!("{name} --{long}{value}")));
        }
    }
    let told: Vec<String> = lines.iter().map(|line| world.run(&words(line)).to_string()).collect();
    let is_told = |told: &String| {
        told.contains("\n  hint: ") && is_short(told.split_once("]\n").unwrap().1.rsplit_once('\n').unwrap().0)
    };
    let wrong: Vec<&String> = told.iter().filter(|told| told.contains("[exit 2]") && !is_told(told)).collect();
    let refused = told.iter().filter(|told| told.contains("[exit 2]")).count();
    assert_eq!(refused, lines.len());
    assert!(wrong.is_empty(), "{} of {refused} wrong:\n{wrong:#?}", wrong.len());
}

/// An option of `fusebox run` among the client's own: the client does not begin, and no hook is heard.
#[test]
fn an_option_among_the_clients_is_named() {
    let world = TestWorld::new();
    world.script("bin/claude", "echo unknown option >&2; exit 1");
    for (line, code, right) in [
        ("run -- claude -p go --strict", 1, "run --strict -- claude …"),
        ("run claude -p go --summary=a.json", 1, "run --summary FILE -- claude …"),
        ("run --strct -- claude -p go", 2, "run --strict -- claude …"),
        ("run -- claude -p go", 1, "doctor"),
    ] {
        let said = world.run(&words(line));
        assert!(said.code == code && said.stderr.contains(&format!("`fusebox {right}`")), "{line}: {said}");
        assert!(fusebox::ui::wrap::wrap(&said.stderr, WIDTH, 0).lines().count() <= LINES + 1, "{said}");
    }
}

/// A limit is no option of `fusebox run`: the hint has the file that sets it, and that file is right.
#[test]
fn a_limit_that_is_typed_as_an_option_is_written_into_a_file_by_its_hint() {
    let world = TestWorld::with_git();
    world.script("bin/claude", "exit 7");
    let mut names: Vec<String> = fusebox::config::limit_name::names().map(|named| named.name.to_owned()).collect();
    assert!(names.len() > 15, "{names:?}");
    names.extend(["max_cost", "max_turn"].map(str::to_owned));
    for name in names {
        let option = format!("--{}", name.replace('_', "-"));
        for typed in [vec![option.clone(), "5".to_owned()], vec![format!("{option}=5")], vec![option.clone()]] {
            let line: Vec<&str> = typed.iter().map(String::as_str).chain(["--", "claude", "-p", "go"]).collect();
            let said = world.run(&[&["run"], line.as_slice()].concat());
            assert!(said.code == 2 && is_short(&said.stderr), "{said}");
            let hint = said.stderr.split_once("hint: write ").unwrap_or_else(|| panic!("{said}")).1;
            let file = hint.strip_suffix(" into ~/.claude/fusebox.json\n").unwrap();
            world.write("home/.claude/fusebox.json", file);
            let checked = world.run(&["config", "check"]);
            assert_eq!(checked.code, 0, "{file}: {checked}");
            assert_eq!(world.run(&["run", "--", "claude", "-p", "go"]).code, 7);
        }
    }
}

#[test]
fn a_command_in_one_pair_of_quotes_is_taken_out_of_them() {
    let world = TestWorld::new();
    world.script("bin/claude", "exit 7");
    for (line, meant) in [
        (&["claude -p x"][..], "claude -p x"),
        (&["claude -p 'fix the tests'"], "claude -p 'fix the tests'"),
        (&["--strict", "--", "claude -p", "fix the tests"], "claude -p 'fix the tests'"),
    ] {
        let said = world.run(&[&["run"], line].concat());
        assert!(said.code == 1 && said.stderr.ends_with(&format!("hint: `fusebox run -- {meant}`\n")), "{said}");
        let words = shlex::split(meant).unwrap();
        let words: Vec<&str> = ["run", "--"].into_iter().chain(words.iter().map(String::as_str)).collect();
        assert_eq!(world.run(&words).code, 7, "{meant}");
    }
    // A program may have spaces in its name.
    world.write("project/a program", "");
    assert!(world.run(&["run", "./a program"]).stderr.contains("is it installed"));
}

#[cfg(feature = "team")]
#[test]
fn a_team_is_reported_of_a_day_or_more() {
    let world = TestWorld::new();
    for days in ["0", "-1", "x", "1.5", "99999999999"] {
        for more in [&[][..], &["--audit"]] {
            let said = world.run(&[&["team", "report", &format!("--days={days}")], more].concat());
            let is_told = said.stderr.contains("a number of days, 1 or more") && is_short(&said.stderr);
            assert!(said.code == 2 && is_told, "{said}");
        }
    }
}

/// Whoever is the only one of a type is found by it, when it has ended, too: a message lets it go on.
#[test]
fn an_agent_that_has_ended_is_found_by_its_type() {
    let world = TestWorld::new();
    let main = main_run("s1", "p1");
    let ended = |id: &str| Run { status: Status::Completed, ..developer("s1", id, "p1") };
    save(&world, |store| {
        store.save_session(&session("s1")).unwrap();
        store.save_run(&main).unwrap();
        store.save_run(&ended("a1b2c3d4e5")).unwrap();
    });
    let said = world.run(&["grant", "developer", "max_turns=+5"]).ok();
    assert!(said.starts_with("developer a1b2c3d4 is the only one known, and has ended\n"), "{said}");
    assert!(said.contains("max_turns of developer a1b2c3d4: 25 -> 30"), "{said}");
    let said = world.run(&["stop", "developer"]);
    assert!(said.stderr.contains("no `developer` is at work") && said.stderr.contains("a1b2c3d4"), "{said}");
    save(&world, |store| store.save_run(&ended("a2b2c3d4e5")).unwrap());
    let said = world.run(&["grant", "developer", "max_turns=+5"]);
    assert!(said.stderr.contains("more than one `developer` is known, and has ended"), "{said}");
    assert!(said.stderr.contains("a1b2c3d4") && said.stderr.contains("a2b2c3d4"), "{said}");
}

#[test]
fn init_says_which_settings_switch_hooks_off() {
    for (place, named) in [
        ("home/.claude/settings.json", "home/.claude/settings.json"),
        ("project/.claude/settings.json", ".claude/settings.json"),
        ("project/.claude/settings.local.json", ".claude/settings.local.json"),
    ] {
        let mut world = TestWorld::with_git();
        world.set("COLUMNS", "200");
        world.write(place, "{ \"disableAllHooks\": true }");
        let said = world.run(&["init"]).ok();
        assert!(said.contains("switches hooks off (disableAllHooks or allowManagedHooksOnly): nothing"), "{said}");
        let short = named.trim_start_matches("home/");
        assert!(said.contains(&format!("{short} switches")), "{said}");
    }
    assert!(!TestWorld::with_git().run(&["init"]).ok().contains("switches hooks off"));
}
