//! A check of debug builds: no thread waits for a lock that it has itself. It would wait for all its patience.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

thread_local! {
    static HELD: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
}

/// Stands for a lock of this thread's until it is dropped.
#[derive(Debug)]
pub struct Once(PathBuf);

impl Once {
    /// Notes that this thread takes the locks of a folder.
    ///
    /// # Panics
    /// Where it has them already.
    pub fn of(folder: &Path) -> Once {
        HELD.with_borrow_mut(|held| {
            assert!(!held.iter().any(|other| other == folder), "the state in {} is opened twice", folder.display());
            held.push(folder.to_path_buf());
        });
        Once(folder.to_path_buf())
    }
}

impl Drop for Once {
    fn drop(&mut self) {
        // At the end of a thread there is no list any more.
        let _over = HELD.try_with(|held| held.borrow_mut().retain(|other| *other != self.0));
    }
}
