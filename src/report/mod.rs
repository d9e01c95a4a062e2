//! Rows into reports, and reports into text, JSON and CSV.
