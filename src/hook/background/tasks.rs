//! The ending of shell commands that outlive their run. What is ended is proved to be the task by what the client gave it.

use std::path::{Path, PathBuf};

use crate::domain::event::Background;
use crate::domain::moment::Moment;
use crate::domain::session::Process;
use crate::platform::processes::{self, TICK_MS};

/// How much the moments of a process and of an event may differ, in milliseconds.
const APART_MS: u64 = 1_000;
/// What the client puts behind a command: it writes the folder down that the shell ends in.
const TAIL: &str = " && pwd -P >| ";
/// How the client keeps a command from reading its own input.
const NO_INPUT: [&str; 3] = [" < /dev/null", " \\< /dev/null", ""];
/// What stands behind a command that the client keeps together by braces: 2.1.332 does on Windows, and can be told to elsewhere.
const BRACED: &str = "; }";

/// Ends the shell command of a task with everything it started; returns whether it was found.
///
/// The client runs a command in a shell that is its child and leads a group. It is a task's where it writes to the file that the
/// client keeps for the task; where the client has no such file, where the shell's line is the very command and the shell was
/// started while the call was made.
pub fn end(client: Process, task: &Background) -> bool {
    if !processes::is_at_work(client.pid, client.start, client.ns) {
        return false;
    }
    let shells: Vec<(u32, u64)> = processes::leaders_below(client.pid).collect();
    let by_file = shells.iter().find(|(pid, _)| writes_to(*pid, &task.task));
    let is_still = |pid: u32, start: u64| {
        let now = processes::leaders_below(client.pid).find(|(other, _)| *other == pid);
        now == Some((pid, start)) && processes::is_at_work(client.pid, client.start, client.ns)
    };
    if let Some(&(pid, start)) = by_file {
        return processes::end_group(pid, || is_still(pid, start) && writes_to(pid, &task.task));
    }
    let timely = shells
        .into_iter()
        .filter(|(pid, start)| is_of_its_time(*start, task) && runs(*pid, &task.command) && !has_another_file(*pid));
    let nearest = timely.min_by_key(|(_, start)| task.began.mono_ms.abs_diff(processes::since_boot_ms(*start)));
    nearest.is_some_and(|(pid, start)| processes::end_group(pid, || is_still(pid, start) && runs(pid, &task.command)))
}

/// Forgets the commands that no shell of the client's runs any more.
pub fn forget_gone(client: Process, background: &mut Vec<Background>) {
    if !processes::is_at_work(client.pid, client.start, client.ns) {
        return;
    }
    let of_shells = processes::leaders_below(client.pid).map(|(pid, _)| (pid, files_of(pid)));
    let shells: Vec<(u32, Vec<PathBuf>)> = of_shells.collect();
    background.retain(|task| {
        shells.iter().any(|(pid, files)| match files.as_slice() {
            [] => runs(*pid, &task.command),
            files => files.iter().any(|file| is_file_of(file, &task.task)),
        })
    });
}

/// Returns the files that the client keeps for tasks, as far as a process writes to them.
fn files_of(pid: u32) -> Vec<PathBuf> {
    processes::outputs(pid).into_iter().filter(|path| is_task_file(path)).collect()
}

/// A shell that a client runs a command in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shell {
    /// Its id.
    pub pid: u32,
    /// Its start time in clock ticks since boot.
    start: u64,
    /// Its start time in milliseconds since boot.
    pub started_ms: u64,
}

/// Returns the shells that a client runs one of some commands in, of those started since a moment; the earliest first.
pub fn shells(client: Process, commands: &[String], since: Moment) -> Vec<Shell> {
    let of_client = processes::leaders_below(client.pid);
    let shell = of_client.map(|(pid, start)| Shell { pid, start, started_ms: processes::since_boot_ms(start) });
    // The system tells of whole ticks.
    let is_one = |shell: &Shell| {
        shell.started_ms + TICK_MS >= since.mono_ms && commands.iter().any(|command| runs(shell.pid, command))
    };
    let mut found: Vec<Shell> = shell.filter(is_one).collect();
    found.sort_unstable_by_key(|shell| (shell.start, shell.pid));
    found
}

/// Ends the shell that a client runs one of some commands in, with all that it has started; returns whether it was there.
pub fn end_shell(client: Process, shell: Shell, commands: &[String]) -> bool {
    let is_still = || {
        processes::leaders_below(client.pid).any(|it| it == (shell.pid, shell.start))
            && processes::is_at_work(client.pid, client.start, client.ns)
            && commands.iter().any(|command| runs(shell.pid, command))
    };
    processes::end_group(shell.pid, is_still)
}

/// Whether a process writes to the file that the client keeps for a task.
pub fn writes_to(pid: u32, task: &str) -> bool {
    files_of(pid).iter().any(|path| is_file_of(path, task))
}

fn is_file_of(path: &Path, task: &str) -> bool {
    !task.is_empty() && path.file_name().is_some_and(|name| *name == *format!("{task}.output"))
}

/// Whether a process writes to a file that the client keeps for a task: whichever it is.
fn has_another_file(pid: u32) -> bool {
    !files_of(pid).is_empty()
}

fn is_task_file(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.ends_with("tasks"))
}

/// Whether a process was started between the request of a task's call and the moment that the client told of the task.
fn is_of_its_time(start: u64, task: &Background) -> bool {
    let started_ms = processes::since_boot_ms(start);
    let (from, until) = (task.began.mono_ms, task.told.mono_ms);
    task.told != Moment::default() && started_ms + APART_MS >= from && started_ms <= until + APART_MS
}

/// Whether a process is a shell that the client gave exactly this command.
fn runs(pid: u32, command: &str) -> bool {
    !command.is_empty() && line_of(&processes::arguments(pid)).is_some_and(|line| is_line_of(line, command))
}

/// Returns the line that a shell was given. It is a login shell where the client has no snapshot of what a login sets up.
fn line_of(words: &[String]) -> Option<&String> {
    match words.get(1..)? {
        [option, login, line, ..] if option == "-c" && login == "-l" => Some(line),
        [option, line, ..] if option == "-c" => Some(line),
        _ => None,
    }
}

/// Whether a shell's line is the one that the client makes of a command.
fn is_line_of(line: &str, command: &str) -> bool {
    let Some((before, folder)) = line.rsplit_once(TAIL) else { return false };
    let before = before.strip_suffix(BRACED).unwrap_or(before);
    let evaluated = format!(" eval '{}'", command.replace('\'', r#"'"'"'"#));
    !folder.contains(' ')
        && NO_INPUT.iter().any(|end| before.strip_suffix(end).is_some_and(|it| it.ends_with(&evaluated)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_shell_is_behind_its_options() {
        for (words, line) in [
            ("bash -c line", Some("line")),
            ("bash -c -l line", Some("line")),
            ("bash -c line more", Some("line")),
            ("bash -l line", None),
            ("bash -c", None),
            ("bash", None),
            ("", None),
        ] {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            assert_eq!(line_of(&words).map(String::as_str), line, "{words:?}");
        }
    }

    #[test]
    fn a_line_is_of_one_command_alone() {
        let line = |command: &str, input: &str, (open, close): (&str, &str)| {
            let evaluated = format!("{open}eval '{}'{input}{close}", command.replace('\'', r#"'"'"'"#));
            format!("source /h/snapshot.sh 2>/dev/null || true && {evaluated} && pwd -P >| /tmp/claude-1-cwd")
        };
        let commands = [
            "make test",
            "make test-all",
            "make",
            "cd x; make test",
            "echo 'make test'",
            "eval 'make test'",
            "",
            "make test && pwd -P >| x",
            "a' eval 'make test",
            "make\ntest",
            "make  test",
            "make test; }",
        ];
        let forms = NO_INPUT.iter().flat_map(|input| [(*input, ("", "")), (*input, ("{ ", BRACED))]);
        for (input, braces) in forms {
            for (at, one) in commands.iter().enumerate() {
                for (other_at, other) in commands.iter().enumerate() {
                    assert_eq!(is_line_of(&line(one, input, braces), other), at == other_at, "{one} is not {other}");
                }
            }
        }
    }
}
