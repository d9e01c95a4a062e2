//! What a person wants to be told of while agents work, how, and whether the watchdog may end a client.

use crate::domain::agent_type::folded;
use crate::domain::text::pattern;
use crate::domain::time_units::HOUR_MS;

/// What an alert is about.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    /// A run has used so many per cent of a limit, by the limit's key.
    Limit {
        /// The limit's key.
        limit: String,
        /// The per cent.
        percent: u64,
    },
    /// All sessions together spent more than so many US dollars within an hour.
    Spend {
        /// The US dollars.
        usd: f64,
    },
    /// Limits ended more than so many runs within an hour.
    Terminations {
        /// The runs.
        count: u64,
    },
    /// A run waits for a person for longer than this.
    Waits {
        /// The time in milliseconds.
        ms: u64,
    },
    /// A limit ended or paused a run.
    Stopped,
    /// A run gives no sign of life for longer than this.
    Stalled {
        /// The time in milliseconds.
        ms: u64,
    },
    /// So many per cent of one of the team's caps are spent.
    Team {
        /// The per cent.
        percent: u64,
    },
    /// A client goes on from one response to another, and asks no hook between.
    Unasked,
    /// A run is past a limit that ends it, and has sent no event for longer than this: no hook can decide.
    Overdue {
        /// The time in milliseconds.
        ms: u64,
    },
}

/// One rule: what is told of, under which name, and for which agents.
#[derive(Clone, Debug, PartialEq)]
pub struct AlertRule {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub trigger: Trigger,
    /// A pattern of agent types; `*` for all. Rules over an hour count all agents.
    pub agents: String,
}

impl AlertRule {
    /// Whether it is about agents of a type.
    pub fn is_about(&self, agent_type: &str) -> bool {
        pattern::matches(&folded(&self.agents), &folded(agent_type))
    }
}

/// A command that alerts are handed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertCommand {
    /// The line that a shell runs; it reads one alert as JSON.
    pub line: String,
    /// How long it may take, in milliseconds.
    pub timeout_ms: u64,
}

/// How a terminal is told of an alert beside the line that is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TerminalSignal {
    /// The bell.
    #[default]
    Bell,
    /// A notification of the terminal's own: the sequence OSC 9.
    Osc9,
    /// Nothing more.
    None,
}

impl TerminalSignal {
    /// Every signal with its name in configuration.
    pub const NAMED: [(TerminalSignal, &str); 3] =
        [(TerminalSignal::Bell, "bell"), (TerminalSignal::Osc9, "osc9"), (TerminalSignal::None, "none")];
}

/// For how long a cause that goes on is not told again, where nobody says, in milliseconds.
pub const QUIET_MS: u64 = HOUR_MS.cast_unsigned();

/// What is told of, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct AlertSettings {
    /// The rules, in the order of their names.
    pub rules: Vec<AlertRule>,
    /// The command that gets each alert; `None` where there is none.
    pub command: Option<AlertCommand>,
    /// Whether the desktop shows each alert, where the system has a program for that.
    pub desktop: bool,
    /// How the terminal is told that `fusebox watch` runs in.
    pub terminal: TerminalSignal,
    /// For how long a cause that goes on is not told again, in milliseconds.
    pub quiet_ms: u64,
}

impl AlertSettings {
    /// Nothing is told of.
    pub const NONE: AlertSettings = AlertSettings {
        rules: Vec::new(),
        command: None,
        desktop: true,
        terminal: TerminalSignal::Bell,
        quiet_ms: QUIET_MS,
    };
}

/// What the watchdog may do beside telling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchdogSettings {
    /// Whether it ends a client that no hook can stop.
    pub kill: bool,
    /// How long a client that was interrupted may take to end, in milliseconds.
    pub grace_ms: u64,
}

impl Default for WatchdogSettings {
    fn default() -> WatchdogSettings {
        WatchdogSettings { kill: false, grace_ms: 10_000 }
    }
}
