//! What the watchdog does where no hook can: it writes a stall down, and ends a client where a person's own file says so.

use std::time::Duration;

use crate::alerts::alert::{Alert, Hold};
use crate::cmd::pause_stop;
use crate::cmd::session_edit;
use crate::cmd::target::Target;
use crate::domain::alert::WatchdogSettings;
use crate::domain::charge::RecordKind;
use crate::domain::limit::Meter;
use crate::domain::policy::{Action, Scope};
use crate::domain::session::{Order, Process};
use crate::domain::verdict::Finding;
use crate::engine::lifecycle;
use crate::error::Result;
use crate::messages::alerts as messages;
use crate::platform::environment::Environment;
use crate::platform::processes;

/// How long a client that was asked to end is looked after.
const LAST: Duration = Duration::from_secs(5);

/// Acts on an alert that a limit is the cause of, and says in its text what was done.
pub fn act(env: &Environment, alert: &mut Alert, client: Option<Process>, watchdog: WatchdogSettings) -> Result<()> {
    let Some(hold) = alert.hold.take() else { return Ok(()) };
    let kept = match client {
        _ if !watchdog.kill => Some(None),
        _ if hold.others_live => Some(Some("other agents of it are at work")),
        Some(client) if processes::is_at_work(client.pid, client.start, client.ns) => None,
        _ => Some(Some("its process is not there any more")),
    };
    let (Some(client), None) = (client, kept) else {
        warn(env, alert, &hold)?;
        if let Some(why) = kept.flatten() {
            alert.text = messages::client_kept(&alert.text, why);
        }
        return Ok(());
    };
    order(env, alert, &hold)?;
    let how = end(client, Duration::from_millis(watchdog.grace_ms));
    alert.text = messages::client_ended(&alert.text, how);
    Ok(())
}

/// Writes a stall down as a warning of its limit. What is past another limit is the hooks' to write down.
fn warn(env: &Environment, alert: &Alert, hold: &Hold) -> Result<()> {
    if !hold.finding.facts().is_some_and(|limit| matches!(limit.meter, Meter::Silence)) {
        return Ok(());
    }
    let finding = Finding { action: Action::Warn, ..hold.finding.clone() };
    session_edit::edit(env, &run_of(alert), |edit| {
        edit.record(RecordKind::AgentWarning, &finding, (&alert.text, None));
        Ok(Vec::new())
    })?;
    Ok(())
}

/// Has the limit end its run, or the session, so that nothing of it goes on where the client does not end.
fn order(env: &Environment, alert: &Alert, hold: &Hold) -> Result<()> {
    let pauses = hold.finding.action == Action::Pause;
    let action = if pauses { Action::Pause } else { Action::Terminate };
    let finding = Finding { action, ..hold.finding.clone() };
    session_edit::edit(env, &run_of(alert), |edit| {
        let order = Order::halted(finding.clone(), None);
        if finding.scope == Scope::Session {
            edit.state.session.status = lifecycle::stopped_status(action, &finding.source);
            edit.state.session.order = Some(order.clone());
        }
        pause_stop::halt(edit, &alert.run_id, &order);
        let kind = if pauses { RecordKind::AgentPaused } else { RecordKind::AgentFailed };
        edit.record(kind, &finding, (&alert.text, None));
        Ok(Vec::new())
    })?;
    Ok(())
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
