//! The only door to the outside: clock, environment, standard streams, files, processes and lock files.
//!
//! What differs by system is a folder with one file for each, and each such file has the same functions. `macos.rs` and `windows.rs`
//! here hold the systems' own calls, made safe; files called `…_bytes.rs` and `…_paths.rs` read what those answer, and are tested on
//! every system. `docs/platforms.md` says what each system gives.

pub mod atomic_file;
pub mod changes;
pub mod clock;
pub mod confined;
pub mod environment;
pub mod file_info;
pub mod file_system;
pub mod files;
pub mod folders;
pub mod foreground;
#[cfg(feature = "screen")]
pub mod full_screen;
pub mod given;
pub mod lacks;
pub mod locks;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(feature = "metrics")]
pub mod post;
pub mod processes;
pub mod repository;
pub mod resources;
pub mod run_command;
pub mod scratch;
#[cfg(feature = "metrics")]
pub mod serve;
#[cfg(feature = "team")]
pub mod socket;
pub mod stopwatch;
pub mod streams;
#[cfg(feature = "watch")]
pub mod terminal_signal;
#[cfg(windows)]
mod windows;
#[cfg(not(feature = "zones"))]
pub mod zone_files;
