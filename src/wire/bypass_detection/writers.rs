//! Which files a program writes, by its arguments.

use crate::wire::bypass_detection::at_hand::{Guard, Look};
use crate::wire::bypass_detection::copies::{self, Copies};
use crate::wire::bypass_detection::databases;
use crate::wire::bypass_detection::downloads::{self, ANY_OUTPUT};
use crate::wire::bypass_detection::write_rows::{ROWS, Writes};
use crate::wire::shell::Word;
use crate::wire::shell::invocation::runs_any;

/// What has a packer keep what it packs, or only look at it.
const KEEPS: [&str; 8] = ["-c", "--stdout", "--to-stdout", "-k", "--keep", "-t", "--test", "-l"];

/// What has a program only show what it would write.
const PREVIEWS: [&str; 2] = ["-p", "--preview"];

/// Programs that leave alone the files that they name, or run them.
const READERS: [&str; 93] = [
    ".",
    ":",
    "[",
    "[[",
    "ack",
    "ag",
    "alias",
    "b2sum",
    "b3sum",
    "base64",
    "basename",
    "bat",
    "batcat",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "code",
    "colordiff",
    "comm",
    "command",
    "cut",
    "datasette",
    "declare",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "exa",
    "export",
    "eza",
    "false",
    "fd",
    "fgrep",
    "file",
    "find",
    "gdb",
    "getfacl",
    "getfattr",
    "grep",
    "hash",
    "head",
    "hexdump",
    "hyperfine",
    "inotifywait",
    "jq",
    "kill",
    "ldd",
    "less",
    "lldb",
    "local",
    "ls",
    "lsattr",
    "lsd",
    "lsof",
    "md5",
    "md5sum",
    "more",
    "namei",
    "nl",
    "nm",
    "objdump",
    "od",
    "open",
    "otool",
    "pgrep",
    "pidof",
    "pkill",
    "popd",
    "printf",
    "ps",
    "pushd",
    "pwd",
    "read",
    "readelf",
    "readlink",
    "realpath",
    "rg",
    "sha1sum",
    "sha256sum",
    "shasum",
    "size",
    "stat",
    "strings",
    "tac",
    "tail",
    "test",
    "tree",
    "type",
    "wc",
    "which",
];

/// Commands of git that pack into a file.
const GIT_PACKS: [&str; 4] = ["archive", "bundle", "fast-export", "format-patch"];

/// How programs are called that run a text of their own: what that does, their words do not tell.
const INTERPRETERS: [&str; 22] = [
    "bash", "bun", "bunx", "cargo", "claude", "dash", "deno", "fish", "fusebox", "gmake", "just", "ksh", "make",
    "node", "npm", "npx", "perl", "php", "pnpm", "python", "ruby", "sh",
];

/// Whether a program runs a text of its own, in whatever version.
fn is_interpreter(program: &str) -> bool {
    let name = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    INTERPRETERS.contains(&name) || name == "zsh"
}

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
        program: &str,
        args: &[Word],
        read: &[&str],
        look: &Look,
    ) -> Option<String> {
        let is_named = |row: &&(&str, Writes)| row.0.eq_ignore_ascii_case(program);
        // The rows of one name follow each other.
        let mut rows = ROWS.iter().skip_while(|row| !is_named(row)).take_while(is_named).peekable();
        if rows.peek().is_none() {
            return self.written_by_any(folder, program, args, look);
        }
        rows.find_map(|(_, writes)| self.written_as(*writes, folder, args, read, look))
    }

    /// Says what a program may write of which nothing is known: what an option names as its output, and the session's program and
    /// state wherever they stand.
    fn written_by_any(&self, folder: Option<&str>, program: &str, args: &[Word], look: &Look) -> Option<String> {
        if READERS.iter().any(|reader| reader.eq_ignore_ascii_case(program)) {
            return None;
        }
        let named = || args.iter().find_map(|word| self.names_own(folder, &word.text));
        let tells_nothing = is_interpreter(program) || runs_any(program);
        downloads::written(folder, args, &ANY_OUTPUT, look).or_else(|| (!tells_nothing).then(named).flatten())
    }

    /// Says what a word names of the session's program and state, alone or among other parts: `--to=FILE`, `OPEN:FILE,creat`.
    fn names_own(&self, folder: Option<&str>, word: &str) -> Option<String> {
        // A variable that leads a program to the state is none that writes there.
        if !self.mentions(word) || word.starts_with("FUSEBOX_") {
            return None;
        }
        let behind = word.split_once('=').map(|(_, value)| value);
        let parts = word.split(['=', ',', ':']).filter(|part| part.len() < word.len());
        std::iter::once(word).chain(behind).chain(parts).find_map(|path| self.past_reading(folder, path))
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
        let all = || operands().find_map(|path| look(folder, path));
        let any = |found: Option<&str>| found.and_then(|path| look(folder, path));
        // What harms no program may be done to all of a folder.
        let kept = |path: &str| look(folder, path).filter(|_| !self.means_programs(folder, path));
        let own_or_above = |path: &str| look(folder, path).or_else(|| self.holds(folder, path));
        match writes {
            Writes::Trees => operands().find_map(own_or_above),
            Writes::Mode if words().any(keeps_out) => operands().find_map(own_or_above),
            Writes::Mode | Writes::Kept => operands().find_map(kept),
            Writes::All => all(),
            Writes::First => any(operands().next()),
            Writes::Second => any(operands().nth(1)),
            Writes::Packs if words().any(|word| KEEPS.contains(&word)) => None,
            Writes::Packs => all(),
            Writes::Where(option) if words().any(|word| is_option(word, option)) => all(),
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
            // A command of the editor's names files, too: `-c 'w! FILE'`.
            Writes::Editor => words()
                .flat_map(|word| std::iter::once(word).chain(word.split_whitespace()))
                .find_map(|path| look(folder, path)),
            Writes::Copies(how) => self.copied(folder, args, how, look),
            Writes::Unpacked(option) => self.unpacked(folder, args, option, look),
            Writes::Moves => self.moved(folder, args, look),
            Writes::InPlace(letters) if edits_in_place(words(), letters) => all(),
            Writes::InPlace(_) => None,
            Writes::Options(of) => downloads::written(folder, args, of, look),
            Writes::OutputOf => words().find_map(|word| any(word.strip_prefix("of="))),
            Writes::Git => self.put_back(folder, args, look).or_else(|| {
                let packs = || words().any(|word| GIT_PACKS.contains(&word));
                let named = || args.iter().find_map(|word| self.names_own(folder, &word.text));
                downloads::written(folder, args, &ANY_OUTPUT, look).or_else(|| packs().then(named).flatten())
            }),
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
