//! `fusebox status --watch`: the figures of `fusebox status` as a live screen.
//!
//! [`view`] makes what is shown from the rows that `status` reads ([`source`]), [`update`] says what a key does, [`draw`] draws,
//! and `ui/pace.rs` says when the state is read again. All four are pure:
//! `cmd/status_screen.rs` reads the state and gives orders, `platform/full_screen.rs` has the terminal.

pub mod draw;
pub mod item;
pub mod source;
pub mod spent;
#[cfg(test)]
mod tests;
pub mod update;
pub mod view;
