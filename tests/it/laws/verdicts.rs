//! What goes with a decision: the other laws check it of every verdict that their scripts meet.

use fusebox::domain::refusal::Refusal;
use fusebox::domain::verdict::{Decision, Verdict};

/// Checks that a verdict has what its decision takes, and nothing that contradicts it.
pub fn check(verdict: &Verdict) {
    let is_fit = match (verdict.decision, &verdict.refusal) {
        (decision, _) if verdict.observed => decision == Decision::Allow,
        (Decision::Allow | Decision::Ask, refusal) => refusal.is_none(),
        (Decision::Warn, refusal) => {
            matches!(refusal, None | Some(Refusal::Tripped { .. } | Refusal::Ordered { .. }))
        }
        (Decision::Deny | Decision::Stop, refusal) => refusal.is_some(),
    };
    let has_reason = match &verdict.refusal {
        Some(
            Refusal::Tripped { .. }
            | Refusal::Ordered { .. }
            | Refusal::CallAlone
            | Refusal::NotProlonged
            | Refusal::Blocked
            | Refusal::SiblingAsks
            | Refusal::Addressee { .. },
        ) => verdict.deciding().is_some(),
        Some(_) => verdict.findings.is_empty(),
        None => verdict.deciding().is_some() || verdict.decision == Decision::Allow,
    };
    let goes_on = verdict.decision <= Decision::Warn && !verdict.observed;
    let changes_the_call = verdict.prompt_tail.is_some() || verdict.time_cut.is_some();
    assert!(is_fit && has_reason && (goes_on || !changes_the_call), "{verdict:#?}");
}
