//! In a few words what keeps a prompt back: whose limit, and whether it has no room or is used up.

use crate::domain::action::Action;
use crate::domain::scope::Scope;
use crate::domain::verdict::Finding;

/// Returns the words before the figures of what keeps a prompt back.
pub fn phrase_of_block(finding: &Finding) -> &'static str {
    let has_room = finding.used < finding.cap;
    match (finding.scope, finding.action) {
        (_, Action::Pause) => "this work is paused:",
        _ if finding.is_window() => "prompts are blocked:",
        (Scope::Session, _) if finding.limit().is_none() => "this session is stopped:",
        (Scope::Session, _) if has_room => "this session has no room:",
        (Scope::Session, _) => "this session's budget is used up:",
        (Scope::Run, _) => "this work was stopped:",
        (Scope::Outer, _) if finding.limit().is_none() => "the session above is stopped:",
        (Scope::Outer, _) if has_room => "session above is full:",
        (Scope::Outer, _) => "the session above is used up:",
        (Scope::Project, _) if has_room => "project budget has no room:",
        (Scope::Project, _) => "repository budget used up:",
        (Scope::User, _) if has_room => "user budget has no room:",
        (Scope::User, _) => "user budget used up:",
        (Scope::Team, _) if finding.waits_for_store() => "the team's store blocks prompts:",
        (Scope::Team, _) => "prompts are blocked:",
    }
}
