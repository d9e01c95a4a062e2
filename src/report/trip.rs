//! Trips: the limits that were reached, as reports tell of them.

use serde::Serialize;

use crate::domain::limit::Limit;
use crate::domain::record::{RecordKind, Warning};
use crate::domain::scope::Scope;
use crate::domain::unit::Unit;
use crate::report::log_lines;
use crate::report::rows::Logged;
use crate::ui::formats::{Quantity, Timestamp};
use crate::wire::messages::{Ahead, ahead_of_trip, pair};

/// A limit that was reached.
#[derive(Clone, Debug, Serialize)]
pub struct Trip {
    /// The limit's key, with the models that it counts where those are not all.
    pub limit: String,
    /// What it did.
    pub action: String,
    /// What was used; the attempt that tripped it is not counted.
    pub used: Option<Quantity>,
    /// What requests under way and the next ones were taken for; with it `used` passes the cap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<Quantity>,
    /// How many requests that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_ahead: Option<u64>,
    /// The cap at the time.
    pub cap: Option<Quantity>,
    /// Whose rule it was.
    pub layer: String,
    /// When.
    pub at: Timestamp,
    /// What it is counted over.
    pub scope: String,
    /// What it is about where the limit does not say: the tools of a rate, what repeats.
    pub subject: Option<String>,
    /// When it passes by itself, from `at` on.
    pub frees: Option<String>,
    /// Whether nothing was blocked: the mode was `observe`, or the limits were off.
    pub observed: bool,
    /// Why nothing was blocked, as the record has it: `observe`, `off`; empty where it was.
    #[serde(skip)]
    pub mode: String,
    /// The record's number.
    #[serde(skip)]
    pub number: i64,
    /// What it did: its action, or that a call alone was refused, or a prompt not sent.
    #[serde(skip)]
    pub did: String,
    /// What it did where it ended no run.
    #[serde(skip)]
    pub warning: Option<Warning>,
}

impl Trip {
    /// Returns ` + 7.22 for 2 requests to come`, where the limit tripped before it was used up.
    pub fn ahead(&self) -> String {
        let (Some(used), Some(cap), Some(ahead)) = (self.used, self.cap, self.ahead) else { return String::new() };
        let ahead = Ahead { amount: ahead.value, requests: self.requests_ahead.unwrap_or(0) };
        ahead_of_trip(cap.limit, used.value, cap.value, ahead)
    }

    /// Returns what the limit has read: its figures and what was to come, or what was repeated for one that only is on or off.
    pub fn reading(&self) -> String {
        match self.cap {
            Some(cap) if cap.limit.unit == Unit::Switch => self.subject.clone().unwrap_or_default(),
            _ if self.is_of_team() => self.subject.clone().unwrap_or_default(),
            _ => self.figures() + &self.ahead(),
        }
    }

    /// Whether it is of a team, and what it says has the figures.
    pub fn is_of_team(&self) -> bool {
        self.cap.is_none() && self.scope == Scope::Team.as_str()
    }

    /// Returns `4.81/10.00 USD`; of a team the figures in what it says, where it has some.
    pub fn figures(&self) -> String {
        if self.is_of_team() {
            return figures_in(self.subject.as_deref().unwrap_or_default()).unwrap_or_default();
        }
        let (Some(used), Some(cap)) = (self.used, self.cap) else { return String::new() };
        pair(cap.limit, used.value, cap.value)
    }
}

/// Finds `0.0292/0.0350 USD` or `3/3` in a sentence.
fn figures_in(sentence: &str) -> Option<String> {
    let words: Vec<&str> = sentence.split(' ').map(|word| word.trim_matches([',', ';', '.'])).collect();
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    let are_figures = |word: &&str| word.split_once('/').is_some_and(|(used, cap)| is_number(used) && is_number(cap));
    let at = words.iter().position(are_figures)?;
    let unit = words.get(at + 1).filter(|unit| **unit == "USD").map(|_| " USD").unwrap_or_default();
    Some(format!("{}{unit}", words[at]))
}

/// Returns the trip that a record tells of; early warnings and a person's orders are none.
pub fn trip(logged: &Logged) -> Option<Trip> {
    let record = &logged.record;
    let tells = matches!(
        record.event,
        Some(RecordKind::AgentFailed | RecordKind::AgentPaused | RecordKind::AgentWarning | RecordKind::AgentStopped)
    );
    let limit = Limit::find(&record.limit).filter(|_| tells && record.percent.is_none())?;
    let quantity = |number: Option<f64>| Some(Quantity { limit, value: limit.base(number?)? });
    let text = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    Some(Trip {
        limit: record.limit.clone(),
        action: record.action.clone(),
        used: quantity(record.used),
        ahead: quantity(record.ahead),
        requests_ahead: record.requests_ahead,
        cap: quantity(record.cap),
        layer: record.layer.clone(),
        at: Timestamp(logged.at_ms),
        scope: record.scope.clone(),
        subject: text(&record.subject),
        frees: text(&record.frees),
        observed: !record.mode.is_empty(),
        mode: record.mode.clone(),
        number: logged.number,
        did: log_lines::did(record).to_owned(),
        warning: record.warning(),
    })
}
