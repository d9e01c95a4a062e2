//! What is answered where Fusebox itself cannot do its work: as `on_error` says for bugs and unreadable input, refused while
//! the cause lasts where the state fails, since an agent could cause that.

use std::path::{Path, PathBuf};

use crate::byte_search;
use crate::config::load;
use crate::domain::mode::OnError;
use crate::error::{Error, Result};
use crate::hook::notify_later::{self, OnceNotice};
use crate::messages::{notices, to_people};
use crate::platform::environment::Environment;
use crate::store;
use crate::store::{health, log_file};
use crate::wire::call_results::was_not_made;
use crate::wire::events::{EventName, FailureAnswer};
use crate::wire::input::{self, Input, Unreadable};

/// Answers to input that is no event; it is written down, and the person of the session that it names is told.
pub fn unreadable(env: &Environment, bytes: &[u8], cause: &Unreadable) -> String {
    let session = session_in(bytes).unwrap_or_default();
    note(env, session, &cause.to_string());
    if let Ok(folder) = store::folder(env)
        && !session.is_empty()
        && store::is_there(env)
    {
        // What fails here fails at the next event, too, and is told there.
        let notice = OnceNotice { key: "unreadable", what: &notices::event_unreadable(cause) };
        let _told = notify_later::once(env, &folder, session, notice);
    }
    by_on_error(env, name_in(bytes), &cause.to_string())
}

/// Answers after a bug of Fusebox's own.
pub fn bug(env: &Environment, bytes: &[u8]) -> String {
    let what = to_people::own_bug();
    note(env, "", &what);
    by_on_error(env, name_in(bytes), &what)
}

/// How a refusal of `to_people` begins that is given because the state can be neither read nor written.
const CANNOT: &str = "Fusebox: limits cannot be checked";
/// How an answer of `to_people` is given because the time was up: before what it waits for, and behind it.
const CANNOT_LATE: &str = "Fusebox: limits cannot be checked: ";
const REFUSED_LATE: &str = "Fusebox: limits cannot be checked, so this is refused: ";
const LATE: &str = " did not come in time; it may be tried again";

/// What stands before a session's id.
const SESSION: &[u8] = b"\"session_id\":\"";

/// Moves a damaged state out of the way, so that a new one can begin; returns where it is now.
pub fn begin_anew(env: &Environment, folder: &Path, input: &Input, cause: &Error) -> Result<Option<PathBuf>> {
    let aside = health::set_aside(folder)?;
    if let Some(aside) = &aside {
        let what = format!("{cause}; the database was set aside as `{}`, and a new one begun", aside.display());
        note(env, &input.session_id, &what);
    }
    Ok(aside)
}

/// Answers where the state can be neither read nor written: tool calls and prompts are refused until that is repaired. What an agent
/// would ask for next could not be counted, so its turn ends with the first batch of which nothing was let through, and no hook
/// prolongs it. So it is with a state that only a newer version can read: an agent can write that.
pub fn state(env: &Environment, input: &Input, cause: &Error) -> String {
    note(env, &input.session_id, &cause.to_string());
    let name = EventName::parse(&input.hook_event_name);
    let advice = cause.advice().map(|advice| format!(" ({advice})")).unwrap_or_default();
    let reason = to_people::state_fails(cause, advice);
    if name.is_some_and(|name| ends(name, &input.results())) {
        return serde_json::json!({"continue": false, "stopReason": reason, "systemMessage": reason}).to_string();
    }
    refusal(name, &reason).unwrap_or_default()
}

/// Answers an event that is not taken.
pub fn refused(input: &Input, cause: &Error) -> String {
    refusal(EventName::parse(&input.hook_event_name), &to_people::event_refused(cause)).unwrap_or_default()
}

/// Whether the agent's turn ends with an event at which nothing can be checked: a batch of calls that were refused or not made,
/// and any end of a turn, since a hook could prolong that.
fn ends(event: EventName, results: &[&str]) -> bool {
    let was_refused = |result: &&str| byte_search::find(CANNOT.as_bytes(), result.as_bytes()).is_some();
    match event.row().on_failure {
        FailureAnswer::EndAfterRefusals => {
            results.iter().any(was_refused) || !results.is_empty() && results.iter().all(|result| was_not_made(result))
        }
        FailureAnswer::End => true,
        _ => false,
    }
}

/// The pieces of an answer: static, so that writing them takes nothing that could be missing.
pub type Pieces = [&'static str; 5];

/// Words the answer to an event that nothing else has answered in time, in pieces that were laid out beforehand: the same as where
/// the state fails. `results` are those of a batch.
pub fn late(event: EventName, results: &[&str], waits: &'static str) -> Pieces {
    let (head, tail) = match event.row().on_failure {
        FailureAnswer::Deny => (
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":""#,
            r#""}}"#,
        ),
        FailureAnswer::Block => (r#"{"decision":"block","reason":""#, r#""}"#),
        _ if ends(event, results) => (r#"{"continue":false,"stopReason":""#, r#""}"#),
        FailureAnswer::Tell => (r#"{"systemMessage":""#, r#""}"#),
        _ => return Pieces::default(),
    };
    let words = if event.row().on_failure == FailureAnswer::Tell { CANNOT_LATE } else { REFUSED_LATE };
    [head, words, waits, LATE, tail]
}

/// Finds the event's name in an input; one that cannot be read may be a tool call.
fn name_in(bytes: &[u8]) -> Option<EventName> {
    let name = input::parse(bytes).ok().and_then(|input| EventName::parse(&input.hook_event_name));
    name.or(Some(EventName::PreToolUse))
}

/// Finds the session's id in an input that cannot be read: the client writes it near the beginning.
fn session_in(bytes: &[u8]) -> Option<&str> {
    let head = &bytes[..bytes.len().min(1024)];
    let from = byte_search::find(SESSION, head)? + SESSION.len();
    let id = head[from..].split(|byte| *byte == b'"').next()?;
    std::str::from_utf8(id).ok().filter(|id| input::is_id(id))
}

fn by_on_error(env: &Environment, name: Option<EventName>, what: &str) -> String {
    let (policy, _) = load::load(env, &env.folder(), false);
    match policy.on_error() {
        OnError::Allow => String::new(),
        OnError::Deny => {
            let reason = to_people::error_denied(what);
            refusal(name, &reason).unwrap_or_default()
        }
    }
}

/// Whether what an event is about is refused where the state can be neither read nor written.
pub fn is_refused(name: EventName) -> bool {
    matches!(name.row().on_failure, FailureAnswer::Deny | FailureAnswer::Block)
}

/// Words a refusal for the events that can be refused.
fn refusal(name: Option<EventName>, reason: &str) -> Option<String> {
    let answer = match name?.row().on_failure {
        FailureAnswer::Deny => serde_json::json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}}),
        FailureAnswer::Block => {
            serde_json::json!({"decision": "block", "reason": reason})
        }
        FailureAnswer::Tell => serde_json::json!({"systemMessage": reason}),
        _ => return None,
    };
    Some(answer.to_string())
}

/// Writes a notice into the log of the state folder.
fn note(env: &Environment, session: &str, what: &str) {
    let Ok(folder) = store::folder(env) else { return };
    let record = log_file::notice(session, what, env.now().wall_ms);
    log_file::append(log_file::LogPlace { of_session: "", state: &folder }, &[record]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::deadline::WAITS;
    use crate::wire::events::EVENTS;

    #[test]
    fn what_is_laid_out_beforehand_is_as_the_tables_have_it() {
        for waits in WAITS {
            assert_eq!([REFUSED_LATE, waits, LATE].concat(), to_people::late_refused(waits));
            assert_eq!([CANNOT_LATE, waits, LATE].concat(), to_people::late(waits));
        }
        assert!(to_people::state_fails("it is away", "").starts_with(CANNOT));
    }

    #[test]
    fn late_answers_are_json_and_refuse_what_can_be_refused() {
        let refused = format!(r#""PreToolUse:Bash hook error: {CANNOT}, …""#);
        let (rejected, denied, done) =
            (r#""<tool_use_error>No such tool""#, r#""PreToolUse:Bash hook error: no""#, r#""done""#);
        for (results, ends_batch) in [
            (vec![], false),
            (vec![done], false),
            (vec![refused.as_str()], true),
            (vec![done, &refused], true),
            (vec![rejected, denied], true),
            (vec![rejected, done], false),
        ] {
            for (row, waits) in EVENTS.iter().flat_map(|row| WAITS.map(|waits| (row, waits))) {
                let text = late(row.event, &results, waits).concat();
                let ends = match row.event {
                    EventName::PostToolBatch => ends_batch,
                    event => matches!(event, EventName::Stop | EventName::SubagentStop),
                };
                if text.is_empty() {
                    assert!(!is_refused(row.event) && !ends, "{} {results:?}", row.name);
                    continue;
                }
                let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
                let deny = &answer["hookSpecificOutput"]["permissionDecision"];
                let refuses = deny == "deny" || answer["decision"] == "block" || answer["continue"] == false;
                assert_eq!(refuses, is_refused(row.event) || ends, "{text}");
                assert!(text.contains(CANNOT) && text.contains(waits), "{text}");
            }
        }
    }
}
