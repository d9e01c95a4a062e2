//! `fusebox reload`: running sessions take the configuration as it is now.

use std::path::Path;
use std::process::ExitCode;

use crate::cmd::config::project_folder;
use crate::cmd::require_human;
use crate::domain::limit_set::LimitSet;
use crate::domain::policy::{Mode, OnError};
use crate::domain::session::Session;
use crate::engine::lift_orders;
use crate::engine::renew_limits;
use crate::engine::session_state::SessionState;
use crate::error::{Error, Result};
use crate::hook::limit_source::PinnedLimits;
use crate::hook::{client_lineage, pin_policy, settings_baseline, shared_budgets};
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::store::Store;
use crate::wire::messages::short;

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
    let mut said = Vec::new();
    for session in
        store.open_sessions()?.into_iter().filter(|session| args.all || Path::new(&session.project) == project)
    {
        said.push(reload(env, &store, session)?);
    }
    store.commit()?;
    if said.is_empty() {
        return Err(
            Error::failed("no session of this project is running").hint("`fusebox reload --all` takes every project")
        );
    }
    env.print(&said.concat());
    store.leave();
    Ok(ExitCode::SUCCESS)
}

fn reload(env: &Environment, store: &Store, mut session: Session) -> Result<String> {
    let before = limits(&session);
    let was_held = session.order.is_some();
    pin_policy::take_files(env, store, &mut session)?;
    client_lineage::remember(store, &session, session.last.boot)?;
    let goes_on = was_held && session.order.is_none();
    let waited = settings_baseline::take_for_a_person(env, store, &mut session)?;
    let rulebook = PinnedLimits::of(env, store, &session);
    let mut state = SessionState::new(session);
    for run in store.runs_of(&state.session.id)? {
        state.insert_loaded_run(run);
    }
    shared_budgets::load(store, &mut state, env.now().wall_ms)?;
    let ids: Vec<String> = state.runs().map(|run| run.id.clone()).collect();
    let mut changed = before != limits(&state.session);
    for id in &ids {
        let policy = state.session.policy;
        let Some(run) = state.run_mut(id) else { continue };
        let old = run.limits.clone();
        renew_limits::take_rules(run, &rulebook);
        run.policy = policy;
        changed |= old != run.limits;
    }
    let lifted = lift_orders::lift_outgrown_runs(&mut state, &ids);
    let what = match changed {
        true => notices::reloaded(require_human::who(env)),
        false => notices::reloaded_same(require_human::who(env)),
    };
    require_human::announce(env, store, &mut state.session, &what)?;
    store.save(&mut state)?;
    let session = &state.session;
    let name = short(&session.id);
    let what = if changed { "it takes the limits as they are now" } else { "its limits have not changed" };
    let settings = match waited {
        None => "",
        Some(_) if settings_baseline::wake(env, session) => "; it takes the settings that waited",
        Some(_) => "; there is no settings file left to tell its client with: start it anew to take what waited",
    };
    let mut said = format!("session {name}: {what}{settings}\n");
    if goes_on {
        said += &format!("session {name} was stopped by a limit that is higher now: it may go on\n");
    }
    for run in lifted.iter().filter(|_| !goes_on).filter_map(|id| state.run(id)) {
        said +=
            &format!("{} {} was stopped by a limit that is higher now: it may go on\n", run.agent_type, short(&run.id));
    }
    Ok(said)
}

/// Returns what a session has from its policy.
fn limits(session: &Session) -> (LimitSet, LimitSet, LimitSet, Mode, OnError) {
    let (own, user, project) = (&session.limits, &session.user_limits, &session.project_limits);
    (own.clone(), user.clone(), project.clone(), session.mode, session.on_error)
}
