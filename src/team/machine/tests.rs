//! What a machine of a team asks for, settles and applies.

use crate::team::machine::*;

fn at(mono_ms: u64) -> Moment {
    Moment { mono_ms, ..Moment::default() }
}

fn hear(machine: &mut Machine, number: u64, answer: Answer, sent: Moment) {
    machine.apply(&Reply { epoch: machine.epoch, number, sent, answer });
}

/// A machine with one lease of 10, which it may spend for 100 milliseconds.
fn leased() -> Machine {
    let mut machine = Machine::default();
    machine.ask(Amount(10));
    hear(&mut machine, 1, Answer::Reserved { amount: Amount(10) }, at(0));
    assert_eq!(machine.balance(at(0)), Amount::ZERO);
    hear(&mut machine, 1, Answer::Usable { lives_ms: 100, amount: None }, at(0));
    machine
}

fn charge(machine: &mut Machine, message: &str, cost: u64) {
    let charge = Charge { message: message.to_owned(), cost: Amount(cost), ..Charge::default() };
    machine.charge(&charge, at(1));
}

fn settle(machine: &Machine, now: Moment) -> Option<Request> {
    machine.requests(now).into_iter().find(|request| matches!(request, Request::Settle { .. }))
}

#[test]
fn a_lease_is_spent_until_its_time_is_over_or_the_machine_has_restarted() {
    let machine = leased();
    assert_eq!(machine.balance(at(99)), Amount(10));
    assert_eq!(machine.balance(at(100)), Amount::ZERO);
    assert_eq!(machine.balance(Moment { boot: 1, ..at(1) }), Amount::ZERO);
    assert_eq!(machine.requests(at(49)), []);
    assert_eq!(machine.requests(at(50)), [Request::Renew { number: 1 }]);
}

#[test]
fn a_late_reply_shortens_no_lease() {
    let mut machine = leased();
    hear(&mut machine, 1, Answer::Usable { lives_ms: 100, amount: None }, at(60));
    hear(&mut machine, 1, Answer::Usable { lives_ms: 100, amount: None }, at(50));
    assert_eq!(machine.balance(at(159)), Amount(10));
}

/// A request for it that came late has reserved less of what the server that took over had left.
#[test]
fn no_more_of_a_lease_is_spent_than_the_store_has_reserved() {
    for (reserved, expected) in [(Some(4), 4), (Some(20), 10), (None, 10)] {
        let mut machine = leased();
        hear(&mut machine, 1, Answer::Usable { lives_ms: 100, amount: reserved.map(Amount) }, at(60));
        assert_eq!(machine.balance(at(60)), Amount(expected), "{reserved:?}");
    }
    let mut machine = leased();
    charge(&mut machine, "m", 6);
    hear(&mut machine, 1, Answer::Usable { lives_ms: 100, amount: Some(Amount(4)) }, at(60));
    assert_eq!(machine.balance(at(60)), Amount::ZERO);
}

#[test]
fn only_what_a_response_has_grown_by_is_spent_again() {
    let mut machine = leased();
    for cost in [3, 5, 4] {
        charge(&mut machine, "m", cost);
    }
    assert_eq!(machine.balance(at(1)), Amount(5));
    machine.settle();
    let charges = vec![Charge { message: "m".to_owned(), cost: Amount(5), ..Charge::default() }];
    let batch = Request::Settle { number: 1, sequence: 1, charges, closes: false };
    assert_eq!(settle(&machine, at(1)), Some(batch.clone()));
    // What comes later is in a batch of its own: the first may have arrived.
    charge(&mut machine, "n", 5);
    machine.settle();
    assert_eq!(settle(&machine, at(1)), Some(batch));
    hear(&mut machine, 1, Answer::Settled { sequence: 1, closed: false }, at(1));
    let Some(Request::Settle { sequence: 2, closes: true, .. }) = settle(&machine, at(1)) else {
        panic!("{machine:?}")
    };
}

#[test]
fn what_one_lease_has_no_room_for_is_charged_to_the_next() {
    let mut machine = leased();
    machine.ask(Amount(10));
    hear(&mut machine, 2, Answer::Reserved { amount: Amount(10) }, at(0));
    hear(&mut machine, 2, Answer::Usable { lives_ms: 100, amount: None }, at(0));
    charge(&mut machine, "m", 8);
    charge(&mut machine, "n", 5);
    let spent: Vec<u64> = machine.leases.iter().map(|lease| lease.spent.0).collect();
    assert_eq!((spent, machine.balance(at(1))), (vec![10, 3], Amount(7)));
    let told: Vec<u64> = machine.leases.iter().map(|lease| lease.open.last().map_or(0, |open| open.cost.0)).collect();
    assert_eq!(told, [2, 5]);
}

#[test]
fn a_lease_whose_life_is_over_is_charged_before_nothing_is() {
    let mut machine = leased();
    let late = Charge { message: "m".to_owned(), cost: Amount(4), ..Charge::default() };
    machine.charge(&late, at(500));
    assert_eq!((machine.leases.len(), machine.held(at(500))), (1, (Amount(6), Some(at(100)))));
}

#[test]
fn what_was_spent_without_a_lease_is_told_as_such() {
    let mut machine = Machine::default();
    charge(&mut machine, "m", 5);
    machine.settle();
    let Some(Request::Settle { number: UNLEASED, closes: false, .. }) = settle(&machine, at(1)) else {
        panic!("{machine:?}")
    };
}

#[test]
fn a_new_epoch_is_told_everything_again_and_replies_of_the_old_one_confirm_nothing() {
    let mut machine = leased();
    charge(&mut machine, "m", 5);
    machine.give_back();
    hear(&mut machine, 1, Answer::Settled { sequence: 1, closed: true }, at(1));
    assert_eq!(settle(&machine, at(1)), None);
    machine.apply(&Reply { epoch: 1, number: 7, sent: at(2), answer: Answer::Over });
    assert!(settle(&machine, at(2)).is_some());
    let answer = Answer::Settled { sequence: 1, closed: true };
    machine.apply(&Reply { epoch: 0, number: 1, sent: at(1), answer });
    assert!(settle(&machine, at(2)).is_some());
}

#[test]
fn many_charges_go_in_several_batches_of_which_the_last_closes() {
    let mut machine = leased();
    (0..=BATCH).for_each(|message| charge(&mut machine, &message.to_string(), 1));
    machine.settle();
    let closes: Vec<bool> = machine.leases[0].batches.iter().map(|batch| batch.closes).collect();
    assert_eq!(closes, [false, true]);
    let sizes: Vec<usize> = machine.leases[0].batches.iter().map(|batch| batch.charges.len()).collect();
    assert_eq!(sizes, [BATCH, 1]);
}

#[test]
fn what_was_confirmed_long_ago_is_forgotten_and_batches_keep_their_numbers() {
    let mut machine = Machine::default();
    for message in ["m", "n", "o"] {
        charge(&mut machine, message, 5);
        machine.settle();
    }
    hear(&mut machine, UNLEASED, Answer::Settled { sequence: 2, closed: false }, at(1));
    machine.forget(&BTreeSet::from(["o".to_owned()]), 1);
    let sizes: Vec<usize> = machine.leases[0].batches.iter().map(|batch| batch.charges.len()).collect();
    assert_eq!((sizes, machine.charged.len()), (vec![0, 0, 1], 1));
    let Some(Request::Settle { sequence: 3, .. }) = settle(&machine, at(1)) else { panic!("{machine:?}") };
}
