//! Limits that are evaluated and block nothing: those that a person has switched off for a while, and those of a repository whose file
//! only observes.

use crate::domain::event::Event;
use crate::domain::limit_set::LimitSet;
use crate::domain::limits_off::{LimitsOff, SplitLimits};
use crate::domain::moment::Moment;
use crate::domain::record::RecordKind;
use crate::domain::scope::Scope;
use crate::domain::session::Session;
use crate::domain::spend::meters::Meters;
use crate::domain::unenforced::Unenforced;
use crate::domain::usage::{ScopeUsage, Usage};
use crate::domain::verdict::{Finding, Verdict};
use crate::engine::evaluate_limits;
use crate::engine::log_records;
use crate::engine::session_state::SessionState;
use crate::messages::notices;

/// What of one scope's limits blocks, and what is only evaluated.
pub struct Split {
    blocks: LimitSet,
    evaluated: LimitSet,
    why: Unenforced,
}

/// Returns the interval in which a session's limits are off, where they are.
pub fn off(session: &Session, at: Moment) -> Option<&LimitsOff> {
    session.limits_off.as_ref().filter(|off| off.holds(at.wall_ms))
}

/// Tells the person once that the time is over for which limits were off.
pub fn note_end(state: &mut SessionState, at: Moment) {
    let ended = state.session.limits_off.as_ref().filter(|off| !off.holds(at.wall_ms));
    if let Some(key) = ended.map(LimitsOff::ended_key) {
        state.session.notify_user_once(&key, &notices::on_again());
    }
}

/// Splits the limits of each scope; nothing for one whose limits all block.
pub fn split(state: &SessionState, scopes: &[ScopeUsage], at: Moment) -> Vec<Option<Split>> {
    let is_off = std::iter::once(&state.session).chain(&state.above).any(|session| off(session, at).is_some());
    if !is_off && scopes.iter().all(|used| used.limits.observed.is_none()) {
        return Vec::new();
    }
    let whose = |used: &ScopeUsage| match used.scope {
        Scope::Outer => state.above.iter().find(|above| above.id == used.above).map_or(&*state.session, |above| above),
        _ => &*state.session,
    };
    let split = |used: &ScopeUsage| match (off(whose(used), at), &used.limits.observed) {
        (Some(off), _) => {
            let SplitLimits { stays, off } = off.split(used.limits);
            Some(Split { blocks: stays, evaluated: off, why: Unenforced::Off })
        }
        (None, Some(evaluated)) => {
            let evaluated = LimitSet::clone(evaluated);
            Some(Split { blocks: used.limits.clone(), evaluated, why: Unenforced::Observed })
        }
        (None, None) => None,
    };
    scopes.iter().map(split).collect()
}

/// Leaves in each scope what blocks.
pub fn keep_blocking<'a>(scopes: &mut [ScopeUsage<'a>], split: &'a [Option<Split>]) {
    for (used, split) in scopes.iter_mut().zip(split).filter_map(|(used, split)| Some((used, split.as_ref()?))) {
        used.limits = &split.blocks;
        if split.why == Unenforced::Off {
            used.pending_trips = &[];
        }
    }
}

/// Returns the trips of limits that block nothing.
pub fn trips(usage: &Usage, split: &[Option<Split>], event: &Event) -> Vec<(Unenforced, Finding)> {
    let mut found = Vec::new();
    for (used, split) in usage.scopes.iter().zip(split).filter_map(|(used, split)| Some((used, split.as_ref()?))) {
        // Of limits that are off no agent is told, so that none acts on it.
        let is_off = split.why == Unenforced::Off;
        let repetition = if is_off { used.meters.untold_repetition } else { used.meters.repetition };
        let meters = Meters { repetition, ..used.meters };
        let scope = ScopeUsage { limits: &split.evaluated, pending_trips: &[], meters, ..used.clone() };
        let alone = Usage { scopes: vec![scope], ..usage.clone() };
        let Some(stage) = evaluate_limits::stage_of(&event.kind, usage) else { continue };
        let trips = evaluate_limits::findings(&alone, event, stage).into_iter().filter(Finding::is_trip);
        found.extend(trips.map(|trip| (split.why, trip)));
    }
    found
}

/// Writes each such trip down, once.
pub fn note(state: &mut SessionState, id: &str, verdict: &Verdict) {
    for (why, finding) in &verdict.beside {
        let scope = if finding.is_window() { Scope::Run } else { finding.scope };
        let key = (format!("{}:{}", why.as_str(), finding.told_as()), finding.percent);
        let warned = state.side(&Finding { scope, ..finding.clone() }, id).map(|side| side.warned);
        if let Some(warned) = warned.filter(|warned| !warned.contains(&key)) {
            warned.push(key);
            log_records::write(state, id, RecordKind::AgentWarning, finding);
            if let Some(record) = state.effects.log_records.last_mut() {
                why.as_str().clone_into(&mut record.mode);
            }
        }
    }
}
