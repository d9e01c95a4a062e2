//! What a run repeats, in words: with the call that it is about.

use crate::domain::event::Call;
use crate::domain::loops::ended_call::EndedCall;
use crate::domain::loops::repetition::Repetition;
use crate::domain::session::Run;
use crate::domain::shown_call::ShownCall;

/// Takes a call into the run's memory of repetitions; the first sight of one may be told again once it is over. `again` says that its
/// batch has its error already.
pub fn see(run: &mut Run, seen: Option<EndedCall>, again: bool, call: &Call) {
    let before = run.repetition.repeats(0);
    match seen {
        Some(seen) => run.repetition.push(seen, again),
        None => run.repetition.pass(),
    }
    let failed = seen.is_some_and(|seen| seen.error.is_some());
    match run.repetition.repeats(0) {
        None => {
            run.forget_announced();
            run.repeated = ShownCall::default();
        }
        // Of errors in turn it is the one that made it a repetition: what came before may be a cycle of other calls.
        what if is_of_errors(what) => {
            if failed && (run.repeated.call.is_empty() || !is_of_errors(before)) {
                run.repeated.clone_from(&call.shown);
            }
        }
        Some(Repetition::Waits) if !seen.is_some_and(|seen| seen.waited) => {}
        Some(_) => run.repeated = ShownCall { call: call.shown.call.clone(), error: String::new() },
    }
}

fn is_of_errors(what: Option<Repetition>) -> bool {
    matches!(what, Some(Repetition::Errors(_) | Repetition::ErrorsInTurn(_)))
}

/// Says what repeats, with the call that it is about: `Bash "make test" failed 3 times the same way: No rule to make target`.
pub fn says(what: Repetition, shown: &ShownCall) -> String {
    let ShownCall { call, error } = shown;
    let error = if error.is_empty() { String::new() } else { format!(": {error}") };
    match what {
        _ if call.is_empty() => what.to_string(),
        Repetition::Errors(times) => format!("{call} failed {times} times the same way{error}"),
        Repetition::ErrorsInTurn(times) => {
            format!("{call} failed {times} times the same way, in turn with other errors{error}")
        }
        Repetition::Calls => what.to_string().replacen("the same call", call, 1),
        Repetition::Waits => what.to_string().replacen("the same wait", call, 1),
        Repetition::Cycle(_) => format!("{what}, the last of them {call}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repetition_names_its_call() {
        let shown = ShownCall { call: "Bash \"make\"".to_owned(), error: "no rule".to_owned() };
        let well = ShownCall { error: String::new(), ..shown.clone() };
        for (shown, what, says) in [
            (&shown, Repetition::Errors(3), "Bash \"make\" failed 3 times the same way: no rule"),
            (&well, Repetition::Errors(3), "Bash \"make\" failed 3 times the same way"),
            (&well, Repetition::Calls, "Bash \"make\" had the same result 5 times in a row"),
            (&well, Repetition::Waits, "Bash \"make\" had the same result 100 times in a row"),
            (
                &well,
                Repetition::Cycle(2),
                "the same 2 calls came round 3 times in a row, the last of them Bash \"make\"",
            ),
            (&ShownCall::default(), Repetition::Calls, "the same call had the same result 5 times in a row"),
        ] {
            assert_eq!(super::says(what, shown), says);
        }
    }
}
