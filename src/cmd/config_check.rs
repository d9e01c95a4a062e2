//! `fusebox config check`: what is wrong with the configuration.

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cmd::run_hooks;
use crate::config::effective;
use crate::config::load;
use crate::config::place::Who;
use crate::config::policy::Policy;
use crate::config::problem::{Problem, Severity};
use crate::domain::action::Action;
use crate::domain::layer::Layer;
use crate::domain::limit_set::LimitRule;
use crate::domain::mode::Mode;
use crate::platform::environment::Environment;
use crate::store::trust;
use crate::ui::formats::counted;
use crate::ui::json as indented;
use crate::ui::terminal::plain;

/// Arguments of `fusebox config check`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON: whether it is `valid`, how many values are `ignored`, and each of the `problems`
    #[arg(long)]
    json: bool,
}

/// Says all that is wrong in a folder.
pub fn run(env: &Environment, folder: &Path, args: &Args) -> ExitCode {
    let (policy, problems) = load::checked_load(env, folder, trust::is_trusted(env, folder));
    let warnings: Vec<String> = loose_ends(&policy).into_iter().chain(replaced(&policy)).collect();
    let errors = problems.iter().filter(|problem| problem.is_error()).count();
    let ignored = problems.iter().filter(|problem| problem.is_ignored()).count();
    if args.json {
        let problems: Vec<Value> = problems.iter().map(as_json).chain(warnings.iter().map(|it| warning(it))).collect();
        let all = json!({"version": 1, "valid": errors == 0, "ignored": ignored, "problems": problems});
        env.print_data(&indented::text(&all));
        return ExitCode::from(u8::from(errors > 0));
    }
    let mut text = String::new();
    for problem in &problems {
        let severity = if problem.is_error() { "error" } else { "warning" };
        text += &format!("{severity}: {}\n", plain(&problem.to_string()));
    }
    for warning in &warnings {
        text += &format!("warning: {}\n", plain(warning));
    }
    let is_valid = match errors {
        0 => "the configuration is valid".to_owned(),
        errors => format!("{} in the configuration", counted(errors as u64, "error")),
    };
    text += &match ignored {
        0 => format!("{is_valid}\n"),
        ignored => format!("{is_valid}; {} ignored, everything else is in force\n", counted(ignored as u64, "value")),
    };
    env.print(&text);
    run_hooks::missing(env).inspect(|said| env.eprintln_safe(said));
    ExitCode::from(u8::from(errors > 0))
}

fn as_json(problem: &Problem) -> Value {
    let Problem { severity, layer, path, key, value, hint, .. } = problem;
    let is_ignored = *severity >= Severity::GivesWay;
    let severity = if problem.is_error() { "error" } else { "warning" };
    json!({"severity": severity, "ignored": is_ignored, "layer": layer, "path": path, "key": key, "value": value,
        "hint": hint, "says": problem.to_string()})
}

/// Returns the form of a warning that is about no single value.
fn warning(says: &str) -> Value {
    json!({"severity": "warning", "ignored": false, "says": says})
}

/// Returns what is valid and yet leaves agents unbounded.
fn loose_ends(policy: &Policy) -> Vec<String> {
    let session = policy.session();
    let mut warnings = Vec::new();
    let bounds = |rule: &LimitRule| rule.action != Action::Warn && rule.models.is_none() && rule.limit.bounds_session;
    if !session.limits.iter().any(bounds) {
        warnings.push(
            "nothing bounds a session: no limit of `session` ends it or asks; set `session.max_cost_usd`".to_owned(),
        );
    }
    if policy.mode() == Mode::Observe {
        warnings.push("nothing is blocked: `mode` is `observe`".to_owned());
    }
    warnings
}

/// Returns which limits of a member's own do not hold, since the repository says else.
fn replaced(policy: &Policy) -> Vec<String> {
    let types = effective::agent_types(policy).into_iter().map(|name| (format!("agents.{name}"), policy.who(name)));
    let blocks = [("session".to_owned(), Who::Session), ("main".to_owned(), Who::Main)].into_iter().chain(types);
    let mut warnings = Vec::new();
    for (block, who) in blocks {
        for it in effective::set(policy, who).iter().filter(|it| it.action.is_some() && it.layer == Layer::Project) {
            let own = it.overridden.iter().filter(|old| old.layer == Layer::User && old.value != it.value);
            warnings.extend(own.map(|own| {
                let (key, said, says) = (&it.key, &own.value, &it.value);
                format!("`{block}.{key}: {said}` in `{}` does not hold here: the repository says {says}", own.path)
            }));
        }
    }
    warnings
}
