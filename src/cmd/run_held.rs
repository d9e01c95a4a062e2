//! What `fusebox run` says while its client works: that an agent of it is held until a person comes.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use crate::domain::session::{Order, Run, Session};
use crate::domain::text::duration;
use crate::error::Result;
use crate::hook::held_pauses::Seen;
use crate::messages::next_step::NextStep;
use crate::messages::to_people;
use crate::platform::environment::Environment;
use crate::store::{self, Store};
use crate::ui::terminal::plain;
use crate::wire::messages::{because, short};
use crate::wire::user_lines::beside_command;

/// How often the state's files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The look-out for held agents; it ends when this is dropped.
pub struct HeldLookout {
    _ends: Sender<()>,
}

impl HeldLookout {
    /// Looks for held agents in the sessions of a `fusebox run`, and says once of each on standard error how it goes on. Returns
    /// nothing where the system gives no thread for it.
    pub fn begin(env: &Environment, mark: &str, since_ms: i64) -> Option<HeldLookout> {
        let folder = store::folder(env).ok()?;
        let (mark, (ends, over)) = (mark.to_owned(), mpsc::channel::<()>());
        let look = move || {
            let env = Environment::real();
            let (mut seen, mut told) = (Seen::of(&folder), Vec::new());
            while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                let now = Seen::of(&folder);
                if now == seen {
                    continue;
                }
                seen = now;
                // A state that cannot be read now is read at the next look.
                for line in held(&folder, &mark, since_ms).unwrap_or_default() {
                    if !told.contains(&line) {
                        env.eprintln_safe(&plain(&format!("fusebox: {line}")));
                        told.push(line);
                    }
                }
            }
        };
        thread::Builder::new().spawn(look).ok().map(|_| HeldLookout { _ends: ends })
    }
}

/// Returns a line for each agent that is held.
fn held(folder: &Path, mark: &str, since_ms: i64) -> Result<Vec<String>> {
    let Some(store) = Store::open_as_it_is(folder)? else { return Ok(Vec::new()) };
    let mut lines = Vec::new();
    for session in store.sessions_of_launcher(mark, since_ms)? {
        for run in store.runs_of(&session.id)? {
            lines
                .extend(run.order.as_ref().filter(|order| order.is_holding()).map(|order| line(&session, &run, order)));
        }
    }
    store.leave();
    Ok(lines)
}

fn line(session: &Session, run: &Run, order: &Order) -> String {
    let finding = &order.finding;
    let id = if finding.ends_session() { &session.id } else { &run.id };
    let (who, why) = (run.agent_type.as_str(), beside_command(finding) + &because(order.reason.as_ref()));
    to_people::run_held(
        who,
        duration::to_pass(session.pause_wait_ms),
        why,
        NextStep::Resume { id: short(id).to_owned() },
    )
}
