//! Limits that block a session's prompts although no order has ended its work.

use crate::domain::frees::Frees;
use crate::domain::moment::Moment;
use crate::domain::scope::Scope;
use crate::domain::session::Session;
use crate::domain::verdict::Finding;
use crate::engine::clear_orders;
use crate::messages::next_step::NextStep;
use crate::report::passing::Reader;
use crate::report::reading::{Budget, LimitReading};
use crate::report::rows::SessionRows;
use crate::wire::user_lines;

/// A limit that blocks a session's prompts.
#[derive(Clone, Debug)]
pub struct PromptBlock {
    /// The limit as it stood at the last prompt.
    pub finding: Finding,
    /// What lets prompts through again.
    pub next: NextStep,
    /// When the prompt was sent that it has blocked, in milliseconds since 1970.
    pub at_ms: i64,
}

impl PromptBlock {
    /// Says which limit blocks, whose it is and what is used of it. When it passes is left to `next`, where that says it.
    pub fn says(&self, reader: Reader) -> String {
        let frees = match self.next {
            NextStep::Passes { .. } => Frees::Never,
            _ => reader.by_clock(&self.finding.frees, self.at_ms),
        };
        user_lines::by_layer(&Finding { frees, ..self.finding.clone() })
    }

    /// Returns what lets prompts through again, by the clock of whoever reads it.
    pub fn next(&self, reader: Reader) -> NextStep {
        reader.next(self.next.clone(), &self.finding.frees, self.at_ms)
    }
}

/// Returns the limits that block a session's prompts. It returns none where an order has ended the work: reports show the order.
pub fn prompt_blocks(rows: &SessionRows, limits: &[LimitReading], now: Moment) -> Vec<PromptBlock> {
    let session = &rows.session;
    let main = rows.runs.iter().find(|run| session.main.as_deref() == Some(&run.id));
    let Some(main) = main.filter(|run| run.order.is_none() && session.order.is_none()) else { return Vec::new() };
    let at_ms = main.last.wall_ms;
    let block =
        |it: &Finding| PromptBlock { finding: it.clone(), next: user_lines::unblocks(session, main, it), at_ms };
    still(session, limits, now).map(block).collect()
}

/// Returns the limits that blocked the last prompt and would still block the next one.
pub fn still<'a>(session: &'a Session, limits: &'a [LimitReading], now: Moment) -> impl Iterator<Item = &'a Finding> {
    let findings = session.prompt_block.iter().chain(&session.more_prompt_blocks);
    // A person's order that is gone has been lifted.
    let is_lifted = |it: &Finding| it.limit().is_none() && it.scope == Scope::Session;
    let off = session.limits_off.as_ref().filter(|off| off.holds(now.wall_ms));
    let is_off = move |it: &Finding| off.is_some_and(|off| !off.keeps_finding(it));
    findings.filter(move |it| {
        !is_lifted(it)
            && !is_off(it)
            && !is_outgrown(session, it)
            && limits.iter().all(|reading| !is_raised(it, Scope::Session, reading))
    })
}

/// Whether a budget would not act any more as it did: the rules that bind the session's next prompt have none, or a higher cap.
pub fn is_outgrown(session: &Session, finding: &Finding) -> bool {
    match finding.scope {
        Scope::User => clear_orders::is_outgrown(finding, &session.shared_limits.user),
        Scope::Project => clear_orders::is_outgrown(finding, &session.shared_limits.project),
        _ => false,
    }
}

/// Whether a budget has a higher cap by now than it had, or has begun anew; of a team, whether the cap that was used up leaves something,
/// or this machine may spend more.
pub fn is_budget_raised(finding: &Finding, budget: &Budget) -> bool {
    // What was to come had to find room, too.
    let leaves_enough = |(named, left): &(String, u64)| *left > finding.ahead && finding.subject.starts_with(named);
    let has_room = || finding.scope == Scope::Team && budget.leaves.as_ref().is_some_and(leaves_enough);
    has_room() || is_raised(finding, budget.scope, budget.share.as_ref().unwrap_or(&budget.reading))
}

/// Whether a budget that was used up has a higher cap by now, and leaves something. When one begins anew the clock says.
pub fn has_room(finding: &Finding, budget: &Budget) -> bool {
    let (used, cap) = (budget.reading.used.value, budget.reading.cap.value);
    let has_more = finding.scope == Scope::Team || cap > finding.cap;
    has_more && used < cap && is_budget_raised(finding, budget)
}

/// Whether a limit has a higher cap by now than it had, or has begun anew.
pub fn is_raised(finding: &Finding, scope: Scope, reading: &LimitReading) -> bool {
    let is_same = finding.scope == scope && finding.source == *reading.limit;
    is_same && (reading.cap.value > finding.cap || reading.used.value < finding.used)
}
