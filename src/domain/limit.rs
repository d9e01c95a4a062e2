//! One kind of limit: what it counts, in which unit, where it can be set and what it does.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::domain::action::Action;
use crate::domain::billing::Billing;
use crate::domain::limit_meter::{Meter, Observed};
use crate::domain::limit_texts::LimitTexts;
use crate::domain::plan_window::PlanSpan;
use crate::domain::run_figure::RunFigure;
use crate::domain::scope::Scope;
use crate::domain::share_kind::ShareKind;
use crate::domain::spend::meters::Meters;
use crate::domain::unit::Unit;

/// What dollars are called where nobody is billed them.
pub const LIST_PRICE: &str = "list price";

/// How a limit stands in configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A cap: one value of its unit.
    Cap,
    /// Windows of its own shape: so many in so much time.
    Windows,
}

/// What ends where a limit's action is `terminate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// The run, after its grace.
    Run,
    /// The call alone, which is refused; the agent goes on.
    Call,
}

/// Which models' requests a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// All.
    All,
    /// Those of the models that `roles` names.
    Role(Role),
}

/// What a model is used for, by `roles`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The models of `roles.planning`.
    Planning,
    /// All others.
    Execution,
}

/// A period of the calendar, the longer the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Span {
    /// From midnight to midnight.
    Day,
    /// From Monday to Monday.
    Week,
    /// From the first of a month to the first of the next.
    Month,
}

/// Another name for a key, in another unit where `scale` is not 1.
#[derive(Debug)]
pub struct Alias {
    /// The other key.
    pub key: &'static str,
    /// What a value under it is multiplied by.
    pub scale: u64,
}

/// One kind of limit: facts, and how to read its meter.
#[derive(Debug)]
pub struct Limit {
    /// The key in configuration, reports and messages.
    pub key: &'static str,
    /// Other documents' names for it.
    pub aliases: &'static [Alias],
    /// What messages say of it.
    pub texts: LimitTexts,
    /// The unit of the cap.
    pub unit: Unit,
    /// The smallest and largest cap, in the base unit.
    pub range: (u64, u64),
    /// The range that binds subagents' runs unless `ceilings` says else, in the base unit.
    pub ceiling: Option<(u64, u64)>,
    /// Where it can be set.
    pub scopes: &'static [Scope],
    /// How it is read.
    pub meter: Meter,
    /// Where it counts for itself: its new count, by the one before and what has happened. Its meter has to read that as `own`. It counts for
    /// runs and sessions alone, and of a call that only a transcript shows it is told no tool.
    pub observe: Option<fn(u64, &Observed) -> u64>,
    /// How it stands in configuration.
    pub form: Form,
    /// What ends where its action is `terminate`.
    pub ends: Ends,
    /// What it does where nobody singles it out in `actions`; `None` where `timeout_action` says, as usual, which else ends the run.
    pub action: Option<Action>,
    /// Which models' requests it counts.
    pub counts: Counts,
    /// The period of the calendar that it is counted over; `None` for the whole life of its scope.
    pub period: Option<Span>,
    /// The window of the user's plan that it is about.
    pub plan_window: Option<PlanSpan>,
    /// Whether it adds up over an agent's work, so that what a spawn asks for is cut to what is left above.
    pub adds_up: bool,
    /// Whether it keeps a session from going on for ever.
    pub bounds_session: bool,
    /// Whether people are shown it where nothing of it is used.
    pub shown_at_zero: bool,
    /// As what the machines of a team share it; `None` where they do not. Of agents at work all are loaded at the end of a batch alone.
    pub shared: Option<ShareKind>,
    /// Whether the agent is told what it repeats before the limit acts.
    pub announced_first: bool,
    /// Whether its reading says what the last refused call was for.
    pub names_last_refusal: bool,
    /// The figure of a run in whose distribution its cap is drawn.
    pub run_figure: Option<RunFigure>,
    /// Its key in the `settings` of an agent file in AgentMD's format, where it stands there.
    pub agentmd: Option<&'static str>,
    /// What it is, for the documentation.
    pub doc: &'static str,
    /// One example value as JSON.
    pub example: &'static str,
}

impl Limit {
    /// What most limits are, for the rest of a row.
    pub const PLAIN: Limit = Limit {
        key: "",
        aliases: &[],
        texts: LimitTexts::PLAIN,
        unit: Unit::Count,
        range: (1, 1_000_000),
        ceiling: None,
        scopes: &[Scope::Run, Scope::Session],
        meter: Meter::Window,
        observe: None,
        form: Form::Cap,
        ends: Ends::Run,
        action: None,
        counts: Counts::All,
        period: None,
        plan_window: None,
        adds_up: false,
        bounds_session: false,
        shown_at_zero: true,
        shared: None,
        announced_first: false,
        names_last_refusal: false,
        run_figure: None,
        agentmd: None,
        doc: "",
        example: "",
    };

    /// Writes a value of this limit's base unit as people read it.
    pub fn show(&self, value: u64) -> String {
        self.unit.show(value)
    }

    /// Writes a cap of it, with all digits that tell it from another.
    pub fn show_cap(&self, value: u64) -> String {
        self.unit.show_cap(value)
    }

    /// Returns what people call the thing counted: dollars that nobody is billed are list prices.
    pub fn label_of(&self, billing: Billing) -> Cow<'static, str> {
        match (self.unit, billing) {
            (Unit::Usd, Billing::Plan) => Cow::Owned(self.texts.label.replacen("cost", LIST_PRICE, 1)),
            _ => Cow::Borrowed(self.texts.label),
        }
    }

    /// Writes what is under way beside what is used: ` and 4 under way`; nothing where nothing is.
    pub fn show_under_way(&self, value: u64) -> String {
        if value == 0 { String::new() } else { format!(" and {} under way", self.show(value)) }
    }

    /// Returns what is used so far.
    pub fn used(&self, meters: &Meters) -> u64 {
        match self.meter {
            Meter::Spend { used, .. } | Meter::Count { used, .. } => used(meters),
            Meter::Window | Meter::Silence => 0,
        }
    }

    /// Whether a report costs of it, so that the report must fit inside the cap.
    pub fn spent_by_requests(&self) -> bool {
        matches!(self.meter, Meter::Spend { .. })
    }

    /// Whether it counts tool calls.
    pub fn counts_calls(&self) -> bool {
        self.run_figure == Some(RunFigure::ToolCalls)
    }

    /// Converts a number from configuration into the base unit; nothing where it is no whole number of it.
    pub fn base(&self, number: f64) -> Option<u64> {
        self.unit.base(number)
    }

    /// Converts a value in the base unit back into configuration's number.
    pub fn configured(&self, value: u64) -> f64 {
        self.unit.configured(value)
    }
}

impl PartialEq for Limit {
    fn eq(&self, other: &Limit) -> bool {
        self.key == other.key
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key)
    }
}
