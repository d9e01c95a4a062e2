//! The calls of Windows that the standard library does not have, each as a safe function: processes, files, clocks, the console.

#![expect(unsafe_code, reason = "the system's calls are C's")]
#![deny(clippy::undocumented_unsafe_blocks)]

mod jobs;
mod table;

pub use jobs::{BREAKS_AWAY, DETACHED, Job, NO_WINDOW, make_way, outlive_interrupts};
pub use table::{Opened, command_line, environment, processes};

use std::fs::File;
use std::os::windows::io::AsRawHandle;

use windows_sys::Wdk::System::SystemInformation::{NtQuerySystemInformation, SystemTimeOfDayInformation};
use windows_sys::Win32::Foundation::{HANDLE_FLAG_INHERIT, SetHandleInformation};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_DELETE_ON_CLOSE, FILE_FLAG_OPEN_REPARSE_POINT,
    FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_TYPE_DISK, GetDriveTypeW, GetFileInformationByHandle, GetFileType,
};
use windows_sys::Win32::System::Console::{
    CONSOLE_SCREEN_BUFFER_INFO, GetConsoleCP, GetConsoleScreenBufferInfo, GetStdHandle, STD_ERROR_HANDLE,
    STD_INPUT_HANDLE, STD_OUTPUT_HANDLE,
};
use windows_sys::Win32::System::SystemInformation::GetTickCount64;
use windows_sys::Win32::System::WindowsProgramming::{DRIVE_REMOTE, QueryUnbiasedInterruptTime};

/// Opens folders, too.
pub const OPENS_FOLDERS: u32 = FILE_FLAG_BACKUP_SEMANTICS;
/// Opens a link itself.
pub const OPENS_LINKS: u32 = FILE_FLAG_OPEN_REPARSE_POINT;
/// Removes the file once it is closed, also by the end of the process.
pub const GOES_WHEN_CLOSED: u32 = FILE_FLAG_DELETE_ON_CLOSE;
/// Lets nobody else open it.
pub const SHARES_NOTHING: u32 = 0;
/// Lets others read and write, and neither rename nor remove.
pub const SHARES_NO_NAME: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE;

/// Returns the time since boot in milliseconds, by a clock that goes on while the machine sleeps.
pub fn since_boot_ms() -> u64 {
    // SAFETY: it takes nothing, and cannot fail.
    unsafe { GetTickCount64() }
}

/// Returns the time since boot in units of 100 ns, by a clock that stops while the machine sleeps.
pub fn awake_100ns() -> u64 {
    let mut time = 0;
    // SAFETY: the time is written to a value that lives through the call.
    let known = unsafe { QueryUnbiasedInterruptTime(&raw mut time) };
    if known == 0 { 0 } else { time }
}

/// Returns what the system tells of its time of day; nothing where it has another form.
pub fn time_of_day<const N: usize>() -> Option<[u8; N]> {
    let (mut bytes, mut length) = ([0u8; N], 0);
    // SAFETY: the bytes are as many as is said, and live through the call.
    let status = unsafe {
        let room = u32::try_from(N).unwrap_or(0);
        NtQuerySystemInformation(SystemTimeOfDayInformation, bytes.as_mut_ptr().cast(), room, &raw mut length)
    };
    (status >= 0).then_some(bytes)
}

/// What tells a file from every other.
#[derive(Clone, Copy)]
pub struct FileIdentity {
    /// How many names it has.
    pub names: u64,
    /// The volume, and the file's number on it.
    pub place: (u64, u64),
}

/// Returns what tells an open file from every other.
pub fn identity(file: &File) -> Option<FileIdentity> {
    let mut found = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the file is open, and the answer is written to a value that lives through the call.
    let known = unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut found) };
    let number = (u64::from(found.nFileIndexHigh) << 32) | u64::from(found.nFileIndexLow);
    (known != 0).then(|| FileIdentity {
        names: u64::from(found.nNumberOfLinks),
        place: (u64::from(found.dwVolumeSerialNumber), number),
    })
}

/// Whether an open file is on a disk: no pipe, no console, no other device.
pub fn is_on_disk(file: &File) -> bool {
    // SAFETY: the file is open.
    unsafe { GetFileType(file.as_raw_handle()) == FILE_TYPE_DISK }
}

/// Whether a drive's files are another machine's.
pub fn is_remote_drive(letter: u8) -> bool {
    let root = [u16::from(letter), u16::from(b':'), u16::from(b'\\'), 0];
    // SAFETY: the path ends with a zero, and lives through the call.
    unsafe { GetDriveTypeW(root.as_ptr()) == DRIVE_REMOTE }
}

/// Keeps this process's standard streams from every program that it starts from now on, unless it is given them.
pub fn keep_streams() {
    for stream in [STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
        // SAFETY: a stream that there is none of is refused; the rest of it stays as it is.
        let _none = unsafe { SetHandleInformation(GetStdHandle(stream), HANDLE_FLAG_INHERIT, 0) };
    }
}

/// Returns how many characters fit a line of the console on standard output, or on standard error; nothing where neither is one.
pub fn console_width() -> Option<usize> {
    [STD_OUTPUT_HANDLE, STD_ERROR_HANDLE].into_iter().find_map(|stream| {
        let mut found = CONSOLE_SCREEN_BUFFER_INFO::default();
        // SAFETY: what is no console is refused; the answer is written to a value that lives through the call.
        let known = unsafe { GetConsoleScreenBufferInfo(GetStdHandle(stream), &raw mut found) };
        let (left, right) = (found.srWindow.Left, found.srWindow.Right);
        (known != 0).then(|| usize::try_from(i32::from(right) - i32::from(left) + 1).unwrap_or(0))
    })
}

/// Has the console on standard input not show what is typed while something runs.
#[cfg(feature = "team")]
pub fn without_echo(run: impl FnOnce()) {
    use windows_sys::Win32::System::Console::{ENABLE_ECHO_INPUT, GetConsoleMode, SetConsoleMode};
    let mut shown = 0;
    // SAFETY: what is no console is refused; the answer is written to a value that lives through the call.
    let known = unsafe { GetConsoleMode(GetStdHandle(STD_INPUT_HANDLE), &raw mut shown) };
    let set = |mode| {
        if known != 0 {
            // SAFETY: it takes numbers alone.
            let _refused = unsafe { SetConsoleMode(GetStdHandle(STD_INPUT_HANDLE), mode) };
        }
    };
    set(shown & !ENABLE_ECHO_INPUT);
    run();
    set(shown);
}

/// Whether this process has a console.
pub fn has_console() -> bool {
    // SAFETY: it takes nothing; without a console there is no code page.
    unsafe { GetConsoleCP() != 0 }
}
