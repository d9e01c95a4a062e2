//! Reads which paths a Rust file names: `crate::…`, and `child::…` where it declares `mod child;` or imports that module.

use std::collections::BTreeMap;

/// One name that a file takes from a module of this crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The path from the root of the crate: `["engine", "session_state", "SessionState"]`.
    pub path: Vec<String>,
    /// Where it stands, from 1.
    pub line: usize,
}

/// A word or a sign of the code, and its line.
type Token = (String, usize);

/// Returns every path of this crate that the file of `module` names. Code under `#[cfg(test)]` counts if `with_tests`.
pub fn of(module: &[String], text: &str, with_tests: bool) -> Vec<Named> {
    let mut tokens = tokens(text);
    if !with_tests {
        tokens = without_tests(&tokens);
    }
    let mut known = BTreeMap::from([("crate".to_owned(), Vec::new())]);
    for pair in tokens.windows(3) {
        if let [(word, _), (name, _), (end, _)] = pair
            && word == "mod"
            && (end == ";" || end == "{")
        {
            known.insert(name.clone(), [module, std::slice::from_ref(name)].concat());
        }
    }
    let mut named = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let starts = at == 0 || !["::", ".", "mod"].contains(&tokens[at - 1].0.as_str());
        let goes_on = tokens.get(at + 1).is_some_and(|(next, _)| next == "::");
        if let (true, true, Some(root)) = (starts, goes_on, known.get(&tokens[at].0).cloned()) {
            let before = named.len();
            let end = tree(&tokens, at + 2, &root, &mut named);
            if at > 0 && tokens[at - 1].0 == "use" {
                import(&named[before..], &mut known);
            }
            at = end;
        } else {
            at += 1;
        }
    }
    named
}

/// Reads one path, or the tree of paths between braces, from `at` on; returns where it ends.
fn tree(tokens: &[Token], mut at: usize, root: &[String], named: &mut Vec<Named>) -> usize {
    let mut path = root.to_vec();
    while let Some((word, line)) = tokens.get(at) {
        if word == "{" {
            at += 1;
            while let Some((word, _)) = tokens.get(at).filter(|(word, _)| word != "}") {
                at = match word.as_str() {
                    "," => at + 1,
                    "as" => at + 2,
                    _ => tree(tokens, at, &path, named),
                };
            }
            return at + 1;
        }
        path.push(word.clone());
        at += 1;
        if tokens.get(at).is_none_or(|(next, _)| next != "::") || word == "*" {
            named.push(Named { path, line: *line });
            break;
        }
        at += 1;
    }
    at
}

/// Notes the modules that `use` brings in, so that `account::charge` after `use crate::engine::account;` is seen.
fn import(named: &[Named], known: &mut BTreeMap<String, Vec<String>>) {
    for found in named {
        let path = found.path.strip_suffix(&["self".to_owned()]).unwrap_or(&found.path);
        // A module's name is in lower case, as a function's; what is no module is not found by its path later.
        if let Some(last) = path.last().filter(|last| last.starts_with(|c: char| c.is_ascii_lowercase())) {
            known.insert(last.clone(), path.to_vec());
        }
    }
}

/// Returns every path that a file names, of this crate or of another: `std::fs::File`, each with its line. Code under
/// `#[cfg(test)]` is left out; the names of a `use` with braces are given one by one.
pub fn all(text: &str) -> Vec<Named> {
    let tokens = without_tests(&tokens(text));
    let (mut named, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        let is_word = tokens[at].0.starts_with(|c: char| c.is_alphabetic());
        let starts = at == 0 || tokens[at - 1].0 != "::";
        at = if is_word && starts { tree(&tokens, at, &[], &mut named) } else { at + 1 };
    }
    named
}

/// Leaves out each item under `#[cfg(test)]`.
fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let is_mark = |at: usize| {
        let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
        tokens[at..].iter().map(|(word, _)| word.as_str()).take(mark.len()).eq(mark)
    };
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if is_mark(at) {
            at = item_end(tokens, at);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Returns where the item that begins at `at` ends: after its `;` or its last brace.
fn item_end(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0_usize;
    for (place, (word, _)) in tokens.iter().enumerate().skip(at) {
        match word.as_str() {
            "{" | "(" | "[" => depth += 1,
            ")" | "]" => depth -= 1,
            "}" if depth == 1 => return place + 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return place + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Cuts Rust into words and signs. Comments, texts, characters and lifetimes are left out.
fn tokens(text: &str) -> Vec<Token> {
    let (mut tokens, mut line, mut rest) = (Vec::new(), 1, text);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => text_length(rest),
            'r' | 'b' if raw_length(rest).is_some() => raw_length(rest).unwrap(),
            '\'' => character_length(rest),
            _ if first.is_alphanumeric() || first == '_' => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                tokens.push((rest[..end].to_owned(), line));
                end
            }
            ':' if rest.starts_with("::") => {
                tokens.push(("::".to_owned(), line));
                2
            }
            _ => {
                if !first.is_whitespace() {
                    tokens.push((first.to_string(), line));
                }
                first.len_utf8()
            }
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

/// Returns the length of the text in double quotes at the start of `rest`.
fn text_length(rest: &str) -> usize {
    let mut signs = rest.char_indices().skip(1);
    while let Some((at, sign)) = signs.next() {
        match sign {
            '\\' => drop(signs.next()),
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length of `r"…"` and `r#"…"#` at the start of `rest`.
fn raw_length(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(rest.len() - body.len() + body.find(&end)? + end.len())
}

/// Returns the length of a character, or of the quote that begins a lifetime.
fn character_length(rest: &str) -> usize {
    let mut signs = rest.char_indices().skip(1);
    match (signs.next(), signs.next()) {
        (Some((_, '\\')), _) => rest[3..].find('\'').map_or(rest.len(), |end| 3 + end + 1),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

#[test]
fn paths_are_read_as_the_compiler_reads_them() {
    let text = r###"
        //! Not this: crate::a::Comment
        mod child;
        use crate::engine::{account, session_state::{self, SessionState}, event::*};
        use child::Type;
        fn f(s: &'static str) -> char {
            account::charge(s, "crate::b::Text", r#"crate::c::"Raw"#, '"');
            crate::wire::input::read(other.child::<u8>(), '\'');
        }
        #[cfg(test)]
        mod tests { use crate::d::Test; }
    "###;
    let named = of(&["live".to_owned()], text, false);
    let paths: Vec<String> = named.iter().map(|named| format!("{} {}", named.line, named.path.join("::"))).collect();
    assert_eq!(
        paths,
        [
            "4 engine::account",
            "4 engine::session_state::self",
            "4 engine::session_state::SessionState",
            "4 engine::event::*",
            "5 live::child::Type",
            "7 engine::account::charge",
            "8 wire::input::read",
        ]
    );
    assert_eq!(of(&[], text, true).last().unwrap().path, ["d", "Test"]);
}
