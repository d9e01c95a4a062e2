//! The process table of Windows: a snapshot of who started whom, and what each process tells of itself.

#![expect(unsafe_code, reason = "the system's calls are C's")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::time::Duration;

use windows_sys::Wdk::System::Threading::{
    NtQueryInformationProcess, PROCESSINFOCLASS, ProcessBasicInformation, ProcessCommandLineInformation,
};
use windows_sys::Win32::Foundation::{ERROR_INVALID_PARAMETER, FILETIME, HANDLE, INVALID_HANDLE_VALUE, WAIT_OBJECT_0};
use windows_sys::Win32::System::Diagnostics::Debug::ReadProcessMemory;
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW, Process32NextW, TH32CS_SNAPPROCESS,
};
use windows_sys::Win32::System::Threading::{
    GetProcessTimes, OpenProcess, PROCESS_ACCESS_RIGHTS, PROCESS_QUERY_INFORMATION, PROCESS_QUERY_LIMITED_INFORMATION,
    PROCESS_SYNCHRONIZE, PROCESS_TERMINATE, PROCESS_VM_READ, TerminateProcess, WaitForMultipleObjects,
};

use crate::platform::processes::windows_bytes::{
    BASIC, COMMAND_LINE, ENVIRONMENT, PARAMETERS, PEB, UNICODE_STRING, number,
};

/// The most processes that can be waited for at once.
const MOST_WAITED: usize = 64;
/// The most bytes that are read of a process's environment.
const LONGEST_ENVIRONMENT: usize = 4 << 20;
/// Microseconds from 1601, where the system's moments begin, to 1970.
const EPOCH_US: u64 = 11_644_473_600_000_000;
/// What a process that is ended returns.
const KILLED: u32 = 1;

/// Returns the id of each process with its parent's: of the one that started it, which may be gone, and its id another's.
pub fn processes() -> Vec<(u32, u32)> {
    // SAFETY: it takes numbers.
    let snapshot = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0) };
    if snapshot == INVALID_HANDLE_VALUE {
        return Vec::new();
    }
    // SAFETY: the snapshot is this function's own, and is closed at its end.
    let snapshot = unsafe { OwnedHandle::from_raw_handle(snapshot) };
    let mut entry = PROCESSENTRY32W { dwSize: size_of::<PROCESSENTRY32W>() as u32, ..PROCESSENTRY32W::default() };
    let mut found = Vec::new();
    // SAFETY: the snapshot is open; the entry knows its size and lives through the calls.
    let mut has_one = unsafe { Process32FirstW(snapshot.as_raw_handle(), &raw mut entry) };
    while has_one != 0 {
        found.push((entry.th32ProcessID, entry.th32ParentProcessID));
        // SAFETY: as above.
        has_one = unsafe { Process32NextW(snapshot.as_raw_handle(), &raw mut entry) };
    }
    found
}

/// A process that is held: its id is not given to another while this lives.
pub struct Opened(OwnedHandle);

impl Opened {
    /// Opens a process to ask about it. Returns `None` where there surely is none.
    pub fn to_ask(pid: u32) -> io::Result<Option<Opened>> {
        let rights = PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE;
        match open(pid, rights) {
            Err(cause) if cause.raw_os_error() == Some(ERROR_INVALID_PARAMETER as i32) => Ok(None),
            other => other.map(Some),
        }
    }

    /// Opens a process to end it.
    pub fn to_end(pid: u32) -> Option<Opened> {
        open(pid, PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE | PROCESS_TERMINATE).ok()
    }

    /// Returns when it was started, in microseconds since 1970.
    pub fn start(&self) -> Option<u64> {
        let mut times = [FILETIME::default(); 4];
        let [start, end, kernel, user] = times.each_mut().map(|time| &raw mut *time);
        // SAFETY: the process is open, and the four times live through the call.
        let known = unsafe { GetProcessTimes(self.0.as_raw_handle(), start, end, kernel, user) };
        let start = (u64::from(times[0].dwHighDateTime) << 32) | u64::from(times[0].dwLowDateTime);
        (start / 10).checked_sub(EPOCH_US).filter(|_| known != 0)
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        Opened::wait_for_one(&[self], Duration::ZERO)
    }

    /// Ends it; returns whether that was taken.
    pub fn end(&self) -> bool {
        // SAFETY: the process is open; where it may not be ended, nothing happens.
        unsafe { TerminateProcess(self.0.as_raw_handle(), KILLED) != 0 }
    }

    /// Waits until one of some has ended, or so long by a clock that stops while the machine sleeps; returns whether one has.
    pub fn wait_for_one(processes: &[&Opened], patience: Duration) -> bool {
        let handles: Vec<HANDLE> = processes.iter().take(MOST_WAITED).map(|it| it.0.as_raw_handle()).collect();
        let most_ms = u32::try_from(patience.as_millis()).unwrap_or(u32::MAX - 1).min(u32::MAX - 1);
        let count = handles.len() as u32;
        if count == 0 {
            std::thread::park_timeout(patience);
            return false;
        }
        // SAFETY: the processes are open through the call, and as many as is said.
        let waited = unsafe { WaitForMultipleObjects(count, handles.as_ptr(), 0, most_ms) };
        (WAIT_OBJECT_0..WAIT_OBJECT_0 + count).contains(&waited)
    }
}

fn open(pid: u32, rights: PROCESS_ACCESS_RIGHTS) -> io::Result<Opened> {
    // SAFETY: it takes numbers.
    let handle = unsafe { OpenProcess(rights, 0, pid) };
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the process was opened here, and is closed with its owner.
    Ok(Opened(unsafe { OwnedHandle::from_raw_handle(handle) }))
}

/// Returns what the system tells of a process's command line: a `UNICODE_STRING`, and the text behind it.
pub fn command_line(pid: u32) -> Option<Vec<u8>> {
    let process = open(pid, PROCESS_QUERY_LIMITED_INFORMATION).ok()?;
    // A text of this form has at most 64 KiB.
    query(&process, ProcessCommandLineInformation, (64 << 10) + 64).or_else(|| {
        let process = open(pid, PROCESS_QUERY_INFORMATION | PROCESS_VM_READ).ok()?;
        let mut told = memory(&process, parameters(&process)?.checked_add(COMMAND_LINE)?, UNICODE_STRING)?;
        let length = usize::from(u16::from_le_bytes([*told.first()?, *told.get(1)?]));
        let text = memory(&process, number(&told, 8)?, length)?;
        told.extend(text);
        Some(told)
    })
}

/// Returns where a process keeps what it was started with.
fn parameters(process: &Opened) -> Option<u64> {
    let peb = number(&query(process, ProcessBasicInformation, BASIC)?, PEB)?;
    number(&memory(process, peb.checked_add(PARAMETERS)?, 8)?, 0)
}

fn query(process: &Opened, what: PROCESSINFOCLASS, most: usize) -> Option<Vec<u8>> {
    // In units of eight bytes, since what is answered has pointers in it.
    let (mut room, mut length) = (vec![0u64; most.div_ceil(8)], 0);
    let bytes = u32::try_from(room.len() * 8).ok()?;
    // SAFETY: the process is open; the room is as large as is said, and lives through the call.
    let status = unsafe {
        NtQueryInformationProcess(process.0.as_raw_handle(), what, room.as_mut_ptr().cast(), bytes, &raw mut length)
    };
    let answer = room.into_iter().flat_map(u64::to_le_bytes).take(usize::try_from(length).ok()?);
    (status >= 0).then(|| answer.collect())
}

/// Returns the environment that a process was started with, in UTF-16; nothing where its memory may not be read.
pub fn environment(pid: u32) -> Option<Vec<u8>> {
    let process = open(pid, PROCESS_QUERY_INFORMATION | PROCESS_VM_READ).ok()?;
    let parameters = parameters(&process)?;
    let pointer = number(&memory(&process, parameters.checked_add(ENVIRONMENT.0)?, 8)?, 0)?;
    let length = number(&memory(&process, parameters.checked_add(ENVIRONMENT.1)?, 8)?, 0)?;
    let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST_ENVIRONMENT)?;
    memory(&process, pointer, length)
}

/// Reads another process's memory; nothing where it is not there, or not this user's to read.
fn memory(process: &Opened, at: u64, length: usize) -> Option<Vec<u8>> {
    let (mut bytes, mut read) = (vec![0u8; length], 0);
    let from = usize::try_from(at).ok()? as *const std::ffi::c_void;
    // SAFETY: the system reads the other process's memory, and refuses an address that is none; the buffer lives through the call.
    let known =
        unsafe { ReadProcessMemory(process.0.as_raw_handle(), from, bytes.as_mut_ptr().cast(), length, &raw mut read) };
    (known != 0 && read == length).then_some(bytes)
}
