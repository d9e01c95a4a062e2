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
    /// How many of what it is given first are written.
    pub operands: usize,
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
    operands: 0,
};
pub(super) const WGET: Options = Options {
    files: &["-O", "--output-document", "-o", "--output-file", "-a", "--append-output"],
    valued: "OoaeitTwQPUlARDXIB",
    folders: &["-P", "--directory-prefix"],
    keeps: None,
    fetches: true,
    operands: 0,
};
pub(super) const SORT: Options =
    Options { files: &["-o", "--output"], valued: "koStT", folders: &[], keeps: None, fetches: false, operands: 0 };

pub(super) const COMPILER: Options =
    Options { files: &["-o", "--output"], valued: "oIDLlxT", folders: &[], keeps: None, fetches: false, operands: 0 };
pub(super) const GPG: Options =
    Options { files: &["-o", "--output"], valued: "oru", folders: &[], keeps: None, fetches: false, operands: 0 };
pub(super) const OPENSSL: Options = Options { files: &["-out", "-keyout", "-writerand"], valued: "", ..OUTPUT };
/// Programs with `-o FILE`.
pub(super) const OUTPUT: Options =
    Options { files: &["-o", "--output"], valued: "", folders: &[], keeps: None, fetches: false, operands: 0 };
/// What programs name a file by that they write, where nothing else is known of them.
pub(super) const ANY_OUTPUT: Options = Options {
    files: &[
        "-o",
        "--output",
        "--output-file",
        "--out",
        "--outfile",
        "--outFile",
        "--summary",
        "--html",
        "-out",
        "-output",
    ],
    ..OUTPUT
};
/// What Fusebox itself writes.
pub(super) const SUMMARY: Options = Options { files: &["--summary", "--html"], ..OUTPUT };
pub(super) const TIME: Options = Options { valued: "fo", ..OUTPUT };
pub(super) const TRACE: Options = Options { valued: "eopsPEauS", ..OUTPUT };
pub(super) const ICONV: Options = Options { valued: "fto", ..OUTPUT };
pub(super) const LOG_FILE: Options = Options { files: &["--log-file", "--xml-file"], ..OUTPUT };
pub(super) const OUTFILE: Options = Options { files: &["--outfile"], ..OUTPUT };
pub(super) const CSPLIT: Options = Options { files: &["-f", "--prefix"], valued: "bfn", ..OUTPUT };
pub(super) const SCRIPT: Options = Options {
    files: &["-I", "-O", "-B", "-T", "--log-in", "--log-out", "--log-io", "--log-timing", "--timing"],
    valued: "cIOBTEomt",
    folders: &["--command", "--echo", "--logging-format", "--output-limit"],
    operands: 1,
    ..OUTPUT
};

/// Says what a program writes by these options.
pub(super) fn written(folder: Option<&str>, args: &[Word], options: &Options, look: &Look) -> Option<String> {
    let mut words = args.iter().map(|word| &*word.text).peekable();
    let (mut into, mut fetched, mut keeps) = (None, Vec::new(), options.keeps.is_none());
    while let Some(word) = words.next() {
        let Some((name, value)) = option(word, options) else {
            if !word.starts_with('-') {
                fetched.push(word);
            } else if let Some((letter, long)) = options.keeps {
                keeps |= word.starts_with(long) || (!word.starts_with("--") && word.contains(letter));
            }
            continue;
        };
        keeps |= options.keeps.is_some_and(|(letter, _)| {
            !word.starts_with("--") && word.trim_end_matches(value.unwrap_or("")).contains(letter)
        });
        let value = value.or_else(|| words.next());
        if options.folders.contains(&&*name) {
            into = value;
        } else if let Some(found) =
            value.filter(|_| options.files.contains(&&*name)).and_then(|path| look(folder, path))
        {
            return Some(found);
        }
    }
    if let Some(found) = fetched.iter().take(options.operands).find_map(|path| look(folder, path)) {
        return Some(found);
    }
    // One that the options name a file for keeps its name, too, for all that is known here.
    let named = fetched
        .iter()
        .filter(|_| options.fetches && keeps)
        .map(|url| base(url.split(['?', '#']).next().unwrap_or(url)));
    named.map(|name| format!("{}/{name}", into.unwrap_or("."))).find_map(|path| look(folder, &path))
}

/// Returns an option with a value, and its value where that stands in the same word.
fn option<'a>(word: &'a str, options: &Options) -> Option<(String, Option<&'a str>)> {
    // A long option may begin with one dash.
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    if options.files.contains(&name) && (value.is_none() || options.valued.is_empty()) {
        return Some((name.to_owned(), value));
    }
    if word.starts_with("--") {
        return (options.files.contains(&name) || options.folders.contains(&name)).then(|| (name.to_owned(), value));
    }
    let letters = word.strip_prefix('-')?;
    let at = letters.find(|letter| options.valued.contains(letter))?;
    let rest = &letters[at + 1..];
    Some((format!("-{}", &letters[at..=at]), Some(rest).filter(|rest| !rest.is_empty())))
}
