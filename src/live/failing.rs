//! What is answered where Fusebox itself cannot do its work: as `on_error` says for bugs and unreadable input, refused while
//! the cause lasts where the state fails, since an agent could cause that.

use crate::config::load;
use crate::engine::policy::OnError;
use crate::engine::record::{Record, RecordKind};
use crate::error::Error;
use crate::store;
use crate::store::logbook;
use crate::wire::events::EventName;
use crate::wire::input::{self, Input, Unreadable};
use crate::world::World;

/// Answers to input that is no event; it is written down.
pub fn unreadable(world: &World, bytes: &[u8], cause: &Unreadable) {
    note(world, "", &cause.to_string());
    world.print(&by_on_error(world, bytes, &cause.to_string()));
}

/// Answers after a bug of Fusebox's own.
pub fn bug(world: &World, bytes: &[u8]) -> String {
    let what = "Fusebox failed inside; please report it";
    note(world, "", what);
    by_on_error(world, bytes, what)
}

/// Answers where the state can be neither read nor written: tool calls and prompts are refused until that is mended.
pub fn state(world: &World, input: &Input, cause: &Error) {
    note(world, &input.session_id, &cause.to_string());
    let advice = cause.advice().map(|advice| format!(" ({advice})")).unwrap_or_default();
    let reason =
        format!("Fusebox: limits cannot be checked, so this is refused while the cause lasts: {cause}{advice}");
    if let Some(text) = refusal(EventName::parse(&input.hook_event_name), &reason) {
        world.print(&text);
    }
}

fn by_on_error(world: &World, bytes: &[u8], what: &str) -> String {
    let (policy, _) = load::load(world, &world.folder(), false);
    let name = input::parse(bytes).ok().and_then(|input| EventName::parse(&input.hook_event_name));
    match policy.on_error() {
        OnError::Allow => String::new(),
        OnError::Deny => {
            let reason = format!("Fusebox: {what}; calls are refused because `on_error` is `deny`");
            refusal(name.or(Some(EventName::PreToolUse)), &reason).unwrap_or_default()
        }
    }
}

/// Words a refusal for the events that can be refused.
fn refusal(name: Option<EventName>, reason: &str) -> Option<String> {
    let answer = match name? {
        EventName::PreToolUse => serde_json::json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}}),
        EventName::UserPromptSubmit => serde_json::json!({"decision": "block", "reason": reason}),
        EventName::SessionStart => serde_json::json!({"systemMessage": reason}),
        _ => return None,
    };
    Some(answer.to_string())
}

/// Writes a notice into the log of the state folder.
fn note(world: &World, session: &str, what: &str) {
    let Ok(folder) = store::folder(world) else { return };
    let record = Record {
        error: what.to_owned(),
        event: Some(RecordKind::Notice),
        session: session.to_owned(),
        at: logbook::time(world.now().wall_ms),
        ..Record::default()
    };
    logbook::append(&folder, &[record]);
}
