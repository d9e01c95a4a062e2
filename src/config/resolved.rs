//! What settings come to: the values in force at the top of the files and in one block. Rows of keys fill it in.

#[cfg(feature = "watch")]
use crate::config::setting::Setting;
use crate::config::setting_value::Increase;
use crate::domain::action::Action;
#[cfg(feature = "watch")]
use crate::domain::alert::WatchdogSettings;
use crate::domain::billing::{Billing, CostSource};
use crate::domain::layer::Layer;
use crate::domain::limit::Limit;
use crate::domain::limit_set::LimitSet;
use crate::domain::mode::{Mode, OnError};
#[cfg(feature = "team")]
use crate::domain::spend::amount::Amount;
#[cfg(feature = "team")]
use crate::domain::team::TeamTerms;

/// How many days detail is kept.
pub const RETENTION_DAYS: u64 = 90;
/// The least and the most of them. The budget of a month is counted from detail.
pub const RETENTION_RANGE: (u64, u64) = (32, 36_500);

/// What a limit does where nobody says.
pub const DEFAULT_ACTION: Action = Action::Terminate;

/// Whether the prompts of agents get a text about discipline, and which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Discipline {
    /// None.
    #[default]
    Off,
    /// The one that ships.
    Standard,
    /// This one.
    Own(String),
}

/// The range that binds a limit, and whose rule that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceiling {
    /// The smallest and the largest cap.
    pub range: (u64, u64),
    /// Who set it.
    pub layer: Layer,
}

/// The range that somebody set for a limit of subagents' runs.
#[derive(Clone, Copy, Debug)]
pub struct SaidCeiling {
    /// The limit.
    pub limit: &'static Limit,
    /// The smallest and the largest cap; `None` for no ceiling.
    pub range: Option<(u64, u64)>,
    /// Who set it.
    pub layer: Layer,
}

/// The values in force. What nobody sets is the default.
#[derive(Clone, Debug)]
pub struct Resolved<'a> {
    /// Whether Fusebox blocks.
    pub mode: Mode,
    /// What to answer where Fusebox fails.
    pub on_error: OnError,
    /// Whether spawn blocks may loosen limits.
    pub spawn_may_loosen: bool,
    /// How the person pays; `None` where nobody says.
    pub billing: Option<Billing>,
    /// For how many milliseconds the next call or request of a paused run is held; 0 where it is not.
    pub pause_wait_ms: u64,
    /// Whether caps of runs follow what finished runs needed.
    pub adaptive: bool,
    /// Which cost of a session is shown first.
    pub cost_source: CostSource,
    /// The models that plan; `None` where nobody says.
    pub planning: Option<Vec<String>>,
    /// The time zone in which days begin; `None` where nobody says.
    pub time_zone: Option<&'a str>,
    /// For how many days detail is kept; `None` for ever.
    pub retention_days: Option<u64>,
    /// The keys, or patterns of them, that the managed file alone may set.
    pub locked: Vec<String>,
    /// The keys, or patterns of them, that a member of the repository may only tighten.
    pub binding: Vec<String>,
    /// The folders, or patterns of them, of repositories whose own configuration does not hold.
    pub refused_repositories: Vec<String>,
    /// The team whose caps bind the sessions.
    #[cfg(feature = "team")]
    pub team: Option<TeamTerms>,
    /// The machine's own ceiling below the team's cap.
    #[cfg(feature = "team")]
    pub team_ceiling: Option<Amount>,
    /// What each layer says of alerts, the weakest first.
    #[cfg(feature = "watch")]
    pub alerts: Vec<&'a Setting>,
    /// What the watchdog may do.
    #[cfg(feature = "watch")]
    pub watchdog: WatchdogSettings,
    /// The ranges that somebody set for limits of subagents' runs.
    pub ceilings: Vec<SaidCeiling>,
    /// Whether prompts get a text about discipline.
    pub discipline: Discipline,
    /// What surrounds the limits of the block.
    pub rules: LimitSet,
}

impl Default for Resolved<'_> {
    fn default() -> Self {
        Resolved {
            mode: Mode::default(),
            on_error: OnError::default(),
            spawn_may_loosen: false,
            billing: None,
            pause_wait_ms: 0,
            adaptive: false,
            cost_source: CostSource::default(),
            planning: None,
            time_zone: None,
            retention_days: Some(RETENTION_DAYS),
            locked: Vec::new(),
            binding: Vec::new(),
            refused_repositories: Vec::new(),
            #[cfg(feature = "team")]
            team: None,
            #[cfg(feature = "team")]
            team_ceiling: None,
            #[cfg(feature = "watch")]
            alerts: Vec::new(),
            #[cfg(feature = "watch")]
            watchdog: WatchdogSettings::default(),
            ceilings: Vec::new(),
            discipline: Discipline::default(),
            rules: LimitSet::default(),
        }
    }
}

impl Resolved<'_> {
    /// Returns the range that binds a limit of subagents' runs: the one that somebody set, else the limit's own.
    pub fn ceiling(&self, limit: &Limit) -> Option<Ceiling> {
        let said = self.ceilings.iter().find(|said| said.limit == limit);
        let (range, layer) = said.map_or((limit.ceiling, Layer::BuiltIn), |said| (said.range, said.layer));
        Some(Ceiling { range: range?, layer })
    }
}

/// What the keys of a block say of one limit beside its cap; `None` where none does.
#[derive(Clone, Copy, Debug, Default)]
pub struct LimitSettings {
    /// What it does when it trips.
    pub action: Option<Action>,
    /// What an increase adds.
    pub increase: Option<Increase>,
}
