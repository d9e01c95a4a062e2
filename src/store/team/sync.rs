//! One sync with a team's store, in one round trip: a machine's requests, and what it needs to know besides.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::moment::Moment;
use crate::domain::share_kind::ShareKind;
use crate::domain::spend::amount::Amount;
use crate::domain::stable_sort::sort_by_key;
use crate::domain::team_cap::CapUse;
use crate::error::{Error, Result};
use crate::store::team::ledger::{Ledger, number, word};
use crate::store::team::shares::{self, Shared};
use crate::team::messages::{Answer, Charge, Reply, Request};
use crate::team::share::{ShareReply, ShareRequest};

/// What the store says in one sync.
#[derive(Clone, Debug, Default)]
pub struct Synced {
    /// Its answers, in the order of the requests.
    pub replies: Vec<Reply>,
    /// For how many milliseconds a lease, or a share, may not be spent yet; 0 where none is waited for.
    pub wait_ms: u64,
    /// What is left of the machine's leases as the store has them, and for how many milliseconds all of them live.
    pub held: (Amount, u64),
    /// The caps that bind this login.
    pub caps: Vec<CapUse>,
    /// The caps of the projects that were asked for.
    pub projects: Vec<CapUse>,
    /// What it says of each limit that the team's machines share.
    pub shares: Vec<ShareReply>,
}

/// What a machine asks and tells in a sync besides its requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Besides<'a> {
    /// The labels of the projects of which it asks what is spent.
    pub labels: &'a [&'a str],
    /// What its clients say that they have spent in sessions that began on these days (`2026-11-27`, in UTC).
    pub totals: &'a [(String, Amount)],
    /// What it asks of the limits that the team's machines share.
    pub shares: &'a [ShareRequest],
}

/// The most requests that the store takes in one round trip.
const MOST: usize = 1000;

/// Returns the requests that go in one round trip: one settlement at most, then renewals. A lease is last, for which others wait,
/// and stays for the next where something is settled: a settlement waits for no lease.
pub fn together(requests: Vec<Request>) -> Vec<Request> {
    let rank = |request: &Request| match request {
        Request::Settle { .. } => 0,
        Request::Renew { .. } => 1,
        Request::Lease { .. } => 2,
    };
    let mut requests = requests;
    sort_by_key(&mut requests, rank);
    let settlements = requests.iter().take_while(|request| rank(request) == 0).count();
    requests.drain(1.min(settlements)..settlements);
    requests.retain(|request| settlements == 0 || rank(request) < 2);
    requests.truncate(MOST);
    requests
}

impl Ledger {
    /// Sends what [`together`] returned. `sent` is when, by the machine's clock.
    pub fn sync(
        &mut self,
        team: &str,
        machine: &str,
        sent: Moment,
        requests: &[Request],
        besides: &Besides<'_>,
    ) -> Result<Synced> {
        let asked = requests.iter().map(asked).collect::<Value>().to_string();
        let labels = json!(besides.labels).to_string();
        let total = |(day, total): &(String, Amount)| json!({"day": day, "total_pico_usd": total.0});
        let totals = besides.totals.iter().map(total).collect::<Value>().to_string();
        let of_kind = |kind: ShareKind| besides.shares.iter().find(|request| request.kind == kind).map(shares::asked);
        let of_kinds = ShareKind::ALL.map(|kind| (kind.as_str(), of_kind(kind)));
        let of_kinds =
            of_kinds.each_ref().map(|(kind, asked)| [Some(team), Some(machine), Some(*kind), asked.as_deref()]);
        let values = [team, machine, &asked, &labels, &totals].map(Some);
        let statement = "SELECT replies, held_pico_usd, held_ms, caps, projects \
             FROM fusebox.sync($1, $2, $3::jsonb, $4::jsonb, $5::jsonb)";
        let statements = of_kinds.iter().map(|values| (shares::STATEMENT, values.as_slice()));
        let statements: Vec<_> = statements.chain([(statement, values.as_slice())]).collect();
        let mut told = self.ask_each(&statements)?;
        let rows = told.pop().unwrap_or_default();
        let row = rows.first().ok_or_else(|| self.strange("no answer"))?;
        let answers: Vec<Answered> = self.parsed(word(row, 0))?;
        let pending = answers.iter().filter(|answer| answer.answer == "pending");
        let shared = told.iter().flatten().map(|row| word(row, 0)).filter(|text| !text.is_empty());
        let shared = shared.map(|text| Ok(self.parsed::<Shared>(text)?.reply(sent)));
        let shares = shared.collect::<Result<Vec<ShareReply>>>()?;
        let of_shares = shares.iter().map(|share| share.wait_ms);
        let wait_ms = pending.filter_map(|answer| answer.wait_ms).chain(of_shares).max().unwrap_or(0);
        let replies = requests.iter().zip(answers).map(|(request, answer)| {
            let number = request.number();
            Ok(Reply { epoch: answer.epoch, number, sent, answer: self.answer(answer)? })
        });
        let replies = replies.collect::<Result<Vec<Reply>>>()?;
        let caps: Vec<Cap> = self.parsed(word(row, 3))?;
        let projects: Vec<Cap> = self.parsed(word(row, 4))?;
        let used = |caps: Vec<Cap>| caps.into_iter().map(|cap| cap.cap_use(team)).collect::<Vec<CapUse>>();
        let held = (Amount(number(row, 1)), number(row, 2));
        Ok(Synced { replies, wait_ms, held, caps: used(caps), projects: used(projects), shares })
    }

    fn answer(&self, answered: Answered) -> Result<Answer> {
        Ok(match answered.answer.as_str() {
            "reserved" => Answer::Reserved { amount: Amount(answered.amount_pico_usd.unwrap_or(0)) },
            "refused" => Answer::Refused,
            "usable" => Answer::Usable {
                lives_ms: answered.lives_ms.unwrap_or(0),
                amount: answered.amount_pico_usd.map(Amount),
            },
            "pending" => Answer::Pending,
            "over" => Answer::Over,
            "settled" => {
                Answer::Settled { sequence: answered.sequence.unwrap_or(0), closed: answered.closed.unwrap_or(false) }
            }
            "busy" => Answer::Busy { held_by: answered.held_by.unwrap_or_default() },
            other => return Err(self.strange(&format!("a later version's answer `{other}`"))),
        })
    }

    fn parsed<'a, T: Deserialize<'a>>(&self, text: &'a str) -> Result<T> {
        serde_json::from_str(text).map_err(|cause| self.strange(&cause.to_string()))
    }

    fn strange(&self, what: &str) -> Error {
        Error::failed(format!("{}: {what}", self.shown()))
    }
}

/// An answer, as the function in the database writes it.
#[derive(Deserialize)]
struct Answered {
    epoch: u64,
    answer: String,
    amount_pico_usd: Option<u64>,
    lives_ms: Option<u64>,
    wait_ms: Option<u64>,
    sequence: Option<u64>,
    closed: Option<bool>,
    held_by: Option<String>,
}

/// A cap, as the function in the database writes it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Cap {
    scope: Option<String>,
    project: String,
    period: String,
    resets: String,
    cap_pico_usd: u64,
    spent_pico_usd: u64,
    committed_pico_usd: Option<u64>,
    contact: String,
}

impl Cap {
    fn cap_use(self, team: &str) -> CapUse {
        CapUse {
            team: team.to_owned(),
            scope: self.scope.unwrap_or_else(|| "project".to_owned()),
            label: self.project,
            period: self.period,
            resets: self.resets,
            cap: Amount(self.cap_pico_usd),
            spent: Amount(self.spent_pico_usd),
            committed: Amount(self.committed_pico_usd.unwrap_or(self.spent_pico_usd)),
            contact: self.contact,
            ..CapUse::default()
        }
    }
}

/// Returns a request as the function in the database reads it.
fn asked(request: &Request) -> Value {
    match request {
        Request::Lease { number, want } => json!({"asks": "lease", "number": number, "want": want.0}),
        Request::Renew { number } => json!({"asks": "renew", "number": number}),
        Request::Settle { number, sequence, charges, closes } => {
            let charge = |Charge { message, cost, model, project }: &Charge| json!({"message": message, "cost_pico_usd": cost.0, "model": model, "project": project});
            let charges: Value = charges.iter().map(charge).collect();
            json!({"asks": "settle", "number": number, "batch": sequence, "charges": charges, "closes": closes})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_round_trip_settles_once_or_leases_last() {
        let settle = |number| Request::Settle { number, sequence: 1, charges: Vec::new(), closes: true };
        let (lease, renew) = (Request::Lease { number: 4, want: Amount(1) }, Request::Renew { number: 3 });
        let all = vec![lease.clone(), settle(1), renew.clone(), settle(2)];
        assert_eq!(together(all), [settle(1), renew.clone()]);
        assert_eq!(together(vec![lease.clone(), renew.clone()]), [renew, lease]);
        assert_eq!(together(vec![settle(2)]), [settle(2)]);
    }
}
