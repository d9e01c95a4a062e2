//! What `find` does with what it finds, where that is the session's own: `find .claude -delete`, `find ~ -name 'fusebox*' -exec rm {} +`.

use crate::wire::bypass_detection::at_hand::PROGRAM;
use crate::wire::bypass_detection::lies::{Lies, fits_anywhere, lies};
use crate::wire::bypass_detection::{Walk, clients};
use crate::wire::shell::invocation::{Invocation, executed};
use crate::wire::shell::written::LOOKS_UP;
use crate::wire::shell::{Simple, Word, base};

/// Programs that take away what they are given, whatever it is.
const TAKE_AWAY: [&str; 7] = ["rm", "rmdir", "unlink", "shred", "trash", "mv", "chmod"];

/// Whether a command takes away what it is given. A mode that leaves its owner the reading of it does not.
fn takes_away(words: &[Word]) -> bool {
    let program = words.first().map_or("", |word| base(&word.text));
    let owners_part =
        |mode: &str| mode.trim_start_matches('0').chars().rev().nth(2).and_then(|digit| digit.to_digit(8));
    let leaves = |word: &Word| owners_part(&word.text).is_some_and(|digit| digit & 4 != 0);
    TAKE_AWAY.contains(&program) && !(program == "chmod" && words.iter().skip(1).any(leaves))
}

/// The client's name.
const CLIENT: &str = "claude";

/// Actions that write a file of their own.
const PRINTS: [&str; 4] = ["-fprint", "-fprint0", "-fprintf", "-fls"];

/// Tests that are not looked at more closely: with one of them not everything is meant.
const OTHER_TESTS: [&str; 24] = [
    "-amin",
    "-anewer",
    "-atime",
    "-cmin",
    "-cnewer",
    "-ctime",
    "-executable",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-links",
    "-lname",
    "-mmin",
    "-mtime",
    "-newer",
    "-nogroup",
    "-nouser",
    "-perm",
    "-size",
    "-uid",
    "-used",
    "-user",
    "-xtype",
];

/// Programs that name the files that they find or that they are given.
pub(super) const LISTS: [&str; 8] = ["ls", "grep", "egrep", "rg", "fd", "fdfind", "ag", "git"];

/// One test of a name or a path.
struct Test<'a> {
    /// Whether it is about the whole path.
    is_path: bool,
    pattern: &'a str,
    any_case: bool,
    is_not: bool,
}

impl Test<'_> {
    fn holds(&self, path: &str) -> bool {
        let name = if self.is_path { path } else { base(path) };
        let fits = match self.any_case {
            true => fits_anywhere(&self.pattern.to_lowercase(), &name.to_lowercase()),
            false => fits_anywhere(self.pattern, name),
        };
        fits != self.is_not
    }

    /// Whether it names something of ours, so that not everything is meant.
    fn names(&self) -> bool {
        !self.is_not && names_ours(self.pattern)
    }
}

/// How many letters of a name a pattern has that means it.
const TELLING: usize = 3;

/// Whether a pattern has a word of the session's own files in it, or so much of the program's name that it means that.
fn names_ours(pattern: &str) -> bool {
    let text = pattern.to_lowercase();
    let tells = |text: &str| text.bytes().filter(u8::is_ascii_alphanumeric).count() >= TELLING;
    [PROGRAM, "claude", "settings", "state"].iter().any(|name| text.contains(name))
        || tells(&text) && fits_anywhere(&text, PROGRAM)
}

/// What the arguments of a `find` are.
struct Search<'a> {
    starts: Vec<&'a str>,
    tests: Vec<Test<'a>>,
    /// Whether one test is enough.
    is_either: bool,
    most_deep: usize,
    /// The kinds of files that are meant: `f`, `d`.
    kinds: Option<&'a str>,
    is_empty: bool,
    deletes: bool,
    /// Whether a test that is not looked at more closely may mean something of ours: a regular expression with a word of it, a file that is
    /// known by its number.
    may_mean_ours: bool,
    /// Whether it is about files of some kind or other.
    is_narrow: bool,
}

impl<'a> Search<'a> {
    fn of(args: &'a [Word]) -> Search<'a> {
        let words: Vec<&str> = args.iter().map(|word| &*word.text).collect();
        let begins = |word: &str| word.starts_with(['-', '(', '!']);
        let options = words.iter().take_while(|word| matches!(**word, "-H" | "-L" | "-P")).count();
        let mut starts: Vec<&str> = words[options..].iter().take_while(|word| !begins(word)).copied().collect();
        let mut rest = words[options + starts.len()..].iter().copied();
        if starts.is_empty() {
            starts.push(".");
        }
        let mut found = Search {
            starts,
            tests: Vec::new(),
            is_either: false,
            most_deep: usize::MAX,
            kinds: None,
            is_empty: false,
            deletes: false,
            may_mean_ours: false,
            is_narrow: false,
        };
        let mut is_not = false;
        while let Some(word) = rest.next() {
            let mut test = |is_path, any_case| Test { is_path, any_case, is_not, pattern: rest.next().unwrap_or("") };
            match word {
                "-name" => found.tests.push(test(false, false)),
                "-iname" => found.tests.push(test(false, true)),
                "-path" | "-wholename" => found.tests.push(test(true, false)),
                "-ipath" | "-iwholename" => found.tests.push(test(true, true)),
                "-regex" | "-iregex" | "-samefile" => {
                    found.may_mean_ours |= rest.next().is_some_and(names_ours);
                    found.is_narrow = true;
                }
                word if OTHER_TESTS.contains(&word) => found.is_narrow = true,
                "-inum" => found.may_mean_ours = true,
                "-o" | "-or" => found.is_either = true,
                "-maxdepth" => found.most_deep = rest.next().and_then(|deep| deep.parse().ok()).unwrap_or(usize::MAX),
                "-type" => found.kinds = rest.next().filter(|_| !is_not),
                "-empty" => found.is_empty |= !is_not,
                "-delete" => found.deletes = true,
                _ => {}
            }
            is_not = matches!(word, "!" | "-not");
        }
        found
    }

    /// Whether a file passes its tests; a folder has a slash at its end.
    fn passes(&self, path: &str, deep: usize) -> bool {
        let kind = if path.ends_with('/') { 'd' } else { 'f' };
        let path = path.trim_end_matches('/');
        let mut tests = self.tests.iter().map(|test| test.holds(path));
        let passes = if self.is_either { tests.any(|passes| passes) } else { tests.all(|passes| passes) };
        passes && deep <= self.most_deep && !self.is_empty && self.kinds.is_none_or(|kinds| kinds.contains(kind))
    }
}

/// What of the session's own is found.
struct Found {
    path: String,
    /// Whether nothing but the folder that it lies in tells that it is meant.
    is_unnamed: bool,
}

impl Walk<'_> {
    /// Says what a `find` does with what is the session's own.
    pub(super) fn found(&mut self, simple: &Simple, it: &Invocation, depth: usize) -> Option<String> {
        let folder = self.scope.folder.clone();
        let words = || it.args.iter().map(|word| &*word.text);
        let printed = words().zip(words().skip(1)).filter(|(option, _)| PRINTS.contains(option));
        if let Some(what) = printed.into_iter().find_map(|(_, path)| self.note_written(folder.as_deref(), path)) {
            return Some(what);
        }
        let search = Search::of(it.args);
        let found = self.finds(&search);
        if search.deletes {
            let mut files = found.iter().filter(|it| !it.path.ends_with('/'));
            if let Some(what) = files.find_map(|it| self.note_written(None, &it.path)) {
                return Some(what);
            }
        }
        for (_, words) in executed(it.args) {
            let takes = takes_away(words);
            for found in found.iter().filter(|found| takes || !found.is_unnamed) {
                let path = found.path.trim_end_matches('/');
                let word =
                    |it: &Word| Word { text: it.text.replace("{}", path).into(), end: it.end, ..Word::default() };
                let run = Simple { words: words.iter().map(word).collect(), ..Simple::default() };
                let run = Simple { follows: simple.follows, is_doubtful: true, ..run };
                let refused = self.simple(&run, depth + 1);
                if refused.is_some() {
                    return refused;
                }
            }
        }
        self.listed = found.into_iter().filter(|it| !it.is_unnamed).map(|it| it.path).collect();
        None
    }

    /// Says what is refused of the program that `fd` runs, on the session's own files and on any other: `fd . .claude -x rm`.
    pub(super) fn run_on_listed(&mut self, it: &Invocation, depth: usize) -> Option<String> {
        let words = || it.args.iter().map(|word| &*word.text);
        let at = words().position(|word| matches!(word, "-x" | "-X" | "--exec" | "--exec-batch"))?;
        let mut options = words().take(at).zip(words().skip(1));
        // The session's own files end in `json`.
        let is_of_others = options.any(|(option, value)| matches!(option, "-e" | "--extension") && value != "json");
        let pattern = words().take(at).find(|word| !word.starts_with('-')).unwrap_or(".");
        let pattern = pattern.trim_matches(['^', '$', '*', '.']).replace('\\', "");
        let run: Vec<&str> = words().skip(at + 1).take_while(|word| *word != ";").collect();
        let is_found = |path: &&String| !is_of_others && base(path).contains(&pattern);
        let found: Vec<String> = self.listed.iter().filter(is_found).cloned().collect();
        let run_with = |walk: &mut Self, words: Vec<String>| {
            let words = words.into_iter().map(|text| Word { text: text.into(), ..Word::default() }).collect();
            walk.simple(&Simple { words, is_doubtful: true, ..Simple::default() }, depth + 1)
        };
        let refused = found.iter().find_map(|path| {
            let takes = run.iter().any(|word| word.contains("{}"));
            let given = Some(path.as_str()).filter(|_| !takes);
            let words = run.iter().map(|word| word.replace("{}", path)).chain(given.map(str::to_owned));
            run_with(self, words.collect())
        });
        // It runs on anything else that it finds, too.
        refused.or_else(|| run_with(self, run.iter().map(|word| (*word).to_owned()).collect()))
    }

    /// Returns what of the session's own is found.
    fn finds(&self, search: &Search) -> Vec<Found> {
        let own = self.guard.own_paths();
        let is_named = search.may_mean_ours || search.tests.iter().any(Test::names);
        let has_names = search.tests.iter().any(|test| !test.is_not);
        let is_everything = !has_names && !search.is_narrow;
        let state = self.guard.state();
        let is_of_state =
            |own: &str| state.as_deref().is_some_and(|state| matches!(lies(state, own), Some(Lies::At | Lies::Above)));
        let mut found = Vec::new();
        for word in &search.starts {
            let Some(start) = self.guard.resolve(self.scope.folder.as_deref(), word) else { continue };
            for own in &own {
                let bare = own.trim_end_matches('/');
                let (path, is_in) = match lies(&start, bare) {
                    Some(Lies::At) => (own.clone(), true),
                    Some(Lies::Below) => (start.clone(), true),
                    Some(Lies::Above) => (own.clone(), self.guard.is_own_folder(&start)),
                    None => continue,
                };
                let below = path.trim_end_matches('/').strip_prefix(&start).unwrap_or_default().trim_start_matches('/');
                let deep = if below.is_empty() { 0 } else { below.split('/').count() };
                let slash = if path.ends_with('/') { "/" } else { "" };
                let shown = if deep == 0 {
                    format!("{word}{slash}")
                } else {
                    format!("{}/{below}{slash}", word.trim_end_matches('/'))
                };
                // What is done to some files of a whole tree that names nothing of ours is ordinary work. The state is in no tree of work.
                let is_meant = is_in || is_named || is_everything || !has_names && is_of_state(bare);
                if is_meant && search.passes(&shown, deep) {
                    found.push(Found { path, is_unnamed: !is_in && !is_named });
                }
            }
        }
        let is_client = |test: &Test| test.names() && !test.is_path && test.holds(CLIENT);
        if search.tests.iter().any(is_client) {
            found.push(Found { path: CLIENT.to_owned(), is_unnamed: false });
        }
        found
    }

    /// Takes note of the session's own files that a program names which it finds or is given.
    pub(super) fn note_listed(&mut self, it: &Invocation) {
        if LOOKS_UP.contains(&it.name()) {
            let path = |word: &Word| {
                self.guard.path_of(&word.text).or_else(|| clients::is_client(&word.text).then(|| word.text.to_string()))
            };
            self.listed = it.args.iter().filter_map(path).collect();
        }
        if !LISTS.contains(&it.name()) {
            return;
        }
        let folder = self.scope.folder.as_deref();
        let operands = it.args.iter().map(|word| &*word.text).filter(|word| !word.starts_with('-'));
        let named: Vec<String> = operands.filter_map(|word| self.guard.resolve(folder, word)).collect();
        let is_named = |own: &String| {
            named.iter().any(|path| match lies(path, own.trim_end_matches('/')) {
                Some(Lies::Above) => self.guard.is_own_folder(path),
                lies => lies.is_some(),
            })
        };
        self.listed = self.guard.own_paths().into_iter().filter(|own| !own.ends_with('/')).filter(is_named).collect();
    }
}
