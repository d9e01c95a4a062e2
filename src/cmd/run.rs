//! `fusebox run`: runs a client headless and says what the client does not: that a limit stopped it.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::domain::session::{MAIN, Session, Status};
use crate::domain::verdict::Finding;
use crate::error::{Error, Result};
use crate::hook::prune_due::DAY_MS;
use crate::platform::environment::Environment;
use crate::platform::foreground;
use crate::store::Store;
use crate::ui::terminal::plain;
use crate::wire::messages;

/// The variable that marks the sessions of one `fusebox run`.
const MARK: &str = "FUSEBOX_RUN";

/// The exit code where a limit stopped the client's work.
const STOPPED: u8 = 3;

/// Arguments of `fusebox run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fusebox run -- claude -p 'fix the tests'   exit code 3 and the reason where a limit stopped it")]
pub struct Args {
    /// The client and its arguments: `claude -p "fix the tests"`
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs `fusebox run`.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(Error::usage("there is no command to run"));
    };
    let now = env.now();
    let mark = format!("{:x}-{:x}-{:x}", now.boot, now.mono_ms, env.pid());
    let code = foreground::run(program, arguments, (MARK, &mark))?;
    match Store::open(env).and_then(|store| client_end(&store, &mark, now.wall_ms - DAY_MS)) {
        Ok(ClientEnd::Stopped(reason)) => {
            env.eprintln_safe(&plain(&format!("fusebox: {reason}")));
            Ok(ExitCode::from(STOPPED))
        }
        Ok(ClientEnd::Unseen) => {
            env.eprintln_safe("fusebox: no session of this command ran any of its hooks: no limit was in force");
            env.eprintln_safe("  hint: `fusebox doctor` shows what is registered here");
            Ok(ExitCode::from(code))
        }
        Ok(ClientEnd::Free) => Ok(ExitCode::from(code)),
        Err(error) => {
            env.eprintln_safe(&format!("fusebox: whether a limit stopped it is not known: {error}"));
            Ok(ExitCode::from(code))
        }
    }
}

/// How a client's work ended, as the state has it.
enum ClientEnd {
    /// No session was seen.
    Unseen,
    /// No limit ended it.
    Free,
    /// A limit or a person did, for this reason.
    Stopped(String),
}

fn client_end(store: &Store, mark: &str, since_ms: i64) -> Result<ClientEnd> {
    let sessions = store.sessions_of_launcher(mark, since_ms)?;
    for session in &sessions {
        if let Some(reason) = stopped(store, session)? {
            return Ok(ClientEnd::Stopped(reason));
        }
    }
    Ok(if sessions.is_empty() { ClientEnd::Unseen } else { ClientEnd::Free })
}

/// Returns why a session's main agent was stopped; what happened to its subagents, it could work on with.
fn stopped(store: &Store, session: &Session) -> Result<Option<String>> {
    let runs = store.runs_of(&session.id)?;
    let main = runs.iter().rfind(|run| run.agent_type == MAIN);
    let ended = |status: Status| matches!(status, Status::Failed | Status::Paused | Status::Stopped);
    let run = match (main.filter(|run| ended(run.status)), &session.kept_back) {
        // What was kept back opened a run that has done nothing.
        (run, Some(why)) if run.is_none_or(|run| run.order.is_none()) => return Ok(Some(kept_back(&session.id, why))),
        (Some(run), _) => run,
        (None, _) => return Ok(None),
    };
    let order = run.order.as_ref().or(session.order.as_ref());
    let why = order.map(messages::order).or_else(|| run.error.clone());
    let session = messages::short(&session.id);
    Ok(Some(format!(
        "the main agent of session {session} was stopped: {}; its work is partial (`fusebox explain {session}`)",
        why.unwrap_or_else(|| "no reason was recorded".to_owned())
    )))
}

/// Says why a session's last prompt was kept back: nothing was done for it.
fn kept_back(session: &str, why: &Finding) -> String {
    let (session, why) = (messages::short(session), messages::reading(why));
    format!("a prompt of session {session} was kept back: {why}; nothing was done for it (`fusebox status {session}`)")
}
