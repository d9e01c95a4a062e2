//! What counts as a repetition, and what ends one.

use crate::domain::loops::repetition::*;

/// Takes in calls told as letters: a lower-case letter is a call with its result, an upper-case one an error; at `~` it
/// waits, at `!` the agent is told.
fn after(story: &str) -> (u64, Option<Repetition>) {
    let mut loops = CallHistory::default();
    for letter in story.chars() {
        if letter == '!' {
            loops.mark_notified();
            continue;
        }
        if letter == '~' {
            loops.pass();
            continue;
        }
        let call = u32::from(letter);
        let call = call << 1;
        let error = letter.is_uppercase().then_some(call);
        loops.push(EndedCall { call, error, input: 0, waited: false, patience: 0 }, false);
    }
    (loops.level(), loops.repeats(0))
}

#[test]
fn repetition_is_seen_and_progress_is_not() {
    for (story, level, what) in [
        ("", 0, None),
        ("AA", 0, None),
        ("AAA", 1, Some(Repetition::Errors(3))),
        ("AAAA", 2, Some(Repetition::Errors(4))),
        ("AABA", 0, None),
        // errors in turn
        ("ABABA", 0, None),
        ("ABABAB", 1, Some(Repetition::ErrorsInTurn(3))),
        ("ABABABA", 2, Some(Repetition::ErrorsInTurn(3))),
        ("cABcABAcB", 1, Some(Repetition::ErrorsInTurn(3))),
        ("ABCDEABCDEABCDE", 1, Some(Repetition::ErrorsInTurn(3))),
        ("ABCDEFABCDEFABCDEFABCDEF", 0, None),
        ("ABABdABAB", 0, None),
        ("AAcA", 0, None),
        ("cAcAcA", 1, Some(Repetition::Errors(3))),
        ("aaaa", 0, None),
        ("aaaaa", 1, Some(Repetition::Calls)),
        ("aaaaaa", 2, Some(Repetition::Calls)),
        ("aaaab", 0, None),
        ("ababab", 1, Some(Repetition::Cycle(2))),
        ("abababa", 2, Some(Repetition::Cycle(2))),
        ("abcabcabc", 1, Some(Repetition::Cycle(3))),
        ("abcdeabcdeabcde", 1, Some(Repetition::Cycle(5))),
        ("abcdeabcdeabcdea", 2, Some(Repetition::Cycle(5))),
        ("abcdefabcdefabcdef", 0, None),
        ("xyababab", 1, Some(Repetition::Cycle(2))),
        ("ababac", 0, None),
        // a batch that repeats itself more often than that is told first, too
        ("aaaaaaaa!", 1, Some(Repetition::Calls)),
        ("aaaaaaaa!a", 2, Some(Repetition::Calls)),
        ("AAAAA!", 1, Some(Repetition::Errors(5))),
        ("AAAAA!A", 2, Some(Repetition::Errors(6))),
        ("abababab!", 1, Some(Repetition::Cycle(2))),
        ("abababab!a", 2, Some(Repetition::Cycle(2))),
        // what waits between looks repeats nothing, but for errors
        ("~~~~~~~~~~~~~~~~~~~~", 0, None),
        ("a~a~a~a~a~a~a~a~a~a~a~a~a~", 0, None),
        ("ab~ab~ab~ab~ab~ab~", 0, None),
        ("A~A~A", 1, Some(Repetition::Errors(3))),
        ("~aaaaa", 1, Some(Repetition::Calls)),
        // a growing log: every result differs
        ("abcdefghijklmnop", 0, None),
    ] {
        assert_eq!(after(story), (level, what), "{story}");
    }
}

#[test]
fn a_wait_is_a_repetition_once_it_has_been_the_same_for_long() {
    let wait = |call| EndedCall { call, error: None, input: 0, waited: true, patience: 100 };
    let mut loops = CallHistory::default();
    for time in 1..=WAITS {
        assert_eq!(loops.level(), 0, "{time}");
        loops.push(wait(70), false);
    }
    assert_eq!((loops.level(), loops.repeats(0)), (1, Some(Repetition::Waits)));
    loops.mark_notified();
    assert_eq!(loops.level(), 1);
    loops.push(wait(70), false);
    assert_eq!(loops.level(), 2);
    // A result that was not there before is progress, in a wait and beside it.
    let mut looked = loops.clone();
    loops.push(wait(80), false);
    looked.push(EndedCall { call: 900, error: None, input: 0, waited: false, patience: 0 }, false);
    assert_eq!((loops.level(), looked.level()), (0, 0));
}

#[test]
fn failures_are_a_repetition_by_the_pace_at_which_they_come() {
    let failure =
        |error, patience| EndedCall { call: error, error: Some(error), input: 0, waited: patience > 0, patience };
    for (waited_ms, times) in [(0, 3), (999, 3), (1_000, 15), (3_000, 30), (10_000, 100), (600_000, 100)] {
        // In its own call, in one before it, or between two turns that are not far apart.
        for way in 0..3 {
            let (mut loops, mut came) = (CallHistory::default(), 0);
            while loops.level() == 0 {
                match way {
                    1 => loops.push(
                        EndedCall {
                            call: 10,
                            error: None,
                            input: 0,
                            waited: waited_ms >= SHORT_MS,
                            patience: patience_after(waited_ms),
                        },
                        false,
                    ),
                    2 => loops.idle(waited_ms.min(IDLE_MS - 1)),
                    _ => {}
                }
                loops.push(failure(70, if way == 0 { patience_after(waited_ms) } else { 0 }), false);
                came += 1;
            }
            assert_eq!(came, times, "{waited_ms} ms, {way}");
            loops.mark_notified();
            loops.push(failure(70, 100), false);
            assert_eq!(loops.level(), 2);
        }
    }
    // One wait does not pay for what follows at full speed.
    let mut loops = CallHistory::default();
    for patience in [100, 100, 0, 0] {
        assert_eq!(loops.level(), 0);
        loops.push(failure(70, patience), false);
    }
    loops.push(failure(70, 0), false);
    assert_eq!(loops.level(), 1);
}
