//! docs/privacy.md names every column that a team's store has.

use crate::postgres::Postgres;

const PAGE: &str = include_str!("../../docs/privacy.md");

#[test]
fn the_page_names_each_column_of_the_store_and_no_other() {
    let Some(server) = Postgres::start() else { return };
    // As `information_schema.columns` has them, for whoever may read them.
    let columns = "SELECT c.relname || '.' || a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = 'fusebox'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped";
    let known = server.as_login("boss", columns).unwrap();
    let mut columns: Vec<&str> = known.lines().collect();
    columns.sort_unstable();
    let (_, told) = PAGE.split_once("## What a team is told").unwrap();
    let is_column = |word: &&str| word.split_once('.').is_some_and(|(table, _)| known.contains(&format!("{table}.")));
    let mut named: Vec<&str> = told.split('`').filter(is_column).filter(|word| !word.contains(' ')).collect();
    named.sort_unstable();
    named.dedup();
    assert_eq!(named, columns);
}
