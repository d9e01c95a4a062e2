//! What a Yes to a dialog gives: the question says it.

use crate::dialogs::{Fixture, Who, limits};

#[test]
fn a_question_says_how_much_a_yes_gives() {
    let fixture = Fixture::new(Who::Main, &limits());
    fixture.requests("t1");
    fixture.ends("t1", None);
    fixture.batch("t1");
    let asked = fixture.requests("t2");
    assert!(asked.contains("Yes: 4 more, cap 5. No: stop here."), "{asked}");
}
