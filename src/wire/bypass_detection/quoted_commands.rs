//! Commands that Perl, Ruby and PHP run by quotes alone: `qx(make)`, `%x(make)`, backticks.

/// The languages that have them, by how the names of their programs begin.
const LANGUAGES: [&str; 3] = ["perl", "ruby", "php"];

/// What stands before a command in quotes of its own.
const QUOTES: [&str; 2] = ["qx", "%x"];

/// Brackets that close such quotes.
const BRACKETS: [(char, char); 4] = [('(', ')'), ('{', '}'), ('[', ']'), ('<', '>')];

/// What backticks may stand behind.
const BEFORE: [char; 8] = ['=', ';', '(', ',', '{', '|', '&', '.'];
const WORDS_BEFORE: [&str; 5] = ["print", "say", "puts", "echo", "return"];

/// Returns the commands that a program's text runs by quotes.
pub(super) fn quoted_commands<'t>(program: &str, text: &'t str) -> Vec<&'t str> {
    if !LANGUAGES.iter().any(|language| program.starts_with(language)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for quote in QUOTES {
        found.extend(text.split(quote).skip(1).filter_map(|behind| {
            let behind = behind.trim_start();
            let open = behind.chars().next().filter(|open| !open.is_alphanumeric())?;
            let close = BRACKETS.iter().find(|(opens, _)| *opens == open).map_or(open, |(_, closes)| *closes);
            let inner = &behind[open.len_utf8()..];
            Some(&inner[..inner.find(close).unwrap_or(inner.len())])
        }));
    }
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('`') {
        let before = before.trim_end();
        let is_command =
            before.is_empty() || before.ends_with(BEFORE) || WORDS_BEFORE.iter().any(|word| before.ends_with(word));
        let Some((inner, after)) = behind.split_once('`') else { break };
        found.extend(is_command.then_some(inner));
        rest = after;
    }
    found
}
