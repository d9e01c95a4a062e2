//! A bug of the program's own, a panic: it is caught and answered by `on_error`, wherever in memory the panic happens to lie.

use serde_json::json;

use crate::fixture::{Answer, Fixture};
use crate::session::Session;

/// Fails the first time that the program asks for random numbers, where the standard library panics.
const PANIC: [&str; 9] =
    ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=getrandom", "-e", "inject=getrandom:error=EIO:when=1"];
/// How many lengths of an input are tried: each moves what comes after it in memory.
const LENGTHS: usize = 16;

#[test]
fn a_panic_is_answered_wherever_it_lies_in_memory() {
    for on_error in ["allow", "deny"] {
        let fixture = Fixture::under(&json!({"on_error": on_error}));
        let session = Session::begin(&fixture, "s1");
        for length in 1..=LENGTHS {
            let event = session.requests("Read", &"t".repeat(length));
            let outcome = fixture.hook().through(&PANIC).tell(&event);
            assert!(outcome.stderr.contains("panicked"), "nothing was tried: {outcome:?}");
            assert_eq!(outcome.code, Some(0), "length {length}: {outcome:?}");
            let is_allowed = Answer::of(&outcome.stdout) == Answer::Allowed;
            assert_eq!(is_allowed, on_error == "allow", "length {length}: {outcome:?}");
        }
    }
}
