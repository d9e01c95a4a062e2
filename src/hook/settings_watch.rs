//! Watches the client's settings and our own files while a session runs.

use std::path::Path;

use crate::domain::event::{Event, Kind};
use crate::engine::session_state::Book;
use crate::hook::load::say_once;
use crate::hook::{pin_policy, settings_baseline};
use crate::install::handlers;
use crate::platform::environment::World;
use crate::wire::output::Answer;

/// Keeps a settings change back that would take our handlers away, and tells of edits that change nothing yet.
pub fn look(world: &World, book: &mut Book, event: &Event, answer: &mut Answer) {
    let folder = book.session.folder.clone();
    // A limit that ends the loop may be the last that a person hears of the session.
    let ends = answer.goes_on == Some(false);
    match event.kind {
        Kind::ConfigChanged { .. } => {
            let now = handlers::registered(world, Path::new(&folder));
            let Some(harm) = settings_baseline::harm(&book.session, &now) else {
                settings_baseline::take_hooks(world, &mut book.session, &now);
                return;
            };
            answer.decision = Some("block");
            answer.reason = Some(hold(book, &harm));
        }
        Kind::Prompt { .. } | Kind::Stopped { .. } => edits(world, book, &folder),
        Kind::SessionEnded => last_look(world, book, &folder),
        _ if ends => last_look(world, book, &folder),
        _ => {}
    }
}

/// Tells the person what waits, once, and that what comes later waits with it; returns the reason for the client.
fn hold(book: &mut Book, harm: &str) -> String {
    let session = &mut book.session;
    if session.says_first(&format!("settings:{harm}")) {
        session.tell(&format!(
            "a change of settings {harm}; it waits for a person's `fusebox reload`, and the next client takes it up unless it is undone"
        ));
        return format!(
            "Fusebox: this change of settings {harm}. It waits, and with it every later change: none is in force in this session. \
             If it is yours, `fusebox reload` in a terminal of your own takes it."
        );
    }
    if session.says_first(&format!("settings behind:{harm}")) {
        session.tell(&format!(
            "another change of settings waits, of whichever file, since one before it is still there, which {harm}; `fusebox reload` takes them all"
        ));
    }
    format!(
        "Fusebox: this change of settings waits, since one before it is still there, which {harm}. Undo that one, or have `fusebox \
         reload` in a terminal of your own take them all."
    )
}

/// Tells of edits, and of mods that the next client would load.
fn last_look(world: &World, book: &mut Book, folder: &str) {
    edits(world, book, folder);
    let now = pin_policy::mods(world, Path::new(folder));
    for folder in now.overfull {
        let what = format!(
            "`{folder}` has so many entries that not all were searched for mods, which can overrule every hook"
        );
        say_once(&mut book.session, &format!("overfull:{folder}"), &what);
    }
    let before = std::mem::replace(&mut book.session.mods, now.mods.clone());
    for new in now.mods.iter().filter(|path| !before.contains(path)) {
        book.session
            .tell(&format!("a mod was put into `{new}`; the next client loads it, and a mod can overrule every hook"));
    }
}

/// Tells of an edit of the configuration, once.
fn edits(world: &World, book: &mut Book, folder: &str) {
    let print = pin_policy::fingerprint(world, Path::new(folder));
    if print != book.session.config_print && book.session.config_print != 0 {
        book.session.config_print = print;
        book.session.tell(
            "its configuration was edited; this session keeps the limits it started with. `fusebox reload` in a terminal of \
             your own takes the edit up, and so does the next client",
        );
    }
}
