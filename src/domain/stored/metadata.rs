//! The rows of the state's table `metadata`, which are found by name: every kind, what it says, and who sets it.

/// A kind of row of the table `metadata`.
#[derive(Debug, PartialEq, Eq)]
pub struct MetadataKind {
    /// The beginning of its names, which ends with `:`; without `:` the whole name.
    pub stem: &'static str,
    /// What it says, as a noun.
    pub says: &'static str,
    /// The command by which a person sets it; `None` where Fusebox sets it by itself.
    pub command: Option<&'static str>,
    /// Whether there may be many rows. Each of these is checked where it is read; all others are checked together.
    pub is_many: bool,
}

const fn by_fusebox(stem: &'static str, says: &'static str) -> MetadataKind {
    MetadataKind { stem, says, command: None, is_many: false }
}

const fn by_person(stem: &'static str, says: &'static str, command: &'static str) -> MetadataKind {
    MetadataKind { stem, says, command: Some(command), is_many: false }
}

const fn many(stem: &'static str, says: &'static str) -> MetadataKind {
    MetadataKind { stem, says, command: None, is_many: true }
}

/// The policy and session of a client process.
pub const CLIENT: MetadataKind = many("client:", "the session of a client");
/// What first requests of an agent type spent.
pub const FIRST_REQUEST: MetadataKind = many("first-request:", "what first requests of an agent type spend");
/// The policy that a project's last client was pinned to.
pub const LATEST: MetadataKind = by_fusebox("latest:", "the limits of the last client here");
/// What diverted in a project's last client.
pub const SETTINGS: MetadataKind = by_fusebox("settings:", "the settings of the last client here");
/// That a person trusts a project.
pub const TRUST: MetadataKind = by_person("trust:", "trust in a repository", "trust");
/// That a person has switched a project's limits off.
pub const OFF: MetadataKind = by_person("off:", "limits that are off", "off");
/// The time zone of the last client's days.
pub const ZONE: MetadataKind = by_fusebox("zone", "the time zone of budgets");
/// For how long detail is kept.
pub const RETENTION: MetadataKind = by_fusebox("retention", "for how long detail is kept");
/// What is learned of past runs.
pub const LEARNED_CAPS: MetadataKind = by_fusebox("learned-caps", "the caps that past runs suggest");
/// When a pruning was begun.
pub const PRUNING: MetadataKind = by_fusebox("pruning", "when a pruning began");
/// When a pruning was last done.
pub const PRUNED: MetadataKind = by_fusebox("pruned", "when a pruning was done");
/// Up to which moment detail was pruned.
pub const CLOSED: MetadataKind = by_fusebox("closed", "up to when detail was pruned");
/// In which folders of transcripts sessions were counted again after this state was begun.
pub const RECOUNTED: MetadataKind = by_fusebox("recounted", "which transcripts were counted again");
/// How often another program has changed or deleted the rows of a session.
pub const ALTERED: MetadataKind = by_fusebox("altered:", "how often a session's rows were changed");
/// That an earlier version has written rows, which have no seals.
pub const EARLIER_ROWS: MetadataKind = by_fusebox("earlier-rows", "that an earlier version has written rows");
/// When a hook last began to tell the team.
pub const TEAM_SYNC: MetadataKind = by_fusebox("team-sync", "when a sync with the team began");
/// Which events wait for what a sync with the team brings.
pub const TEAM_WAITS: MetadataKind = by_fusebox("team-waits", "what waits for a sync with the team");
/// What the files of the team were when Fusebox wrote them.
pub const TEAM_FILE: MetadataKind = by_fusebox("team-file:", "what a file of the team was");
/// Of which teams the machine has taken part, as which machine, and what was not told.
pub const TEAM_MEMBERSHIPS: MetadataKind = by_fusebox("team-memberships", "what a team was not told yet");
/// One seal over the rows that are checked together.
pub const SEALS: MetadataKind = by_fusebox("seals", "how many facts there are");

/// Every kind.
pub const METADATA_KINDS: [MetadataKind; 20] = [
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
    RECOUNTED,
    ALTERED,
    EARLIER_ROWS,
    TEAM_SYNC,
    TEAM_WAITS,
    TEAM_FILE,
    TEAM_MEMBERSHIPS,
    SEALS,
];

impl MetadataKind {
    /// Returns the name of the row about something.
    pub fn of(&self, what: &str) -> String {
        format!("{}{what}", self.stem)
    }

    fn has(&self, name: &str) -> bool {
        if self.stem.ends_with(':') { name.starts_with(self.stem) } else { name == self.stem }
    }
}

/// Returns the kind of a row by its name; `None` where Fusebox writes no such row.
pub fn kind_of(name: &str) -> Option<&'static MetadataKind> {
    METADATA_KINDS.iter().find(|kind| kind.has(name))
}
