//! Programs run to their end, but for no longer than patience lasts. By hand, not by `wait-timeout`.
//!
//! `wait-timeout` waits, but does not read: the thread that writes the input and reads the output would stay here.

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Seconds that a program may take to answer.
const PATIENCE_S: u64 = 10;

/// Runs a program with this input; returns what it printed, or why there is nothing.
pub fn output(command: &mut Command, input: &str) -> Result<Output, String> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|cause| cause.to_string())?;
    let (pid, stdin) = (Pid::from_child(&child), child.stdin.take());
    let (done, wait) = mpsc::channel();
    let input = input.to_owned();
    thread::spawn(move || {
        if let Some(mut stdin) = stdin {
            let _closed = stdin.write_all(input.as_bytes());
        }
        let _given_up = done.send(child.wait_with_output());
    });
    match wait.recv_timeout(Duration::from_secs(PATIENCE_S)) {
        Ok(output) => output.map_err(|cause| cause.to_string()),
        Err(_) => {
            let _gone = kill_process(pid, Signal::KILL);
            Err(format!("no answer within {PATIENCE_S} s"))
        }
    }
}

/// Returns the first line that a program prints, or why there is none.
pub fn first_line(command: &mut Command) -> Result<String, String> {
    let output = output(command.stderr(Stdio::null()), "")?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().trim().to_owned()),
        false => Err(output.status.to_string()),
    }
}
