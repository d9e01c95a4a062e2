//! What is missing at the end of an agent's work.

use crate::domain::policy::{Action, Layer, Scope};
use crate::domain::run::Run;
use crate::domain::verdict::Finding;

/// The key of the rule about an agent's file of checkpoints.
pub const CHECKPOINTS: &str = "checkpoints";
/// The key of the rule about the command that checks an agent's work.
pub const COMPLETION: &str = "completion";

/// Makes the finding of a rule about the end of an agent's work; `what` is its sentence.
pub fn finding(limit: &str, layer: Layer, what: String) -> Finding {
    Finding {
        limit: limit.to_owned(),
        scope: Scope::Run,
        used: 0,
        cap: 0,
        action: Action::Warn,
        layer,
        percent: 100,
        increase: 0,
        subject: what,
        frees: String::new(),
        above: String::new(),
    }
}

/// Whether a finding is about what is missing at the end of an agent's work.
pub fn is_of_end(finding: &Finding) -> bool {
    finding.limit == CHECKPOINTS || finding.limit == COMPLETION
}

/// Returns what was still missing when a run ended, for its parent.
pub fn incomplete(run: &Run) -> Option<Finding> {
    let checkpoints = run.limits.checkpoints.as_ref().map(|rule| (CHECKPOINTS, rule.layer));
    let completion = run.limits.completion.as_ref().map(|rule| (COMPLETION, rule.layer));
    let found = |(limit, _): &(&str, Layer)| run.warned.iter().any(|(warned, _)| warned == limit);
    let (limit, layer) = [checkpoints, completion].into_iter().flatten().find(found)?;
    (!run.missing.is_empty()).then(|| finding(limit, layer, run.missing.join("; ")))
}
