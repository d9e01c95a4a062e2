//! The checks of `fusebox doctor`.

pub mod diagnosis;
pub mod environment_checks;
pub mod failure_mode;
pub mod installation;
pub mod installation_checks;
pub mod smoke_test;
#[cfg(feature = "team")]
pub mod team;
