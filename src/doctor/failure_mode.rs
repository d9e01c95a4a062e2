//! Which way each handler fails: whether a call is refused or passes where Fusebox cannot answer.

use crate::doctor::diagnosis::{Diagnosis, Fails, FailureMode};
use crate::doctor::environment_checks;
use crate::doctor::installation::{Installation, registers};
use crate::domain::stable_sort::sort_by_key;
use crate::install::client_versions::Feature;
use crate::install::{fail_closed, hooks};
use crate::wire::events::EVENTS;

/// Says which way the registered handlers fail.
pub fn failing(installation: &Installation<'_>) -> Diagnosis {
    let modes = modes(installation);
    if modes.is_empty() {
        return Diagnosis::warn("nothing is registered that could fail", registers(installation));
    }
    let words = format!(
        "where the program is missing, crashes or is late, {}; where its state is broken, {}; after a bug of its own, {}",
        sides(modes.iter().any(|mode| mode.crash == Fails::Closed), ""),
        sides(modes.iter().any(|mode| mode.state == Fails::Closed), ""),
        sides(environment_checks::denies_on_error(installation), ", `on_error`"),
    );
    let is_asked = installation.registered_handlers().any(|found| found.handler.fails_closed());
    let lacking = installation.client_lacks(Feature::OnFailure).filter(|_| is_asked);
    let diagnosis = match (lacking, fail_closed::opened(&installation.settings)) {
        (Some(version), _) => Diagnosis::warn(
            format!("client {version} does not know `onFailure`: --fail-closed has no effect; {words}"),
            "update the client",
        ),
        (None, Some(place)) => {
            let file = installation.short(&place.settings);
            let advice = format!("`{}` here", fail_closed::closes(place));
            Diagnosis::warn(
                format!("{words}. The same hooks in {file} are without --fail-closed, and count here"),
                advice,
            )
        }
        (None, None) => Diagnosis::ok(words),
    };
    Diagnosis { handlers: modes, ..diagnosis }
}

/// Says what becomes of calls and prompts: `--json` has it for each event.
fn sides(is_closed: bool, by: &str) -> String {
    if is_closed {
        format!("calls and prompts are refused (closed{by})")
    } else {
        format!("calls and prompts go through (open{by})")
    }
}

fn modes(installation: &Installation<'_>) -> Vec<FailureMode> {
    let is_heeded = installation.client_lacks(Feature::OnFailure).is_none();
    let of_row = |(file, found): (&str, &hooks::FoundHandler)| {
        let row = EVENTS.iter().find(|row| row.name == found.event)?;
        let closed = |closes: bool| if closes { Fails::Closed } else { Fails::Open };
        let is_opened = fail_closed::opened_by(&installation.settings, found).is_some();
        let broken = closed(is_heeded && row.can_fail_closed && found.handler.fails_closed() && !is_opened);
        let missing = if found.handler.looks_first() { Fails::Open } else { broken };
        let state = closed(crate::hook::failure::is_refused(row.event));
        Some(FailureMode { event: row.name, file: file.to_owned(), missing, crash: broken, timeout: broken, state })
    };
    let mut modes: Vec<FailureMode> = Vec::new();
    for file in installation.files() {
        let found = hooks::find(&file.text);
        let name = installation.short(&file.place.settings);
        modes.extend(found.iter().filter(|found| found.handler.is_ours()).filter_map(|found| of_row((&name, found))));
    }
    sort_by_key(&mut modes, |mode| EVENTS.iter().position(|row| row.name == mode.event));
    modes
}
