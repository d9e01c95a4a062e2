//! The invariants of the protocol, in every state that three machines can reach within the bounds of a check.

use stateright::{Checker, HasDiscoveries, Model};

use crate::model::Bounds;
use crate::server::Rule;

/// Three machines that want one unit each of a cap of two.
const PLAIN: Bounds = Bounds {
    machines: 3,
    cap: 2,
    leases: 1,
    want: 1,
    responses: 1,
    crashes: 0,
    failovers: 0,
    ticks: 0,
    write_offs: false,
    outruns: false,
    moves: false,
    without: None,
};
const FAILOVER: Bounds = Bounds { failovers: 1, ticks: 1, ..PLAIN };
const FORGETFUL: Bounds = Bounds { outruns: true, machines: 2, cap: 1, ..FAILOVER };
const WRITE_OFF: Bounds = Bounds { write_offs: true, ticks: 1, ..PLAIN };
const MOVED: Bounds = Bounds { moves: true, want: 2, responses: 2, cap: 3, ..PLAIN };
const AGAIN: Bounds = Bounds { leases: 2, machines: 2, responses: 2, ..PLAIN };

/// Tries every state, and returns how many there are.
fn check(bounds: &Bounds) -> usize {
    let checker = bounds.clone().checker().threads(2).spawn_bfs().join();
    checker.assert_properties();
    assert!(checker.is_done());
    eprintln!("{} states of {bounds:?}", checker.unique_state_count());
    checker.unique_state_count()
}

#[test]
fn no_cap_is_passed_and_nothing_is_lost_with_messages_late_lost_and_doubled() {
    let states = check(&Bounds { want: 2, responses: 2, cap: 3, ..PLAIN });
    assert!(states > 3_000, "{states}");
}

#[test]
fn nor_where_machines_ask_again() {
    check(&AGAIN);
}

#[test]
fn nor_where_machines_restart() {
    check(&Bounds { crashes: 1, ticks: 1, ..PLAIN });
}

#[test]
fn nor_where_a_replica_takes_over_that_has_forgotten_what_came_last() {
    check(&Bounds { machines: 2, ..FAILOVER });
    // A new epoch waits for more than it has to here: no failover of these forgets what was confirmed.
    check(&Bounds { without: Some(Rule::EpochWaits), failovers: 1, ..PLAIN });
    check(&Bounds { without: Some(Rule::EpochWaits), machines: 2, failovers: 2, ..PLAIN });
}

#[test]
fn nor_where_it_has_forgotten_what_was_confirmed_and_all_is_told_before_the_new_epoch_grants() {
    check(&FORGETFUL);
}

#[test]
fn nor_where_a_session_moves_between_machines() {
    check(&MOVED);
}

#[test]
fn what_a_person_writes_off_is_all_that_a_cap_can_be_passed_by() {
    check(&WRITE_OFF);
}

#[test]
fn each_rule_is_needed() {
    let cases = [
        (Rule::ConfirmBeforeUse, FAILOVER, "spent stays within the cap"),
        (Rule::EpochWaits, FORGETFUL, "spent stays within the cap"),
        (Rule::ExpiredStaysReserved, Bounds { ticks: 1, ..PLAIN }, "spent stays within the cap"),
        (Rule::ChargeOnce, PLAIN, "nothing is settled twice"),
        (Rule::LeaseOnce, PLAIN, "a machine has what it asked for once"),
        (Rule::WriteOffExpired, WRITE_OFF, "nobody spends what is written off"),
    ];
    for (rule, bounds, property) in cases {
        let bounds = Bounds { without: Some(rule), machines: 2, cap: 1, ..bounds };
        let checker =
            bounds.checker().finish_when(HasDiscoveries::AnyOf([property].into())).threads(2).spawn_bfs().join();
        let found = checker.discovery(property);
        assert!(found.is_some(), "without {rule:?} nothing goes wrong: {property}");
    }
}
