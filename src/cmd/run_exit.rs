//! What makes `fusebox run` end with 3, in the words of its last line and of docs/ci.md.

/// What makes `fusebox run` end with 3: the first four always, the others with `--strict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its main agent was stopped.
    Stopped,
    /// Its main agent was paused.
    Paused,
    /// Its prompt was not sent.
    Blocked,
    /// The state cannot be read.
    Unknown,
    /// The configuration has mistakes.
    Mistakes,
    /// No hook would be run.
    NoHooks,
    /// No hook was heard.
    Unheard,
    /// A subagent was stopped or paused.
    Subagent,
    /// A subagent was not let start.
    NotStarted,
    /// A client that an agent started could not do its work.
    Below,
    /// Something was done of which no hook was asked.
    Unasked,
    /// A team's cap was not kept, because its store was not reached.
    Unbound,
    /// A person has switched limits off.
    Off,
    /// Limits do not block.
    Observed,
    /// The machine's owner refuses the repository's limits.
    Refused,
    /// Cost and tokens are not known.
    Estimated,
    /// The state was damaged.
    SetAside,
}

/// Every cause, and its words.
pub const CAUSES: [(Cause, &str); 17] = [
    (Cause::Stopped, "a limit or a person stopped the main agent"),
    (Cause::Paused, "a limit or a person paused the main agent"),
    (Cause::Blocked, "the prompt was not sent"),
    (Cause::Unknown, "the state cannot be read"),
    (Cause::Mistakes, "the configuration has mistakes"),
    (Cause::NoHooks, "no hook of Fusebox is in force"),
    (Cause::Unheard, "no hook was heard"),
    (Cause::Subagent, "a subagent was stopped or paused"),
    (Cause::NotStarted, "a subagent was not let start"),
    (Cause::Below, "a client that an agent started was stopped or refused"),
    (Cause::Unasked, "a call or a client went by without a hook"),
    (Cause::Unbound, "a team's cap was not kept"),
    (Cause::Off, "limits were switched off"),
    (Cause::Observed, "limits were only observed"),
    (Cause::Refused, "the repository's limits are refused"),
    (Cause::Estimated, "the client kept no transcript"),
    (Cause::SetAside, "a damaged state was set aside"),
];

impl Cause {
    fn words(self) -> &'static str {
        CAUSES.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }

    /// Makes a remark that has this cause.
    pub fn remark(self, line: String) -> Remark {
        Remark { line, cause: Some(self) }
    }
}

/// A line for standard error.
#[derive(Debug)]
pub struct Remark {
    /// The line.
    pub line: String,
    /// What it makes of the exit code; `None` where nothing.
    pub cause: Option<Cause>,
}

/// Names each cause once, in the order of the remarks; nothing where there is none.
pub fn causes(remarks: &[Remark]) -> Option<String> {
    let mut words: Vec<&str> = Vec::new();
    for cause in remarks.iter().filter_map(|remark| remark.cause).map(Cause::words) {
        if !words.contains(&cause) {
            words.push(cause);
        }
    }
    (!words.is_empty()).then(|| words.join("; "))
}
