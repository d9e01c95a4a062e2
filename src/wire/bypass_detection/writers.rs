//! Which files a program writes, by its arguments.

use crate::wire::bypass_detection::at_hand::{Guard, Look};
use crate::wire::bypass_detection::copies::Copies;
use crate::wire::bypass_detection::databases;
use crate::wire::bypass_detection::downloads::{self, COMPILER, CURL, GPG, OPENSSL, Options, SORT, WGET};
use crate::wire::shell::Word;

/// Which of its arguments a program writes, moves or takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writes {
    /// All of them.
    All,
    /// All of them, with what is in them.
    Trees,
    /// All of them, and what is in them where the mode keeps their owner out.
    Mode,
    /// The first.
    First,
    /// The second.
    Second,
    /// The last, or what is in it under another's name.
    Copies(Copies),
    /// All of them with what is in them, and files of their names in the last.
    Moves,
    /// All of them where an option tells it to edit in place; the letters may stand before it.
    InPlace(&'static str),
    /// The values of options.
    Options(&'static Options),
    /// What is in an archive, in the folder that this option names.
    Unpacked(&'static str),
    /// All of them, unless an option keeps what is packed.
    Packs,
    /// All of them where this word is one.
    Where(&'static str),
    /// What follows `of=`.
    OutputOf,
    /// What git's subcommand puts back, moves or takes away.
    Git,
    /// A database, where the statements do more than read.
    Database,
}

const ROWS: [(&str, Writes); 97] = [
    ("rm", Writes::Trees),
    ("rmdir", Writes::All),
    ("unlink", Writes::All),
    ("shred", Writes::All),
    ("trash", Writes::Trees),
    ("truncate", Writes::All),
    ("touch", Writes::All),
    ("tee", Writes::All),
    ("sponge", Writes::All),
    ("chmod", Writes::Mode),
    ("chown", Writes::All),
    ("chgrp", Writes::All),
    ("chattr", Writes::All),
    ("setfacl", Writes::All),
    ("mkfifo", Writes::All),
    ("mknod", Writes::All),
    ("mount", Writes::Trees),
    ("umount", Writes::All),
    ("flock", Writes::All),
    ("ed", Writes::All),
    ("ex", Writes::All),
    ("patch", Writes::First),
    ("mv", Writes::Moves),
    ("cp", Writes::Copies(Copies::Folders)),
    ("ln", Writes::Copies(Copies::Links)),
    ("link", Writes::Copies(Copies::Links)),
    ("install", Writes::Copies(Copies::Files)),
    ("rsync", Writes::Copies(Copies::Trees)),
    ("scp", Writes::Copies(Copies::Files)),
    ("sed", Writes::InPlace("nErszu")),
    ("gsed", Writes::InPlace("nErszu")),
    ("perl", Writes::InPlace("pnlaw0")),
    ("ruby", Writes::InPlace("pnlaw0")),
    ("awk", Writes::InPlace("")),
    ("gawk", Writes::InPlace("")),
    ("yq", Writes::InPlace("rPjy")),
    ("curl", Writes::Options(&CURL)),
    ("wget", Writes::Options(&WGET)),
    ("sort", Writes::Options(&SORT)),
    ("tar", Writes::Unpacked("-C")),
    ("bsdtar", Writes::Unpacked("-C")),
    ("unzip", Writes::Unpacked("-d")),
    ("exch", Writes::All),
    ("rename", Writes::All),
    ("prename", Writes::All),
    ("strip", Writes::All),
    ("objcopy", Writes::All),
    ("patchelf", Writes::All),
    ("upx", Writes::All),
    ("install_name_tool", Writes::All),
    ("codesign", Writes::Where("-s")),
    ("vi", Writes::All),
    ("vim", Writes::All),
    ("nvim", Writes::All),
    ("nano", Writes::All),
    ("emacs", Writes::All),
    ("gzip", Writes::Packs),
    ("gunzip", Writes::Packs),
    ("bzip2", Writes::Packs),
    ("bunzip2", Writes::Packs),
    ("xz", Writes::Packs),
    ("unxz", Writes::Packs),
    ("lzma", Writes::Packs),
    ("zstd", Writes::Where("--rm")),
    ("lz4", Writes::Where("--rm")),
    ("compress", Writes::Packs),
    ("brotli", Writes::Where("--rm")),
    ("xxd", Writes::Where("-r")),
    ("fuser", Writes::Where("-k")),
    ("cc", Writes::Options(&COMPILER)),
    ("gcc", Writes::Options(&COMPILER)),
    ("g++", Writes::Options(&COMPILER)),
    ("clang", Writes::Options(&COMPILER)),
    ("ld", Writes::Options(&COMPILER)),
    ("rustc", Writes::Options(&COMPILER)),
    ("as", Writes::Options(&COMPILER)),
    ("gpg", Writes::Options(&GPG)),
    ("openssl", Writes::Options(&OPENSSL)),
    ("uniq", Writes::Second),
    ("dd", Writes::OutputOf),
    ("git", Writes::Git),
    ("sqlite3", Writes::Database),
    ("Remove-Item", Writes::Trees),
    ("Set-Content", Writes::All),
    ("Add-Content", Writes::All),
    ("Clear-Content", Writes::All),
    ("Out-File", Writes::All),
    ("New-Item", Writes::All),
    ("Rename-Item", Writes::Moves),
    ("Move-Item", Writes::Moves),
    ("Copy-Item", Writes::Copies(Copies::Files)),
    ("del", Writes::Trees),
    ("erase", Writes::All),
    ("rd", Writes::Trees),
    ("ren", Writes::Moves),
    ("move", Writes::Moves),
    ("copy", Writes::Copies(Copies::Files)),
];

/// What has a packer keep what it packs, or only look at it.
const KEEPS: [&str; 8] = ["-c", "--stdout", "--to-stdout", "-k", "--keep", "-t", "--test", "-l"];

/// What has `find` take away what it finds.
const DELETES: &[u8] = b"-delete";

/// Whether a text names a program that takes folders away: it need not name what is in them.
pub(super) fn names_one_that_takes_folders(text: &str) -> bool {
    let takes = |writes| {
        let copies = matches!(writes, Writes::Copies(Copies::Folders | Copies::Trees));
        copies || matches!(writes, Writes::Trees | Writes::Moves | Writes::Mode)
    };
    // Most words of a long text are none by their length or first letter.
    let begins = |byte: u8| matches!(byte.to_ascii_lowercase(), b'c' | b'd' | b'm' | b'r' | b't');
    let may_be = |word: &[u8]| (2..=11).contains(&word.len()) && begins(word[0]);
    let is_one =
        |word: &[u8]| ROWS.iter().any(|(name, writes)| takes(*writes) && name.as_bytes().eq_ignore_ascii_case(word));
    let mut words = text.as_bytes().split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-');
    words.any(|word| word == DELETES || (may_be(word) && is_one(word)))
}

impl Guard {
    /// Asks `look` about each path that a program writes, and returns the first thing that it says; `read` is what the program reads.
    pub(super) fn written(
        &self,
        folder: Option<&str>,
        (program, args): (&str, &[Word]),
        read: &[&str],
        look: &Look,
    ) -> Option<String> {
        let (_, writes) = ROWS.iter().find(|(name, _)| name.eq_ignore_ascii_case(program))?;
        let words = || args.iter().map(|word| &*word.text);
        let operands = || words().filter(|word| !word.starts_with('-'));
        let any = |found: Option<&str>| found.and_then(|path| look(folder, path));
        let own_or_above = |path: &str| look(folder, path).or_else(|| self.holds(folder, path));
        match writes {
            Writes::Trees => operands().find_map(own_or_above),
            Writes::Mode if words().any(keeps_out) => operands().find_map(own_or_above),
            Writes::All | Writes::Mode => operands().find_map(|path| look(folder, path)),
            Writes::First => any(operands().next()),
            Writes::Second => any(operands().nth(1)),
            Writes::Packs if words().any(|word| KEEPS.contains(&word)) => None,
            Writes::Packs => operands().find_map(|path| look(folder, path)),
            Writes::Where(option) if words().all(|word| word != *option) => None,
            Writes::Where(_) => operands().find_map(|path| look(folder, path)),
            Writes::Copies(how) => self.copied(folder, args, *how, look),
            Writes::Unpacked(option) => self.unpacked(folder, args, option, look),
            Writes::Moves => {
                // The destination is the last one, unless an option names it.
                let named = words().find(|word| word.starts_with("-t") || word.starts_with("--target-directory"));
                let is_apart = named.is_some_and(|word| matches!(word, "-t" | "--target-directory"));
                let sources = operands().count() - usize::from(named.is_none() && operands().next().is_some());
                let mut sources = operands().take(sources).skip(usize::from(is_apart));
                let own = operands().find_map(|path| look(folder, path));
                let above = || sources.find_map(|path| self.holds(folder, path));
                own.or_else(above).or_else(|| self.copied(folder, args, Copies::Files, look))
            }
            Writes::InPlace(letters) if edits_in_place(words(), letters) => {
                operands().find_map(|path| look(folder, path))
            }
            Writes::InPlace(_) => None,
            Writes::Options(of) => downloads::written(folder, args, of, look),
            Writes::OutputOf => words().find_map(|word| any(word.strip_prefix("of="))),
            Writes::Git => self.put_back(folder, args, look),
            Writes::Database => databases::written(folder, args, read, look),
        }
    }

    /// Says what git puts back, moves or takes away.
    fn put_back(&self, folder: Option<&str>, args: &[Word], look: &Look) -> Option<String> {
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
        let writes = match subcommand {
            "checkout" | "checkout-index" | "mv" | "stash" => true,
            "restore" => !has(&["--staged", "-S"]) || has(&["--worktree", "-W"]),
            "rm" => !has(&["--cached"]),
            _ => false,
        };
        let paths = rest.iter().filter(|word| writes && !word.starts_with('-'));
        let folder = folder.as_deref();
        // A path from the root on is one of the repository's.
        let plain = |path: &&str| path.strip_prefix(":/").unwrap_or(path).to_owned();
        let takes = matches!(subcommand, "mv" | "rm");
        let holds = |path: &str| if takes { self.holds(folder, path) } else { self.filled(folder, path) };
        paths.map(plain).find_map(|path| look(folder, &path).or_else(|| holds(&path)))
    }
}

/// Whether a mode takes the right to enter a folder from its owner: `0`, `644`, `a-x`, `u=rw`.
fn keeps_out(mode: &str) -> bool {
    if mode.bytes().all(|byte| byte.is_ascii_digit()) {
        let owner = mode.len().checked_sub(3).map_or(b'0', |at| mode.as_bytes()[at]);
        return !mode.is_empty() && (owner - b'0').is_multiple_of(2);
    }
    mode.split(',').any(|clause| match clause.split_once(['-', '=']) {
        Some((who, rights)) if who.bytes().all(|byte| b"ugoa".contains(&byte)) && !who.starts_with(['g', 'o']) => {
            rights.contains('x') == clause.contains('-')
        }
        _ => false,
    })
}

/// Whether options tell a program to edit its files: `-i`, `-ni`, `-i.bak`, `--in-place`, `-i inplace`.
fn edits_in_place<'a>(words: impl Iterator<Item = &'a str>, letters: &str) -> bool {
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let is_long = word.starts_with("--in-place") || word == "--inplace";
        let short = word.strip_prefix('-').map(|rest| rest.trim_start_matches(|c| letters.contains(c)));
        let is_short = short.is_some_and(|rest| rest.starts_with('i'));
        // Awk's option names a library.
        let is_library = letters.is_empty() && words.peek() != Some(&"inplace");
        if is_long || (is_short && !is_library) {
            return true;
        }
    }
    false
}
