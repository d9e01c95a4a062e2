//! Keeps what a person reads of a team's stop to two lines of 100 columns.

use crate::domain::frees::Frees;
use crate::domain::scope::Scope;
use crate::domain::verdict::Finding;

/// So many characters take two lines, wherever words break.
pub const TWO_LINES: usize = 200;

/// Returns a sentence about a finding so that it takes two lines.
pub fn fit(said: String, finding: &Finding) -> String {
    fitted(said, finding, TWO_LINES)
}

/// Returns a sentence as it is, where it has at most so many characters. Of a longer one about a team's stop it returns what a person
/// does next in place of when that passes: a report says when.
pub fn fitted(said: String, finding: &Finding, room: usize) -> String {
    if !cfg!(feature = "team") || finding.scope != Scope::Team || said.chars().count() <= room {
        return said;
    }
    let step = match &finding.frees {
        Frees::At(text) => text.split_once(", ").map(|(_, asks)| asks),
        Frees::Once(text) => text.split_once(": ").map(|(_, step)| step.split(", or ask ").next().unwrap_or(step)),
        Frees::Never | Frees::In(_) => None,
    };
    let Some(step) = step else { return said };
    let frees = finding.frees.to_string();
    let sentence = step.strip_prefix("ask ").map_or_else(|| step.to_owned(), |rest| format!("Ask {rest}"));
    let shorter = [("It passes ", sentence.as_str()), ("it resets ", step), ("it goes on ", step)];
    shorter.iter().fold(said, |said, (lead, step)| said.replace(&format!("{lead}{frees}"), step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::action::Action;
    use crate::domain::finding_source::FindingSource;
    use crate::domain::layer::Layer;

    #[test]
    fn what_is_too_long_says_what_to_do_and_not_when_it_passes() {
        let long = "x".repeat(TWO_LINES);
        let cases = [
            (Frees::At("2026-12-01 00:00 UTC, ask ann: `grant`".to_owned()), "Ask ann: `grant`", "ask ann: `grant`"),
            (
                Frees::Once("the store is heard: `sync` shows why, or ask ann".to_owned()),
                "`sync` shows why",
                "`sync` shows why",
            ),
        ];
        for (frees, sentence, clause) in cases {
            let source = FindingSource::ExplicitStop;
            let finding = Finding { frees, ..Finding::bare(source, Scope::Team, Action::Terminate, Layer::Team) };
            let from = |lead: &str| format!("{lead}{}.", finding.frees);
            let fit = |said: String| fit(said, &finding);
            assert_eq!(fit(from("It passes ")), from("It passes "));
            assert_eq!(fit(format!("{long}. {}", from("It passes "))), format!("{long}. {sentence}."));
            assert_eq!(fit(format!("{long}; {}", from("it resets "))), format!("{long}; {clause}."));
            let of_user = Finding { scope: Scope::User, ..finding.clone() };
            let said = format!("{long}. {}", from("It passes "));
            assert_eq!(super::fit(said.clone(), &of_user), said);
        }
    }
}
