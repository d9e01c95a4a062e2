//! Which files git writes, moves or takes away.

use crate::wire::bypass_detection::at_hand::{Guard, Look};
use crate::wire::shell::Word;

/// Subcommands that write the value of an option; `-f` of `config` writes where a value is set.
const OUTPUTS: [(&str, &[&str]); 8] = [
    ("diff", &["--output"]),
    ("log", &["--output"]),
    ("show", &["--output"]),
    ("diff-tree", &["--output"]),
    ("format-patch", &["--output"]),
    ("archive", &["-o", "--output"]),
    ("config", &["-f", "--file"]),
    ("bugreport", &["-o", "--output-directory"]),
];

/// What `git stash` does that leaves the files as they are.
const KEEPS: [&str; 5] = ["show", "list", "drop", "clear", "create"];

/// Options of `git config` that only read, and those that write with one name alone.
const READS_CONFIG: [&str; 10] = [
    "--get",
    "--get-all",
    "--get-regexp",
    "--get-urlmatch",
    "--list",
    "-l",
    "get",
    "list",
    "--get-color",
    "--get-colorbool",
];
const WRITES_CONFIG: [&str; 10] = [
    "--unset",
    "--unset-all",
    "--remove-section",
    "--rename-section",
    "--edit",
    "-e",
    "unset",
    "set",
    "edit",
    "remove-section",
];

/// Says what a subcommand writes that an option names.
fn named_by_options(folder: Option<&str>, subcommand: &str, rest: &[&str], look: &Look) -> Option<String> {
    let (_, options) = OUTPUTS.iter().find(|row| row.0 == subcommand)?;
    let values = rest.iter().enumerate().filter_map(|(at, word)| {
        let (name, value) = word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
        options.contains(&name).then(|| value.or_else(|| rest.get(at + 1).copied())).flatten()
    });
    let values: Vec<&str> = values.collect();
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(word));
    let operands = rest.iter().filter(|word| !word.starts_with('-') && !values.contains(word)).count();
    if subcommand == "config" && (has(&READS_CONFIG) || (operands < 2 && !has(&WRITES_CONFIG))) {
        return None;
    }
    values.into_iter().find_map(|path| look(folder, path))
}

/// Whether an option has `git clean` only show what it would take: `-ndx`.
fn is_dry(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains('n'))
}

impl Guard {
    /// Says what git puts back, moves or takes away.
    pub(super) fn put_back(&self, folder: Option<&str>, args: &[Word], look: &Look) -> Option<String> {
        let mut words = args.iter().map(|word| &*word.text);
        let mut folder = folder.map(str::to_owned);
        let subcommand = loop {
            match words.next()? {
                "-C" => folder = self.resolve(folder.as_deref(), words.next()?),
                "-c" | "--git-dir" | "--work-tree" | "--namespace" => {
                    words.next();
                }
                option if option.starts_with('-') => {}
                subcommand => break subcommand,
            }
        };
        let rest: Vec<&str> = words.collect();
        if subcommand == "init" {
            let root = rest.iter().find(|word| !word.starts_with('-')).copied().unwrap_or(".");
            return look(folder.as_deref(), &format!("{root}/.git"));
        }
        let has = |names: &[&str]| rest.iter().any(|word| names.contains(word));
        if let Some(found) = named_by_options(folder.as_deref(), subcommand, &rest, look) {
            return Some(found);
        }
        let writes = match subcommand {
            "checkout" | "checkout-index" | "mv" => true,
            "stash" => !rest.first().is_some_and(|verb| KEEPS.contains(verb)),
            "clean" => !has(&["-n", "--dry-run"]) && !rest.iter().any(|word| is_dry(word)),
            "restore" => !has(&["--staged", "-S"]) || has(&["--worktree", "-W"]),
            "rm" => !has(&["--cached"]),
            _ => false,
        };
        let is_kept = |at: usize| subcommand == "clean" && at > 0 && matches!(rest[at - 1], "-e" | "--exclude");
        let paths = rest.iter().enumerate().filter(|(at, word)| writes && !word.starts_with('-') && !is_kept(*at));
        let paths = paths.map(|(_, word)| word);
        let folder = folder.as_deref();
        // A path from the root on is one of the repository's.
        let plain = |path: &&str| path.strip_prefix(":/").unwrap_or(path).to_owned();
        let takes = matches!(subcommand, "mv" | "rm" | "clean");
        let holds = |path: &str| if takes { self.holds(folder, path) } else { self.filled(folder, path) };
        paths.map(plain).find_map(|path| look(folder, &path).or_else(|| holds(&path)))
    }
}
