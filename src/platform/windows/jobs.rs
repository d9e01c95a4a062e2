//! Jobs of Windows, which hold a program with all that it starts, and what a started program gets.

#![expect(unsafe_code, reason = "the system's calls are C's")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::process::Child;
use std::ptr;

use windows_sys::Win32::System::Console::SetConsoleCtrlHandler;
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
    TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_BREAKAWAY_FROM_JOB, CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW, DETACHED_PROCESS, GetCurrentProcess,
    IDLE_PRIORITY_CLASS, SetPriorityClass,
};

/// Starts a program without a console.
pub const DETACHED: u32 = DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP;
/// Starts a program outside of this one's job.
pub const BREAKS_AWAY: u32 = CREATE_BREAKAWAY_FROM_JOB;
/// Starts a program whose console is not seen.
pub const NO_WINDOW: u32 = CREATE_NO_WINDOW;

/// What a program that is ended returns.
const KILLED: u32 = 1;

/// A program with all that it starts. They end at the latest with this process.
pub struct Job(OwnedHandle);

impl Job {
    /// Takes a program that was just started into a job; nothing where the system does not let it.
    pub fn of(child: &Child) -> Option<Job> {
        // SAFETY: both may be left out.
        let handle = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
        if handle.is_null() {
            return None;
        }
        // SAFETY: the job was made here, and is closed with its owner.
        let job = Job(unsafe { OwnedHandle::from_raw_handle(handle) });
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        let size = size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>() as u32;
        // SAFETY: job and program are open; the limits are as long as is said, and live through the call.
        let taken = unsafe {
            let kind = JobObjectExtendedLimitInformation;
            SetInformationJobObject(job.0.as_raw_handle(), kind, (&raw const limits).cast(), size) != 0
                && AssignProcessToJobObject(job.0.as_raw_handle(), child.as_raw_handle()) != 0
        };
        taken.then_some(job)
    }

    /// Ends all that is in it.
    pub fn end(self) {
        // SAFETY: the job is open.
        let _gone = unsafe { TerminateJobObject(self.0.as_raw_handle(), KILLED) };
    }
}

/// Makes way for all other processes.
pub fn make_way() {
    // SAFETY: it is this process itself.
    let _as_before = unsafe { SetPriorityClass(GetCurrentProcess(), IDLE_PRIORITY_CLASS) };
}

/// Goes on at Ctrl+C and where the console is closed, which reach every program on the console.
pub fn outlive_interrupts() {
    /// Says that the event is dealt with.
    unsafe extern "system" fn is_dealt_with(_event: u32) -> windows_sys::core::BOOL {
        1
    }
    // SAFETY: the function lives as long as the process, and touches nothing.
    let _as_before = unsafe { SetConsoleCtrlHandler(Some(is_dealt_with), 1) };
}
