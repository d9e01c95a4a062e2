//! The only reader of the clock, the environment, the home folder and the standard streams.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::borrow::Cow;
use std::env;
pub use std::env::consts::EXE_SUFFIX;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::time::Duration;

use crate::domain::moment::Moment;
use crate::domain::text::shell_word::typed;
use crate::platform::folders::{self, HERE, System};
use crate::platform::given::GivenWorld;
use crate::platform::run_command::Program;
use crate::platform::stopwatch::Stopwatch;
use crate::platform::{clock, repository, streams};
use crate::ui::{terminal, wrap};

/// The narrowest and the widest line that reports are made for, and the line of those that no terminal shows.
const NARROWEST: usize = 40;
const WIDEST: usize = 200;
const UNSHOWN: usize = 100;

/// How long standard input may stay open without a word: with all else, less than the five seconds that the client gives the
/// shortest hook.
const IDLE_PATIENCE: Duration = Duration::from_secs(3);
/// How long it may stay open at all: less than the ten seconds that the client gives most hooks.
const INPUT_PATIENCE: Duration = Duration::from_secs(8);
/// Less than this between the two clocks is no sleep of the machine, in milliseconds.
const SHORTEST_SLEEP_MS: u64 = 1000;

/// The process's surroundings: the real ones, or those that a test gives.
pub struct Environment {
    given: Option<GivenWorld>,
}

impl Environment {
    /// Returns the real surroundings.
    pub fn real() -> Environment {
        Environment { given: None }
    }

    /// Returns surroundings that a test owns.
    pub fn given(world: GivenWorld) -> Environment {
        Environment { given: Some(world) }
    }

    /// Returns the surroundings that a test gave; `None` in the real ones.
    pub fn given_world(&self) -> Option<&GivenWorld> {
        self.given.as_ref()
    }

    /// Whether the process goes on once the command is over: it has to close what it leaves, and nothing may end it.
    pub fn goes_on(&self) -> bool {
        self.given.is_some()
    }

    /// Returns an environment variable that is set and not empty.
    pub fn var(&self, name: &str) -> Option<String> {
        let value = match &self.given {
            Some(world) => world.variables.get(name).cloned(),
            None => env::var(name).ok(),
        };
        value.filter(|value| !value.is_empty())
    }

    /// Returns the first word after the program's name.
    pub fn word(&self) -> Option<OsString> {
        self.args().into_iter().nth(1)
    }

    /// Returns the absolute path by which this program was started; nothing where it was looked up on the PATH.
    pub fn called_as(&self) -> Option<String> {
        self.args().into_iter().next()?.into_string().ok().filter(|path| Path::new(path).is_absolute())
    }

    /// Returns the command line.
    pub fn args(&self) -> Vec<OsString> {
        self.given.as_ref().map_or_else(|| env::args_os().collect(), GivenWorld::command_line)
    }

    /// Returns this process's id.
    pub fn pid(&self) -> u32 {
        std::process::id()
    }

    /// Returns the path of the running binary.
    pub fn binary(&self) -> Option<PathBuf> {
        self.given.as_ref().map_or_else(|| env::current_exe().ok(), |world| Some(world.binary.clone()))
    }

    /// Returns the working directory.
    pub fn folder(&self) -> PathBuf {
        let here = || env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        self.given.as_ref().map_or_else(here, |world| world.folder.clone())
    }

    /// Returns the folders in which programs are looked up.
    pub fn search_path(&self) -> Vec<PathBuf> {
        env::split_paths(&self.var("PATH").unwrap_or_default()).collect()
    }

    /// Returns a path as a person would write it: from here, or from home. In the home folder it never looks like a project's.
    pub fn short_path(&self, path: &Path) -> String {
        let (home, folder) = (self.home(), self.folder());
        match (path.strip_prefix(&folder), home.as_ref().and_then(|home| path.strip_prefix(home).ok())) {
            (Ok(inside), _) if home.as_ref() != Some(&folder) => typed(inside),
            (_, Some(inside)) => format!("~{MAIN_SEPARATOR}{}", typed(inside)),
            _ => typed(path),
        }
    }

    /// Returns the home folder.
    pub fn home(&self) -> Option<PathBuf> {
        HERE.home(|name| self.var(name))
    }

    /// Returns a folder that a variable names, the same one wherever the agent is.
    pub fn named_folder(&self, name: &str) -> Option<PathBuf> {
        folders::named(|name| self.var(name), name)
    }

    /// Returns the client's configuration folder: `$CLAUDE_CONFIG_DIR`, else `~/.claude`.
    pub fn claude_dir(&self) -> Option<PathBuf> {
        self.named_folder("CLAUDE_CONFIG_DIR").or_else(|| Some(self.home()?.join(".claude")))
    }

    /// Returns the folder of managed files on this platform.
    pub fn managed_dir(&self) -> PathBuf {
        HERE.managed_dir()
    }

    /// Returns the folder of the state.
    pub fn state_dir(&self) -> Option<PathBuf> {
        folders::state_dir_in(|name| self.var(name))
    }

    /// Returns the process that opened the channel which standard input is, where the system tells.
    pub fn input_sender(&self) -> Option<u32> {
        if self.given.is_some() { None } else { streams::input_sender() }
    }

    /// Returns the folder of programs that are this user's own.
    pub fn program_dir(&self) -> Option<PathBuf> {
        HERE.program_dir(|name| self.var(name))
    }

    /// Returns the moment.
    pub fn now(&self) -> Moment {
        if let Some(world) = &self.given {
            return world.now.get();
        }
        let wall_ms = clock::wall_ms();
        let (awake_ms, mono_ms) = clock::since_boot_ms();
        // What lies between the two readings is no sleep.
        let slept_ms = Some(mono_ms.saturating_sub(awake_ms)).filter(|slept| *slept >= SHORTEST_SLEEP_MS);
        Moment { wall_ms, mono_ms, boot: clock::boot(), slept_ms: slept_ms.unwrap_or(0) }
    }

    /// Lets so much time pass where a test owns the clock; returns whether one does.
    pub fn lets_pass(&self, time: Duration) -> bool {
        let Some(world) = &self.given else { return false };
        let (now, passed) = (world.now.get(), time.as_millis() as u64);
        let wall_ms = now.wall_ms.saturating_add_unsigned(passed);
        world.now.set(Moment { wall_ms, mono_ms: now.mono_ms.saturating_add(passed), ..now });
        true
    }

    /// Reads standard input until it ends, or as long as somebody who waits for the answer may keep it open. Where more than
    /// so many bytes have come, `shorten` makes them fewer after each piece.
    pub fn stdin(&self, most: usize, mut shorten: impl FnMut(&mut Vec<u8>)) -> Vec<u8> {
        if let Some(world) = &self.given {
            let mut bytes = world.input.clone();
            if bytes.len() > most {
                shorten(&mut bytes);
            }
            return bytes;
        }
        let began = Stopwatch::start();
        let patience = || INPUT_PATIENCE.saturating_sub(began.elapsed()).min(IDLE_PATIENCE);
        streams::read_input(patience, |bytes| {
            if bytes.len() > most {
                shorten(bytes);
            }
        })
    }

    /// Writes a text for people to standard output; on a terminal, lines that do not fit it are broken between words.
    pub fn print(&self, text: &str) {
        self.print_data(&self.fitted(&terminal::safe(text), &io::stdout()));
    }

    /// Writes a text for programs to standard output, as it is. A closed pipe is no error.
    pub fn print_data(&self, text: &str) {
        let _closed = self.answer(text);
    }

    /// Returns a text whose lines fit what it is written to, where that is a terminal.
    fn fitted<'a>(&self, text: &'a str, to: &impl IsTerminal) -> Cow<'a, str> {
        let is_shown = self.given.is_none() && to.is_terminal();
        if is_shown { wrap::fitting(text, self.width()).into() } else { text.into() }
    }

    /// Writes to standard output, with what a terminal would obey shown instead; returns whether all of it was taken.
    pub fn answer(&self, text: &str) -> bool {
        if let Some(world) = &self.given {
            world.output.borrow_mut().push_str(&terminal::safe(text));
            return true;
        }
        let mut out = io::stdout().lock();
        out.write_all(terminal::safe(text).as_bytes()).and_then(|()| out.flush()).is_ok()
    }

    /// Writes pieces to standard output in one go, without a lock or memory of its own; nothing can be done where it is closed.
    pub fn answer_in_pieces<const N: usize>(&self, pieces: [&str; N]) {
        streams::write_pieces(pieces);
    }

    /// Begins a program in the background with this input; nothing waits for it.
    pub fn begin(&self, program: Program, input: &[u8]) -> io::Result<()> {
        self.noted(&program).map_or_else(|| program.begin(input), Ok)
    }

    /// Begins a program in the background of a process that lives on: the system keeps nothing of the program once it has ended.
    #[cfg(feature = "watch")]
    pub fn begin_beside(&self, program: Program) -> io::Result<()> {
        self.noted(&program).map_or_else(|| program.begin_beside(), Ok)
    }

    /// Notes a program that a given world does not begin.
    fn noted(&self, program: &Program) -> Option<()> {
        self.given.as_ref().map(|world| world.begun.borrow_mut().push(program.words()))
    }

    /// Ends the process, whatever its threads are at: with 0 where all is well, else with 1.
    pub fn end(&self, well: bool) -> ! {
        std::process::exit(i32::from(!well))
    }

    /// Writes a line for people to standard error.
    pub fn eprintln_safe(&self, text: &str) {
        if let Some(world) = &self.given {
            return world.errors.borrow_mut().push_str(&format!("{}\n", terminal::safe(text)));
        }
        let text = terminal::safe(text);
        let lines = self.fitted(&text, &io::stderr());
        let _closed = writeln!(io::stderr().lock(), "{}", lines.trim_end_matches('\n'));
    }

    /// Whether a person is at the terminal: standard input and output are one.
    pub fn is_attended(&self) -> bool {
        self.given.is_none() && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Asks the person at the terminal; returns whether the answer is yes.
    pub fn confirms(&self, question: &str) -> bool {
        matches!(self.asks(&format!("{question} [y/N] ")).to_lowercase().as_str(), "y" | "yes")
    }

    /// Asks the person at the terminal; returns the line that they type, however long that takes.
    pub fn asks(&self, question: &str) -> String {
        self.print(question);
        let mut answer = String::new();
        let _read = self.given.is_none() && io::stdin().read_line(&mut answer).is_ok();
        answer.trim().to_owned()
    }

    /// Shows how far something long has come, on one line of standard error if it is a terminal; an empty text takes it away.
    pub fn progress(&self, text: &str) {
        let mut out = io::stderr().lock();
        if self.given.is_none() && out.is_terminal() {
            let _closed = write!(out, "\r\x1b[K{}", terminal::plain(text)).and_then(|()| out.flush());
        }
    }

    /// Waits so long, or until nobody reads standard output any more; returns whether somebody still does.
    pub fn wait_while_read(&self, patience: Duration) -> bool {
        streams::is_read_for(patience)
    }

    /// Whether output may be coloured: a terminal or CLICOLOR_FORCE, and no NO_COLOR.
    pub fn colours(&self) -> bool {
        let shown = self.given.is_none() && io::stdout().is_terminal() && self.var("TERM").as_deref() != Some("dumb");
        (shown || self.var("CLICOLOR_FORCE").is_some()) && self.var("NO_COLOR").is_none()
    }

    /// Whether output has a width that lines have to fit: a terminal's, also through a pipe, or what COLUMNS says.
    pub fn is_page(&self) -> bool {
        self.given.is_some() || self.var("COLUMNS").is_some_and(|said| !said.is_empty()) || streams::width().is_some()
    }

    /// Returns how many characters fit a line: as COLUMNS says, else as the terminal does, also through a pipe.
    pub fn width(&self) -> usize {
        let known = || streams::width().filter(|_| self.given.is_none()).unwrap_or(UNSHOWN);
        self.var("COLUMNS").and_then(|said| said.parse().ok()).unwrap_or_else(known).clamp(NARROWEST, WIDEST)
    }

    /// Returns the folders whose files speak for a client that is started in this one: see `repository`.
    pub fn folders_down_to(&self, folder: &Path) -> Vec<PathBuf> {
        repository::folders_down_to(folder)
    }

    /// Returns the git common folder of a folder, else the folder: worktrees are one project.
    pub fn project_of(&self, folder: &Path) -> PathBuf {
        repository::project_of(folder)
    }
}

/// Returns the name of the system that this program is made for, as people call it.
pub fn system_name() -> &'static str {
    match HERE {
        System::Linux => "Linux",
        System::Mac => "macOS",
        System::Windows => "Windows",
    }
}
