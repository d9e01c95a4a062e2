//! What statements write in databases: the one that is opened, and those that they name.

use crate::wire::bypass_detection::at_hand::Look;
use crate::wire::shell::Word;

/// Statements that only read.
const READING: [&str; 6] = ["select", "with", "explain", ".schema", ".tables", ".dump"];

/// Words of statements before which or behind which a file is named.
const NAMING: [&str; 14] = [
    "attach",
    "into",
    ".open",
    ".save",
    ".backup",
    ".restore",
    ".clone",
    ".output",
    ".once",
    ".log",
    ".excel",
    "writefile",
    ".trace",
    ".shell",
];

/// Says what is written by `sqlite3`; `read` is what it reads.
pub(super) fn written(folder: Option<&str>, args: &[Word], read: &[&str], look: &Look) -> Option<String> {
    let words = || args.iter().map(|word| &*word.text);
    if words().any(|word| matches!(word, "-readonly" | "--readonly")) {
        return None;
    }
    let statements = || words().chain(read.iter().copied()).filter(|text| names_file(text));
    let named = statements().flat_map(|text| text.split([' ', '\n', '\t', '\'', '"', '(', ')', ';', '`', '[', ']']));
    let plain = |name: &str| {
        let name = name.strip_prefix("file:").unwrap_or(name);
        name.split('?').next().unwrap_or(name).to_owned()
    };
    let mut named = named.filter(|name| name.contains(['/', '.', '~']) && !NAMING.contains(name));
    let found = named.find_map(|name| look(folder, &plain(name)));
    let opened = || words().find(|word| !word.starts_with('-')).filter(|_| !only_reads(args));
    found.or_else(|| opened().and_then(|path| look(folder, &plain(path))))
}

/// Whether a statement names a file.
fn names_file(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    NAMING.iter().any(|word| text.contains(word))
}

/// Whether a database is opened by statements that only read.
fn only_reads(args: &[Word]) -> bool {
    let operands = args.iter().map(|word| &*word.text).filter(|word| !word.starts_with('-'));
    let mut statements = operands.skip(1).flat_map(|text| text.split(';')).peekable();
    let reads = |text: &str| {
        let text = text.trim().to_ascii_lowercase();
        let writes = ["insert", "update", "delete", "replace into"]
            .iter()
            .any(|word| text.starts_with("with") && text.contains(word));
        text.is_empty() || (!writes && READING.iter().any(|start| text.starts_with(start)))
    };
    statements.peek().is_some() && statements.all(reads)
}
