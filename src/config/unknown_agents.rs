//! Agent types that the configuration has limits of and that nothing here knows: slips of the pen, most of them.

use crate::config::place::SettingPlace;
use crate::config::policy::Policy;
use crate::config::problem::{Problem, nearest};
use crate::config::setting::Document;
use crate::domain::policy::Layer;

/// Of names as short as this any other is near.
const SHORTEST_NAME: usize = 3;

/// The client's own agent types.
const CLIENTS: [&str; 5] = ["general-purpose", "Explore", "Plan", "statusline-setup", "claude-code-guide"];

/// Names the agent types that files set limits of and that are not known here: by a file of an agent, by the client, or by the
/// built-in defaults. Types of plugins, which have a `:` in them, are not known to anybody.
pub fn find(policy: &Policy, known: &[String]) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    let types = |document: &'_ Document| {
        let named = document.settings.iter().filter_map(|setting| match &setting.place {
            SettingPlace::Agents(name) => Some(name.clone()),
            _ => None,
        });
        named.collect::<Vec<_>>()
    };
    let (built_in, files): (Vec<&Document>, Vec<&Document>) =
        policy.documents.iter().partition(|document| document.layer == Layer::BuiltIn);
    let mut names: Vec<String> = built_in.into_iter().flat_map(types).filter(|name| !name.contains('*')).collect();
    names.extend(CLIENTS.map(str::to_owned).into_iter().chain(known.iter().cloned()));
    // A watch week is the time to mend a slip.
    for document in files.into_iter().chain(&policy.observed) {
        let mut unknown = types(document);
        unknown.retain(|name| !name.contains(['*', ':']) && !names.contains(name));
        unknown.dedup();
        for name in unknown {
            let key = format!("agents.{name}");
            let problem = Problem { key, ..Problem::of_document(document, "") }.warning();
            let problem = problem.says("has limits, but no agent of this type is known here");
            let near = nearest(&name, names.iter().map(String::as_str)).filter(|_| name.len() > SHORTEST_NAME);
            problems.push(match near {
                Some(nearest) => problem.hint(format!("the nearest is `{nearest}`")),
                None => problem,
            });
        }
    }
    problems
}
