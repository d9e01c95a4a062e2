//! Why a call or prompt is refused.

/// Why a call or prompt is refused, beyond the finding itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A limit trips now; this many responses are left to report.
    Tripped {
        /// Model responses left to report.
        grace: u32,
    },
    /// An order stands; this many responses are left to report after this one.
    Ordered {
        /// Model responses left to report.
        grace: u32,
    },
    /// The limit refuses this call alone.
    CallAlone,
    /// The turn has ended, and no hook may prolong it again.
    NotProlonged,
    /// The prompt alone is kept back; nothing is ended.
    Blocked,
    /// No limit is the reason: settings wait for a person, or too much is under way.
    NotByLimit {
        /// The sentence that says it.
        why: String,
    },
    /// Rows of the session's transcripts are not taken in yet, and may pass a limit.
    Unread {
        /// Their bytes.
        bytes: u64,
    },
    /// Something is missing at the end; the agent is sent back.
    Missing {
        /// What.
        what: Vec<String>,
    },
    /// Another call of the batch is asking the person.
    SiblingAsks,
    /// The first requests of agents that were just started are not counted yet, and may spend what is left.
    FirstRequestsPending,
    /// The agent that the message is for may not go on.
    Addressee {
        /// Its run.
        run: String,
        /// Whether it was ended; else a limit of its own leaves nothing for another request.
        ended: bool,
    },
    /// Fusebox itself is touched.
    Tampering {
        /// What is touched.
        what: String,
    },
}
