//! What a handler of the settings runs.

use crate::install::handler::*;

fn check(handler: &str, ours: bool) {
    let handler = serde_json::from_str::<Map<String, Value>>(handler).ok().map(Handler::from);
    assert_eq!(handler.as_ref().is_some_and(Handler::is_ours), ours, "{handler:?}");
}

#[test]
fn ours_is_told_from_others() {
    // exec form
    check(r#"{"type":"command","command":"/opt/x/fusebox","args":["hook"]}"#, true);
    check(r#"{"command":"C:\\x\\fusebox.exe","args":["hook"],"timeout":1}"#, true);
    check(r#"{"type":"command","command":"/opt/x/fusebox","args":["statusline"]}"#, false);
    check(r#"{"type":"command","command":"/opt/fusebox/other","args":["hook"]}"#, false);
    // shell form
    check(&json!({ "type": "command", "command": GUARDED_LINE }).to_string(), true);
    check(&json!({ "type": "command", "command": guarded_start() }).to_string(), true);
    check(r#"{"command":"command -v fusebox >/dev/null && exec fusebox hook"}"#, true);
    check(r#"{"command":"fusebox hook"}"#, true);
    check(r#"{"command":"\"/my tools/fusebox\" hook"}"#, true);
    check(r#"{"command":"/my tools/fusebox hook"}"#, false);
    check(r#"{"command":"echo fusebox hook"}"#, false);
    check(r#"{"command":"my-fusebox hook"}"#, false);
    check(r#"{"command":"true; fusebox hook"}"#, false);
    // other types
    check(r#"{"type":"http","command":"fusebox hook"}"#, false);
    check(r#"{"type":"command","command":["fusebox","hook"]}"#, false);
    check(r#""fusebox hook""#, false);
}
