//! A person's own prices: the rows of `fusebox.pricing.json`, in the form in which `pricing show --json` writes them.

use std::fmt;

use serde_json::{Map, Value};

use crate::calendar::{Day, Zone};
use crate::domain::text::json_fault;
use crate::error::Error;
use crate::pricing::price_row::{LongPrompt, OWN, Price, Rates, US_PERCENT, WEB_SEARCH};

/// The fields of the file.
const FILE_FIELDS: [&str; 4] = ["$schema", "version", "unit", "rows"];

/// The five prices that every row has, and every `fast` and `long_prompt`.
pub const RATES: [&str; 5] = ["input", "output", "write_5m", "write_1h", "cache_read"];

/// The fields of a row beside [`RATES`].
const ROW_FIELDS: [&str; 7] = ["model", "from", "fast", "long_prompt", "web_search", "us_multiplier", "source"];

/// The largest price: USD per million tokens. A larger one is a slip of the unit.
const MOST: f64 = 100_000.0;

/// What is wrong with one field, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem(String);

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a pricing file says: the rows that are right, and what is wrong with the others.
#[derive(Debug, Default)]
pub struct Overrides {
    /// Models and their prices.
    pub rows: Vec<(String, Price)>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

impl Overrides {
    /// Returns what is wrong as one error: the first problem, and how many more there are.
    pub fn error(&self) -> Option<Error> {
        let [first, more @ ..] = &self.problems[..] else { return None };
        let more = if more.is_empty() { String::new() } else { format!("; and {} more", more.len()) };
        Some(Error::failed(format!("{first}{more}")).hint("`fusebox pricing check` shows every row and field"))
    }
}

/// Reads a pricing file. A row with something wrong in it is left out as a whole.
pub fn read(json: &str) -> Overrides {
    let mut found = Overrides::default();
    let file = match serde_json::from_str::<Value>(json) {
        Ok(file) => file,
        Err(cause) => {
            found.problems.push(Problem(format!("the file is no JSON: {}", json_fault::words(&cause))));
            return found;
        }
    };
    let Some((file, rows)) = file.as_object().and_then(|file| Some((file, file.get("rows")?.as_array()?))) else {
        found.problems.push(Problem("the file has no list `rows`: write {\"rows\": [{\"model\": …}]}".to_owned()));
        return found;
    };
    check_names(&RowPlace::file(), file, &FILE_FIELDS, &mut found.problems);
    for (index, row) in rows.iter().enumerate() {
        let before = found.problems.len();
        let row = read_row(index + 1, row, &mut found.problems);
        if found.problems.len() == before {
            found.rows.extend(row);
        }
    }
    found
}

fn read_row(number: usize, row: &Value, problems: &mut Vec<Problem>) -> Option<(String, Price)> {
    let mut place = RowPlace { row: format!("row {number}"), prefix: String::new() };
    let Some(row) = row.as_object() else {
        problems.push(Problem(format!("{}: is no object: write {{\"model\": …}}", place.row)));
        return None;
    };
    let Some(model) = row.get("model").and_then(Value::as_str).filter(|model| !model.trim().is_empty()) else {
        problems.push(place.problem("model", "must be a model's id, such as \"claude-opus-5-5\""));
        return None;
    };
    place.row = format!("row {number} (`{model}`)");
    check_names(&place, row, &[&RATES[..], &ROW_FIELDS[..]].concat(), problems);
    let price = Price {
        from: read_from(&place, row, problems),
        standard: read_rates(&place, row, problems),
        fast: read_nested(&place, row, "fast", problems).map(|(place, fields)| {
            check_names(&place, fields, &RATES, problems);
            read_rates(&place, fields, problems)
        }),
        long_prompt: read_nested(&place, row, "long_prompt", problems).map(|(place, fields)| {
            check_names(&place, fields, &[&RATES[..], &["over"]].concat(), problems);
            LongPrompt { over: read_over(&place, fields, problems), rates: read_rates(&place, fields, problems) }
        }),
        web_search: read_scaled(&place, row, &WEB_SEARCH_FIELD, problems),
        us_percent: read_scaled(&place, row, &US_MULTIPLIER_FIELD, problems),
        source: OWN,
    };
    Some((model.trim().to_owned(), price))
}

/// Where in the file a field stands, for sentences about it.
struct RowPlace {
    row: String,
    prefix: String,
}

impl RowPlace {
    fn file() -> RowPlace {
        RowPlace { row: "the file".to_owned(), prefix: String::new() }
    }

    fn problem(&self, field: &str, what: &str) -> Problem {
        Problem(format!("{}: `{}{field}` {what}", self.row, self.prefix))
    }
}

fn check_names(place: &RowPlace, fields: &Map<String, Value>, known: &[&str], problems: &mut Vec<Problem>) {
    for name in fields.keys().filter(|name| !known.contains(&name.as_str())) {
        problems.push(place.problem(name, &format!("is no field: there are {}", known.join(", "))));
    }
}

fn read_nested<'a>(
    place: &RowPlace,
    row: &'a Map<String, Value>,
    field: &str,
    problems: &mut Vec<Problem>,
) -> Option<(RowPlace, &'a Map<String, Value>)> {
    let value = row.get(field).filter(|value| !value.is_null())?;
    match value.as_object() {
        Some(fields) => Some((RowPlace { row: place.row.clone(), prefix: format!("{field}.") }, fields)),
        None => {
            problems.push(place.problem(field, "must be an object of prices, or left out"));
            None
        }
    }
}

fn read_rates(place: &RowPlace, fields: &Map<String, Value>, problems: &mut Vec<Problem>) -> Rates {
    let [input, output, write_5m, write_1h, cache_read] =
        RATES.map(|name| read_scaled(place, fields, &Field { name, ..RATE_FIELD }, problems));
    Rates { input, output, write_5m, write_1h, cache_read }
}

fn read_over(place: &RowPlace, fields: &Map<String, Value>, problems: &mut Vec<Problem>) -> u64 {
    fields.get("over").and_then(Value::as_u64).unwrap_or_else(|| {
        problems.push(place.problem("over", "must be a number of prompt tokens, such as 200000"));
        0
    })
}

fn read_from(place: &RowPlace, row: &Map<String, Value>, problems: &mut Vec<Problem>) -> Option<i64> {
    let value = row.get("from").filter(|value| !value.is_null())?;
    let date = value.as_str().and_then(Day::parse);
    if date.is_none() {
        problems.push(place.problem("from", "must be a day, such as \"2027-01-31\", or left out"));
    }
    Some(Zone::utc().begin_ms(date?))
}

/// Writes the day that a row is in force from, as the file has it.
pub fn day(from_ms: i64) -> String {
    Zone::utc().day(from_ms).to_string()
}

/// A field with a number.
struct Field {
    name: &'static str,
    /// What the number is multiplied by to be kept.
    scale: f64,
    range: (f64, f64),
    /// What is kept where the field is left out; `None` where it must not be.
    default: Option<u64>,
    expected: &'static str,
}

const RATE_FIELD: Field = Field {
    name: "",
    scale: 1e6,
    range: (0.0, MOST),
    default: None,
    expected: "must be a price in USD per million tokens, from 0 to 100000, no finer than 0.000001",
};

const WEB_SEARCH_FIELD: Field = Field {
    name: "web_search",
    scale: 1e12,
    range: (0.0, 1_000.0),
    default: Some(WEB_SEARCH),
    expected: "must be a price in USD per search, from 0 to 1000",
};

const US_MULTIPLIER_FIELD: Field = Field {
    name: "us_multiplier",
    scale: 100.0,
    range: (1.0, 10.0),
    default: Some(US_PERCENT),
    expected: "must be a factor from 1 to 10, no finer than 0.01",
};

fn read_scaled(place: &RowPlace, fields: &Map<String, Value>, field: &Field, problems: &mut Vec<Problem>) -> u64 {
    let number = match (fields.get(field.name), field.default) {
        (None | Some(Value::Null), Some(default)) => return default,
        (None | Some(Value::Null), None) => {
            problems.push(place.problem(field.name, &format!("is missing: it {}", field.expected)));
            return 0;
        }
        (Some(value), _) => value.as_f64().unwrap_or(f64::NAN),
    };
    let scaled = (number * field.scale).round();
    let fine = (number * field.scale - scaled).abs() > 1e-6 * scaled.max(1.0);
    if !(field.range.0..=field.range.1).contains(&number) || fine {
        problems.push(place.problem(field.name, field.expected));
    }
    scaled as u64
}

#[cfg(test)]
mod tests;
