//! One budget for a team on many machines: the machine's side of the lease protocol, which docs/teams.md writes down.

pub mod lease;
pub mod machine;
pub mod machine_shares;
pub mod made_anew;
pub mod messages;
pub mod names;
pub mod purpose;
pub mod share;
