//! Which shell commands commit.

use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::{self, Part, Word};

/// Options of git itself that are followed by a value.
const VALUED: [&str; 6] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"];

/// Options of `git commit` with which it commits nothing.
const HARMLESS: [&str; 3] = ["--dry-run", "--help", "-h"];

/// How deep texts in texts are looked for: `sh -c "sh -c 'git commit'"`.
const DEEPEST: usize = 4;

/// Whether a shell command runs `git commit`.
pub fn commits(command: &str) -> bool {
    looks(command, 0)
}

fn looks(command: &str, deep: usize) -> bool {
    shell::parts(command).iter().any(|part| {
        let Part::Command(simple) = part else { return false };
        Invocation::of(simple).iter().any(|it| {
            let in_script = |script: &str| deep < DEEPEST && looks(script, deep + 1);
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

    #[test]
    fn a_commit_is_seen_and_nothing_else() {
        for command in [
            "git commit -m 'a b'",
            "cd x && git add -A && git commit -qm x",
            "git -C ../x -c user.name=a commit --amend --no-edit",
            "GIT_AUTHOR_DATE=now /usr/bin/git --no-pager commit -a",
            "timeout 5 git commit -F - <<'E'\ntext\nE",
            "bash -lc \"git commit -m x\"",
        ] {
            assert!(commits(command), "{command}");
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
            assert!(!commits(command), "{command}");
        }
    }
}
