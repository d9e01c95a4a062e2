//! The shell commands in a skill's text: the client runs them when it loads the skill, with no hook between.

/// How a command within a line begins, behind a blank or at a line's start, and how it ends.
const INLINE: &str = "!`";
const END: char = '`';
/// How a block of commands begins and ends.
const BLOCK: &str = "```!";
const BLOCK_END: &str = "```";
/// What stands for what a skill is called with.
const ARGUMENTS: &str = "$ARGUMENTS";

/// The most bytes that a text may become by what stands in it for the arguments.
const MOST: usize = 1 << 20;

/// Returns the commands, with what the skill is called with in its place; nothing where that makes the text too long to be read.
pub fn find(text: &str, arguments: &str) -> Option<Vec<String>> {
    let places = text.matches(ARGUMENTS).count();
    if text.len().saturating_add(places.saturating_mul(arguments.len())) > MOST {
        return None;
    }
    let filled = text.replace(ARGUMENTS, arguments);
    let mut found = Vec::new();
    for (at, _) in filled.match_indices(BLOCK) {
        let block = &filled[at + BLOCK.len()..];
        found.extend(block.split_once(BLOCK_END).map(|(commands, _)| commands.trim().to_owned()));
    }
    for (at, _) in filled.match_indices(INLINE) {
        let is_begun = filled[..at].chars().next_back().is_none_or(char::is_whitespace);
        let rest = filled[at + INLINE.len()..].split_once(END).filter(|_| is_begun);
        found.extend(rest.map(|(command, _)| command.to_owned()).filter(|command| !command.is_empty()));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_where_the_client_runs_them() {
        for (text, arguments, commands) in [
            ("a !`git status` b\n!`ls`", "", &["git status", "ls"][..]),
            ("a`!`b` and code!`c`", "", &[]),
            ("```!\nls\npwd\n```\n!``", "", &["ls\npwd"]),
            ("!`$ARGUMENTS`", "make all", &["make all"]),
            ("!`two\nlines`", "", &["two\nlines"]),
            ("!`never ends", "", &[]),
        ] {
            assert_eq!(find(text, arguments).unwrap(), commands, "{text}");
        }
    }

    #[test]
    fn arguments_that_make_a_text_too_long_are_not_put_in() {
        let (text, argument) = (ARGUMENTS.repeat(10_000), "x".repeat(90));
        assert_eq!((find(&text, &argument).is_some(), find(&text, &argument.repeat(2))), (true, None));
    }
}
