//! Which amounts a person may grant.

use crate::cmd::grant::*;
use crate::cmd::grant_args::parse;

#[test]
fn an_amount_reads_in_the_units_of_configuration() {
    let minute = 60_000;
    for (text, key, to) in [
        ("max_turns=+10", "max_turns", To::Added(10)),
        ("max_tool_calls=60", "max_turns", To::Cap(60)),
        ("max_cost_usd=+0.5", "max_cost_usd", To::Added(500_000_000_000)),
        ("max_duration_ms=+1500", "max_duration_ms", To::Added(1500)),
        ("max_duration_ms=+10m", "max_duration_ms", To::Added(10 * minute)),
        ("max_wall_ms=1.5h", "max_wall_ms", To::Cap(90 * minute)),
        ("timeout=+90", "max_wall_ms", To::Added(90_000)),
        ("timeout=+90ms", "max_wall_ms", To::Added(90)),
        ("max_tokens=+3M", "max_tokens", To::Added(3_000_000)),
        ("max_tokens=1.1M", "max_tokens", To::Cap(1_100_000)),
        ("max_tokens=+250k", "max_tokens", To::Added(250_000)),
        ("models.*opus-5.5*.max_turns=+1", "models.*opus-5.5*.max_turns", To::Added(1)),
    ] {
        let more = parse(text).unwrap();
        assert_eq!((more.rule.as_str(), more.to), (key, to), "{text}");
    }
}

#[test]
fn what_is_no_amount_is_named() {
    for (text, error) in [
        ("max_turns", "`max_turns` has no `=`: write it like max_turns=+10"),
        ("max_turn=+1", "no limit is called `max_turn`; the nearest is `max_turns`"),
        ("wings=+1", "no limit is called `wings`"),
        ("max_turns=+1.5", "`+1.5` is no amount of tool calls: write it like +10"),
        ("max_turns=+0", "`+0` is no amount of tool calls: write it like +10"),
        (
            "max_turns=-3",
            "`max_turns=-3` would lower it: a grant only raises, and configuration files set lower limits",
        ),
        ("max_turns=++3", "`++3` is no amount of tool calls: write it like +10"),
        ("max_turns=", "`max_turns=` lacks a part: write limit and amount without spaces, like max_turns=+10"),
        ("max_cost_usd=+nan", "`+nan` is no amount of US dollars: write it like +5"),
        ("max_turns=+3M", "`+3M` is no amount of tool calls: write it like +10"),
        ("max_tokens=+3X", "`+3X` is no amount of tokens: write it like +200k"),
        ("max_turns=+5m", "`+5m` is no amount of tool calls: write it like +10"),
    ] {
        assert_eq!(parse(text).unwrap_err(), error, "{text}");
    }
}
