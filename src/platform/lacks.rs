//! What this system does not tell or do, so that part of Fusebox does less here. `doctor` shows each line; `docs/platforms.md` has them
//! with what follows.

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

/// What is missing on macOS.
pub const MACOS: [&str; 5] = [
    "no test has run on macOS: what is in force here was only compiled and read",
    "processes are told by the wall clock: where it is set, a command in the background may not be found, and is reported",
    "the environment of programs that macOS protects is not told: a session is not recognised by it",
    "nothing holds a process: between the last look at it and the signal that ends it lies a moment",
    "how long a hook call takes on macOS is not known",
];

/// What is missing on Windows.
pub const WINDOWS: [&str; 9] = [
    "who may change a file is not read: `init --scope managed` is refused, and the state is as private as its folder",
    "whose state it is is not read: one of another user's that this one may open would be taken for its own",
    "which files a program writes to is not told: a command in the background is found by its command line alone",
    "commands of PowerShell are not recognised in the process table: one in the background is reported, and not ended",
    "what a checking command starts in its first moment outlives it: it is not in its job by then",
    "hooks of `init --scope project` run in a Unix shell: without Git's shell they do nothing",
    "calls of PowerShell are read as a Unix shell's: `-EncodedCommand`, lists with commas and aliases hide what they name",
    "short names (`FUSEBO~1`) and paths of WSL (`/mnt/c`) are not compared with those that are guarded",
    "no test has run on Windows itself, only under Wine",
];
