//! The ending of Fusebox's processes: of hooks by their name or by limits of the client's, of the watch by the system's service manager.

use crate::domain::text::pattern;
use crate::wire::bypass_detection::at_hand::{Guard, PROGRAM};
use crate::wire::shell;
use crate::wire::shell::invocation::Invocation;

/// Commands that end or hold the processes that they are given by name.
const ENDERS: [&str; 6] = ["pkill", "killall", "taskkill", "Stop-Process", "spps", "start-stop-daemon"];

/// Commands that find processes by name, for a `kill` of the same text.
const FINDERS: [&str; 7] = ["pgrep", "pidof", "ps", "grep", "awk", "sed", "Get-Process"];

/// Those that compare processes with expressions, and the one that limits them: a text with one of them need not name what it ends.
pub(super) const NEED_NO_NAME: [&str; 4] = ["pkill", "pgrep", "killall", LIMITER];

/// Their options with values.
const VALUED: [&str; 12] = ["-P", "-g", "-G", "-t", "-u", "-U", "-s", "-F", "-o", "-y", "--signal", "--parent"];

/// The command that gives processes limits of the system's.
pub const LIMITER: &str = "prlimit";

/// What a command compares its words with.
#[derive(Clone, Copy)]
enum Matching {
    /// Names of programs, as they are.
    Names,
    /// Names of programs, by expressions.
    Programs,
    /// Whole command lines, by expressions.
    Lines,
    /// Whole command lines, by a program of its own.
    Scripts,
    /// All but what they name.
    Others,
}

/// How a shell names itself, and what it has just started.
const OWN_PROCESSES: [&str; 6] = ["$$", "${$}", "$BASHPID", "${BASHPID}", "$!", "${!}"];

/// The files of the service that `fusebox watch --install` makes: of systemd, and of launchd.
pub const SERVICE_FILES: [&str; 2] = ["fusebox-watch.service", "fusebox.watch.plist"];
/// The names of the folders that they lie in: `~/.config/systemd/user` and `~/Library/LaunchAgents`.
pub const SERVICE_FOLDERS: [&str; 2] = ["user", "LaunchAgents"];

/// Commands that begin and end services, and what of theirs only looks.
const SERVICE_MANAGERS: [&str; 2] = ["systemctl", "launchctl"];
const LOOKS: [&str; 8] = ["status", "show", "cat", "is-active", "is-enabled", "list-units", "list-unit-files", "print"];

/// Says that an invocation ends hooks by name or keeps them from being started, or ends the watch's service.
pub(super) fn ended(guard: &Guard, it: &Invocation, kills: bool) -> Option<String> {
    service_ended(it).or_else(|| hooks_ended(guard, it, kills)).or_else(|| starved(it))
}

/// Whether a text has a word that ends a process by its number.
pub(super) fn kills(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .any(|word| matches!(word, "kill" | "tkill" | "taskkill"))
}

/// Says that an invocation gives a running process other limits of the system's: the client starts no hook where it may open no file or
/// start no process. Its own shell's, and what it has just started, are an agent's own.
fn starved(it: &Invocation) -> Option<String> {
    let mut programs = it.runners.iter().copied().chain([(it.program, it.args)]);
    let (_, args) = programs.find(|(program, _)| shell::program_name(program) == LIMITER)?;
    let words: Vec<&str> = args.iter().map(|word| &*word.text).collect();
    let pid = words.iter().enumerate().find_map(|(at, word)| match *word {
        "-p" | "--pid" => words.get(at + 1).copied(),
        word => word.strip_prefix("--pid=").or_else(|| word.strip_prefix("-p")),
    })?;
    let sets = words.iter().any(|word| word.contains('=') && !word.starts_with("--pid="));
    (sets && !OWN_PROCESSES.contains(&pid)).then(|| "limits of the system's for a process that runs".to_owned())
}

/// Says that an invocation does something to the watch's service beside looking at it.
fn service_ended(it: &Invocation) -> Option<String> {
    if !SERVICE_MANAGERS.contains(&it.name()) {
        return None;
    }
    let mut words = it.args.iter().map(|word| &*word.text);
    let verb = words.find(|word| !word.starts_with('-'))?;
    let is_watch = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or_default();
        SERVICE_FILES.iter().any(|file| {
            let stem = file.rsplit_once('.').map_or(*file, |(stem, _)| stem);
            pattern::matches(name, file) || pattern::matches(name, stem)
        })
    };
    let names_watch = words.any(is_watch);
    (names_watch && !LOOKS.contains(&verb)).then(|| "the service of `fusebox watch`".to_owned())
}

fn hooks_ended(guard: &Guard, it: &Invocation, kills: bool) -> Option<String> {
    let is_one = |names: &[&str]| names.iter().any(|name| it.name().eq_ignore_ascii_case(name));
    let ends = is_one(&ENDERS) || kills && is_one(&FINDERS);
    if !ends {
        return None;
    }
    let has = |option: char| {
        let is_short = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains(option);
        it.args.iter().any(|word| is_short(&word.text))
    };
    let matching = match it.name() {
        "pkill" if has('v') || it.args.iter().any(|word| word.text == "--inverse") => Matching::Others,
        "pkill" | "pgrep" if has('x') && it.args.iter().all(|word| is_plain(&word.text)) => Matching::Names,
        "pkill" | "pgrep" if has('f') || it.args.iter().any(|word| word.text == "--full") => Matching::Lines,
        "pkill" | "pgrep" => Matching::Programs,
        "killall" if has('r') || it.args.iter().any(|word| word.text == "--regexp") => Matching::Programs,
        // One that is given a file reads no list of processes.
        "grep" | "awk" | "sed" if operands(it) == 1 => Matching::Scripts,
        _ => Matching::Names,
    };
    let mut previous = "";
    let matches_hook = it.args.iter().any(|word| {
        let is_operand = !word.text.starts_with('-') && !VALUED.contains(&previous);
        previous = &word.text;
        is_operand && is_hook(guard, &word.text, matching)
    });
    matches_hook.then(|| "Fusebox's own processes".to_owned())
}

/// Counts what a command is given beside options and their values.
fn operands(it: &Invocation) -> usize {
    let is_value =
        |at: usize| at > 0 && matches!(&*it.args[at - 1].text, "-F" | "-v" | "-e" | "-m" | "-A" | "-B" | "-C");
    it.args.iter().enumerate().filter(|(at, word)| !word.text.starts_with('-') && !is_value(*at)).count()
}

/// Whether a word is no expression.
fn is_plain(word: &str) -> bool {
    word.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_'))
}

/// Whether a word may be one for a hook: its program's name, or an expression that its command line may match. Of an expression the
/// letters and digits between its operators are looked at: each piece has to stand behind the one before.
fn is_hook(guard: &Guard, word: &str, matching: Matching) -> bool {
    if shell::program_name(word).eq_ignore_ascii_case(PROGRAM) {
        return true;
    }
    let line = match matching {
        Matching::Names => return false,
        Matching::Scripts => return word.contains(PROGRAM),
        Matching::Others => return true,
        Matching::Programs => PROGRAM.to_owned(),
        Matching::Lines => format!("{} hook", guard.program.as_deref().unwrap_or(PROGRAM)),
    };
    let line = line.to_ascii_lowercase();
    word.to_ascii_lowercase().split('|').any(|choice| {
        let mut rest = line.as_str();
        pieces(choice).iter().all(|piece| {
            let found = rest.find(piece.as_str());
            rest = found.map_or("", |at| &rest[at + piece.len()..]);
            found.is_some()
        })
    })
}

/// Returns what stands in an expression for itself: runs of letters and digits between its operators. What may be left out, or be
/// something else, is no part of them.
fn pieces(expression: &str) -> Vec<String> {
    let (mut pieces, mut letters) = (vec![String::new()], expression.chars());
    while let Some(letter) = letters.next() {
        let last = pieces.len() - 1;
        match letter {
            letter if letter.is_alphanumeric() => pieces[last].push(letter),
            '[' => {
                let _class = letters.by_ref().find(|letter| *letter == ']');
            }
            '\\' => {
                let _class = letters.next();
            }
            '{' => {
                pieces[last].pop();
                let _count = letters.by_ref().find(|letter| *letter == '}');
            }
            '*' | '?' => {
                pieces[last].pop();
            }
            _ => {}
        }
        if !letter.is_alphanumeric() {
            pieces.push(String::new());
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

#[cfg(test)]
mod tests;
