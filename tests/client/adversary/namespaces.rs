//! The agent starts clients in namespaces of their own, and in another time zone.

use serde_json::json;

use crate::adversary::clients::{ASKED, bound, calls, command};
use crate::adversary::{Attempt, Outcome};
use crate::lab::{Lab, claude};
use crate::script::{bash, call, child, main, work};
use crate::version::usd;

pub const ATTEMPTS: &[Attempt] = &[
    Attempt {
        tries: "starts a client in namespaces of its own (`unshare`): of processes with or without a /proc of its own, of time, of \
                users, of mounts",
        outcome: Outcome::NoEffect,
        then: "the processes above the hook are found where they are shown, with the shift of a time namespace taken off; where they \
               are not, the name of the session in the client's environment is believed",
        scenario: "a_client_in_namespaces_of_its_own_is_bound_by_the_session",
    },
    Attempt {
        tries: "starts a client in another time zone (`TZ=…`), in which a new day has begun",
        outcome: Outcome::NoEffect,
        then: "its days begin in the zone that was pinned for the client above it",
        scenario: "a_client_in_another_time_zone_gets_no_new_day",
    },
];

#[test]
fn a_client_in_namespaces_of_its_own_is_bound_by_the_session() {
    let ways = [
        "unshare -rpf --mount-proc",
        "unshare -rpf",
        "unshare -rT --boottime 9999999 --monotonic 9999999 --fork",
        "env -u CLAUDE_CODE_SESSION_ID unshare -rpf",
        "env -u CLAUDE_CODE_SESSION_ID unshare -rT --boottime 9999999 --monotonic 9999999 --fork",
        "unshare -U",
        "unshare -rm",
    ];
    for way in ways {
        let tried = std::process::Command::new("sh").args(["-c", &format!("{way} true")]).output().unwrap();
        if tried.status.success() {
            bound(&calls(command(&format!("{way} CLIENT {ASKED}")), "local").0);
        } else {
            eprintln!("not tried: the system does not allow `{way}`");
        }
    }
}

#[test]
fn a_client_in_another_time_zone_gets_no_new_day() {
    // A zone in which it has just struck midnight.
    let zone = "$(python3 -c 'import time; s = 86400 - int(time.time()) % 86400; \
                print(\"<HERE>-%02d:%02d:%02d\" % (s // 3600, s // 60 % 60, s % 60))')";
    let client = format!("TZ=\"{zone}\" {} -p 'NESTED $N' --dangerously-skip-permissions", claude().display());
    let nested = child("NESTED", [call([work()])]).forever();
    let lab = Lab::without_fusebox(vec![nested, main([call([bash(&client)])]).forever()]);
    let policy = json!({"user": {"max_cost_usd_per_day": usd(0.03), "timeout_action": "terminate"},
        "session": {"grace_turns": 0}});
    lab.write_home(".claude/fusebox.json", &policy.to_string());
    lab.must(&["init", "--scope", "user"]);
    lab.claude("MAIN start", &[]);
    assert!(!lab.api.requests_of("NESTED").is_empty(), "it did not run: {}", lab.story());
    assert_eq!(lab.api.requests().len(), 5, "{}", lab.story());
}
