//! Which files a program writes, by its arguments.

use crate::wire::bypass_detection::at_hand::{Guard, Look};
use crate::wire::bypass_detection::copies::{self, Copies};
use crate::wire::bypass_detection::databases;
use crate::wire::bypass_detection::downloads;
use crate::wire::bypass_detection::write_rows::{ROWS, Writes};
use crate::wire::shell::Word;

/// What has a packer keep what it packs, or only look at it.
const KEEPS: [&str; 8] = ["-c", "--stdout", "--to-stdout", "-k", "--keep", "-t", "--test", "-l"];

/// What has a program only show what it would write.
const PREVIEWS: [&str; 2] = ["-p", "--preview"];

/// What has `find` take away what it finds.
const DELETES: &str = "-delete";

/// Whether a byte may stand in the name of a program.
const IN_NAMES: [bool; 256] = {
    let (mut table, mut byte) = ([false; 256], 0_u8);
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'-';
        byte += 1;
    }
    table
};

/// Whether a text names one of these programs, or one that takes folders away: it need not name what is in them.
pub(super) fn names_one(text: &str, others: &[&'static str]) -> bool {
    let takes = |writes| {
        let copies = matches!(writes, Writes::Copies(Copies::Folders | Copies::Trees));
        copies || matches!(writes, Writes::Trees | Writes::Moves | Writes::Mode)
    };
    let taking = ROWS.iter().filter(|row| takes(row.1)).map(|row| row.0);
    let names: Vec<&[u8]> = taking.chain([DELETES]).chain(others.iter().copied()).map(str::as_bytes).collect();
    // Most words of a long text are none by their first letter.
    let mut begins = [false; 256];
    for name in &names {
        begins[usize::from(name[0].to_ascii_lowercase())] = true;
        begins[usize::from(name[0].to_ascii_uppercase())] = true;
    }
    let is_one = |word: &[u8]| {
        word.first().is_some_and(|first| begins[usize::from(*first)])
            && names.iter().any(|name| name.len() == word.len() && name.eq_ignore_ascii_case(word))
    };
    text.as_bytes().split(|byte| !IN_NAMES[usize::from(*byte)]).any(is_one)
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
        let is_named = |row: &&(&str, Writes)| row.0.eq_ignore_ascii_case(program);
        // The rows of one name follow each other.
        let mut rows = ROWS.iter().skip_while(|row| !is_named(row)).take_while(is_named);
        rows.find_map(|(_, writes)| self.written_as(*writes, folder, args, read, look))
    }

    /// Says what is written of a program's arguments.
    fn written_as(
        &self,
        writes: Writes,
        folder: Option<&str>,
        args: &[Word],
        read: &[&str],
        look: &Look,
    ) -> Option<String> {
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
            Writes::Where(option) if words().any(|word| is_option(word, option)) => {
                operands().find_map(|path| look(folder, path))
            }
            Writes::TreesWhere(option) if words().any(|word| is_option(word, option)) => {
                operands().find_map(own_or_above)
            }
            Writes::FilledWhere(option) if words().any(|word| is_option(word, option)) => {
                operands().next_back().and_then(|path| look(folder, path).or_else(|| self.filled(folder, path)))
            }
            Writes::Where(_) | Writes::TreesWhere(_) | Writes::FilledWhere(_) => None,
            Writes::From(_) if words().any(|word| PREVIEWS.contains(&word)) => None,
            Writes::From(place) => operands().skip(place).find_map(|path| look(folder, path)),
            Writes::Prefix => {
                let prefix = operands().skip(1).last().filter(|path| !path.ends_with('/'));
                prefix.and_then(|path| look(folder, &format!("{path}*")))
            }
            Writes::Archive => any(copies::archive_made(&words().collect::<Vec<_>>())),
            Writes::Editor if only_shows(&words().collect::<Vec<_>>()) => None,
            Writes::Editor => operands().find_map(|path| look(folder, path)),
            Writes::Copies(how) => self.copied(folder, args, how, look),
            Writes::Unpacked(option) => self.unpacked(folder, args, option, look),
            Writes::Moves => self.moved(folder, args, look),
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

    /// Says what a move takes away or overwrites.
    fn moved(&self, folder: Option<&str>, args: &[Word], look: &Look) -> Option<String> {
        let words = || args.iter().map(|word| &*word.text);
        let operands = || words().filter(|word| !word.starts_with('-'));
        // The destination is the last one, unless an option names it.
        let named = words().find(|word| word.starts_with("-t") || word.starts_with("--target-directory"));
        let is_apart = named.is_some_and(|word| matches!(word, "-t" | "--target-directory"));
        let sources = operands().count() - usize::from(named.is_none() && operands().next().is_some());
        let mut sources = operands().take(sources).skip(usize::from(is_apart));
        let own = operands().find_map(|path| look(folder, path));
        let above = || sources.find_map(|path| self.holds(folder, path));
        own.or_else(above).or_else(|| self.copied(folder, args, Copies::Files, look))
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

/// Whether a word is an option, alone or among other letters.
fn is_option(word: &str, option: &str) -> bool {
    let among = |letters: &str| {
        let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
        letters.bytes().all(|byte| byte.is_ascii_alphabetic()) && letter.is_some_and(|letter| letters.contains(letter))
    };
    word == option || word.strip_prefix('-').is_some_and(among)
}

/// Whether an editor only shows its files, and is given no commands of its own.
fn only_shows(words: &[&str]) -> bool {
    let shows = |word: &&str| matches!(*word, "-R" | "-M" | "-d" | "-v" | "--view");
    let commands =
        |word: &&str| word.starts_with(['+']) || matches!(*word, "-c" | "--cmd" | "-S" | "-s" | "-es" | "-e");
    words.iter().any(shows) && !words.iter().any(commands)
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
