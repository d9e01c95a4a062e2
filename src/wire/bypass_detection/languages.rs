//! What a program's text in another language plainly runs and writes: `python3 -c 'os.system("…")'`, a here-document for `node`.
//!
//! Only words in quotes are read that stand in a call of a function which runs commands or writes files.

use crate::domain::text::shell_word::quoted;
use crate::wire::bypass_detection::Walk;
use crate::wire::bypass_detection::language_calls::{FLAGS, Takes, WRITES, WRITES_HELD, taken};
use crate::wire::bypass_detection::quoted_commands::quoted_commands;
use crate::wire::shell::invocation::Invocation;

/// How the names of the programs begin, and the options that a text follows.
const LANGUAGES: [(&str, &[&str]); 8] = [
    ("python", &["-c"]),
    ("pypy", &["-c"]),
    ("node", &["-e", "--eval", "-p", "--print"]),
    ("bun", &["-e", "--eval"]),
    ("deno", &["eval"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("php", &["-r"]),
];

/// Functions that run a command, a text for a shell or words: those that are called so elsewhere, too, and those that are not.
const RUNS: [&str; 7] = ["call", "popen", "run", "shell_exec", "spawn", "system", "exec"];
const RUNS_SURELY: [&str; 8] =
    ["Popen", "check_call", "check_output", "execFile", "execFileSync", "execSync", "getoutput", "spawnSync"];

/// How functions begin that run a program, whose own name they are given before its arguments; and how they end.
const RUNS_NAMED: [&str; 3] = ["exec", "spawn", "posix_spawn"];
const ENDS: [&str; 9] = ["l", "le", "lp", "lpe", "v", "ve", "vp", "vpe", "p"];

/// Functions that write what they are given into the file that stands before them.
const WRITES_INTO: [&str; 11] = [
    "chmod",
    "hardlink_to",
    "lchmod",
    "rename",
    "replace",
    "rmdir",
    "symlink_to",
    "touch",
    "unlink",
    "write_bytes",
    "write_text",
];

/// What holds such functions.
const HOLDERS: [&str; 16] = [
    "Bun",
    "Deno",
    "File",
    "FileUtils",
    "Path",
    "child_process",
    "cp",
    "fs",
    "fsp",
    "os",
    "pathlib",
    "promises",
    "require",
    "shutil",
    "sp",
    "subprocess",
];

/// The most parts of a text that one call is looked for in.
const LONGEST_CALL: usize = 64;

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
enum Token<'t> {
    Name(&'t str),
    Text(&'t str),
    Sign(char),
}

impl Walk<'_> {
    /// Says what the text of a program in another language does that is refused.
    pub(super) fn other_language(&mut self, it: &Invocation, read: &[&str], depth: usize) -> Option<String> {
        let (_, options) = LANGUAGES.iter().find(|row| it.name().starts_with(row.0))?;
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
        texts.into_iter().find_map(|text| {
            let run = quoted_commands(it.name(), text).into_iter().find_map(|command| self.text(command, depth + 1));
            run.or_else(|| self.calls(&tokens(text), depth))
        })
    }

    fn calls(&mut self, tokens: &[Token], depth: usize) -> Option<String> {
        tokens.iter().enumerate().find_map(|(at, token)| {
            let Token::Name(name) = token else { return None };
            let before = &tokens[..at];
            let given = || literals(&tokens[at + 1..]);
            // Of a path the file is named before: `Path("x").write_text(…)`.
            let named = match before {
                [.., Token::Name("Path"), Token::Sign('('), Token::Text(path), Token::Sign(')'), Token::Sign('.')] => {
                    Some(*path)
                }
                _ => None,
            };
            let is_held = || holder(before).is_none_or(|holder| HOLDERS.contains(&holder));
            let is_named =
                RUNS_NAMED.iter().any(|begin| name.strip_prefix(begin).is_some_and(|end| ENDS.contains(&end)));
            if is_named || RUNS_SURELY.contains(name) || (RUNS.contains(name) && is_held()) {
                let mut words = given();
                if is_named && words.len() > 1 {
                    words.remove(1);
                }
                let words: Vec<String> =
                    words.iter().map(|word| if words.len() > 1 { quoted(word) } else { (*word).to_owned() }).collect();
                return if words.is_empty() { None } else { self.text(&words.join(" "), depth + 1) };
            }
            if let Some(path) = named {
                let opens =
                    || *name == "open" && !taken(Takes::ByMode, &[&[path], &given()[..]].concat(), false).is_empty();
                return if WRITES_INTO.contains(name) || opens() { self.is_written(path) } else { None };
            }
            let held = || WRITES_HELD.iter().filter(|_| is_held());
            let row = WRITES.iter().chain(held()).find(|row| row.0 == *name);
            let taken = row.map(|(_, takes)| taken(*takes, &given(), opens_to_write(&tokens[at + 1..])));
            taken.unwrap_or_default().into_iter().find_map(|path| self.is_written(path))
        })
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
        [.., Token::Name(name)] | [.., Token::Name(name), Token::Sign('('), Token::Text(_), Token::Sign(')')] => {
            Some(name)
        }
        _ => Some(""),
    }
}

/// Whether a call's own words name a flag by which a file is opened to write.
fn opens_to_write(tokens: &[Token]) -> bool {
    let is_in_call = |token: &&Token| !matches!(token, Token::Sign(')' | ';'));
    let is_flag = |token: &Token| matches!(token, Token::Name(name) if FLAGS.contains(name));
    tokens.iter().take(LONGEST_CALL).take_while(is_in_call).any(is_flag)
}

/// Returns the words in quotes that a function is given.
fn literals<'t>(tokens: &[Token<'t>]) -> Vec<&'t str> {
    let mut depth = 0_usize;
    let mut found = Vec::new();
    for (at, token) in tokens.iter().take(LONGEST_CALL).enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') if depth <= 1 => break,
            Token::Sign(')' | ']' | '}') => depth -= 1,
            Token::Text(text) => found.push(*text),
            // Some languages leave the parentheses out.
            Token::Sign(',') => {}
            _ if depth == 0 => break,
            _ => {}
        }
        if at == 0 && !matches!(token, Token::Sign('(') | Token::Text(_)) {
            break;
        }
    }
    found
}

/// Splits a text into names, words in quotes and signs; comments are left out.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = match first {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '\'' | '"' | '`' => {
                let mark = ["\"\"\"", "'''"].into_iter().find(|mark| rest.starts_with(mark)).map_or(1, str::len);
                let inner = &rest[mark..];
                let end = ends(inner, &rest[..mark]);
                found.push(Token::Text(&inner[..end]));
                (mark + end + mark).min(rest.len())
            }
            letter if is_name(letter) => {
                let length = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
                found.push(Token::Name(&rest[..length]));
                length
            }
            letter => {
                found.extend((!letter.is_whitespace()).then_some(Token::Sign(letter)));
                letter.len_utf8()
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    found
}

/// Returns where a word in quotes ends.
fn ends(inner: &str, mark: &str) -> usize {
    let bytes = inner.as_bytes();
    let mut at = 0;
    while at < bytes.len() && !bytes[at..].starts_with(mark.as_bytes()) {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}
