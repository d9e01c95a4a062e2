//! Patterns with `*`, for agent types, tools and models.

/// Whether a pattern fits a name; linear in practice, since after each `*` only the shortest stretch is tried again.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut read, mut last_star) = (0, 0, None);
    while read < name.len() {
        match pattern.get(at) {
            Some(b'*') if at + 1 == pattern.len() => return true,
            Some(b'*') => {
                last_star = Some((at, read));
                at += 1;
            }
            Some(byte) if *byte == name[read] => {
                at += 1;
                read += 1;
            }
            _ => {
                let Some((star, from)) = last_star else { return false };
                last_star = Some((star, from + 1));
                (at, read) = (star + 1, from + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}
