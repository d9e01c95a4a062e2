//! Whatever stops or holds an agent is named where its session is shown.

use fusebox::calendar::Zone;
use fusebox::domain::billing::{Billing, CostSource};
use fusebox::domain::moment::Moment;
use fusebox::engine::session_state::SessionState;
use fusebox::report::model::Report;
use fusebox::report::rows::SessionRows;
use fusebox::report::suggestion;
use fusebox::ui::style::{Colour, Terminal};

/// Looks at a session as it stands after an event.
pub fn is_named(state: &SessionState, wall_ms: i64) {
    let now = Moment { wall_ms, ..Moment::default() };
    let mut runs: Vec<_> = state.runs().cloned().collect();
    runs.sort_by_key(|run| run.started.wall_ms);
    let rows = SessionRows { session: (*state.session).clone(), runs, ..SessionRows::default() };
    let report = Report::of(&[rows], &[], now);
    let session = &report.sessions[0];
    let terminal = Terminal {
        width: 200,
        table_width: 200,
        colour: Colour::Off,
        zone: Zone::utc(),
        billing: Billing::default(),
        cost_source: CostSource::default(),
        folder: String::new(),
    };
    let said = suggestion::text(session, "", &terminal);
    let stands = |order: &&_| !suggestion::is_nobodys_below(order, session.status);
    for run in session.runs.iter().filter(|run| !suggestion::is_over(session, run)) {
        for order in run.order.iter().filter(stands) {
            let source = order.finding.source.to_string();
            assert!(said.contains(&source), "{} {}: {source} in\n{said}", run.agent_type, run.run_id);
        }
    }
}
