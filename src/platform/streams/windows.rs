//! Standard streams of Windows: a thread reads, since a read there cannot be given an end.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::windows::io::AsHandle;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::platform::windows;

/// The most bytes of standard input that are read at a time.
const LARGEST_PIECE: usize = 64 << 10;

/// Reads standard input until it ends, or no longer than `patience` says before each piece. `seen` looks at the bytes after each.
pub fn read_input(mut patience: impl FnMut() -> Duration, mut seen: impl FnMut(&mut Vec<u8>)) -> Vec<u8> {
    let (sends, pieces) = mpsc::sync_channel::<Vec<u8>>(1);
    let reader = move || {
        let Ok(handle) = io::stdin().as_handle().try_clone_to_owned() else { return };
        let mut stdin = File::from(handle);
        let mut piece = vec![0u8; LARGEST_PIECE];
        while let Ok(length) = stdin.read(&mut piece) {
            if length == 0 || sends.send(piece[..length].to_vec()).is_err() {
                return;
            }
        }
    };
    let mut bytes = Vec::new();
    if thread::Builder::new().spawn(reader).is_err() {
        return bytes;
    }
    // The thread ends with its channel, or with the process.
    while let Ok(piece) = pieces.recv_timeout(patience()) {
        bytes.extend_from_slice(&piece);
        seen(&mut bytes);
    }
    bytes
}

/// Writes pieces to standard output, one after another, without a lock; nothing can be done where it is closed.
pub fn write_pieces<const N: usize>(pieces: [&str; N]) {
    let Ok(handle) = io::stdout().as_handle().try_clone_to_owned() else { return };
    let _closed = File::from(handle).write_all(pieces.concat().as_bytes());
}

/// Waits so long; returns whether somebody reads standard output then. To write nothing fails where a pipe is closed.
pub fn is_read_for(patience: Duration) -> bool {
    thread::park_timeout(patience);
    let out = io::stdout().as_handle().try_clone_to_owned();
    out.is_ok_and(|handle| File::from(handle).write(&[]).is_ok())
}

/// Returns how many characters fit a line of the console: that on standard output, or the one behind a pipe. `None` without any.
pub fn width() -> Option<usize> {
    windows::console_width()
}

/// Returns nothing: the pipe that the client opens has no name to ask about.
pub fn input_sender() -> Option<u32> {
    None
}
