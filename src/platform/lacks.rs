//! What this system does not tell or do, so that part of Fusebox does less here. `doctor` shows it; `docs/platforms.md` has all of it.

/// Returns what is missing here and what follows, each as a sentence; nothing on Linux.
pub const fn lacks() -> &'static [&'static str] {
    if cfg!(windows) {
        &WINDOWS
    } else if cfg!(target_os = "macos") {
        &MACOS
    } else {
        &[]
    }
}

const MACOS: [&str; 1] = ["no test has run on macOS: what is in force here was only compiled and read"];

const WINDOWS: [&str; 4] = [
    "who may change a file is not read: `init --scope managed` is refused, and the state is as private as its folder",
    "which files a program writes to is not told: a command in the background is found by its command line alone",
    "commands of PowerShell are not recognised in the process table: one in the background is reported, and not ended",
    "no test has run on Windows itself, only under Wine",
];
