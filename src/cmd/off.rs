//! `fusebox off` and `fusebox on`: a person switches the limits of a session or repository off for a while.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cmd::config::project_folder;
use crate::cmd::session_edit::{self, SessionEdit};
use crate::cmd::target::{self, Fits, Target};
use crate::cmd::{clear_order, next_client, query, require_human, run_hooks};
use crate::config::load;
use crate::config::place::SettingPlace;
use crate::config::policy::Policy;
use crate::domain::action::Action;
use crate::domain::layer::Layer;
use crate::domain::limits_off::LimitsOff;
use crate::domain::record::Record;
use crate::domain::scope::Scope;
use crate::domain::session::{Order, Run, Session, Status};
use crate::domain::text::duration;
use crate::domain::text::shell_word::typed;
use crate::domain::verdict::Finding;
use crate::error::{Error, Result};
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::report::rows::project;
use crate::store::Store;
use crate::wire::messages::short;
use crate::wire::user_lines::by_layer;

/// Arguments of `fusebox off`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nothing of them is asked, refused or stopped; what they would have done is in `fusebox log` and `fusebox report`. The managed
file's limits and a team's caps stay in force, what a person paused or stopped stays so, and all that is spent counts: once the
limits are on again, what is used up by then stops the next step. Running sessions take it at once.

Examples:
  fusebox off --for 1h      this repository, for an hour: its sessions, and those that start until then
  fusebox off               the same until `fusebox on`
  fusebox off 5f0c1d2e      one session alone")]
pub struct OffArgs {
    /// A session; without it the repository of this folder
    #[arg(value_name = "SESSION")]
    id: Option<String>,
    /// For how long: 30m, 1h, 2d; without it until `fusebox on`
    #[arg(long = "for", value_name = "TIME", value_parser = parse)]
    time: Option<u64>,
}

/// Arguments of `fusebox on`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fusebox on              this repository, with all its sessions
  fusebox on 5f0c1d2e     one session alone")]
pub struct OnArgs {
    /// A session; without it the repository of this folder
    #[arg(value_name = "SESSION")]
    id: Option<String>,
}

/// Reads a time as it is typed.
fn parse(text: &str) -> std::result::Result<u64, String> {
    let time = duration::parse(text).filter(|ms| *ms > 0);
    time.ok_or_else(|| format!("expected a time like {}", duration::FORMS))
}

/// How a session's own notices call it.
const THIS: &str = "this session";

/// Whose limits are meant.
struct Whose {
    /// How a sentence calls them.
    name: String,
    /// The project, where it is all of it.
    project: Option<String>,
    /// The sessions that are open.
    sessions: Vec<String>,
}

impl Whose {
    /// Writes down what somebody did for a project where no session does that.
    fn write_down(&self, env: &Environment, store: &Store, what: impl Fn(&str) -> String) -> Result<()> {
        let is_told = !self.sessions.is_empty();
        if is_told { Ok(()) } else { require_human::write_down(env, store, "", "", &what(&require_human::who(env))) }
    }
}

/// What became of the sessions.
#[derive(Default)]
struct Switched {
    said: Vec<String>,
    has_failed: bool,
}

impl Switched {
    /// Changes a session. One of a repository's that cannot be changed is named and leaves the others alone: the repository is
    /// switched already.
    fn add(
        &mut self,
        env: &Environment,
        whose: &Whose,
        id: &str,
        change: impl FnOnce(&mut SessionEdit) -> Vec<String>,
    ) -> Result<()> {
        match session_edit::edit(env, &Target::Session(id.to_owned()), |edit| Ok(change(edit))) {
            Ok(said) => self.said.extend(said),
            Err(error) if whose.project.is_none() => return Err(error),
            Err(error) => {
                self.has_failed = true;
                session_edit::print_failure(env, &format!("session {}", short(id)), &error);
            }
        }
        Ok(())
    }

    /// Says it, and that no hook is registered here, where no session is at work that one was heard of.
    fn print(mut self, env: &Environment, whose: &Whose) -> Result<ExitCode> {
        let missing = whose.sessions.is_empty().then(|| run_hooks::missing(env)).flatten();
        self.said.extend(missing.map(str::to_owned));
        session_edit::print(env, &self.said);
        Ok(ExitCode::from(u8::from(self.has_failed)))
    }
}

/// Switches limits off.
pub fn off(env: &Environment, args: &OffArgs) -> Result<ExitCode> {
    require_human::require(env, "off")?;
    let now = env.now().wall_ms;
    let until_ms = args.time.map(|ms| now.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)));
    let folder = project_folder(env);
    let store = Store::open(env)?;
    let whose = whose(env, &store, args.id.as_deref())?;
    let (policy, _) = load::load(env, &folder, store.is_trusted(&env.project_of(&folder).to_string_lossy())?);
    let off = LimitsOff { since_ms: now, until_ms, managed: managed(&policy), ..LimitsOff::default() };
    let team = policy.team().map(|team| team.name);
    let time = until_ms.map(|at| query::zone(env).minute(at));
    let until = format!("until {}", time.as_deref().unwrap_or("`fusebox on`"));
    if let Some(project) = &whose.project {
        store.begin()?;
        store.set_limits_off(project, Some(&off))?;
        whose.write_down(env, &store, |by| {
            notices::switched_off(by, &whose.name, &until, stays(&off, team.as_deref(), ""))
        })?;
        store.commit()?;
    }
    drop(store);
    let mut switched = Switched::default();
    switched.said.push(format!("the limits of {} are off {until}", whose.name));
    for id in &whose.sessions {
        switched.add(env, &whose, id, |edit| {
            let said = switch_off(edit, &off, &until);
            // Of a session whose client is gone is spoken where it is named.
            if whose.project.is_none() || next_client::has_client(&edit.state.session) { said } else { Vec::new() }
        })?;
    }
    switched.said.push(kept(&off, team.as_deref()));
    switched.print(env, &whose)
}

/// Switches them on again.
pub fn on(env: &Environment, args: &OnArgs) -> Result<ExitCode> {
    require_human::require(env, "on")?;
    let now = env.now().wall_ms;
    let store = Store::open(env)?;
    let whose = whose(env, &store, args.id.as_deref())?;
    let ended = ended(&store, &whose, now)?;
    let mut was_off = !ended.is_empty();
    if let Some(project) = &whose.project {
        store.begin()?;
        if store.limits_off(project)?.is_some_and(|off| off.holds(now)) {
            was_off = true;
            whose.write_down(env, &store, |by| notices::switched_on(by, &whose.name))?;
        }
        store.set_limits_off(project, None)?;
        store.commit()?;
    }
    drop(store);
    let mut switched = Switched::default();
    for id in whose.sessions.iter().chain(&ended) {
        switched.add(env, &whose, id, |edit| {
            // An ended one is on when a client takes it up. Where `off` has changed nothing in it there is nothing to say.
            let off = edit.state.session.limits_off.as_ref();
            let is_silent = ended.contains(id) && off.is_none_or(|off| off.let_go_on.is_empty());
            let said = switch_on(edit);
            if is_silent { Vec::new() } else { said }
        })?;
    }
    if switched.said.is_empty() && !was_off && !switched.has_failed {
        return Err(Error::failed(format!("the limits of {} are not off", whose.name)));
    }
    switched.said.insert(0, format!("the limits of {} are on again", whose.name));
    switched.print(env, &whose)
}

/// Finds the session that is named, or the repository of this folder with its sessions.
fn whose(env: &Environment, store: &Store, id: Option<&str>) -> Result<Whose> {
    if let Some(id) = id {
        let session = target::of_id(store, id, Fits::Open)?.target.session().to_owned();
        return Ok(Whose { name: format!("session {}", short(&session)), project: None, sessions: vec![session] });
    }
    let folder = project_here(env, &store.open_sessions()?);
    let is_here = |session: &Session| Path::new(&session.project) == folder && session.status != Status::Orphaned;
    let here = store.open_sessions()?.into_iter().filter(is_here).map(|session| session.id);
    let id = folder.to_string_lossy().into_owned();
    Ok(Whose { name: typed(Path::new(project(&id))), project: Some(id), sessions: here.collect() })
}

/// Returns the sessions of a project that have ended with their limits off.
fn ended(store: &Store, whose: &Whose, now_ms: i64) -> Result<Vec<String>> {
    let Some(project) = &whose.project else { return Ok(Vec::new()) };
    let is_off = |session: &Session| {
        session.project == *project && session.limits_off.as_ref().is_some_and(|off| off.holds(now_ms))
    };
    let lately = store.sessions_since(now_ms.saturating_sub(query::LATELY_MS))?.into_iter().filter(is_off);
    Ok(lately.map(|session| session.id).filter(|id| !whose.sessions.contains(id)).collect())
}

/// Says that the limits of this folder's project are off, where a person has switched them off.
pub fn said_here(env: &Environment, store: &Store) -> Result<Option<String>> {
    let folder = project_here(env, &store.open_sessions()?);
    let id = folder.to_string_lossy();
    let off = store.limits_off(&id)?.filter(|off| off.holds(env.now().wall_ms));
    Ok(off.map(|off| {
        let until = off.until_ms.map(|at| format!(" until {}", query::zone(env).minute(at))).unwrap_or_default();
        format!("The limits of {} are off{until}, by a person (`fusebox on`)", typed(Path::new(project(&id))))
    }))
}

/// Returns the project of this folder: its repository, else the nearest folder in which a session is open, else itself.
fn project_here(env: &Environment, open: &[Session]) -> PathBuf {
    let here = env.folder();
    let repository = env.project_of(&here);
    if repository != here {
        return repository;
    }
    let is_open = |folder: &&Path| open.iter().any(|session| Path::new(&session.project) == *folder);
    here.ancestors().find(is_open).unwrap_or(&here).to_path_buf()
}

/// Returns the names of the limits that the managed file sets.
fn managed(policy: &Policy) -> Vec<String> {
    let types = policy.documents.iter().flat_map(|document| &document.settings).filter_map(|it| match &it.place {
        SettingPlace::Agents(name) => Some(policy.agent(name, None).0),
        _ => None,
    });
    let sets = [policy.session(), policy.main(), policy.user(), policy.project()].into_iter().chain(types);
    let mut names: Vec<String> = sets
        .flat_map(|set| set.limits)
        .filter(|rule| rule.layer == Layer::Managed)
        .map(|rule| rule.name().into_owned())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Says what stays in force: the managed file's limits, `which` these are, and a team's caps.
fn stays(off: &LimitsOff, team: Option<&str>, which: &str) -> String {
    let managed = (!off.managed.is_empty()).then(|| format!("the managed file's limits{which}"));
    let team = team.map(|name| format!("the caps of team {name}"));
    let stays: Vec<String> = managed.into_iter().chain(team).collect();
    if stays.is_empty() { String::new() } else { format!("{} stay, and ", stays.join(" and ")) }
}

/// Says what stays in force, and how the others come back where no time does that.
fn kept(off: &LimitsOff, team: Option<&str>) -> String {
    let stays = stays(off, team, &format!(" ({})", off.managed.join(", ")));
    let others = if stays.is_empty() { "them" } else { "the others" };
    let sooner = off.until_ms.map(|_| format!("; `fusebox on` switches {others} on again before that"));
    format!("{stays}all that is spent counts{}", sooner.unwrap_or_default())
}

/// Says when a session takes what is ordered.
fn takes(session: &Session) -> &'static str {
    if next_client::has_client(session) { "at once" } else { "when a client takes it up" }
}

fn switch_off(edit: &mut SessionEdit, off: &LimitsOff, until: &str) -> Vec<String> {
    edit.state.session.limits_off = Some(off.clone().after(edit.state.session.limits_off.as_ref()));
    let team = edit.state.session.team.as_ref().map(|terms| terms.name.as_str());
    let stays = stays(off, team, "");
    note(edit, |by, whose| notices::switched_off(by, whose, until, &stays));
    let id = edit.state.session.id.clone();
    let mut said = vec![format!("session {} takes it {}", short(&id), takes(&edit.state.session))];
    for target in held(edit, off) {
        clear_order::clear(edit.state, &target, edit.now);
        said.push(edit.goes_on(&target));
        let name = edit.name(&target);
        edit.state.session.limits_off.iter_mut().for_each(|off| off.let_go_on.push(name.clone()));
    }
    said
}

/// Returns what a limit holds that is off now: the session, its current main run, and subagents whose loop goes on.
fn held(edit: &SessionEdit, off: &LimitsOff) -> Vec<Target> {
    let session = &edit.state.session;
    let is_lifted = |order: &Order| !off.keeps_finding(&order.finding);
    let own = session.order.as_ref().filter(|order| is_lifted(order)).map(|_| Target::Session(session.id.clone()));
    let goes_on = |run: &&Run| session.main.as_deref() == Some(&run.id) || run.working || run.status == Status::Paused;
    let runs = edit.state.runs().filter(|run| run.order.as_ref().is_some_and(is_lifted)).filter(goes_on);
    let runs = runs.map(|run| Target::Run { session: run.session.clone(), run: run.id.clone() });
    match own {
        Some(session) => vec![session],
        None => runs.collect(),
    }
}

fn switch_on(edit: &mut SessionEdit) -> Vec<String> {
    let now = edit.now.wall_ms;
    let Some(off) = edit.state.session.limits_off.as_mut().filter(|off| off.holds(now)) else { return Vec::new() };
    off.until_ms = Some(now);
    let (key, let_go_on) = (off.ended_key(), off.let_go_on.clone());
    edit.state.session.mark_notified(&key);
    note(edit, |by, whose| notices::switched_on(by, whose));
    let mut said = vec![format!("session {} takes it {}", short(edit.target.id()), takes(&edit.state.session))];
    said.extend(let_go_on.iter().map(|it| format!("`fusebox off` had let {it} go on, which a limit had stopped")));
    let would_act = clear_order::would_act(edit.state, edit.now);
    let would_act = would_act.iter().filter(|(target, _)| !edit.is_interrupted(target.id()));
    said.extend(would_act.filter_map(|(target, finding)| foretold(edit, target, finding)));
    said
}

/// Says what a limit that is used up does at the next step.
fn foretold(edit: &SessionEdit, target: &Target, finding: &Finding) -> Option<String> {
    let limit = finding.limit()?;
    let next = match finding.action {
        Action::RequestIncrease => "its next step asks for more, or is stopped where nobody can answer",
        _ => "its next step is stopped",
    };
    let whose = match finding.scope {
        Scope::Run | Scope::Session => edit.name(target),
        Scope::Outer => format!("session {}", short(&finding.above)),
        Scope::User | Scope::Project => format!("the {}", finding.scope.as_str()),
        Scope::Team => return Some(format!("{}: {next}", by_layer(finding))),
    };
    let (used, cap) = (limit.show(finding.used), limit.show(finding.cap));
    let stands =
        if finding.used < finding.cap { "leaves too little for the next request" } else { "is used up by now" };
    Some(format!("{} of {whose} {stands} ({used} of {cap}): {next}", finding.source))
}

/// Tells the session's user what somebody did, and writes it down with the session's name.
fn note(edit: &mut SessionEdit, what: impl Fn(&str, &str) -> String) {
    let id = &edit.state.session.id;
    let written = what(&edit.by, &format!("session {}", short(id)));
    let record = Record::notice(id, written.trim_end_matches('.'));
    edit.state.effects.log_records.push(record);
    edit.notice(what(&edit.by, THIS));
}
