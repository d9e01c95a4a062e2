//! `fusebox reload`: running sessions take the configuration as it is now.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cmd::config::{project_folder, tell_ignored};
use crate::cmd::limit_changes;
use crate::cmd::require_human;
use crate::config::load;
use crate::config::problem::Problem;
use crate::domain::moment::Moment;
use crate::domain::run::kind_of;
use crate::domain::session::{Session, Status};
use crate::engine::clear_orders;
use crate::engine::next_prompt;
use crate::engine::renew_limits;
use crate::engine::session_lifecycle;
use crate::engine::session_state::SessionState;
use crate::error::{Error, Result};
use crate::hook::origin::client_lineage;
use crate::hook::policy::limit_source::PinnedLimits;
use crate::hook::policy::shared_budgets;
use crate::hook::{policy, settings};
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::store::Store;
use crate::ui::terminal::plain;
use crate::wire::messages::short;
use crate::wire::user_lines::by_layer;

/// How many changes of a session are shown.
const SHOWN: usize = 8;

/// Arguments of `fusebox reload`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A session keeps the limits it started with, whatever happens to the files: an agent must not change its own. This command
is how a person takes an edit up. What was granted stays granted.

Examples:
  fusebox reload          the running sessions of this project
  fusebox reload --all    every running session of this machine")]
pub struct Args {
    /// Reload the sessions of every project
    #[arg(long)]
    all: bool,
}

/// Reloads the running sessions.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    require_human::require(env, "reload")?;
    let project = env.project_of(&project_folder(env));
    let store = Store::open(env)?;
    store.begin()?;
    let mut sessions = store.open_sessions()?;
    sessions.retain(|session| args.all || Path::new(&session.project) == project);
    let problems = problems(env, &store, &sessions)?;
    let said: Vec<String> = sessions.into_iter().map(|session| reload(env, &store, session)).collect::<Result<_>>()?;
    store.commit()?;
    if said.is_empty() {
        // Neither form of the command finds any.
        let none = args.all || store.open_sessions()?.is_empty();
        return Err(match none {
            true => Error::failed("no client is at work in any session")
                .hint("start a client, or resume a session: each takes the configuration as it is then"),
            false => Error::failed("no client is at work in a session of this project")
                .hint("run `fusebox reload --all` for every project; a session takes the configuration as it is when its client starts"),
        });
    }
    store.leave();
    env.print(&said.concat());
    problems.iter().for_each(|(folder, problems)| tell_ignored(env, folder, problems));
    Ok(ExitCode::SUCCESS)
}

/// Returns what is wrong in the configuration of each session's folder. Where all of a file is, nothing is reloaded: its limits would be
/// gone without anybody having taken them out.
fn problems(env: &Environment, store: &Store, sessions: &[Session]) -> Result<BTreeMap<PathBuf, Vec<Problem>>> {
    let mut found = BTreeMap::new();
    for session in sessions {
        let folder = PathBuf::from(&session.folder);
        let problems = load::load(env, &folder, store.is_trusted(&session.project)?).1;
        if let Some(broken) = problems.iter().find(|problem| problem.is_of_whole_file()) {
            return Err(Error::failed(format!("{}: nothing is reloaded", plain(&broken.to_string())))
                .hint("the sessions keep the limits that they have; mend the file, then `fusebox reload` again"));
        }
        found.insert(folder, problems);
    }
    Ok(found)
}

/// What is said of a session whose hooks are registered no more.
const LET_GO: &str = "it is let go: no hook of Fusebox is registered for it any more; its client reads that within seconds, and from \
                      then on nothing counts or limits it";

fn reload(env: &Environment, store: &Store, mut session: Session) -> Result<String> {
    let before = session.clone();
    policy::pin::take_files(env, store, &mut session)?;
    client_lineage::remember(store, &session, session.last.boot)?;
    let goes_on = before.order.is_some() && session.order.is_none();
    let waited = settings::baseline::take_for_a_person(env, store, &mut session)?.is_some();
    settings::watch::forget_told(&mut session);
    let has_hooks = !waited || !settings::baseline::registered(env, &session).events.is_empty();
    let mut state = SessionState::new(session);
    for run in store.runs_of(&state.session.id)? {
        state.insert_loaded_run(run);
    }
    shared_budgets::load(store, &mut state, env.now())?;
    let mut changes = limit_changes::of_session(&before, &state.session);
    if before.policy != state.session.policy {
        changes.extend(limit_changes::granted(&state.session.limits));
    }
    changes.extend(limit_changes::with_granted(store, &before, &state.session)?);
    let rulebook = PinnedLimits::of(env, store, &state.session);
    changes.extend(take_rules(&mut state, &rulebook));
    changes.extend(limit_changes::of_types(store, &before, &state.session));
    if changes.is_empty() && before.policy != state.session.policy {
        changes.push("what limits agents that start from now on has changed".to_owned());
    }
    let ids: Vec<String> = state.runs().map(|run| run.id.clone()).collect();
    let lifted = clear_orders::clear_outgrown_run_orders(&mut state, &ids, env.now());
    let is_woken = waited && settings::baseline::wake(env, &state.session);
    let name = short(&before.id);
    if is_woken && !has_hooks {
        state.session.diverted.let_go = true;
        session_lifecycle::end(&mut state);
        store.save(&mut state)?;
        return Ok(format!("session {name}: {LET_GO}\n"));
    }
    let what = match changes.is_empty() {
        false => notices::reloaded(require_human::who(env)),
        true => notices::reloaded_same(require_human::who(env)),
    };
    require_human::announce(env, store, &mut state.session, &what)?;
    store.save(&mut state)?;
    let mut said = taken(name, &changes, waited, is_woken);
    if goes_on {
        said += &format!("session {name} was stopped by a limit that does not stop it any more: it may go on\n");
    }
    let is_free = state.session.order.is_none() && !goes_on;
    let next = next_prompt(&state, env.now());
    for run in lifted.iter().filter(|_| is_free).filter_map(|id| state.run(id)) {
        let how = match run.status {
            Status::Failed => &next,
            _ if run.cut_off && !run.is_main() => "it goes on when the main agent sends it a message",
            _ => "it may go on",
        };
        said += &format!(
            "{} {} was stopped by a limit that does not stop it any more: {how}\n",
            run.agent_type,
            short(&run.id)
        );
    }
    Ok(said)
}

/// Says what becomes of the next prompt, where nothing holds the main agent any more.
fn next_prompt(state: &SessionState, now: Moment) -> String {
    match next_prompt::blocks(state, now).first() {
        None => "the next prompt starts afresh".to_owned(),
        Some(block) => format!("the next prompt would still be blocked ({})", by_layer(block)),
    }
}

/// Gives every run the rules that are the session's now; returns what has changed.
fn take_rules(state: &mut SessionState, rulebook: &PinnedLimits) -> Vec<String> {
    let (policy, main) = (state.session.policy, state.session.main.clone());
    let is_current = |id: &str| main.as_deref() == Some(id);
    let ids: Vec<String> = state.runs().map(|run| run.id.clone()).collect();
    let mut changes = Vec::new();
    for id in ids {
        let Some(run) = state.run_mut(&id) else { continue };
        let old = run.limits.clone();
        renew_limits::take_rules(run, rulebook);
        run.policy = policy;
        // Of one that has ended the new limits are told nowhere, and matter where it is woken.
        let matters = run.working || run.order.is_some() || is_current(&id);
        let changed =
            limit_changes::of_limits(&format!("{} {}", kind_of(&run.agent_type), short(&run.id)), &old, &run.limits);
        changes.extend(changed.into_iter().filter(|_| matters));
    }
    changes
}

/// Says what a session takes: what has changed of its limits, and settings that `waited` where its client `is_woken` to read them.
fn taken(name: &str, changes: &[String], waited: bool, is_woken: bool) -> String {
    let what = if changes.is_empty() { "its limits have not changed" } else { "it takes the limits as they are now" };
    let settings = match (waited, is_woken) {
        (false, _) => "",
        (true, true) => "; it takes the settings that waited",
        (true, false) => "; there is no settings file left to tell its client with: start it anew to take what waited",
    };
    let mut said = format!("session {name}: {what}{settings}\n");
    said.extend(changes.iter().take(SHOWN).map(|change| format!("  {}\n", plain(change))));
    if let more @ 1.. = changes.len().saturating_sub(SHOWN) {
        said += &format!("  and {more} more: `fusebox config show`\n");
    }
    said
}
