//! Groups of a report as JSON.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::report::group::{Group, GroupBy, Grouped};
use crate::report::model::VERSION;

/// One group as JSON, its name under the grouping's own key.
struct Keyed<'a>(GroupBy, &'a Group);

impl Serialize for Keyed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Keyed(by, group) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(by.one(), &group.name)?;
        map.serialize_entry("cost_usd", &group.cost_usd)?;
        map.serialize_entry("requests", &group.requests)?;
        map.serialize_entry("tokens", &group.tokens)?;
        map.serialize_entry("cache_reads", &group.cache_reads)?;
        map.serialize_entry("sessions", &group.sessions)?;
        map.serialize_entry("input_tokens", &group.split.input)?;
        map.serialize_entry("output_tokens", &group.split.output)?;
        map.serialize_entry("cache_creation_tokens", &group.split.cache_creation)?;
        map.serialize_entry("cache_read_tokens", &group.cache_reads)?;
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
