//! Which shell commands have committed, by their words and by what git says.

use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::{self, Part, Word};

/// Options of git itself that are followed by a value.
const VALUED: [&str; 6] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"];

/// Options of `git commit` with which it commits nothing.
const HARMLESS: [&str; 3] = ["--dry-run", "--help", "-h"];

/// How deep texts in texts are looked for, and how many bytes of them: `sh -c "sh -c 'git commit'"`.
const DEEPEST: usize = 4;
const MOST_READ: usize = 1024 * 1024;

/// What may stand before a quiet commit, of git and of other programs: nothing that ends the shell or changes what a name runs.
const GIT_BEFORE: [&str; 5] = ["init", "add", "rm", "mv", "status"];
const BEFORE: [&str; 9] = ["cd", "echo", "printf", "mkdir", "touch", "cp", "mv", "rm", "ls"];

/// Whether a shell command that ended well has run `git commit` and made a commit, by what it has printed.
pub fn has_committed(command: &str, printed: &str) -> bool {
    looks(command, 0, &mut MOST_READ.clone()) && (printed.lines().any(is_commits_line) || ends_as_its_commit(command))
}

/// Whether a line is what git says of a commit: `[main 1a2b3c4] Subject`, `[main (root-commit) 1a2b3c4] Subject`.
fn is_commits_line(line: &str) -> bool {
    let inside = line.strip_prefix('[').and_then(|line| line.split_once("] ")).map_or("", |(inside, _)| inside);
    let Some((branch, hash)) = inside.rsplit_once(' ') else { return false };
    !branch.is_empty() && (4..=64).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a command ends well only where its commit did: that stands last, and nothing but plain commands before it.
fn ends_as_its_commit(command: &str) -> bool {
    let parts = shell::parts(command);
    let git = |part: &Part, is: &dyn Fn(&[Word]) -> bool| match part {
        Part::Command(simple) => match simple.words.split_first() {
            Some((program, args)) => program.text == "git" && is(args),
            None => false,
        },
        _ => false,
    };
    let is_plain = |part: &Part| matches!(part, Part::Command(simple) if simple.words.first().is_some_and(|word| BEFORE.contains(&&*word.text)));
    let prepares = |part: &Part| git(part, &|args| args.first().is_some_and(|word| GIT_BEFORE.contains(&&*word.text)));
    let Some((last, before)) = parts.split_last() else { return false };
    git(last, &is_commit) && before.iter().all(|part| is_plain(part) || prepares(part)) && !hides_its_end(command)
}

/// What leaves a part of a command out, or turns its end round.
const KEYWORDS: [&str; 6] = ["if", "for", "while", "until", "case", "!"];

/// Whether a command's end does not tell how each of its parts ended: outside quotes it has `|`, `||`, `&`, a group or a keyword.
fn hides_its_end(command: &str) -> bool {
    let (mut quote, mut unquoted) = (None, String::new());
    let mut rest = command.chars().peekable();
    while let Some(letter) = rest.next() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (Some('"') | None, '\\') => _ = rest.next(),
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '&') if rest.next_if_eq(&'&').is_some() => {}
            (None, '|' | '&' | '(' | '{') => return true,
            (None, letter) => unquoted.push(letter),
        }
    }
    unquoted.split([' ', '\t', '\n', ';']).any(|word| KEYWORDS.contains(&word))
}

/// Whether a text makes a commit; `left` is how many bytes are still read of texts in it.
fn looks(command: &str, deep: usize, left: &mut usize) -> bool {
    shell::parts(command).iter().any(|part| {
        let Part::Command(simple) = part else { return false };
        Invocation::of(simple).iter().any(|it| {
            let mut in_script = |script: &str| {
                *left = left.saturating_sub(script.len());
                deep < DEEPEST && *left > 0 && looks(script, deep + 1, left)
            };
            it.name() == "git" && is_commit(it.args) || it.scripts.iter().any(|script| in_script(script))
        })
    })
}

/// Whether git's arguments make a commit.
fn is_commit(args: &[Word]) -> bool {
    let mut rest = args;
    while let Some((word, after)) = rest.split_first() {
        let word = &*word.text;
        if !word.starts_with('-') {
            return word == "commit" && !after.iter().any(|word| HARMLESS.contains(&&*word.text));
        }
        rest = if VALUED.contains(&word) { after.get(1..).unwrap_or(&[]) } else { after };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "hook ran\n[main 1a2b3c4] Subject\n 1 file changed";

    #[test]
    fn a_commit_is_seen_and_nothing_else() {
        for command in [
            "git commit -m 'a b'",
            "cd x && git add -A && git commit -qm x",
            "git -C ../x -c user.name=a commit --amend --no-edit",
            "GIT_AUTHOR_DATE=now /usr/bin/git --no-pager commit -a",
            "timeout 5 git commit -F - <<'E'\ntext\nE",
            "bash -lc \"git commit -m x\"",
            "git commit -m x || true",
        ] {
            assert!(has_committed(command, SAID), "{command}");
        }
        for command in [
            "",
            "git status",
            "git log --grep commit",
            "echo git commit -m x",
            "git commit --dry-run",
            "git show commit",
            "git stash push -m commit",
            "cat <<E\ngit commit\nE",
        ] {
            assert!(!has_committed(command, SAID), "{command}");
        }
    }

    #[test]
    fn a_commit_is_told_by_what_git_says_or_by_a_command_that_is_nothing_else() {
        for said in ["[main (root-commit) 1a2b3c4] x", "[detached HEAD 1a2b3c4f00] x", SAID] {
            assert!(has_committed("make; git commit -m x | cat", said), "{said}");
        }
        for said in ["", "nothing to commit, working tree clean", "[1] 1234", "[x] done", "main 1a2b3c4] x"] {
            assert!(!has_committed("make; git commit -m x | cat", said), "{said}");
        }
        for quiet in [
            "git commit -qm 'a | b & c || d'",
            "cd x && git add . && git commit -q -m \"a \\\" | b\"",
            "git add r; git -c user.name=a commit -q -m x",
            "cd x\ngit rm f\ngit commit -qm x",
            "echo 1 > r; git add r; git commit -qm x",
        ] {
            assert!(has_committed(quiet, ""), "{quiet}");
        }
        for nothing in [
            "false && git commit -m x; echo 1",
            "if false; then git commit -m x; fi; echo 1",
            "exit 0; git commit -m x",
            "git() { echo fake; }; git commit -m x",
            "if false; then git commit -m x; fi",
            "! git commit -m x",
            "git commit -m x || true",
            "git commit -m x; echo 1",
            "git commit -m x | cat",
            "git commit -m x &",
            "(git commit -m x) & wait",
            "git add x || git commit -qm x",
            "sh -c 'git commit -qm x'; true",
        ] {
            assert!(!has_committed(nothing, ""), "{nothing}");
        }
    }
}
