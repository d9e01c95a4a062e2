//! Reports as JSON.

use serde::Serialize;

/// Writes a report as indented JSON with a newline at its end.
pub fn text(report: &impl Serialize) -> String {
    // Reports hold no map with keys that are no strings, and no writer that could fail.
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}
