//! The table `event`: the log of trips, warnings, grants, ends and notices.

use rusqlite::types::ToSql;
use rusqlite::{Row, params};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as ValueError;
use serde_json::{Map, Value};

use crate::domain::moment::Moment;
use crate::domain::record::{Record, RecordKind};
use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::value::{Columns, column, to_json};

/// A record with its number and its moment in milliseconds since 1970.
pub type Numbered = (i64, i64, Record);

const COLUMNS: &str = "SELECT id, at_ms, record, kind, session_id, run_id, limit_key FROM event";
/// The fields of a record that are columns of its row, in the columns' order.
const FIELDS: [&str; 4] = ["event", "session", "run", "limit"];
/// Of these rows none is the newest: numbers are what people type, and no number comes twice.
const OLD: &str = "at_ms < ?1 AND id < (SELECT max(id) FROM event)";

impl Store {
    /// Saves a record under the next number.
    pub fn save_record(&self, record: &Record, at: Moment) -> Result<()> {
        let mut fields = match serde_json::to_value(record) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        fields.retain(|name, _| !FIELDS.contains(&name.as_str()));
        let kind = record.event.map_or("", RecordKind::as_str);
        let insert =
            "INSERT INTO event (at_ms, kind, session_id, run_id, limit_key, record) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let text = to_json("a record", &fields)?;
        let values = params![at.wall_ms, kind, record.session, record.run, record.limit, text];
        self.prepare(insert)?.execute(values)?;
        Ok(())
    }

    /// Loads the records since `since_ms`, the oldest first.
    pub fn records_since(&self, since_ms: i64) -> Result<Vec<Numbered>> {
        self.records("INDEXED BY event_by_time WHERE at_ms >= ?1 ORDER BY id", &[&since_ms])
    }

    /// Loads the records after the one with this number, the oldest first.
    pub fn records_after(&self, number: i64) -> Result<Vec<Numbered>> {
        self.records("WHERE id > ?1 ORDER BY id", &[&number])
    }

    /// Loads the records of a session, the oldest first.
    pub fn records_of(&self, session: &str) -> Result<Vec<Numbered>> {
        self.records("WHERE session_id = ?1 ORDER BY id", &[&session])
    }

    /// Loads the latest records of limits and persons that ended or paused something, the newest first.
    pub fn latest_stops(&self, most: u64) -> Result<Vec<Numbered>> {
        let [failed, paused, stopped] = [RecordKind::AgentFailed, RecordKind::AgentPaused, RecordKind::AgentStopped];
        let latest = "WHERE kind IN (?1, ?2, ?3) ORDER BY id DESC LIMIT ?4";
        self.records(latest, &[&failed.as_str(), &paused.as_str(), &stopped.as_str(), &column(most)])
    }

    /// Loads the latest record of a trip: of a cap that was reached, whatever its action, of a dialog that granted nothing, or of a
    /// person's stop or pause.
    pub fn latest_trip(&self) -> Result<Option<Numbered>> {
        let kinds = [
            RecordKind::AgentFailed,
            RecordKind::AgentPaused,
            RecordKind::AgentStopped,
            RecordKind::AgentWarning,
            RecordKind::IncreaseDeclined,
            RecordKind::IncreaseAsked,
        ];
        let kinds = kinds.map(RecordKind::as_str);
        let latest =
            "WHERE kind IN (?1, ?2, ?3, ?4, ?5, ?6) AND record ->> '$.percent' IS NULL ORDER BY id DESC LIMIT 1";
        Ok(self.records(latest, &[&kinds[0], &kinds[1], &kinds[2], &kinds[3], &kinds[4], &kinds[5]])?.pop())
    }

    /// Loads the record with this number.
    pub fn record(&self, number: i64) -> Result<Option<Numbered>> {
        Ok(self.records("WHERE id = ?1", &[&number])?.pop())
    }

    /// Loads records. One that a newer version has written in another way is passed over.
    fn records(&self, wanted: &str, values: &[&dyn ToSql]) -> Result<Vec<Numbered>> {
        let mut statement = self.prepare(&format!("{COLUMNS} {wanted}"))?;
        let mut rows = statement.query(values)?;
        let mut records = Vec::new();
        while let Some(row) = rows.next()? {
            records.extend(record_of(row).ok());
        }
        Ok(records)
    }

    /// Returns how many records are from before a moment.
    pub fn count_old_records(&self, before_ms: i64) -> Result<u64> {
        let count = format!("SELECT count(*) FROM event WHERE {OLD}");
        let records: i64 = self.conn.query_row(&count, params![before_ms], |row| row.get(0))?;
        Ok(u64::try_from(records).unwrap_or(0))
    }

    /// Deletes some of the records from before a moment; returns how many.
    pub fn delete_old_records(&self, before_ms: i64, most: u64) -> Result<u64> {
        let delete = format!("DELETE FROM event WHERE id IN (SELECT id FROM event WHERE {OLD} LIMIT ?2)");
        Ok(self.prepare(&delete)?.execute(params![before_ms, column(most)])? as u64)
    }
}

fn record_of(row: &Row) -> Result<Numbered> {
    let mut columns = Columns::of(row);
    let (id, at_ms) = (columns.read()?, columns.read()?);
    let record: Record = columns.json("a record")?;
    let kind: String = columns.read()?;
    let event = (!kind.is_empty()).then(|| RecordKind::deserialize(kind.as_str().into_deserializer())).transpose();
    let event = event.map_err(|cause: ValueError| Error::failed(format!("a record cannot be read: {cause}")))?;
    Ok((id, at_ms, Record { event, session: columns.read()?, run: columns.read()?, limit: columns.read()?, ..record }))
}
