//! The price table: what each model costs, from when on, and who says so.
//!
//! The embedded rows are constants, so that a hook pays nothing for them; a person's own rows are laid over them.

use std::collections::BTreeMap;

use crate::pricing::price_row::{LongPrompt, Price, Rates, US_PERCENT, WEB_SEARCH};

/// Where every embedded row is from: the table of a client, by its version and the day it was read. A scenario of `tests/client`
/// compares each row with what the client that it drives bills.
pub const SOURCE: &str = "2.1.328, 2026-11-20";

/// Prices a model that nobody knows, where the session has no known model either: the client's own last resort.
pub const LAST_RESORT: Price = row([5_000, 25_000, 6_250, 10_000, 500]);

/// The embedded rows, oldest family first: input, output, 5-minute write, 1-hour write, cache read, in nano-dollars per
/// token (USD per thousand million). All of them are the client's own.
#[rustfmt::skip]
pub const EMBEDDED: [(&str, Price); 24] = [
    ("claude-3-5-haiku",  row([800, 4_000, 1_000, 1_600, 80])),
    ("claude-haiku-4-5",  row([1_000, 5_000, 1_250, 2_000, 100])),
    ("claude-haiku-5-5",  row([100, 500, 125, 200, 10]).over_100k([500, 2_500, 625, 1_000, 50])),
    ("claude-3-5-sonnet", row([3_000, 15_000, 3_750, 6_000, 300])),
    ("claude-3-7-sonnet", row([3_000, 15_000, 3_750, 6_000, 300])),
    ("claude-sonnet-4-0", row([3_000, 15_000, 3_750, 6_000, 300])),
    ("claude-sonnet-4-5", row([3_000, 15_000, 3_750, 6_000, 300])),
    ("claude-sonnet-4-6", row([3_000, 15_000, 3_750, 6_000, 300])),
    ("claude-sonnet-5",   row([2_000, 10_000, 2_500, 4_000, 200])),
    ("claude-sonnet-5-5", row([2_000, 10_000, 2_500, 4_000, 100])),
    ("claude-opus-4-0",   row([15_000, 75_000, 18_750, 30_000, 1_500])),
    ("claude-opus-4-1",   row([15_000, 75_000, 18_750, 30_000, 1_500])),
    ("claude-opus-4-5",   row([5_000, 25_000, 6_250, 10_000, 500])),
    ("claude-opus-4-6",   row([5_000, 25_000, 6_250, 10_000, 500]).fast([30_000, 150_000, 37_500, 60_000, 3_000])),
    ("claude-opus-4-7",   row([5_000, 25_000, 6_250, 10_000, 500]).fast([30_000, 150_000, 37_500, 60_000, 3_000])),
    ("claude-opus-4-8",   row([5_000, 25_000, 6_250, 10_000, 500]).fast([10_000, 50_000, 12_500, 20_000, 1_000])),
    ("claude-opus-5",     row([5_000, 25_000, 6_250, 10_000, 500]).fast([10_000, 50_000, 12_500, 20_000, 1_000])),
    ("claude-opus-5-5",   row([4_000, 20_000, 5_000, 8_000, 200]).fast([8_000, 40_000, 10_000, 16_000, 400])),
    ("claude-fable-5",    row([10_000, 50_000, 12_500, 20_000, 1_000])),
    ("claude-fable-5-1",  row([10_000, 50_000, 12_500, 20_000, 250])),
    ("claude-fable-5-2",  row([8_000, 40_000, 10_000, 16_000, 200]).fast([16_000, 80_000, 20_000, 32_000, 400])),
    ("claude-mythos-5",   row([10_000, 50_000, 12_500, 20_000, 1_000])),
    ("claude-mythos-5-1", row([10_000, 50_000, 12_500, 20_000, 250])),
    ("claude-mythos-5-2", row([8_000, 40_000, 10_000, 16_000, 200]).fast([16_000, 80_000, 20_000, 32_000, 400])),
];

/// What clouds and the client put before a model's id.
const PREFIXES: [&str; 5] = ["us.", "eu.", "apac.", "global.", "anthropic."];

/// Ids that become ambiguous once their date is gone.
const ALIASES: [(&str, &str); 2] = [("claude-opus-4", "claude-opus-4-0"), ("claude-sonnet-4", "claude-sonnet-4-0")];

const fn row(nano: [u64; 5]) -> Price {
    Price {
        from: None,
        standard: rates(nano),
        fast: None,
        long_prompt: None,
        web_search: WEB_SEARCH,
        us_percent: US_PERCENT,
        source: SOURCE,
    }
}

const fn rates(nano: [u64; 5]) -> Rates {
    let [input, output, write_5m, write_1h, cache_read] = nano;
    Rates {
        input: input * 1_000,
        output: output * 1_000,
        write_5m: write_5m * 1_000,
        write_1h: write_1h * 1_000,
        cache_read: cache_read * 1_000,
    }
}

impl Price {
    const fn fast(self, nano: [u64; 5]) -> Price {
        Price { fast: Some(rates(nano)), ..self }
    }

    const fn over_100k(self, nano: [u64; 5]) -> Price {
        Price { long_prompt: Some(LongPrompt { over: 100_000, rates: rates(nano) }), ..self }
    }
}

/// Returns a person's own price of a model, raised to the embedded one where it is lower; a model that the embedded rows do not
/// have is raised to what an unknown one costs.
pub fn raised(model: &str, own: Price) -> Price {
    let id = canonical(model);
    let listed = EMBEDDED.iter().find(|(name, _)| *name == id).map_or(&LAST_RESORT, |(_, price)| price);
    own.at_least(listed)
}

/// The prices in force.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// By canonical id, as the embedded rows are.
    own: Vec<(String, Price)>,
    /// Where the rows of each id stand among them.
    places: BTreeMap<String, Vec<usize>>,
}

impl Table {
    /// Returns the embedded prices.
    pub fn embedded() -> Table {
        Table::default()
    }

    /// Lays rows over these prices.
    pub fn with_rows(mut self, rows: Vec<(String, Price)>) -> Table {
        for (model, price) in rows {
            let id = canonical(&model).to_owned();
            self.places.entry(id.clone()).or_default().push(self.own.len());
            self.own.push((id, price));
        }
        self
    }

    /// Returns the rows that can apply: all but those for which a later one has the same model and date.
    pub fn in_force(&self) -> Vec<(&str, &Price)> {
        let rows: Vec<(&str, &Price)> = self.rows().collect();
        let replaced = |index: usize, (model, price): &(&str, &Price)| {
            rows[index + 1..].iter().any(|(other, later)| other == model && later.from == price.from)
        };
        let kept = rows.iter().enumerate().filter(|(index, row)| !replaced(*index, row));
        kept.map(|(_, row)| *row).collect()
    }

    /// Returns all rows: the embedded ones, then a person's own.
    fn rows(&self) -> impl Iterator<Item = (&str, &Price)> {
        let own = self.own.iter().map(|(model, price)| (model.as_str(), price));
        EMBEDDED.iter().map(|(model, price)| (*model, price)).chain(own)
    }

    /// Finds what `model` cost at a moment: its latest row by then, else its first.
    pub fn find(&self, model: &str, at_ms: i64) -> Option<&Price> {
        let id = canonical(model);
        let embedded = EMBEDDED.iter().filter(|(name, _)| *name == id).map(|(_, price)| price);
        let own = self.places.get(id).into_iter().flatten().map(|place| &self.own[*place].1);
        embedded.chain(own).reduce(|best, row| if row.beats(best, at_ms) { row } else { best })
    }
}

impl Price {
    /// Whether this row, which comes later in the table, is the one for `at_ms` rather than `other`.
    fn beats(&self, other: &Price, at_ms: i64) -> bool {
        match (self.from.unwrap_or(i64::MIN), other.from.unwrap_or(i64::MIN)) {
            (mine, theirs) if mine <= at_ms && theirs <= at_ms => mine >= theirs,
            (mine, theirs) if mine > at_ms && theirs > at_ms => mine < theirs,
            (mine, _) => mine <= at_ms,
        }
    }
}

/// Returns a model's id as the table has it: without `[1m]`, cloud prefixes, versions and dates.
pub fn canonical(model: &str) -> &str {
    let mut id = model.split_once('[').map_or(model, |(id, _)| id);
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| id.strip_prefix(prefix)) {
        id = rest;
    }
    id = id.split_once('@').map_or(id, |(id, _)| id);
    id = cut_suffix(id, |tail| tail.strip_prefix('v').is_some_and(is_version));
    id = cut_suffix(id, |tail| tail.len() == 8 && is_digits(tail));
    ALIASES.iter().find(|(alias, _)| *alias == id).map_or(id, |(_, id)| id)
}

/// Cuts what stands after the last hyphen where it is `unwanted`.
fn cut_suffix(id: &str, unwanted: impl Fn(&str) -> bool) -> &str {
    match id.rsplit_once('-') {
        Some((rest, tail)) if unwanted(tail) => rest,
        _ => id,
    }
}

/// Whether this is the number of a version: `1` or `1:0`.
fn is_version(tail: &str) -> bool {
    let (major, minor) = tail.split_once(':').unwrap_or((tail, "0"));
    is_digits(major) && is_digits(minor)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_in_many_forms() {
        for (written, id) in [
            ("claude-opus-5-5", "claude-opus-5-5"),
            ("claude-opus-5-5[1m]", "claude-opus-5-5"),
            ("claude-sonnet-4-5-20250929[2m]", "claude-sonnet-4-5"),
            ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
            ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
            ("us.anthropic.claude-opus-4-1-20250805-v1:0", "claude-opus-4-1"),
            ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
            ("anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet"),
            ("claude-opus-4-20250514", "claude-opus-4-0"),
            ("claude-sonnet-4@20250514", "claude-sonnet-4-0"),
            // nothing to cut
            ("claude-never-heard-of-9", "claude-never-heard-of-9"),
            ("gpt-v", "gpt-v"),
            ("", ""),
        ] {
            assert_eq!(canonical(written), id, "{written}");
        }
    }

    #[test]
    fn the_latest_row_by_then_holds_and_the_first_before() {
        let dated = |from: Option<i64>, input| Price { from, ..row([input, 0, 0, 0, 0]) };
        let own = |rows: &[(Option<i64>, u64)]| {
            let rows = rows.iter().map(|(from, input)| ("m".to_owned(), dated(*from, *input)));
            Table::embedded().with_rows(rows.collect())
        };
        for (rows, at_ms, input) in [
            (&[(Some(100), 1)][..], 0, 1),
            (&[(Some(100), 1), (Some(200), 2)], 150, 1),
            (&[(Some(100), 1), (Some(200), 2)], 200, 2),
            (&[(Some(200), 2), (Some(100), 1)], 50, 1),
            (&[(Some(200), 2), (Some(100), 1)], 250, 2),
            // of two rows for one moment the later in the file holds
            (&[(None, 1), (None, 2)], 0, 2),
            (&[(None, 1), (Some(100), 2)], 99, 1),
        ] {
            let table = own(rows);
            assert_eq!(
                table.find("m", at_ms).map(|price| price.standard.input),
                Some(input * 1_000),
                "{rows:?} {at_ms}"
            );
        }
    }

    #[test]
    fn embedded_rows_are_found_by_their_own_ids_and_only_once() {
        let table = Table::embedded();
        for (model, price) in &EMBEDDED {
            assert_eq!(canonical(model), *model);
            assert_eq!(table.find(model, 0), Some(price));
            assert_eq!(table.rows().filter(|(name, _)| name == model).count(), 1, "{model}");
        }
        assert_eq!(table.find("claude-never-heard-of-9", 0), None);
    }
}
