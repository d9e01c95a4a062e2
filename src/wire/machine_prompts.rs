//! How the prompts begin that the client or another agent writes: they reach the model as a person's do.

/// The beginnings of such prompts, as of 2.1.328.
const BEGINNINGS: [&str; 9] = [
    // What a task in the background has come to, and what a hook says that wakes the agent (`asyncRewake`).
    "<task-notification>",
    // What an autonomous loop's schedule sends in place of the marker that CronCreate and ScheduleWakeup take for it.
    "# Autonomous loop ",
    "# /loop tick ",
    // Words of another session, through the client's socket, and how they are framed for the model.
    "<cross-session-message",
    "Another Claude session sent a message",
    "A peer session sent a message",
    // Words of another agent of the same team or session, and of what the client watches for.
    "<teammate-message",
    "<agent-message",
    "[SYSTEM NOTIFICATION - NOT USER INPUT]",
];

/// Whether a prompt's text is the client's own or another agent's.
pub fn is_a_machines(text: &str) -> bool {
    let text = text.trim_start();
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_writes_about_them_is_a_persons() {
        let peer = "<cross-session-message from=\"uds:/tmp/s\" from-mode=\"bypass\">\nhello\n</cross-session-message>";
        for (text, is_a_machines_own) in [
            (peer, true),
            ("<task-notification>\n<summary>Stop hook feedback</summary>\ngo on\n</task-notification>", true),
            ("what does <task-notification> say?", false),
            ("# Autonomous loop check\n\nYou're being invoked on a timer", true),
            ("\n# Autonomous loop tick\n", true),
            ("# Autonomous loops are nice", false),
            ("what is a <cross-session-message>?", false),
            ("", false),
        ] {
            assert_eq!(is_a_machines(text), is_a_machines_own, "{text}");
        }
    }
}
