//! `fusebox status`.

use std::process::ExitCode;

use crate::cmd::next_client;
use crate::cmd::off;
use crate::cmd::query;
use crate::cmd::run_hooks;
#[cfg(feature = "screen")]
use crate::cmd::status_screen;
use crate::cmd::target::{self, Fits, Target};
use crate::domain::billing::Billing;
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::report::group;
use crate::report::model::{Report, SessionReport};
use crate::report::own_run;
use crate::report::standing::BLOCKED;
use crate::report::status::{self, Show};
use crate::report::suggestion;
use crate::store::Store;
use crate::ui::json;
use crate::ui::style::{Style, Terminal};

/// Arguments of `fusebox status`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Those at work come first, then what is held or paused, then clients that wait for a prompt,
then the newest that were stopped or blocked in the last 7 days and not let go on. Behind a
limit's bar stands its layer.

Examples:
  fusebox status              sessions at work or held, with what each limit has left
  fusebox status 5f0c1d2e     one session, or one run, by the beginning of its id
  fusebox status --all        finished runs and sessions of the last 7 days too
  fusebox status --me         an agent's own run, from its shell: what is used, what remains
  fusebox status --json       the same figures for programs (docs/report.md)
  fusebox status --watch      the same as a screen that follows them; ? names its keys")]
pub struct Args {
    /// A session or run: its id, or as much of its beginning as is unique
    #[arg(value_name = "ID", conflicts_with = "me")]
    id: Option<String>,
    /// Show finished runs and sessions too
    #[arg(long)]
    all: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Show the figures as a screen that follows them, until q; keys pause, resume, stop, grant and explain
    #[cfg(feature = "screen")]
    #[arg(long, conflicts_with_all = ["id", "all", "json", "me"])]
    watch: bool,
    /// Show an agent what it has used and what remains; Fusebox's hook adds the run
    #[arg(long, value_name = "SESSION/RUN", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    me: Option<String>,
}

/// Shows sessions and runs with what they have used.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    #[cfg(feature = "screen")]
    if args.watch {
        return status_screen::run(env);
    }
    let target = target(env, args)?;
    let since = env.now().wall_ms.saturating_sub(query::RECENT_MS);
    let ids = match &target {
        Some(target) => vec![target.session().to_owned()],
        None => {
            let mut sessions = query::open_or_since(env, since)?;
            sessions.retain(|session| status::at_work(session.status) || session.last.wall_ms >= since);
            sessions.into_iter().map(|session| session.id).collect()
        }
    };
    let mut rows = query::fresh_sessions(env, &ids)?;
    next_client::bind_rows(env, &Store::open(env)?, &mut rows)?;
    let page = query::page(env);
    let block = match page.billing {
        Billing::Plan if target.is_none() => group::block_at(&rows, env.now().wall_ms, &page.zone),
        _ => None,
    };
    let block = block.map(|block| status::block(&block, &page)).unwrap_or_default();
    let mut report = Report::of(&rows, &Store::open(env)?.shared_budgets()?, env.now());
    match &target {
        Some(target) => narrow(&mut report, target),
        None => report.sessions.retain(|session| args.all || waits(session)),
    }
    if args.json {
        env.print_data(&json::text(&report));
        return Ok(ExitCode::SUCCESS);
    }
    let show = if args.all || matches!(target, Some(Target::Run { .. })) { Show::All } else { Show::Open };
    let own = report.sessions.first().filter(|_| args.me.is_some()).and_then(|it| Some((it, it.runs.first()?)));
    let is_told = report.sessions.iter().any(|session| session.limits_off.as_ref().is_some_and(|off| off.now));
    let off = if target.is_some() || is_told { None } else { off::said_here(env, &Store::open(env)?)? };
    let block = off.map(|off| page.paint(Style::Yellow, &page.wrap("", &off))).unwrap_or_default() + &block;
    env.print(&match (own, &target) {
        (Some((session, run)), Some(Target::Run { .. })) => own_run::text(&report, session, run),
        _ if report.sessions.is_empty() => block + &nothing(env, &report, &page),
        (_, None) if !args.all => block + &status::text(&report, show, status::rest(&report), &page),
        _ => block + &status::text(&report, show, "", &page),
    });
    Ok(ExitCode::SUCCESS)
}

/// Whether a session is neither done nor left: it may be open, or what is used up or was blocked waits for its next prompt, whether or not
/// a client is there.
fn waits(session: &SessionReport) -> bool {
    status::is_open(session) || session.standing == BLOCKED || suggestion::used_up(session).next().is_some()
}

fn nothing(env: &Environment, report: &Report, terminal: &Terminal) -> String {
    let no_hooks = run_hooks::missing(env).map(|said| format!("{said}\n")).unwrap_or_default();
    let shared = status::shared(&report.budgets, terminal);
    format!("No session is at work. `fusebox report` shows those of the last 7 days.\n{no_hooks}{shared}")
}

/// Finds what is named: a session, a run, or the run of the agent that asks.
fn target(env: &Environment, args: &Args) -> Result<Option<Target>> {
    let store = Store::open(env)?;
    match (args.me.as_deref(), &args.id) {
        (Some(""), _) => own_session(env, &store).map(Some),
        (Some(me), _) => {
            let (session, run) = me.split_once('/').unwrap_or_default();
            match store.run(session, run)? {
                Some(run) => Ok(Some(Target::Run { session: run.session, run: run.id })),
                None => target::of_id(&store, me, Fits::Open).map(|found| Some(found.target)),
            }
        }
        (None, Some(id)) => target::of_id(&store, id, Fits::Open).map(|found| Some(found.target)),
        (None, None) => Ok(None),
    }
}

/// Finds the session of the client that this runs in, where the hook could not say which of its runs asks.
fn own_session(env: &Environment, store: &Store) -> Result<Target> {
    let named = env.var("CLAUDE_CODE_SESSION_ID");
    let known = named.map(|id| store.session(&id)).transpose()?.flatten();
    known.map(|session| Target::Session(session.id)).ok_or_else(|| {
        Error::failed("`--me` is for agents, and nothing says which run asks").hint(
            "an agent runs `fusebox status --me` as a plain command in its shell, and Fusebox's hook adds the run; \
             `fusebox status` shows every run",
        )
    })
}

/// Leaves of a run's session that run alone in the report.
fn narrow(report: &mut Report, target: &Target) {
    if let Target::Run { run: id, .. } = target {
        for session in &mut report.sessions {
            session.runs.retain(|run| run.run_id == *id);
        }
    }
}
