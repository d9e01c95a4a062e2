//! What the client writes to the command of its status line: JSON on standard input.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::domain::amount::Amount;
use crate::domain::plan_window::{PlanWindow, PlanWindows};

/// The fields that Fusebox reads; all others are ignored, and one of another type is taken for absent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct StatusInput {
    /// The session.
    #[serde(deserialize_with = "lenient")]
    pub session_id: String,
    #[serde(deserialize_with = "lenient")]
    cost: Cost,
    #[serde(deserialize_with = "lenient")]
    rate_limits: RateLimits,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cost {
    #[serde(deserialize_with = "lenient")]
    total_cost_usd: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RateLimits {
    #[serde(deserialize_with = "lenient")]
    five_hour: Option<Window>,
    #[serde(deserialize_with = "lenient")]
    seven_day: Option<Window>,
}

/// A window as the client tells it: per cent, and seconds since 1970.
#[derive(Debug, Deserialize)]
struct Window {
    used_percentage: f64,
    resets_at: f64,
}

/// Reads a value of a type, or takes it for absent.
fn lenient<'de, D: Deserializer<'de>, T: serde::de::DeserializeOwned + Default>(from: D) -> Result<T, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).unwrap_or_default())
}

impl StatusInput {
    /// Parses what came on standard input.
    pub fn parse(bytes: &[u8]) -> Option<StatusInput> {
        serde_json::from_slice(bytes).ok().filter(|input: &StatusInput| !input.session_id.is_empty())
    }

    /// Returns the client's own total of the session, where it says one.
    pub fn total(&self) -> Option<Amount> {
        self.cost.total_cost_usd.filter(|usd| usd.is_finite() && *usd > 0.0).map(Amount::from_usd)
    }

    /// Returns the windows of the plan, where it says them; `zoned` writes a moment as messages do.
    pub fn plan_windows(&self, zoned: impl Fn(i64) -> String) -> PlanWindows {
        let window = |told: &Option<Window>| {
            let told = told.as_ref().filter(|told| told.used_percentage >= 0.0 && told.resets_at > 0.0)?;
            let resets_at_ms = (told.resets_at * 1000.0) as i64;
            // What is nearly used up is not taken for all of it.
            let used_percent = told.used_percentage.floor() as u64;
            Some(PlanWindow { used_percent, resets_at_ms, resets: zoned(resets_at_ms) })
        };
        PlanWindows { five_hour: window(&self.rate_limits.five_hour), seven_day: window(&self.rate_limits.seven_day) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_another_type_is_absent_and_the_rest_is_read() {
        let said = br#"{"session_id":"s1","cost":{"total_cost_usd":3.25},"rate_limits":{"five_hour":
            {"used_percentage":42.9,"resets_at":1795000000},"seven_day":{"used_percentage":"x"}},"model":7}"#;
        let input = StatusInput::parse(said).unwrap();
        assert_eq!((input.session_id.as_str(), input.total()), ("s1", Some(Amount::from_usd(3.25))));
        let windows = input.plan_windows(|at| at.to_string());
        let five_hour =
            PlanWindow { used_percent: 42, resets_at_ms: 1_795_000_000_000, resets: "1795000000000".into() };
        assert_eq!(windows, PlanWindows { five_hour: Some(five_hour), seven_day: None });
        for said in [&b""[..], b"{}", b"[]", b"null", br#"{"session_id":7}"#, br#"{"cost":{"total_cost_usd":1}}"#] {
            assert!(StatusInput::parse(said).is_none());
        }
        for cost in ["{}", "7", r#"{"total_cost_usd":"3"}"#, r#"{"total_cost_usd":-1}"#, "null"] {
            let said = format!(r#"{{"session_id":"s1","cost":{cost},"rate_limits":[]}}"#);
            assert_eq!(StatusInput::parse(said.as_bytes()).unwrap().total(), None, "{cost}");
        }
    }
}
