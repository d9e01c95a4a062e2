//! What reports say of a session that began in a team which its machine has left: nothing of what the team's people could do.

use crate::cmd::next_client;
use crate::domain::frees::Frees;
use crate::domain::scope::Scope;
use crate::domain::session::Session;
use crate::domain::verdict::Finding;
use crate::report::rows::SessionRows;
use crate::store::Store;

/// Whether this machine takes part in the team that a session began in.
pub fn is_in_team(store: &Store, session: &Session) -> bool {
    #[cfg(feature = "team")]
    let joined = crate::store::team::joined_in(store.folder());
    #[cfg(not(feature = "team"))]
    let joined = store.folder().to_str().filter(|_| false).map(str::to_owned);
    session.team.as_ref().is_some_and(|terms| joined.as_ref() == Some(&terms.name))
}

/// Takes out of a session's rows when its team's caps pass and whom to ask, where the machine has left that team: a client that is there
/// has to take that up, and one that comes is bound by none of them.
pub fn bind_rows(store: &Store, rows: &mut SessionRows) {
    let Some(terms) = rows.session.team.as_deref().filter(|_| !is_in_team(store, &rows.session)) else { return };
    rows.has_left_team = true;
    let left = Left { team: terms.name.clone(), has_client: next_client::has_client(&rows.session) };
    let orders = rows.runs.iter_mut().map(|run| &mut run.order).chain([&mut rows.session.order]);
    orders.flatten().for_each(|order| left.bind(&mut order.finding));
    let is_gone = |finding: &Finding| finding.scope == Scope::Team && !left.has_client;
    rows.session.prompt_block = rows.session.prompt_block.take().filter(|it| !is_gone(it));
    rows.session.more_prompt_blocks.retain(|it| !is_gone(it));
    for finding in rows.session.prompt_block.iter_mut().chain(&mut rows.session.more_prompt_blocks) {
        if finding.scope == Scope::Team {
            finding.subject = Frees::says_left(&left.team);
        }
        left.bind(finding);
    }
    let of_team = rows.records.iter_mut().map(|it| &mut it.record).filter(|it| it.scope == Scope::Team.as_str());
    of_team.for_each(|record| record.frees = String::new());
}

/// A team that a machine has left.
struct Left {
    team: String,
    /// Whether a client has the session.
    has_client: bool,
}

impl Left {
    /// Says of a finding of the team's what lets work go on.
    fn bind(&self, finding: &mut Finding) {
        if finding.scope == Scope::Team {
            finding.frees = if self.has_client { Frees::once_team_is_left() } else { Frees::Never };
        }
    }
}
