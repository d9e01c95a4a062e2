//! What the clients of this machine say that they have spent: their own totals, which they tell their status lines.

use std::collections::BTreeMap;

use crate::domain::session::Session;
use crate::domain::spend::amount::Amount;
use crate::domain::text::rfc3339;
use crate::engine::charging::credible;
use crate::error::Result;
use crate::store::Store;

/// How many characters of a moment are its day.
const DAY: usize = 10;

/// Returns the totals of the sessions that began since a moment, by the day on which they began (`2026-11-27`, in UTC).
pub fn totals(store: &Store, since_ms: i64) -> Result<Vec<(String, Amount)>> {
    let mut totals: BTreeMap<String, Amount> = BTreeMap::new();
    for session in store.sessions_since(since_ms)?.iter().filter(|session| session.started.wall_ms >= since_ms) {
        let day = rfc3339::format(session.started.wall_ms).chars().take(DAY).collect();
        let total = spent_by_client(session).unwrap_or_default();
        if total > Amount::ZERO {
            *totals.entry(day).or_default() += total;
        }
    }
    Ok(totals.into_iter().collect())
}

/// Returns what a session's client says that it has spent since it opened it; `None` where it says nothing, goes by other prices, or
/// nobody knows what of its total came before.
fn spent_by_client(session: &Session) -> Option<Amount> {
    let start = &session.client_start;
    let (before, _) = start.told_from.filter(|_| !session.is_altered && !credible::counts_otherwise(session))?;
    start.told.map(|told| told.minus(before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::client_start::ClientStart;

    #[test]
    fn a_total_counts_from_where_it_can_be_compared() {
        let usd = |dollars: u64| Amount::from_usd(dollars as f64);
        let cases = [
            (Some(usd(5)), Some((usd(0), usd(0))), Some(usd(5))),
            // After `/clear` it has in it what came before.
            (Some(usd(5)), Some((usd(3), usd(1))), Some(usd(2))),
            (Some(usd(5)), None, None),
            (None, Some((usd(0), usd(0))), None),
        ];
        for (told, told_from, spent) in cases {
            let client_start = ClientStart { told, told_from, ..ClientStart::default() };
            let session = Session { client_start, ..Session::default() };
            assert_eq!(spent_by_client(&session), spent, "{told:?} {told_from:?}");
            assert_eq!(spent_by_client(&Session { has_own_prices: true, ..session.clone() }), None);
            assert_eq!(spent_by_client(&Session { is_altered: true, ..session }), None);
        }
    }
}
