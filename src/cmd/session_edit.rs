//! The way of every lever: find what is meant, change its book under the session's lock, save it, and say what was done.

use std::process::ExitCode;

use crate::cmd::clear_order;
use crate::cmd::target::{self, Target};
use crate::domain::charge::{Record, RecordKind};
use crate::domain::event::Moment;
use crate::domain::policy::Scope;
use crate::domain::session::Status;
use crate::domain::verdict::Finding;
use crate::engine::log_records;
use crate::engine::session_state::Book;
use crate::error::{Error, Result};
use crate::hook::shared_budgets;
use crate::platform::environment::World;
use crate::store::Store;
use crate::store::log_file;
use crate::ui::terminal::plain;
use crate::upkeep::catch_up::catch_up;
use crate::wire::messages::{self, short};

/// The book to change, what of it is meant, and when.
#[derive(Debug)]
pub struct Grip<'a> {
    /// The session's book, with all its runs.
    pub book: &'a mut Book,
    /// What of it is meant.
    pub target: Target,
    /// Now.
    pub now: Moment,
}

/// Changes what `args` name, and prints what `change` says of it.
pub fn pull(
    world: &World,
    args: &target::Whom,
    change: impl FnOnce(&mut Grip) -> Result<Vec<String>>,
) -> Result<ExitCode> {
    let looking = Store::open(world)?;
    let target = target::find(&looking, args)?;
    let folder = looking.folder().to_path_buf();
    // The locks are taken in one order, the session's first: so this one goes before the next is opened.
    drop(looking);
    let store = Store::open_for(&folder, Some(target.session()))?;
    catch_up(world, &store, target.session())?;
    store.begin()?;
    let gone = || Error::failed(format!("session `{}` is not in the state any more", target.session()));
    let mut book = Book::new(store.session(target.session())?.ok_or_else(gone)?);
    for run in store.runs_of(target.session())? {
        book.lay_run(run);
    }
    let now = world.now();
    shared_budgets::lay(&store, &mut book, now.wall_ms)?;
    let said = change(&mut Grip { book: &mut book, target: target.clone(), now })?;
    let records = save(&store, &mut book, now)?;
    store.commit()?;
    log_file::append(log_file::Place { of_session: &book.session.log, state: &folder }, &records);
    store.leave();
    world.print(&said.iter().map(|line| plain(line) + "\n").collect::<String>());
    Ok(ExitCode::SUCCESS)
}

/// Saves a book with its records as of now: its own `last` is the last event, and this is none.
fn save(store: &Store, book: &mut Book, now: Moment) -> Result<Vec<Record>> {
    let mut records = std::mem::take(&mut book.records);
    for record in &mut records {
        record.at = log_file::time(now.wall_ms);
        store.save_record(record, now)?;
    }
    store.save(book)?;
    Ok(records)
}

impl Grip<'_> {
    /// Names a session or run: `developer a1b2c3d4`, `session 5f0c1d2e`.
    pub fn name(&self, target: &Target) -> String {
        match target {
            Target::Session(id) => format!("session {}", short(id)),
            Target::Run { run, .. } => {
                let kind = self.book.run(run).map_or("run", |run| &run.agent_type);
                format!("{kind} {}", short(run))
            }
        }
    }

    /// Returns what records call the target, which name the session and run beside it.
    pub fn it(&self) -> &'static str {
        match self.target {
            Target::Session(_) => "the session",
            Target::Run { .. } => "the agent",
        }
    }

    /// Returns where a session or run stands.
    pub fn status(&self, target: &Target) -> Status {
        match target {
            Target::Session(_) => self.book.session.status,
            Target::Run { run, .. } => self.book.run(run).map(|run| run.status).unwrap_or_default(),
        }
    }

    /// Shows the user a sentence at the session's next event.
    pub fn notice(&mut self, sentence: impl Into<String>) {
        self.book.session.notices.push(format!("Fusebox: {}", sentence.into()));
    }

    /// Writes a record that begins with its own sentence.
    pub fn record(&mut self, kind: RecordKind, finding: &Finding, words: (&str, Option<&str>)) {
        let id = clear_order::run_of(self.book, &self.target);
        log_records::write(self.book, &id, kind, finding);
        let (error, reason) = words;
        if let Some(record) = self.book.records.last_mut() {
            error.clone_into(&mut record.error);
            record.reason = reason.map(str::to_owned);
        }
    }

    /// Says what else holds the target, or would stop it again at its next step, beside the limits in `but`.
    pub fn held_still(&self, but: &[&str]) -> Vec<String> {
        let id = short(self.target.id());
        let mut said = Vec::new();
        let ordered = clear_order::order(self.book, &self.target).map_or("", |order| &order.finding.limit);
        if let Some(order) = clear_order::order(self.book, &self.target) {
            let (holder, why) = (clear_order::holder(self.book, &self.target), messages::reading(&order.finding));
            let by = match (order.finding.scope, &self.book.session.outer) {
                (Scope::Outer, Some(outer)) => short(outer),
                _ => short(holder.id()),
            };
            said.push(format!(
                "{} is held all the same ({why}): `fusebox resume {by}` lets it go on",
                self.name(&self.target)
            ));
        }
        let own = clear_order::used_up(self.book, &self.target, self.now);
        for limit in own
            .iter()
            .map(|used_up| &used_up.finding.limit)
            .filter(|limit| !but.contains(&limit.as_str()) && *limit != ordered)
        {
            said.push(format!("{limit} would still stop it; `fusebox grant {id} {limit}=+N` gives more"));
        }
        said.extend(clear_order::budgets_used_up(self.book, self.now).iter().map(|finding| self.above(finding)));
        said
    }

    /// Says that a limit over more than the session would still keep it back, and what gives more.
    pub fn above(&self, finding: &Finding) -> String {
        let (limit, why) = (&finding.limit, messages::reading(finding));
        let whose = match (finding.scope, &self.book.session.outer) {
            (Scope::Outer, Some(outer)) => short(outer),
            (scope, _) => scope.as_str(),
        };
        format!("its next prompt would still be kept back ({why}): `fusebox grant {whose} {limit}=+N` gives more")
    }

    fn is_at_work(&self) -> bool {
        self.book.runs().any(|run| run.working && run.order.is_none())
    }

    /// Says how the work goes on from here.
    pub fn goes_on(&self, target: &Target) -> String {
        let name = self.name(target);
        match target {
            Target::Session(_) if self.is_at_work() => format!("{name} is still at work and goes on"),
            Target::Session(_) => format!("{name} goes on with its next prompt"),
            Target::Run { run, .. } => match self.book.run(run) {
                Some(run) if run.working => format!("{name} is still at work and goes on"),
                Some(run) if run.resumed => format!("{name} goes on with the next prompt"),
                Some(run) if run.is_main() => format!("{name} is over; a later prompt has a run of its own"),
                _ => format!("{name} goes on when a message is sent to it"),
            },
        }
    }
}
