//! What the watchdog does where no hook can: it writes a stall down, and ends a client where a person's own file says so.

use std::time::Duration;

use crate::alerts::alert::{Alert, Hold};
use crate::cmd::pause_stop;
use crate::cmd::session_edit;
use crate::cmd::target::Target;
use crate::domain::action::Action;
use crate::domain::alert::WatchdogSettings;
use crate::domain::limit_meter::Meter;
use crate::domain::record::RecordKind;
use crate::domain::scope::Scope;
use crate::domain::session::{Order, Process};
use crate::domain::verdict::Finding;
use crate::engine::lifecycle;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::messages::alerts as messages;
use crate::platform::environment::Environment;
use crate::platform::processes;

/// How long a client that was asked to end is looked after.
const LAST: Duration = Duration::from_secs(5);

/// What becomes of the client of an agent that a limit would have ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WatchdogAction {
    /// Nothing: no limit is the cause, or nobody wants clients ended.
    Tell,
    /// It is not ended, for this reason: that may pass.
    Keep(&'static str),
    /// It is ended.
    End(Process),
}

/// Returns what to do about the client of an alert that a limit may be the cause of.
pub fn choose_action(alert: &Alert, client: Option<Process>, watchdog: WatchdogSettings) -> WatchdogAction {
    match (&alert.hold, client) {
        (None, _) => WatchdogAction::Tell,
        _ if !watchdog.kill => WatchdogAction::Tell,
        (Some(hold), _) if hold.others_live => WatchdogAction::Keep("other agents of it are at work"),
        (_, Some(client)) if processes::is_at_work(client.pid, client.start, client.ns) => WatchdogAction::End(client),
        _ => WatchdogAction::Keep("its process is not there any more"),
    }
}

/// Acts on an alert, and says in its text what was done. Returns whether it still stands: the agent may have sent an
/// event since it was looked at.
pub fn act(env: &Environment, alert: &mut Alert, action: WatchdogAction, watchdog: WatchdogSettings) -> Result<bool> {
    let Some(hold) = alert.hold.take() else { return Ok(true) };
    match action {
        WatchdogAction::Tell => warn(env, alert, &hold)?,
        WatchdogAction::Keep(why) => {
            warn(env, alert, &hold)?;
            alert.text = messages::client_kept(&alert.text, why);
        }
        WatchdogAction::End(client) => {
            if !order(env, alert, &hold)? {
                return Ok(false);
            }
            let how = end(client, Duration::from_millis(watchdog.grace_ms));
            alert.text = messages::client_ended(&alert.text, how);
        }
    }
    Ok(true)
}

/// Writes a stall down as a warning of its limit. What is past another limit is the hooks' to write down.
fn warn(env: &Environment, alert: &Alert, hold: &Hold) -> Result<()> {
    if !hold.finding.limit().is_some_and(|limit| matches!(limit.meter, Meter::Silence)) {
        return Ok(());
    }
    let finding = Finding { action: Action::Warn, ..hold.finding.clone() };
    session_edit::edit(env, &run_of(alert), |edit| {
        edit.record(RecordKind::AgentWarning, &finding, &alert.text, None);
        Ok(Vec::new())
    })?;
    Ok(())
}

/// Whether what a limit is on has sent no event since it was looked at.
fn is_as_seen(state: &SessionState, run: &str, hold: &Hold) -> bool {
    let last = match hold.finding.scope {
        Scope::Session => Some(state.session.last),
        _ => state.run(run).map(|run| run.last),
    };
    last.is_some_and(|last| last.wall_ms <= hold.last_ms)
}

/// Has the limit end its run, or the session, so that nothing of it goes on where the client does not end. Returns whether it has: not
/// where the agent goes on.
fn order(env: &Environment, alert: &Alert, hold: &Hold) -> Result<bool> {
    let pauses = hold.finding.action == Action::Pause;
    let action = if pauses { Action::Pause } else { Action::Terminate };
    let finding = Finding { action, ..hold.finding.clone() };
    let mut is_due = false;
    session_edit::edit(env, &run_of(alert), |edit| {
        is_due = is_as_seen(edit.state, &alert.run_id, hold);
        if !is_due {
            return Ok(Vec::new());
        }
        let order = Order::halted(finding.clone(), None);
        if finding.scope == Scope::Session {
            edit.state.session.status = lifecycle::stopped_status(action, &finding.source);
            edit.state.session.order = Some(order.clone());
        }
        pause_stop::halt(edit, &alert.run_id, &order);
        let kind = if pauses { RecordKind::AgentPaused } else { RecordKind::AgentFailed };
        edit.record(kind, &finding, &alert.text, None);
        Ok(Vec::new())
    })?;
    Ok(is_due)
}

fn run_of(alert: &Alert) -> Target {
    Target::Run { session: alert.session_id.clone(), run: alert.run_id.clone() }
}

/// Interrupts a client; where it does not end in time it is asked to. Says what was done.
fn end(client: Process, grace: Duration) -> String {
    let Process { pid, start, ns } = client;
    let interrupted = processes::interrupt(pid, start, ns);
    let first = if interrupted { "interrupted (SIGINT)" } else { "not interrupted" };
    if interrupted && processes::wait_for_end(&[pid], grace) {
        return first.to_owned();
    }
    if !processes::ask_to_end(pid, start, ns) {
        return format!("{first}, and is gone");
    }
    let is_over = processes::wait_for_end(&[pid], LAST);
    let last = if is_over { "asked to end (SIGTERM)" } else { "asked to end (SIGTERM), and is still there" };
    format!("{first}, then {last}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::finding_source::FindingSource;
    use crate::domain::moment::Moment;
    use crate::domain::session::{Run, Session};

    #[test]
    fn what_has_sent_an_event_since_it_was_looked_at_is_not_held() {
        let at = |wall_ms| Moment { wall_ms, ..Moment::default() };
        let mut state = SessionState::new(Session { last: at(20), ..Session::default() });
        state.open_run(Run { id: "r".to_owned(), last: at(10), ..Run::default() });
        let hold = |scope, last_ms| {
            let finding = Finding::ordered(FindingSource::ExplicitStop, scope, Action::Terminate);
            Hold { finding, others_live: false, last_ms }
        };
        for (scope, last_ms, is_held) in
            [(Scope::Run, 10, true), (Scope::Run, 9, false), (Scope::Session, 20, true), (Scope::Session, 19, false)]
        {
            assert_eq!(is_as_seen(&state, "r", &hold(scope, last_ms)), is_held, "{scope:?} {last_ms}");
        }
        assert!(!is_as_seen(&state, "gone", &hold(Scope::Run, 10)));
    }
}
