//! How types of agents are compared: the client takes a name in any case, with blanks around it, and in full-width letters.

use std::collections::BTreeMap;

/// What a full-width form of an ASCII character is above it.
const FULL_WIDTH: u32 = 0xfee0;

/// Returns the form of a name in which types are compared.
pub fn folded(name: &str) -> String {
    letters(name).collect()
}

/// Whether two names are of one type.
pub fn is_same(one: &str, other: &str) -> bool {
    one == other || letters(one).eq(letters(other))
}

/// Returns what is said of a type: by its exact name, else by another form of it.
pub fn find<'a, T>(types: &'a BTreeMap<String, T>, name: &str) -> Option<&'a T> {
    types.get(name).or_else(|| types.iter().find(|(known, _)| is_same(known, name)).map(|(_, said)| said))
}

fn letters(name: &str) -> impl Iterator<Item = char> {
    name.trim().chars().map(narrow).flat_map(char::to_lowercase)
}

fn narrow(letter: char) -> char {
    match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - FULL_WIDTH).unwrap_or(letter),
        _ => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_that_the_client_takes_is_of_one_type() {
        for name in
            ["developer", "Developer", "DEVELOPER", " developer", "developer\t", "ｄeveloper", "ＤＥＶＥＬＯＰＥＲ"]
        {
            assert!(is_same(name, "developer") && is_same("Developer", name), "{name}");
            assert_eq!(folded(name), "developer");
        }
        for name in ["", "develope", "developers", "dev eloper", "dev-eloper", "main"] {
            assert!(!is_same(name, "developer"), "{name}");
        }
        let types = BTreeMap::from([("Developer".to_owned(), 1), ("developer".to_owned(), 2), ("QA".to_owned(), 3)]);
        for (name, said) in [("developer", Some(2)), ("Developer", Some(1)), ("qa", Some(3)), ("critic", None)] {
            assert_eq!(find(&types, name).copied(), said, "{name}");
        }
        assert!(find(&types, "DEVELOPER").is_some());
    }
}
