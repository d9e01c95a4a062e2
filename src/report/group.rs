//! Sums over sessions: by agent type, model, project or day. Each response counts once, in the session that billed it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::calendar::{Day, Zone};
use crate::domain::budget::Period;
use crate::domain::charge::{Charge, DaySum};
use crate::domain::limit::Span;
use crate::domain::meters::Spend;
use crate::report::model::{SessionReport, VERSION};
use crate::report::rows::{SessionRows, project};
use crate::ui::formats::{Timestamp, Usd};

/// What sums are made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum GroupBy {
    /// Each session alone
    Session,
    /// Agent types
    Agent,
    /// Models
    Model,
    /// Projects
    Project,
    /// Days in the time zone of the budgets
    Day,
}

/// Each grouping with the name of one group and of the list in JSON.
pub const NAMES: [(GroupBy, &str, &str); 5] = [
    (GroupBy::Session, "session", "sessions"),
    (GroupBy::Agent, "agent", "agents"),
    (GroupBy::Model, "model", "models"),
    (GroupBy::Project, "project", "projects"),
    (GroupBy::Day, "day", "days"),
];

/// What sums are made under where nobody knows any more whose they are.
const PRUNED: &str = "pruned";

impl GroupBy {
    /// Returns the name of one group.
    pub fn one(self) -> &'static str {
        NAMES.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }

    /// Returns the name of the list in JSON.
    pub fn many(self) -> &'static str {
        NAMES.iter().find(|row| row.0 == self).map_or("", |row| row.2)
    }
}

/// What sums are made of: responses and runs from a moment on, in a time zone.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// What sums are made by.
    pub by: GroupBy,
    /// From when on, in milliseconds since 1970.
    pub since_ms: i64,
    /// Where days begin.
    pub zone: &'a Zone,
}

/// One group's sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// The group's name.
    pub name: String,
    /// Sessions with a response in it.
    pub sessions: u64,
    /// Responses.
    pub requests: u64,
    /// Input, cache-write and output tokens.
    pub tokens: u64,
    /// Cache-read tokens.
    pub cache_reads: u64,
    /// List price.
    pub cost_usd: Usd,
}

/// The groups of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Grouped {
    /// What they are made by.
    pub by: GroupBy,
    /// The groups: days with the newest first, others with the dearest first.
    pub groups: Vec<Group>,
    /// The sums over all groups.
    pub total: Group,
    /// The moment before which only sums of days are left of some sessions of the period.
    pub pruned_before: Option<Timestamp>,
}

/// The name of a group. A day is written once, however many responses it has.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Name<'a> {
    Text(&'a str),
    Day(Day),
}

impl Name<'_> {
    fn text(self) -> String {
        match self {
            Name::Text(text) => text.to_owned(),
            Name::Day(day) => day.to_string(),
        }
    }
}

/// The days of moments. Each day is asked for once.
struct Days<'a> {
    zone: &'a Zone,
    /// The days by their first moments, each with the first moment of the next.
    known: BTreeMap<i64, (i64, Day)>,
}

impl Days<'_> {
    fn day(&mut self, at_ms: i64) -> Day {
        if let Some((_, (to_ms, day))) = self.known.range(..=at_ms).next_back()
            && at_ms < *to_ms
        {
            return *day;
        }
        let Period { from_ms, to_ms, .. } = self.zone.period(Span::Day, at_ms);
        let day = self.zone.day(at_ms);
        self.known.insert(from_ms, (to_ms, day));
        day
    }
}

/// Sums what sessions were billed for: those that are known, and the sums of days that stand for those that are pruned.
pub fn group(rows: &[SessionRows], pruned: &[DaySum], part: &Part) -> Grouped {
    let mut sums: BTreeMap<String, (u64, Spend)> = BTreeMap::new();
    let first = part.zone.day(part.since_ms).to_string();
    for sum in pruned.iter().filter(|sum| sum.day >= first) {
        sums.entry(name_of_sum(sum, part)).or_default().1 += sum.spend;
    }
    let mut days = Days { zone: part.zone, known: BTreeMap::new() };
    let mut sessions = 0;
    for session in rows {
        let mut own: BTreeMap<Name, Spend> = BTreeMap::new();
        let billed = session.charges.iter().filter(|charge| !charge.inherited && charge.at_ms >= part.since_ms);
        for charge in billed {
            *own.entry(name(session, charge, part.by, &mut days)).or_default() += charge.spend;
        }
        sessions += u64::from(!own.is_empty());
        for (name, spent) in own {
            let (sessions, sum) = sums.entry(name.text()).or_default();
            *sessions += 1;
            *sum += spent;
        }
    }
    let spent = sums.values().map(|(_, spent)| *spent).fold(Spend::default(), std::ops::Add::add);
    let total = sum("total".to_owned(), sessions, spent);
    let mut groups: Vec<Group> = sums.into_iter().map(|(name, (sessions, spent))| sum(name, sessions, spent)).collect();
    match part.by {
        GroupBy::Day => groups.reverse(),
        _ => groups.sort_by_key(|group| std::cmp::Reverse(group.cost_usd)),
    }
    Grouped { by: part.by, groups, total, pruned_before: None }
}

fn sum(name: String, sessions: u64, spent: Spend) -> Group {
    Group {
        name,
        sessions,
        requests: spent.requests,
        tokens: spent.tokens,
        cache_reads: spent.cache_reads,
        cost_usd: Usd(spent.cost),
    }
}

fn name<'a>(rows: &'a SessionRows, charge: &'a Charge, by: GroupBy, days: &mut Days) -> Name<'a> {
    Name::Text(match by {
        GroupBy::Session => &charge.session,
        GroupBy::Agent => rows.runs.iter().find(|run| run.id == charge.run).map_or("unknown", |run| &run.agent_type),
        GroupBy::Model => &charge.model,
        GroupBy::Project => project(&rows.session.project),
        GroupBy::Day => return Name::Day(days.day(charge.at_ms)),
    })
}

fn name_of_sum(sum: &DaySum, part: &Part) -> String {
    match part.by {
        GroupBy::Session | GroupBy::Agent => PRUNED.to_owned(),
        GroupBy::Model => sum.model.clone(),
        GroupBy::Project => project(&sum.project).to_owned(),
        GroupBy::Day => sum.day.clone(),
    }
}

/// Sums sessions of a report for its row of totals: cost is what each session billed itself.
pub fn total_of(sessions: &[SessionReport]) -> Group {
    let new = sessions.iter().map(|session| session.new_cost_usd.0).sum();
    Group {
        name: "total".to_owned(),
        sessions: sessions.len() as u64,
        requests: sessions.iter().map(|session| session.requests).sum(),
        tokens: sessions.iter().map(|session| session.tokens).sum(),
        cache_reads: 0,
        cost_usd: Usd(new),
    }
}

/// One group as JSON, its name under the grouping's own key.
struct Keyed<'a>(GroupBy, &'a Group);

impl Serialize for Keyed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Keyed(by, group) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(by.one(), &group.name)?;
        map.serialize_entry("cost_usd", &group.cost_usd)?;
        map.serialize_entry("requests", &group.requests)?;
        map.serialize_entry("tokens", &group.tokens)?;
        map.serialize_entry("cache_reads", &group.cache_reads)?;
        map.serialize_entry("sessions", &group.sessions)?;
        map.end()
    }
}

impl Serialize for Grouped {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", &VERSION)?;
        let groups: Vec<Keyed> = self.groups.iter().map(|group| Keyed(self.by, group)).collect();
        map.serialize_entry(self.by.many(), &groups)?;
        if let Some(before) = &self.pruned_before {
            map.serialize_entry("pruned_before", before)?;
        }
        map.end()
    }
}
