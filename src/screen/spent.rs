//! What the head of the screen says of spend: today's, how fast it grows, and what the day comes to.

use std::collections::BTreeSet;

use crate::domain::billing::Billing;
use crate::domain::limit::Span;
use crate::domain::spend::amount::Amount;
use crate::domain::spend::charge::Charge;
use crate::domain::time_units::MINUTE_MS;
use crate::report::group::{self, GroupBy, Part};
use crate::report::rows;
use crate::screen::source::ViewSource;
use crate::ui::style::{length, tokens};

/// How far back the pace looks, in minutes.
const PACE_MINUTES: u64 = 10;
/// In how many of these minutes something must have been spent before the day is foretold. Two responses that came together are no
/// pace: a session that is read in at once would be multiplied by all that is left of the day.
const MINUTES_OF_WORK: usize = 5;

/// What is spent, and how fast. Where a plan pays, tokens come first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Since the day began.
    pub today: String,
    /// In a minute, over the last ten; `None` where no agent is at work.
    pub a_minute: Option<String>,
    /// What the day comes to at that pace; `None` where there is no pace to go by.
    pub day: Option<String>,
}

impl Spent {
    /// Sums what is spent; so many agents are at work.
    pub fn of(source: &ViewSource, at_work: usize) -> Spent {
        let (page, now_ms) = (source.page, source.now.wall_ms);
        let day = page.zone.period(Span::Day, now_ms);
        let part = Part { by: GroupBy::Day, since_ms: day.from_ms, until_ms: i64::MAX, zone: &page.zone };
        let today = group::group(source.rows, source.pruned, &part).total;
        let lately = lately(source);
        let spend = rows::sum(lately.iter().copied());
        let minutes: BTreeSet<i64> = lately.iter().map(|charge| (now_ms - charge.at_ms) / MINUTE_MS).collect();
        let left = u64::try_from((day.to_ms - now_ms) / MINUTE_MS).unwrap_or(0);
        let by_night = |sum: u64, lately: u64| {
            let ahead = u128::from(lately) * u128::from(left) / u128::from(PACE_MINUTES);
            sum.saturating_add(u64::try_from(ahead).unwrap_or(u64::MAX))
        };
        let (all_tokens, cost) = (by_night(today.tokens, spend.tokens), by_night(today.cost_usd.0.0, spend.cost.0));
        Spent {
            today: page.spent(today.tokens, today.cost_usd.0),
            a_minute: (at_work > 0).then(|| match page.billing {
                Billing::Tokens => Amount(spend.cost.0 / PACE_MINUTES).to_string(),
                Billing::Plan => format!("{} tokens", tokens(spend.tokens / PACE_MINUTES)),
            }),
            day: (at_work > 0 && minutes.len() >= MINUTES_OF_WORK).then(|| page.spent(all_tokens, Amount(cost))),
        }
    }
}

impl Spent {
    /// Returns what the head says, each part with whether it is an aside; what the pace is a mean of where there is room for all.
    pub fn parts(&self, room: usize) -> Vec<(String, bool)> {
        let a_minute = self.a_minute.as_ref().map(|a_minute| (format!("{a_minute}/min"), false));
        let day = self.day.as_ref().map(|day| (format!("at this pace {day}"), true));
        let mut parts: Vec<(String, bool)> =
            a_minute.into_iter().chain([(format!("today {}", self.today), false)]).chain(day).collect();
        let mean = format!("(mean of {PACE_MINUTES} min)");
        if self.a_minute.is_some()
            && parts.iter().map(|(part, _)| length(part) + 2).sum::<usize>() + length(&mean) <= room
        {
            parts.push((mean, true));
        }
        parts
    }
}

/// Returns what was charged in the minutes that the pace looks at.
fn lately<'a>(source: &ViewSource<'a>) -> Vec<&'a Charge> {
    let now_ms = source.now.wall_ms;
    let begins_ms = now_ms - MINUTE_MS * PACE_MINUTES.cast_signed();
    let charges = source.rows.iter().flat_map(|rows| &rows.charges).filter(|charge| !charge.inherited);
    charges.filter(|charge| charge.at_ms > begins_ms && charge.at_ms <= now_ms).collect()
}
