//! The keys of what `fusebox watch` tells of and does.

use serde_json::json;

use crate::config::alerts;
use crate::config::key::{Apply, Key, Loosens, Merge, Setter, Takes};

/// The keys of what `fusebox watch` tells of and does.
pub const KEYS: &[Key] = &[
    Key {
        name: "alerts",
        setter: Setter::Owner,
        takes: Takes::One(alerts::ALERTS),
        merge: Merge::All,
        apply: Apply::Value(|to, said, _| to.alerts.push(said)),
        default: || json!({ "rules": alerts::built_in() }),
        doc: "What `fusebox watch` tells of, and how: [alerts.md](alerts.md) has every rule. `rules` by their names take the place of \
              those built in, and `null` takes one away. `command` reads one alert as JSON on its standard input, in `timeout_ms` \
              (10000 unless said, at most 60000). `desktop` shows it where the system has a program for that (`true` unless said). \
              `terminal` is `bell` unless said, `osc9` or `none`. A cause that goes on is told again after `quiet_ms` (an hour unless \
              said). Each layer's fields go over the weaker ones'. `null` tells of nothing. Only the user's and the managed file can \
              set it.",
        example: r#"{ "rules": { "turns": { "limit": "max_turns", "percent": 90 }, "stopped": null }, "command": "~/bin/tell-me", "quiet_ms": "30m" }"#,
        ..Key::that_loosens(Loosens::Nothing)
    },
    Key {
        name: "watchdog",
        setter: Setter::Owner,
        takes: Takes::One(alerts::WATCHDOG),
        apply: Apply::Value(alerts::apply_watchdog),
        default: || json!({ "kill": false, "grace_ms": 10000 }),
        doc: "Whether `fusebox watch` ends a client that no hook can stop: one whose agents hang past `stall_after_ms`, or whose agent is \
              past a limit that ends it and sends no event. It is interrupted (SIGINT), and after `grace_ms` asked to end (SIGTERM). \
              Only the user's and the managed file can set it.",
        example: r#"{ "kill": true, "grace_ms": "20s" }"#,
        ..Key::that_loosens(Loosens::Nothing)
    },
];
