//! What a session tells its person, and what of it is said once.

use crate::domain::bounds::NOTIFIED;
use crate::domain::session::Session;

impl Session {
    /// Tells the person something at the next event that can; it is written down, too.
    pub fn notify_user(&mut self, what: &str) {
        self.user_notifications.push(format!("Fusebox: {what}"));
    }

    /// Tells the person something once a session, under a key of its own.
    pub fn notify_user_once(&mut self, key: &str, what: &str) {
        if self.says_first(key) {
            self.user_notifications.push(format!("Fusebox: {what}"));
        }
    }

    /// Whether something is to be said: it was not yet. Of a kind that an agent can make up names for, only so many are.
    pub fn says_first(&mut self, key: &str) -> bool {
        let kind = key.split_once(':').map(|(kind, _)| kind);
        let same = |said: &&String| kind.is_some() && said.split_once(':').map(|(kind, _)| kind) == kind;
        let is_new = self.notified.iter().all(|it| it != key) && self.notified.iter().filter(same).count() < NOTIFIED;
        if is_new {
            self.notified.push(key.to_owned());
        }
        is_new
    }

    /// Whether a model that it has used has a price of its own, as far as that was said.
    pub fn knows_price(&self, model: &str) -> bool {
        let is_said = |said: &String| said.strip_prefix("model:").is_some_and(|name| name == model);
        !self.notified.iter().any(is_said) && (self.by_model.is_empty() || self.by_model.contains_key(model))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_made_up_is_said_of_some_and_the_rest_always() {
        let mut session = Session::default();
        let said = (0..10 * NOTIFIED).filter(|at| session.says_first(&format!("model:m{at}"))).count();
        assert_eq!(said, NOTIFIED);
        assert!(session.says_first("unwritten") && session.says_first("event:e1") && !session.says_first("unwritten"));
    }
}
