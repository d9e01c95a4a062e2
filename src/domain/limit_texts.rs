//! What messages say of a limit.

/// What messages to people and agents say of a limit.
#[derive(Debug)]
pub struct LimitTexts {
    /// What people call the thing counted.
    pub label: &'static str,
    /// What people call it in the one line that a person reads, where the key beside it says the rest. `None` is `label`.
    pub short_label: Option<&'static str>,
    /// The machine-readable reason of a stop by it.
    pub stop_reason: &'static str,
    /// The fixed words that a refusal carries, for what reads answers by program.
    pub phrase: &'static str,
    /// Says what an agent did that has used so much of it, where "used N of it" is no sentence.
    pub did: Option<fn(&str) -> String>,
    /// What would have helped, where that is no larger cap.
    pub advice: Option<&'static str>,
    /// What an agent whose call is refused may want to know.
    pub then: &'static str,
}

impl LimitTexts {
    /// What most limits have, for the rest of a row.
    pub const PLAIN: LimitTexts =
        LimitTexts { label: "", short_label: None, stop_reason: "", phrase: "", did: None, advice: None, then: "" };
}
