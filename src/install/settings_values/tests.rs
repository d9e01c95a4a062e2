//! Which values of settings change what hooks do.

use serde_json::json;

use crate::install::settings_values::*;
use crate::wire::events::EVENTS;

#[test]
fn a_value_of_another_kind_is_refused_at_every_key() {
    let kinds = KINDS.as_ref().unwrap();
    let odd = [json!(null), json!({"a": 1}), json!([1]), json!(-1), json!(0.5), json!("no such word")];
    let mut keys = 0;
    for (names, good) in [
        (&kinds.switch, json!(true)),
        (&kinds.text, json!("text")),
        (&kinds.texts, json!(["text"])),
        (&kinds.count, json!(1)),
    ] {
        for key in names {
            keys += 1;
            assert_eq!(look(key, &good), Known::Taken, "{key}");
            for value in odd.iter().filter(|value| !(value.is_string() && good.is_string())) {
                assert_eq!(look(key, value), Known::Refused, "{key} {value}");
            }
        }
    }
    for (key, words) in &kinds.choice {
        assert_eq!(look(key, &json!(words[0])), Known::Taken, "{key}");
        odd.iter().for_each(|value| assert_eq!(look(key, value), Known::Refused, "{key} {value}"));
    }
    for key in ["env", "enabledPlugins", "permissions", "hooks", "skillOverrides", "modelOverrides"] {
        assert_eq!(look(key, &json!({})), Known::Taken, "{key}");
        assert_eq!(look(key, &json!([1])), Known::Refused, "{key}");
    }
    assert!(keys > 100, "{keys}");
}

#[test]
fn the_client_knows_every_event_that_is_registered() {
    let known = &KINDS.as_ref().unwrap().events;
    EVENTS.iter().for_each(|row| assert!(known.contains(&row.name), "{} is in no settings of the client's", row.name));
}

#[test]
fn what_people_write_is_taken_and_what_is_not_known_is_not() {
    let hook = |hook: Value| json!({"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]});
    for (key, value, known) in [
        (
            "permissions",
            json!({"allow": ["Bash(npm run test:*)", "mcp__github__list", "WebFetch(domain:a.b)", "Read"]}),
            Known::Taken,
        ),
        ("permissions", json!({"defaultMode": "acceptEdits", "additionalDirectories": ["../docs"]}), Known::Taken),
        ("permissions", json!({"defaultMode": "bogus"}), Known::Refused),
        ("permissions", json!({"allow": "Bash"}), Known::Refused),
        ("permissions", json!({"allow": ["Bash(find . -exec cat {} \\;)", "Bash()"]}), Known::Taken),
        ("permissions", json!({"noSuchKey": 1}), Known::Unknown),
        ("attribution", json!({"commit": true}), Known::Refused),
        ("attribution", json!({"commit": "", "sessionUrl": false}), Known::Taken),
        ("statusLine", json!({}), Known::Refused),
        ("env", json!({"A": "1", "B": 2}), Known::Taken),
        ("env", json!({"A": ["1"]}), Known::Refused),
        ("hooks", hook(json!({"type": "command", "command": "make lint", "timeout": 5})), Known::Taken),
        ("hooks", hook(json!({"type": "command", "command": "make", "onFailure": "block"})), Known::Taken),
        ("hooks", hook(json!({"type": "zzz"})), Known::Unknown),
        ("hooks", json!({"NoSuchEvent": []}), Known::Unknown),
        ("hooks", json!({"Notification": [{"matcher": 5, "hooks": []}]}), Known::Unknown),
        ("statusLine", json!({"type": "command", "command": "ccstatusline", "padding": 0}), Known::Taken),
        ("voice", json!({"enabled": 1}), Known::Unknown),
        ("neverHeardOf", json!(true), Known::Taken),
    ] {
        assert_eq!(look(key, &value), known, "{key} {value}");
    }
}
