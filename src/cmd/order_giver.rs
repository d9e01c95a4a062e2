//! Who gives an order: a person, or an agent, whose orders reach its own session and those below it.

use crate::cmd::require_human;
use crate::domain::session::{Process, Session};
use crate::error::{Error, Result};
use crate::hook::origin::client_lineage;
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::store::Store;
use crate::wire::messages::short;

/// Who gives an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderGiver {
    /// A person, as far as that can be told.
    Person,
    /// An agent, with the session of the nearest client above the command where one is known.
    Agent(Option<String>),
}

impl OrderGiver {
    /// Finds out who gives the order of a command. An environment names any session, so the processes above are asked.
    pub fn of(env: &Environment, verb: &str) -> Result<OrderGiver> {
        if require_human::require(env, verb).is_ok() {
            return Ok(OrderGiver::Person);
        }
        let (store, ns) = (Store::open(env)?, processes::namespace().unwrap_or(0));
        for (pid, start) in processes::ancestors(env.pid()) {
            if let Some(client) = client_lineage::known_client(&store, Process { pid, start, ns }, env.now())? {
                return Ok(OrderGiver::Agent(Some(client.session_id)));
            }
        }
        Ok(OrderGiver::Agent(None))
    }

    /// Refuses an order to a session that is not the giver's.
    pub fn may_order(&self, verb: &str, session: &Session) -> Result<()> {
        let OrderGiver::Agent(own) = self else { return Ok(()) };
        let mut reached = std::iter::once(&session.id).chain(&session.between).chain(&session.outer);
        if own.as_ref().is_some_and(|own| reached.any(|id| id == own)) {
            return Ok(());
        }
        Err(Error::failed(format!("`fusebox {verb}` of another session is a person's to run"))
            .hint("name your own session, or one that you have started: an agent's order reaches no other"))
    }

    /// Names who gives it; empty for a person.
    pub fn name(&self) -> String {
        match self {
            OrderGiver::Person => String::new(),
            OrderGiver::Agent(None) => "an agent".to_owned(),
            OrderGiver::Agent(Some(session)) => format!("an agent of session {}", short(session)),
        }
    }
}
