//! What a grant is for that names no run or session: the last that still waits for more of a limit that is granted.

use crate::cmd::config::project_folder;
use crate::cmd::grant_args::More;
use crate::cmd::target::{self, Fits, Found, LATELY_DAYS, Target, TargetArgs};
use crate::domain::action::Action;
use crate::domain::scope::Scope;
use crate::domain::session::Session;
use crate::domain::stable_sort::sort_by_key;
use crate::domain::time_units::DAY_MS;
use crate::domain::verdict::Finding;
use crate::engine::clear_orders::is_outgrown;
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::report::log_lines;
use crate::report::prompt_block;
use crate::report::rows::project;
use crate::report::take_up;
use crate::store::Store;
use crate::ui::terminal::plain;
use crate::wire::messages::short;

/// What a limit has stopped, and what can go on once there is more of it.
struct Waiting {
    target: Target,
    project: String,
    /// The limits that hold it.
    findings: Vec<Finding>,
    at_ms: i64,
    /// What has stopped it, as a sentence begins.
    words: String,
}

impl Waiting {
    fn waits_for(&self, more: &[More]) -> bool {
        let is_meant = |it: &Finding| it.scope != Scope::Outer && more.iter().any(|more| it.source == *more.rule);
        self.findings.iter().any(is_meant)
    }
}

/// Finds what is named. Where nothing is, finds the last that waits for a limit in `more`, in this project before others; where nothing
/// waits, the only session that is open. Names the candidates where that says nothing.
pub fn find(env: &Environment, args: &TargetArgs, more: &[More]) -> Result<Found> {
    let store = Store::open(env)?;
    if args.is_named() || more.is_empty() {
        return target::find(env, &store, args, Fits::Open);
    }
    let here = env.project_of(&project_folder(env)).to_string_lossy().into_owned();
    let waiting = waiting(&store, env.now().wall_ms)?;
    let mut meant: Vec<&Waiting> = waiting.iter().filter(|it| it.waits_for(more)).collect();
    sort_by_key(&mut meant, |it| it.project != here);
    if let Some(last) = meant.first() {
        let whose = match last.project == here {
            true => " is the last that stands in this project".to_owned(),
            false => {
                format!(" in {} is the last that stands; none does in this project", plain(project(&last.project)))
            }
        };
        return Ok(Found { target: last.target.clone(), because: Some(format!("{}{whose}", last.words)) });
    }
    let open = store.open_sessions()?.into_iter().filter(|session| !take_up::needs_client(session)).rev();
    let open: Vec<Target> = open.map(|session| Target::Session(session.id)).collect();
    if let ([], [only]) = (&waiting[..], &open[..]) {
        let because = format!("session {} is the only one that is open", short(only.id()));
        return Ok(Found { target: only.clone(), because: Some(because) });
    }
    let limits: Vec<String> = more.iter().map(|more| plain(&more.rule)).collect();
    let error =
        Error::usage(format!("nothing waits for more of {}, and no run or session is named", limits.join(", ")));
    let mut lines: Vec<String> = Vec::new();
    for candidate in waiting.into_iter().map(|it| it.target).chain(open) {
        let line = target::line(&store, &candidate)?;
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    Err(target::with(error, &lines))
}

/// Returns what limits have stopped and what can go on, the latest first.
fn waiting(store: &Store, now_ms: i64) -> Result<Vec<Waiting>> {
    let mut waiting: Vec<Waiting> = Vec::new();
    for (number, at_ms, record) in store.latest_stops(target::LATEST)? {
        let Some(session) = store.session(&record.session)? else { continue };
        let Some(target) = target::held_by(store, &session, &record.run)? else { continue };
        let finding = match &target {
            Target::Session(_) => session.order.as_ref().map(|order| order.finding.clone()),
            Target::Run { .. } => of_run(store, &session, target.id())?,
        };
        let (words, project) = (log_lines::trip(number, &record), session.project.clone());
        let of_session = matches!(target, Target::Session(_));
        let holds = |it: &Finding| !(of_session && is_outgrown(it, &session.limits));
        if let Some(finding) = finding.filter(holds)
            && waiting.iter().all(|it| it.target != target)
        {
            waiting.push(Waiting { target, project, findings: vec![finding], at_ms, words });
        }
    }
    for session in store.sessions_since(now_ms.saturating_sub(LATELY_DAYS * DAY_MS))? {
        let main = session.main.as_ref().map(|main| store.run(&session.id, main)).transpose()?.flatten();
        let is_free = session.order.is_none() && main.is_none_or(|run| run.order.is_none());
        let blocks = session.prompt_block.iter().chain(&session.more_prompt_blocks).cloned();
        let stands = |it: &Finding| it.limit().is_some() && !has_more(&session, it);
        let findings: Vec<Finding> = blocks.filter(|it| is_free && stands(it)).collect();
        if let Some(first) = findings.first() {
            let words = format!("a blocked prompt of session {} ({})", short(&session.id), plain(&first.source.name()));
            let (target, at_ms) = (Target::Session(session.id.clone()), session.last.wall_ms);
            waiting.push(Waiting { target, project: session.project, findings, at_ms, words });
        }
    }
    sort_by_key(&mut waiting, |it| std::cmp::Reverse(it.at_ms));
    Ok(waiting)
}

/// Returns what holds a run that can go on. A subagent that a limit has ended cannot once its client is gone: the agent above it was told
/// and has gone on.
fn of_run(store: &Store, session: &Session, id: &str) -> Result<Option<Finding>> {
    let Some(run) = store.run(&session.id, id)? else { return Ok(None) };
    let Some(finding) = run.order.as_ref().map(|order| order.finding.clone()) else { return Ok(None) };
    let cannot_go_on = !run.is_main() && take_up::needs_client(session) && finding.action != Action::Pause;
    let has_more = match finding.scope {
        Scope::Run => is_outgrown(&finding, &run.limits),
        _ => has_more(session, &finding),
    };
    Ok(Some(finding).filter(|_| !cannot_go_on && !has_more))
}

/// Whether a limit over the session, or over more than that, has a higher cap by now than it had.
fn has_more(session: &Session, finding: &Finding) -> bool {
    match finding.scope {
        Scope::Session => is_outgrown(finding, &session.limits),
        _ => prompt_block::is_outgrown(session, finding),
    }
}
