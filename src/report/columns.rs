//! What a column of a report is: its name in JSON and CSV, its heading in texts, what it says, and how its value is written.
//!
//! Each table of a report has one list of these. JSON, CSV, texts, `fusebox report --help` and `docs/report.md` are made from it.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::domain::stable_sort::sort_by_key;
use crate::ui::formats::Usd;
use crate::ui::style::Terminal;
use crate::ui::table::{Align, Column};

/// A column of a table whose rows are made of a `T` each.
pub struct ReportColumn<T> {
    /// Its name in JSON and CSV.
    pub name: &'static str,
    /// How texts show it; `None` where they do not.
    pub shown: Option<Shown<T>>,
    /// What it says, for help and documentation.
    pub says: &'static str,
    /// Returns its value for JSON and CSV.
    pub value: fn(&T) -> Value,
}

/// How texts show a column.
pub struct Shown<T> {
    /// Its place from the left.
    pub place: u8,
    /// Its heading, and how it gives way.
    pub column: Column,
    /// Returns the text of a cell.
    pub cell: fn(&T, &Terminal) -> String,
}

/// A value in JSON and CSV.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Count(u64),
    /// US dollars: a decimal string.
    Usd(Usd),
    /// What is not known: nothing in CSV.
    Unknown,
}

impl Value {
    fn csv(self) -> String {
        match self {
            Value::Text(text) => text,
            Value::Count(count) => count.to_string(),
            Value::Usd(usd) => usd.0.exact(),
            Value::Unknown => String::new(),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Text(text) => serializer.serialize_str(text),
            Value::Count(count) => serializer.serialize_u64(*count),
            Value::Usd(usd) => usd.serialize(serializer),
            Value::Unknown => serializer.serialize_none(),
        }
    }
}

impl<T> Shown<T> {
    /// Shows a figure, flush right.
    pub const fn figure(
        place: u8,
        head: &'static str,
        rank: u8,
        cell: fn(&T, &Terminal) -> String,
    ) -> Option<Shown<T>> {
        Some(Shown { place, column: Column::new(head, Align::Right, rank), cell })
    }

    /// Shows a text, flush left.
    pub const fn text(place: u8, head: &'static str, rank: u8, cell: fn(&T, &Terminal) -> String) -> Option<Shown<T>> {
        Some(Shown { place, column: Column::new(head, Align::Left, rank), cell })
    }
}

/// Returns what texts show of a table, from the left.
pub fn shown<T>(columns: &'static [ReportColumn<T>]) -> Vec<(&'static ReportColumn<T>, &'static Shown<T>)> {
    let mut shown: Vec<_> = columns.iter().filter_map(|it| Some((it, it.shown.as_ref()?))).collect();
    sort_by_key(&mut shown, |(_, shown)| shown.place);
    shown
}

/// Returns the headings of a text, from the left.
pub fn headings<T>(columns: &'static [ReportColumn<T>]) -> Vec<Column> {
    shown(columns).into_iter().map(|(_, shown)| shown.column).collect()
}

/// Returns a row of a text, from the left.
pub fn cells<T>(columns: &'static [ReportColumn<T>], it: &T, terminal: &Terminal) -> Vec<String> {
    shown(columns).into_iter().map(|(_, shown)| (shown.cell)(it, terminal)).collect()
}

/// Returns the heading of CSV.
pub fn csv_head<T>(columns: &[ReportColumn<T>]) -> Vec<String> {
    columns.iter().map(|column| column.name.to_owned()).collect()
}

/// Returns a row of CSV.
pub fn csv_row<T>(columns: &[ReportColumn<T>], it: &T) -> Vec<String> {
    columns.iter().map(|column| (column.value)(it).csv()).collect()
}

/// Writes a row's fields into an object of JSON.
pub fn write_fields<T, M: SerializeMap>(columns: &[ReportColumn<T>], it: &T, object: &mut M) -> Result<(), M::Error> {
    columns.iter().try_for_each(|column| object.serialize_entry(column.name, &(column.value)(it)))
}

/// Returns the text of a count; nothing for 0.
pub fn count_or_nothing(count: u64) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}
