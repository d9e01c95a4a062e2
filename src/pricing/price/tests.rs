//! What a response costs by its usage.

use crate::domain::spend::replay_price::ReplayPrice;
use crate::pricing::price::*;
use crate::pricing::table::EMBEDDED;

/// Tokens in the order of the table: input, output, 5-minute write, 1-hour write, cache read.
fn tokens([input, output, write_5m, write_1h, cache_read]: [u64; 5]) -> Tokens {
    Tokens { input, output, write_5m, write_1h, cache_read }
}

fn usage(counts: [u64; 5]) -> TokenUsage {
    let mut usage = TokenUsage::default();
    usage.set_tokens(tokens(counts));
    usage
}

fn part(kind: PartKind, model: &str, counts: [u64; 5]) -> Iteration {
    Iteration { kind, model: Some(model.to_owned()), tokens: tokens(counts) }
}

/// Prices a response of `model` in nano-dollars.
fn nano(model: &str, usage: &TokenUsage) -> u64 {
    let cost = price(&Table::embedded(), model, 0, usage, None).cost.0;
    assert_eq!(cost % 1_000, 0);
    cost / 1_000
}

#[test]
fn each_count_has_its_price() {
    for (model, counts, cost) in [
        ("claude-opus-5-5", [1, 0, 0, 0, 0], 4_000),
        ("claude-opus-5-5", [0, 1, 0, 0, 0], 20_000),
        ("claude-opus-5-5", [0, 0, 1, 0, 0], 5_000),
        ("claude-opus-5-5", [0, 0, 0, 1, 0], 8_000),
        ("claude-opus-5-5", [0, 0, 0, 0, 1], 200),
        ("claude-sonnet-5-5", [1, 1, 1, 1, 1], 18_600),
        ("claude-3-5-haiku-20241022", [1, 1, 1, 1, 1], 7_480),
        // five times all of it, from the first token above 100,000
        ("claude-haiku-5-5", [1, 1, 0, 0, 99_999], 1_000_590),
        ("claude-haiku-5-5", [1, 1, 0, 0, 100_000], 5_003_000),
        ("claude-haiku-5-5", [0, 1_000_000, 0, 0, 0], 500_000_000),
        // no other model has a long-prompt price
        ("claude-sonnet-4-5", [1_000_000, 0, 0, 0, 0], 3_000_000_000),
    ] {
        assert_eq!(nano(model, &usage(counts)), cost, "{model} {counts:?}");
    }
}

#[test]
fn surcharges_and_searches() {
    let one = || usage([1, 1, 0, 0, 0]);
    for (model, used, cost) in [
        ("claude-opus-5-5", TokenUsage { fast: true, ..one() }, 48_000),
        ("claude-opus-4-6", TokenUsage { fast: true, ..one() }, 180_000),
        // fast mode of a model that has none
        ("claude-sonnet-5-5", TokenUsage { fast: true, ..one() }, 12_000),
        ("claude-opus-5-5", TokenUsage { us: true, ..one() }, 26_400),
        ("claude-opus-5-5", TokenUsage { us: true, fast: true, ..one() }, 52_800),
        // a search is not dearer in the United States
        ("claude-opus-5-5", TokenUsage { us: true, web_searches: 3, ..one() }, 30_026_400),
        ("claude-never-heard-of-9", TokenUsage { web_searches: 1, ..TokenUsage::default() }, 10_000_000),
    ] {
        assert_eq!(nano(model, &used), cost, "{model} {used:?}");
    }
}

#[test]
fn a_model_without_a_price_is_never_free() {
    let one = TokenUsage { fast: true, ..usage([1, 1, 1, 1, 1]) };
    for (stand_in, cost) in [
        (None, 46_750),
        (Some("claude-opus-5-5"), 37_200),
        (Some("claude-haiku-4-5-20251001"), 9_350),
        (Some("claude-unknown-too"), 46_750),
    ] {
        let priced = price(&Table::embedded(), "claude-never-heard-of-9", 0, &one, stand_in);
        assert_eq!(priced, Priced { cost: Amount(cost * 1_000), known: false }, "{stand_in:?}");
    }
}

#[test]
fn passes_are_priced_by_themselves_where_it_matters() {
    use PartKind::{Advisor, Fallback, Message};
    let (haiku, sonnet, opus) = ("claude-haiku-5-5", "claude-sonnet-5-5", "claude-opus-5-5");
    for (model, counts, parts, cost) in [
        // two short prompts that add up to a long one
        (haiku, [120_000, 2, 0, 0, 0], vec![part(Message, haiku, [60_000, 1, 0, 0, 0]); 2], 12_001_000),
        // a list that does not add up is not believed
        (haiku, [120_000, 2, 0, 0, 0], vec![part(Message, haiku, [60_000, 1, 0, 0, 0])], 60_005_000),
        // an adviser comes on top, at its own price, hour writes too
        (sonnet, [1, 1, 0, 0, 0], vec![part(Advisor, opus, [1, 1, 0, 1, 0])], 44_000),
        (
            sonnet,
            [1, 1, 0, 0, 0],
            vec![part(Message, sonnet, [1, 1, 0, 0, 0]), part(Advisor, opus, [0, 1, 0, 0, 0])],
            32_000,
        ),
        // a fallback is inside the totals: each pass at the model that served it, hour writes as 5-minute ones
        (
            opus,
            [2, 2, 0, 0, 0],
            vec![part(Message, opus, [1, 1, 0, 0, 0]), part(Fallback, sonnet, [1, 1, 0, 0, 0])],
            36_000,
        ),
        (opus, [0, 0, 0, 1, 0], vec![part(Fallback, sonnet, [0, 0, 0, 1, 0])], 2_500),
        // what no pass accounts for is the asked model's
        (opus, [1, 2, 0, 0, 0], vec![part(Fallback, sonnet, [0, 1, 0, 0, 0])], 34_000),
    ] {
        let used = TokenUsage { parts, ..usage(counts) };
        assert_eq!(nano(model, &used), cost, "{model} {used:?}");
    }
    let advised =
        TokenUsage { parts: vec![part(Advisor, "claude-never-heard-of-9", [0, 1, 0, 0, 0])], ..usage([0; 5]) };
    assert!(!price(&Table::embedded(), sonnet, 0, &advised, None).known);
    let plain = usage([1; 5]);
    let unknown = [(sonnet, &advised), ("new-one", &advised), (sonnet, &plain)]
        .map(|(model, used)| without_price(&Table::embedded(), model, 0, used));
    assert_eq!(unknown, [Some("claude-never-heard-of-9"), Some("new-one"), None]);
}

#[test]
fn absurd_counts_saturate() {
    let absurd = TokenUsage { us: true, web_searches: u64::MAX, ..usage([u64::MAX; 5]) };
    assert_eq!(price(&Table::embedded(), "claude-opus-5-5", 0, &absurd, None).cost, Amount(u64::MAX));
}

#[test]
fn a_row_holds_from_its_day_on() {
    let json = r#"{"rows":[{"model":"claude-opus-5-5","from":"2027-01-01","input":1,"output":1,"write_5m":1,
        "write_1h":1,"cache_read":1}]}"#;
    let table = Table::embedded().with_rows(crate::pricing::overrides::read(json).rows);
    let new_year = 1_798_761_600_000;
    for (at_ms, replay) in [(new_year - 1, (200_000, 20_000_000)), (new_year, (1_000_000, 1_000_000))] {
        assert_eq!(replay_price(&table, "claude-opus-5-5", at_ms, None), replay.into());
    }
}

#[test]
fn what_is_written_to_the_cache_is_a_fixed_part_of_the_price_of_output() {
    for (id, price) in EMBEDDED {
        for rates in [Some(price.standard), price.fast].into_iter().flatten() {
            let replay = ReplayPrice { cache_read: rates.cache_read, output: rates.output };
            assert_eq!([false, true].map(|it| replay.cache_write(it)), [rates.write_5m, rates.write_1h], "{id}");
        }
    }
}
