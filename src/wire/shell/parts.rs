//! What a shell command consists of.

use std::borrow::Cow;
use std::ops::Range;

/// One word, without its quotes. What a shell would expand in it stands as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// Where the word ends in the command's text, in bytes.
    pub end: usize,
    /// Whether a substitution stands in it outside of quotes: what that writes is taken apart at blanks.
    pub splits: bool,
    /// Where in the text a shell puts something in: from each `$` and backtick that no quote keeps as it is to the end of what it opens.
    pub expansions: Vec<Range<usize>>,
}

/// One command with its arguments, as a shell runs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple<'a> {
    /// The assignments before it: `NAME=value`.
    pub assignments: Vec<Word<'a>>,
    /// Its name and arguments; empty where there are only assignments or redirections.
    pub words: Vec<Word<'a>>,
    /// The files that its redirections write.
    pub writes: Vec<Word<'a>>,
    /// The here-documents and here-strings that it reads.
    pub input: Vec<Cow<'a, str>>,
    /// The files that its redirections read.
    pub reads: Vec<Word<'a>>,
    /// Whether its braces stand for more words than are written out.
    pub is_unread: bool,
    /// Whether it runs only where the one before it did well: behind `&&`.
    pub follows: bool,
    /// Whether it may not run, or in a process of its own: behind `||`, in a pipe, in the background, in a block.
    pub is_doubtful: bool,
    /// Whether it may run more than once: in a loop.
    pub is_repeated: bool,
    /// Whether it runs where its function is called.
    pub is_called: bool,
    /// Whether it reads what the one before it writes: behind a pipe.
    pub is_piped: bool,
    /// Whether it runs in a process of its own, without others.
    pub apart: Apart,
}

/// Whether a command runs in a process of its own, without others: what it changes in its shell is then seen by nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Apart {
    /// It does not.
    #[default]
    No,
    /// In some shells: the last one of a pipe.
    InSomeShells,
    /// It does: before a pipe, or in the background.
    Always,
}

impl Word<'_> {
    /// Returns a word in which nothing is left to expand.
    pub fn of(text: String) -> Word<'static> {
        Word { text: Cow::Owned(text), ..Word::default() }
    }

    /// Returns the words that a shell makes of it where it is not quoted: apart at the blanks that it was given.
    pub(super) fn split(&self) -> Vec<Word<'static>> {
        let (mut words, mut from) = (Vec::new(), 0);
        let mut inside = self.expansions.iter().peekable();
        let blanks = self.text.char_indices().filter(|(_, letter)| letter.is_whitespace());
        for (at, length) in blanks.map(|(at, letter)| (at, letter.len_utf8())).chain([(self.text.len(), 0)]) {
            while inside.next_if(|place| place.end <= at).is_some() {}
            if inside.peek().is_some_and(|place| place.start < at) {
                continue;
            }
            if from < at {
                words.push(self.part(from..at));
            }
            from = at + length;
        }
        words
    }

    /// Returns a part of it, with what is expanded there.
    fn part(&self, part: Range<usize>) -> Word<'static> {
        let among = self.expansions.partition_point(|place| place.start < part.start);
        let places = self.expansions[among..].iter().take_while(|place| place.end <= part.end);
        let expansions = places.map(|place| place.start - part.start..place.end - part.start).collect();
        Word { end: self.end, splits: self.splits, expansions, ..Word::of(self.text[part].to_owned()) }
    }

    /// Returns it as one that borrows nothing.
    pub fn to_static(&self) -> Word<'static> {
        Word {
            text: Cow::Owned(self.text.clone().into_owned()),
            end: self.end,
            splits: self.splits,
            expansions: self.expansions.clone(),
        }
    }
}

impl Simple<'_> {
    /// Whether what it does is not sure: it may not run, or in a process of its own, or what it reads is not there.
    pub fn may_do_nothing(&self) -> bool {
        self.is_doubtful || !self.reads.is_empty()
    }

    /// Returns it as one that borrows nothing.
    pub fn to_static(&self) -> Simple<'static> {
        let words = |words: &[Word]| words.iter().map(Word::to_static).collect();
        Simple {
            assignments: words(&self.assignments),
            words: words(&self.words),
            writes: words(&self.writes),
            input: self.input.iter().map(|text| Cow::Owned(text.clone().into_owned())).collect(),
            reads: words(&self.reads),
            is_unread: self.is_unread,
            follows: self.follows,
            is_doubtful: self.is_doubtful,
            is_repeated: self.is_repeated,
            is_called: self.is_called,
            is_piped: self.is_piped,
            apart: self.apart,
        }
    }
}

impl Part<'_> {
    /// Returns it as one of another text, in which all its words end at this place.
    pub(super) fn of_text_at(&self, place: usize) -> Part<'static> {
        let Part::Command(command) = self else {
            return if *self == Part::Open { Part::Open } else { Part::Close };
        };
        let mut command = command.to_static();
        let lists = [&mut command.words, &mut command.assignments, &mut command.writes, &mut command.reads];
        lists.into_iter().flatten().for_each(|word| word.end = place);
        Part::Command(command)
    }
}

/// A part of a shell command, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// A command that runs.
    Command(Simple<'a>),
    /// A subshell or substitution begins: its folder and variables are its own.
    Open,
    /// It ends.
    Close,
}

/// Splits an assignment into its name and value; nothing where a word is none.
pub fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    is_name(name).then_some((name, value))
}

/// Splits an assignment to an element of an array into the array's name, the element's and the value: `a[0]=x`.
pub(super) fn element(word: &str) -> Option<(&str, &str, &str)> {
    let (array, rest) = word.split_once('[').filter(|(array, _)| is_name(array))?;
    let length = rest.find(']')? + 1;
    let value = rest[length..].strip_prefix('+').unwrap_or(&rest[length..]).strip_prefix('=')?;
    Some((array, &word[..array.len() + 1 + length], value))
}

/// Whether a text is the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.bytes().next().is_some_and(|byte| !byte.is_ascii_digit()) && text.bytes().all(is_of_name)
}
