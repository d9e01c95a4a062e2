//! Writing below a trusted folder where an agent may have laid links: each component is opened by itself, and none is followed.

mod appended;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use appended::{Appended, oddity};
#[cfg(unix)]
pub use unix::Folder;
#[cfg(windows)]
pub use windows::Folder;
