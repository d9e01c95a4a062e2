//! Which program a simple command runs in the end: `env A=1 nice timeout 5 make` runs make, `sh -c 'make'` runs a text.

use std::borrow::Cow;

use crate::wire::shell::{Simple, Word, assignment, program_name};

/// The most programs that are taken off a command.
const DEEPEST: usize = 16;

/// How a program is told what it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runs {
    /// By its words, after its options and so many operands.
    Words(usize),
    /// By words or a text, after so many operands: an option with a value that is a shell's text, else words.
    Text(usize, &'static [&'static str]),
    /// By all its operands, as a shell's text.
    Joined,
    /// By its first operand, as a shell's text.
    First,
    /// By the text after `-c`, else by what it reads.
    Shell,
    /// By the words after `-exec`, up to `;`.
    Exec,
}

/// A program that runs another: its name, its subcommands where it runs others only by them, how, and its options with values.
type Row = (&'static str, &'static [&'static str], Runs, &'static [&'static str]);

const ROWS: [Row; 78] = [
    ("env", &[], Runs::Text(0, &["-S", "--split-string"]), &["-u", "--unset", "-C", "--chdir"]),
    ("nohup", &[], Runs::Words(0), &[]),
    ("setsid", &[], Runs::Words(0), &[]),
    ("exec", &[], Runs::Words(0), &["-a"]),
    ("command", &[], Runs::Words(0), &[]),
    ("builtin", &[], Runs::Words(0), &[]),
    ("noglob", &[], Runs::Words(0), &[]),
    ("nocorrect", &[], Runs::Words(0), &[]),
    ("time", &[], Runs::Words(0), &["-f", "-o", "--format", "--output"]),
    ("nice", &[], Runs::Words(0), &["-n", "--adjustment"]),
    ("ionice", &[], Runs::Words(0), &["-c", "-n", "--class", "--classdata"]),
    ("chrt", &[], Runs::Words(1), &["-T", "-P", "-D"]),
    ("taskset", &[], Runs::Words(1), &[]),
    ("timeout", &[], Runs::Words(1), &["-k", "-s", "--kill-after", "--signal"]),
    ("gtimeout", &[], Runs::Words(1), &["-k", "-s", "--kill-after", "--signal"]),
    ("stdbuf", &[], Runs::Words(0), &["-i", "-o", "-e"]),
    ("unbuffer", &[], Runs::Words(0), &[]),
    ("chronic", &[], Runs::Words(0), &[]),
    ("caffeinate", &[], Runs::Words(0), &["-t", "-w"]),
    ("strace", &[], Runs::Words(0), &["-e", "-o", "-p", "-s", "-P", "-E", "-a", "-u"]),
    ("ltrace", &[], Runs::Words(0), &["-e", "-o", "-p", "-s", "-u"]),
    ("prlimit", &[], Runs::Words(0), &["-p", "-o"]),
    ("unshare", &[], Runs::Words(0), &[]),
    ("nsenter", &[], Runs::Words(0), &["-t", "--target"]),
    ("chroot", &[], Runs::Words(1), &[]),
    ("sudo", &[], Runs::Words(0), &["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U", "-r", "-t"]),
    ("doas", &[], Runs::Words(0), &["-u", "-C"]),
    ("su", &[], Runs::Text(9, &["-c", "--command"]), &["-s", "-g", "-G"]),
    ("runuser", &[], Runs::Text(0, &["-c", "--command"]), &["-u", "-s", "-g", "-G"]),
    ("setarch", &[], Runs::Words(1), &[]),
    ("linux64", &[], Runs::Words(0), &[]),
    ("linux32", &[], Runs::Words(0), &[]),
    ("faketime", &[], Runs::Words(1), &[]),
    ("xvfb-run", &[], Runs::Words(0), &["-e", "-f", "-n", "-p", "-s", "-w"]),
    ("dbus-run-session", &[], Runs::Words(0), &[]),
    ("valgrind", &[], Runs::Words(0), &[]),
    ("proxychains4", &[], Runs::Words(0), &["-f"]),
    ("direnv", &["exec"], Runs::Words(1), &[]),
    ("poetry", &["run"], Runs::Words(0), &[]),
    ("bundle", &["exec"], Runs::Words(0), &[]),
    ("systemd-run", &[], Runs::Words(0), &["-p", "-u", "-E", "-M", "-H"]),
    ("firejail", &[], Runs::Words(0), &[]),
    ("busybox", &[], Runs::Words(0), &[]),
    ("xargs", &[], Runs::Words(0), &["-I", "-L", "-n", "-P", "-s", "-E", "-d", "-a", "-R", "-S", "-J"]),
    ("parallel", &[], Runs::Words(0), &["-j", "-n", "-N", "-I", "-a", "-S", "--jobs", "--colsep"]),
    ("script", &[], Runs::Text(1, &["-c", "--command"]), &["-I", "-O", "-B", "-T", "-E", "-o", "-t", "-m"]),
    ("flock", &[], Runs::Text(1, &["-c", "--command"]), &["-w", "-E", "--wait", "--timeout"]),
    ("watch", &[], Runs::Joined, &["-n", "--interval", "-q"]),
    ("eval", &[], Runs::Joined, &[]),
    ("trap", &[], Runs::First, &[]),
    ("hyperfine", &[], Runs::First, &["-w", "-r", "-m", "-M", "-L", "-N", "--export-json", "--warmup", "--runs"]),
    ("tmux", &["new", "new-session", "neww", "new-window", "splitw", "split-window"], Runs::Joined, &TMUX),
    ("screen", &[], Runs::Words(0), &["-S", "-c", "-t", "-s", "-h", "-L", "-T"]),
    ("sh", &[], Runs::Shell, &SHELL),
    ("bash", &[], Runs::Shell, &SHELL),
    ("zsh", &[], Runs::Shell, &SHELL),
    ("dash", &[], Runs::Shell, &SHELL),
    ("ash", &[], Runs::Shell, &SHELL),
    ("ksh", &[], Runs::Shell, &SHELL),
    ("fish", &[], Runs::Shell, &SHELL),
    ("cmd", &[], Runs::Joined, &[]),
    ("start", &[], Runs::Words(0), &[]),
    ("Start-Process", &[], Runs::Words(0), &[]),
    ("Invoke-Expression", &[], Runs::Joined, &[]),
    ("iex", &[], Runs::Joined, &[]),
    ("powershell", &[], Runs::Joined, &POWERSHELL),
    ("pwsh", &[], Runs::Joined, &POWERSHELL),
    ("find", &[], Runs::Exec, &[]),
    ("npx", &[], Runs::Text(0, &["-c", "--call"]), &["-p", "--package"]),
    ("bunx", &[], Runs::Words(0), &["-p", "--package"]),
    ("pnpx", &[], Runs::Words(0), &[]),
    ("npm", &["exec", "x"], Runs::Text(0, &["-c", "--call"]), &["-p", "--package", "-w", "--workspace"]),
    ("pnpm", &["dlx", "exec"], Runs::Words(0), &["--package"]),
    ("yarn", &["dlx", "exec"], Runs::Words(0), &["-p", "--package"]),
    ("bun", &["x"], Runs::Words(0), &["-p", "--package"]),
    ("mise", &["exec", "x"], Runs::Words(0), &["-C"]),
    ("uv", &["run"], Runs::Words(0), &["--with", "-p", "--python", "--project", "--directory", "--extra", "--group"]),
    ("uvx", &[], Runs::Words(0), &["--with", "--from", "-p", "--python"]),
];

const POWERSHELL: [&str; 3] = ["-ExecutionPolicy", "-Version", "-WorkingDirectory"];
const SHELL: [&str; 4] = ["-o", "+O", "--rcfile", "--init-file"];
const TMUX: [&str; 9] = ["-s", "-n", "-c", "-t", "-e", "-x", "-y", "-F", "-l"];

/// A program that runs, and what it is given.
#[derive(Debug, Default)]
pub struct Invocation<'a> {
    /// The program as it is written: a name or a path; empty where only a text runs.
    pub program: &'a str,
    /// Its arguments.
    pub args: &'a [Word<'a>],
    /// The names of the variables that are set or removed for it, with the new values.
    pub variables: Vec<(&'a str, Option<&'a str>)>,
    /// Whether it gets an environment with these variables alone.
    pub is_cleared: bool,
    /// The programs that were taken off, with their arguments up to the next.
    pub runners: Vec<(&'a str, &'a [Word<'a>])>,
    /// Texts that a shell runs for it.
    pub scripts: Vec<Cow<'a, str>>,
    /// Whether it is a shell that runs what comes through a pipe.
    pub reads_commands: bool,
}

impl<'a> Invocation<'a> {
    /// Returns the program's name without its folders, and without the ending that Windows leaves out.
    pub fn name(&self) -> &'a str {
        program_name(self.program)
    }

    /// Returns what a simple command runs; each `-exec` of a `find` is one more.
    pub fn of(simple: &'a Simple<'a>) -> Vec<Invocation<'a>> {
        let set = simple.assignments.iter().filter_map(|word| assignment(&word.text));
        let variables = set.map(|(name, value)| (name, Some(value))).collect();
        let mut found = Vec::new();
        let mut open = vec![(Invocation { variables, ..Invocation::default() }, &simple.words[..])];
        while let Some((mut at, words)) = open.pop().filter(|_| found.len() < DEEPEST) {
            let mut rest = words;
            for _ in 0..DEEPEST {
                let Some((program, args)) = rest.split_first() else { break };
                (at.program, at.args) = (&program.text, args);
                let Some(row) = row(at.name(), args) else { break };
                if row.2 == Runs::Exec {
                    open.extend(executed(args).map(|words| (Invocation::default(), words)));
                    break;
                }
                rest = at.take_off(row, args, &simple.input);
                let taken = &args[..args.len() - rest.len()];
                at.runners.push((at.program, taken));
                (at.program, at.args) = ("", &[]);
            }
            found.push(at);
        }
        found
    }

    /// Takes in what a program that runs another says of it; returns the words of that one.
    fn take_off(&mut self, row: &Row, args: &'a [Word<'a>], input: &'a [Cow<'a, str>]) -> &'a [Word<'a>] {
        let (name, subcommands, runs, valued) = row;
        let mut rest = if subcommands.is_empty() { args } else { &args[1..] };
        let mut operands = 0;
        let (awaited, texts): (usize, &[&str]) = match runs {
            Runs::Words(operands) => (*operands, &[]),
            Runs::Text(operands, texts) => (*operands, texts),
            _ => (0, &[]),
        };
        while let Some((word, after)) = rest.split_first() {
            let text = &*word.text;
            if text == "--" {
                rest = after;
                if operands == awaited {
                    break;
                }
            } else if *runs == Runs::Shell && is_command_option(text) {
                self.scripts.extend(after.first().map(|script| script.text.clone()));
                return &[];
            } else if texts.contains(&text) || texts.iter().any(|option| bundles(text, option)) {
                self.scripts.extend(after.first().map(|script| script.text.clone()));
                rest = after.get(1..).unwrap_or(&[]);
            } else if valued.contains(&text) || (*runs == Runs::Shell && bundles(text, "-o")) {
                if *name == "env" && matches!(text, "-u" | "--unset") {
                    self.variables.extend(after.first().map(|name| (&*name.text, None)));
                }
                rest = after.get(1..).unwrap_or(&[]);
            } else if (text.starts_with(['-', '+']) && text != "-") || (*name == "cmd" && text.starts_with('/')) {
                self.note_option(name, text);
                rest = after;
            } else if text == "-" {
                self.is_cleared |= *name == "env";
                rest = after;
            } else if let Some((name, value)) = assignment(text).filter(|_| matches!(*name, "env" | "sudo" | "doas")) {
                self.variables.push((name, Some(value)));
                rest = after;
            } else if operands < awaited {
                operands += 1;
                rest = after;
            } else {
                break;
            }
        }
        self.take_script(*runs, rest, input)
    }

    /// Takes in the text that a program's operands or input are; returns the words of a command otherwise.
    fn take_script(&mut self, runs: Runs, rest: &'a [Word<'a>], input: &'a [Cow<'a, str>]) -> &'a [Word<'a>] {
        match runs {
            Runs::Joined if !rest.is_empty() => {
                self.scripts.push(Cow::Owned(rest.iter().map(|word| &*word.text).collect::<Vec<_>>().join(" ")));
                &[]
            }
            Runs::First => {
                self.scripts.extend(rest.first().map(|script| script.text.clone()));
                &[]
            }
            Runs::Shell => {
                // Without a file of its own it runs what it reads.
                self.scripts.extend(input.iter().filter(|_| rest.is_empty()).cloned());
                self.reads_commands = rest.is_empty() && input.is_empty();
                &[]
            }
            _ => rest,
        }
    }

    fn note_option(&mut self, program: &str, option: &'a str) {
        if program != "env" {
            return;
        }
        let is_short = !option.starts_with("--");
        self.is_cleared |= option == "--ignore-environment" || (is_short && option.contains('i'));
        let unset = option.strip_prefix("--unset=").or_else(|| option.strip_prefix("-u"));
        self.variables.extend(unset.map(|name| (name, None)));
        let split = option.strip_prefix("--split-string=").or_else(|| option.strip_prefix("-S"));
        self.scripts.extend(split.map(Cow::Borrowed));
    }
}

/// Finds the row of a program; nothing for one that runs no other here.
fn row(name: &str, args: &[Word]) -> Option<&'static Row> {
    let row = ROWS.iter().find(|row| row.0.eq_ignore_ascii_case(name))?;
    let is_meant = row.1.is_empty() || args.first().is_some_and(|first| row.1.contains(&&*first.text));
    // `command -v NAME` only looks for it.
    let looks = name == "command" && args.first().is_some_and(|first| matches!(&*first.text, "-v" | "-V"));
    (is_meant && !looks).then_some(row)
}

/// Whether a shell's option is `-c`, alone or among others: `-lc`.
fn is_command_option(option: &str) -> bool {
    option.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains('c'))
}

/// Whether short options in one word end with one that has a value: `-qc`.
fn bundles(word: &str, option: &str) -> bool {
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
    letter.is_some_and(|letter| {
        word.len() > 2
            && word.ends_with(letter)
            && word.strip_prefix('-').is_some_and(|letters| letters.bytes().all(|byte| byte.is_ascii_alphabetic()))
    })
}

/// Returns the commands that a `find` runs.
fn executed<'a>(args: &'a [Word<'a>]) -> impl Iterator<Item = &'a [Word<'a>]> {
    let is_start = |word: &Word| matches!(&*word.text, "-exec" | "-execdir" | "-ok" | "-okdir");
    let mut rest = args;
    std::iter::from_fn(move || {
        let start = rest.iter().position(is_start)? + 1;
        let length = rest[start..].iter().position(|word| matches!(&*word.text, ";" | "+"));
        let end = length.map_or(rest.len(), |length| start + length);
        let words = &rest[start..end];
        rest = &rest[end..];
        Some(words)
    })
}

#[cfg(test)]
mod tests;
