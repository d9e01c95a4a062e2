//! Which way each handler fails: whether a call is refused or passes where Fusebox cannot answer.

use crate::doctor::diagnosis::{Diagnosis, Fate, Way};
use crate::doctor::environment_checks;
use crate::doctor::installation::Patient;
use crate::install::client_versions::Feature;
use crate::install::hooks;
use crate::wire::events::EVENTS;

/// Says which way the registered handlers fail.
pub fn failing(patient: &Patient<'_>) -> Diagnosis {
    let fates = fates(patient);
    if fates.is_empty() {
        return Diagnosis::warn("nothing is registered that could fail", "run `fusebox init`");
    }
    let words = format!(
        "where the binary is missing, crashes or is late: {}; where the state is broken: {}; bugs and unreadable input: {}",
        sides(&fates, |fate| fate.crash),
        sides(&fates, |fate| fate.state),
        if environment_checks::denies_on_error(patient) { "closed (`on_error`)" } else { "open (`on_error`)" },
    );
    let is_asked = patient.registered_handlers().any(|found| found.handler.fails_closed());
    let diagnosis = match patient.client_lacks(Feature::OnFailure).filter(|_| is_asked) {
        Some(version) => Diagnosis::warn(
            format!("client {version} does not know `onFailure`: --fail-closed has no effect; {words}"),
            "update the client",
        ),
        None => Diagnosis::ok(words),
    };
    Diagnosis { handlers: fates, ..diagnosis }
}

/// Names the events that are refused; all others pass.
fn sides(fates: &[Fate], way: impl Fn(&Fate) -> Way) -> String {
    let mut closed: Vec<&str> = fates.iter().filter(|fate| way(fate) == Way::Closed).map(|fate| fate.event).collect();
    closed.dedup();
    match closed.is_empty() {
        true => "open at every event".to_owned(),
        false => format!("closed at {}, open at the others", closed.join(", ")),
    }
}

fn fates(patient: &Patient<'_>) -> Vec<Fate> {
    let is_heeded = patient.client_lacks(Feature::OnFailure).is_none();
    let of_row = |(file, found): (&str, &hooks::Found)| {
        let row = EVENTS.iter().find(|row| row.name == found.event)?;
        let closed = |closes: bool| if closes { Way::Closed } else { Way::Open };
        let broken = closed(is_heeded && row.can_fail_closed && found.handler.fails_closed());
        let missing = if found.handler.looks_first() { Way::Open } else { broken };
        let state = closed(crate::hook::failure::is_refused(row.event));
        Some(Fate { event: row.name, file: file.to_owned(), missing, crash: broken, timeout: broken, state })
    };
    let mut fates: Vec<Fate> = Vec::new();
    for file in &patient.settings {
        let found = hooks::find(&file.text);
        let name = patient.short(&file.place.settings);
        fates.extend(found.iter().filter(|found| found.handler.is_ours()).filter_map(|found| of_row((&name, found))));
    }
    fates.sort_by_key(|fate| EVENTS.iter().position(|row| row.name == fate.event));
    fates
}
