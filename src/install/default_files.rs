//! What `init` puts beside the settings: a `fusebox.json` to write limits into, its schema, and git's list of files to leave out.

use serde_json::{Value, json};

use crate::config::schema;
use crate::domain::billing::Billing;
use crate::install::json as text;
use crate::install::json::Span;
use crate::install::place::InstallScope;

/// The name of the policy file.
pub const POLICY: &str = "fusebox.json";

/// The name of the schema's copy.
pub const SCHEMA: &str = "fusebox.schema.json";

/// The folder of a project's log.
pub const LOGS: &str = "logs";

/// The key that says how the person pays.
const BILLING: &str = "billing";

/// The first line of our part of git's `info/exclude`.
const EXCLUDE_TITLE: &str = "# fusebox: what must not be committed by accident";

/// What git leaves out wherever Fusebox is registered in a project.
const EXCLUDED: [&str; 4] = [
    "**/.claude/settings.local.json",
    "**/.claude/fusebox.local.json",
    "**/.claude/logs/execution-limits.log*",
    "**/.claude/fusebox.schema.json",
];

/// What it leaves out too where Fusebox is registered for one person alone.
const EXCLUDED_LOCALLY: [&str; 1] = ["**/.claude/fusebox.json"];

/// Whether limits bite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StarterMode {
    /// As the defaults and other files say.
    Unsaid,
    /// Everything is decided and logged, nothing is blocked.
    Observe,
}

/// Returns the policy file to be: one that says nothing yet, or the present one, in which at most the mode is changed.
pub fn policy(present: Option<&str>, mode: StarterMode) -> String {
    let start = present.unwrap_or("{\n  \"$schema\": \"fusebox.schema.json\"\n}\n");
    let mut policy = start.to_owned();
    if let (StarterMode::Observe, Some(root)) = (mode, object(start)) {
        policy = match text::member(start, &root, "mode") {
            Some(span) => text::replace(start, &span, &json!("observe")),
            None => text::insert(start, &root, Some("mode"), &json!("observe")),
        };
    }
    if present.is_some() {
        return policy;
    }
    ["session", "main", "agents"].iter().fold(policy, |policy, name| match text::root(&policy) {
        Some(root) => text::insert(&policy, &root, Some(name), &Value::Object(Default::default())),
        None => policy,
    })
}

/// Returns a person's own policy file that says that a plan pays; as it is where it cannot be edited or says how it is paid.
pub fn paid_by_plan(present: Option<&str>) -> String {
    let start = present.unwrap_or("{\n}\n");
    match object(start).filter(|root| text::member(start, root, BILLING).is_none()) {
        Some(root) => text::insert(start, &root, Some(BILLING), &json!(Billing::Plan)),
        None => start.to_owned(),
    }
}

/// Whether a file is as `init` writes it where there is none.
pub fn is_as_written(name: &str, text: &str) -> bool {
    let starters = || [StarterMode::Unsaid, StarterMode::Observe].map(|mode| policy(None, mode));
    match name {
        SCHEMA => text == schema::text(),
        _ => {
            let is_starter = |starter: String| text == paid_by_plan(Some(&starter)) || text == starter;
            text == paid_by_plan(None) || starters().into_iter().any(is_starter)
        }
    }
}

/// Returns the span of a policy that can be edited.
fn object(policy: &str) -> Option<Span> {
    text::check(policy).ok().and_then(|()| text::root(policy)).filter(|span| policy[span.clone()].starts_with('{'))
}

/// Returns git's `info/exclude` with our part for these registrations; without it where there are none.
pub fn exclude(present: &str, scopes: &[InstallScope]) -> String {
    let mut lines: Vec<&str> = present.split_inclusive('\n').filter(|line| !is_our_line(line.trim())).collect();
    if scopes.is_empty() {
        return lines.concat();
    }
    let alone = !scopes.contains(&InstallScope::Project);
    let ours = EXCLUDED.iter().chain(EXCLUDED_LOCALLY.iter().filter(|_| alone));
    let part = [EXCLUDE_TITLE].iter().chain(ours).map(|line| format!("{line}\n")).collect::<String>();
    let gap = if lines.last().is_some_and(|line| !line.ends_with('\n')) { "\n" } else { "" };
    lines.extend([gap, &part]);
    lines.concat()
}

fn is_our_line(line: &str) -> bool {
    line == EXCLUDE_TITLE || EXCLUDED.contains(&line) || EXCLUDED_LOCALLY.contains(&line)
}
