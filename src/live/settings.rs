//! Watches the client's settings and our own files while a session runs.

use std::path::Path;

use crate::engine::book::Book;
use crate::engine::event::{Event, Kind};
use crate::engine::session::Session;
use crate::live::pin;
use crate::setup::handlers::{self, Registered};
use crate::wire::events::EVENTS;
use crate::wire::output::Answer;
use crate::world::World;

/// Keeps a settings change back that would take our handlers away, and tells of edits that change nothing yet.
pub fn look(world: &World, book: &mut Book, event: &Event, answer: &mut Answer) {
    let folder = book.session.folder.clone();
    // A limit that ends the loop may be the last that a person hears of the session.
    let ends = answer.goes_on == Some(false);
    match event.kind {
        Kind::ConfigChanged { .. } => {
            let now = handlers::registered(world, Path::new(&folder));
            let Some(harm) = loss(book.session.handlers, &now).or_else(|| diversion(&book.session, &now)) else {
                book.session.model_hooks = now.model_hooks;
                return;
            };
            answer.decision = Some("block");
            answer.reason = Some(format!(
                "Fusebox: this change of settings {harm}, so it takes no effect in this session; the limits stay in force. \
                 `fusebox uninstall` takes Fusebox out."
            ));
            let once = format!("settings:{harm}");
            if !book.session.said.contains(&once) {
                book.session.said.push(once);
                book.session
                    .tell(&format!("a change of settings {harm}; the next client takes it up unless it is undone"));
            }
        }
        Kind::Prompt { .. } | Kind::Stopped { .. } => edits(world, book, &folder),
        Kind::SessionEnded => last_look(world, book, &folder),
        _ if ends => last_look(world, book, &folder),
        _ => {}
    }
}

/// Tells of edits, and of mods that the next client would load.
fn last_look(world: &World, book: &mut Book, folder: &str) {
    edits(world, book, folder);
    let now = pin::mods(world, Path::new(folder));
    let before = std::mem::replace(&mut book.session.mods, now.clone());
    for new in now.iter().filter(|path| !before.contains(path)) {
        book.session
            .tell(&format!("a mod was put into `{new}`; the next client loads it, and a mod can overrule every hook"));
    }
}

/// Tells of an edit of the configuration, once.
fn edits(world: &World, book: &mut Book, folder: &str) {
    let print = pin::fingerprint(world, Path::new(folder));
    if print != book.session.config_print && book.session.config_print != 0 {
        book.session.config_print = print;
        book.session.tell(
            "its configuration was edited; this session keeps the limits it started with. `fusebox reload` in a terminal of \
             your own takes the edit up, and so does the next client",
        );
    }
}

/// Says how settings would send the hooks to another state than the session's; nothing where they do not, or did before.
fn diversion(session: &Session, now: &Registered) -> Option<String> {
    let (file, variable) = now.diverted.as_ref().filter(|_| now.diversions != session.diversions)?;
    Some(format!("would lead Fusebox's hooks astray (`{variable}` in `env` of `{}`)", file.display()))
}

/// Says what the settings on disk would take away; nothing where all handlers are still there.
fn loss(before: u32, now: &Registered) -> Option<String> {
    if let Some(file) = &now.disabled {
        return Some(format!("would switch all hooks off (`disableAllHooks` in `{}`)", file.display()));
    }
    let had = EVENTS.iter().filter(|row| before & row.event.bit() != 0);
    let (kept, lost): (Vec<_>, Vec<_>) = had.partition(|row| now.events.contains(&row.event));
    let names: Vec<&str> = lost.iter().map(|row| row.name).collect();
    match (kept.len(), lost.len()) {
        (_, 0) => None,
        (0, _) => Some("would take Fusebox's hooks away".to_owned()),
        _ => Some(format!("would take Fusebox's hooks away ({})", names.join(", "))),
    }
}
