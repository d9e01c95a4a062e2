//! What one model response says it used.

/// Token counts by what they are billed as. The five are disjoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Prompt tokens neither read from the cache nor written to it.
    pub input: u64,
    /// Completion tokens, thinking included.
    pub output: u64,
    /// Prompt tokens written to the cache for five minutes.
    pub write_5m: u64,
    /// Prompt tokens written to the cache for an hour.
    pub write_1h: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
}

impl Tokens {
    /// Returns the size of the prompt, cache included.
    pub fn prompt(&self) -> u64 {
        [self.write_5m, self.write_1h, self.cache_read].into_iter().fold(self.input, u64::saturating_add)
    }

    /// Returns all tokens but cache reads: what `max_tokens` counts.
    pub fn counted(&self) -> u64 {
        [self.write_5m, self.write_1h, self.output].into_iter().fold(self.input, u64::saturating_add)
    }

    /// Returns the same tokens with every cache write a five-minute one.
    pub fn without_1h(self) -> Tokens {
        Tokens { write_5m: self.write_5m.saturating_add(self.write_1h), write_1h: 0, ..self }
    }

    /// Adds count by count.
    pub fn plus(self, other: Tokens) -> Tokens {
        self.zip(other, u64::saturating_add)
    }

    /// Subtracts count by count, stopping at zero.
    pub fn minus(self, other: Tokens) -> Tokens {
        self.zip(other, u64::saturating_sub)
    }

    /// Takes the larger, count by count.
    pub fn max(self, other: Tokens) -> Tokens {
        self.zip(other, u64::max)
    }

    fn zip(self, other: Tokens, with: fn(u64, u64) -> u64) -> Tokens {
        Tokens {
            input: with(self.input, other.input),
            output: with(self.output, other.output),
            write_5m: with(self.write_5m, other.write_5m),
            write_1h: with(self.write_1h, other.write_1h),
            cache_read: with(self.cache_read, other.cache_read),
        }
    }
}

/// What a part of a response was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A pass of the model that was asked; contained in the response's totals.
    Message,
    /// A pass of a model that stepped in on the server; contained in the totals, billed at its own price.
    Fallback,
    /// A question to an adviser model; not contained in the totals, billed at its own price.
    Advisor,
}

/// One entry of `usage.iterations`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// What it was.
    pub kind: PartKind,
    /// The model that served it, where it says.
    pub model: Option<String>,
    /// What it used.
    pub tokens: Tokens,
}

/// What one model response used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Prompt tokens neither read from the cache nor written to it.
    pub input: u64,
    /// Completion tokens, thinking included.
    pub output: u64,
    /// Prompt tokens written to the cache for five minutes.
    pub write_5m: u64,
    /// Prompt tokens written to the cache for an hour.
    pub write_1h: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
    /// Web searches made by the server.
    pub web_searches: u64,
    /// Whether it was served in fast mode.
    pub fast: bool,
    /// Whether inference was bound to the United States.
    pub us: bool,
    /// The passes it was made of, where the response lists them.
    pub parts: Vec<Iteration>,
}

impl TokenUsage {
    /// Returns the five token counts.
    pub fn tokens(&self) -> Tokens {
        Tokens {
            input: self.input,
            output: self.output,
            write_5m: self.write_5m,
            write_1h: self.write_1h,
            cache_read: self.cache_read,
        }
    }

    /// Returns the size of the prompt, cache included.
    pub fn prompt_tokens(&self) -> u64 {
        self.tokens().prompt()
    }

    /// Returns input, cache writes and output, an adviser's too: what `max_tokens` counts.
    pub fn counted_tokens(&self) -> u64 {
        let advisors = self.parts.iter().filter(|part| part.kind == PartKind::Advisor);
        advisors.fold(self.tokens().counted(), |sum, part| sum.saturating_add(part.tokens.counted()))
    }

    /// Takes the larger of each count: the rows of one response repeat its usage, and counters only grow.
    pub fn merge_max(&mut self, other: &TokenUsage) {
        self.set_tokens(self.tokens().max(other.tokens()));
        self.web_searches = self.web_searches.max(other.web_searches);
        self.fast |= other.fast;
        self.us |= other.us;
        for (mine, theirs) in self.parts.iter_mut().zip(&other.parts) {
            mine.tokens = mine.tokens.max(theirs.tokens);
        }
        let known = self.parts.len().min(other.parts.len());
        self.parts.extend_from_slice(&other.parts[known..]);
    }

    /// Whether some count of `later`, a later row of the same response, is smaller.
    pub fn shrinks_to(&self, later: &TokenUsage) -> bool {
        self.tokens().minus(later.tokens()) != Tokens::default() || later.web_searches < self.web_searches
    }

    /// Replaces the five token counts.
    pub fn set_tokens(&mut self, tokens: Tokens) {
        let Tokens { input, output, write_5m, write_1h, cache_read } = tokens;
        (self.input, self.output, self.write_5m) = (input, output, write_5m);
        (self.write_1h, self.cache_read) = (write_1h, cache_read);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(tokens: [u64; 5]) -> TokenUsage {
        let [input, output, write_5m, write_1h, cache_read] = tokens;
        TokenUsage { input, output, write_5m, write_1h, cache_read, ..TokenUsage::default() }
    }

    #[test]
    fn rows_of_one_response_merge_by_maximum() {
        for (first, second, merged, shrinks) in [
            // the same row twice
            ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5], false),
            // a partial row, then the whole
            ([1, 1, 3, 0, 5], [1, 9, 3, 4, 5], [1, 9, 3, 4, 5], false),
            // a row that takes something back
            ([1, 9, 3, 4, 5], [1, 8, 3, 4, 6], [1, 9, 3, 4, 6], true),
        ] {
            let mut folded = usage(first);
            folded.merge_max(&usage(second));
            assert_eq!(folded, usage(merged));
            assert_eq!(usage(first).shrinks_to(&usage(second)), shrinks);
        }
    }

    #[test]
    fn the_prompt_has_the_cache_and_the_count_has_not() {
        for (tokens, prompt, counted) in [
            ([1, 20, 300, 4_000, 50_000], 54_301, 4_321),
            ([0, 7, 0, 0, 0], 0, 7),
            ([u64::MAX, 1, 1, 1, 1], u64::MAX, u64::MAX),
        ] {
            assert_eq!((usage(tokens).prompt_tokens(), usage(tokens).counted_tokens()), (prompt, counted));
        }
    }

    #[test]
    fn parts_grow_too_and_an_adviser_counts() {
        let part = |kind, output| Iteration { kind, model: None, tokens: Tokens { output, ..Tokens::default() } };
        let mut first = TokenUsage { parts: vec![part(PartKind::Message, 5)], ..usage([1, 5, 0, 0, 0]) };
        let second = TokenUsage {
            parts: vec![part(PartKind::Message, 6), part(PartKind::Advisor, 100)],
            ..usage([1, 6, 0, 0, 0])
        };
        first.merge_max(&second);
        assert_eq!(first, second);
        assert_eq!(first.counted_tokens(), 107);
    }
}
