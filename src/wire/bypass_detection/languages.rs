//! What a program's text in another language plainly runs and writes: `python3 -c 'os.system("…")'`, a here-document for `node`.
//!
//! Only words in quotes are read that stand in a call of a function which runs commands or writes files.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::iter::once;

use crate::domain::text::shell_word::quoted;
use crate::wire::bypass_detection::Walk;
use crate::wire::bypass_detection::language_calls::{
    FLAGS, RUNS, RUNS_SURELY, Takes, WRITES, WRITES_HELD, WRITES_INTO, is_named, may_run, taken, tells_its_files,
};
use crate::wire::bypass_detection::program_calls::{Given, LONGEST_CALL, given};
use crate::wire::bypass_detection::program_names::{Names, is_defined};
use crate::wire::bypass_detection::program_text::{Token, tokens};
use crate::wire::bypass_detection::quoted_commands::quoted_commands;
use crate::wire::shell::invocation::Invocation;

/// How the names of the programs begin, the options that a text follows, and what a comment begins with.
const LANGUAGES: [(&str, &[&str], &[&str]); 8] = [
    ("python", &["-c"], &["#"]),
    ("pypy", &["-c"], &["#"]),
    ("node", &["-e", "--eval", "-p", "--print"], &["//"]),
    ("bun", &["-e", "--eval"], &["//"]),
    ("deno", &["eval"], &["//"]),
    // There `$#a` and `s#a#b#` are none.
    ("perl", &["-e", "-E"], &[" #", "\t#", "\n#", ";#"]),
    ("ruby", &["-e"], &["#"]),
    ("php", &["-r"], &["//", "#"]),
];

/// Functions that move the file that stands before them to where they are told.
const MOVES: [&str; 2] = ["rename", "replace"];

/// A function that leads what follows into a folder.
const ENTERS: &str = "chdir";

/// The function of Node that loads a module.
const REQUIRE: &str = "require";

/// What holds such functions.
const HOLDERS: [&str; 19] = [
    "Bun",
    "Deno",
    "Dir",
    "File",
    "FileUtils",
    "Path",
    "child_process",
    "cp",
    "execa",
    "fs",
    "fsp",
    "os",
    "pathlib",
    "process",
    "promises",
    "shelljs",
    "shutil",
    "sp",
    "subprocess",
];

impl Walk<'_> {
    /// Says what the text of a program in another language does that is refused.
    pub(super) fn other_language(&mut self, it: &Invocation, read: &[&str], depth: usize) -> Option<String> {
        let (_, options, comments) = LANGUAGES.iter().find(|row| it.name().starts_with(row.0))?;
        let mut texts: Vec<&str> = Vec::new();
        for (at, word) in it.args.iter().enumerate() {
            let attached =
                options.iter().filter(|option| option.len() == 2).find_map(|option| word.text.strip_prefix(option));
            if options.iter().any(|option| *option == word.text || bundles(&word.text, option)) {
                texts.extend(it.args.get(at + 1).map(|text| &*text.text));
            } else {
                texts.extend(attached);
            }
        }
        if it.args.iter().all(|word| word.text.starts_with('-')) {
            texts.extend(read);
        }
        texts.retain(|text| self.guard.mentions(text));
        let scope = self.scope.clone();
        let refused = texts.into_iter().find_map(|text| {
            let run = quoted_commands(it.name(), text).into_iter().find_map(|command| self.text(command, depth + 1));
            let tokens = tokens(text, comments);
            run.or_else(|| self.calls(&tokens, &renamed(&tokens), &Names::of(&tokens), depth))
        });
        self.scope = scope;
        refused
    }

    fn calls(&mut self, tokens: &[Token], renamed: &BTreeSet<&str>, names: &Names, depth: usize) -> Option<String> {
        tokens.iter().enumerate().find_map(|(at, token)| {
            let Token::Name(name) = token else { return None };
            let before = &tokens[..at];
            let given = || given(&tokens[at + 1..], names);
            // Of a path the file is named before: `Path("x").write_text(…)`.
            let named = match before {
                [.., Token::Name("Path"), Token::Sign('('), path, Token::Sign(')'), Token::Sign('.')] => match path {
                    Token::Text(path) => Some(*path),
                    Token::Name(name) => names.value(name),
                    Token::Sign(_) => None,
                },
                [.., Token::Name(name), Token::Sign('.')] => names.path(name),
                _ => None,
            };
            let is_held = || holder(before).is_none_or(|holder| HOLDERS.contains(&holder) || renamed.contains(holder));
            let is_named = is_named(name);
            if is_defined(before) {
                return None;
            }
            // What is one's own function is no other's, where it runs nothing and it is told what it writes.
            let own = names.called(tokens, at).filter(|_| !matches!(before, [.., Token::Sign('.')]));
            if let Some((names, body)) = own.filter(|(_, body)| !body.iter().any(|it| it.is_name(may_run))) {
                let refused = self.calls(body, renamed, &names, depth);
                if refused.is_some() || tells_its_files(body, &names) {
                    return refused;
                }
            }
            if is_named || RUNS_SURELY.contains(name) || (RUNS.contains(name) && is_held()) {
                return self.runs(given(), is_named, depth);
            }
            if *name == ENTERS && is_held() {
                // What follows goes on in that folder.
                return given()
                    .words
                    .first()
                    .and_then(|folder| self.text(&format!("cd {}", quoted(folder)), depth + 1));
            }
            if let Some(path) = named {
                return self.path_is_written(path, name, &given().words);
            }
            let held = || WRITES_HELD.iter().filter(|_| is_held());
            let row = WRITES.iter().chain(held()).find(|row| row.0 == *name);
            let (_, takes) = row?;
            let given = given().words;
            let words: Vec<&str> = given.iter().map(|word| &**word).collect();
            let taken = taken(*takes, &words, opens_to_write(&tokens[at + 1..]));
            taken.into_iter().find_map(|path| self.is_written(path))
        })
    }

    /// Says what a command does that is refused, which a function is given as a text or as words.
    fn runs(&mut self, given: Given, is_named: bool, depth: usize) -> Option<String> {
        let Given { mut words, folder } = given;
        if is_named && words.len() > 1 {
            words.remove(1);
        }
        let is_text = words.len() == 1;
        let words: Vec<Cow<str>> =
            words.iter().map(|word| if is_text { Cow::Borrowed(&**word) } else { quoted(word).into() }).collect();
        let command = Some(words.join(" ")).filter(|command| !command.is_empty())?;
        let scope = self.scope.clone();
        let entered = folder.and_then(|folder| self.text(&format!("cd {}", quoted(&folder)), depth + 1));
        let refused = entered.or_else(|| self.text(&command, depth + 1));
        self.scope = scope;
        refused
    }

    /// Says which file is written that is named before its function: `Path("x").rename("y")`.
    fn path_is_written(&self, path: &str, name: &str, given: &[Cow<str>]) -> Option<String> {
        let words: Vec<&str> = once(path).chain(given.iter().map(|word| &**word)).collect();
        let takes = match name {
            "open" => Takes::ByMode,
            _ if MOVES.contains(&name) => Takes::Both,
            _ if WRITES_INTO.contains(&name) => Takes::First,
            _ => return None,
        };
        taken(takes, &words, false).into_iter().find_map(|path| self.is_written(path))
    }

    fn is_written(&self, path: &str) -> Option<String> {
        let folder = self.scope.folder.as_deref();
        self.guard.guarded(folder, path).or_else(|| self.guard.holds(folder, path))
    }
}

/// Whether options of one letter in one word end with one: `-we`.
fn bundles(word: &str, option: &str) -> bool {
    let letters = word.strip_prefix('-').zip(option.strip_prefix('-').filter(|letter| letter.len() == 1));
    letters.is_some_and(|(letters, letter)| {
        letters.ends_with(letter) && letters.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Returns the name of what a function is called of: `os` of `os.remove`; nothing where it stands alone.
fn holder<'t>(before: &[Token<'t>]) -> Option<&'t str> {
    let [before @ .., Token::Sign('.')] = before else { return None };
    match before {
        [.., Token::Name(REQUIRE), Token::Sign('('), Token::Text(module), Token::Sign(')')] => Some(held_by(module)),
        [.., Token::Name(name)] | [.., Token::Name(name), Token::Sign('('), Token::Text(_), Token::Sign(')')] => {
            Some(name)
        }
        _ => Some(""),
    }
}

/// Returns which holder of functions a module of Node is: `fs` of `node:fs/promises`; nothing of a text's own files.
fn held_by(module: &str) -> &str {
    let mut parts = module.split(['/', ':', '-']).take_while(|part| !part.starts_with('.'));
    parts.find(|part| HOLDERS.contains(part)).unwrap_or_default()
}

/// Returns the names that a text gives to what holds functions: `import os as o`, `f = require("fs")`, `import f from "fs"`.
fn renamed<'t>(tokens: &[Token<'t>]) -> BTreeSet<&'t str> {
    let names = tokens.iter().enumerate().filter_map(|(at, token)| match (&tokens[..at], token, &tokens[at + 1..]) {
        ([.., Token::Name(held), Token::Name("as")], Token::Name(name), _) if HOLDERS.contains(held) => Some(*name),
        ([.., Token::Name(name), Token::Name("from")], Token::Text(module), _) if !held_by(module).is_empty() => {
            Some(*name)
        }
        (
            [.., Token::Name(name), Token::Sign('='), Token::Name(REQUIRE), Token::Sign('(')],
            Token::Text(module),
            [Token::Sign(')'), behind @ ..],
        ) if !held_by(module).is_empty() && !calls_on(behind) => Some(*name),
        _ => None,
    });
    names.collect()
}

/// Whether something else is taken of a module than the part of it that holds functions: `require("fs").readFileSync(…)`.
fn calls_on(behind: &[Token]) -> bool {
    match behind {
        [Token::Sign('.'), Token::Name("promises"), behind @ ..] => matches!(behind, [Token::Sign('.'), ..]),
        _ => matches!(behind, [Token::Sign('.'), ..]),
    }
}

/// Whether a call's own words name a flag by which a file is opened to write.
fn opens_to_write(tokens: &[Token]) -> bool {
    let is_in_call = |token: &&Token| !matches!(token, Token::Sign(')' | ';'));
    let is_flag = |token: &Token| matches!(token, Token::Name(name) if FLAGS.contains(name));
    tokens.iter().take(LONGEST_CALL).take_while(is_in_call).any(is_flag)
}
