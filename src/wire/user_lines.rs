//! What a person reads of an agent that has ended: one line each, with the next command.

use crate::domain::notification::ParentNotification;
use crate::domain::session::Run;
use crate::wire::messages::{because, reading, short};

/// Tells the person of a subagent that was stopped or paused: what ended it, what it had used, and what tells more.
pub fn stopped_agent(news: &ParentNotification, run: &Run) -> String {
    let what = if news.paused { "paused" } else { "stopped" };
    let with = news
        .stopped_with
        .as_ref()
        .map(|above| format!(", with the agent above it ({})", short(above)))
        .unwrap_or_default();
    let why = reading(&news.finding) + &because(news.reason.as_ref());
    let (calls, cost) = (run.counters.turns, run.counters.spent.cost);
    let next = match news.paused {
        true => format!("`fusebox resume {}` lets it go on.", news.run),
        false => format!("More: `fusebox explain {}`", short(&news.run)),
    };
    let calls = if calls == 1 { "1 tool call".to_owned() } else { format!("{calls} tool calls") };
    format!("Fusebox {what} {} ({}){with}: {why}. {calls}, {cost}. {next}", news.agent_type, short(&news.run))
}
