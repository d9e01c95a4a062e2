//! Agent types that the configuration has limits of and that nothing here knows: slips of the pen, most of them.

use crate::config::place::SettingPlace;
use crate::config::policy::Policy;
use crate::config::problem::{Problem, nearest};
use crate::config::setting::Document;
use crate::domain::agent_type::{folded, is_same};
use crate::domain::layer::Layer;
use crate::domain::text::pattern;

/// Of names as short as this any other is near.
const SHORTEST_NAME: usize = 3;

/// The client's own agent types.
const CLIENTS: [&str; 5] = ["general-purpose", "Explore", "Plan", "statusline-setup", "claude-code-guide"];

/// Names the agent types that files set limits of and that are not known here: by a file of an agent, by the client, or by the
/// built-in defaults. Types of plugins, which have a `:` in them, are not known to anybody.
pub fn find(policy: &Policy, known: &[String]) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    let names = known_here(policy, known);
    let files = policy.documents.iter().filter(|document| document.layer != Layer::BuiltIn);
    // A watch week is the time to mend a slip.
    for document in files.chain(&policy.observed) {
        let mut unknown = types(document);
        unknown.retain(|name| !name.contains(['*', ':']) && !names.iter().any(|known| is_same(known, name)));
        unknown.dedup();
        // What is for all repositories has types that only others know: there a near name alone tells a slip.
        let is_of_all = matches!(document.layer, Layer::User | Layer::Managed);
        let unknown = unknown.into_iter().map(|name| (nearest_type(&name, &names), name));
        for (nearest, name) in unknown.filter(|(nearest, _)| nearest.is_some() || !is_of_all) {
            let key = format!("agents.{name}");
            let problem = Problem { key, ..Problem::of_document(document, "") }.warning();
            let problem = problem.says("has limits, but no agent of this type is known here");
            problems.push(match nearest {
                Some(nearest) => problem.hint(format!("the nearest is `{nearest}`")),
                None => problem,
            });
        }
    }
    problems
}

/// Says that nothing here knows an agent type, with the nearest that is known; nothing of one that files have limits of.
pub fn unknown(policy: &Policy, known: &[String], name: &str) -> Option<String> {
    let names = known_here(policy, known);
    let is_meant = |like: &String| like != "*" && pattern::matches(&folded(like), &folded(name));
    let has_limits = policy.documents.iter().chain(&policy.observed).flat_map(types).any(|like| is_meant(&like));
    if has_limits || name.contains(':') || names.iter().any(|known| is_same(known, name)) {
        return None;
    }
    let near = nearest_type(name, &names).map(|nearest| format!("; the nearest is `{nearest}`")).unwrap_or_default();
    Some(format!("no agent of type `{name}` is known here: these are the limits of all others{near}"))
}

/// Returns the agent types that are known without the files' limits.
fn known_here(policy: &Policy, known: &[String]) -> Vec<String> {
    let built_in = policy.documents.iter().filter(|document| document.layer == Layer::BuiltIn);
    let mut names: Vec<String> = built_in.flat_map(types).filter(|name| !name.contains('*')).collect();
    names.extend(CLIENTS.map(str::to_owned).into_iter().chain(known.iter().cloned()));
    names
}

/// Returns the types that a document has limits of.
fn types(document: &Document) -> Vec<String> {
    let named = document.settings.iter().filter_map(|setting| match &setting.place {
        SettingPlace::Agents(name) => Some(name.clone()),
        _ => None,
    });
    named.collect()
}

fn nearest_type<'a>(name: &str, names: &'a [String]) -> Option<&'a str> {
    nearest(name, names.iter().map(String::as_str)).filter(|_| name.len() > SHORTEST_NAME)
}
