//! The columns of sums over sessions, and their JSON and CSV.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::report::columns::{self, ReportColumn, Shown, Value, count_or_nothing};
use crate::report::csv;
use crate::report::group::{Group, GroupBy, Grouped};
use crate::report::model::VERSION;
use crate::ui::style::tokens;

/// The columns of a group behind its name, in the order of JSON and CSV.
pub static GROUPS: [ReportColumn<Group>; 9] = [
    ReportColumn {
        name: "cost_usd",
        shown: Shown::figure(7, "COST", 0, |it, _| it.cost_usd.0.to_string()),
        says: "list price; headed LIST PRICE where a plan pays (`billing`)",
        value: |it| Value::Usd(it.cost_usd),
    },
    ReportColumn {
        name: "requests",
        shown: Shown::figure(2, "REQUESTS", 5, |it, _| it.requests.to_string()),
        says: "responses of models",
        value: |it| Value::Count(it.requests),
    },
    ReportColumn {
        name: "tokens",
        shown: None,
        says: "input, cache-write and output tokens",
        value: |it| Value::Count(it.tokens),
    },
    ReportColumn {
        name: "cache_reads",
        shown: None,
        says: "the same as `cache_read_tokens`",
        value: |it| Value::Count(it.cache_reads),
    },
    ReportColumn {
        name: "sessions",
        shown: Shown::figure(1, "SESSIONS", 6, |it, _| count_or_nothing(it.sessions)),
        says: "sessions with a response in it",
        value: |it| Value::Count(it.sessions),
    },
    ReportColumn {
        name: "input_tokens",
        shown: Shown::figure(3, "INPUT", 2, |it, _| tokens(it.split.input)),
        says: "prompt tokens beside the cache",
        value: |it| Value::Count(it.split.input),
    },
    ReportColumn {
        name: "output_tokens",
        shown: Shown::figure(4, "OUTPUT", 1, |it, _| tokens(it.split.output)),
        says: "completion tokens, thinking included",
        value: |it| Value::Count(it.split.output),
    },
    ReportColumn {
        name: "cache_creation_tokens",
        shown: Shown::figure(5, "CACHE CREATE", 3, |it, _| tokens(it.split.cache_creation)),
        says: "prompt tokens written to the cache",
        value: |it| Value::Count(it.split.cache_creation),
    },
    ReportColumn {
        name: "cache_read_tokens",
        shown: Shown::figure(6, "CACHE READ", 4, |it, _| tokens(it.cache_reads)),
        says: "prompt tokens read from the cache",
        value: |it| Value::Count(it.cache_reads),
    },
];

/// Writes one line of CSV for each group.
pub fn csv(grouped: &Grouped) -> String {
    let with_name = |name: &str, rest: Vec<String>| std::iter::once(name.to_owned()).chain(rest).collect();
    let head = with_name(grouped.by.one(), columns::csv_head(&GROUPS));
    csv::lines(head, grouped.groups.iter().map(|group| with_name(&group.name, columns::csv_row(&GROUPS, group))))
}

/// One group as JSON, its name under the grouping's own key.
struct Keyed<'a>(GroupBy, &'a Group);

impl Serialize for Keyed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Keyed(by, group) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(by.one(), &group.name)?;
        columns::write_fields(&GROUPS, *group, &mut map)?;
        map.end()
    }
}

impl Serialize for Grouped {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", &VERSION)?;
        let groups: Vec<Keyed> = self.groups.iter().map(|group| Keyed(self.by, group)).collect();
        map.serialize_entry(self.by.many(), &groups)?;
        if let Some(before) = &self.pruned_before {
            map.serialize_entry("pruned_before", before)?;
        }
        map.end()
    }
}
