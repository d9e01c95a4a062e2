//! What a machine asks of its shares, and hears of them.

use crate::team::machine::Machine;
use crate::team::share::{Share, ShareReply, ShareRequest};

impl Machine {
    /// Takes in what the store says of its shares: one of each limit that the team has.
    pub fn apply_shares(&mut self, replies: &[ShareReply]) {
        for share in &mut self.shares {
            if replies.iter().all(|reply| reply.kind != share.kind) {
                share.take_away();
            }
        }
        for reply in replies {
            match self.shares.iter_mut().find(|share| share.kind == reply.kind) {
                Some(share) => share.apply(reply),
                None => {
                    let mut share = Share::known(reply.kind, 0);
                    share.apply(reply);
                    self.shares.push(share);
                }
            }
        }
    }

    /// Returns what it asks of its shares.
    pub fn share_requests(&self) -> Vec<ShareRequest> {
        self.shares.iter().filter_map(Share::request).collect()
    }
}
