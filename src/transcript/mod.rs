//! The client's transcripts: reading what is new.
