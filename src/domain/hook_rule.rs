//! The `if` of a hook: a permission rule. Only what surely does not meet one is read here: the client runs hooks at a command that it
//! cannot take apart, whatever their rule says.

use crate::domain::tool_name::told_as;

/// The longest command that is read, in bytes. The client takes none apart of more than 10,000.
const LONGEST: usize = 4_096;
/// Words behind which a shell's grammar does not go on as behind the name of a program, or that may set a variable.
const GRAMMAR: &str = "if then elif else fi for in while until do done case esac select function coproc time exec declare typeset export \
                       readonly local unset unsetenv let integer float private nameref read mapfile readarray command builtin noglob \
                       nocorrect set print printf getopts wait stat";

/// Whether a call may meet a rule.
pub fn may_meet(rule: &str, tool: &str, command: &str) -> bool {
    let (name, text) = rule.split_once('(').unwrap_or((rule, ""));
    match name {
        "" => true,
        // A rule for Bash is for the commands of other tools, too.
        "Bash" if !command.is_empty() => !is_plain(command) || has_words(command, text),
        // Those of a server's tools may name the server alone.
        _ if name.starts_with("mcp__") => tool.starts_with("mcp__"),
        _ => told_as(name) == told_as(tool),
    }
}

/// Whether a command has all words of a rule, in whatever order and place.
fn has_words(command: &str, rule: &str) -> bool {
    let command: String = command.chars().filter(|letter| !matches!(letter, '"' | '\'')).collect();
    rule.split(|letter: char| !letter.is_ascii_alphanumeric()).all(|word| command.contains(word))
}

/// Whether a command consists of programs with plain words, one after the other, which the client surely takes apart.
fn is_plain(command: &str) -> bool {
    let of = |quote| command.bytes().filter(|byte| *byte == quote).count();
    let (single, double) = (of(b'\''), of(b'"'));
    command.len() <= LONGEST
        && single.min(double) == 0
        && (single + double) % 2 == 0
        && command.replace("||", "|").replace("&&", "|").replace(';', "|").split('|').all(is_plain_part)
}

fn is_plain_part(part: &str) -> bool {
    let part = part.trim_matches(' ');
    let part = part.strip_suffix(" 2>&1").unwrap_or(part);
    let program = part.split(' ').next().unwrap_or_default();
    let is_in_names = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    part.bytes().all(|byte| is_in_names(byte) || b" ,:=@%+\"'".contains(&byte))
        && !part.contains(" =")
        && program.bytes().all(is_in_names)
        && program.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || b"_./".contains(&first))
        && GRAMMAR.split(' ').all(|word| word != program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_of_another_tool_is_not_met() {
        for (rule, tool, meets) in [
            ("", "Read", true),
            ("Read(*.rs)", "Read", true),
            ("Edit(*.rs)", "Write", false),
            ("Task(worker)", "Agent", true),
            ("mcp__github", "mcp__github__push", true),
            ("mcp__github", "Bash", false),
            ("Bash(git *)", "Read", false),
            ("Bash(git *)", "Bash", true),
            ("*", "Bash", false),
        ] {
            assert_eq!(may_meet(rule, tool, ""), meets, "{rule} at {tool}");
        }
    }

    #[test]
    fn a_command_without_a_rules_words_does_not_meet_it() {
        for (rule, command, meets) in [
            ("Bash(git push *)", "git push origin", true),
            ("Bash(git push *)", "git log", false),
            ("Bash(git push:*)", "cd x && git -C . push | tail -5", true),
            ("Bash(git push *)", "cd x || cargo test --all 2>&1 | tail -5; ls \"a b\"", false),
            ("Bash(git push *)", "g\"it\" push", true),
            ("Bash(git:*)", "ls -la", false),
            ("Bash(*)", "ls", true),
            ("Bash", "ls", true),
        ] {
            assert_eq!(may_meet(rule, "Bash", command), meets, "{rule} at {command}");
        }
    }

    /// At these the client runs every hook, by trial, or may do so.
    #[test]
    fn a_command_that_is_not_plain_meets_every_rule() {
        let long = "ls ".repeat(2_000);
        for command in [
            "echo $x",
            "echo `x`",
            "(ls)",
            "{ ls; }",
            "ls &&",
            "| ls",
            "ls ;& ls",
            "ls &&| ls",
            "ls & ls",
            "ls > x",
            "ls < x",
            "ls 2>&1 x",
            "x=1 ls",
            "ls =a",
            "-- export",
            "\"ls\" x",
            "ls 'x",
            "ls \"it's\"",
            "l\\s",
            "ls\nls",
            "case x in",
            "function x",
            "exec readonly",
            "integer",
            "printf -v PATH x",
            "read env",
            "echo é",
            " ",
            &long,
        ] {
            assert!(may_meet("Bash(zzz *)", "Bash", command), "{command}");
        }
    }
}
