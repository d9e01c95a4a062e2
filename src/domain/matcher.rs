//! The client's `matcher` of hooks: a list of names, or a regular expression of JavaScript's. Only what people write of these is read
//! here: a library of them takes more room than the program has left. What is not read is taken to be for everything.

use crate::domain::tool_name::{names_of, told_as};

/// The longest name that a pattern is compared with.
const LONGEST_NAME: usize = 256;
/// The longest pattern that is read, in bytes.
const LONGEST_PATTERN: usize = 1_024;
/// How many steps a comparison takes at most: a pattern may try the same text in very many ways.
const MOST_STEPS: usize = 4_096;

/// Whether a matcher is a list of names, and not a pattern.
pub fn is_list(matcher: &str) -> bool {
    matcher.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-|, ".contains(&byte))
}

/// Returns the names of a list.
pub fn names(matcher: &str) -> impl Iterator<Item = &str> {
    matcher.split(['|', ',']).map(str::trim)
}

/// Whether a matcher is for a name.
pub fn is_for(matcher: &str, name: &str) -> bool {
    match matcher {
        "" | "*" => true,
        _ if is_list(matcher) => names(matcher).any(|other| told_as(other) == told_as(name)),
        _ if matcher.len() > LONGEST_PATTERN => true,
        _ => Parser { rest: matcher }
            .whole()
            .is_none_or(|pattern| names_of(name).any(|name| pattern.is_in(name).unwrap_or(true))),
    }
}

/// What one place of a pattern takes.
#[derive(Debug)]
enum Atom {
    Letter(char),
    Any,
    Start,
    End,
    Group(Alternatives),
}

/// How often it may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    Once,
    Maybe,
    Any,
}

#[derive(Debug)]
struct Alternatives(Vec<Vec<(Atom, Times)>>);

impl Alternatives {
    /// Whether it is found anywhere in a name; nothing where that takes too many steps.
    fn is_in(&self, name: &str) -> Option<bool> {
        if name.len() > LONGEST_NAME {
            return None;
        }
        let letters: Vec<char> = name.chars().collect();
        let mut steps = MOST_STEPS;
        for from in 0..=letters.len() {
            if !self.ends(&letters, from, &mut steps)?.is_empty() {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Returns where it may end that begins at a place.
    fn ends(&self, letters: &[char], from: usize, steps: &mut usize) -> Option<Vec<usize>> {
        let mut all = Vec::new();
        for sequence in &self.0 {
            let mut at = vec![from];
            for (atom, times) in sequence {
                at = after(atom, *times, letters, &at, steps)?;
            }
            all.extend(at);
        }
        Some(all)
    }
}

/// Returns where an atom may end that begins at any of some places.
fn after(atom: &Atom, times: Times, letters: &[char], from: &[usize], steps: &mut usize) -> Option<Vec<usize>> {
    let mut reached = if times == Times::Once { Vec::new() } else { from.to_vec() };
    let mut next = from.to_vec();
    while let Some(at) = next.pop() {
        *steps = steps.checked_sub(1)?;
        let ends = match atom {
            Atom::Letter(letter) if letters.get(at) == Some(letter) => vec![at + 1],
            Atom::Any if at < letters.len() => vec![at + 1],
            Atom::Start if at == 0 => vec![at],
            Atom::End if at == letters.len() => vec![at],
            Atom::Group(group) => group.ends(letters, at, steps)?,
            _ => Vec::new(),
        };
        for end in ends {
            if !reached.contains(&end) {
                reached.push(end);
                if times == Times::Any {
                    next.push(end);
                }
            }
        }
    }
    Some(reached)
}

/// Reads a pattern; nothing where it has what is not read.
struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn whole(mut self) -> Option<Alternatives> {
        self.alternatives(0).filter(|_| self.rest.is_empty())
    }

    fn alternatives(&mut self, depth: usize) -> Option<Alternatives> {
        let mut all = vec![Vec::new()];
        while let Some(letter) = self.rest.chars().next().filter(|letter| *letter != ')') {
            self.skip(letter);
            let atom = match letter {
                '|' => {
                    all.push(Vec::new());
                    continue;
                }
                '(' if depth < 4 => {
                    self.rest = self.rest.strip_prefix("?:").unwrap_or(self.rest);
                    let group = self.alternatives(depth + 1)?;
                    self.rest = self.rest.strip_prefix(')')?;
                    Atom::Group(group)
                }
                '.' => Atom::Any,
                '^' => Atom::Start,
                '$' => Atom::End,
                '\\' => {
                    let letter = self.rest.chars().next().filter(char::is_ascii_punctuation)?;
                    self.skip(letter);
                    Atom::Letter(letter)
                }
                '(' | '[' | ']' | '{' | '}' | '*' | '+' | '?' => return None,
                letter => Atom::Letter(letter),
            };
            let sequence = all.last_mut()?;
            match self.rest.chars().next() {
                Some('*') => sequence.push((atom, Times::Any)),
                Some('?') => sequence.push((atom, Times::Maybe)),
                // Once, and then as often as it likes: of a group that would have to be told twice.
                Some('+') => match atom {
                    Atom::Letter(letter) => {
                        sequence.extend([(Atom::Letter(letter), Times::Once), (Atom::Letter(letter), Times::Any)])
                    }
                    Atom::Any => sequence.extend([(Atom::Any, Times::Once), (Atom::Any, Times::Any)]),
                    _ => return None,
                },
                _ => {
                    sequence.push((atom, Times::Once));
                    continue;
                }
            }
            self.skip('*');
            // What a quantifier takes first is no matter here.
            self.rest = self.rest.strip_prefix('?').unwrap_or(self.rest);
        }
        Some(Alternatives(all))
    }

    fn skip(&mut self, letter: char) {
        self.rest = &self.rest[letter.len_utf8()..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_patterns_are_for_what_the_client_takes_them_for() {
        for (matcher, named, others) in [
            ("", &["Bash", "mcp__a__b"][..], &[][..]),
            ("*", &["Bash"], &[]),
            ("Bash", &["Bash"], &["BashOutput", "bash"]),
            ("Edit, Write", &["Edit", "Write"], &["Edit, Write", "Bash"]),
            ("Task|KillBash", &["Agent", "TaskStop"], &["TaskCreate"]),
            ("^Task$", &["Agent"], &["TaskCreate"]),
            ("Edit|Write", &["Edit", "Write"], &["Bash", "NotebookEdit"]),
            ("mcp__github__.*", &["mcp__github__x", "mcp__github__"], &["Bash", "mcp__git__x"]),
            ("^(Edit|Write)$", &["Edit", "Write"], &["NotebookEdit", "Bash", "Writer"]),
            ("^(?:Multi)?Edit$", &["Edit", "MultiEdit"], &["NotebookEdit"]),
            ("Notebook.*", &["NotebookEdit", "MyNotebook"], &["Bash"]),
            ("mcp__.+__write", &["mcp__a__write_file"], &["mcp____write", "mcp__a__read"]),
            ("plugin:agent", &["plugin:agent", "my-plugin:agent-2"], &["agent"]),
            ("Bash\\.?", &["Bash", "Bash."], &["Edit"]),
            ("Edit|^Write$", &["NotebookEdit", "Write"], &["Writes"]),
            ("x*?y", &["y", "xxy"], &["x"]),
        ] {
            named.iter().for_each(|name| assert!(is_for(matcher, name), "{matcher} is for {name}"));
            others.iter().for_each(|name| assert!(!is_for(matcher, name), "{matcher} is not for {name}"));
        }
    }

    #[test]
    fn what_is_not_read_is_for_everything() {
        for matcher in [
            "[A-Z]ash",
            "\\w+",
            "(?=Bash)",
            "(?!Edit)",
            "a{2}",
            "(ab)+",
            "((((((x))))))",
            "(x",
            "x)",
            "*x",
            "a**",
            "\\",
        ] {
            assert!(is_for(matcher, "Read"), "{matcher}");
        }
        assert!(is_for(&"x.".repeat(600), "Read"));
    }

    #[test]
    fn a_pattern_that_takes_too_long_is_for_everything() {
        let name = "a".repeat(2_000);
        assert!(is_for("(a*)*(a*)*(a*)*b", &name));
    }
}
