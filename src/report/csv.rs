//! Reports as CSV: a heading, then one line for each session or group.

use crate::report::group::{Group, Grouped};
use crate::report::model::{Report, SessionReport};
use crate::ui::terminal;

/// The columns of a session.
const SESSION: [&str; 12] = [
    "session_id",
    "project",
    "status",
    "started_at",
    "cost_usd",
    "new_cost_usd",
    "client_cost_usd",
    "turns",
    "requests",
    "tokens",
    "runs",
    "trips",
];

/// Writes one line for each session.
pub fn sessions(report: &Report) -> String {
    let rows = report.sessions.iter().map(session);
    lines(SESSION.map(str::to_owned).to_vec(), rows)
}

/// Writes one line for each group.
pub fn groups(grouped: &Grouped) -> String {
    let split = ["input_tokens", "output_tokens", "cache_creation_tokens", "cache_read_tokens"];
    let head = [grouped.by.one(), "cost_usd", "requests", "tokens", "cache_reads", "sessions"].into_iter().chain(split);
    lines(head.map(str::to_owned).collect(), grouped.groups.iter().map(group))
}

fn session(session: &SessionReport) -> Vec<String> {
    vec![
        session.session_id.clone(),
        session.project.clone(),
        session.stands.as_str().to_owned(),
        session.started_at.text(),
        session.cost_usd.0.exact(),
        session.new_cost_usd.0.exact(),
        session.client_cost_usd.map(|cost| cost.0.exact()).unwrap_or_default(),
        session.turns.to_string(),
        session.requests.to_string(),
        session.tokens.to_string(),
        session.runs_begun().to_string(),
        session.trips().len().to_string(),
    ]
}

fn group(group: &Group) -> Vec<String> {
    vec![
        group.name.clone(),
        group.cost_usd.0.exact(),
        group.requests.to_string(),
        group.tokens.to_string(),
        group.cache_reads.to_string(),
        group.sessions.to_string(),
        group.split.input.to_string(),
        group.split.output.to_string(),
        group.split.cache_creation.to_string(),
        group.cache_reads.to_string(),
    ]
}

/// Writes a heading and rows.
pub fn lines(head: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for cells in std::iter::once(head).chain(rows) {
        // Memory takes every row, and all rows have as many cells as the heading.
        let _written = writer.write_record(cells.iter().map(|cell| harmless(cell)));
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// What a spreadsheet takes for the beginning of a formula.
const FORMULA: [char; 4] = ['=', '+', '-', '@'];

/// Returns a cell that no spreadsheet takes for a formula, and that no terminal obeys.
fn harmless(cell: &str) -> String {
    let cell = terminal::plain(cell);
    let is_formula = cell.starts_with(FORMULA) && cell.parse::<f64>().is_err();
    if is_formula { format!("'{cell}") } else { cell }
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn a_cell_is_quoted_where_it_has_to_be() {
        for (cell, written) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            ("a\nb", "a\\u000ab"),
            ("=1+1", "'=1+1"),
            ("-1.5", "-1.5"),
            ("@a,b", "\"'@a,b\""),
        ] {
            let (head, cells) = (["a", "b"].map(str::to_owned), ["1", cell].map(str::to_owned));
            assert_eq!(lines(head.to_vec(), [cells.to_vec()].into_iter()), format!("a,b\n1,{written}\n"));
        }
    }
}
