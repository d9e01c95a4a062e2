//! Facts by name in the state's table `metadata`: every kind, what it says, and whether a person said it.

/// A kind of fact.
#[derive(Debug, PartialEq, Eq)]
pub struct FactKind {
    /// What its names begin with; the whole name where it ends without `:`.
    pub stem: &'static str,
    /// What it says, as a noun.
    pub says: &'static str,
    /// The command by which a person says it; `None` where Fusebox notes it by itself.
    pub command: Option<&'static str>,
    /// Whether there may be a great many: then each is checked where it is read, and not all at once.
    pub is_many: bool,
}

const fn noted(stem: &'static str, says: &'static str) -> FactKind {
    FactKind { stem, says, command: None, is_many: false }
}

const fn said(stem: &'static str, says: &'static str, command: &'static str) -> FactKind {
    FactKind { stem, says, command: Some(command), is_many: false }
}

const fn many(stem: &'static str, says: &'static str) -> FactKind {
    FactKind { stem, says, command: None, is_many: true }
}

/// The policy and session of a client process.
pub const CLIENT: FactKind = many("client:", "the session of a client");
/// What first requests of an agent type spent.
pub const FIRST_REQUEST: FactKind = many("first-request:", "what first requests of an agent type spend");
/// The policy that a project's last client was pinned to.
pub const LATEST: FactKind = noted("latest:", "the limits of the last client here");
/// What diverted in a project's last client.
pub const SETTINGS: FactKind = noted("settings:", "the settings of the last client here");
/// That a person trusts a project.
pub const TRUST: FactKind = said("trust:", "trust in a repository", "trust");
/// That a person has switched a project's limits off.
pub const OFF: FactKind = said("off:", "limits that are off", "off");
/// The time zone of the last client's days.
pub const ZONE: FactKind = noted("zone", "the time zone of budgets");
/// For how long detail is kept.
pub const RETENTION: FactKind = noted("retention", "for how long detail is kept");
/// What is learned of past runs.
pub const LEARNED_CAPS: FactKind = noted("learned-caps", "the caps that past runs suggest");
/// When a pruning was begun.
pub const PRUNING: FactKind = noted("pruning", "when a pruning began");
/// When a pruning was last done.
pub const PRUNED: FactKind = noted("pruned", "when a pruning was done");
/// Up to which moment detail was pruned.
pub const CLOSED: FactKind = noted("closed", "up to when detail was pruned");
/// How often another program has changed or deleted the rows of a session.
pub const ALTERED: FactKind = noted("altered:", "how often a session's rows were changed");
/// That an earlier version has written rows, which have no seals.
pub const EARLIER_ROWS: FactKind = noted("earlier-rows", "that an earlier version has written rows");
/// When a hook last began to tell the team.
pub const TEAM_SYNC: FactKind = noted("team-sync", "when a sync with the team began");
/// What is used of a team's caps.
pub const TEAM_CAPS: FactKind = noted("team-caps", "what is used of a team's caps");
/// What the files of the team were when Fusebox wrote them.
pub const TEAM_FILE: FactKind = noted("team-file:", "what a file of the team was");
/// The seals of those facts that are checked all at once, together.
pub const SEALS: FactKind = noted("seals", "how many facts there are");

/// Every kind.
pub const FACTS: [FactKind; 18] = [
    CLIENT,
    FIRST_REQUEST,
    LATEST,
    SETTINGS,
    TRUST,
    OFF,
    ZONE,
    RETENTION,
    LEARNED_CAPS,
    PRUNING,
    PRUNED,
    CLOSED,
    ALTERED,
    EARLIER_ROWS,
    TEAM_SYNC,
    TEAM_CAPS,
    TEAM_FILE,
    SEALS,
];

impl FactKind {
    /// Names the fact about something.
    pub fn of(&self, what: &str) -> String {
        format!("{}{what}", self.stem)
    }

    fn has(&self, name: &str) -> bool {
        if self.stem.ends_with(':') { name.starts_with(self.stem) } else { name == self.stem }
    }
}

/// Returns the kind of a fact with a name; `None` where Fusebox writes no such fact.
pub fn kind_of(name: &str) -> Option<&'static FactKind> {
    FACTS.iter().find(|kind| kind.has(name))
}
