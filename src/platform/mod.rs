//! The only door to the outside: clock, environment, standard streams, files, processes and lock files.

pub mod atomic_file;
pub mod changes;
pub mod confined;
pub mod environment;
pub mod file_info;
pub mod file_system;
pub mod files;
pub mod foreground;
pub mod given;
pub mod locks;
pub mod processes;
pub mod run_command;
pub mod stopwatch;
