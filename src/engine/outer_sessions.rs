//! The sessions above one: those that its client comes from, one started by the agent of the next.

use crate::domain::scope::Scope;
use crate::domain::session::{Order, Session};
use crate::domain::verdict::Finding;
use crate::engine::session_state::SessionState;

impl SessionState {
    /// Finds a session above this one.
    pub fn above_mut(&mut self, id: &str) -> Option<&mut Session> {
        self.above.iter_mut().find(|above| above.id == id).map(|above| &mut **above)
    }

    /// Returns the order that stands for the session, or for one above it.
    pub fn order_above(&self) -> Option<Order> {
        let of_another = |above: &Session| {
            let order = above.order.as_ref()?;
            let finding = Finding { scope: Scope::Outer, above: above.id.clone(), ..order.finding.clone() };
            Some(Order { finding, ..order.clone() })
        };
        let own = self.session.order.clone();
        own.or_else(|| self.above.iter().find_map(|above| of_another(above)))
    }
}
