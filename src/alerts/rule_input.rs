//! What rules look at, and how an alert about a run begins.

use crate::alerts::alert::Alert;
use crate::alerts::silence::Signs;
use crate::domain::mode::Mode;
use crate::domain::moment::Moment;
use crate::domain::session::{Run, Session, Status};
use crate::domain::team_cap::CapUse;
use crate::report::doing::LatestCalls;
use crate::report::rows::{SessionRows, project};
use crate::report::status;
use crate::ui::style::plain;
use crate::wire::messages::short;
use crate::wire::user_lines;

/// What rules look at.
#[derive(Clone, Copy, Debug)]
pub struct RuleInput<'a> {
    /// The sessions of the last days.
    pub rows: &'a [SessionRows],
    /// The latest call of each run at work.
    pub calls: &'a LatestCalls,
    /// The signs of life of each run at work.
    pub signs: &'a Signs,
    /// What is used of the team's caps.
    pub team_caps: &'a [CapUse],
    /// Now.
    pub now: Moment,
}

impl<'a> RuleInput<'a> {
    /// Returns the runs at work.
    pub fn at_work(&self) -> impl Iterator<Item = (&'a SessionRows, &'a Run)> {
        let open = self.rows.iter().filter(|rows| status::at_work(rows.session.status) && !rows.session.is_over);
        let runs = open.flat_map(|rows| rows.runs.iter().map(move |run| (rows, run)));
        runs.filter(|(rows, run)| {
            let sign = self.signs.get(&(rows.session.id.clone(), run.id.clone()));
            run.status == Status::Running && run.working && !sign.is_some_and(|sign| sign.is_over)
        })
    }
}

/// Makes an alert about a run.
pub fn of_run(rows: &SessionRows, run: &Run, cause: String, text: String) -> Alert {
    Alert {
        cause,
        text: plain(&text),
        session_id: rows.session.id.clone(),
        run_id: run.id.clone(),
        agent_type: run.agent_type.clone(),
        project: project(&rows.session.project).to_owned(),
        next: format!("fusebox explain {}", short(&run.id)),
        ..Alert::default()
    }
}

/// Names a run with its project: `developer (a1b2c3d4) in shop`.
pub fn who(rows: &SessionRows, run: &Run) -> String {
    let folder = project(&rows.session.project).rsplit(['/', '\\']).next().unwrap_or_default();
    format!("{} in {folder}", user_lines::named(run))
}

/// Whether limits of a session block now.
pub fn blocks(session: &Session, now: Moment) -> bool {
    session.mode == Mode::Enforce && !session.limits_off.as_ref().is_some_and(|off| off.holds(now.wall_ms))
}
