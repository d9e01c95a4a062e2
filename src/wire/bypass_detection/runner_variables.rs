//! Variables that divert a client which is started with them: what sets them, options of programs that run it among others.

use crate::wire::bypass_detection::diversions;
use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::{assignment, program_name};

/// Programs that run others with another user's home: with one of these options, where there are some, and without one of those.
const HOMES: [(&str, &[&str], &[&str]); 5] = [
    ("su", &[], &["-m", "-p", "--preserve-environment"]),
    ("runuser", &[], &["-m", "-p", "--preserve-environment"]),
    ("sudo", &["-u", "-H", "-i", "--user", "--set-home", "--login"], &[]),
    ("doas", &["-u"], &[]),
    ("setpriv", &["--reset-env"], &[]),
];
/// Programs that set the variables which options of theirs assign.
const SETTING: [&str; 3] = ["systemd-run", "run0", "dotenv"];

/// How its hooks are missed where a command takes the environment away.
pub(super) const CLEARED: &str = "leads hooks to another state";
/// The longest name of a variable that is looked at, in bytes.
const LONGEST_NAME: usize = 100;

/// Returns a variable that diverts a client that is started with it, and what it does; the value that it has already does not.
pub(super) fn diverting(name: &str, value: Option<&str>) -> Option<(String, &'static str)> {
    let is_kept = |value: &str| value.strip_prefix('$').is_some_and(|it| it == name || it == format!("{{{name}}}"));
    if value.is_some_and(is_kept) || name.len() > LONGEST_NAME {
        return None;
    }
    diversions::variable_at_a_start(name, value).map(|row| (name.to_owned(), row.does))
}

/// Returns a variable that the programs which run a client set for it: as an option's value, or as another user's home.
pub(super) fn of_runner(it: &Invocation) -> Option<(String, &'static str)> {
    it.runners.iter().find_map(|(runner, args)| {
        let name = program_name(runner);
        let has = |options: &[&str]| args.iter().any(|word| options.contains(&&*word.text));
        let homes = HOMES.iter().find(|row| row.0 == name);
        if homes.is_some_and(|row| (row.1.is_empty() || has(row.1)) && !has(row.2)) {
            return Some(("HOME".to_owned(), CLEARED));
        }
        let set = args.iter().filter(|_| SETTING.contains(&name)).filter_map(|word| {
            let text = &*word.text;
            let inline = ["--setenv=", "-E"].iter().find_map(|option| text.strip_prefix(option));
            assignment(inline.unwrap_or(text))
        });
        set.into_iter().find_map(|(name, value)| diverting(name, Some(value)))
    })
}
