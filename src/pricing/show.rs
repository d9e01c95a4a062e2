//! The price table: cells for people's tables, JSON for programs.

use serde::Serialize;

use crate::pricing::overrides::day;
use crate::pricing::price_row::{Price, Rates};

/// Returns the lines of rows: model, first day, prices of input, output, 5-minute and 1-hour cache writes and cache reads, source.
pub fn cells(rows: &[(&str, &Price)]) -> Vec<[String; 8]> {
    rows.iter().flat_map(|(model, price)| lines_of(model, price)).collect()
}

/// Writes rows as JSON, in the form that a pricing file has.
pub fn json(rows: &[(&str, &Price)]) -> String {
    let rows = rows.iter().map(|(model, price)| JsonRow::of(model, price)).collect();
    let file = JsonFile { version: 1, unit: "USD per million tokens", rows };
    serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
}

/// Returns the lines of one row: the ordinary price, then those of fast mode and of long prompts.
fn lines_of(model: &str, price: &Price) -> Vec<[String; 8]> {
    let from = price.from.map_or("always".to_owned(), day);
    let mut lines = vec![line([model, &from, price.source], &price.standard)];
    lines.extend(price.fast.map(|rates| line(["  fast mode", "", ""], &rates)));
    lines.extend(
        price.long_prompt.map(|long| line([&format!("  prompts > {}", thousands(long.over)), "", ""], &long.rates)),
    );
    lines
}

fn line([name, from, source]: [&str; 3], rates: &Rates) -> [String; 8] {
    let Rates { input, output, write_5m, write_1h, cache_read } = *rates;
    let [input, output, write_5m, write_1h, cache_read] = [input, output, write_5m, write_1h, cache_read].map(usd);
    [name.to_owned(), from.to_owned(), input, output, write_5m, write_1h, cache_read, source.to_owned()]
}

fn thousands(tokens: u64) -> String {
    if tokens.is_multiple_of(1_000) { format!("{}k", tokens / 1_000) } else { tokens.to_string() }
}

/// Writes pico-dollars per token as USD per million tokens.
fn usd(pico: u64) -> String {
    let text = format!("{}.{:06}", pico / 1_000_000, pico % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[derive(Serialize)]
struct JsonFile<'a> {
    version: u32,
    unit: &'static str,
    rows: Vec<JsonRow<'a>>,
}

#[derive(Serialize)]
struct JsonRow<'a> {
    model: &'a str,
    from: Option<String>,
    #[serde(flatten)]
    standard: JsonRates,
    #[serde(skip_serializing_if = "Option::is_none")]
    fast: Option<JsonRates>,
    #[serde(skip_serializing_if = "Option::is_none")]
    long_prompt: Option<JsonLongPrompt>,
    web_search: f64,
    us_multiplier: f64,
    source: &'a str,
}

#[derive(Serialize)]
struct JsonRates {
    input: f64,
    output: f64,
    write_5m: f64,
    write_1h: f64,
    cache_read: f64,
}

#[derive(Serialize)]
struct JsonLongPrompt {
    over: u64,
    #[serde(flatten)]
    rates: JsonRates,
}

impl<'a> JsonRow<'a> {
    fn of(model: &'a str, price: &Price) -> JsonRow<'a> {
        JsonRow {
            model,
            from: price.from.map(day),
            standard: JsonRates::of(&price.standard),
            fast: price.fast.as_ref().map(JsonRates::of),
            long_prompt: price
                .long_prompt
                .map(|long| JsonLongPrompt { over: long.over, rates: JsonRates::of(&long.rates) }),
            web_search: price.web_search as f64 / 1e12,
            us_multiplier: price.us_percent as f64 / 100.0,
            source: price.source,
        }
    }
}

impl JsonRates {
    fn of(rates: &Rates) -> JsonRates {
        let usd = |pico: u64| pico as f64 / 1e6;
        JsonRates {
            input: usd(rates.input),
            output: usd(rates.output),
            write_5m: usd(rates.write_5m),
            write_1h: usd(rates.write_1h),
            cache_read: usd(rates.cache_read),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::overrides;
    use crate::pricing::price_row::OWN;
    use crate::pricing::table::{EMBEDDED, Table};

    #[test]
    fn the_json_is_a_pricing_file_that_changes_nothing() {
        let embedded = Table::embedded();
        let read = overrides::read(&json(&embedded.in_force()));
        assert_eq!(read.error().map(|error| error.to_string()), None);
        let again = Table::embedded().with_rows(read.rows);
        for (model, price) in embedded.in_force() {
            let same = Price { source: OWN, ..*price };
            assert_eq!(again.find(model, 0), Some(&same), "{model}");
        }
        assert_eq!(again.in_force().len(), EMBEDDED.len());
    }

    #[test]
    fn prices_are_written_without_needless_digits() {
        for (pico, written) in [
            (0, "0"),
            (1, "0.000001"),
            (125_000, "0.125"),
            (4_000_000, "4"),
            (18_750_000, "18.75"),
            (150_000_000, "150"),
        ] {
            assert_eq!(usd(pico), written);
        }
    }
}
