//! What a session had spent before its first prompt was seen: a run of its own holds it.

/// Returns the id of the run that holds what was spent before the first prompt seen: a resumed or forked session's history.
pub fn id_of(session: &str) -> String {
    format!("{session}:before")
}
