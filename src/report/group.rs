//! Sums over sessions: by agent type, model, project or period. Each response counts once, in the session that billed it.

use std::collections::BTreeMap;

use crate::calendar::{Day, Zone};
use crate::domain::budget::Period;
use crate::domain::limit::Span;
use crate::domain::spend::charge::{Charge, DaySum};
use crate::domain::spend::meters::Spend;
use crate::domain::stable_sort::sort_by_key;
use crate::domain::time_units::HOUR_MS;
use crate::report::model::SessionReport;
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
    /// Weeks, by their Mondays
    Week,
    /// Months
    Month,
    /// The plan's 5-hour blocks: one begins with the hour of the first response after the one before
    Block,
    /// Tools, with their calls: what a tool cost nobody knows
    Tool,
}

/// What sums are made under where nobody knows any more whose they are.
const PRUNED: &str = "pruned";

impl GroupBy {
    /// Returns the name of one group in JSON and CSV.
    pub fn one(self) -> &'static str {
        self.names()[0]
    }

    /// Returns the name of the list in JSON.
    pub fn many(self) -> &'static str {
        self.names()[1]
    }

    /// Returns the heading of the groups in texts.
    pub fn heading(self) -> &'static str {
        self.names()[2]
    }

    fn names(self) -> [&'static str; 3] {
        match self {
            GroupBy::Session => ["session", "sessions", "SESSION"],
            GroupBy::Agent => ["agent", "agents", "AGENT"],
            GroupBy::Model => ["model", "models", "MODEL"],
            GroupBy::Project => ["project", "projects", "PROJECT"],
            GroupBy::Day => ["day", "days", "DAY"],
            GroupBy::Week => ["week", "weeks", "WEEK"],
            GroupBy::Month => ["month", "months", "MONTH"],
            GroupBy::Block => ["block", "blocks", "BLOCK"],
            GroupBy::Tool => ["tool", "tools", "TOOL"],
        }
    }
}

/// What sums are made of: responses and runs from a moment on, in a time zone.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// What sums are made by.
    pub by: GroupBy,
    /// From when on, in milliseconds since 1970.
    pub since_ms: i64,
    /// Until before when.
    pub until_ms: i64,
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
    /// What the tokens were, as far as that is known: of pruned days, estimates and earlier versions it is not.
    pub split: TokenSplit,
    /// List price.
    pub cost_usd: Usd,
}

/// What tokens were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenSplit {
    /// Prompt tokens that the cache had nothing to do with.
    pub input: u64,
    /// Completion tokens.
    pub output: u64,
    /// Prompt tokens written to the cache.
    pub cache_creation: u64,
}

impl TokenSplit {
    /// Splits the tokens of a response.
    fn of(charge: &Charge) -> TokenSplit {
        let Some(cache_writes) = charge.cache_writes else { return TokenSplit::default() };
        let (tokens, output) = (charge.spend.tokens, charge.output.min(charge.spend.tokens));
        let cache_creation = cache_writes.min(tokens - output);
        TokenSplit { input: tokens - output - cache_creation, output, cache_creation }
    }

    fn add(&mut self, other: TokenSplit) {
        self.input += other.input;
        self.output += other.output;
        self.cache_creation += other.cache_creation;
    }
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

/// The name of a group. A period is written once, however many responses it has.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Name<'a> {
    Text(&'a str),
    /// The period that begins then.
    From(i64),
}

/// The periods of moments. Each is asked for once.
struct Periods<'a> {
    part: &'a Part<'a>,
    /// Their first moments, each with the first moment after them.
    known: BTreeMap<i64, i64>,
}

impl Periods<'_> {
    /// Returns when the period of a moment begins.
    fn begin(&mut self, at_ms: i64) -> i64 {
        if let Some((from_ms, to_ms)) = self.known.range(..=at_ms).next_back()
            && at_ms < *to_ms
        {
            return *from_ms;
        }
        let Some(span) = span(self.part.by) else { return at_ms };
        let Period { from_ms, to_ms, .. } = self.part.zone.period(span, at_ms);
        self.known.insert(from_ms, to_ms);
        from_ms
    }

    fn text(&self, name: Name) -> String {
        let (zone, by) = (self.part.zone, self.part.by);
        match name {
            Name::Text(text) => text.to_owned(),
            Name::From(at_ms) if by == GroupBy::Block => zone.minute(at_ms),
            Name::From(at_ms) => written(by, &zone.day(at_ms).to_string()),
        }
    }
}

/// Returns the span of the calendar that sums are made by, where they are.
fn span(by: GroupBy) -> Option<Span> {
    match by {
        GroupBy::Day => Some(Span::Day),
        GroupBy::Week => Some(Span::Week),
        GroupBy::Month => Some(Span::Month),
        _ => None,
    }
}

/// Writes a period by its first day: a month without it.
fn written(by: GroupBy, first: &str) -> String {
    if by == GroupBy::Month { first.chars().take("2026-11".len()).collect() } else { first.to_owned() }
}

/// How long the plan's blocks are, in milliseconds.
const BLOCK_MS: i64 = 5 * HOUR_MS;

/// Returns the plan's blocks: the first moment of each, with the first after it.
fn blocks(rows: &[SessionRows]) -> BTreeMap<i64, i64> {
    let billed = |charge: &&Charge| !charge.inherited;
    let mut moments: Vec<i64> =
        rows.iter().flat_map(|row| row.charges.iter().filter(billed)).map(|charge| charge.at_ms).collect();
    moments.sort_unstable();
    let mut blocks = BTreeMap::new();
    let mut end = i64::MIN;
    for at_ms in moments.into_iter().filter(|at_ms| *at_ms > 0) {
        if at_ms >= end {
            let begin = at_ms - at_ms.rem_euclid(HOUR_MS);
            end = begin + BLOCK_MS;
            blocks.insert(begin, end);
        }
    }
    blocks
}

/// Returns the plan's block that a moment is in, with what was spent in it; `None` where none has begun.
pub fn block_at(rows: &[SessionRows], now_ms: i64, zone: &Zone) -> Option<Group> {
    let (since_ms, until_ms) = blocks(rows).into_iter().find(|(from, to)| (*from..*to).contains(&now_ms))?;
    group(rows, &[], &Part { by: GroupBy::Block, since_ms, until_ms, zone }).groups.pop()
}

/// Sums what sessions were billed for: those that are known, and the sums of days that stand for those that are pruned.
pub fn group(rows: &[SessionRows], pruned: &[DaySum], part: &Part) -> Grouped {
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    let (first, last) = (part.zone.day(part.since_ms).to_string(), part.zone.day(part.until_ms - 1).to_string());
    let is_asked = |sum: &&DaySum| sum.day >= first && (part.until_ms == i64::MAX || sum.day <= last);
    for sum in pruned.iter().filter(is_asked) {
        sums.entry(name_of_sum(sum, part)).or_default().spent += sum.spend;
    }
    let known = if part.by == GroupBy::Block { blocks(rows) } else { BTreeMap::new() };
    let mut periods = Periods { part, known };
    let mut sessions = 0;
    for session in rows {
        let mut own: BTreeMap<Name, Sum> = BTreeMap::new();
        let asked = |charge: &&Charge| !charge.inherited && (part.since_ms..part.until_ms).contains(&charge.at_ms);
        for charge in session.charges.iter().filter(asked) {
            let sum = own.entry(name(session, charge, part.by, &mut periods)).or_default();
            sum.spent += charge.spend;
            sum.split.add(TokenSplit::of(charge));
        }
        sessions += u64::from(!own.is_empty());
        for (name, of_session) in own {
            let sum = sums.entry(periods.text(name)).or_default();
            sum.sessions += 1;
            sum.spent += of_session.spent;
            sum.split.add(of_session.split);
        }
    }
    let mut all = Sum { sessions, ..Sum::default() };
    for sum in sums.values() {
        all.spent += sum.spent;
        all.split.add(sum.split);
    }
    let total = all.named("total".to_owned());
    let mut groups: Vec<Group> = sums.into_iter().map(|(name, sum)| sum.named(name)).collect();
    match span(part.by) {
        None if part.by != GroupBy::Block => sort_by_key(&mut groups, |group| std::cmp::Reverse(group.cost_usd)),
        _ => groups.reverse(),
    }
    Grouped { by: part.by, groups, total, pruned_before: None }
}

/// What is summed for one group.
#[derive(Clone, Copy, Default)]
struct Sum {
    sessions: u64,
    spent: Spend,
    split: TokenSplit,
}

impl Sum {
    fn named(self, name: String) -> Group {
        let Sum { sessions, spent, split } = self;
        Group {
            name,
            sessions,
            requests: spent.requests,
            tokens: spent.tokens,
            cache_reads: spent.cache_reads,
            split,
            cost_usd: Usd(spent.cost),
        }
    }
}

fn name<'a>(rows: &'a SessionRows, charge: &'a Charge, by: GroupBy, periods: &mut Periods) -> Name<'a> {
    Name::Text(match by {
        GroupBy::Session => &charge.session,
        GroupBy::Agent => rows.runs.iter().find(|run| run.id == charge.run).map_or("unknown", |run| &run.agent_type),
        GroupBy::Model => &charge.model,
        GroupBy::Project => project(&rows.session.project),
        GroupBy::Tool => "",
        GroupBy::Day | GroupBy::Week | GroupBy::Month | GroupBy::Block => {
            return Name::From(periods.begin(charge.at_ms));
        }
    })
}

fn name_of_sum(sum: &DaySum, part: &Part) -> String {
    match part.by {
        GroupBy::Session | GroupBy::Agent | GroupBy::Block | GroupBy::Tool => PRUNED.to_owned(),
        GroupBy::Model => sum.model.clone(),
        GroupBy::Project => project(&sum.project).to_owned(),
        GroupBy::Day => sum.day.clone(),
        GroupBy::Week | GroupBy::Month => {
            let first = Day::parse(&sum.day).zip(span(part.by)).map(|(day, span)| {
                let period = part.zone.period(span, part.zone.begin_ms(day));
                part.zone.day(period.from_ms).to_string()
            });
            written(part.by, &first.unwrap_or_else(|| sum.day.clone()))
        }
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
        split: TokenSplit::default(),
        cost_usd: Usd(new),
    }
}
