//! One row of a price table: what a model costs from a moment on.

/// The source of rows that a person wrote.
pub const OWN: &str = "yours";

/// A web search, in pico-dollars: 0.01 USD.
pub const WEB_SEARCH: u64 = 10_000_000_000;

/// The surcharge of inference in the United States: 1.1 times.
pub const US_PERCENT: u64 = 110;

/// Prices of one kind of request, in pico-dollars per token (which is micro-dollars per million tokens).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// A prompt token outside the cache.
    pub input: u64,
    /// A completion token.
    pub output: u64,
    /// A token written to the cache for five minutes.
    pub write_5m: u64,
    /// A token written to the cache for an hour.
    pub write_1h: u64,
    /// A token read from the cache.
    pub cache_read: u64,
}

impl Rates {
    /// Returns the dearer of two prices, for each kind of token.
    pub fn at_least(self, other: Rates) -> Rates {
        Rates {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            write_5m: self.write_5m.max(other.write_5m),
            write_1h: self.write_1h.max(other.write_1h),
            cache_read: self.cache_read.max(other.cache_read),
        }
    }
}

/// Another price for the whole of a request whose prompt is long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongPrompt {
    /// The largest prompt, cache included, at the ordinary price.
    pub over: u64,
    /// The price above it.
    pub rates: Rates,
}

/// One row: what a model costs from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Since when, milliseconds since 1970; `None` where the source gives no date. A model's first row also covers
    /// what was before it: an old price is a better guess than another model's.
    pub from: Option<i64>,
    /// The ordinary price.
    pub standard: Rates,
    /// The price in fast mode.
    pub fast: Option<Rates>,
    /// The price of long prompts.
    pub long_prompt: Option<LongPrompt>,
    /// A web search, in pico-dollars.
    pub web_search: u64,
    /// What requests bound to the United States pay for their tokens, in per cent.
    pub us_percent: u64,
    /// Where the numbers come from.
    pub source: &'static str,
}

impl Price {
    /// Returns this price, raised so that no request costs less than by `other`.
    pub fn at_least(self, other: &Price) -> Price {
        let fast = self.fast_or_standard().at_least(other.fast_or_standard());
        let longest = [self.long_prompt, other.long_prompt].into_iter().flatten().map(|long| long.over).min();
        // A long prompt has one price, in fast mode and outside: it must be no lower than either.
        let long = |over| LongPrompt { over, rates: self.dearest().at_least(other.dearest()) };
        Price {
            standard: self.standard.at_least(other.standard),
            fast: self.fast.or(other.fast).map(|_| fast),
            long_prompt: longest.map(long),
            web_search: self.web_search.max(other.web_search),
            us_percent: self.us_percent.max(other.us_percent),
            ..self
        }
    }

    fn fast_or_standard(&self) -> Rates {
        self.fast.unwrap_or(self.standard)
    }

    fn dearest(&self) -> Rates {
        let long = self.long_prompt.map_or(self.standard, |long| long.rates);
        self.fast_or_standard().at_least(self.standard).at_least(long)
    }
}
