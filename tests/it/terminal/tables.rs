//! What is set in columns, over real recordings: no word and no figure is cut, and no row is wider than its page.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::given::GivenTime;
use crate::recording;
use crate::terminal::commands::CALLS;
use crate::world::{FUSEBOX, TestWorld};

/// How many characters fit a line, and how many where nothing is left out.
const WIDTHS: [usize; 3] = [80, 100, 120];
const WIDEST: usize = 200;

/// What shows the state and leaves it as it is.
const SHOWS: [&str; 12] = [
    "status",
    "report",
    "explain",
    "log",
    "config show",
    "config check",
    "pricing show",
    "suggest",
    "replay",
    "doctor",
    "demo",
    "prune",
];

/// What is written for programs, and what would write.
const OTHERS: [&str; 5] = ["--json", "--csv", "--write", "HOSTILE", "--me"];

/// Limits under which much is warned of, asked, refused and ended.
fn policy() -> String {
    let run =
        json!({"max_turns": 2, "max_cost_usd": 0.01, "max_duration_ms": 20000, "loop_detection": {"same_call": 2}});
    json!({"session": {"max_cost_usd": 0.05, "max_subagents": 3}, "main": run, "agents": {"*": run},
        "user": {"max_cost_usd_per_day": 0.5, "max_tokens_per_month": 200_000}, "project": {"max_cost_usd_per_week": 1},
        "rate_limits": [{"tool": "Bash", "max": 1, "per_ms": 60000}]})
    .to_string()
}

/// Plays every recording in one world; returns its sessions.
fn played(world: &TestWorld, time: &mut GivenTime<'_>) -> Vec<String> {
    world.write("home/.claude/fusebox.json", policy());
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("hooks.jsonl").exists())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    let events = |name: &str| {
        let path = format!("{}/tests/fixtures/{name}/hooks.jsonl", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap().lines().count()
    };
    names.iter().map(|name| recording::play(world, time, name, events(name))).collect()
}

/// Returns every call that shows something: those of the table of all commands, and one for each session, run and trip.
fn calls(time: &GivenTime<'_>, sessions: &[String]) -> Vec<Vec<String>> {
    let words = |name: &str, call: &str| format!("{name} {call}").split_whitespace().map(str::to_owned).collect();
    let shown = CALLS.iter().filter(|(name, _)| SHOWS.contains(name));
    let named = shown.flat_map(|(name, calls)| calls.iter().map(move |call| (*name, *call)));
    let mut calls: Vec<Vec<String>> = named
        .filter(|(name, call)| (*name != "prune" || *call == "--dry-run") && !OTHERS.iter().any(|it| call.contains(it)))
        .map(|(name, call)| words(name, call))
        .collect();
    calls.push(words("report", "--since all --transcripts ../home/.claude/projects --by session"));
    for session in sessions {
        let known: Value = serde_json::from_str(&time.run(&["status", session, "--json"]).ok()).unwrap();
        let runs = known["sessions"][0]["runs"].as_array().cloned().unwrap_or_default();
        let ids = runs.iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).chain([session.clone()]);
        calls.extend(ids.flat_map(|id| [words("status", &id), words("explain", &id)]));
    }
    calls.extend((1..40).map(|number| words("explain", &number.to_string())));
    calls
}

/// Returns what a text says without what it says of its width.
fn without_hint(text: &str) -> String {
    let mut parts = text.split("(a wider terminal shows ");
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| part.split_once("too)").map_or("", |(_, rest)| rest)).collect::<String>()
}

/// Returns the words of a narrow text that the wide one does not have. A path may lack folders at its beginning, and a command that
/// does not fit beside others has a line of its own, without the comma that stands between them.
fn cut_words(narrow: &str, wide: &str) -> Vec<String> {
    let known: BTreeSet<&str> = wide.split_whitespace().map(|word| word.trim_end_matches(',')).collect();
    let is_path = |word: &str| {
        word.strip_prefix('…').is_some_and(|end| end.starts_with('/') && known.iter().any(|whole| whole.ends_with(end)))
    };
    let narrow = without_hint(narrow);
    let words = narrow.split_whitespace().map(|word| word.trim_end_matches(','));
    words.filter(|word| !known.contains(word) && !is_path(word)).map(str::to_owned).collect()
}

/// Whether a line has columns, and more characters than fit the page.
fn is_wide(line: &str, width: usize) -> bool {
    line.chars().count() > width && line.trim().contains("  ")
}

#[test]
fn no_table_cuts_a_word_or_a_figure() {
    let world = TestWorld::with_git();
    let mut time = GivenTime::at(&world, 0);
    let sessions = played(&world, &mut time);
    let (mut wrong, mut lines) = (BTreeSet::new(), 0);
    for call in calls(&time, &sessions) {
        let words: Vec<&str> = call.iter().map(String::as_str).collect();
        let mut shown = |width: usize| {
            time.set("COLUMNS", width.to_string());
            time.run(&words).stdout
        };
        let wide = shown(WIDEST);
        for width in WIDTHS {
            let narrow = shown(width);
            lines += narrow.lines().count();
            let cut = cut_words(&narrow, &wide).into_iter().map(|word| format!("cut: {word}"));
            let broad = narrow.lines().filter(|line| is_wide(line, width)).map(|line| format!("too wide: {line}"));
            wrong.extend(cut.chain(broad).map(|it| format!("{} at {width}, {it}", call.join(" "))));
        }
    }
    assert!(lines > 2_000, "only {lines} lines were shown");
    let all: Vec<&str> = wrong.iter().map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} cut:\n{}", all.len(), all.join("\n"));
}

/// Where there is no terminal, as in the log of a CI job, no column is left out.
#[test]
fn what_no_terminal_shows_has_all_columns() {
    let mut world = TestWorld::with_git();
    let _sessions = played(&world, &mut GivenTime::at(&world, 0));
    let report = |columns: &str, world: &mut TestWorld| {
        world.set("COLUMNS", columns);
        world.run(&["report", "--since", "all"]).stdout
    };
    let narrow = report("80", &mut world);
    assert!(narrow.contains("(a wider terminal shows"), "{narrow}");
    let (piped, widest) = (report("", &mut world), report(&WIDEST.to_string(), &mut world));
    let heads =
        |text: &str| text.lines().next().unwrap_or_default().split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert!(!piped.contains("a wider terminal shows"), "{piped}");
    assert_eq!(heads(&piped), heads(&widest));
}

/// A page that a terminal shows through a pipe is as wide as the terminal, and one without any terminal 100 characters wide.
#[test]
fn what_goes_into_a_pipe_is_as_wide_as_the_terminal_behind_it() {
    let mut world = TestWorld::with_git();
    world.set("COLUMNS", "");
    let widest = |text: &str| text.lines().map(|line| line.trim_end().chars().count()).max().unwrap_or(0);
    for command in ["init --dry-run --scope user", "doctor", "config show", "report --help"] {
        let piped = world.run(&command.split(' ').collect::<Vec<_>>()).stdout;
        let is_of_paths = |line: &&str| !line.contains("[ROOT]") && !line.starts_with(['+', '-', ' ', '@']);
        let piped = piped.lines().filter(is_of_paths).collect::<Vec<_>>().join("\n");
        assert!(widest(&piped) <= 100, "{command}: {piped}");
        let script = format!("stty cols 70 rows 40; {FUSEBOX} {command} | cat");
        let said = world.program("script", &["-qec", &script, "/dev/null"]).run().stdout;
        let said = said.lines().filter(is_of_paths).collect::<Vec<_>>().join("\n");
        assert!(widest(&said) <= 70, "{command}: {said}");
    }
}
