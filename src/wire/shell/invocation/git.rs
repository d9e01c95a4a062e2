//! What git runs by its configuration and its subcommands: `git -c alias.z='!make' z`, `git submodule foreach make`.

use std::borrow::Cow;

use crate::wire::shell::Word;

/// Names of configuration whose value git gives a shell, each with what it begins and ends with.
const RUN: [(&str, &str); 26] = [
    ("core.editor", ""),
    ("core.pager", ""),
    ("core.sshcommand", ""),
    ("core.askpass", ""),
    ("core.fsmonitor", ""),
    ("core.gitproxy", ""),
    ("core.alternaterefscommand", ""),
    ("sequence.editor", ""),
    ("pager.", ""),
    ("credential.", ".helper"),
    ("credential.helper", ""),
    ("diff.external", ""),
    ("diff.", ".command"),
    ("diff.", ".textconv"),
    ("merge.", ".driver"),
    ("difftool.", ".cmd"),
    ("mergetool.", ".cmd"),
    ("filter.", ".clean"),
    ("filter.", ".smudge"),
    ("filter.", ".process"),
    ("interactive.difffilter", ""),
    ("gpg.", "program"),
    ("trailer.", ".cmd"),
    ("trailer.", ".command"),
    ("uploadpack.packobjectshook", ""),
    ("remote.", "pack"),
];

/// Options of subcommands whose value a shell is given.
const OPTIONS: [&str; 17] = [
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--extcmd",
    "-x",
    "--open-files-in-pager",
    "--tree-filter",
    "--index-filter",
    "--env-filter",
    "--msg-filter",
    "--parent-filter",
    "--commit-filter",
    "--tag-name-filter",
    "--setup",
    "--sendmail-cmd",
    "--to-cmd",
    "--cc-cmd",
];

/// The subcommands in which those options stand for one.
const WITH_OPTIONS: [&str; 12] = [
    "fetch",
    "pull",
    "push",
    "clone",
    "ls-remote",
    "fetch-pack",
    "send-pack",
    "archive",
    "difftool",
    "grep",
    "filter-branch",
    "send-email",
];

/// Returns the texts that git gives a shell.
pub(super) fn scripts<'a>(args: &'a [Word<'a>]) -> Vec<Cow<'a, str>> {
    let words: Vec<&str> = args.iter().map(|word| &*word.text).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        let has_value = matches!(*word, "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path");
        if *word == "-c" {
            let set = words.get(at + 1).and_then(|set| set.split_once('='));
            found.extend(set.and_then(|(name, value)| configured(name, value, &[])));
        }
        at += 1 + usize::from(has_value);
    }
    let (subcommand, rest) = words.get(at..).and_then(|words| words.split_first()).unwrap_or((&"", &[]));
    match *subcommand {
        "submodule" => {
            let foreach = rest.iter().position(|word| *word == "foreach");
            let run = foreach.map(|at| rest[at + 1..].iter().skip_while(|word| word.starts_with('-')).copied());
            found.extend(run.map(|run| run.collect::<Vec<_>>().join(" ")));
        }
        "config" => {
            let set = rest.iter().position(|word| word.contains('.') && !word.starts_with('-'));
            let set = set.and_then(|at| Some((rest[at], rest.get(at + 1)?)));
            found.extend(set.and_then(|(name, value)| configured(name, value, &[])));
        }
        subcommand if WITH_OPTIONS.contains(&subcommand) => {
            for (at, word) in rest.iter().enumerate() {
                let (name, value) = word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
                let attached = || word.strip_prefix("-O").filter(|_| subcommand == "grep");
                if OPTIONS.contains(&name) {
                    found.extend(value.or_else(|| rest.get(at + 1).copied()).map(str::to_owned));
                } else {
                    found.extend(attached().map(str::to_owned));
                }
            }
        }
        // An alias that the same command makes gets what stands behind its name.
        name => {
            let key = format!("alias.{name}=");
            let alias = words.iter().find_map(|word| word.strip_prefix(&key)).filter(|_| !name.is_empty());
            found.extend(alias.and_then(|value| configured(&key[..key.len() - 1], value, rest)));
        }
    }
    found.into_iter().map(Cow::Owned).collect()
}

/// Returns the text that a value of git's configuration has a shell run.
fn configured(name: &str, value: &str, behind: &[&str]) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let bare = value.strip_prefix('!');
    let is_run = match name.starts_with("alias.") {
        true => bare.is_some(),
        false => RUN.iter().any(|(start, end)| name.starts_with(start) && name.ends_with(end)),
    };
    is_run.then(|| [&[bare.unwrap_or(value)], behind].concat().join(" "))
}
