//! A model's response, as the rows of a transcript tell it.

use crate::domain::spend::charge::Charge;
use crate::domain::spend::meters::Spend;
use crate::pricing::price::Priced;
use crate::pricing::usage::TokenUsage;

/// One model response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The `message.id`.
    pub id: String,
    /// The model that answered.
    pub model: String,
    /// When, in milliseconds since 1970, by the row; zero where it does not say.
    pub at_ms: i64,
    /// What it used.
    pub usage: TokenUsage,
    /// The session that made the request, where the row is a fork's copy of another session's.
    pub billed_by: Option<String>,
    /// The summary, where it is a compaction's: no row says what that used.
    pub summary: Option<Summary>,
}

/// What a compaction has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Its length in bytes.
    pub length: u64,
    /// Whether the client that wrote it is another one than the client that had the response before it.
    pub is_by_another_client: bool,
}

/// Whether a later row takes back what an earlier one counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shrinks {
    /// It does.
    Yes,
    /// It does not.
    No,
}

impl Response {
    /// Returns what it spent, at its price.
    pub fn spend(&self, priced: &Priced) -> Spend {
        let (tokens, cache_reads) = (self.usage.counted_tokens(), self.usage.cache_read);
        Spend { requests: 1, tokens, cache_reads, cost: priced.cost }
    }

    /// Returns what a session is charged for it, at its price.
    pub fn charge(&self, session: &str, run: &str, priced: &Priced) -> Charge {
        Charge {
            message: self.id.clone(),
            session: session.to_owned(),
            run: run.to_owned(),
            model: self.model.clone(),
            at_ms: self.at_ms,
            spend: self.spend(priced),
            output: self.usage.output,
            context: self.usage.prompt_tokens(),
            cache_writes: Some(self.usage.write_5m.saturating_add(self.usage.write_1h)),
            unknown_model: !priced.known,
            ..Charge::default()
        }
    }

    /// Folds in another row of the same response.
    pub fn fold(&mut self, at_ms: i64, usage: &TokenUsage) -> Shrinks {
        let shrinks = if self.usage.shrinks_to(usage) { Shrinks::Yes } else { Shrinks::No };
        self.usage.merge_max(usage);
        if self.at_ms == 0 {
            self.at_ms = at_ms;
        }
        shrinks
    }
}
