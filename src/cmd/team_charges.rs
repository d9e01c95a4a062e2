//! What this machine has spent, as the team's store takes it: no prompt, and no path of this machine.

use std::collections::BTreeMap;

use crate::domain::spend::amount::Amount;
use crate::domain::spend::charge::Charge as Response;
use crate::domain::stored::stable_hash;
use crate::team::messages::Charge;

/// How long a name of a response or a model may be in the store.
const LONGEST: usize = 200;
/// The most that one response can cost, in pico-dollars: the store takes no more.
const MOST: Amount = Amount(1_000_000_000_000_000_000);

/// Returns responses as the store takes them; `projects` names the project of each session.
pub fn charges(responses: &[Response], projects: &BTreeMap<String, String>) -> Vec<Charge> {
    let charge = |response: &Response| Charge {
        message: message_name(response),
        cost: response.spend.cost.min(MOST),
        model: label(&response.model, LONGEST),
        project: projects.get(&response.session).cloned().unwrap_or_default(),
    };
    responses.iter().map(charge).collect()
}

/// Returns the response's `message.id`, which is the same wherever its session goes; of an estimate, a name of this session's.
fn message_name(response: &Response) -> String {
    let Response { message, session, .. } = response;
    let is_plain = |text: &str| text.len() <= LONGEST && text.bytes().all(|byte| byte.is_ascii_graphic());
    match (message.starts_with("msg_"), is_plain(message)) {
        (true, true) => message.clone(),
        _ => format!("{:016x}:{:016x}", stable_hash::of(session.as_bytes()), stable_hash::of(message.as_bytes())),
    }
}

/// Returns text that the store takes: nothing that controls, and not too long.
fn label(text: &str, most: usize) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_keeps_its_id_and_an_estimate_is_of_its_session() {
        let name = |message: &str, session: &str| {
            message_name(&Response { message: message.to_owned(), session: session.to_owned(), ..Response::default() })
        };
        assert_eq!(name("msg_01", "s"), "msg_01");
        assert_ne!(name("estimate", "s"), name("estimate", "t"));
        assert!(name(&format!("msg_{}", "x".repeat(500)), "s").len() < LONGEST);
        assert!(!name("msg_\0", "s").contains('\0'));
    }
}
