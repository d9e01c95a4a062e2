//! Where the limits of runs come from live: the policy that their session is pinned to.

use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;

use crate::config::load;
use crate::config::policy::Policy;
use crate::config::spawn;
use crate::domain::limit_set::LimitSet;
use crate::domain::session::Session;
use crate::engine::limit_source::LimitSource;
use crate::error::{Error, Result};
use crate::hook::policy;
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::store::Store;

/// The rules of the policy that a session is pinned to, read when a run opens.
pub struct PinnedLimits<'a> {
    env: &'a Environment,
    store: &'a Store,
    policy_id: Option<i64>,
    folder: PathBuf,
    policy: OnceCell<Policy>,
    problems: RefCell<Vec<String>>,
    damage: OnceCell<Error>,
}

impl<'a> PinnedLimits<'a> {
    /// Names the policy of a session.
    pub fn of(env: &'a Environment, store: &'a Store, session: &Session) -> PinnedLimits<'a> {
        let (policy_id, folder) = (session.policy, PathBuf::from(&session.folder));
        let problems = RefCell::default();
        PinnedLimits { env, store, policy_id, folder, policy: OnceCell::new(), problems, damage: OnceCell::new() }
    }

    /// Returns what was wrong with the limits that spawns have asked for. Where the policy itself cannot be read, nothing that
    /// was decided by it may stand.
    pub fn problems(self) -> Result<Vec<String>> {
        self.damage.into_inner().map_or(Ok(self.problems.into_inner()), Err)
    }

    fn policy(&self) -> &Policy {
        // Where none is pinned the files bind, and those of a repository tighten only.
        let of_files = || Ok(load::load(self.env, &self.folder, false).0);
        self.policy.get_or_init(|| {
            match self.policy_id.map_or_else(of_files, |id| policy::stored::stored(self.store, id)) {
                Ok(policy) => policy,
                Err(cause) => {
                    let _first = self.damage.set(cause);
                    Policy::default()
                }
            }
        })
    }
}

impl LimitSource for PinnedLimits<'_> {
    fn main(&self) -> LimitSet {
        self.policy().main()
    }
    fn agent(&self, agent_type: &str, spawn: Option<&str>) -> LimitSet {
        let (rules, problems) = self.policy().agent(agent_type, spawn);
        self.problems.borrow_mut().extend(problems.iter().map(notices::mistake));
        rules
    }
    fn limits_in(&self, prompt: &str) -> Option<String> {
        spawn::text_of(prompt)
    }
    fn discipline(&self, agent_type: &str) -> Option<String> {
        self.policy().discipline(agent_type)
    }
}
