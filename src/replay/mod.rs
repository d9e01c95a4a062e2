//! Replay: what a policy would have done in recorded sessions. Touches no state.
//!
//! A [`recording`] is one session's hook calls, as they were recorded or as [`from_transcripts`] makes them from what the
//! client wrote. The [`player`] takes them through the same engine as the live hook, while [`visible`] shows it no more of
//! each transcript than was on disk at that moment.

#[cfg(feature = "suggest")]
pub mod evidence;
pub mod from_transcripts;
pub mod json;
pub mod past;
#[cfg(feature = "suggest")]
pub mod past_table;
pub mod places;
pub mod play_all;
pub mod player;
#[cfg(feature = "suggest")]
pub mod quantile;
pub mod recording;
pub mod replayed_session;
pub mod rows;
pub mod sources;
#[cfg(feature = "suggest")]
pub mod suggested;
pub mod text;
pub mod timeline;
pub mod visible;
