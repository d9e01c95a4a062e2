//! `fusebox config`: what is in force and why, what is wrong, and the schema.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use crate::cmd::config_check;
use crate::config::effective::{self, Effective};
use crate::config::place::{Block, Who};
use crate::config::policy::{BUILT_IN, Policy};
use crate::config::problem::Problem;
use crate::config::{load, schema, unknown_agents};
use crate::domain::layer::Layer;
use crate::domain::text::shell_word::typed;
use crate::error::Result;
use crate::hook::policy::learned_caps;
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::store::{self, Store, trust};
use crate::ui::formats::counted;
use crate::ui::style::length;
use crate::ui::terminal::plain;
use crate::ui::wrap::wrap;

/// Arguments of `fusebox config`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fusebox config check                    all that is wrong here, with what may have been meant
  fusebox config show                     every value in force, its source and what it replaced
  fusebox config show --agent developer   the limits of one agent type
  fusebox config schema >schema.json      for an editor")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

/// What to do with the configuration.
#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show every value in force, with its source and what it replaced
    #[command(after_help = "\
Examples:
  fusebox config show
  fusebox config show --agent developer   the limits of one agent type
  fusebox config show --json              for a program")]
    Show(ShowArgs),
    /// Show all that is wrong; exit with 1 where something is ignored
    #[command(after_help = "Examples:\n  fusebox config check\n  fusebox config check --json   for a program")]
    Check(config_check::Args),
    /// Print the JSON schema of fusebox.json
    #[command(after_help = "Examples:\n  fusebox config schema >schema.json   for an editor")]
    Schema,
}

/// Arguments of `fusebox config show`.
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// Show the limits of this agent type alone
    #[arg(long, value_name = "TYPE")]
    agent: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How wide the column of layers is: `project-local`.
const LAYER: usize = 13;

/// The narrowest that the column of values is.
const NARROWEST: usize = 16;

/// The widest that the column of values is: whose a value is stays beside it.
const WIDEST: usize = 64;

/// Values under one heading.
struct Section {
    heading: String,
    values: Vec<Effective>,
}

/// Runs `fusebox config`.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    match &args.command {
        Command::Show(args) => Ok(show(env, args)),
        Command::Check(args) => Ok(config_check::run(env, &project_folder(env), args)),
        Command::Schema => {
            env.print_data(&schema::text());
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn show(env: &Environment, args: &ShowArgs) -> ExitCode {
    let folder = project_folder(env);
    let (mut policy, problems) = load::load(env, &folder, trust::is_trusted(env, &folder));
    let learned = store::is_there(env).then(|| learned_caps::known(&Store::open(env)?)).transpose();
    match learned {
        Ok(learned) if policy.adaptive() => policy.learned = learned.flatten().unwrap_or_default(),
        Ok(_) => {}
        Err(cause) => env.eprintln_safe(&format!("warning: {cause}")),
    }
    let sections = match &args.agent {
        Some(agent_type) => vec![agent(&policy, agent_type)],
        None => all(&policy),
    };
    match args.json {
        true => env.print_data(&as_json(&sections)),
        false => env.print(&as_text(&sections, env.width())),
    }
    tell_ignored(env, &folder, &problems);
    let unknown = |name: &String| unknown_agents::unknown(&policy, &load::agent_types(env, &folder), name);
    if let Some(unknown) = args.agent.as_ref().and_then(unknown) {
        env.eprintln_safe(&plain(&format!("note: {unknown}")));
    }
    ExitCode::SUCCESS
}

/// Says how much of a folder's configuration is not in force; nothing where all of it is.
pub fn tell_ignored(env: &Environment, folder: &Path, problems: &[Problem]) {
    let ignored = problems.iter().filter(|problem| problem.is_ignored()).count();
    if ignored > 0 {
        let there = if folder == project_folder(env) {
            String::new()
        } else {
            format!(" in {}", plain(&env.short_path(folder)))
        };
        let words = format!("{} ignored{there}: `fusebox config check` says which", counted(ignored as u64, "value"));
        env.eprintln_safe(&words);
    }
}

fn all(policy: &Policy) -> Vec<Section> {
    let mut top = effective::set(policy, Who::Top);
    top.extend(effective::unset(None, &top));
    top.extend(effective::ceilings(&top));
    let mut sections = vec![
        Section { heading: "all".to_owned(), values: top },
        Section { heading: "session".to_owned(), values: effective::set(policy, Who::Session) },
        Section { heading: "main".to_owned(), values: effective::set(policy, Who::Main) },
    ];
    for (who, heading) in [(Who::User, "user"), (Who::Project, "project")] {
        let values = effective::set(policy, who);
        if !values.is_empty() {
            sections.push(Section { heading: heading.to_owned(), values });
        }
    }
    for name in effective::agent_types(policy) {
        let values = effective::set(policy, policy.who(name));
        sections.push(Section { heading: format!("agents.{name}"), values });
    }
    let defaults = effective::unset(Some(Block::Agents), &[]);
    sections.push(Section { heading: "where a block says nothing".to_owned(), values: defaults });
    sections
}

fn agent(policy: &Policy, agent_type: &str) -> Section {
    let mut values = effective::set(policy, policy.who(agent_type));
    values.extend(effective::unset(Some(Block::Agents), &values));
    Section { heading: format!("agents.{agent_type}"), values }
}

fn as_json(sections: &[Section]) -> String {
    let sections: Map<String, Value> =
        sections.iter().map(|section| (section.heading.clone(), json!(section.values))).collect();
    format!("{:#}\n", json!({ "version": 1, "values": sections }))
}

fn as_text(sections: &[Section], width: usize) -> String {
    let text = sections.iter().map(|section| section_text(section, width)).collect::<Vec<_>>().join("\n");
    let mut files: Vec<(Layer, &str)> = Vec::new();
    for it in sections.iter().flat_map(|section| &section.values) {
        let sources = it.overridden.iter().map(|old| (old.layer, old.path.as_str()));
        files.extend(std::iter::once((it.layer, it.path.as_str())).chain(sources));
    }
    files.retain(|(_, path)| *path != BUILT_IN);
    files.sort_unstable();
    files.dedup();
    let named = files
        .iter()
        .map(|(layer, path)| format!("  {:LAYER$}  {}\n", layer.to_string(), plain(&typed(Path::new(path)))));
    if files.is_empty() { text } else { format!("{text}\nfiles\n{}", named.collect::<String>()) }
}

fn section_text(section: &Section, width: usize) -> String {
    let mut rows: Vec<[String; 3]> = Vec::new();
    for it in &section.values {
        let value = match it.action {
            Some(action) if it.observed => format!("{} {} observed", written(&it.value), action.as_str()),
            None if it.observed => format!("{} observed", written(&it.value)),
            Some(action) => format!("{} {}", written(&it.value), action.as_str()),
            None if is_overruled(it, section) => format!("{} overridden", written(&it.value)),
            None if is_of_built_in(it, section) => format!("{} for built-in caps", written(&it.value)),
            None => written(&it.value),
        };
        rows.push([it.key.clone(), value, it.layer.to_string()]);
        for old in &it.overridden {
            rows.push([String::new(), format!("{} overridden", written(&old.value)), old.layer.to_string()]);
        }
    }
    let rows: Vec<[String; 3]> = rows.into_iter().map(|row| row.map(|cell| plain(&cell))).collect();
    let longest = |column: usize| rows.iter().map(|row| length(&row[column])).max().unwrap_or(0);
    let keys = longest(0);
    let before = 2 + keys + 2;
    let values = longest(1).min(width.saturating_sub(before + 2 + LAYER).max(NARROWEST)).min(WIDEST);
    let line = |[key, value, source]: &[String; 3]| {
        // A long value goes on in its own column.
        let value = wrap(value, before + values, before);
        let (first, rest) = value.split_once('\n').map_or((value.as_str(), ""), |(first, rest)| (first, rest));
        let rest = if rest.is_empty() { String::new() } else { format!("{rest}\n") };
        format!("  {key:keys$}  {first:values$}  {source}\n{rest}")
    };
    let lines: String = if rows.is_empty() { "  nothing\n".to_owned() } else { rows.iter().map(line).collect() };
    format!("{}\n{lines}", plain(&section.heading))
}

/// Writes a value as configuration does, with spaces at which it can be broken.
fn written(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| format!("{}: {}", json!(key), written(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    }
}

/// Whether an action of a single limit is not what the limit does: a stronger layer says else.
fn is_overruled(it: &Effective, section: &Section) -> bool {
    let Some(limit) = it.key.strip_prefix("actions.") else { return false };
    let does = section.values.iter().find(|other| other.key == limit).and_then(|other| other.action);
    does.is_some_and(|action| it.value != json!(action.as_str()))
}

/// Whether an action is that of the built-in caps of an agent type alone, and others have been set beside them.
fn is_of_built_in(it: &Effective, section: &Section) -> bool {
    let is_action = it.key == "timeout_action" && it.layer == Layer::BuiltIn;
    let mut caps = section.values.iter().filter(|other| other.action.is_some());
    is_action && section.heading.starts_with("agents.") && caps.any(|other| other.layer != Layer::BuiltIn)
}

/// Returns the folder whose `.claude` a client started here would read: the nearest one, up to the repository's root.
pub fn project_folder(env: &Environment) -> PathBuf {
    if let Some(folder) = env.var("CLAUDE_PROJECT_DIR") {
        return PathBuf::from(folder);
    }
    let here = env.folder();
    // The folder of a person's own configuration is no project's.
    let is_project = |claude: PathBuf| file_info::is_folder(&claude) && env.claude_dir() != Some(claude);
    let mut at = Some(here.as_path());
    while let Some(folder) = at {
        if is_project(folder.join(".claude")) || file_info::exists(&folder.join(".git")) {
            return folder.to_path_buf();
        }
        at = folder.parent();
    }
    here
}
