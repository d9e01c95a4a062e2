//! The only door to the outside: clock, environment, standard streams, files, processes and lock files.

pub mod atomic_file;
pub mod confined;
pub mod environment;
pub mod files;
pub mod locks;
pub mod processes;
