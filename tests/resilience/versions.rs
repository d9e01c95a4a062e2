//! Two versions of the binary on one state, call by call in turn. `FUSEBOX_OLD_BIN` names the older one.

use serde_json::json;

use crate::fixture::{Answer, Fixture, Meter, asked, binary};
use crate::session::Session;

const CAP: u64 = 20;

#[test]
fn with_an_older_binary_on_one_state() {
    let older = asked("FUSEBOX_OLD_BIN").expect("FUSEBOX_OLD_BIN names no binary");
    let binaries = [older.into(), binary()];
    let fixture = Fixture::under(&json!({"main": {"max_turns": CAP, "grace_turns": 0}}));
    let session = Session::begin(&fixture, "s1");
    let mut hooks = binaries.iter().cycle();
    let mut tell = |event| fixture.hook().of(hooks.next().unwrap()).tell(&event).ok();
    let mut ran = 0;
    while tell(session.requests("Read", &format!("t{ran}"))) == Answer::Allowed {
        let id = format!("t{ran}");
        session.append(&session.rows("Read", &id));
        tell(session.ends("Read", &id));
        tell(session.batch("Read", &id));
        // Each event comes to either binary in turn.
        tell(session.event("PermissionRequest", &json!({"tool_name": "Read"})));
        if ran % 2 == 0 {
            tell(session.event("PermissionRequest", &json!({"tool_name": "Read"})));
        }
        ran += 1;
    }
    assert_eq!((ran, fixture.meter("s1", Meter::Turns), fixture.meter("s1", Meter::Requests)), (CAP, CAP, CAP));
}
