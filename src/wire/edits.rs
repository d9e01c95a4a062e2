//! Which shell commands have committed, by their words and by what git says.

use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::{self, Part, Simple, Word};

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
    // What runs in parentheses ends nothing but these.
    let (mut open, mut own) = (0_usize, Vec::new());
    for part in &parts {
        match part {
            Part::Open => open += 1,
            Part::Close => open = open.saturating_sub(1),
            Part::Command(simple) if simple.is_called => return false,
            Part::Command(simple) if open == 0 => own.push(simple),
            Part::Command(_) => {}
        }
    }
    let Some((last, before)) = own.split_last().filter(|_| parts.last() != Some(&Part::Close)) else { return false };
    let is_git = |simple: &Simple, is: &dyn Fn(&[Word]) -> bool| {
        simple.words.split_first().is_some_and(|(program, args)| program.text == "git" && is(args))
    };
    let starts_with = |words: &[Word], names: &[&str]| words.first().is_some_and(|word| names.contains(&&*word.text));
    let prepares = |simple: &&Simple| {
        starts_with(&simple.words, &BEFORE) || is_git(simple, &|args| starts_with(args, &GIT_BEFORE))
    };
    is_git(last, &is_commit)
        && !last.is_doubtful
        && before.iter().all(prepares)
        && is_neither_negated_nor_followed(command, before, last)
}

/// Whether neither `!` stands before the last command, nor arithmetic behind it: both are no parts.
fn is_neither_negated_nor_followed(command: &str, before: &[&Simple], last: &Simple) -> bool {
    let end = |simple: &&Simple| {
        let words = [&simple.words, &simple.assignments, &simple.writes, &simple.reads].into_iter().flatten();
        words.map(|word| word.end).max().unwrap_or(0)
    };
    let from = before.iter().map(end).max().unwrap_or(0);
    let name = last.words.first().map_or(0, |word| word.end);
    let around = [command.get(from..name), command.get(end(&last)..)].map(Option::unwrap_or_default);
    !around.iter().any(|text| text.contains('!') || text.contains("(("))
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

    /// What may stand in a command and joins it to no other, though it has a shell's signs.
    const BESIDE: [&str; 28] = [
        "2>&1",
        ">&2",
        "1>&2",
        ">/dev/null 2>&1",
        "2>&1 >/dev/null",
        "&>log",
        "&>>log",
        "&> log",
        ">| log",
        "3>&-",
        "2>&-",
        "<&-",
        "0<&3",
        "{out}>&1",
        "<list",
        "<<<'a & b | (c)'",
        ">${log}",
        ">>$(date +%F).log",
        "# a & b | (c)",
        "-m 'a & b'",
        "-m \"a | b (c)\"",
        "-m a\\&b\\|c",
        "-m $'it\\'s & so'",
        "-m \"$(cat <<'E'\na \"b\" & (c)\nE\n)\"",
        "-F - <<E\na & b (c) | if\nE",
        "-F - <<'E' 2>&1\n(a)\nE",
        "-- for",
        "-- {a,b}",
    ];

    #[test]
    fn a_commit_that_says_nothing_is_seen_with_whatever_stands_beside_it() {
        for it in BESIDE {
            for quiet in ["git commit -qm x", "cd x && git add -A 2>&1 && git commit -qm x"] {
                let command = format!("{quiet} {it}");
                assert!(has_committed(&command, ""), "{command}");
            }
            for other in [
                "git commit -qm x",
                "! git commit -qm x",
                "cd x && ! git commit -qm x",
                "git add x || git commit -qm x",
            ] {
                for behind in
                    ["|| true", "| cat", "|& cat", "&", "; echo 1", "|| ((1))", "; (true)", "|| >log", "|| A=1", "|| !"]
                {
                    let is_split = it.contains(['\n', '#']);
                    let command = format!("{other} {it} {behind}");
                    assert!(is_split || !has_committed(&command, ""), "{command}");
                }
            }
        }
        for quiet in [
            "git add {a,b} && git commit -qm x",
            "(cd x; make) && git commit -qm x",
            "echo \"wow!\" & git commit -qm x",
        ] {
            assert!(has_committed(quiet, ""), "{quiet}");
        }
        for nothing in ["git() (exit 0); git commit -qm x", "{ ! git commit -qm x; }", "! A=$(b) git commit -qm x"] {
            assert!(!has_committed(nothing, ""), "{nothing}");
        }
    }
}
