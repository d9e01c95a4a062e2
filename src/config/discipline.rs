//! The text about discipline for an agent's prompt, with the limits of its run filled in.

use std::fmt::Write;

use crate::config::resolved::Discipline;
use crate::domain::limit_set::{LimitSet, Models};

/// The text that ships.
pub const STANDARD: &str = include_str!("discipline.md");
/// How many tool calls the phases may take where no limit says.
const CALLS: u64 = 40;

/// Returns the finished text; nothing where there is to be none.
pub fn text(form: &Discipline, rules: &LimitSet) -> Option<String> {
    let text = match form {
        Discipline::Off => return None,
        Discipline::Standard => STANDARD,
        Discipline::Own(text) => text,
    };
    let calls = rules.limits.iter().find(|rule| rule.limit.counts_calls()).map_or(CALLS, |rule| rule.cap);
    // A tenth is left for the report.
    let all = (calls - calls / 10).max(1);
    let (prepare, green) = ((all / 4).max(1), (all * 3 / 8).max(1));
    let refactor = all.saturating_sub(prepare + green).max(1);
    let file = rules.checkpoints.as_ref().map(|it| format!(" to `{}`", it.file)).unwrap_or_default();
    let parts = [
        ("{{limits}}", limits(rules)),
        ("{{prepare}}", prepare.to_string()),
        ("{{green}}", green.to_string()),
        ("{{refactor}}", refactor.to_string()),
        ("{{all}}", all.to_string()),
        ("{{file}}", file),
    ];
    Some(parts.iter().fold(text.trim_end().to_owned(), |text, (name, part)| text.replace(name, part)))
}

/// Lists the limits of a run as facts. Those that every run has, on repetition and refusals, need no mention.
fn limits(rules: &LimitSet) -> String {
    let mut list = String::new();
    for rule in rules.limits.iter().filter(|rule| rule.limit.action.is_none()) {
        let models = match &rule.models {
            Some(Models::Like(like)) => format!(" on models like `{like}`"),
            _ => String::new(),
        };
        let (label, cap) = (rule.limit.label_of(rule.billing), rule.limit.show(rule.cap));
        let _infallible = writeln!(list, "- {label}{models}: at most {cap} (`{}`)", rule.limit);
    }
    if let Some(it) = &rules.checkpoints {
        let _infallible = writeln!(list, "- checkpoints in `{}`, in this order: {}", it.file, it.required.join(", "));
    }
    if list.is_empty() { "- no limit is set".to_owned() } else { list.trim_end().to_owned() }
}
