//! The leases of a team as people and programs read them: which machine holds how much, and until when.

use serde::Serialize;

use crate::cmd::{query, team_write_off};
use crate::domain::spend::amount::Amount;
use crate::platform::environment::Environment;
use crate::store::team::admin::OpenLease;
use crate::ui::formats::Usd;
use crate::ui::style::Style;
use crate::ui::table::{Align, Column, table};

/// What heads the leases that live.
const HELD: &str = "leases that machines hold: each renews its own with every sync, or gives it back";
/// What heads those that can be given up.
const EXPIRED: &str =
    "expired leases, which count until their machine tells what it spent, or `fusebox team write-off` gives them up";

/// A lease that holds something, for programs.
#[derive(Debug, Serialize)]
pub struct LeaseShown {
    machine: String,
    login: String,
    number: u64,
    left_usd: Usd,
    /// In RFC 3339.
    until: String,
    is_expired: bool,
}

/// What one machine holds.
pub struct Held<'a> {
    /// The first of its leases.
    pub first: &'a OpenLease,
    /// What all of them hold.
    pub left: Amount,
    /// Until when the last of them lives.
    pub until: &'a str,
}

/// Returns leases as programs read them.
pub fn for_programs(leases: &[OpenLease]) -> Vec<LeaseShown> {
    let shown = |it: &OpenLease| LeaseShown {
        machine: it.machine.clone(),
        login: it.login.clone(),
        number: it.number,
        left_usd: Usd(it.left),
        until: it.until_at.clone(),
        is_expired: it.is_expired,
    };
    leases.iter().map(shown).collect()
}

/// Sums leases by their machines: those of one stand together.
pub fn by_machine<'a>(leases: &[&'a OpenLease]) -> Vec<Held<'a>> {
    let of_one = leases.chunk_by(|one, other| one.machine == other.machine);
    let held = |of_one: &[&'a OpenLease]| {
        let until = of_one.iter().map(|it| it.until.as_str()).max().unwrap_or_default();
        Some(Held { first: of_one.first()?, left: of_one.iter().map(|it| it.left).sum(), until })
    };
    of_one.filter_map(held).collect()
}

/// Shows what each machine holds, and each lease that can be given up; nothing where there is none.
pub fn shown(env: &Environment, leases: &[OpenLease]) -> String {
    let (expired, living): (Vec<&OpenLease>, Vec<_>) = leases.iter().partition(|it| it.is_expired);
    let living = by_machine(&living);
    let living = living.iter().map(|it| (team_write_off::short(&it.first.machine), it.first, it.left, it.until));
    let expired = expired.into_iter().map(|it| (team_write_off::named(it), it, it.left, it.until.as_str()));
    rows(env, HELD, "MACHINE", "UNTIL", living) + &rows(env, EXPIRED, "LEASE", "EXPIRED", expired)
}

fn rows<'a>(
    env: &Environment,
    head: &str,
    what: &'static str,
    until: &'static str,
    rows: impl Iterator<Item = (String, &'a OpenLease, Amount, &'a str)>,
) -> String {
    let columns = [
        Column::new(what, Align::Left, 0),
        Column::new("OF", Align::Left, 0),
        Column::new("LEFT", Align::Right, 0),
        Column::new(until, Align::Left, 1),
    ];
    let row = |(name, it, left, until): (String, &OpenLease, Amount, &str)| {
        (Style::Plain, vec![name, it.login.clone(), left.to_string(), until.to_owned()])
    };
    let rows: Vec<_> = rows.map(row).collect();
    if rows.is_empty() { String::new() } else { format!("\n{head}\n{}", table(&columns, &rows, &query::page(env))) }
}
