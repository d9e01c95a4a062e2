//! `fusebox grant user` and `fusebox grant project`: more of what sessions share, for the periods at hand.

use std::process::ExitCode;

use crate::cmd::config::project_folder;
use crate::cmd::grant::{More, To};
use crate::config::load;
use crate::engine::book::Book;
use crate::engine::enforce;
use crate::engine::event::Moment;
use crate::engine::policy::{Layer, Scope};
use crate::engine::pool::Pool;
use crate::engine::rules::{Rule, Rules};
use crate::engine::session::Session;
use crate::engine::verdict::Finding;
use crate::error::{Error, Result};
use crate::live::pin::trust_fact;
use crate::live::prune::DAY_MS;
use crate::live::shared;
use crate::store::{Store, logbook};
use crate::terminal::plain;
use crate::world::World;

/// Returns the scope that a word names, where it names one that sessions share.
pub fn scope(word: &str) -> Option<Scope> {
    [Scope::User, Scope::Project].into_iter().find(|scope| scope.as_str() == word)
}

/// The longest period that a budget is over, in milliseconds: no older session has rules for it.
const LONGEST_PERIOD_MS: i64 = 32 * DAY_MS;

/// Raises caps over sessions, and tells the running ones.
pub fn run(world: &World, scope: Scope, more: &[More]) -> Result<ExitCode> {
    if more.is_empty() {
        let name = scope.as_str();
        return Err(Error::usage(format!("nothing is granted to the {name}"))
            .hint(format!("`fusebox grant {name} max_cost_usd_per_day=+5` adds 5 US dollars")));
    }
    let store = Store::open(world)?;
    store.begin()?;
    let folder = project_folder(world);
    let project = world.project_of(&folder).to_string_lossy().into_owned();
    let is_bound = |session: &Session| scope == Scope::User || session.project == project;
    let now = world.now();
    let sessions = store.sessions_since(now.wall_ms.saturating_sub(LONGEST_PERIOD_MS))?.into_iter().filter(is_bound);
    let trusted = store.fact(&trust_fact(&project))?.is_some();
    let (policy, _) = load::load(world, &folder, trusted);
    let files = Session { user_rules: policy.user(), project_rules: policy.project(), ..Session::default() };
    let rules = |session: &Session| of(session, scope).clone();
    let known: Vec<Rules> = sessions.rev().map(|session| rules(&session)).chain([of(&files, scope).clone()]).collect();
    let mut book = laid(&store, &known, (scope, &project), (policy.time_zone(), now))?;
    let said: Vec<String> =
        more.iter().map(|more| raise(&mut book, scope, &known, more)).collect::<Result<Vec<_>>>()?;
    for mut session in store.open_sessions()?.into_iter().filter(is_bound) {
        session.notices.extend(said.iter().map(|said| format!("Fusebox: a person granted {said}.")));
        store.save_session(&session)?;
    }
    for record in &mut book.records {
        record.at = logbook::time(now.wall_ms);
        store.save_record(record, now)?;
    }
    for pool in &book.pools {
        store.save_pool(pool)?;
    }
    store.commit()?;
    logbook::append(logbook::Place { of_session: "", state: store.folder() }, &book.records);
    store.leave();
    world.print(&said.iter().map(|said| plain(said) + "\n").collect::<String>());
    Ok(ExitCode::SUCCESS)
}

fn of(session: &Session, scope: Scope) -> &Rules {
    if scope == Scope::User { &session.user_rules } else { &session.project_rules }
}

/// Lays what is shared into a book without a session, its periods as of now.
fn laid(store: &Store, known: &[Rules], whose: (Scope, &str), when: (Option<&str>, Moment)) -> Result<Book> {
    let ((scope, project), (zone, now)) = (whose, when);
    let all = Rules { rules: known.iter().flat_map(|rules| rules.rules.clone()).collect(), ..Rules::default() };
    let mut session = Session { last: now, project: project.to_owned(), ..Session::default() };
    match scope {
        Scope::User => session.user_rules = all,
        _ => session.project_rules = all,
    }
    shared::recount(store, &session, zone, now.wall_ms)?;
    let mut book = Book::new(session);
    shared::lay(store, &mut book, now.wall_ms)?;
    Ok(book)
}

/// Raises one cap; returns what was done.
fn raise(book: &mut Book, scope: Scope, known: &[Rules], more: &More) -> Result<String> {
    let limit = more.limit;
    let rule = known.iter().find_map(|rules| rules.named(&more.rule));
    let missing = || Error::failed(format!("no {} is set for the {}", more.rule, scope.as_str()));
    let rule: &Rule = rule.ok_or_else(missing)?;
    if rule.locked {
        return Err(Error::failed(format!(
            "{limit} of the {} is the managed file's: nobody may raise it",
            scope.as_str()
        )));
    }
    let pool: &Pool = book.pools.first().ok_or_else(missing)?;
    let granted: u64 = pool.granted.iter().filter(|(name, _)| *name == more.rule).map(|(_, more)| more).sum();
    let cap = rule.cap.saturating_add(granted);
    let added = match more.to {
        To::Added(added) => added,
        To::Cap(to) => to.saturating_sub(cap),
    };
    let show = |value| limit.show(value);
    if added == 0 {
        let now = show(cap);
        return Err(Error::failed(format!(
            "{limit} of the {} is {now} already: a grant only raises it",
            scope.as_str()
        )));
    }
    let used =
        limit.used(&crate::engine::meters::Meters { periods: pool.spent(rule.of.as_ref()), ..Default::default() });
    let next = pool.mean(rule.of.as_ref()).cost.0;
    let until = pool.resets(limit.key).map(|at| format!(" until {at}")).unwrap_or_default();
    let finding = Finding { cap, layer: Layer::Grant, ..Finding::of(rule, scope, used) };
    enforce::raise(book, "", &finding, added);
    let raised = cap.saturating_add(added);
    if let Some(record) = book.records.last_mut() {
        record.cap = Some(limit.configured(raised));
    }
    let (name, limit_name) = (scope.as_str(), &more.rule);
    let done = format!("{limit_name} of the {name}: {} -> {}{until} ({} used)", show(cap), show(raised), show(used));
    let is_enough = used.saturating_add(next) <= raised;
    let lacks = "; it is not enough: the next request would be kept back again";
    Ok(if is_enough { done } else { done + lacks })
}
