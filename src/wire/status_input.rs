//! What the client writes to the command of its status line: JSON on standard input.

use serde_json::Value;

use crate::domain::plan_window::{PlanWindow, PlanWindows};
use crate::domain::spend::amount::Amount;
use crate::domain::time_units::{HOUR_MS, WEEK_MS};

/// How far the clocks of the server and of this machine may be apart.
const SLACK_MS: i64 = HOUR_MS;

/// What Fusebox reads of it; what is of another type is taken for absent.
#[derive(Debug)]
pub struct StatusInput {
    /// The session.
    pub session_id: String,
    said: Value,
}

impl StatusInput {
    /// Parses what came on standard input.
    pub fn parse(bytes: &[u8]) -> Option<StatusInput> {
        let said: Value = serde_json::from_str(std::str::from_utf8(bytes).ok()?).ok()?;
        let session_id = said.get("session_id")?.as_str().filter(|id| !id.is_empty())?.to_owned();
        Some(StatusInput { session_id, said })
    }

    /// Returns the client's own total of the session, where it says one.
    pub fn total(&self) -> Option<Amount> {
        self.number("/cost/total_cost_usd").filter(|usd| *usd > 0.0).map(Amount::from_usd)
    }

    /// Returns the windows of the plan, where it says them, in per cent and seconds since 1970; `zoned` writes a moment as messages do.
    /// One that begins anew later than it is long is none.
    pub fn plan_windows(&self, now_ms: i64, zoned: impl Fn(i64) -> String) -> PlanWindows {
        let window = |name: &str, longest_ms: i64| {
            let number = |key: &str| self.number(&format!("/rate_limits/{name}/{key}")).filter(|number| *number >= 0.0);
            // What is nearly used up is not taken for all of it.
            let used_percent = number("used_percentage")?.floor() as u64;
            let resets_at_ms = Some((number("resets_at")? * 1000.0) as i64);
            let resets_at_ms = resets_at_ms.filter(|at| at.saturating_sub(now_ms) <= longest_ms + SLACK_MS)?;
            Some(PlanWindow { used_percent, resets_at_ms, resets: zoned(resets_at_ms) })
        };
        PlanWindows { five_hour: window("five_hour", 5 * HOUR_MS), seven_day: window("seven_day", WEEK_MS) }
    }

    fn number(&self, at: &str) -> Option<f64> {
        self.said.pointer(at)?.as_f64()
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
        let windows = input.plan_windows(1_794_990_000_000, |at| at.to_string());
        let five_hour =
            PlanWindow { used_percent: 42, resets_at_ms: 1_795_000_000_000, resets: "1795000000000".into() };
        assert_eq!(windows, PlanWindows { five_hour: Some(five_hour), seven_day: None });
        let in_six_hours = 1_795_000_000_000 - 6 * HOUR_MS;
        assert_eq!(input.plan_windows(in_six_hours, |at| at.to_string()).used_at(0).five_hour, 42);
        assert_eq!(input.plan_windows(in_six_hours - 1, |at| at.to_string()), PlanWindows::default());
        for said in [&b""[..], b"{}", b"[]", b"null", br#"{"session_id":7}"#, br#"{"cost":{"total_cost_usd":1}}"#] {
            assert!(StatusInput::parse(said).is_none());
        }
        for cost in ["{}", "7", r#"{"total_cost_usd":"3"}"#, r#"{"total_cost_usd":-1}"#, "null"] {
            let said = format!(r#"{{"session_id":"s1","cost":{cost},"rate_limits":[]}}"#);
            assert_eq!(StatusInput::parse(said.as_bytes()).unwrap().total(), None, "{cost}");
        }
    }
}
