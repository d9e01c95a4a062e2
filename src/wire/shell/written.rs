//! What commands write out as far as their text tells it: `echo`, `printf`, a here-document.

use crate::wire::shell::bounds::DEEPEST;
use crate::wire::shell::operators::{self, unescaped};
use crate::wire::shell::parts::{Part, Simple, Word, assignment};
use crate::wire::shell::words::backquoted;
use crate::wire::shell::{parentheses, parts, program_name, references};

/// Programs that hand on what they read, without operands.
pub const HAND_ON: [&str; 8] = ["cat", "tee", "sort", "uniq", "head", "tail", "tac", "shuf"];

/// What a command may stand behind that is run by it as it stands.
const HANDS_THROUGH: [&str; 8] = ["eval", "command", "builtin", "exec", "env", "nohup", "time", "sudo"];

/// The option by which git says where the repository lies.
pub const TOP: &str = "--show-toplevel";

/// What each substitution counts beside its bytes.
const EACH: usize = 128;

/// Programs that say where another one lies.
pub const LOOKS_UP: [&str; 5] = ["which", "command", "type", "whereis", "where"];

/// Returns the texts that a command writes out for a pipe: the words of an `echo` together and one by one, or here-documents, or
/// what it hands on of what it reads.
pub fn written_out(simple: &Simple, read: Vec<String>) -> Vec<String> {
    let Some((name, args)) = handed_through(&simple.words).split_first() else { return Vec::new() };
    if !matches!(program_name(&name.text), "echo" | "printf" | "print") {
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

/// Returns the texts that blocks of commands read: behind their ends stand redirections alone.
pub fn fed(parts: &[Part]) -> Vec<String> {
    let blocks = parts.iter().filter_map(|part| match part {
        Part::Command(it) if it.words.is_empty() && it.assignments.is_empty() => Some(it),
        _ => None,
    });
    let texts = blocks.flat_map(|it| {
        let said = it.input.iter().map(|text| text.clone().into_owned());
        said.chain(it.reads.iter().flat_map(|word| streamed(&word.text)))
    });
    texts.collect()
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

/// Finds the path of a program by its name, or a folder: the shell's by `.`, the repository's by `--show-toplevel`; nothing where that is not known.
pub type Find<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Returns a command with what its substitutions plainly write in their places; nothing where there are none such. `left` is how many
/// bytes of substitutions are still read.
pub fn filled_in(simple: &Simple, find: &Find, left: &mut usize) -> Option<Simple<'static>> {
    let has_any = |word: &Word| word.text.contains("$(") || word.text.contains('`');
    let mut fill = |words: &[Word]| -> Vec<Option<Word<'static>>> {
        words.iter().map(|word| if has_any(word) { filled(word, left, find, 0) } else { None }).collect()
    };
    // What is assigned is never taken apart.
    let among = [(&simple.words, true), (&simple.writes, true), (&simple.assignments, false)];
    let texts = among.map(|(words, _)| fill(words));
    if texts.iter().flatten().all(Option::is_none) {
        return None;
    }
    let mut texts = texts.into_iter();
    let [words, writes, assignments] = among.map(|(words, is_split)| {
        let mut into = Vec::new();
        for (word, new) in words.iter().zip(texts.next().unwrap_or_default()) {
            match new {
                Some(new) if word.splits && is_split => into.extend(new.split()),
                new => into.push(new.unwrap_or_else(|| word.to_static())),
            }
        }
        into
    });
    Some(Simple { words, writes, assignments, ..simple.to_static() })
}

/// Returns a word with what its substitutions write in their places; what is not known of it stays to be expanded.
fn filled(word: &Word, left: &mut usize, find: &Find, depth: usize) -> Option<Word<'static>> {
    if depth > DEEPEST {
        return None;
    }
    let (mut text, mut at, mut is_changed) = (String::new(), 0, false);
    let mut expansions = Vec::new();
    while let Some(next) = word.text[at..].find(['$', '`']).filter(|_| *left > 0) {
        text.push_str(&word.text[at..at + next]);
        at += next;
        let opened = &word.text[at..];
        let is_one = opened.starts_with('`') || (opened.starts_with("$(") && !opened.starts_with("$(("));
        let place = word.expansions.binary_search_by_key(&at, |place| place.start).ok().map(|at| &word.expansions[at]);
        let (inner, length) = match (is_one, place) {
            (true, Some(place)) => (references::substitution(&word.text, place), place.len()),
            // What is not closed goes on to the end.
            (true, None) => match substitution(opened) {
                Some((inner, length)) => (Some(inner), length),
                None => break,
            },
            (false, _) => (None, place.map_or(1, |place| place.len())),
        };
        let start = text.len();
        *left = left.saturating_sub(inner.map_or(0, |inner| inner.len() + EACH));
        let inner = inner.map(|inner| if opened.starts_with('`') { backquoted(inner) } else { inner.into() });
        let said = inner.and_then(|inner| plain_output(&inner, left, find, depth));
        if let Some(said) = &said {
            text.push_str(said.trim_end_matches('\n'));
        } else {
            // The word behind a variable's name may have substitutions of its own.
            let behind = if is_one { None } else { filled(&Word::of(opened[1..length].to_owned()), left, find, depth) };
            text.push_str(&opened[..1]);
            text.push_str(behind.as_ref().map_or(&opened[1..length], |word| &word.text));
            is_changed |= behind.is_some();
            expansions.extend(place.map(|_| start..text.len()));
        }
        is_changed |= said.is_some();
        at += length;
    }
    text.push_str(&word.text[at..]);
    is_changed.then(|| Word { end: word.end, splits: word.splits, expansions, ..Word::of(text) })
}

/// Returns the commands of the substitution that a text begins with, and where it ends.
pub(super) fn substitution(text: &str) -> Option<(&str, usize)> {
    if let Some(inner) = text.strip_prefix('`') {
        let length = inner.find('`')?;
        return Some((&inner[..length], length + 2));
    }
    let inner = text.strip_prefix("$(")?;
    parentheses::closed(inner).map(|length| (&inner[..length], length + 3))
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
                let one = one_output(&simple, left, find, depth).filter(|_| !simple.may_do_nothing())?;
                said.get_or_insert_default().push_str(&one);
            }
            Part::Command(_) => {}
        }
    }
    said
}

/// Returns what a command plainly writes.
fn one_output(simple: &Simple, left: &mut usize, find: &Find, depth: usize) -> Option<String> {
    if !simple.writes.is_empty() {
        return None;
    }
    let (name, args) = handed_through(&simple.words).split_first()?;
    let mut operand = || {
        let last = args.last().filter(|word| !word.text.starts_with('-'))?;
        let filled = filled(last, left, find, depth + 1);
        Some(filled.map_or_else(|| last.text.clone().into_owned(), |word| word.text.into_owned()))
    };
    match program_name(&name.text) {
        "pwd" => find("."),
        "git" => args.last().filter(|word| word.text == TOP).and_then(|_| find(TOP)),
        ":" | "true" => Some(String::new()),
        // A shell leaves zero bytes out of what it reads.
        "echo" => Some(echoed(&all_filled(args, left, find, depth + 1)).replace('\0', "")),
        "printf" => Some(printed(&all_filled(args, left, find, depth + 1)).replace('\0', "")),
        "cat" if args.is_empty() && !simple.input.is_empty() => Some(simple.input.concat()),
        name if LOOKS_UP.contains(&name) => find(&operand()?),
        "readlink" | "realpath" => operand().filter(|path| path.starts_with('/')),
        "dirname" => operand().and_then(|path| Some(path.rsplit_once('/')?.0.to_owned())),
        _ => None,
    }
}

/// Returns the words of a command from the program on that is run in the end: `env A=1 echo x` is `echo x`.
fn handed_through<'w, 'a>(words: &'w [Word<'a>]) -> &'w [Word<'a>] {
    let looks_up = |at: usize| words.get(at + 1).is_some_and(|next| matches!(&*next.text, "-v" | "-V"));
    let is_before = |at: &usize| {
        let text = &*words[*at].text;
        (HANDS_THROUGH.contains(&program_name(text)) && !looks_up(*at))
            || (*at > 0 && (text.starts_with('-') || assignment(text).is_some()))
    };
    let runs = (0..words.len()).find(|at| !is_before(at)).unwrap_or(0);
    &words[runs..]
}

/// Returns words with what their substitutions write in their places, where that is plain.
fn all_filled<'w>(words: &'w [Word], left: &mut usize, find: &Find, depth: usize) -> Vec<Word<'w>> {
    let one = |word: &'w Word| filled(word, left, find, depth).unwrap_or_else(|| word.clone());
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
