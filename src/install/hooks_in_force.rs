//! At which events the client waits for Fusebox, over all that registers hooks. Of handlers with the same command it runs one, the last
//! in its order: one that it does not wait for takes the place of ours, and nothing is refused any more.

use std::collections::BTreeMap;

use serde_json::json;

use crate::domain::gather::gather;
use crate::install::hooks::{self, FoundHandler};
use crate::install::model_hooks::{self, DescribedType};
use crate::wire::events::{EVENTS, EventName};

/// The key of an agent's frontmatter that registers hooks.
const HOOKS: &str = "hooks";

/// Returns the events at which the client runs Fusebox for every call and waits for it. The handlers come in the client's order.
pub fn events(found: &[FoundHandler]) -> Vec<EventName> {
    let mut waits: BTreeMap<_, bool> = BTreeMap::new();
    for one in found.iter().filter(|one| one.handler.is_ours()) {
        let waits = waits.entry((&one.event, &one.handler.command, &one.handler.args)).or_default();
        *waits = one.is_attended() && (*waits || one.covers());
    }
    let waits = waits.into_iter().filter(|(_, waits)| *waits);
    let mut events: Vec<EventName> = waits.filter_map(|((event, ..), _)| EventName::parse(event)).collect();
    events.sort_unstable();
    events.dedup();
    events
}

/// Returns the events at which an agent's frontmatter has the client run Fusebox without waiting for it.
pub fn unattended_in_agents(types: &[DescribedType]) -> Vec<EventName> {
    let mut unattended = Vec::new();
    for (_, said) in types {
        match model_hooks::said_under(said, &[HOOKS]) {
            Ok(entries) => {
                let Some(hooks) = entries.get(HOOKS) else { continue };
                let text = json!({HOOKS: hooks}).to_string();
                let found = hooks::find(&text).into_iter();
                let found = found.filter(|found| found.handler.is_ours() && !found.is_attended());
                unattended.extend(found.filter_map(|found| EventName::parse(&found.event)));
            }
            Err(text) if model_hooks::may_have_hooks(text) => unattended.extend(EVENTS.iter().map(|row| row.event)),
            Err(_) => {}
        }
    }
    gather(unattended)
}

/// Returns where the handler stands that takes the place of one which is to refuse what Fusebox does not answer, and does not itself. The
/// handlers come in the client's order, each with its place.
pub fn opened<P: Copy>(found: &[(P, FoundHandler)]) -> Option<P> {
    let mut last: BTreeMap<_, (P, bool)> = BTreeMap::new();
    let ours = || found.iter().filter(|(_, one)| one.handler.is_ours());
    for (place, one) in ours() {
        last.insert((&one.event, &one.handler.command, &one.handler.args), (*place, one.handler.fails_closed()));
    }
    let mut closed = ours().filter(|(_, one)| one.handler.fails_closed());
    closed.find_map(|(_, one)| {
        let (place, is_closed) = last.get(&(&one.event, &one.handler.command, &one.handler.args))?;
        (!is_closed).then_some(*place)
    })
}
