//! Whatever limits on its resources a hook inherits from the client that starts it, it answers, and the limit holds.
//!
//! A client hands its own limits on (`ulimit`, `prlimit`), and an agent can start a client under any. Each kind of limit is tried
//! at each power of four, from nothing up to where it binds no call.

use serde_json::json;

use crate::fixture::{Answer, Fixture};
use crate::session::Session;

/// The kinds of limits by their options of `prlimit`, with the least value that is tried and the power of four that is no longer.
/// Below the first the system starts no program of this size, and no client either; from the second on none binds a call.
const KINDS: [(&str, u64, u32); 13] = [
    ("core", 0, 1),
    ("cpu", 1, 4),
    ("fsize", 0, 14),
    ("locks", 0, 4),
    ("memlock", 0, 10),
    ("msgqueue", 0, 8),
    ("nofile", 0, 6),
    ("nproc", 0, 8),
    ("rss", 0, 14),
    ("sigpending", 0, 7),
    ("as", 64 << 20, 14),
    ("data", 64 << 20, 14),
    ("stack", 16 << 10, 14),
];

#[test]
fn whatever_limits_a_call_inherits_the_limit_holds() {
    let mut broken = Vec::new();
    for (kind, least, ample) in KINDS {
        for value in std::iter::once(0).chain((0..ample).map(|power| 4_u64.pow(power))).filter(|value| *value >= least)
        {
            let limits = json!({"max_turns": 1, "grace_turns": 0, "timeout_action": "terminate"});
            let fixture = Fixture::under(&json!({"session": limits}));
            let session = Session::begin(&fixture, "s1");
            assert_eq!(session.works("t1"), Answer::Allowed);
            let outcome = fixture
                .hook()
                .through(&["prlimit", &format!("--{kind}={value}:{value}")])
                .tell(&session.requests("Read", "t2"));
            let refused = outcome.code == Some(0) && matches!(Answer::of(&outcome.stdout), Answer::Refused(_));
            if !refused {
                broken.push(format!("{kind}={value}: {outcome:?}"));
            }
        }
    }
    assert!(broken.is_empty(), "{} of the limits take the cap off:\n{}", broken.len(), broken.join("\n"));
}
