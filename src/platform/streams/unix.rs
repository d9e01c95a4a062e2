//! Standard streams of Unix systems.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::io::{self, IoSlice};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, writev};
use rustix::termios::tcgetwinsize;

/// The most bytes of standard input that are read at a time.
const LARGEST_PIECE: usize = 64 << 10;

/// Reads standard input until it ends, or no longer than `patience` says before each piece. `seen` looks at the bytes after each.
pub fn read_input(mut patience: impl FnMut() -> Duration, mut seen: impl FnMut(&mut Vec<u8>)) -> Vec<u8> {
    let stdin = io::stdin();
    let mut bytes = Vec::with_capacity(8 * 1024);
    loop {
        if bytes.len() == bytes.capacity() {
            bytes.reserve(bytes.len().min(LARGEST_PIECE));
        }
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&timespec(patience()))) {
            Err(Errno::INTR) => continue,
            Ok(0) => return bytes,
            // A process that may open no files may not wait for them either. It can read what it was given.
            Ok(1..) | Err(_) => {}
        }
        match read(&stdin, spare_capacity(&mut bytes)) {
            Err(Errno::INTR) => continue,
            Ok(0) | Err(_) => return bytes,
            Ok(_) => {}
        }
        seen(&mut bytes);
    }
}

/// Writes pieces to standard output in one go, without a lock or memory of its own; nothing can be done where it is closed.
pub fn write_pieces<const N: usize>(pieces: [&str; N]) {
    let _closed = writev(io::stdout(), &pieces.map(|piece| IoSlice::new(piece.as_bytes())));
}

/// Waits so long, or until nobody reads standard output any more; returns whether somebody still does.
pub fn is_read_for(patience: Duration) -> bool {
    let out = io::stdout();
    let mut watched = [PollFd::new(&out, PollFlags::empty())];
    match poll(&mut watched, Some(&timespec(patience))) {
        Ok(0) | Err(_) => true,
        Ok(_) => false,
    }
}

/// Returns how many characters fit a line of the terminal: that on standard output, or the one behind a pipe, which another standard
/// stream still is. `None` without any.
pub fn width() -> Option<usize> {
    let sizes = [tcgetwinsize(io::stdout()), tcgetwinsize(io::stderr()), tcgetwinsize(io::stdin())];
    sizes.into_iter().flatten().map(|size| usize::from(size.ws_col)).find(|width| *width > 0)
}

/// Has the terminal on standard input not show what is typed while something runs. A signal that ends the process shows it again.
#[cfg(feature = "team")]
pub fn without_echo(run: impl FnOnce()) {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    use signal_hook::consts::{SIGINT, SIGTERM};
    let Ok(shown) = tcgetattr(io::stdin()) else { return run() };
    let mut unseen = shown.clone();
    unseen.local_modes.remove(LocalModes::ECHO);
    unseen.local_modes.insert(LocalModes::ECHONL);
    let show = move || {
        let _gone = tcsetattr(io::stdin(), OptionalActions::Now, &shown);
    };
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) else { return run() };
    let handle = signals.handle();
    let at_end = show.clone();
    let listen = move || {
        if let Some(signal) = signals.forever().next() {
            show();
            let _ends = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    let _hidden = tcsetattr(io::stdin(), OptionalActions::Now, &unseen);
    let listener = std::thread::Builder::new().spawn(listen);
    run();
    at_end();
    handle.close();
    let _ended = listener.map(std::thread::JoinHandle::join);
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) }
}

/// Returns nothing: who opened a socket is told of a listening one alone.
#[cfg(target_os = "macos")]
pub fn input_sender() -> Option<u32> {
    None
}
