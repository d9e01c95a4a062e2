//! Commands whose exit code is an answer and no failure, where they print nothing: whether a file is there, a program runs, two
//! files differ, a page is up. The client itself takes a plain `grep` or `test` so.

use crate::wire::shell::{self, Part};

/// The programs, the words that have to be among theirs (any of them; none where it says none), and the codes that answer.
const ANSWERS: [(&str, &[&str], &[u8]); 14] = [
    ("test", &[], &[1]),
    ("[", &[], &[1]),
    ("[[", &[], &[1]),
    ("grep", &[], &[1]),
    ("pgrep", &[], &[1]),
    ("pidof", &[], &[1]),
    ("which", &[], &[1]),
    ("type", &[], &[1]),
    ("command", &["-v", "-V"], &[1, 127]),
    ("git", &["--quiet", "--exit-code", "-q"], &[1]),
    ("cmp", &[], &[1]),
    ("diff", &[], &[1]),
    // A page that is not found, a host or port that does not answer.
    ("curl", &["-sf", "-fs", "-sSf", "-fsS", "-sfo", "--fail"], &[6, 7, 22, 28]),
    ("nc", &["-z"], &[1]),
];
/// Shells that run the command that they are given.
const SHELLS: [&str; 3] = ["sh", "bash", "zsh"];
/// How deep shells are followed.
const DEEPEST: usize = 3;

/// Whether a shell command ended with an answer, by its result as JSON.
pub fn is_answer(command: &str, result: &str) -> bool {
    let text = result.trim_matches('"');
    let code = text.strip_prefix("Error: ").unwrap_or(text).strip_prefix("Exit code ");
    code.and_then(|code| code.parse::<u8>().ok()).is_some_and(|code| answers(command, code, 0))
}

/// Whether a command's last part answers with this code.
fn answers(command: &str, code: u8, deep: usize) -> bool {
    let parts = shell::parts(command);
    let mut commands = parts.iter().filter_map(|part| match part {
        Part::Command(simple) => Some(simple),
        _ => None,
    });
    let Some((program, words)) = commands.next_back().and_then(|simple| simple.words.split_first()) else {
        return false;
    };
    let name = shell::base(&program.text);
    let has = |word: &&&str| words.iter().any(|given| given.text == **word);
    if SHELLS.contains(&name) && deep < DEEPEST {
        let given = words.iter().skip_while(|word| word.text != "-c").nth(1);
        return given.is_some_and(|inner| answers(&inner.text, code, deep + 1));
    }
    ANSWERS.iter().any(|(program, among, codes)| {
        *program == name && codes.contains(&code) && (among.is_empty() || among.iter().any(|word| has(&word)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_code_is_an_answer_where_the_last_command_asks() {
        for (command, result, is) in [
            ("test -f a", "\"Exit code 1\"", true),
            ("[ -d a ]", "\"Error: Exit code 1\"", true),
            ("sh -c 'test -f a'", "\"Exit code 1\"", true),
            ("pgrep -x prog", "\"Exit code 1\"", true),
            ("command -v prog", "\"Exit code 1\"", true),
            ("git diff --quiet HEAD -- a || cmp -s a b", "\"Exit code 1\"", true),
            ("git diff --quiet", "\"Exit code 1\"", true),
            ("curl -sf http://127.0.0.1:9000/health", "\"Exit code 7\"", true),
            ("curl http://127.0.0.1:9000/health", "\"Exit code 7\"", false),
            ("test -f a && make", "\"Exit code 1\"", false),
            ("make check", "\"Exit code 1\"", false),
            ("test -f a", "\"Exit code 2\"", false),
            ("diff a b", "\"Exit code 1\\n1c1\"", false),
        ] {
            assert_eq!(is_answer(command, result), is, "{command} {result}");
        }
    }
}
