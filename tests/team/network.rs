//! A network as the set of all that was ever sent: a message may be delivered late, again, before another, or never.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Messages in an order that does not depend on when they were sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Network<T>(Vec<(u64, Arc<T>)>);

impl<T: Hash> Network<T> {
    pub fn new() -> Network<T> {
        Network(Vec::new())
    }

    pub fn send(&mut self, message: T) {
        let mut hasher = DefaultHasher::new();
        message.hash(&mut hasher);
        let hash = hasher.finish();
        if let Err(at) = self.0.binary_search_by_key(&hash, |(hash, _)| *hash) {
            self.0.insert(at, (hash, Arc::new(message)));
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, message)| &**message)
    }
}
