//! The real client, driven against a scripted Messages API on loopback.

mod api;
mod lab;
mod script;
mod terminal;

mod harness;
