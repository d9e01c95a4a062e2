//! The page of `fusebox report --html` in a real browser: its numbers are those of `report --json`, it is drawn, dark and light and in
//! print, it obeys the keyboard, fetches nothing, and 100,000 runs open at once.

#![expect(clippy::unwrap_used, reason = "a test stops at its first surprise")]
#![expect(clippy::disallowed_methods, reason = "a test lays its own files and starts a browser")]

mod chromium;
mod figures;
mod hostile;
mod many;
mod picture;
mod recorded;
mod states;
