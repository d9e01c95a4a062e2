//! The model whose price stands in for one that has none.

use crate::engine::session_state::SessionState;
use crate::pricing::table::Table;

/// The model that the client uses where nothing names another.
pub const CLIENTS_DEFAULT: &str = "claude-opus-5-5";

/// Returns the model whose price stands in for one without: the session's, the one that answered the main agent last or most,
/// else the client's default.
pub fn main_model(state: &SessionState, table: &Table, at_ms: i64) -> String {
    let main = state.session.main.as_deref().and_then(|id| state.run(id));
    let last = main.map(|run| &run.model);
    let most = main.into_iter().flat_map(|run| &run.by_model).filter(|(model, _)| table.find(model, at_ms).is_some());
    let most = most.max_by_key(|(_, spend)| spend.requests).map(|(model, _)| model);
    let mut candidates = state.session.model.iter().chain(last).chain(most);
    let priced = candidates.find(|model| table.find(model, at_ms).is_some());
    priced.map_or_else(|| CLIENTS_DEFAULT.to_owned(), Clone::clone)
}
