//! Work that no hook call showed as it happened: it is read from the transcripts and charged, or the person is told.

pub mod answered_dialogs;
pub mod backlog;
pub mod catch_up;
pub mod gone_client;
pub mod limits_lost;
pub mod orphans;
pub mod recall_missed;
pub mod recounted;
pub mod spend_before_install;
pub mod unheard_messages;
pub mod unwatched_clients;
