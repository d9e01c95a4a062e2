//! The stories of `tests/it`, by themselves: for a system on which the rest of those tests does not compile.

#![expect(clippy::disallowed_methods, reason = "a test lays its own files and reads them")]
#![expect(clippy::unwrap_used, reason = "a test stops at its first surprise")]

#[path = "it"]
mod it {
    pub mod stories;
}

use it::stories;
