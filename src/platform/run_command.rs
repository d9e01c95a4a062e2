//! Programs, run within a time limit or begun in the background. By hand: `wait-timeout` waits, but neither writes nor reads.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// Finds the program that a name stands for; the name itself where the system does that when it starts it.
pub use system::resolve;

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// Whether a line for a Unix shell can be run here, as the client runs it.
pub fn has_unix_shell() -> bool {
    system::shell().1 == ["-c"]
}

/// The most that is kept of what a program prints, in bytes.
const MOST_BYTES: u64 = 1024 * 1024;
/// How long a program may take that a person waits for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long what a program has printed may take to arrive once it has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A program to run, with its arguments and surroundings.
pub struct Program {
    command: Command,
}

/// What a program that has ended did.
pub struct Ran {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output, as far as it is kept.
    pub out: Vec<u8>,
    /// Its standard error, as far as it is kept.
    pub err: Vec<u8>,
}

impl Program {
    /// Names a program: a path, or a name that the PATH is searched for.
    pub fn new(program: impl AsRef<OsStr>) -> Program {
        Program { command: Command::new(resolve(program.as_ref())) }
    }

    /// Returns a shell that runs a command line.
    pub fn shell(line: &str) -> Program {
        let (shell, options) = system::shell();
        Program::new(shell).args(options).args([line])
    }

    /// Adds arguments.
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Program {
        self.command.args(arguments);
        self
    }

    /// Sets a variable of its environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Program {
        self.command.env(name, value);
        self
    }

    /// Takes variables out of its environment.
    pub fn without(mut self, names: &[&str]) -> Program {
        for name in names {
            self.command.env_remove(name);
        }
        self
    }

    /// Sets the folder that it runs in.
    pub fn folder(mut self, path: impl AsRef<Path>) -> Program {
        self.command.current_dir(path);
        self
    }

    /// Returns its name and arguments.
    pub fn words(&self) -> Vec<String> {
        let words = [self.command.get_program()].into_iter().chain(self.command.get_args());
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// Begins it in the background with this input. Nothing waits for it.
    pub fn begin(mut self, input: &[u8]) -> io::Result<()> {
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        let mut child = system::spawn_detached(self.command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null()))?;
        child.stdin.take().map_or(Ok(()), |mut pipe| pipe.write_all(input))
    }

    /// Begins it in the background, in a process that lives on: the system keeps nothing of it once it has ended.
    #[cfg(feature = "watch")]
    pub fn begin_beside(mut self) -> io::Result<()> {
        let command = self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = system::spawn_detached(command)?;
        // Without a thread that waits for it, the system keeps its exit code as long as this process lives.
        let _kept = thread::Builder::new().spawn(move || child.wait());
        Ok(())
    }

    /// Runs it to its end with this input; `None` where it takes longer than `patience`. What it has begun ends with it.
    pub fn run(mut self, input: &[u8], patience: Duration) -> io::Result<Option<Ran>> {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (child, brood) = system::spawn_apart(&mut self.command)?;
        let Attended { out, err, ended } = match attend(child, input) {
            Ok(attended) => attended,
            Err(cause) => {
                brood.end();
                return Err(cause);
            }
        };
        let status = ended.recv_timeout(patience);
        // What it has left behind would outlive it unseen.
        brood.end();
        let words = |from: Receiver<Vec<u8>>| from.recv_timeout(LAST_WORDS).unwrap_or_default();
        match status {
            Ok(status) => Ok(Some(Ran { status: status?, out: words(out), err: words(err) })),
            Err(_) => Ok(None),
        }
    }

    /// Runs it for a person who waits; returns what it did, or why that is not known.
    pub fn answer(self, input: &str) -> Result<Ran, String> {
        let ran = self.run(input.as_bytes(), PATIENCE).map_err(|cause| cause.to_string())?;
        ran.ok_or_else(|| format!("no answer within {} s", PATIENCE.as_secs()))
    }

    /// Returns the first line that it prints, or why there is none.
    pub fn first_line(self) -> Result<String, String> {
        let ran = self.answer("")?;
        match ran.status.success() {
            true => Ok(String::from_utf8_lossy(&ran.out).lines().next().unwrap_or_default().trim().to_owned()),
            false => Err(ran.status.to_string()),
        }
    }
}

/// What comes from a program that runs.
struct Attended {
    /// Its standard output, once it is closed.
    out: Receiver<Vec<u8>>,
    /// Its standard error, once it is closed.
    err: Receiver<Vec<u8>>,
    /// How it ended.
    ended: Receiver<io::Result<ExitStatus>>,
}

/// Hands a program its input, and collects what it prints and how it ends; an error where the system gives no threads for that.
fn attend(mut child: Child, input: &[u8]) -> io::Result<Attended> {
    let (out, err) = (listen(child.stdout.take())?, listen(child.stderr.take())?);
    write_input(&mut child, input)?;
    let (done, ended) = mpsc::channel();
    thread::Builder::new().spawn(move || done.send(child.wait()))?;
    Ok(Attended { out, err, ended })
}

/// Hands a program its input, at its own pace.
fn write_input(child: &mut Child, input: &[u8]) -> io::Result<()> {
    let (pipe, input) = (child.stdin.take(), input.to_vec());
    let write = move || {
        // A program that does not read it is free to.
        let _unread = pipe.map(|mut pipe| pipe.write_all(&input));
    };
    thread::Builder::new().spawn(write).map(drop)
}

/// Collects what a program prints, as far as it is kept.
fn listen(pipe: Option<impl Read + Send + 'static>) -> io::Result<Receiver<Vec<u8>>> {
    let (heard, words) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        let mut text = Vec::new();
        if let Some(mut pipe) = pipe {
            let _cut = pipe.by_ref().take(MOST_BYTES).read_to_end(&mut text);
            let _rest = io::copy(&mut pipe, &mut io::sink());
        }
        let _unheard = heard.send(text);
    })?;
    Ok(words)
}
