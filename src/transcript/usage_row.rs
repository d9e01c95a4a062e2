//! The `usage` of a model response in a transcript row, and of each of its iterations.

use serde::Deserialize;

use crate::pricing::usage::{Iteration, PartKind, TokenUsage, Tokens};
use crate::transcript::field::{Count, List, Object, Text, short};

/// `message.usage`, and each entry of its `iterations`, which have a type and a model besides.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct RawUsage<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    model: Text<'a>,
    input_tokens: Count,
    output_tokens: Count,
    cache_creation_input_tokens: Count,
    cache_read_input_tokens: Count,
    cache_creation: Object<CacheCreation>,
    server_tool_use: Object<ServerTools>,
    speed: Text<'a>,
    inference_geo: Text<'a>,
    iterations: List<RawUsage<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CacheCreation {
    ephemeral_5m_input_tokens: Count,
    ephemeral_1h_input_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ServerTools {
    web_search_requests: Count,
}

impl RawUsage<'_> {
    /// Returns the usage, and whether some of it had to be left out.
    pub fn read(self) -> (TokenUsage, bool) {
        let (tokens, mut doubtful) = self.tokens();
        doubtful |= self.server_tool_use.is_other() || self.iterations.has_other;
        let searches = self.server_tool_use.known().unwrap_or_default().web_search_requests;
        doubtful |= searches == Count::Doubtful;
        let mut parts = Vec::new();
        for iteration in self.iterations.objects {
            let (tokens, part_doubtful) = iteration.tokens();
            doubtful |= part_doubtful;
            parts.extend(iteration.part_kind().map(|kind| {
                let model = Some(short(iteration.model.0).into_owned()).filter(|model| !model.is_empty());
                Iteration { kind, model, tokens }
            }));
        }
        let mut usage = TokenUsage {
            web_searches: searches.value(),
            fast: self.speed.0 == "fast",
            us: self.inference_geo.0 == "us",
            parts,
            ..TokenUsage::default()
        };
        usage.set_tokens(tokens);
        (usage, doubtful)
    }

    /// Returns the token counts: of the cache writes as many for an hour as the split says, the rest for five minutes.
    fn tokens(&self) -> (Tokens, bool) {
        let split = self.cache_creation.get();
        let (split_5m, split_1h) = split.map_or((Count::Absent, Count::Absent), |split| {
            (split.ephemeral_5m_input_tokens, split.ephemeral_1h_input_tokens)
        });
        let writes = match self.cache_creation_input_tokens {
            Count::Absent => split_5m.value().saturating_add(split_1h.value()),
            total => total.value(),
        };
        let write_1h = split_1h.value().min(writes);
        let counts = [self.input_tokens, self.output_tokens, self.cache_creation_input_tokens];
        let others = [self.cache_read_input_tokens, split_5m, split_1h];
        let doubtful =
            counts.into_iter().chain(others).any(|count| count == Count::Doubtful) || self.cache_creation.is_other();
        let tokens = Tokens {
            input: self.input_tokens.value(),
            output: self.output_tokens.value(),
            write_5m: writes - write_1h,
            write_1h,
            cache_read: self.cache_read_input_tokens.value(),
        };
        (tokens, doubtful)
    }

    /// Returns what an iteration was; the client bills compactions and kinds it does not know with the totals.
    fn part_kind(&self) -> Option<PartKind> {
        match &*self.kind.0 {
            "message" => Some(PartKind::Message),
            "fallback_message" => Some(PartKind::Fallback),
            "advisor_message" => Some(PartKind::Advisor),
            _ => None,
        }
    }
}
