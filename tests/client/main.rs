//! The real client end to end.
