//! `fusebox team sync`: tells the team's store what this machine has spent, asks for what it may spend, and writes that down for hooks.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use crate::cmd::team_figures;
use crate::cmd::team_needs::Needs;
use crate::cmd::team_place::{self, Joined};
use crate::cmd::team_publish::{self, Heard};
use crate::domain::moment::Moment;
use crate::domain::spend::amount::Amount;
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::platform::locks::{self, Right};
use crate::platform::processes;
use crate::store::team::ledger::Ledger;
use crate::store::team::sync::{self, Besides, Synced};
use crate::team::machine::Machine;
use crate::team::messages::{Answer, Request};
use crate::team::purpose::Purpose;
use crate::team::share::Share;
use crate::ui::formats::counted;

/// How many slices are asked for at most in one sync.
const SLICES: usize = 16;
/// How often a request is sent in one sync that waits in vain for what somebody keeps locked.
const TRIES: usize = 2;
/// How long a reservation is waited for that may not be spent yet.
const PATIENCE: Duration = Duration::from_secs(6);

/// Who has the team told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A person, or their timer.
    Person,
    /// A hook, in the background.
    Hook,
}

/// What the store has taken and given.
#[derive(Clone, Debug, Default)]
struct Told {
    responses: u64,
    is_refused: bool,
    /// How often it had to leave a request undone, by the lease.
    busy: BTreeMap<u64, usize>,
    /// Who keeps locked what these wait for, and whether a new lease is among them.
    held_by: String,
    is_lease_held: bool,
    /// Whether a share was left as it was because of somebody.
    is_share_held: bool,
    /// What it said last, and when it was asked.
    last: Synced,
    at: Moment,
}

/// Tells the store what is new, and publishes what may be spent.
pub fn run(env: &Environment, caller: Caller) -> Result<ExitCode> {
    // An agent may run it too, and say what is in the environment: another store would be told in place of the team's.
    if let Err(cause) = team_place::joined_as_kept(env) {
        team_publish::note_failure(env, None, &cause)?;
        return Err(cause);
    }
    let _alone = alone(env)?;
    // Meanwhile a person may have left the team, or joined another.
    let joined = team_place::joined_as_kept(env)?;
    let is_by_hand = caller == Caller::Person && env.is_attended();
    let purpose = if is_by_hand { Purpose::Person } else { Purpose::Work };
    let told = sync(env, &joined, purpose).map_err(|error| error.or_hint(team_place::LAST_HEARD))?;
    if caller == Caller::Person {
        let responses = counted(told.responses, "response");
        env.print(&format!("told team {} of {responses}\n{}", joined.team, team_figures::text(env, &joined.team)?));
        if told.is_hindered() {
            let what = "the next sync tells, and asks for, what waits for that";
            env.eprintln_safe(&format!(
                "warning: {} keeps a transaction open in the team's store: {what}",
                told.held_by
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes the right to change what this machine has joined and told.
pub fn alone(env: &Environment) -> Result<Right> {
    let busy = || {
        Error::failed("another process is telling the team what was spent")
            .hint("it takes a moment: give the command again")
    };
    locks::for_team(&team_place::folder(env)?)?.ok_or_else(busy)
}

/// Settles what was spent, and gives back all that the machine holds. Takes the right to do so as given.
pub fn give_back(env: &Environment, joined: &Joined) -> Result<()> {
    let (mut machine, needs) = known(env, joined, Purpose::Leave)?;
    let besides = Besides { totals: &needs.totals, ..Besides::default() };
    let mut talk = Talk::open(env, joined, &mut machine)?;
    talk.tell(&besides, PATIENCE)?;
    match talk.told.is_hindered() {
        false => Ok(()),
        true => Err(Error::failed(format!("{} keeps a transaction open in the team's store", talk.told.held_by))),
    }
}

fn sync(env: &Environment, joined: &Joined, purpose: Purpose) -> Result<Told> {
    let told = known(env, joined, purpose).and_then(|(mut machine, needs)| talk(env, joined, &mut machine, needs));
    let told = told.map_err(|error| team_place::with_what_helps(env, joined, error));
    if let Err(cause) = &told {
        team_publish::note_failure(env, Some(joined), cause)?;
    }
    told
}

/// Returns what the machine knows, with what is new charged and published: where the store cannot be reached, what is left is known
/// all the same. What another program has changed is not believed, and made anew of what the store knows. Of a machine that leaves it
/// is published that nothing is left.
fn known(env: &Environment, joined: &Joined, purpose: Purpose) -> Result<(Machine, Needs)> {
    let machine = match team_place::machine(env)? {
        Some(machine) => machine,
        None => team_place::machine_of_store(joined)?,
    };
    let mut machine = Machine { purpose, ..machine };
    let needs = team_publish::publish(env, joined, &mut machine, None)?;
    Ok((machine, needs))
}

fn talk(env: &Environment, joined: &Joined, machine: &mut Machine, needs: Needs) -> Result<Told> {
    let mut talk = Talk::open(env, joined, machine)?;
    let labels: Vec<&str> = needs.projects.iter().map(String::as_str).collect();
    let besides = Besides { labels: &labels, totals: &needs.totals, shares: &[] };
    talk.tell(&besides, Duration::ZERO)?;
    talk.lease(&needs, &besides)?;
    if !talk.machine.shares.iter().all(Share::is_settled) {
        // A limit that it has just heard of, or which others leave more or less of than they did.
        team_publish::publish(env, joined, talk.machine, None)?;
        talk.tell(&besides, Duration::ZERO)?;
    }
    if talk.machine.is_waiting() || talk.told.last.wait_ms > 0 {
        // All that is reserved is waited for at once: a slice alone may be too small for a request.
        talk.tell(&besides, PATIENCE)?;
    }
    let Talk { machine, mut told, .. } = talk;
    let Synced { held, caps, projects, .. } = std::mem::take(&mut told.last);
    let held_by = told.is_lease_held.then(|| told.held_by.clone());
    let heard = Heard { at: told.at, caps, projects, is_spent: told.is_refused, held_by, held };
    team_publish::publish(env, joined, machine, Some(&heard))?;
    Ok(told)
}

/// One talk of the machine with the team's store.
struct Talk<'a> {
    env: &'a Environment,
    joined: &'a Joined,
    ledger: Ledger,
    machine: &'a mut Machine,
    told: Told,
}

impl<'a> Talk<'a> {
    fn open(env: &'a Environment, joined: &'a Joined, machine: &'a mut Machine) -> Result<Talk<'a>> {
        Ok(Talk { env, joined, ledger: team_place::ledger(joined)?, machine, told: Told::default() })
    }

    /// Has what is lacking reserved.
    fn lease(&mut self, needs: &Needs, besides: &Besides<'_>) -> Result<()> {
        for _ in 0..SLICES {
            let held = self.machine.held_soon(self.env.now());
            // One slice where it runs low, and more only where the next requests would not fit.
            if needs.want == Amount::ZERO || held >= needs.least && held.0 >= needs.want.0 / 2 {
                break;
            }
            self.machine.ask_besides(needs.want.minus(held));
            team_place::save_machine(self.env, self.machine)?;
            let was_refused = std::mem::take(&mut self.told.is_refused);
            self.tell(besides, Duration::ZERO)?;
            let is_refused = self.told.is_refused;
            self.told.is_refused |= was_refused;
            if is_refused || self.told.is_lease_held || self.machine.held_soon(self.env.now()) >= needs.least {
                break;
            }
        }
        Ok(())
    }

    /// Sends what the machine has to send, and waits for what may not be spent yet, but not beyond `patience`. The store is heard once at
    /// least. What waits in vain for somebody else stays with the machine for the next sync.
    fn tell(&mut self, besides: &Besides<'_>, patience: Duration) -> Result<()> {
        let began = self.env.now();
        loop {
            self.told.at = self.env.now();
            let requests = sync::together(self.told.to_send(self.machine, self.told.at));
            // A share that waits in vain for somebody stays for the next sync.
            let shares = if self.told.is_share_held { Vec::new() } else { self.machine.share_requests() };
            let besides = Besides { shares: &shares, ..*besides };
            self.told.last =
                self.ledger.sync(&self.joined.team, &self.joined.machine, self.told.at, &requests, &besides)?;
            let before = self.machine.clone();
            self.told.last.replies.iter().for_each(|reply| self.machine.apply(reply));
            let has_heard_more = *self.machine != before;
            self.machine.apply_shares(&self.told.last.shares);
            self.told.hear_of_shares(self.machine);
            if self.machine.has_ended() {
                // Written down as gone before it is given back, and given back before another is asked for.
                team_publish::publish(self.env, self.joined, self.machine, None)?;
            }
            if *self.machine != before {
                team_place::save_machine(self.env, self.machine)?;
            }
            let is_busy = self.told.count(&requests);
            let left = self.told.to_send(self.machine, self.env.now());
            let is_waiting = left.iter().all(|request| self.machine.is_reserved(request.number()));
            let is_done = left.is_empty() && self.told.last.wait_ms == 0;
            if is_done || is_waiting && patience.is_zero() {
                return Ok(());
            }
            if is_waiting && self.told.last.wait_ms > 0 {
                let waited = self.env.now().since(began) + self.told.last.wait_ms;
                if u128::from(waited) > patience.as_millis() {
                    return Ok(());
                }
                processes::rest(Duration::from_millis(self.told.last.wait_ms));
            } else if !has_heard_more && !requests.is_empty() && !is_busy {
                let what = format!("team {} has forgotten more of this machine than it keeps", self.joined.team);
                return Err(Error::failed(what).hint("`fusebox team join NAME` has it tell all once more"));
            }
        }
    }
}

impl Told {
    /// Whether something was left undone that waits for somebody.
    fn is_hindered(&self) -> bool {
        !self.busy.is_empty() || self.is_share_held
    }

    /// Takes note whether a share waits for somebody.
    fn hear_of_shares(&mut self, machine: &Machine) {
        let held_by = machine.shares.iter().map(|share| &share.held_by).find(|by| !by.is_empty());
        self.is_share_held = held_by.is_some();
        if let Some(by) = held_by {
            self.held_by.clone_from(by);
        }
    }

    /// Returns what the machine has to send, without what has waited in vain often enough.
    fn to_send(&self, machine: &Machine, now: Moment) -> Vec<Request> {
        let may_wait = |request: &Request| self.busy.get(&request.number()).is_none_or(|tries| *tries < TRIES);
        machine.requests(now).into_iter().filter(may_wait).collect()
    }

    /// Counts what the last answers say of these requests. Returns whether one was left undone.
    fn count(&mut self, requests: &[Request]) -> bool {
        let mut is_busy = false;
        for (request, reply) in requests.iter().zip(&self.last.replies) {
            if let (Request::Settle { charges, sequence, .. }, Answer::Settled { sequence: last, .. }) =
                (request, &reply.answer)
            {
                self.responses += if last >= sequence { charges.len() as u64 } else { 0 };
            }
            self.is_refused |= reply.answer == Answer::Refused;
            if let Answer::Busy { held_by } = &reply.answer {
                is_busy = true;
                *self.busy.entry(reply.number).or_default() += 1;
                self.is_lease_held |= matches!(request, Request::Lease { .. });
                self.held_by = if held_by.is_empty() { "somebody".to_owned() } else { held_by.clone() };
            } else {
                self.busy.remove(&reply.number);
                self.is_lease_held &= !matches!(request, Request::Lease { .. });
            }
        }
        is_busy
    }
}
