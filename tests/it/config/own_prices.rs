//! Whose caps on cost hold decides whether a person's own prices may be lower than the list's.

use fusebox::domain::billing::OwnPrices;

use crate::config::{LOCAL, MANAGED, PROJECT, USER, policy};

#[test]
fn own_prices_only_raise_where_a_cap_on_cost_is_somebody_elses() {
    let raise = [
        (MANAGED, r#"{"agents": {"developer": {"max_cost_usd": 5}}}"#),
        (MANAGED, r#"{"ceilings": {"max_cost_usd": 5}}"#),
        (PROJECT, r#"{"binding": true, "session": {"max_cost_usd": 5}}"#),
        (PROJECT, r#"{"binding": ["session.max_cost_usd"], "session": {"max_cost_usd": 5}}"#),
        (PROJECT, r#"{"binding": ["max_cost_*"], "session": {"max_cost_usd": 5}}"#),
        (PROJECT, r#"{"binding": ["agents.*"], "agents": {"*": {"max_turns": 5}}}"#),
        (USER, r#"{"team": {"name": "core"}}"#),
    ];
    let replace = [
        (MANAGED, r#"{"agents": {"developer": {"max_turns": 5}}}"#),
        (USER, r#"{"session": {"max_cost_usd": 5}}"#),
        (LOCAL, r#"{"session": {"max_cost_usd": 5}}"#),
        (PROJECT, r#"{"session": {"max_cost_usd": 5}}"#),
        (PROJECT, r#"{"binding": ["max_turns"], "main": {"max_turns": 5}}"#),
    ];
    for (files, own) in [(&raise[..], OwnPrices::OnlyRaise), (&replace[..], OwnPrices::Replace)] {
        for file in files {
            assert_eq!(policy(&[*file]).0.own_prices(), own, "{file:?}");
        }
    }
}
