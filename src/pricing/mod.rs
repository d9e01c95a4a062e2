//! Prices and the arithmetic of cost.

pub mod model_names;
pub mod overrides;
pub mod price;
pub mod price_row;
pub mod show;
pub mod table;
pub mod usage;

use std::io::ErrorKind;
use std::path::PathBuf;

use crate::domain::billing::OwnPrices;
use crate::error::Error;
use crate::platform::environment::Environment;
use crate::platform::files;
use crate::pricing::price_row::Price;
use crate::pricing::table::Table;

/// The file of a person's own prices, in the client's configuration folder.
pub const FILE: &str = "fusebox.pricing.json";

/// The largest file of prices that is read, in bytes.
pub const LARGEST: u64 = 1 << 20;

const HINT: &str = "`fusebox pricing check` shows what to write instead; rows with a problem are left out meanwhile";

/// Returns where a person's own prices are read from.
pub fn path(env: &Environment) -> Option<PathBuf> {
    Some(env.claude_dir()?.join(FILE))
}

/// Loads the prices that the files say now: the embedded ones with a person's own over them. What is wrong in the file comes
/// back beside them, and only the rows it is about are left out.
pub fn load(env: &Environment, own: OwnPrices) -> (Table, Option<Error>) {
    let (text, unreadable) = text(env);
    let (table, wrong) = table(&text, own);
    let named = |error| match path(env) {
        Some(path) => Error::failed(format!("`{}`: {error}", path.display())).hint(HINT),
        None => error,
    };
    (table, unreadable.or_else(|| wrong.map(named)))
}

/// Reads the file of a person's own prices; empty where there is none, or it cannot be read.
pub fn text(env: &Environment) -> (String, Option<Error>) {
    let Some(path) = path(env) else { return Default::default() };
    match files::text(&path, LARGEST) {
        Ok(json) => (json, None),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Default::default(),
        Err(cause) => (String::new(), Some(Error::file("read", &path, cause))),
    }
}

/// Returns the embedded prices with those of a file's text over them, and what is wrong in it.
pub fn table(text: &str, own: OwnPrices) -> (Table, Option<Error>) {
    if text.is_empty() {
        return (Table::embedded(), None);
    }
    let found = overrides::read(text);
    let error = found.error();
    let rows = match own {
        OwnPrices::Replace => found.rows,
        OwnPrices::OnlyRaise => found.rows.into_iter().map(|(model, own)| raised_row(model, own)).collect(),
    };
    (Table::embedded().with_rows(rows), error)
}

fn raised_row(model: String, own: Price) -> (String, Price) {
    let price = table::raised(&model, own);
    (model, price)
}

/// Returns the models whose own price is below the list's in some part.
pub fn lowered(text: &str) -> Vec<String> {
    let rows = overrides::read(text).rows;
    rows.into_iter().filter(|(model, own)| table::raised(model, *own) != *own).map(|(model, _)| model).collect()
}
