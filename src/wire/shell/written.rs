//! What commands write out as far as their text tells it: `echo`, `printf`, a here-document.

use std::borrow::Cow;

use crate::wire::shell::bounds::DEEPEST;
use crate::wire::shell::operators::{self, unescaped};
use crate::wire::shell::parts;
use crate::wire::shell::parts::{Part, Simple, Word};

/// Programs that hand on what they read, without operands.
const HAND_ON: [&str; 8] = ["cat", "tee", "sort", "uniq", "head", "tail", "tac", "shuf"];

/// What a command may stand behind that is run by it as it stands.
const HANDS_THROUGH: [&str; 8] = ["eval", "command", "builtin", "exec", "env", "nohup", "time", "sudo"];

/// The most substitutions of one command that are filled in.
const MOST_FILLED: usize = 64;

/// Programs that say where another one lies.
pub const LOOKS_UP: [&str; 5] = ["which", "command", "type", "whereis", "where"];

/// Returns the texts that a command writes out for a pipe: the words of an `echo` together and one by one, or here-documents, or
/// what it hands on of what it reads.
pub fn written_out(simple: &Simple, read: Vec<String>) -> Vec<String> {
    let runs = simple.words.iter().position(|word| !HANDS_THROUGH.contains(&&*word.text)).unwrap_or(0);
    let Some((name, args)) = simple.words[runs..].split_first() else { return Vec::new() };
    if !matches!(&*name.text, "echo" | "printf" | "print") {
        let mut said: Vec<String> = simple.input.iter().map(|text| text.clone().into_owned()).collect();
        said.extend(simple.reads.iter().flat_map(|word| streamed(&word.text)));
        let hands_on = said.is_empty() && HAND_ON.contains(&&*name.text);
        return if hands_on { read } else { said };
    }
    let words = || args.iter().map(|word| &*word.text).skip_while(|word| is_echos(word));
    let texts = words().filter(|word| word.contains(' ')).map(str::to_owned);
    let whole = if name.text == "printf" { printed(args) } else { echoed(args) };
    [whole].into_iter().chain(texts).collect()
}

/// Returns what can be read where a word names a process's output: `<(echo x)`.
pub fn streamed(word: &str) -> Vec<String> {
    let Some(inner) = word.strip_prefix("<(") else { return Vec::new() };
    let mut said = Vec::new();
    let mut found = Vec::new();
    for part in parts(inner.strip_suffix(')').unwrap_or(inner)) {
        if let Part::Command(simple) = part {
            said = written_out(&simple, said);
            found.clone_from(&said);
        }
    }
    found
}

/// Finds the path of a program by its name; nothing where that is not known.
pub type Find<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Returns a command with what its substitutions plainly write in their places; nothing where there are none such.
pub fn filled_in(simple: &Simple, find: &Find) -> Option<Simple<'static>> {
    let has_any = |word: &Word| word.text.contains("$(") || word.text.contains('`');
    // What is assigned is never taken apart.
    let among = [(&simple.words, true), (&simple.writes, true), (&simple.assignments, false)];
    if !among.iter().any(|(words, _)| words.iter().any(has_any)) {
        return None;
    }
    let mut left = MOST_FILLED;
    let mut is_changed = false;
    let [words, writes, assignments] = among.map(|(among, is_split)| {
        let mut into = Vec::new();
        for word in among {
            match filled(&word.text, &mut left, find, 0) {
                Some(text) => {
                    is_changed = true;
                    match word.splits && is_split {
                        true => into.extend(text.split_whitespace().map(|text| owned(text, word.end))),
                        false => into.push(owned(&text, word.end)),
                    }
                }
                None => into.push(owned(&word.text, word.end)),
            }
        }
        into
    });
    is_changed.then(|| Simple { words, writes, assignments, ..simple.to_static() })
}

fn owned(text: &str, end: usize) -> Word<'static> {
    Word { text: Cow::Owned(text.to_owned()), end, ..Word::default() }
}

/// Returns a word with what its substitutions write in their places.
fn filled(word: &str, left: &mut usize, find: &Find, depth: usize) -> Option<String> {
    if depth > DEEPEST {
        return None;
    }
    let mut text = String::new();
    let mut rest = word;
    let mut is_changed = false;
    while let Some(at) = rest.find(['$', '`']).filter(|_| *left > 0) {
        let opened = &rest[at..];
        let is_one = opened.starts_with('`') || (opened.starts_with("$(") && !opened.starts_with("$(("));
        if !is_one {
            text.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        }
        // What is not closed goes on to the end.
        let Some((inner, end)) = substitution(opened) else { break };
        *left -= 1;
        text.push_str(&rest[..at]);
        match plain_output(inner, left, find, depth) {
            Some(said) => {
                is_changed = true;
                text.push_str(said.trim_end_matches('\n'));
            }
            None => text.push_str(&opened[..end]),
        }
        rest = &opened[end..];
    }
    text.push_str(rest);
    is_changed.then_some(text)
}

/// Returns the commands of the substitution that a text begins with, and where it ends.
pub(super) fn substitution(text: &str) -> Option<(&str, usize)> {
    if let Some(inner) = text.strip_prefix('`') {
        let length = inner.find('`')?;
        return Some((&inner[..length], length + 2));
    }
    let inner = text.strip_prefix("$(")?;
    let (mut depth, mut quote) = (1_usize, None);
    for (at, byte) in inner.bytes().enumerate() {
        match (byte, quote) {
            (b'\'' | b'"', None) => quote = Some(byte),
            (_, Some(open)) if open == byte => quote = None,
            (b'(', None) => depth += 1,
            (b')', None) if depth == 1 => return Some((&inner[..at], at + 3)),
            (b')', None) => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns what commands write, where the output of each is plain: `echo`, `printf`, `cat` of a here-document, or one that finds this
/// program.
fn plain_output(text: &str, left: &mut usize, find: &Find, depth: usize) -> Option<String> {
    let (mut open, mut said) = (0_usize, None::<String>);
    for part in parts(text) {
        match part {
            Part::Open if depth < DEEPEST => open += 1,
            Part::Open => return None,
            Part::Close => open = open.saturating_sub(1),
            Part::Command(simple) if open == 0 => {
                // What one writes into a pipe is the next one's.
                let one = one_output(&simple, left, find, depth).filter(|_| !simple.is_doubtful)?;
                said.get_or_insert_default().push_str(&one);
            }
            Part::Command(_) => {}
        }
    }
    said
}

/// Returns what a command plainly writes.
fn one_output(simple: &Simple, left: &mut usize, find: &Find, depth: usize) -> Option<String> {
    if !simple.writes.is_empty() || !simple.assignments.is_empty() {
        return None;
    }
    let (name, args) = simple.words.split_first()?;
    let mut operand = || {
        let last = args.last().filter(|word| !word.text.starts_with('-'))?;
        Some(filled(&last.text, left, find, depth + 1).unwrap_or_else(|| last.text.clone().into_owned()))
    };
    match &*name.text {
        "echo" => Some(echoed(&all_filled(args, left, find, depth + 1))),
        "printf" => Some(printed(&all_filled(args, left, find, depth + 1))),
        "cat" if args.is_empty() && !simple.input.is_empty() => Some(simple.input.concat()),
        name if LOOKS_UP.contains(&name) => find(&operand()?),
        "readlink" | "realpath" => operand().filter(|path| path.starts_with('/')),
        "dirname" => operand().and_then(|path| Some(path.rsplit_once('/')?.0.to_owned())),
        _ => None,
    }
}

/// Returns words with what their substitutions write in their places, where that is plain.
fn all_filled<'w>(words: &'w [Word], left: &mut usize, find: &Find, depth: usize) -> Vec<Word<'w>> {
    let one = |word: &'w Word| match filled(&word.text, left, find, depth) {
        Some(text) => owned(&text, word.end),
        None => word.clone(),
    };
    words.iter().map(one).collect()
}

/// Returns what `echo` writes of its words.
fn echoed(args: &[Word]) -> String {
    let options = args.iter().take_while(|word| is_echos(&word.text)).count();
    let said = args[options..].iter().map(|word| &*word.text).collect::<Vec<_>>().join(" ");
    let has = |letter| args[..options].iter().any(|word| word.text.contains(letter));
    // Some shells read the escapes unasked.
    if has('E') || !said.contains('\\') { said } else { unescaped(&said, !has('e')) }
}

/// Returns what `printf` writes of its words.
fn printed(args: &[Word]) -> String {
    let args = &args[usize::from(args.first().is_some_and(|word| word.text == "--"))..];
    let words: Vec<&str> = args.iter().map(|word| &*word.text).collect();
    words.split_first().map(|(format, words)| operators::printed(format, words)).unwrap_or_default()
}

/// Whether a word is an option of `echo`.
fn is_echos(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letters| !letters.is_empty() && letters.bytes().all(|it| b"neE".contains(&it)))
}
