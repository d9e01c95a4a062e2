//! A setting: one typed value, and what it is said of.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::config::duties;
use crate::config::place::Place;
use crate::config::windows::{self, Window};
use crate::engine::policy::{Action, Layer, Mode, OnError};
use crate::engine::rules::{Checkpoints, Completion, ExplicitStop};
use crate::limits::{Limit, Unit};

/// What a limit does where nobody says.
pub const DEFAULT_ACTION: Action = Action::Terminate;

/// What one increase adds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Increase {
    /// A part of the cap.
    Fraction(f64),
    /// So much, in the limit's base unit.
    Amount(u64),
}

impl Increase {
    /// The increase where nothing is configured.
    pub const DEFAULT: Increase = Increase::Fraction(0.5);

    /// Returns what it adds to a cap: at least one unit.
    pub fn of(self, cap: u64) -> u64 {
        match self {
            Increase::Fraction(part) => ((cap as f64 * part).round() as u64).max(1),
            Increase::Amount(amount) => amount.max(1),
        }
    }
}

/// Whether the prompts of agents get a text about discipline, and which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Discipline {
    /// None.
    Off,
    /// The one that ships.
    Standard,
    /// This one.
    Own(String),
}

/// One typed value. Where `limit` may be absent, the value is for every limit of its block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Term {
    /// A limit's cap in its base unit, or no limit.
    Cap {
        /// Which limit.
        limit: &'static Limit,
        /// The cap; nothing for no limit.
        cap: Option<u64>,
    },
    /// What limits do when they trip.
    Action {
        /// Which limit, or all.
        limit: Option<&'static Limit>,
        /// What it does.
        action: Action,
    },
    /// What an increase adds.
    Increase {
        /// Which limit, or all.
        limit: Option<&'static Limit>,
        /// By how much.
        by: Increase,
    },
    /// Responses left to report.
    GraceTurns(u32),
    /// Tools that may run in grace.
    FinalizeTools(Vec<String>),
    /// Per cents at which to warn.
    WarnAt(Vec<u8>),
    /// Whether the agent is told what remains after every batch.
    RemainingEachTurn(bool),
    /// Whether cache reads count as tokens.
    CountCacheReads(bool),
    /// The range that binds a limit of subagents' runs, or no ceiling.
    Ceiling {
        /// Which limit.
        limit: &'static Limit,
        /// The smallest and the largest cap.
        range: Option<(u64, u64)>,
    },
    /// Whether Fusebox blocks.
    Mode(Mode),
    /// What to answer where Fusebox fails.
    OnError(OnError),
    /// Whether spawn blocks may loosen limits.
    SpawnMayLoosen(bool),
    /// A limit's cap for the models that match a pattern, or no limit.
    OfModels {
        /// The pattern.
        like: String,
        /// Which limit.
        limit: &'static Limit,
        /// The cap; nothing for no limit.
        cap: Option<u64>,
    },
    /// The models that plan.
    Planning(Vec<String>),
    /// So many in so much time; what every layer says of it holds.
    Windows {
        /// Which limit.
        limit: &'static Limit,
        /// The windows.
        windows: Vec<Window>,
    },
    /// What has to be in the agent's file of checkpoints.
    Checkpoints(Option<Checkpoints>),
    /// What judges the agent's work when it ends.
    Completion(Option<Completion>),
    /// What a tool does to ask that the run ends.
    ExplicitStop(Option<ExplicitStop>),
    /// Whether prompts get a text about discipline.
    Discipline(Discipline),
    /// The time zone in which days begin.
    TimeZone(String),
    /// For how many days detail is kept; nothing for ever.
    RetentionDays(Option<u64>),
    /// The keys, or patterns of them, that the managed file alone may set.
    Locked(Vec<String>),
}

impl Term {
    /// Returns the key that says it, from the block on.
    pub fn key(&self) -> String {
        match self {
            Term::Cap { limit, .. } => limit.key.to_owned(),
            Term::Action { limit: None, .. } => "timeout_action".to_owned(),
            Term::Action { limit: Some(limit), .. } => format!("actions.{limit}"),
            Term::Increase { limit: None, .. } => "increase".to_owned(),
            Term::Increase { limit: Some(limit), .. } => format!("increase.{limit}"),
            Term::GraceTurns(_) => "grace_turns".to_owned(),
            Term::FinalizeTools(_) => "finalize_tools".to_owned(),
            Term::WarnAt(_) => "warn_at".to_owned(),
            Term::RemainingEachTurn(_) => "remaining".to_owned(),
            Term::CountCacheReads(_) => "count_cache_reads".to_owned(),
            Term::Ceiling { limit, .. } => format!("ceilings.{limit}"),
            Term::Mode(_) => "mode".to_owned(),
            Term::OnError(_) => "on_error".to_owned(),
            Term::SpawnMayLoosen(_) => "spawn_may_loosen".to_owned(),
            Term::OfModels { like, limit, .. } => format!("models.{like}.{limit}"),
            Term::Planning(_) => "roles".to_owned(),
            Term::Windows { limit, .. } => limit.key.to_owned(),
            Term::Checkpoints(_) => "checkpoints".to_owned(),
            Term::Completion(_) => "completion".to_owned(),
            Term::ExplicitStop(_) => "explicit_stop".to_owned(),
            Term::Discipline(_) => "discipline".to_owned(),
            Term::TimeZone(_) => "time_zone".to_owned(),
            Term::RetentionDays(_) => "retention_days".to_owned(),
            Term::Locked(_) => "locked".to_owned(),
        }
    }

    /// Returns the value as configuration would write it.
    pub fn value(&self) -> Value {
        match self {
            Term::Cap { limit, cap: None } if limit.unit == Unit::Switch => json!(false),
            Term::Cap { limit, cap } | Term::OfModels { limit, cap, .. } => {
                cap.map_or(Value::Null, |cap| number(limit, cap))
            }
            Term::Action { action, .. } => json!(action),
            Term::Increase { by: Increase::Fraction(part), .. } => json!(part),
            Term::Increase { by: Increase::Amount(more), limit } => limit.map_or(Value::Null, |it| number(it, *more)),
            Term::GraceTurns(turns) => json!(turns),
            Term::FinalizeTools(tools) => json!(tools),
            Term::WarnAt(percents) => json!(percents),
            Term::RemainingEachTurn(each) => each.then_some("turn").map_or(Value::Null, |word| json!(word)),
            Term::CountCacheReads(flag) | Term::SpawnMayLoosen(flag) => json!(flag),
            Term::Ceiling { range: None, .. } => Value::Null,
            Term::Ceiling { limit, range: Some((low, high)) } => json!([number(limit, *low), number(limit, *high)]),
            Term::Mode(mode) => json!(mode),
            Term::OnError(answer) => json!(answer),
            Term::Planning(models) => json!({ "planning": models }),
            Term::Windows { limit, windows } => windows::written(limit, windows),
            Term::Checkpoints(it) => it.as_ref().map_or(Value::Null, duties::written_checkpoints),
            Term::Completion(it) => it.as_ref().map_or(Value::Null, duties::written_completion),
            Term::ExplicitStop(it) => it.as_ref().map_or(Value::Null, duties::written_stop),
            Term::Discipline(Discipline::Own(text)) => json!(text),
            Term::Discipline(form) => json!(*form == Discipline::Standard),
            Term::TimeZone(name) => json!(name),
            Term::RetentionDays(days) => json!(days),
            Term::Locked(keys) if keys.iter().any(|key| key == "*") => json!(true),
            Term::Locked(keys) => json!(keys),
        }
    }

    /// Whether it singles out one limit of its block.
    pub fn is_single(&self) -> bool {
        !matches!(self, Term::Action { limit: None, .. } | Term::Increase { limit: None, .. })
    }
}

/// Reads JSON that has the right shape into what it stands for.
pub fn typed<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

/// Returns a value in a limit's base unit as configuration's number, whole where it is whole; a switch's as a flag.
pub fn number(limit: &Limit, value: u64) -> Value {
    if limit.unit == Unit::Switch {
        return json!(value > 0);
    }
    let number = limit.configured(value);
    if number.fract() == 0.0 && number < 9e15 { json!(number as u64) } else { json!(number) }
}

/// One typed value with what it is said of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// What it is said of.
    pub place: Place,
    /// The value.
    pub term: Term,
    /// The key as it was written, from the top of its document.
    pub key: String,
}

/// What one file, frontmatter or spawn block says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Doc {
    /// Its layer.
    pub layer: Layer,
    /// Where it was read.
    pub path: String,
    /// What it says.
    pub settings: Vec<Setting>,
    /// Whether it declares `execution_limits`, which brings the defaults for what it leaves out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub declares: bool,
}

impl Doc {
    /// Makes a document that says nothing yet.
    pub fn empty(layer: Layer, path: &str) -> Doc {
        Doc { layer, path: path.to_owned(), settings: Vec::new(), declares: false }
    }
}
