//! Syncs with the team's store on a machine where no hook begins any: they report what was spent, and read what is used of the caps.

use crate::cmd::live_state::LiveState;
use crate::cmd::team_place;
use crate::config::policy::Policy;
use crate::domain::moment::Moment;
use crate::domain::team::SYNC_INTERVAL_MS;
use crate::domain::time_units::MINUTE_MS;
use crate::error::Result;
use crate::hook::background::team_sync;
use crate::platform::environment::Environment;
use crate::store::{self, Store};

/// How often a machine without new events asks what is used of the caps, in milliseconds.
const IDLE_MS: u64 = 5 * MINUTE_MS.cast_unsigned();

/// When `fusebox watch` begins a sync: its interval, and when it last checked whether one is due.
pub struct Syncs {
    interval_ms: u64,
    looked: Moment,
}

impl Syncs {
    /// Reads the interval from the person's own policy.
    pub fn of(policy: &Policy) -> Syncs {
        let interval_ms = policy.team().map_or(SYNC_INTERVAL_MS, |terms| terms.sync_interval_ms);
        Syncs { interval_ms, looked: Moment::default() }
    }

    /// Begins a sync where one is due. It claims the sync as hooks do, so that each is begun once.
    pub fn begin_if_due(&mut self, env: &Environment, live: &LiveState) -> Result<()> {
        let now = env.now();
        let has_looked = self.looked != Moment::default() && now.since(self.looked) < self.interval_ms;
        if has_looked || !team_place::has_joined(env) {
            return Ok(());
        }
        self.looked = now;
        let begun_ms = team_sync::last_begun(&Store::open(env)?)?.wall_ms;
        let has_news = live.rows.iter().any(|rows| rows.session.last.wall_ms >= begun_ms);
        let interval_ms = if has_news { self.interval_ms } else { IDLE_MS.max(self.interval_ms) };
        let folder = store::folder(env)?;
        if team_sync::claim_in(&folder, now, interval_ms)? {
            team_sync::begin_beside(env, &folder);
        }
        Ok(())
    }
}
