//! Surroundings that a test gives: its own clock, variables, arguments, folder and streams, in one value.
//!
//! A process in such surroundings goes on once a command is over. What it would begin in the background is noted instead.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::domain::moment::Moment;

/// Surroundings that a test owns.
#[derive(Debug, Default)]
pub struct GivenWorld {
    /// The clock: it stands until it is set, or something waits.
    pub now: Cell<Moment>,
    /// The environment's variables, all of them.
    pub variables: BTreeMap<String, String>,
    /// The working directory.
    pub folder: PathBuf,
    /// The path of the program.
    pub binary: PathBuf,
    /// The words after the program's name.
    pub arguments: Vec<OsString>,
    /// What stands on standard input.
    pub input: Vec<u8>,
    /// What was written to standard output.
    pub output: RefCell<String>,
    /// What was written to standard error.
    pub errors: RefCell<String>,
    /// The arguments of each program that would have been begun in the background.
    pub begun: RefCell<Vec<Vec<String>>>,
}

impl GivenWorld {
    /// Returns the command line, the program's path first.
    pub fn command_line(&self) -> Vec<OsString> {
        [self.binary.clone().into_os_string()].into_iter().chain(self.arguments.iter().cloned()).collect()
    }
}
