//! The tables `policy` and `limit_set`: each content is stored once.
//!
//! Every event reads the limits of its session and its run. They are the same for most runs, so a run names them by number.
//! The number of a policy is a hash of its text, which is compared where it is read: who changes the text breaks it.

use rusqlite::{OptionalExtension, params};

use crate::domain::limit_set::LimitSet;
use crate::domain::stored::stable_hash;
use crate::error::Result;
use crate::store::Store;
use crate::store::damaged::damaged;
use crate::store::seal::ColumnsHash;
use crate::store::value::{Columns, to_json};

/// Numbers below this are of earlier versions, which counted policies: nothing tells what text such a number was given to.
const COUNTED: i64 = 1 << 32;

/// Returns the number of a policy: a hash of its text.
fn policy_id(content: &str) -> i64 {
    // The sign is left out, and what a counted number could be.
    (stable_hash::of(content.as_bytes()) >> 1).cast_signed() | COUNTED
}

impl Store {
    /// Returns the text of a pinned policy; nothing where none has this number, or another program has changed its text.
    pub fn policy(&self, id: i64) -> Result<Option<String>> {
        let mut statement = self.prepare("SELECT content FROM policy WHERE id = ?1")?;
        let content: Option<String> = statement.query_row(params![id], |row| row.get(0)).optional()?;
        Ok(content.filter(|content| id < COUNTED || id == policy_id(content)))
    }

    /// Keeps the text of a policy; returns its number.
    pub fn keep_policy(&self, content: &str) -> Result<i64> {
        let known = self.prepare("SELECT id FROM policy WHERE content = ?1")?;
        let known: Option<i64> = { known }.query_row(params![content], |row| row.get(0)).optional()?;
        if let Some(id) = known.filter(|id| *id < COUNTED) {
            return Ok(id);
        }
        let id = policy_id(content);
        // A text that another program has put under its number, or a number under its text, goes.
        self.prepare("REPLACE INTO policy (id, content) VALUES (?1, ?2)")?.execute(params![id, content])?;
        Ok(id)
    }

    /// Loads a set of limits; no number stands for none.
    pub(super) fn limit_set(&self, id: Option<i64>) -> Result<LimitSet> {
        let Some(id) = id else { return Ok(LimitSet::default()) };
        if let Some((known, _)) = self.limit_sets.borrow().get(&id) {
            return Ok(known.clone());
        }
        let mut statement = self.prepare("SELECT limits FROM limit_set WHERE id = ?1")?;
        let mut rows = statement.query(params![id])?;
        // What is damaged must not pass for no limits.
        let missing = || damaged(format!("the limits {id} are missing"));
        let row = rows.next()?.ok_or_else(missing)?;
        let rules: LimitSet = Columns::of(row).json("limits")?;
        let hash = stable_hash::of(row.get_ref(0)?.as_bytes()?);
        self.limit_sets.borrow_mut().insert(id, (rules.clone(), hash));
        Ok(rules)
    }

    /// Adds to the hash of a row the content of the sets of limits that it names, which were read or written.
    pub(super) fn sealed_limits(&self, row: ColumnsHash, ids: &[Option<i64>]) -> ColumnsHash {
        let sets = self.limit_sets.borrow();
        ids.iter().flatten().filter_map(|id| sets.get(id)).fold(row, |hash, (_, content)| hash.and(*content))
    }

    /// Returns the number of a set of limits, and stores those that are new.
    pub(super) fn limit_set_id(&self, rules: &LimitSet) -> Result<Option<i64>> {
        if *rules == LimitSet::default() {
            return Ok(None);
        }
        let known = self.limit_sets.borrow().iter().find(|(_, (known, _))| known == rules).map(|(id, _)| *id);
        if known.is_some() {
            return Ok(known);
        }
        let limits = to_json("limits", rules)?;
        let (find, insert) =
            ("SELECT id FROM limit_set WHERE limits = ?1", "INSERT INTO limit_set (limits) VALUES (?1)");
        let id = self.keep_once(find, insert, &limits)?;
        self.limit_sets.borrow_mut().insert(id, (rules.clone(), stable_hash::of(limits.as_bytes())));
        Ok(Some(id))
    }

    fn keep_once(&self, find: &str, insert: &str, content: &str) -> Result<i64> {
        let known = self.prepare(find)?.query_row(params![content], |row| row.get(0)).optional()?;
        if let Some(id) = known {
            return Ok(id);
        }
        self.prepare(insert)?.execute(params![content])?;
        Ok(self.conn.last_insert_rowid())
    }
}
