//! Clients that go on without asking a hook: they cannot start one, or have none any more, and no limit holds them.

use crate::alerts::alert::{Alert, Hold};
use crate::alerts::rule_input::{RuleInput, blocks, of_run, who};
use crate::domain::action::Action;
use crate::domain::alert::AlertRule;
use crate::domain::finding_source::FindingSource;
use crate::domain::scope::Scope;
use crate::domain::silent_client::SilentClient;
use crate::domain::verdict::Finding;
use crate::messages::alerts as messages;
use crate::report::rows::project;
use crate::ui::formats::counted;
use crate::ui::terminal::plain;
use crate::wire::messages::short;

/// Finds them, by one run of each that shows it.
pub fn going_on(facts: &RuleInput, rule: &AlertRule) -> Vec<Alert> {
    let found = facts.at_work().filter_map(|(rows, run)| {
        let session = &rows.session;
        let responses = facts.signs.get(&(session.id.clone(), run.id.clone()))?.unasked?;
        let client = session.client.map(|client| client.pid.to_string()).unwrap_or_default();
        let text = messages::unasked(who(rows, run), counted(responses as u64, "response"), client);
        let stop = Finding {
            subject: "`fusebox watch`".to_owned(),
            ..Finding::ordered(FindingSource::ExplicitStop, Scope::Session, Action::Terminate)
        };
        Some(Alert {
            rule: rule.name.clone(),
            hold: blocks(session, facts.now).then_some(Hold {
                finding: stop,
                others_live: false,
                last_ms: session.last.wall_ms,
            }),
            used: Some(responses as f64),
            ..of_run(rows, run, format!("unasked:{}:{}", session.id, session.last.wall_ms), text)
        })
    });
    found.chain(silent(facts, rule)).collect()
}

/// Finds the clients at work that agents have started and of which no hook tells: nothing of Fusebox is in them.
fn silent(facts: &RuleInput, rule: &AlertRule) -> impl Iterator<Item = Alert> {
    facts.rows.iter().flat_map(move |rows| {
        let is_at_work = |it: &&SilentClient| rows.silent_at_work.contains(&it.process.pid);
        rows.session.silent_clients.last.iter().filter(is_at_work).map(move |it| {
            let (session, pid) = (&rows.session, it.process.pid);
            Alert {
                rule: rule.name.clone(),
                cause: format!("silent:{}:{pid}:{}", session.id, it.at_ms),
                text: messages::silent(short(&session.id), pid, plain(&it.files)),
                session_id: session.id.clone(),
                project: project(&session.project).to_owned(),
                next: format!("fusebox explain {}", short(&session.id)),
                ..Alert::default()
            }
        })
    })
}
