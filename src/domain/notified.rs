//! Notices to the person of a session, and which of them are given once.

use crate::domain::bounds::NOTIFIED;
use crate::domain::session::Session;

/// How a line begins that says whose it is.
const SIGN: &str = "Fusebox: ";

/// Says whose a sentence is, which stands among those of others.
pub fn signed(what: &str) -> String {
    format!("{SIGN}{what}")
}

/// Returns a sentence without saying whose it is.
pub fn unsigned(line: &str) -> &str {
    line.strip_prefix(SIGN).unwrap_or(line)
}

impl Session {
    /// Adds a notice for the person. The next event that can show it does; the log has it, too.
    pub fn notify_user(&mut self, what: &str) {
        self.user_notifications.push(signed(what));
    }

    /// Adds some.
    pub fn notify_user_of(&mut self, all: impl IntoIterator<Item = String>) {
        self.user_notifications.extend(all.into_iter().map(|what| signed(&what)));
    }

    /// Adds a notice once a session, under a key of its own.
    pub fn notify_user_once(&mut self, key: &str, what: &str) {
        if self.mark_notified(key) {
            self.notify_user(what);
        }
    }

    /// Whether a notice was given under a key.
    pub fn was_notified(&self, key: &str) -> bool {
        self.notified.iter().any(|it| it == key)
    }

    /// Marks a notice as given; returns whether it was not given before.
    ///
    /// A key `kind:name` counts against its kind: at most [`NOTIFIED`] of a kind are given, since an agent can make up names.
    pub fn mark_notified(&mut self, key: &str) -> bool {
        let kind = key.split_once(':').map(|(kind, _)| kind);
        let same = |given: &&String| kind.is_some() && given.split_once(':').map(|(kind, _)| kind) == kind;
        let is_new = self.notified.iter().all(|it| it != key) && self.notified.iter().filter(same).count() < NOTIFIED;
        if is_new {
            self.notified.push(key.to_owned());
        }
        is_new
    }

    /// Whether a model that it has used has a price of its own, by the notices given.
    pub fn knows_price(&self, model: &str) -> bool {
        let is_given = |given: &String| given.strip_prefix("model:").is_some_and(|name| name == model);
        !self.notified.iter().any(is_given) && (self.by_model.is_empty() || self.by_model.contains_key(model))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_of_a_kind_are_bounded_and_others_are_given() {
        let mut session = Session::default();
        let given = (0..10 * NOTIFIED).filter(|at| session.mark_notified(&format!("model:m{at}"))).count();
        assert_eq!(given, NOTIFIED);
        assert!(
            session.mark_notified("unwritten")
                && session.mark_notified("event:e1")
                && !session.mark_notified("unwritten")
        );
    }
}
