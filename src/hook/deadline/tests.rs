//! Which hook answers, and what a late one says.

use crate::hook::deadline::*;

#[test]
fn the_first_to_claim_answers_and_the_rest_of_the_work_has_its_time() {
    let deadline = Deadline::never();
    deadline.claim_commit();
    deadline.claim_answer();
    assert_eq!(deadline.0.owner.load(Acquire), ANSWERED);
    let without_commit = Deadline::never();
    without_commit.claim_answer();
    assert_eq!(without_commit.0.owner.load(Acquire), ANSWERED);
}

#[test]
fn an_answer_leaves_the_client_seconds() {
    for row in crate::wire::events::EVENTS {
        let spare_ms = u64::from(row.timeout_s) * 1000 - ours(row.timeout_s);
        assert!(spare_ms >= 1500, "{}: {spare_ms} ms", row.name);
    }
}

#[test]
fn a_command_that_judges_has_the_clients_time_and_what_follows_it_ours() {
    let deadline = Deadline::never();
    deadline.is_for(EventName::Stop, Vec::new());
    assert_eq!(deadline.0.due_ms.load(Acquire), u64::MAX, "what never ends is not begun");
    deadline.0.due_ms.store(ours(ORDINARY_S), Release);
    let meanwhile = deadline.while_checking(|| deadline.0.due_ms.load(Acquire));
    assert_eq!(meanwhile, 607_000);
    let after = deadline.0.due_ms.load(Acquire);
    assert!((7_000..=8_000).contains(&after), "{after}");
}
