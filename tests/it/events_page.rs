//! The page about hook events is made from their table.

use std::fmt::Write;

use fusebox::wire::events::{EVENTS, EventRow, FailureAnswer};

use crate::world::check_current;

const HEAD: &str = "<!-- Made from src/wire/events.rs: FUSEBOX_REGENERATE=1 cargo test --test it events_page -->
# Hook events

`fusebox init` registers Fusebox at these events of Claude Code. The client gives up on a hook after the time that is given here. Where
Fusebox cannot decide, because its state can be neither read nor written or does not come in time, it answers as the last column says.
`init --fail-closed` has the client itself refuse where Fusebox cannot even run, at the events that are marked.

| event | when | time | `--fail-closed` | text for the model | where Fusebox cannot decide |
|---|---|---|---|---|---|
";

fn line(row: &EventRow) -> String {
    let yes = |is: bool| if is { "yes" } else { "" };
    let failure = match row.on_failure {
        FailureAnswer::Nothing => "nothing is answered",
        FailureAnswer::Deny => "the call is refused",
        FailureAnswer::Block => "it is blocked",
        FailureAnswer::Tell => "the person is told",
        FailureAnswer::EndAfterRefusals => "the turn ends if a call of it was refused so, or none was made",
        FailureAnswer::End => "the turn ends, whatever other hooks say",
    };
    let (when, time) = (row.doc.trim(), row.timeout_s);
    let (closed, tells) = (yes(row.can_fail_closed), yes(row.tells_model));
    format!("| `{}` | {when} | {time} s | {closed} | {tells} | {failure} |", row.name)
}

#[test]
fn the_page_about_events_is_current() {
    let mut page = HEAD.to_owned();
    for row in &EVENTS {
        writeln!(page, "{}", line(row)).unwrap();
    }
    check_current("docs/events.md", &page);
}
