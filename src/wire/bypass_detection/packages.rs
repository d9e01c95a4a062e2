//! The removal of the package that the program has come with.

use crate::wire::shell::invocation::Invocation;

/// How the names of its packages begin: the command's own name is other people's.
const PACKAGE: &str = env!("CARGO_PKG_NAME");

/// Package managers, and what of theirs takes a package away.
const REMOVE: [(&str, &[&str]); 17] = [
    ("cargo", &["uninstall"]),
    ("npm", &["uninstall", "unlink", "remove", "rm", "r", "un"]),
    ("pnpm", &["remove", "rm", "uninstall", "un"]),
    ("yarn", &["remove"]),
    ("bun", &["remove", "rm"]),
    ("brew", &["uninstall", "remove", "rm", "unlink"]),
    ("apt", &["remove", "purge", "autoremove"]),
    ("apt-get", &["remove", "purge", "autoremove"]),
    ("dpkg", &["-r", "-P", "--remove", "--purge"]),
    ("dnf", &["remove", "erase"]),
    ("yum", &["remove", "erase"]),
    ("rpm", &["-e", "--erase"]),
    ("pacman", &["-R", "-Rs", "-Rns"]),
    ("apk", &["del"]),
    ("scoop", &["uninstall"]),
    ("choco", &["uninstall"]),
    ("winget", &["uninstall", "remove"]),
];

/// Says that an invocation takes the program's package away.
pub(super) fn removed(it: &Invocation) -> Option<String> {
    let (_, verbs) = REMOVE.iter().find(|(manager, _)| it.name().eq_ignore_ascii_case(manager))?;
    let words = || it.args.iter().map(|word| &*word.text);
    let takes = words().any(|word| verbs.contains(&word));
    let is_own = |word: &str| word.rsplit('/').next().is_some_and(|name| name.starts_with(PACKAGE));
    let named = words().find(|word| is_own(word)).filter(|_| takes)?;
    Some(format!("`{named}`, the package of the program that holds the limits"))
}
