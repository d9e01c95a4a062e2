//! How every command edits a session: find it, change its state under its lock, save it, and say what was done.

use std::process::ExitCode;

use crate::cmd::clear_order::{self, UsedUp};
use crate::cmd::next_client;
use crate::cmd::query::{self, Standings};
use crate::cmd::require_human;
use crate::cmd::target::{self, Fits, Target};
use crate::domain::action::Action;
use crate::domain::finding_source::FindingSource;
use crate::domain::moment::Moment;
use crate::domain::record::{Record, RecordKind};
use crate::domain::scope::Scope;
use crate::domain::session::{Run, Status};
use crate::domain::text::rfc3339;
use crate::domain::text::shell_word::quoted;
use crate::domain::verdict::Finding;
use crate::engine::log_records;
use crate::engine::next_prompt;
use crate::engine::session_state::SessionState;
use crate::error::{Error, Result};
use crate::hook::policy::shared_budgets;
use crate::hook::reconcile::catch_up::catch_up;
use crate::messages::advice;
use crate::platform::environment::Environment;
use crate::report::standing::INTERRUPTED;
use crate::store::{self, Store, log_file};
use crate::ui::terminal::plain;
use crate::wire::messages::short;
use crate::wire::user_lines;

/// The state to change, what of it is meant, and when.
#[derive(Debug)]
pub struct SessionEdit<'a> {
    /// The session's state, with all its runs.
    pub state: &'a mut SessionState,
    /// What of it is meant.
    pub target: Target,
    /// Now.
    pub now: Moment,
    /// Who changes it, as far as that is known.
    pub by: String,
    /// Where the session and its runs stood before, as reports call that.
    pub standings: Standings,
    /// The folder that the command was typed in.
    pub here: String,
}

/// Changes what `args` name, or the only thing that fits, and prints what `change` says of it.
pub fn edit_session(
    env: &Environment,
    args: &target::TargetArgs,
    fits: Fits,
    change: impl FnOnce(&mut SessionEdit) -> Result<Vec<String>>,
) -> Result<ExitCode> {
    let looking = Store::open(env)?;
    let found = target::find(env, &looking, args, fits)?;
    // The locks are taken in one order, the session's first: so this one goes before the next is opened.
    drop(looking);
    edit_found(env, found, change)
}

/// Changes what was found, and prints what `change` says of it.
pub fn edit_found(
    env: &Environment,
    found: target::Found,
    change: impl FnOnce(&mut SessionEdit) -> Result<Vec<String>>,
) -> Result<ExitCode> {
    let said = edit(env, &found.target, change)?;
    print(env, &found.because.into_iter().chain(said).collect::<Vec<_>>());
    Ok(ExitCode::SUCCESS)
}

/// Prints what was done, a sentence a line.
pub fn print(env: &Environment, said: &[String]) {
    let text: String = said.iter().map(|line| plain(line) + "\n").collect();
    env.print(&text);
}

/// Says why one of several could not be changed.
pub fn print_failure(env: &Environment, name: &str, error: &Error) {
    let hint = error.advice().unwrap_or("run the command again: it changes those that are left");
    env.eprintln_safe(&format!("error: {name} is as it was: {error}\n  hint: {hint}"));
}

/// Changes a session or run; returns what `change` says of it.
pub fn edit(
    env: &Environment,
    target: &Target,
    change: impl FnOnce(&mut SessionEdit) -> Result<Vec<String>>,
) -> Result<Vec<String>> {
    let folder = store::folder(env)?;
    let store = Store::open_for(&folder, Some(target.session()))?;
    catch_up(env, &store, target.session())?;
    store.begin()?;
    let gone = || Error::failed(format!("session `{}` is not in the state any more", target.session()));
    let mut session_state = SessionState::new(store.session(target.session())?.ok_or_else(gone)?);
    let standings = query::standings(&store, &session_state.session, env.now())?;
    for run in store.runs_of(target.session())? {
        session_state.insert_loaded_run(run);
    }
    let now = env.now();
    let pinned = next_client::bind(env, &store, &mut session_state.session)?;
    shared_budgets::load(&store, &mut session_state, now)?;
    let said = change(&mut SessionEdit {
        state: &mut session_state,
        target: target.clone(),
        now,
        by: require_human::who(env),
        standings,
        here: env.folder().to_string_lossy().into_owned(),
    })?;
    // What its client was pinned to is replaced by its next client alone.
    pinned.map(|pinned| next_client::replace(&mut session_state.session, pinned));
    let records = save(&store, &mut session_state, now)?;
    store.commit()?;
    log_file::append(log_file::LogPlace { of_session: &session_state.session.log, state: &folder }, &records);
    store.leave();
    Ok(said)
}

/// Saves the state with its records as of now: its own `last` is the last event, and this is none.
fn save(store: &Store, state: &mut SessionState, now: Moment) -> Result<Vec<Record>> {
    let mut records = std::mem::take(&mut state.effects.log_records);
    for record in &mut records {
        record.at = rfc3339::format(now.wall_ms);
        store.save_record(record, now)?;
    }
    store.save(state)?;
    Ok(records)
}

impl SessionEdit<'_> {
    /// Names a session or run: `developer a1b2c3d4`, `session 5f0c1d2e`.
    pub fn name(&self, target: &Target) -> String {
        match target {
            Target::Session(id) => format!("session {}", short(id)),
            Target::Run { run, .. } => format!("{} {}", self.kind(target), short(run)),
        }
    }

    /// Returns the type of the agent that a run is of.
    pub fn kind(&self, target: &Target) -> &str {
        self.state.run(target.id()).map_or("run", |run| &run.agent_type)
    }

    /// Returns what records call the target, which name the session and run beside it.
    pub fn it(&self) -> &'static str {
        match self.target {
            Target::Session(_) => "the session",
            Target::Run { .. } => "the agent",
        }
    }

    /// Returns the word for where a session or run stood before the change.
    pub fn standing(&self, target: &Target) -> &'static str {
        self.standings.get(target.id()).copied().unwrap_or_else(|| self.status(target).word())
    }

    /// Returns where a session or run stands.
    pub fn status(&self, target: &Target) -> Status {
        match target {
            Target::Session(_) => self.state.session.status,
            Target::Run { run, .. } => self.state.run(run).map(|run| run.status).unwrap_or_default(),
        }
    }

    /// Shows the user a sentence at the session's next event.
    pub fn notice(&mut self, sentence: impl AsRef<str>) {
        self.state.session.notify_user(sentence.as_ref());
    }

    /// Says what somebody did, as a sentence without its end.
    pub fn somebody(&self, did: &str) -> String {
        format!("{} {did}", self.by)
    }

    /// Says in the record of a raised cap who raised it: not always a person at a terminal.
    pub fn sign_grant(&mut self) {
        if let Some(record) = self.state.effects.log_records.last_mut() {
            sign(record, &self.by);
        }
    }

    /// Writes a record that begins with its own sentence.
    pub fn record(&mut self, kind: RecordKind, finding: &Finding, error: &str, reason: Option<&str>) {
        let id = clear_order::run_of(self.state, &self.target);
        log_records::write(self.state, &id, kind, finding);
        if let Some(record) = self.state.effects.log_records.last_mut() {
            error.clone_into(&mut record.error);
            record.reason = reason.map(str::to_owned);
        }
    }

    /// Says what else holds the target, or would stop it again at its next step, beside the limits in `but`.
    pub fn held_still(&self, but: &[(Target, &str)]) -> Vec<String> {
        let mut said = Vec::new();
        let ordered = clear_order::order(self.state, &self.target).map(|order| order.finding.source.clone());
        if let Some(order) = clear_order::order(self.state, &self.target) {
            let (holder, why) = (clear_order::holder(self.state, &self.target), user_lines::by_layer(&order.finding));
            let by = match (order.finding.scope, &self.state.session.outer) {
                (Scope::Outer, Some(outer)) => short(outer),
                _ => short(holder.id()),
            };
            said.push(format!(
                "{} is held all the same ({why}): `fusebox resume {by}` lets it go on",
                self.name(&self.target)
            ));
        }
        let beside = clear_order::beside(self.state, &self.target).filter(|beside| !self.is_interrupted(beside.id()));
        for target in [self.target.clone()].iter().chain(&beside) {
            let used_up = clear_order::used_up(self.state, target, self.now).into_iter();
            let is_said = |limit: &FindingSource| {
                but.iter().any(|(of, name)| of == target && limit.name() == *name) || Some(limit) == ordered.as_ref()
            };
            said.extend(used_up.filter(|it| !is_said(&it.finding.source)).map(|it| warned(target, &it)));
        }
        said.extend(clear_order::budgets_used_up(self.state, self.now).iter().map(|finding| self.above(finding)));
        said
    }

    /// Says what else holds a session or run, and how each of `freed` goes on: where something holds it, after that.
    pub fn what_is_next(&self, held: Vec<String>, freed: &[Target]) -> Vec<String> {
        let then = if held.is_empty() { "" } else { "then " };
        let goes_on: Vec<String> = freed.iter().map(|target| format!("{then}{}", self.goes_on(target))).collect();
        [held, goes_on].concat()
    }

    /// Says that a limit over more than the session would still keep it back, and what gives more.
    pub fn above(&self, finding: &Finding) -> String {
        let why = user_lines::by_layer(finding);
        let whose = match (finding.scope, &self.state.session.outer) {
            (Scope::Outer, Some(outer)) => short(outer),
            (scope, _) => scope.as_str(),
        };
        // Of a team's budget that says whom to ask, and by which command they raise it.
        let next = match finding.scope {
            Scope::Team => String::new(),
            _ => format!(". {}", advice::grant(finding, whose)),
        };
        format!("its next prompt would still be blocked ({why}){next}")
    }

    /// Whether a target is a main run whose own limit has ended it, so that the next prompt has a run of its own.
    pub fn starts_afresh(&self, target: &Target) -> bool {
        let Target::Run { run, .. } = target else { return false };
        let has_ended = |run: &Run| {
            let order = run.order.as_ref().map(|order| &order.finding);
            run.is_main()
                && !run.working
                && order.is_some_and(|it| it.scope == Scope::Run && it.action != Action::Pause)
        };
        self.state.run(run).is_some_and(has_ended)
    }

    /// Whether nothing would block a prompt that begins a run.
    pub fn is_next_prompt_free(&self) -> bool {
        next_prompt::blocks(self.state, self.now).is_empty()
    }

    fn is_at_work(&self) -> bool {
        self.state.runs().any(|run| run.working && run.order.is_none() && !self.is_interrupted(&run.id))
    }

    /// Whether a person has left a run's turn: no hook tells of that, and the state has it still at work.
    pub fn is_interrupted(&self, run: &str) -> bool {
        self.standings.get(run) == Some(&INTERRUPTED)
    }

    /// Says which subagents only a message wakes.
    fn waiting_for_a_message(&self) -> String {
        match &*self.state.session.let_go_on {
            [] => String::new(),
            [(id, kind)] => format!(", which tells it that {kind} {} waits for a message", short(id)),
            several => format!(", which tells it that {} subagents wait for a message", several.len()),
        }
    }

    /// Says how the work goes on from here.
    pub fn goes_on(&self, target: &Target) -> String {
        let name = self.name(target);
        match target {
            Target::Session(_) if self.is_at_work() => format!("{name} is still at work and goes on"),
            Target::Session(_) => {
                format!("{name} goes on with its next prompt{}{}", self.waiting_for_a_message(), self.taken_up())
            }
            Target::Run { run, .. } => match self.state.run(run) {
                Some(run) if run.working && !self.is_interrupted(&run.id) => {
                    format!("{name} is still at work and goes on")
                }
                Some(run) if run.resumed => format!("{name} goes on with the next prompt{}", self.taken_up()),
                Some(run) if run.is_main() => {
                    format!("{name} is over; a later prompt has a run of its own{}", self.taken_up())
                }
                _ => {
                    let after = next_client::again(&self.state.session, &self.here)
                        .map(|again| format!(", after `{again}`"))
                        .unwrap_or_default();
                    format!("{name} goes on when the main agent sends it a message{after}")
                }
            },
        }
    }

    /// Says how a prompt reaches a session whose client is gone.
    fn taken_up(&self) -> String {
        next_client::again(&self.state.session, &self.here).map(|again| format!(": `{again}`")).unwrap_or_default()
    }
}

/// Says that a limit will stop the work again.
pub fn warned(target: &Target, used_up: &UsedUp) -> String {
    let finding = &used_up.finding;
    let Some(limit) = finding.limit() else { return String::new() };
    let (used, cap) = (limit.show(finding.used), limit.show_cap(finding.cap));
    let more = quoted(&format!("{}=+{}", finding.source, advice::typed(limit, used_up.more)));
    let command = format!("fusebox grant {} {more}", short(target.id()));
    format!("{limit} would stop it again at once ({used} of {cap} used): `{command}` gives more")
}

/// Says in the record of a raised cap who raised it.
pub fn sign(record: &mut Record, by: &str) {
    record.error = format!("{} was raised by {by}", record.limit);
    by.clone_into(&mut record.by);
}
