//! The caps of a team that bind now, each with whom it was set for and what is used of it.

use crate::domain::spend::amount::Amount;
use crate::domain::team_cap::CapUse;
use crate::error::Result;
use crate::store::team::connection::Row;
use crate::store::team::ledger::{Ledger, number, word};

/// A cap that binds now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapInForce {
    /// `team`, `user` or `project`.
    pub scope: String,
    /// Whom it binds: the login or the project's label; empty for the team.
    pub who: String,
    /// Whom it was set for: `team`, a login, `group ops`, `each user` or `project`.
    pub set_for: String,
    /// `day`, `week` or `month`.
    pub period: String,
    /// The cap, with what is granted.
    pub cap: Amount,
    /// What it was raised by until the period ends.
    pub granted: Amount,
    /// What is spent of it.
    pub spent: Amount,
    /// What is spent of it or leased.
    pub committed: Amount,
    /// When it resets; empty for one that binds nobody.
    pub resets: String,
    /// When it resets, in RFC 3339.
    pub resets_at: String,
}

impl CapInForce {
    /// Whether all of it is spent or leased.
    pub fn is_committed(&self) -> bool {
        self.committed >= self.cap
    }

    /// Returns it as machines are told of it.
    pub fn told(&self, team: &str, contact: &str) -> CapUse {
        CapUse {
            team: team.to_owned(),
            scope: self.scope.clone(),
            label: self.who.clone(),
            period: self.period.clone(),
            resets: self.resets.clone(),
            cap: self.cap,
            spent: self.spent,
            committed: self.committed,
            contact: contact.to_owned(),
            ..CapUse::default()
        }
    }
}

/// The caps of the view `cap_use`, with the rule by which the store chooses among those of a user.
const IN_FORCE: &str = "SELECT u.scope, u.whose, CASE u.scope WHEN 'user' THEN coalesce( \
     (SELECT k.login::text FROM fusebox.cap k WHERE k.team = t.id AND k.scope = 'user' AND k.login = u.whose \
         AND k.period = u.period), \
     (SELECT 'group ' || k.label FROM fusebox.cap k JOIN fusebox.group_member m ON m.team = k.team AND m.name = k.label \
         WHERE k.team = t.id AND k.scope = 'group' AND k.period = u.period AND m.login = u.whose \
         ORDER BY k.amount_pico_usd, k.label LIMIT 1), 'each user') ELSE u.scope END, \
     u.period, u.cap_pico_usd, coalesce(g.amount_pico_usd, 0), u.spent_pico_usd, u.committed_pico_usd, \
     to_char(((u.since + ('1 ' || u.period)::interval) AT TIME ZONE t.time_zone) AT TIME ZONE t.time_zone, \
         'YYYY-MM-DD HH24:MI ') || t.time_zone, \
     to_char(((u.since + ('1 ' || u.period)::interval) AT TIME ZONE t.time_zone) AT TIME ZONE 'UTC', \
         'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') \
     FROM fusebox.cap_use u JOIN fusebox.team t ON t.name = u.team \
     LEFT JOIN fusebox.granted g ON g.team = t.id AND g.scope = u.scope AND g.period = u.period AND g.since = u.since \
         AND g.login = CASE u.scope WHEN 'team' THEN '' ELSE u.whose END \
     WHERE u.team = $1 ORDER BY array_position(ARRAY['team', 'project', 'user'], u.scope), u.whose, \
         array_position(ARRAY['day', 'week', 'month'], u.period)";

/// All caps of users and groups, for an admin: some may bind nobody.
const SET: &str = "SELECT CASE k.scope WHEN 'group' THEN 'group ' || k.label ELSE coalesce(nullif(k.login::text, ''), 'each user') END, \
     k.period, k.amount_pico_usd FROM fusebox.cap k JOIN fusebox.team t ON t.id = k.team \
     WHERE t.name = $1 AND k.scope IN ('user', 'group') AND fusebox.is_in(t.id, 'admin') ORDER BY 1, 2";

impl Ledger {
    /// Returns the caps that bind now, as far as this login sees them: an admin all, a member those of the team, of projects and
    /// their own. To an admin, those that bind nobody come last.
    pub fn caps_in_force(&mut self, team: &str) -> Result<Vec<CapInForce>> {
        let amount = |row: &Row, at| Amount(number(row, at));
        let in_force = |row: &Row| CapInForce {
            scope: word(row, 0).to_owned(),
            who: word(row, 1).to_owned(),
            set_for: word(row, 2).to_owned(),
            period: word(row, 3).to_owned(),
            cap: amount(row, 4),
            granted: amount(row, 5),
            spent: amount(row, 6),
            committed: amount(row, 7),
            resets: word(row, 8).to_owned(),
            resets_at: word(row, 9).to_owned(),
        };
        let mut caps: Vec<CapInForce> = self.ask(IN_FORCE, &[Some(team)])?.iter().map(in_force).collect();
        for row in self.ask(SET, &[Some(team)])? {
            let (set_for, period) = (word(&row, 0), word(&row, 1));
            if !caps.iter().any(|cap| cap.scope == "user" && cap.set_for == set_for && cap.period == period) {
                caps.push(CapInForce {
                    scope: "user".to_owned(),
                    who: String::new(),
                    set_for: set_for.to_owned(),
                    period: period.to_owned(),
                    cap: amount(&row, 2),
                    granted: Amount::ZERO,
                    spent: Amount::ZERO,
                    committed: Amount::ZERO,
                    resets: String::new(),
                    resets_at: String::new(),
                });
            }
        }
        Ok(caps)
    }
}
