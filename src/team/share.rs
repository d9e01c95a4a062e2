//! A machine's share of a limit that its team shares and that is no money: subagents at once, or model requests in a window.
//!
//! The machine says how much it wants, and uses less as soon as it has said so. It uses more once the store has said so.

use serde::{Deserialize, Serialize};

use crate::domain::moment::Moment;
use crate::domain::share_kind::ShareKind;

/// What a machine uses of a limit, and what it would use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Demand {
    /// What is in use now.
    pub in_use: u64,
    /// What is in use and asked for.
    pub needs: u64,
    /// What is in use, asked for, and may be asked for soon.
    pub wants: u64,
    /// For how long it uses its share without hearing the store beyond the share's life, in milliseconds; `None` for as long as it likes.
    pub stale_ms: Option<u64>,
}

impl Demand {
    /// Returns what is in use alone: nothing is asked for, or wanted next.
    pub fn of_use(self) -> Demand {
        Demand { needs: self.needs.min(self.in_use), wants: 0, ..self }
    }
}

/// What a machine asks the store for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShareRequest {
    /// What the limit is on.
    pub kind: ShareKind,
    /// The machine's number of the request. One that is sent again, or comes late, changes nothing.
    pub number: u64,
    /// What is in use now.
    pub in_use: u64,
    /// What is in use and asked for.
    pub needs: u64,
    /// How much the share is to be.
    pub wants: u64,
    /// As in [`Demand`].
    pub stale_ms: Option<u64>,
}

/// What the store says of a share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ShareReply {
    /// The server's epoch.
    pub epoch: u64,
    /// When the machine had sent the request, by the machine's own clock.
    pub sent: Moment,
    /// What the limit is on.
    pub kind: ShareKind,
    /// The team's limit; `None` where it has none, or the store could say nothing because of somebody's transaction.
    pub cap: Option<u64>,
    /// Who keeps that open, where it is so.
    pub held_by: Option<String>,
    /// The window of requests, in milliseconds; 0 for agents.
    pub per_ms: u64,
    /// What all machines have reserved.
    pub reserved: u64,
    /// The number of the last request that was taken; 0 where none was made.
    pub number: u64,
    /// How much the share is.
    pub amount: u64,
    /// How much of it may be used: no failover can forget it.
    pub usable: u64,
    /// How much the machine is to want at most.
    pub most: u64,
    /// For how many milliseconds it may be used from when the request was sent.
    pub lives_ms: u64,
    /// In how many milliseconds all of it may be used; 0 where it may.
    pub wait_ms: u64,
    /// Whom to ask for more; empty where nobody is named.
    pub contact: String,
}

/// A share as its machine knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Share {
    /// What the limit is on.
    pub kind: ShareKind,
    /// The server's epoch in the last reply.
    pub epoch: u64,
    /// The number of the last request.
    pub number: u64,
    /// What was needed then.
    pub demand: Demand,
    /// How much that wanted.
    pub wants: u64,
    /// How much the share is, as the store said it last.
    pub amount: u64,
    /// How much the machine may use.
    pub usable: u64,
    /// How much it is to want at most.
    pub most: u64,
    /// Since when the share lives: when the machine sent the request that was answered last.
    pub since: Moment,
    /// For how long, in milliseconds.
    pub lives_ms: u64,
    /// Whether the team has the limit.
    pub is_limited: bool,
    /// The team's limit.
    pub cap: u64,
    /// The window of requests, in milliseconds; 0 for agents.
    pub per_ms: u64,
    /// What all machines had reserved.
    pub reserved: u64,
    /// Whether it was less than the machine needed, and all was reserved.
    pub is_full: bool,
    /// Whether the store had more left, and granted nothing: for a while after its restart.
    pub is_held_back: bool,
    /// Who kept locked what the last request waited for; empty where nobody did.
    pub held_by: String,
    /// Whom to ask for more.
    pub contact: String,
}

/// How far behind what the store knows a machine goes on whose own numbers are lost: requests of before may be under way.
const FAR: u64 = 1_000;

impl Share {
    /// Makes a share of which the number of its last request is all that is known. Nothing of it is used until the store has said so.
    pub fn known(kind: ShareKind, number: u64) -> Share {
        Share { kind, number: if number > 0 { number + FAR } else { 0 }, ..Share::default() }
    }

    /// Takes what is needed now. From here on no more is used than is wanted: the share has to be saved and published before the request
    /// is sent.
    pub fn ask(&mut self, demand: &Demand) {
        self.demand = *demand;
        let wants = self.target();
        if !self.is_settled() {
            self.number += 1;
        }
        self.wants = wants;
        self.usable = self.usable.min(wants);
        self.is_full &= self.usable < demand.needs;
    }

    /// Whether the share is as large as it may be for what is needed.
    pub fn is_settled(&self) -> bool {
        let target = self.target();
        !self.is_limited || self.is_heard() && self.wants == target && self.amount == target
    }

    /// Returns how much the share is to be. Agents at work stay at work: their share shrinks as they end.
    fn target(&self) -> u64 {
        let Demand { in_use, needs, wants, .. } = self.demand;
        let floor = if self.kind == ShareKind::Agents { in_use } else { 0 };
        if self.is_heard() { wants.min(self.most).max(floor) } else { needs }
    }

    /// Whether the store has said how large it is.
    fn is_heard(&self) -> bool {
        self.lives_ms > 0
    }

    /// Returns the request for it; `None` before anything was asked.
    pub fn request(&self) -> Option<ShareRequest> {
        let Share { kind, number, wants, demand: Demand { in_use, needs, stale_ms, .. }, .. } = *self;
        (number > 0 && self.is_limited).then_some(ShareRequest { kind, number, in_use, needs, wants, stale_ms })
    }

    /// Takes a reply in, which may be late, doubled, or of an earlier epoch.
    pub fn apply(&mut self, reply: &ShareReply) {
        if reply.cap.is_none() && reply.held_by.is_none() {
            self.take_away();
        }
        self.is_limited |= reply.cap.is_some();
        match reply.held_by.as_deref() {
            None if reply.number == 0 => {}
            None => self.held_by.clear(),
            Some(by) => (if by.is_empty() { "somebody" } else { by }).clone_into(&mut self.held_by),
        }
        let Some(cap) = reply.cap.filter(|_| reply.epoch >= self.epoch) else { return };
        if reply.number > self.number {
            // What this machine knew is lost: it goes on behind what it had asked for before.
            *self = Share { demand: self.demand, is_limited: true, ..Share::known(self.kind, reply.number) };
        }
        (self.epoch, self.cap, self.per_ms, self.reserved) = (reply.epoch, cap, reply.per_ms, reply.reserved);
        self.contact.clone_from(&reply.contact);
        if reply.number == 0 || reply.number < self.number {
            return;
        }
        (self.amount, self.most) = (reply.amount, reply.most);
        self.usable = reply.usable.min(self.wants);
        // Where the store has room for more than was wanted, the next request asks for it.
        self.is_full = reply.amount < self.demand.needs && reply.amount >= reply.most && reply.wait_ms == 0;
        self.is_held_back = reply.amount < self.wants.min(reply.most);
        (self.since, self.lives_ms) = (reply.sent, reply.lives_ms);
    }

    /// Takes note that the team has no such limit any more: of a share of it nothing is used where it is set again.
    pub fn take_away(&mut self) {
        *self = Share { epoch: self.epoch, number: self.number, demand: self.demand, ..Share::known(self.kind, 0) };
    }

    /// Returns until when it may be used.
    pub fn until(&self) -> Moment {
        Moment { mono_ms: self.since.mono_ms.saturating_add(self.lives_ms), ..self.since }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::team::machine::Machine;

    fn reply(number: u64, amount: u64) -> ShareReply {
        ShareReply {
            cap: Some(6),
            number,
            amount,
            usable: amount,
            most: 6,
            lives_ms: 1_000,
            sent: Moment { mono_ms: 7, boot: 1, ..Moment::default() },
            ..ShareReply::default()
        }
    }

    #[test]
    fn nothing_is_used_of_a_share_of_before_where_a_limit_is_taken_away_and_set_again() {
        let demand = Demand { in_use: 1, needs: 4, wants: 4, stale_ms: Some(0) };
        let mut held = Share { is_limited: true, ..Share::default() };
        held.ask(&demand);
        held.apply(&reply(1, 4));
        assert_eq!((held.usable, held.is_settled()), (4, true));
        let none = ShareReply { cap: None, ..reply(0, 0) };
        // What the store says of one that was set anew, and of which this machine has asked nothing yet.
        let anew = ShareReply { lives_ms: 0, most: 0, ..reply(0, 0) };
        let mut told = Machine { shares: vec![held.clone()], ..Machine::default() };
        told.apply_shares(&[none]);
        let mut untold = Machine { shares: vec![held], ..Machine::default() };
        untold.apply_shares(&[]);
        for mut machine in [told, untold] {
            assert!(machine.share_requests().is_empty());
            machine.apply_shares(std::slice::from_ref(&anew));
            let share = &mut machine.shares[0];
            let is_over = share.until().mono_ms == 0;
            assert_eq!((share.usable, is_over, share.is_limited, share.is_settled()), (0, true, true, false));
            share.ask(&demand);
            assert_eq!((share.number, share.wants, share.usable), (2, 4, 0));
            share.apply(&reply(2, 3));
            assert_eq!(share.usable, 3);
        }
    }

    /// At rest a small limit's share is to want nothing: what the store says of that is no answer to who asks next.
    #[test]
    fn a_share_that_has_not_asked_for_what_it_needs_is_not_full() {
        let mut share = Share { is_limited: true, ..Share::default() };
        share.ask(&Demand::default());
        share.apply(&ShareReply { most: 0, ..reply(1, 0) });
        share.ask(&Demand { needs: 3, wants: 4, ..Demand::default() });
        share.apply(&ShareReply { most: 2, ..reply(1, 0) });
        assert_eq!((share.is_full, share.is_settled()), (false, false));
        share.ask(&Demand { needs: 3, wants: 4, ..Demand::default() });
        share.apply(&ShareReply { most: 2, usable: 0, wait_ms: 500, ..reply(2, 2) });
        assert_eq!((share.wants, share.usable, share.is_full), (2, 0, false));
        share.apply(&ShareReply { most: 2, ..reply(2, 2) });
        assert_eq!((share.usable, share.is_full, share.is_settled()), (2, true, true));
    }

    #[test]
    fn a_share_that_somebodys_transaction_keeps_locked_stays_as_it_was() {
        let mut share = Share { is_limited: true, ..Share::default() };
        share.ask(&Demand { needs: 2, wants: 2, ..Demand::default() });
        share.apply(&reply(1, 2));
        share.apply(&ShareReply { cap: None, held_by: Some("eve".to_owned()), ..ShareReply::default() });
        assert_eq!((share.usable, share.is_limited), (2, true));
    }
}
