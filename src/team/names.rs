//! Which names a team's store takes.

/// The rule, as people read it.
pub const RULE: &str =
    "it begins with a letter or a digit, and has letters, digits, `.`, `_` and `-`, no more than 63 in all";
/// The longest name.
const LONGEST: usize = 63;

/// Returns whether the store takes this name of a team or a group.
pub fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric();
    let begins = text.bytes().next().is_some_and(is_plain);
    begins && text.len() <= LONGEST && text.bytes().all(|byte| is_plain(byte) || b"._-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_plain() {
        for good in ["core", "0", "a.b_c-D", &"x".repeat(63)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "-core", ".core", "my team", "core!", "köln", "a\n", &"x".repeat(64)] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
