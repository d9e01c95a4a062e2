//! The real client, driven against a scripted Messages API on loopback.

mod api;
mod lab;
mod script;
mod terminal;

mod ask;
mod cost;
mod duration;
mod harness;
mod identity;
mod pause;
mod session;
mod settings;
mod turns;
