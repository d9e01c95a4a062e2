//! The state: SQLite and the lock files.
