//! Watches the client's settings and our own files while a session runs.

use std::path::Path;

use crate::config::load;
use crate::engine::book::Book;
use crate::engine::event::{Event, Kind};
use crate::engine::session::Session;
use crate::setup::handlers::{self, Registered};
use crate::wire::events::EVENTS;
use crate::wire::input::Input;
use crate::wire::output::Answer;
use crate::world::World;

/// Keeps a settings change back that would take our handlers away, and tells of edits that change nothing yet.
pub fn look(world: &World, book: &mut Book, what: (&Input, &Event), answer: &mut Answer) {
    let (_, event) = what;
    let folder = book.session.folder.clone();
    match event.kind {
        Kind::ConfigChanged { .. } => {
            let now = handlers::registered(world, Path::new(&folder));
            if let Some(loss) = loss(book.session.handlers, &now).or_else(|| diversion(&book.session, &now)) {
                answer.decision = Some("block");
                answer.reason = Some(format!(
                    "Fusebox: this change of settings {loss}, so it takes no effect in this session; the limits stay in force. \
                     `fusebox uninstall` takes Fusebox out."
                ));
            }
        }
        Kind::Prompt { .. } | Kind::Stopped { .. } => {
            let print = load::fingerprint(world, Path::new(&folder));
            if print != book.session.config_print && book.session.config_print != 0 {
                book.session.config_print = print;
                book.session.notices.push(
                    "Fusebox: its configuration was edited; this session keeps the limits it started with. `fusebox reload` \
                     in a terminal of your own takes the edit up."
                        .to_owned(),
                );
            }
        }
        _ => {}
    }
}

/// Says how settings would send the hooks to another state than the session's; nothing where they do not, or did before.
fn diversion(session: &Session, now: &Registered) -> Option<String> {
    let (file, variable) = now.diverted.as_ref().filter(|_| !session.diverted)?;
    Some(format!("would send Fusebox's hooks to another state (`{variable}` in `env` of `{}`)", file.display()))
}

/// Says what the settings on disk would take away; nothing where all handlers are still there.
fn loss(before: u32, now: &Registered) -> Option<String> {
    if let Some(file) = &now.disabled {
        return Some(format!("would switch all hooks off (`disableAllHooks` in `{}`)", file.display()));
    }
    let had = EVENTS.iter().filter(|row| before & row.event.bit() != 0);
    let lost: Vec<&str> = had.filter(|row| !now.events.contains(&row.event)).map(|row| row.name).collect();
    (!lost.is_empty()).then(|| format!("would take Fusebox's hooks away ({})", lost.join(", ")))
}
