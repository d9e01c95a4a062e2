//! The limits of a whole team that are no money, in its store: what machines ask of them, what admins set, what people see.

use serde::Deserialize;
use serde_json::json;

use crate::domain::moment::Moment;
use crate::domain::share_kind::ShareKind;
use crate::error::Result;
use crate::store::team::connection::Row;
use crate::store::team::ledger::{Ledger, number, word};
use crate::team::share::{Share, ShareReply, ShareRequest};

/// A limit that the machines of a team share, with what they have reserved of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLimit {
    /// What it is on: `agents` or `requests`.
    pub kind: String,
    /// The limit.
    pub cap: u64,
    /// The window of requests, in milliseconds; 0 for agents.
    pub per_ms: u64,
    /// What is reserved of it.
    pub reserved: u64,
    /// How many machines have reserved something.
    pub machines: u64,
}

/// What a machine has reserved of a limit that the team's machines share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenShare {
    /// What it is of: `agents` or `requests`.
    pub kind: String,
    /// Whose it is.
    pub login: String,
    /// The machine's id.
    pub machine: String,
    /// How much it counts.
    pub counted: u64,
    /// Until when it is not given up where its machine is not heard again: from then on requests count no more, and agents can be
    /// written off.
    pub until: String,
    /// Whether it can be written off: that is over, or its login is out of the team.
    pub is_expired: bool,
}

impl Ledger {
    /// Sets how many agents may be at work at once, or how many requests fit into a window; `None` takes the limit away.
    pub fn set_shared_limit(&mut self, team: &str, kind: ShareKind, limit: Option<(u64, u64)>) -> Result<()> {
        let amount = limit.map(|(amount, _)| amount.to_string());
        let per_ms = limit.filter(|(_, per_ms)| *per_ms > 0).map(|(_, per_ms)| per_ms.to_string());
        let set = "SELECT fusebox.set_shared_limit($1, $2, $3, $4)";
        self.ask(set, &[Some(team), Some(kind.as_str()), amount.as_deref(), per_ms.as_deref()]).map(|_| ())
    }

    /// Returns the shares of a machine, as far as the store alone knows them.
    pub fn known_shares(&mut self, team: &str, machine: &str) -> Result<Vec<Share>> {
        let known = "SELECT s.kind, s.number FROM fusebox.share s JOIN fusebox.team t ON t.id = s.team \
             WHERE t.name = $1 AND s.machine = $2";
        let share = |row: &Row| Some(Share::known(ShareKind::named(word(row, 0))?, number(row, 1)));
        Ok(self.ask(known, &[Some(team), Some(machine)])?.iter().filter_map(share).collect())
    }

    /// Returns the limits that the machines of a team share.
    pub fn shared_limits(&mut self, team: &str) -> Result<Vec<SharedLimit>> {
        let all = "SELECT kind, cap, per_ms, reserved, machines FROM fusebox.share_use WHERE team = $1 ORDER BY kind";
        let limit = |row: &Row| SharedLimit {
            kind: word(row, 0).to_owned(),
            cap: number(row, 1),
            per_ms: number(row, 2),
            reserved: number(row, 3),
            machines: number(row, 4),
        };
        Ok(self.ask(all, &[Some(team)])?.iter().map(limit).collect())
    }

    /// Returns the shares that count something; none where this login is no admin of the team.
    pub fn open_shares(&mut self, team: &str) -> Result<Vec<OpenShare>> {
        let open = "SELECT o.kind, o.login, o.machine, o.counted, date_trunc('second', greatest(t.grants_from, s.expires_at \
             + (coalesce(s.stale_ms, 0) + coalesce(s.per_ms, 0)) * interval '1 ms')), o.is_expired AND (t.grants_from <= clock_timestamp() \
             OR NOT EXISTS (SELECT FROM fusebox.member m WHERE m.team = t.id AND m.login = o.login)) \
             FROM fusebox.open_share o JOIN fusebox.team t ON t.name = o.team \
             JOIN fusebox.share s ON s.team = t.id AND s.kind = o.kind AND s.machine = o.machine \
             WHERE o.team = $1 AND fusebox.is_in(t.id, 'admin') ORDER BY o.machine, o.kind";
        let share = |row: &Row| OpenShare {
            kind: word(row, 0).to_owned(),
            login: word(row, 1).to_owned(),
            machine: word(row, 2).to_owned(),
            counted: number(row, 3),
            until: word(row, 4).to_owned(),
            is_expired: word(row, 5) == "t",
        };
        Ok(self.ask(open, &[Some(team)])?.iter().map(share).collect())
    }

    /// Gives up what an expired share has reserved.
    pub fn write_off_share(&mut self, team: &str, share: &OpenShare) -> Result<()> {
        let values = [Some(team), Some(share.machine.as_str()), Some(share.kind.as_str())];
        self.ask("SELECT fusebox.write_off_share($1, $2, $3)", &values).map(|_| ())
    }
}

/// The statement that answers what a machine asks of one kind; its row is NULL where the team has no such limit.
pub(super) const STATEMENT: &str = "SELECT fusebox.sync_share($1, $2, $3, $4::jsonb)";

/// Returns a request as the function in the database reads it.
pub(super) fn asked(request: &ShareRequest) -> String {
    let ShareRequest { number, in_use, needs, wants, stale_ms, .. } = request;
    json!({"number": number, "in_use": in_use, "needs": needs, "wants": wants, "stale_ms": stale_ms}).to_string()
}

/// A reply, as the function in the database writes it.
#[derive(Debug, Deserialize)]
pub(super) struct Shared {
    kind: ShareKind,
    epoch: u64,
    cap: Option<u64>,
    held_by: Option<String>,
    per_ms: Option<u64>,
    reserved: Option<u64>,
    number: Option<u64>,
    amount: Option<u64>,
    usable: Option<u64>,
    most: Option<u64>,
    lives_ms: Option<u64>,
    wait_ms: Option<u64>,
    contact: Option<String>,
}

impl Shared {
    pub(super) fn reply(self, sent: Moment) -> ShareReply {
        ShareReply {
            epoch: self.epoch,
            sent,
            kind: self.kind,
            cap: self.cap,
            held_by: self.held_by,
            per_ms: self.per_ms.unwrap_or(0),
            reserved: self.reserved.unwrap_or(0),
            number: self.number.unwrap_or(0),
            amount: self.amount.unwrap_or(0),
            usable: self.usable.unwrap_or(0),
            most: self.most.unwrap_or(0),
            lives_ms: self.lives_ms.unwrap_or(0),
            wait_ms: self.wait_ms.unwrap_or(0),
            contact: self.contact.unwrap_or_default(),
        }
    }
}
