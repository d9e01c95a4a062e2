//! Calls by tool: how often each was made, and how often refused.

use std::cmp::Reverse;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::domain::stable_sort::sort_by_key;
use crate::report::columns::{self, ReportColumn, Shown, Value, count_or_nothing};
use crate::report::csv;
use crate::report::model::VERSION;
use crate::ui::style::{Style, Terminal};
use crate::ui::table::table;

/// The calls of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCalls {
    /// The tool.
    pub tool: String,
    /// Calls that were counted.
    pub calls: u64,
    /// Calls that Fusebox refused.
    pub refused: u64,
    /// Sessions with one of them.
    pub sessions: u64,
}

/// The calls of all tools, those of the most used first.
#[derive(Debug, Serialize)]
pub struct ToolReport {
    /// The version of the JSON form.
    version: u32,
    /// The tools.
    tools: Vec<ToolCalls>,
}

/// The columns of a tool's calls, in the order of JSON and CSV.
pub static TOOLS: [ReportColumn<ToolCalls>; 4] = [
    ReportColumn {
        name: "tool",
        shown: Shown::text(1, "TOOL", 0, |it, _| name(it)),
        says: "the tool",
        value: |it| Value::Text(it.tool.clone()),
    },
    ReportColumn {
        name: "calls",
        shown: Shown::figure(3, "CALLS", 0, |it, _| it.calls.to_string()),
        says: "calls of it",
        value: |it| Value::Count(it.calls),
    },
    ReportColumn {
        name: "refused",
        shown: Shown::figure(4, "REFUSED", 0, |it, _| it.refused.to_string()),
        says: "those that Fusebox refused",
        value: |it| Value::Count(it.refused),
    },
    ReportColumn {
        name: "sessions",
        shown: Shown::figure(2, "SESSIONS", 1, |it, _| count_or_nothing(it.sessions)),
        says: "sessions with one of them",
        value: |it| Value::Count(it.sessions),
    },
];

impl Serialize for ToolCalls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        columns::write_fields(&TOOLS, self, &mut map)?;
        map.end()
    }
}

impl ToolReport {
    /// Sums the calls of several sessions by tool.
    pub fn of(calls: impl IntoIterator<Item = ToolCalls>) -> ToolReport {
        let mut tools: Vec<ToolCalls> = Vec::new();
        for one in calls {
            match tools.iter_mut().find(|known| known.tool == one.tool) {
                Some(known) => {
                    known.calls += one.calls;
                    known.refused += one.refused;
                    known.sessions += one.sessions;
                }
                None => tools.push(one),
            }
        }
        sort_by_key(&mut tools, |it| (Reverse(it.calls), Reverse(it.refused), it.tool.clone()));
        ToolReport { version: VERSION, tools }
    }

    /// Writes a table with its totals.
    pub fn text(&self, terminal: &Terminal) -> String {
        if self.tools.is_empty() {
            return "No tool was called in this period. `fusebox report --since all` looks at everything.\n".to_owned();
        }
        let row = |it| columns::cells(&TOOLS, it, terminal);
        let mut rows: Vec<(Style, Vec<String>)> = self.tools.iter().map(|it| (Style::Plain, row(it))).collect();
        let (calls, refused) =
            (self.tools.iter().map(|it| it.calls).sum(), self.tools.iter().map(|it| it.refused).sum());
        // A session with calls of two tools would count twice.
        rows.push((Style::Bold, row(&ToolCalls { tool: "total".to_owned(), calls, refused, sessions: 0 })));
        table(&columns::headings(&TOOLS), &rows, terminal)
    }

    /// Writes comma-separated values.
    pub fn csv(&self) -> String {
        csv::lines(columns::csv_head(&TOOLS), self.tools.iter().map(|it| columns::csv_row(&TOOLS, it)))
    }
}

/// Returns a tool's name; some calls are only known by their ids.
fn name(calls: &ToolCalls) -> String {
    if calls.tool.is_empty() { "(unknown)".to_owned() } else { calls.tool.clone() }
}
