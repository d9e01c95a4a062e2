//! The configuration key `team`: the team whose caps bind the sessions of this machine.

use serde_json::Value;

use crate::config::key::{Apply, Key, Loosens, Setter, Takes};
use crate::config::resolved::Resolved;
use crate::config::setting::Setting;
use crate::config::setting_value::SettingValue;
use crate::config::value_type::{Field, ValueType, millis};
use crate::domain::layer::Layer;
use crate::domain::limit::{Limit, Span};
use crate::domain::spend::amount::Amount;
use crate::domain::team::{MAX_STALENESS_MS, OnStale, SYNC_INTERVAL_MS, TeamTerms};
use crate::domain::time_units::DAY_MS;

/// The longest time in milliseconds: a day.
const LONGEST_MS: u64 = DAY_MS.cast_unsigned();

/// The value type of a person's own ceiling beside the team's cap.
const CEILING: ValueType = ValueType::Either(&[ValueType::Number(0.000_001, 1_000_000.0), ValueType::Null]);

const TEAM: ValueType = ValueType::Either(&[
    ValueType::Filled,
    ValueType::Object(&[
        Field::needed("name", ValueType::Filled),
        Field::optional("on_stale", ValueType::Word(&["allow", "warn", "deny"])),
        Field::optional("max_staleness_ms", ValueType::Millis(0, LONGEST_MS)),
        Field::optional("sync_interval_ms", ValueType::Millis(2_000, LONGEST_MS)),
    ]),
    ValueType::Null,
]);

/// The keys of the team.
pub const KEYS: &[Key] = &[
    Key {
        name: "team",
        setter: Setter::Owner,
        takes: Takes::One(TEAM),
        apply: Apply::Value(apply),
        doc: "The team whose caps bind the sessions of this machine: its name, or an object with `name` and what holds where its store is \
          not heard: [teams.md](teams.md). `on_stale` says what happens once a lease is over: `allow` goes on without the cap, `warn` \
          spends what is left of the lease for `max_staleness_ms` (15 minutes unless said) and refuses then, `deny` refuses at once; \
          `warn` unless said. A machine at rest has given its lease back: a session that starts there while the store is away is refused \
          by `warn`, too. A hook begins a sync at most once in `sync_interval_ms` (30 seconds unless said), sooner where little is \
          left. `fusebox team join` writes it. Only the user's and the managed file can set it.",
        example: r#"{ "name": "core", "on_stale": "deny", "sync_interval_ms": "30s" }"#,
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "team_budget_usd",
        setter: Setter::Owner,
        takes: Takes::One(CEILING),
        read: |value| Some(SettingValue::Cap(value.as_f64().map(|usd| Amount::from_usd(usd).0))),
        apply: Apply::Value(|to, said, _| to.team_ceiling = said.value.as_cap().flatten().map(Amount)),
        write: |value, _| value.written(Limit::on_cost_of(Span::Month)),
        doc: "A ceiling of your own below the cap of your team, in US dollars: sessions of this machine stop where the team has spent so much \
          in the longest period of which the team has a cap. It raises nothing, and holds where the team's store has such a cap. \
          Only the user's and the managed file can set it.",
        example: "100",
        ..Key::that_loosens(Loosens::Nothing)
    },
];

/// Applies `team`.
fn apply(to: &mut Resolved<'_>, said: &Setting, _: Layer) {
    to.team = match &said.value {
        SettingValue::Text(name) => Some(terms(name)),
        SettingValue::Object(fields) => fields.get("name").and_then(Value::as_str).map(|name| {
            let time = |key: &str, default| fields.get(key).and_then(millis).unwrap_or(default);
            TeamTerms {
                on_stale: fields.get("on_stale").and_then(Value::as_str).map_or(OnStale::default(), on_stale),
                max_staleness_ms: time("max_staleness_ms", MAX_STALENESS_MS),
                sync_interval_ms: time("sync_interval_ms", SYNC_INTERVAL_MS),
                ..terms(name)
            }
        }),
        _ => None,
    };
}

fn terms(name: &str) -> TeamTerms {
    TeamTerms {
        name: name.to_owned(),
        on_stale: OnStale::default(),
        max_staleness_ms: MAX_STALENESS_MS,
        sync_interval_ms: SYNC_INTERVAL_MS,
        ceiling: None,
        project: String::new(),
    }
}

fn on_stale(word: &str) -> OnStale {
    match word {
        "allow" => OnStale::Allow,
        "deny" => OnStale::Deny,
        _ => OnStale::Warn,
    }
}
