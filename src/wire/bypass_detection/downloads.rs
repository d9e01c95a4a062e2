//! Which files a program writes by its options: `curl -so FILE`, `wget -qO FILE`, `sort -o FILE`.

use crate::wire::bypass_detection::at_hand::Look;
use crate::wire::shell::{Word, base};

/// A program that writes the values of options.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// The options.
    pub files: &'static [&'static str],
    /// All letters that have a value.
    pub valued: &'static str,
    /// The options that name a folder for what keeps its name.
    pub folders: &'static [&'static str],
    /// What has a file keep its name; nothing where each does.
    pub keeps: Option<(char, &'static str)>,
    /// Whether what it is given is fetched.
    pub fetches: bool,
}

pub(super) const CURL: Options = Options {
    files: &[
        "-o",
        "--output",
        "-D",
        "--dump-header",
        "-c",
        "--cookie-jar",
        "--trace",
        "--trace-ascii",
        "--stderr",
        "--hsts",
    ],
    valued: "AbCcdDeEFhHKmoPQrtTuUwxXyYz",
    folders: &["--output-dir"],
    keeps: Some(('O', "--remote-name")),
    fetches: true,
};
pub(super) const WGET: Options = Options {
    files: &["-O", "--output-document", "-o", "--output-file", "-a", "--append-output"],
    valued: "OoaeitTwQPUlARDXIB",
    folders: &["-P", "--directory-prefix"],
    keeps: None,
    fetches: true,
};
pub(super) const SORT: Options =
    Options { files: &["-o", "--output"], valued: "koStT", folders: &[], keeps: None, fetches: false };

pub(super) const COMPILER: Options =
    Options { files: &["-o", "--output"], valued: "oIDLlxT", folders: &[], keeps: None, fetches: false };
pub(super) const GPG: Options =
    Options { files: &["-o", "--output"], valued: "oru", folders: &[], keeps: None, fetches: false };
pub(super) const OPENSSL: Options = Options { files: &["-o"], valued: "", folders: &[], keeps: None, fetches: false };

/// Says what a program writes by these options.
pub(super) fn written(folder: Option<&str>, args: &[Word], of: &Options, look: &Look) -> Option<String> {
    let mut words = args.iter().map(|word| &*word.text).peekable();
    let (mut into, mut fetched, mut keeps) = (None, Vec::new(), of.keeps.is_none());
    while let Some(word) = words.next() {
        let Some((name, value)) = option(word, of) else {
            if !word.starts_with('-') {
                fetched.push(word);
            } else if let Some((letter, long)) = of.keeps {
                keeps |= word.starts_with(long) || (!word.starts_with("--") && word.contains(letter));
            }
            continue;
        };
        keeps |= of.keeps.is_some_and(|(letter, _)| {
            !word.starts_with("--") && word.trim_end_matches(value.unwrap_or("")).contains(letter)
        });
        let value = value.or_else(|| words.next());
        if of.folders.contains(&&*name) {
            into = value;
        } else if let Some(found) = value.filter(|_| of.files.contains(&&*name)).and_then(|path| look(folder, path)) {
            return Some(found);
        }
    }
    // One that the options name a file for keeps its name, too, for all that is known here.
    let named =
        fetched.iter().filter(|_| of.fetches && keeps).map(|url| base(url.split(['?', '#']).next().unwrap_or(url)));
    named.map(|name| format!("{}/{name}", into.unwrap_or("."))).find_map(|path| look(folder, &path))
}

/// Returns an option with a value, and its value where that stands in the same word.
fn option<'a>(word: &'a str, of: &Options) -> Option<(String, Option<&'a str>)> {
    if word.starts_with("--") {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        return (of.files.contains(&name) || of.folders.contains(&name)).then(|| (name.to_owned(), value));
    }
    let letters = word.strip_prefix('-')?;
    let at = letters.find(|letter| of.valued.contains(letter))?;
    let rest = &letters[at + 1..];
    Some((format!("-{}", &letters[at..=at]), Some(rest).filter(|rest| !rest.is_empty())))
}
