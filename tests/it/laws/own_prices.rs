//! Prices that only raise: whatever a person's own file says, no response costs less than by the list.

use fusebox::domain::billing::OwnPrices;
use fusebox::pricing;
use fusebox::pricing::overrides::RATES;
use fusebox::pricing::price::price;
use fusebox::pricing::table::Table;
use fusebox::pricing::usage::TokenUsage;
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::{array, option};
use serde_json::{Map, Value, json};

use crate::laws::try_all;

/// Models with a price for fast mode, with one for long prompts, with neither, and one that the list does not have.
const MODELS: [&str; 4] = ["claude-opus-5-5", "claude-haiku-5-5", "claude-sonnet-5-5", "our-proxy/large"];

fn rates(prices: [u32; 5]) -> Map<String, Value> {
    RATES.into_iter().zip(prices).map(|(name, price)| (name.to_owned(), json!(price))).collect()
}

/// Five prices around those of the list: 0 to 60 USD per million tokens.
fn five() -> impl Strategy<Value = [u32; 5]> {
    array::uniform5(prop_oneof![Just(0_u32), 0_u32..60])
}

/// A row of a pricing file.
fn row() -> impl Strategy<Value = Value> {
    let long = option::of((prop_oneof![Just(0_u32), 1_u32..300_000], five()));
    let from = option::of(prop_oneof![Just("2020-01-01"), Just("2026-06-01"), Just("2030-01-01")]);
    (0..MODELS.len(), five(), option::of(five()), long, from, (0_u32..3, 100_u32..200)).prop_map(
        |(model, standard, fast, long, from, (search, percent))| {
            let mut row = rates(standard);
            row.insert("model".to_owned(), json!(MODELS[model]));
            row.insert("from".to_owned(), json!(from));
            row.insert("fast".to_owned(), json!(fast.map(rates)));
            let long = long.map(|(over, five)| {
                let mut long = rates(five);
                long.insert("over".to_owned(), json!(over));
                long
            });
            row.insert("long_prompt".to_owned(), json!(long));
            row.insert("web_search".to_owned(), json!(f64::from(search) / 100.0));
            row.insert("us_multiplier".to_owned(), json!(f64::from(percent) / 100.0));
            Value::Object(row)
        },
    )
}

fn used() -> impl Strategy<Value = TokenUsage> {
    (array::uniform5(prop_oneof![0_u64..50, 90_000_u64..250_000]), any::<bool>(), any::<bool>(), 0_u64..3).prop_map(
        |([input, output, write_5m, write_1h, cache_read], fast, us, web_searches)| TokenUsage {
            input,
            output,
            write_5m,
            write_1h,
            cache_read,
            fast,
            us,
            web_searches,
            ..TokenUsage::default()
        },
    )
}

#[test]
fn prices_that_only_raise_make_nothing_cheaper() {
    let cases = (vec(row(), 1..4), 0..MODELS.len(), used(), 1_700_000_000_000_i64..1_900_000_000_000);
    try_all("own prices", 4000, &cases, |(rows, model, used, at_ms)| {
        let (table, wrong) = pricing::table(&json!({"rows": rows}).to_string(), OwnPrices::OnlyRaise);
        assert_eq!(wrong.map(|wrong| wrong.to_string()), None);
        let [own, listed] =
            [&table, &Table::embedded()].map(|table| price(table, MODELS[model], at_ms, &used, None).cost);
        if own < listed { Err(format!("{own} where the list has {listed}")) } else { Ok(()) }
    });
}
