//! What a copy, a link or an unpacked archive overwrites.

use crate::wire::bypass_detection::at_hand::{Guard, Look};
use crate::wire::bypass_detection::lies::{fits, is_pattern};
use crate::wire::bypass_detection::path_rules::LONGEST;
use crate::wire::shell::{Word, base};

/// Options of programs that copy, whose values are no files that they copy.
const VALUED: [&str; 10] =
    ["-m", "--mode", "-o", "--owner", "-g", "--group", "--exclude", "--include", "--suffix", "--rsh"];

/// Options of `rsync` whose values are no files that it copies.
const VALUED_IN_SYNC: [&str; 9] =
    ["-e", "--rsh", "-f", "--filter", "--exclude", "--include", "--exclude-from", "--include-from", "--files-from"];

/// Options with which the destination is no folder that something is put into.
const REPLACES: [&str; 2] = ["--no-target-directory", "--no-dereference"];

/// How a program copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copies {
    /// As `scp`: into the destination, under the same name.
    Files,
    /// As `cp`: the same, with whole folders.
    Folders,
    /// As `ln`: one word alone is put into the folder at hand.
    Links,
    /// As `rsync`: what is in a folder whose name ends with a slash.
    Trees,
}

/// What the words of a copy are.
struct Operands<'a> {
    words: Vec<&'a str>,
    destination: Option<&'a str>,
    /// Whether the destination itself is replaced.
    replaces: bool,
    /// Whether what is not copied is taken away.
    deletes: bool,
}

fn operands<'a>(args: &'a [Word], how: Copies) -> Operands<'a> {
    let mut found = Operands { words: Vec::new(), destination: None, replaces: false, deletes: false };
    let valued: &[&str] = if how == Copies::Trees { &VALUED_IN_SYNC } else { &VALUED };
    let short = |word: &str, letters: &[u8]| !word.starts_with("--") && word.bytes().any(|it| letters.contains(&it));
    let mut words = args.iter().map(|word| &*word.text);
    while let Some(word) = words.next() {
        match word {
            "-t" | "--target-directory" if how != Copies::Trees => found.destination = words.next(),
            _ if valued.contains(&word) => {
                words.next();
            }
            _ if word.starts_with('-') && word.len() > 1 => {
                found.destination = word.strip_prefix("--target-directory=").or(found.destination);
                let letters: &[u8] = if how == Copies::Links { b"nTh" } else { b"T" };
                found.replaces |= REPLACES.contains(&word) || (how != Copies::Trees && short(word, letters));
                found.deletes |= how == Copies::Trees && (word.starts_with("--del") || word == "--remove-source-files");
            }
            _ => found.words.push(word),
        }
    }
    found
}

/// Returns the archive that `tar` makes or adds to.
pub(super) fn archive_made<'a>(words: &[&'a str]) -> Option<&'a str> {
    let is_bundle = |at: usize, word: &str| !word.starts_with("--") && (at == 0 || word.starts_with('-'));
    let long = ["--create", "--append", "--update", "--delete", "--concatenate"];
    let makes = |(at, word): (usize, &&str)| {
        (is_bundle(at, word) && word.contains(['c', 'r', 'u', 'A'])) || long.contains(word)
    };
    if !words.iter().enumerate().any(makes) {
        return None;
    }
    words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("--file") {
        Some("") => words.get(at + 1).copied(),
        Some(value) => value.strip_prefix('='),
        None => {
            let (_, attached) = word.split_once('f').filter(|_| is_bundle(at, word))?;
            if attached.is_empty() || at == 0 { words.get(at + 1).copied() } else { Some(attached) }
        }
    })
}

/// Whether `rsync` only shows what it would copy.
fn is_dry_run(words: &[&str]) -> bool {
    let is_value = |at: usize| at > 0 && VALUED_IN_SYNC.contains(&words[at - 1]);
    let shows = |word: &str| {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        let is_bundle = |letters: &str| letters.bytes().all(|byte| byte.is_ascii_alphabetic()) && letters.contains('n');
        word == "--dry-run" || letters.is_some_and(|letters| !letters.contains(['e', 'f']) && is_bundle(letters))
    };
    words.iter().enumerate().any(|(at, word)| !is_value(at) && shows(word))
}

impl Guard {
    /// Says what a copy overwrites: its destination, or what is in it under the names that it copies.
    pub(super) fn copied(&self, folder: Option<&str>, args: &[Word], how: Copies, look: &Look) -> Option<String> {
        if how == Copies::Trees && is_dry_run(&args.iter().map(|word| &*word.text).collect::<Vec<_>>()) {
            return None;
        }
        let found = operands(args, how);
        let alone = (how == Copies::Links && found.words.len() == 1).then_some(".");
        // One word alone names no destination.
        let last = (found.words.len() > 1).then(|| found.words[found.words.len() - 1]);
        let destination = found.destination.or(last).or(alone).filter(|path| path.len() <= LONGEST)?;
        let is_last = found.destination.is_none() && last.is_some();
        let sources = &found.words[..found.words.len() - usize::from(is_last)];
        let has_contents =
            |path: &&str| matches!(base(path), "." | "..") || (how == Copies::Trees && path.ends_with('/'));
        look(folder, destination)
            .or_else(|| self.holds(folder, destination).filter(|_| found.deletes))
            .or_else(|| self.holds_plainly(folder, destination).filter(|_| found.replaces))
            .or_else(|| self.filled(folder, destination).filter(|_| sources.iter().any(&has_contents)))
            .or_else(|| {
                sources.iter().filter(|path| !has_contents(path)).find_map(|path| {
                    let mut inside = format!("{destination}/{}", base(path.trim_end_matches('/')));
                    if self.means_programs(folder, &inside) && self.is_without_program(folder, path) {
                        // What else is ours has such a name.
                        inside = format!("{destination}/*.json");
                    }
                    look(folder, &inside).or_else(|| self.holds_plainly(folder, &inside))
                })
            })
    }

    /// Whether a word means files of a folder among which none is known that is called as the program is: `build/*`. Of a folder that
    /// text does not tell none is.
    fn is_without_program(&self, folder: Option<&str>, word: &str) -> bool {
        let Some(path) = self.resolve(folder, word) else { return true };
        let (beside, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let is_on_disk = |own: &str| self.is_there.is_some_and(|is_there| is_there(&format!("{beside}/{own}")));
        let is_there = |own: &str| fits(name, own) && (self.writes_like_program.get() || is_on_disk(own));
        !is_pattern(beside) && !self.programs().map(base).any(is_there)
    }

    /// Says what an archive overwrites that is unpacked: in the folder that an option names, or by the members that are named.
    pub(super) fn unpacked(&self, folder: Option<&str>, args: &[Word], option: &str, look: &Look) -> Option<String> {
        let words: Vec<&str> = args.iter().map(|word| &*word.text).collect();
        let unpacks = |word: &&str| {
            word.strip_prefix("--").map_or_else(|| word.contains('x'), |it| matches!(it, "extract" | "get"))
        };
        if option == "-C"
            && !words.iter().enumerate().any(|(at, word)| (at == 0 || word.starts_with('-')) && unpacks(word))
        {
            return None;
        }
        let mut into = folder.map(str::to_owned);
        let mut members = Vec::new();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let named = match *word {
                word if word == option || word == "--directory" => rest.next().copied(),
                word => {
                    word.strip_prefix("--directory=").or_else(|| word.strip_prefix(option).filter(|it| !it.is_empty()))
                }
            };
            match named {
                Some(named) => {
                    let filled = look(folder, named).or_else(|| self.filled(folder, named));
                    if filled.is_some() {
                        return filled;
                    }
                    into = self.resolve(folder, named);
                }
                None if !word.starts_with('-') => members.push(*word),
                None => {}
            }
        }
        members
            .iter()
            .find_map(|path| look(into.as_deref(), path).or_else(|| self.holds_plainly(into.as_deref(), path)))
    }
}
