//! What a person can do next: every advice that a message gives, and the command that it names.

use std::fmt;

use crate::domain::text::shell_word::quoted;

/// One advice. Its sentence names one command, or says that none is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// A run or session is held until a person lets it go on.
    Resume {
        /// The run or session.
        id: String,
    },
    /// A limit is used up, and more of it can be given.
    Grant {
        /// The run or session, `user` or `project`.
        id: String,
        /// The limit, as a rule is called: `models.*opus*.max_cost_usd`.
        limit: String,
        /// How much is enough, in configuration's unit.
        more: String,
        /// How much of it is spent already, as people read it; empty where that is less than half.
        spent: String,
    },
    /// A main run has ended: typing goes on.
    NextPrompt,
    /// The next prompt is blocked by more than what has ended the work.
    BeforePrompt {
        /// What lifts each, at least one.
        steps: Vec<NextStep>,
        /// The limits or orders that block it besides, as rules are called.
        blocked_by: String,
    },
    /// A limit passes by itself.
    Passes {
        /// When: `in 12 s`, `at 2026-11-21 00:00 +01:00`.
        when: String,
    },
    /// A limit has passed by itself.
    Passed,
    /// The managed file has locked the limit.
    Administrator,
    /// There is more to read of a run or session.
    Explain {
        /// The run or session.
        id: String,
    },
    /// What was edited, or waits, is taken up by the running sessions.
    Reload,
    /// The limits have changed.
    ShowConfiguration,
    /// The configuration has mistakes.
    CheckConfiguration,
    /// Calls that no hook was asked about may be refused.
    FailClosed,
    /// What is held can be listed.
    Status {
        /// The session.
        id: String,
    },
    /// The log has the whole of it.
    Log,
    /// No hook was heard.
    Doctor,
    /// The client is to tell what is used of the plan's windows.
    StatusLine,
}

impl NextStep {
    /// One of each, with values as they may be.
    #[must_use]
    pub fn samples() -> Vec<NextStep> {
        let (id, when) = ("a1b2c3d4".to_owned(), "at 2026-11-21 00:00 +01:00".to_owned());
        let grant = |id: &str, limit: &str, more: &str| NextStep::Grant {
            id: id.to_owned(),
            limit: limit.to_owned(),
            more: more.to_owned(),
            spent: String::new(),
        };
        vec![
            NextStep::Resume { id: id.clone() },
            grant("5f0c1d2e", "max_cost_usd", "12.50"),
            grant("user", "max_cost_usd_per_day", "12.50"),
            NextStep::Grant {
                id: "5f0c1d2e".to_owned(),
                limit: "max_cost_usd".to_owned(),
                more: "31.00".to_owned(),
                spent: "30.57 USD".to_owned(),
            },
            grant("5f0c1d2e", "models.*opus*.max_cost_usd", "12.50"),
            NextStep::NextPrompt,
            NextStep::BeforePrompt {
                steps: vec![grant("5f0c1d2e", "max_cost_usd", "12.50"), grant("user", "max_cost_usd_per_day", "2.50")],
                blocked_by: "max_cost_usd_per_day".to_owned(),
            },
            NextStep::BeforePrompt {
                steps: vec![NextStep::Passes { when: when.clone() }],
                blocked_by: "max_cost_usd_per_day".to_owned(),
            },
            NextStep::Passes { when },
            NextStep::Passed,
            NextStep::Administrator,
            NextStep::Explain { id: id.clone() },
            NextStep::Reload,
            NextStep::ShowConfiguration,
            NextStep::CheckConfiguration,
            NextStep::FailClosed,
            NextStep::Status { id },
            NextStep::Log,
            NextStep::Doctor,
            NextStep::StatusLine,
        ]
    }

    /// Returns the command that a person types; `None` where none is needed.
    #[must_use]
    pub fn command(&self) -> Option<String> {
        let words = match self {
            NextStep::Resume { id } => format!("resume {id}"),
            NextStep::Grant { id, limit, more, .. } => format!("grant {id} {}", quoted(&format!("{limit}=+{more}"))),
            NextStep::Explain { id } => format!("explain {id}"),
            NextStep::Reload => "reload".to_owned(),
            NextStep::ShowConfiguration => "config show".to_owned(),
            NextStep::CheckConfiguration => "config check".to_owned(),
            NextStep::FailClosed => "init --fail-closed".to_owned(),
            NextStep::Status { id } => format!("status {id}"),
            NextStep::Log => "log".to_owned(),
            NextStep::Doctor => "doctor".to_owned(),
            NextStep::StatusLine => "init --statusline".to_owned(),
            NextStep::BeforePrompt { steps, .. } => {
                return steps.iter().map(NextStep::command).collect::<Option<Vec<String>>>().map(|it| it.join(" && "));
            }
            NextStep::NextPrompt | NextStep::Passes { .. } | NextStep::Passed | NextStep::Administrator => return None,
        };
        Some(format!("fusebox {words}"))
    }

    /// Returns what a list of things to do says: the command alone, or why there is none.
    #[must_use]
    pub fn entry(&self) -> String {
        self.command().unwrap_or_else(|| self.to_string())
    }
}

/// Returns what leads to the next prompt where more blocks it than what `own` is about, each named with what lifts it.
pub fn before_prompt(own: NextStep, others: impl IntoIterator<Item = (String, NextStep)>) -> NextStep {
    let (names, others): (Vec<String>, Vec<NextStep>) = others.into_iter().unzip();
    if others.is_empty() {
        return own;
    }
    let is_done = matches!(own, NextStep::NextPrompt | NextStep::Passed);
    let mut steps = if is_done { Vec::new() } else { vec![own] };
    for other in others {
        if !steps.contains(&other) {
            steps.push(other);
        }
    }
    NextStep::BeforePrompt { steps, blocked_by: names.join(" and ") }
}

impl fmt::Display for NextStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = self.command().unwrap_or_default();
        match self {
            NextStep::Grant { spent, .. } if !spent.is_empty() => {
                write!(f, "In a terminal: `{command}` ({spent} of it is spent already)")
            }
            NextStep::Resume { .. } | NextStep::Grant { .. } => write!(f, "In a terminal: `{command}`"),
            NextStep::BeforePrompt { steps, .. } if !command.is_empty() && steps.len() > 1 => write!(f, "`{command}`"),
            NextStep::BeforePrompt { .. } if !command.is_empty() => write!(f, "Before the next prompt: `{command}`"),
            NextStep::BeforePrompt { steps, blocked_by } => {
                let is_typed = |step: &&NextStep| step.command().is_some();
                match steps.iter().find(is_typed) {
                    None => write!(f, "The next prompt is blocked by {blocked_by}.")?,
                    Some(step) => write!(f, "{step}.")?,
                }
                steps.iter().filter(|step| !is_typed(step)).try_for_each(|step| write!(f, " {step}"))
            }
            NextStep::NextPrompt => write!(f, "The next prompt starts afresh, with whole limits."),
            // Beside whom to ask, and what they type, there is little room.
            NextStep::Passes { when } if when.contains('`') => write!(f, "It passes {when}."),
            NextStep::Passes { when } => write!(f, "It passes by itself {when}."),
            NextStep::Passed => write!(f, "It has passed by itself."),
            NextStep::Administrator => {
                write!(f, "The managed fusebox.json has locked it: an administrator can change it there.")
            }
            NextStep::Explain { .. } | NextStep::Status { .. } | NextStep::Log => write!(f, "More: `{command}`"),
            NextStep::Reload => write!(f, "`{command}` in a terminal of your own takes it up."),
            NextStep::ShowConfiguration => write!(f, "`{command}` says what counts now."),
            NextStep::CheckConfiguration => write!(f, "`{command}` shows all of them."),
            NextStep::FailClosed => write!(f, "`{command}` has such calls refused."),
            NextStep::Doctor => write!(f, "`{command}` shows what is registered here."),
            NextStep::StatusLine => write!(f, "`{command}` has the client tell of it."),
        }
    }
}
