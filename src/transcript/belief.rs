//! What a response adds to the charges: whether it is believed, and what a known one has grown by.

use crate::domain::conversation::{Conversation, Prompt};
use crate::domain::spend::charge::Charge;
use crate::domain::spend::meters::Spend;
use crate::domain::time_units::MINUTE_MS;
use crate::engine::session_state::SessionState;
use crate::pricing::usage::Tokens;
use crate::transcript::response::Response;

/// Takes a response into the conversation that its transcript tells; returns whether it may be one of it. What no hook has
/// seen is believed, and what belongs to no run that is at hand.
pub fn believes(state: &SessionState, run: &str, response: &Response, told: &mut Conversation) -> bool {
    let (usage, cuts) = (response.usage.tokens(), state.session.compactions);
    let prompt = Prompt { tokens: usage.prompt(), is_cached: usage.prompt() > usage.input };
    if is_long_before(state, response) || state.run(run).is_none() {
        told.trusts(prompt, cuts);
        return true;
    }
    // No request is without tokens: some gateways count none.
    usage != Tokens::default() && told.believes(prompt, cuts, state.session.position.conversation)
}

/// How far the client's clock may be behind ours.
const CLOCKS_MS: i64 = MINUTE_MS;

/// Whether a response was made before a session began, whatever the clocks say.
pub fn is_long_before(state: &SessionState, response: &Response) -> bool {
    response.at_ms.saturating_add(CLOCKS_MS) < state.session.started.wall_ms
}

/// Whether a response was made before a session began.
pub fn is_earlier(state: &SessionState, response: &Response) -> bool {
    response.at_ms < state.session.started.wall_ms
}

/// Returns a charge with what it grew by; nothing where it did not grow. Counters never shrink.
pub fn grown(before: &Charge, now: &Charge) -> Option<(Charge, Spend)> {
    let adds = now.spend.beyond(before.spend + before.covered);
    let (output, context) = (before.output.max(now.output), before.context.max(now.context));
    if adds == Spend::default() && (output, context) == (before.output, before.context) {
        return None;
    }
    let cache_writes = before.cache_writes.max(now.cache_writes);
    Some((Charge { spend: before.spend + adds, output, context, cache_writes, ..before.clone() }, adds))
}
