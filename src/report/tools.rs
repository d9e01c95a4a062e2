//! Calls by tool: how often each was made, and how often refused.

use std::cmp::Reverse;

use serde::Serialize;

use crate::domain::stable_sort::sort_by_key;
use crate::report::csv;
use crate::report::model::VERSION;
use crate::ui::style::{Style, Terminal};
use crate::ui::table::{Align, Column, table};

/// The calls of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
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

const COLUMNS: [Column; 4] = [
    Column::new("TOOL", Align::Left, 0),
    Column::new("SESSIONS", Align::Right, 1),
    Column::new("CALLS", Align::Right, 0),
    Column::new("REFUSED", Align::Right, 0),
];

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
        let row =
            |it: &ToolCalls| vec![name(it), it.sessions.to_string(), it.calls.to_string(), it.refused.to_string()];
        let mut rows: Vec<(Style, Vec<String>)> = self.tools.iter().map(|it| (Style::Plain, row(it))).collect();
        let (calls, refused): (u64, u64) =
            (self.tools.iter().map(|it| it.calls).sum(), self.tools.iter().map(|it| it.refused).sum());
        rows.push((Style::Bold, vec!["total".to_owned(), String::new(), calls.to_string(), refused.to_string()]));
        table(&COLUMNS, &rows, terminal)
    }

    /// Writes comma-separated values.
    pub fn csv(&self) -> String {
        let head = ["tool", "calls", "refused", "sessions"].map(str::to_owned).to_vec();
        let row = |it: &ToolCalls| {
            vec![it.tool.clone(), it.calls.to_string(), it.refused.to_string(), it.sessions.to_string()]
        };
        csv::lines(head, self.tools.iter().map(row))
    }
}

/// Returns a tool's name; some calls are only known by their ids.
fn name(calls: &ToolCalls) -> String {
    if calls.tool.is_empty() { "(unknown)".to_owned() } else { calls.tool.clone() }
}
