//! Finds the faults in an agent's file of checkpoints, as sentences for the agent.

use serde::Deserialize;

use crate::domain::limit_set::Checkpoints;
use crate::domain::text::json_fault;
use crate::domain::text::rfc3339;

/// The file of checkpoints as it was read.
#[derive(Deserialize)]
struct File {
    execution_checkpoints: Vec<Checkpoint>,
}

#[derive(Deserialize)]
struct Checkpoint {
    checkpoint: String,
    #[serde(default)]
    timestamp: String,
}

/// The form of the file, as the agent is shown it.
const FORM: &str = r#"[{"checkpoint": "NAME", "timestamp": "2026-01-22T10:00:00Z"}]"#;

/// Returns every fault of the file's text, or why there is no text.
pub fn problems(rule: &Checkpoints, text: Result<&str, &str>) -> Vec<String> {
    let file = text.map_err(str::to_owned).and_then(|text| {
        serde_json::from_str::<File>(text).map_err(|cause| match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => format!("it holds no `execution_checkpoints` of the form {FORM} ({cause})"),
            Err(_) => format!("it is no JSON: {}", json_fault::words(&cause)),
        })
    });
    match file {
        Ok(file) => order(rule, &file.execution_checkpoints).chain(times(rule, &file.execution_checkpoints)).collect(),
        Err(problem) => vec![problem],
    }
}

/// Returns the checkpoints that are missing, and those that stand before one that they must follow.
fn order<'a>(rule: &'a Checkpoints, kept: &'a [Checkpoint]) -> impl Iterator<Item = String> + use<'a> {
    let mut from = 0;
    let mut last: Option<&str> = None;
    rule.required.iter().filter_map(move |name| {
        let is_it = |one: &Checkpoint| one.checkpoint == *name;
        match (kept.iter().skip(from).position(is_it), last) {
            (Some(at), _) => {
                from += at + 1;
                last = Some(name);
                None
            }
            (None, Some(last)) if kept.iter().any(is_it) => Some(format!("checkpoint {name} does not follow {last}")),
            (None, _) => Some(format!("checkpoint {name} is missing")),
        }
    })
}

/// Returns timestamps that are invalid or go back, and gaps that are too long.
fn times<'a>(rule: &'a Checkpoints, kept: &'a [Checkpoint]) -> impl Iterator<Item = String> + use<'a> {
    let mut before: Option<(&str, i64)> = None;
    kept.iter().filter_map(move |one| {
        let name = one.checkpoint.as_str();
        let Some(at) = rfc3339::parse(&one.timestamp) else {
            return Some(format!("the timestamp of checkpoint {name} is no RFC 3339 time: `{}`", one.timestamp));
        };
        let (last, then) = before.replace((name, at))?;
        let most = rule.max_gap_ms.and_then(|most| i64::try_from(most).ok()).unwrap_or(i64::MAX);
        match at.saturating_sub(then) {
            gap if gap < 0 => Some(format!("checkpoint {name} is dated before {last}")),
            gap if gap > most => {
                Some(format!("checkpoint {name} came {} s after {last}, more than {} s", gap / 1000, most / 1000))
            }
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::layer::Layer;

    /// Checks the faults of a file with these checkpoints, each a name and the minutes and seconds after ten.
    #[track_caller]
    fn check(kept: &[(&str, &str)], said: &[&str]) {
        let list: Vec<_> = kept
            .iter()
            .map(|(name, at)| serde_json::json!({"checkpoint": name, "timestamp": format!("2026-01-22T10:{at}Z")}))
            .collect();
        check_text(Ok(&serde_json::json!({"step": 1, "execution_checkpoints": list}).to_string()), said);
    }

    #[track_caller]
    fn check_text(text: Result<&str, &str>, said: &[&str]) {
        let rule = Checkpoints {
            file: "step.json".to_owned(),
            required: ["START", "RED", "GREEN"].map(str::to_owned).to_vec(),
            max_gap_ms: Some(1_200_000),
            retries: 1,
            layer: Layer::Project,
        };
        assert_eq!(problems(&rule, text), said);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let start = ("START", "00:00");
        check(&[start, ("RED", "15:00"), ("GREEN", "35:00")], &[]);
        check(&[start, ("NOTE", "01:00"), ("RED", "15:00.5"), ("GREEN", "15:00.5"), ("RED", "16:00")], &[]);
        check(&[start, ("RED", "15:00")], &["checkpoint GREEN is missing"]);
        check(&[], &["checkpoint START is missing", "checkpoint RED is missing", "checkpoint GREEN is missing"]);
        check(&[start, ("GREEN", "01:00"), ("RED", "02:00")], &["checkpoint GREEN does not follow RED"]);
        check(&[start, ("red", "01:00"), ("GREEN", "02:00")], &["checkpoint RED is missing"]);
        check(
            &[start, ("RED", "20:01"), ("GREEN", "21:00")],
            &["checkpoint RED came 1201 s after START, more than 1200 s"],
        );
        // a note between two checkpoints shows that work went on
        check(&[start, ("NOTE", "10:00"), ("RED", "25:00"), ("GREEN", "26:00")], &[]);
        check(&[start, ("RED", "09:00"), ("GREEN", "08:00")], &["checkpoint GREEN is dated before RED"]);
        let bad = "the timestamp of checkpoint RED is no RFC 3339 time: `2026-01-22T10:soonZ`";
        check(&[start, ("RED", "soon"), ("GREEN", "08:00")], &[bad]);
    }

    #[test]
    fn a_file_that_says_nothing_is_named() {
        check_text(Err("`step.json` does not exist"), &["`step.json` does not exist"]);
        check_text(Ok("{"), &["it is no JSON: its last `}` is missing at line 1 column 1"]);
        let lacks = "it holds no `execution_checkpoints` of the form [{\"checkpoint\": \"NAME\", \"timestamp\": \
                     \"2026-01-22T10:00:00Z\"}] (missing field `execution_checkpoints` at line 1 column 2)";
        check_text(Ok("{}"), &[lacks]);
        let no_time = "the timestamp of checkpoint START is no RFC 3339 time: ``";
        let rest = ["checkpoint RED is missing", "checkpoint GREEN is missing", no_time];
        check_text(Ok(r#"{"execution_checkpoints":[{"checkpoint":"START"}]}"#), &rest);
    }
}
