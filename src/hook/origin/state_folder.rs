//! Which folder holds the state of a client. A client below another one shares that one's, whatever its environment says.
//!
//! The first client above is found by what its own state knows of it. A client whose hooks another program answers, as where the
//! tests of Fusebox start one, has a state of its own.

use std::path::{Path, PathBuf};

use crate::domain::event::Event;
use crate::domain::session::{Process, Session};
use crate::error::{Error, Result};
use crate::hook::origin::{client_lineage, client_process};
use crate::hook::policy;
use crate::hook::tampering::altered_rows;
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::platform::folders::state_dir_in;
use crate::platform::processes::{self, MOST_ABOVE, ProcessEnvironment};
use crate::store::Store;

/// The most folders that are looked into. Those of the farthest processes come first, and no agent starts any of these.
const MOST: usize = 8;

/// Opens the state for an event and begins to write; `folder` becomes that of the first client above the event's own.
pub fn open(env: &Environment, folder: &mut PathBuf, event: &Event) -> Result<(Store, Option<Box<Session>>)> {
    let (store, session) = begin(folder, event)?;
    if !session.as_deref().is_none_or(|session| policy::pin::is_due(env, session, event)) {
        return Ok((store, session));
    }
    let Some(client) = client_process::here(env) else { return Ok((store, session)) };
    let above = above(client)?;
    let folders = folders(&above, folder);
    if folders.is_empty() {
        return Ok((store, session));
    }
    // One state at a time: its lock is for all.
    drop(store);
    for of_another in folders {
        if file_info::is_same(&of_another, folder) {
            // What is known here binds, too.
            if knows(env, folder, &above, event)? {
                break;
            }
        } else if knows(env, &of_another, &above, event)? {
            *folder = of_another;
            break;
        }
    }
    begin(folder, event)
}

fn begin(folder: &Path, event: &Event) -> Result<(Store, Option<Box<Session>>)> {
    let store = Store::open_for_hook(folder, &event.session)?;
    store.begin()?;
    let session = store.session(&event.session)?;
    if session.as_ref().is_some_and(|session| session.is_altered) {
        return Err(altered_rows::altered(&event.session));
    }
    Ok((store, session))
}

/// Returns the processes above a client, the farthest first.
fn above(client: Process) -> Result<Vec<Process>> {
    let found = processes::ancestors(client.pid);
    if found.len() >= MOST_ABOVE {
        return Err(Error::failed("too many processes are above this client to find the one that it comes from"));
    }
    Ok(found.into_iter().skip(1).rev().map(|(pid, start)| Process { pid, start, ..client }).collect())
}

/// Returns the folders of state that the environments of processes name, in their order; none where they all name `folder`.
fn folders(above: &[Process], folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for process in above {
        let named = ProcessEnvironment::of(process.pid)
            .and_then(|environment| state_dir_in(|name| environment.var(name).filter(|value| !value.is_empty())))
            // What it would be from there is not known.
            .filter(|named| named.is_absolute());
        found.extend(named.filter(|named| found.len() < MOST && !found.contains(named)));
    }
    if found.iter().all(|named| file_info::is_same(named, folder)) { Vec::new() } else { found }
}

/// Whether a state knows one of these processes as a client whose hooks this program answers.
fn knows(env: &Environment, folder: &Path, above: &[Process], event: &Event) -> Result<bool> {
    let Some(store) = Store::open_as_it_is(folder)? else { return Ok(false) };
    let ours = policy::pin::program(env);
    for process in above {
        let Some(known) = client_lineage::known_client(&store, *process, event.at)? else { continue };
        // Earlier versions did not write the program down.
        let is_ours = |program| program == 0 || Some(program) == ours;
        if known.session.is_some_and(|session| is_ours(session.program)) {
            return Ok(true);
        }
    }
    Ok(false)
}
