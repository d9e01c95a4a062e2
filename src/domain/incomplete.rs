//! What is missing at the end of an agent's work.

use crate::domain::action::Action;
use crate::domain::finding_source::FindingSource;
use crate::domain::layer::Layer;
use crate::domain::run::Run;
use crate::domain::scope::Scope;
use crate::domain::verdict::Finding;

/// Makes the finding of a rule about the end of an agent's work; `what` is its sentence.
pub fn finding(source: FindingSource, layer: Layer, what: String) -> Finding {
    Finding { subject: what, ..Finding::bare(source, Scope::Run, Action::Warn, layer) }
}

/// Whether a finding is about what is missing at the end of an agent's work.
pub fn is_of_end(finding: &Finding) -> bool {
    matches!(finding.source, FindingSource::Checkpoints | FindingSource::Completion)
}

/// Returns what was still missing when a run ended, for its parent.
pub fn incomplete(run: &Run) -> Option<Finding> {
    let checkpoints = run.limits.checkpoints.as_ref().map(|rule| (FindingSource::Checkpoints, rule.layer));
    let completion = run.limits.completion.as_ref().map(|rule| (FindingSource::Completion, rule.layer));
    let found = |(source, _): &(FindingSource, Layer)| run.warned.iter().any(|(warned, _)| *source == **warned);
    let (source, layer) = [checkpoints, completion].into_iter().flatten().find(found)?;
    (!run.missing.is_empty()).then(|| finding(source, layer, run.missing.join("; ")))
}
