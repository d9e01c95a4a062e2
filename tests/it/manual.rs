//! The pages of the manual that are made from the program are current: `docs/cli.md`, and the columns and the sample in `docs/report.md`.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use clap::{Command, CommandFactory};

use fusebox::cmd::{Cli, help};
use fusebox::report::columns_help;

use crate::state::with_shop;
use crate::world::{TestWorld, check_current};

/// How wide help is in the manual.
const WIDTH: usize = 100;

const HEAD: &str = "\
# The command line

<!-- Made from the program's help: FUSEBOX_REGENERATE=1 cargo test --test it manual -->

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 from `fusebox run` where a limit stopped the client. `fusebox hook` never exits with 2.
";

/// Writes a heading and the help of a command.
fn section(command: &Command) -> String {
    let name = command.get_name().to_owned();
    let command = help::fitted(command.clone(), WIDTH).bin_name(format!("fusebox {name}"));
    let help = command.disable_help_flag(true).disable_version_flag(true).render_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    format!("\n## fusebox {name}\n\n```\n{}\n```\n", lines.join("\n").trim_end())
}

#[test]
fn the_page_of_commands_is_current() {
    let program = Cli::command();
    let mut page = HEAD.to_owned();
    let commands: Vec<&Command> =
        program.get_subcommands().filter(|command| command.get_name() != "help" && !command.is_hide_set()).collect();
    page.push_str("\n| command | does |\n|---|---|\n");
    for command in &commands {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let name = command.get_name();
        writeln!(page, "| [`{name}`](#fusebox-{name}) | {about} |").unwrap();
    }
    page.extend(commands.into_iter().map(section));
    check_current("docs/cli.md", &page);
}

#[test]
fn every_command_says_what_it_does() {
    let program = Cli::command();
    let silent: Vec<&str> =
        program.get_subcommands().filter(|it| it.get_about().is_none()).map(Command::get_name).collect();
    assert_eq!(silent, Vec::<&str>::new());
}

#[test]
fn every_command_shows_examples_and_the_clients_own_is_the_last() {
    let program = Cli::command();
    let commands: Vec<&Command> =
        program.get_subcommands().filter(|command| command.get_name() != "help" && !command.is_hide_set()).collect();
    assert_eq!(commands.last().map(|command| command.get_name()), Some("hook"));
    let without = commands.iter().flat_map(|command| without_examples(command, "fusebox")).collect::<Vec<_>>();
    assert_eq!(without, Vec::<String>::new());
}

/// Returns the commands without examples, this one and those below it; where those have some, it needs none.
fn without_examples(command: &Command, above: &str) -> Vec<String> {
    let name = format!("{above} {}", command.get_name());
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let of_below: Vec<&Command> = command.get_subcommands().filter(|it| it.get_name() != "help").collect();
    let is_shown = help.contains("Examples:\n  ") && help.contains(&format!("\n  {name}")) || !of_below.is_empty();
    let below = of_below.into_iter().flat_map(|below| without_examples(below, &name));
    (!is_shown).then(|| name.clone()).into_iter().chain(below).collect()
}

/// Returns the examples of a command and of those below it.
fn examples(command: &Command) -> Vec<String> {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let lines = help.split("Examples:\n").nth(1).unwrap_or_default().lines();
    let of_it = lines.take_while(|line| line.starts_with("  ")).map(|line| line.trim().to_owned());
    of_it.chain(command.get_subcommands().flat_map(examples)).collect()
}

#[test]
fn every_example_is_understood() {
    let program = Cli::command();
    let all: Vec<String> = program.get_subcommands().flat_map(examples).collect();
    assert!(all.len() > 60, "{}", all.len());
    for example in all {
        let command = example.split("  ").next().unwrap();
        let command = command.split(['>', '<', '|']).next().unwrap();
        let Some(words) = shlex::split(command).filter(|words| words[0] == "fusebox") else { continue };
        if let Err(cause) = Cli::command().try_get_matches_from(words) {
            panic!("{example}: {cause}");
        }
    }
}

#[test]
fn the_columns_and_the_sample_of_a_report_are_current() {
    let world = with_shop();
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/report.md")).unwrap();
    let (before, rest) = page.split_once("<!-- columns: ").unwrap();
    let (mark, rest) = rest.split_once(" -->\n").unwrap();
    let (_, rest) = rest.split_once("<!-- end of columns -->\n").unwrap();
    let columns = columns_help::page();
    let page = format!("{before}<!-- columns: {mark} -->\n\n{columns}\n<!-- end of columns -->\n{rest}");
    let (before, rest) = page.split_once("```json\n").unwrap();
    let (_, after) = rest.split_once("```\n").unwrap();
    let json = world.run(&["status", "a3fa", "--json"]).ok();
    check_current("docs/report.md", &format!("{before}```json\n{json}```\n{after}"));
}

#[test]
fn help_fits_the_terminal() {
    let world = TestWorld::new();
    let program = Cli::command();
    let all = program.get_subcommands().filter(|command| command.get_name() != "help" && !command.is_hide_set());
    for command in all {
        for columns in ["80", "120"] {
            let help = world.command(&[command.get_name(), "--help"]).env("COLUMNS", columns).run().ok();
            let most = columns.parse::<usize>().unwrap();
            let is_wide = |line: &&str| line.chars().count() > most && line.contains("  ");
            assert_eq!(help.lines().find(is_wide), None, "{} at {columns}", command.get_name());
            let examples =
                help.split("Examples:\n").nth(1).and_then(|text| text.split("\n\n").next()).unwrap_or_default();
            let begins = ["  fusebox", "  npx fusebox-cli", "      "];
            let is_torn = |line: &&str| begins.iter().all(|begin| !line.starts_with(begin));
            assert_eq!(examples.lines().find(is_torn), None, "{} at {columns}", command.get_name());
        }
    }
}

/// Whoever reads `fusebox status`, `log`, `explain` or `report` for the first time finds what our words mean in its help.
#[test]
fn our_own_words_are_explained_where_they_stand() {
    let program = Cli::command();
    let mut explained = Vec::new();
    for command in program.get_subcommands() {
        let help = help::fitted(command.clone(), WIDTH).render_help().to_string().to_lowercase();
        let (text, meanings) = help.split_once("\nwords:\n").unwrap_or((&help, ""));
        for (word, _) in help::WORDS {
            let stands = text.split(|c: char| !c.is_alphanumeric()).any(|it| it == word || it == format!("{word}s"));
            assert_eq!(
                stands,
                meanings.contains(&format!("  {word} ")),
                "`{word}` in the help of {}",
                command.get_name()
            );
            explained.extend(stands.then(|| format!("{} {word}", command.get_name())));
        }
    }
    for pair in ["status held", "status layer", "log trip", "log layer", "report trip", "report layer"] {
        assert!(explained.iter().any(|it| it == pair), "{pair}: {explained:?}");
    }
    assert_eq!(explained.iter().filter(|it| it.starts_with("explain ")).count(), help::WORDS.len(), "{explained:?}");
}
