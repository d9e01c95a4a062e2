//! Where limits come from: files in, rules or problems out.

mod agent_types;
mod binding;
mod binding_law;
mod budgets;
mod commands;
mod duties;
mod generated;
mod layers;
mod locks;
mod manual;
mod mistakes;
mod own_prices;
mod problems;
mod promises;
mod rights;
mod team;
mod unknown_types;

use fusebox::config::frontmatter;
use fusebox::config::layers::{Folder, LAYER_FILES, LayerFile};
use fusebox::config::limit_name;
use fusebox::config::policy::Policy;
use fusebox::config::problem::Problem;
use fusebox::config::read;
use fusebox::config::resolve::Trust;
use fusebox::domain::limit::{Limit, Role};
use fusebox::domain::limit_set::{LimitRule, LimitSet, Models, PLANNING, Rate};

const USER: &str = "~/fusebox.json";
const USER_SETTINGS: &str = "~/settings.json";
const PROJECT: &str = "fusebox.json";
const PROJECT_SETTINGS: &str = "settings.json";
const LOCAL: &str = "fusebox.local.json";
const MANAGED: &str = "/fusebox.json";
/// An agent's file; its type is `reviewer`.
const AGENT: &str = "reviewer.md";
/// The prompt of an Agent call.
const SPAWN: &str = "spawn";
/// The user has said `fusebox trust`.
const TRUST: (&str, &str) = ("trust", "");

/// Reads the user's file; `expected` leaves out how every one of its problems begins.
#[track_caller]
fn check_problem(text: &str, expected: &str) {
    check(&[(USER, text)], "problems", &expected.replace(" @ ", " in `~/fusebox.json` (user) "));
}

/// Asks for what holds under these files. `who` is `session`, `main` or an agent type; after it comes a limit, or another
/// part of the rules. `problems` asks for everything that is wrong.
#[track_caller]
fn check(files: &[(&str, &str)], question: &str, expected: &str) {
    let (pinned, mut problems) = policy(files);
    let prompt = files.iter().find(|file| file.0 == SPAWN).map(|file| file.1);
    let (who, part) = question.split_once(' ').unwrap_or((question, ""));
    let rules = match who {
        "session" => pinned.session(),
        "main" => pinned.main(),
        "user" => pinned.user(),
        "project" => pinned.project(),
        "problems" => pinned.agent("reviewer", prompt).0,
        agent_type => pinned.agent(agent_type, prompt).0,
    };
    problems.extend(pinned.agent("reviewer", prompt).1);
    let answer = match (who, part) {
        ("problems", _) => problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n"),
        ("mode", _) => format!("{:?}", pinned.mode()),
        ("on_error", _) => format!("{:?}", pinned.on_error()),
        ("team", _) => pinned.team().map_or("none".to_owned(), |it| {
            let ceiling = it.ceiling.map_or("none".to_owned(), |ceiling| ceiling.to_string());
            format!("{} {:?} {} {} {ceiling}", it.name, it.on_stale, it.max_staleness_ms, it.sync_interval_ms)
        }),
        ("time_zone", _) => format!("{:?}", pinned.time_zone()),
        (_, "all") => all(&rules),
        (_, "rates") => rules.rates.iter().map(rate).collect::<Vec<_>>().join(", "),
        (_, "checkpoints") => rules.checkpoints.map_or("none".to_owned(), |it| {
            format!("{} {:?} {:?} {} {}", it.file, it.required, it.max_gap_ms, it.retries, it.layer)
        }),
        (_, "completion") => rules
            .completion
            .map_or("none".to_owned(), |it| format!("{} {} {} {}", it.command, it.timeout_ms, it.retries, it.layer)),
        (_, "explicit_stop") => {
            rules.explicit_stop.map_or("none".to_owned(), |it| format!("{:?} {:?} {}", it.tools, it.marker, it.layer))
        }
        (_, "discipline") => pinned.discipline(who).unwrap_or("none".to_owned()),
        (_, "grace") => format!("{}, finalizes Bash: {}", rules.grace_turns, rules.finalizes("Bash")),
        (_, "telling") => format!("{:?} {} {}", rules.warn_at, rules.remaining_each_turn, rules.count_cache_reads),
        (_, "roles") => rules.limits.iter().filter_map(roles).collect::<Vec<_>>().join(", "),
        (_, key) => one(&rules, key),
    };
    assert_eq!(answer, expected, "{question} under {files:#?}; problems: {problems:#?}");
}

/// Writes every rule but those on repetition and refusals, which every run has.
fn all(rules: &LimitSet) -> String {
    let told = rules.limits.iter().filter(|rule| rule.limit.action.is_none());
    told.map(|rule| format!("{} {}", rule.name(), written(rule))).collect::<Vec<_>>().join(", ")
}

/// Writes which models a rule counts by their role; the others count the rest of the same.
fn roles(rule: &LimitRule) -> Option<String> {
    match rule.models.as_ref()? {
        Models::Role(Role::Planning, models) => {
            let usual = || PLANNING.map(str::to_owned).to_vec();
            Some(format!("Planning {:?}", models.clone().unwrap_or_else(usual)))
        }
        Models::Role(Role::Execution, _) => Some("Execution [...]".to_owned()),
        Models::Like(_) => None,
    }
}

fn rate(rate: &Rate) -> String {
    let tool = if rate.tool.is_empty() { "requests" } else { &rate.tool };
    format!("{tool} {}/{} {} {}", rate.max, rate.per_ms, rate.action.as_str(), rate.layer)
}

fn policy(files: &[(&str, &str)]) -> (Policy, Vec<Problem>) {
    let (mut docs, mut agents, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for (name, text) in files {
        if let Some(source) = source(name)
            && let Some(reading) = read::text(source, name, text)
        {
            docs.push(reading.document);
            problems.extend(reading.problems);
        }
        if *name == AGENT {
            let agent = frontmatter::agent(name, "reviewer", text).unwrap();
            agents.push((agent.name, agent.reading.document));
            problems.extend(agent.reading.problems);
        }
    }
    let (pinned, dropped) = Policy::of(docs, agents, Trust::from(files.contains(&TRUST)));
    problems.extend(dropped);
    let text = serde_json::to_string(&pinned).unwrap();
    assert_eq!(serde_json::from_str::<Policy>(&text).unwrap(), pinned, "what is pinned comes back from the database");
    (pinned, problems)
}

fn source(name: &str) -> Option<&'static LayerFile> {
    let (folder, file) = match name.strip_prefix("~/") {
        Some(file) => (Folder::Claude, file),
        None => name.strip_prefix('/').map_or((Folder::Project, name), |file| (Folder::Managed, file)),
    };
    LAYER_FILES.iter().find(|source| source.folder == folder && source.file == file)
}

/// Writes one rule: cap, action, layer.
fn one(rules: &LimitSet, name: &str) -> String {
    Limit::find(name).unwrap();
    rules.limits.iter().find(|rule| rule.name() == name).map_or_else(|| "none".to_owned(), written)
}

fn written(rule: &LimitRule) -> String {
    let cap = limit_name::written(rule.limit, rule.cap);
    let locked = if rule.locked { " locked" } else { "" };
    format!("{cap} {} {}{locked}", rule.action.as_str(), rule.layer)
}
