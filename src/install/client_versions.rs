//! What the versions of the client that were tried differ in: one table for `doctor`, `init`, the tests and the documentation.

/// A client's version.
pub type Version = [u32; 3];

/// The versions that all tests of the real client are run against, oldest first.
pub const TRIED: [Version; 6] = [[2, 1, 214], [2, 1, 240], [2, 1, 287], [2, 1, 328], [2, 1, 330], [2, 1, 332]];

/// Something that the client does, and that not all versions do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// `"onFailure": "block"` on a handler.
    OnFailure,
    /// Managed hooks run in a client that is started with `--bare`.
    ManagedInBare,
    /// Mods are loaded.
    Mods,
    /// A transcript's rows of a subagent have the usage of the whole response.
    WholeUsage,
    /// Hooks are told whether somebody is there to answer.
    Attendance,
    /// A prompt or notification that comes while the main agent works fires UserPromptSubmit.
    PromptsAtWork,
    /// In a terminal, every subagent runs in the background.
    BackgroundAgents,
    /// A background command that is killed is reported in a notification.
    KilledCommands,
    /// A user's settings file that another takes the place of fires ConfigChange.
    ReplacedSettings,
    /// A settings file that is changed in the client's first two seconds fires ConfigChange.
    EarlySettings,
    /// The Monitor tool.
    Monitor,
    /// `-p` with `stream-json` shows what hooks tell the user.
    HeadlessNotices,
    /// The Agent tool can fork the conversation.
    Forks,
    /// The client's own total goes on over a resume and a fork.
    OneTotal,
    /// The client's own total, behind its transcript's end, has what no row shows.
    WholeTotals,
    /// The client's result counts the subagents that it started.
    AgentCounts,
    /// A batch tells apart a call that an own hook has refused by a `decision`.
    MarkedDenials,
    /// `-p` asks PermissionRequest hooks.
    HeadlessPermissions,
    /// A conversation of 985,000 tokens is compacted while the agent works.
    LongCompactions,
    /// A transcript shows the model of a client that has done nothing but compact the conversation.
    CompactionModel,
    /// The PostModelSwitch event. Older clients warn of a registration for it at each start.
    ModelSwitches,
    /// A session that `/cd` leads to another folder goes by that folder's settings.
    MovedSettings,
    /// The client's default model is `claude-opus-5-5`.
    NewestModel,
    /// Hooks run even where the folder that the client works in was made a file.
    HooksWithoutFolder,
}

/// One row of the table.
pub struct Difference {
    /// What it is about.
    pub feature: Feature,
    /// The oldest version tried that has it.
    pub since: Version,
    /// What an older version is like, for people.
    pub before: &'static str,
    /// What becomes of the limits there; nothing where they hold as ever.
    pub loss: Option<&'static str>,
}

const fn row(feature: Feature, since: Version, before: &'static str, loss: Option<&'static str>) -> Difference {
    Difference { feature, since, before, loss }
}

/// Every difference, the graver ones first.
pub const DIFFERENCES: [Difference; 24] = [
    row(
        Feature::OnFailure,
        TRIED[3],
        "`onFailure` of a handler is not known and ignored",
        Some("`init --fail-closed` has no effect: calls run where Fusebox is missing, crashes or is late"),
    ),
    row(
        Feature::ManagedInBare,
        TRIED[2],
        "`claude --bare` runs no hooks, not even managed ones",
        Some("hooks of a managed install do not run in a client that an agent starts with `--bare`"),
    ),
    row(
        Feature::WholeUsage,
        TRIED[3],
        "a subagent's response that streams slowly is written down with the output tokens of its beginning",
        Some("limits on cost and tokens of subagents count less output than there was"),
    ),
    row(
        Feature::MarkedDenials,
        TRIED[2],
        "what an own hook refuses by a `decision` looks like a result",
        Some(
            "an agent that breaks the state, and has an own hook refuse its calls so, goes on making requests; no call runs",
        ),
    ),
    row(
        Feature::HooksWithoutFolder,
        TRIED[5],
        "where the folder that the client works in is made a file, it can start no hook",
        Some(
            "a client whose agent makes the folder it works in a file asks no hook: only `fusebox watch` tells of it, and can end it",
        ),
    ),
    row(
        Feature::CompactionModel,
        TRIED[2],
        "no transcript names the model of a client that has only compacted a conversation; `report --transcripts` prices it by the model before",
        None,
    ),
    row(Feature::HeadlessPermissions, TRIED[2], "`-p` asks no PermissionRequest hook, and refuses the call", None),
    row(
        Feature::LongCompactions,
        TRIED[3],
        "a conversation of 985,000 tokens is not compacted while the agent works",
        None,
    ),
    row(Feature::Mods, TRIED[2], "a mod is not loaded, so it cannot answer for the hooks", None),
    row(
        Feature::Attendance,
        TRIED[2],
        "hooks are not told whether somebody can answer; Fusebox goes by how the client was started (`-p` or a terminal)",
        None,
    ),
    row(
        Feature::PromptsAtWork,
        TRIED[2],
        "a prompt or notification that comes while the main agent works reaches it without an event",
        None,
    ),
    row(
        Feature::MovedSettings,
        TRIED[2],
        "`/cd` in a terminal leaves the hooks of the session's first folder in force",
        None,
    ),
    row(Feature::BackgroundAgents, TRIED[1], "in a terminal a subagent may run in the foreground, as in `-p`", None),
    row(Feature::KilledCommands, TRIED[2], "the end of a background command that Fusebox ended is not reported", None),
    row(
        Feature::ReplacedSettings,
        TRIED[3],
        "that a user's settings file was replaced is not always noticed: the hooks stay in force, and the user is not told",
        None,
    ),
    row(
        Feature::EarlySettings,
        TRIED[3],
        "a change of settings in the client's first two seconds is not noticed: the settings of its start stay in force",
        None,
    ),
    row(Feature::Monitor, TRIED[3], "there is no Monitor tool", None),
    row(
        Feature::HeadlessNotices,
        TRIED[1],
        "`-p` shows nothing of what hooks tell the user, with `stream-json` neither; `fusebox log` has it",
        None,
    ),
    row(Feature::Forks, TRIED[3], "the Agent tool cannot fork the conversation", None),
    row(Feature::OneTotal, TRIED[3], "the client's own total begins anew, or differs, after a resume or a fork", None),
    row(
        Feature::WholeTotals,
        TRIED[3],
        "no total behind a transcript's end has what no row shows",
        Some("what `/insights` asks in clients that an agent starts is not counted"),
    ),
    row(Feature::AgentCounts, TRIED[1], "the result of `-p` does not count subagents", None),
    row(
        Feature::ModelSwitches,
        TRIED[2],
        "no hook is told that another model was chosen (PostModelSwitch): the request after that is held at the former one's price",
        None,
    ),
    row(Feature::NewestModel, TRIED[2], "the default model is an older one, at its own price", None),
];

impl Feature {
    /// Returns its row.
    pub fn row(self) -> Option<&'static Difference> {
        DIFFERENCES.iter().find(|row| row.feature == self)
    }

    /// Whether a version has it.
    pub fn is_in(self, version: Version) -> bool {
        self.row().is_none_or(|row| version >= row.since)
    }
}

/// Reads the version out of what a client says of itself: `2.1.328 (Claude Code)`.
pub fn version(said: &str) -> Option<Version> {
    let mut numbers = said.split(|letter: char| !letter.is_ascii_digit()).filter_map(|number| number.parse().ok());
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

/// Writes a version.
pub fn show(version: Version) -> String {
    version.map(|number| number.to_string()).join(".")
}

/// Returns what a version costs in limits, a sentence each.
pub fn losses(version: Version) -> Vec<&'static str> {
    DIFFERENCES.iter().filter(|row| version < row.since).filter_map(|row| row.loss).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared() {
        assert_eq!(version("2.1.328 (Claude Code)").map(show).as_deref(), Some("2.1.328"));
        assert_eq!(version("claude"), None);
        assert_eq!(crate::wire::bypass_detection::clients::OLDEST_CLIENT, TRIED[0]);
        assert!(losses(TRIED[0]).len() > losses(TRIED[2]).len() && !losses(TRIED[2]).is_empty());
        assert!(Feature::OnFailure.is_in([3, 0, 0]) && !Feature::OnFailure.is_in([2, 1, 239]));
    }

    #[test]
    fn every_feature_is_told_apart_by_a_version_that_was_tried() {
        for row in &DIFFERENCES {
            let since = TRIED.iter().position(|tried| *tried == row.since).unwrap();
            let has_it = [TRIED[since - 1], TRIED[since]].map(|version| row.feature.is_in(version));
            assert_eq!(has_it, [false, true], "{:?}", row.feature);
        }
    }
}
