//! What the columns of reports say, as `fusebox report --help` and `docs/report.md` have it.

use crate::report::columns::{ReportColumn, shown};
use crate::report::group_table::GROUPS;
use crate::report::session_table::SESSIONS;
use crate::report::summary::TRIPS;
use crate::report::tools::TOOLS;

/// How wide a heading is set.
const HEADING: usize = "CACHE CREATE".len();

/// Returns what each heading says, for help.
pub fn help() -> String {
    let trips = TRIPS.iter().map(|(column, says)| (column.head, *says)).collect();
    let tables: [(&str, Vec<(&str, &str)>); 4] = [
        ("sessions", headings(&SESSIONS)),
        ("other groupings", headings(&GROUPS)),
        ("tools", headings(&TOOLS)),
        ("trips", trips),
    ];
    let table = |(kind, headings): &(&str, Vec<(&str, &str)>)| {
        let lines = headings.iter().map(|(head, says)| format!("  {head:HEADING$}  {says}\n"));
        format!("Columns of {kind}:\n{}", lines.collect::<String>())
    };
    tables.iter().map(table).collect()
}

fn headings<T>(columns: &'static [ReportColumn<T>]) -> Vec<(&'static str, &'static str)> {
    shown(columns).into_iter().map(|(column, shown)| (shown.column.head, column.says)).collect()
}

/// Returns what each name in JSON and CSV says, for the documentation.
pub fn page() -> String {
    [rows("session", &SESSIONS), rows("group", &GROUPS), rows("tool", &TOOLS)].join("\n")
}

fn rows<T>(kind: &str, columns: &[ReportColumn<T>]) -> String {
    let row = |column: &ReportColumn<T>| {
        let heading = column.shown.as_ref().map_or("", |shown| shown.column.head);
        format!("| `{}` | {heading} | {} |\n", column.name, column.says)
    };
    format!("| {kind} | heading | |\n|---|---|---|\n{}", columns.iter().map(row).collect::<String>())
}
