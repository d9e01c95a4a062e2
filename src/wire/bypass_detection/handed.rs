//! Programs whose words another program reads or is given in a list: `xargs`, `parallel`.

use std::borrow::Cow;

use crate::domain::text::shell_word::quoted;
use crate::wire::bypass_detection::{Walk, clients};
use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::{Simple, Word, program_name, written};

/// The most words that are taken out of what is read.
const MOST_WORDS: usize = 1_000;

/// The most lines of what is read that a command is run with.
const MOST_LINES: usize = 256;

/// The most bytes of a line that is put into words, times how often it is.
const LONGEST: usize = 64 * 1024;

/// What a client is of which a word is not told.
const UNTOLD: &str = "a client with words that the command's text does not tell, which may be options that switch its hooks off. Put `--` \
     before them";

impl Walk<'_> {
    /// Remembers what a command reads through a pipe: those of its block may read it.
    pub(super) fn note_piped(&mut self, simple: &Simple) {
        if simple.is_piped && self.variables.takes(self.said.iter().map(String::len).sum()) {
            self.piped.clone_from(&self.said);
        }
    }

    /// Gives the text that is read next what a command reads.
    pub(super) fn give(&mut self, simple: &Simple, said: &[String]) {
        let said = said.iter().filter(|_| simple.is_piped).map(String::as_str);
        let read: Vec<&str> = simple.input.iter().map(|text| &**text).chain(said).collect();
        let is_held = self.variables.takes(read.iter().map(|text| text.len()).sum());
        self.given = read.into_iter().filter(|_| is_held).map(str::to_owned).collect();
    }

    /// Says what a shell does that is refused with what it reads: through its own pipe, or through that of its block.
    pub(super) fn read_by_shell(
        &mut self,
        simple: &Simple,
        found: &[Invocation],
        said: &[String],
        depth: usize,
    ) -> Option<String> {
        if !found.iter().any(|it| it.reads_commands) {
            return None;
        }
        let around = self.fed.iter().chain(&self.piped).filter(|_| !simple.is_piped);
        let around: Vec<String> = around.filter(|text| !said.contains(text)).cloned().collect();
        let is_held = self.variables.takes(around.iter().map(String::len).sum());
        let scripts = said.iter().chain(around.iter().filter(|_| is_held));
        scripts.map(|script| script.replace('\0', "")).find_map(|script| self.text(&script, depth + 1))
    }

    /// Says what a program does that is run with words which are read: by these programs with what `said` holds.
    pub(super) fn handed(
        &mut self,
        simple: &Simple,
        found: &[Invocation],
        said: &[String],
        depth: usize,
    ) -> Option<String> {
        found.iter().find_map(|it| {
            let mut place = 0;
            let mut handed = None;
            for (runner, taken) in &it.runners {
                place += 1 + taken.len();
                if matches!(program_name(runner), "xargs" | "parallel") {
                    handed = Some((program_name(runner), *taken, place));
                    break;
                }
            }
            let (name, options, place) = handed?;
            let rest = simple.words.get(place..)?;
            let read: Vec<&str> =
                simple.input.iter().map(|text| &**text).chain(said.iter().map(String::as_str)).collect();
            let streams = simple.reads.iter().flat_map(|word| written::streamed(&word.text)).collect::<Vec<_>>();
            let read = read.into_iter().chain(streams.iter().map(String::as_str));
            // Behind `-0` words end with a zero byte.
            let read: Vec<String> = read.map(|text| text.replace('\0', "\n")).collect();
            let read: Vec<&str> = read.iter().map(String::as_str).collect();
            match name {
                "xargs" => self.by_xargs(simple, options, rest, &read, depth),
                _ => self.by_parallel(simple, rest, &read, depth),
            }
        })
    }

    fn by_xargs(
        &mut self,
        simple: &Simple,
        options: &[Word],
        rest: &[Word],
        read: &[&str],
        depth: usize,
    ) -> Option<String> {
        let replaced = replaced(options);
        let Some(text) = read.first() else { return self.untold(simple, rest, replaced.as_deref()) };
        let run = |words: Vec<String>| Simple {
            words: words.into_iter().map(owned).collect(),
            is_doubtful: true,
            ..Simple::default()
        };
        let own = || rest.iter().map(|word| word.text.clone().into_owned());
        let Some(replaced) = replaced else {
            self.pass_over(&text.split_whitespace().skip(MOST_WORDS).collect::<Vec<_>>().join("\n"));
            let read = text.split_whitespace().take(MOST_WORDS);
            return self.simple(&run(own().chain(read.map(str::to_owned)).collect()), depth + 1);
        };
        let places = rest.iter().map(|word| word.text.matches(&replaced).count()).sum::<usize>();
        self.pass_over(&unread(text.lines(), places));
        text.lines().take(MOST_LINES).filter(|line| is_short(line, places)).find_map(|line| {
            let words = own().map(|word| word.replace(&replaced, line.trim()));
            self.simple(&run(words.collect()), depth + 1)
        })
    }

    fn by_parallel(&mut self, simple: &Simple, rest: &[Word], read: &[&str], depth: usize) -> Option<String> {
        let is_mark = |word: &Word| matches!(&*word.text, ":::" | ":::+");
        let mark = rest.iter().position(is_mark);
        let command = &rest[..mark.unwrap_or(rest.len())];
        let given = mark.map(|at| rest[at..].iter().filter(|word| !is_mark(word)).map(|word| &*word.text));
        let given: Vec<&str> = match given {
            Some(given) => given.collect(),
            None => read.first().into_iter().flat_map(|text| text.lines()).collect(),
        };
        let joined = command.iter().map(|word| &*word.text).collect::<Vec<_>>().join(" ");
        if given.is_empty() {
            return self.untold(simple, command, Some("{}").filter(|mark| joined.contains(mark)));
        }
        let places = joined.matches("{}").count();
        self.pass_over(&unread(given.iter().copied(), places));
        given.into_iter().take(MOST_LINES).filter(|line| is_short(line, places)).find_map(|line| {
            let text = match joined.contains("{}") {
                true => joined.replace("{}", &quoted(line)),
                false if joined.is_empty() => line.to_owned(),
                false => format!("{joined} {}", quoted(line)),
            };
            self.text(&text, depth + 1)
        })
    }

    /// Says what a client is whose options may be among words that the text does not tell.
    fn untold(&self, simple: &Simple, rest: &[Word], replaced: Option<&str>) -> Option<String> {
        let words: Vec<Word> = rest.iter().map(|word| owned(word.text.clone().into_owned())).collect();
        let run = Simple { words, assignments: simple.to_static().assignments, ..Simple::default() };
        Invocation::of(&run).iter().find_map(|it| {
            let args = clients::client_args(it)?;
            let mut options = args.iter().take_while(|word| **word != "--");
            let may_be = match replaced {
                Some(replaced) => options.any(|word| word.starts_with(replaced)),
                None => !args.contains(&"--"),
            };
            (may_be && clients::starts(it)).then(|| UNTOLD.to_owned())
        })
    }
}

/// Returns the lines that are not put into so many places.
fn unread<'t>(lines: impl Iterator<Item = &'t str>, places: usize) -> String {
    let unread = lines.enumerate().filter(|(at, line)| *at >= MOST_LINES || !is_short(line, places));
    unread.map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

/// Whether a line can be put into so many places.
fn is_short(line: &str, places: usize) -> bool {
    line.len().saturating_mul(places.max(1)) <= LONGEST
}

fn owned(text: String) -> Word<'static> {
    Word { text: Cow::Owned(text), ..Word::default() }
}

/// Returns the text that `xargs` puts a line into the place of.
fn replaced(options: &[Word]) -> Option<String> {
    let mut words = options.iter().map(|word| &*word.text);
    while let Some(word) = words.next() {
        let value = match word {
            "-I" | "-J" => words.next(),
            "-i" | "--replace" => Some("{}"),
            word => ["-I", "-J", "-i", "--replace="].iter().find_map(|option| word.strip_prefix(option)),
        };
        if let Some(value) = value {
            return Some(value.to_owned());
        }
    }
    None
}
