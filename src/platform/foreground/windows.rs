//! A program in the foreground of Windows: Ctrl+C and the closing of the console reach it, and Fusebox waits for its end.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::ffi::{OsStr, OsString};
use std::process::Command;

use crate::error::{Error, Result};
use crate::platform::run_command::resolve;
use crate::platform::windows;

/// Runs a program to its end, with one more variable in its environment. Returns its exit code, the lowest byte of it.
pub fn run(program: &OsStr, arguments: &[OsString], variable: &str, value: &str) -> Result<u8> {
    windows::outlive_interrupts();
    let status = Command::new(resolve(program)).args(arguments).env(variable, value).status().map_err(|cause| {
        Error::failed(format!("cannot run `{}`: {cause}", program.display())).hint("is it installed and on the PATH?")
    })?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
