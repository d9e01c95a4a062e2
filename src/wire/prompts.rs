//! How the prompts begin that the client or another agent writes: they reach the model as a person's do.

/// The beginnings of such prompts, as of 2.1.328.
const BEGINNINGS: [&str; 7] = [
    // What an autonomous loop's schedule sends in place of the marker that CronCreate and ScheduleWakeup take for it.
    "# Autonomous loop ",
    "# /loop tick ",
    // Words of another session, through the client's socket, and how they are framed for the model.
    "<cross-session-message",
    "Another Claude session sent a message",
    "A peer session sent a message",
    // Words of another agent of the same team, and of what the client watches for.
    "<teammate-message",
    "[SYSTEM NOTIFICATION - NOT USER INPUT]",
];

/// Whether a prompt's text is the client's own or another agent's.
pub fn is_a_machines(text: &str) -> bool {
    let text = text.trim_start();
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}
