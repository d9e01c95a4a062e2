//! The transcript rows of model responses, as what is charged is read from them.

use std::borrow::Cow;

use crate::byte_search;
use crate::pricing::usage::TokenUsage;
use crate::transcript::field::short;
use crate::transcript::row::{self, Row};
use crate::transcript::usage_row::RawUsage;

/// A row of a model response.
pub struct ResponseRow<'a> {
    /// The `message.id`.
    pub id: Cow<'a, str>,
    /// The model that answered.
    pub model: Cow<'a, str>,
    /// When, by the client's clock; `None` where the row does not say.
    pub at_ms: Option<i64>,
    /// What it used, as far as the row can be believed.
    pub usage: TokenUsage,
    /// The session that made the request, where the row is a fork's copy of another session's.
    pub billed_by: Option<Cow<'a, str>>,
    /// Whether some count was negative, broken or beyond belief, and was left out.
    pub doubtful: bool,
}

/// What a line that holds a usage key is.
pub enum Parsed<'a> {
    /// A response to charge.
    Response(Box<ResponseRow<'a>>),
    /// A response that nobody is billed for, or whose usage is not told.
    Uncounted(Box<ResponseRow<'a>>),
    /// Nothing to charge.
    Other,
    /// A response that cannot be read, and why.
    Broken(String),
}

/// Parses a line that holds a usage key; `replaced` is as for [`row::parse`].
pub fn response<'a>(line: &'a [u8], replaced: &'a mut Vec<u8>) -> Parsed<'a> {
    match row::parse(line, replaced) {
        Ok(row) => of_row(row),
        // The shape of rows that are no responses is not ours to know.
        Err(_) if byte_search::find(br#""type":"assistant""#, line).is_none() => Parsed::Other,
        Err(cause) => Parsed::Broken(cause.to_string()),
    }
}

fn of_row(mut row: Row<'_>) -> Parsed<'_> {
    let is_models = row.is_a_models();
    let Some(message) = row.take_message().filter(|_| is_models) else { return Parsed::Other };
    let (id, model, billed_by, at_ms) = (message.id(), short(message.model.0), row.billed_by(), row.at_ms());
    let is_broken = message.usage.is_other();
    let usage = message.usage.known().filter(|_| !row.is_unmetered.0);
    if id.is_empty() && usage.is_some() {
        return Parsed::Broken("usage without a `message.id`".to_owned());
    }
    let counts = usage.is_some();
    let (usage, doubtful) = usage.map(RawUsage::read).unwrap_or_default();
    let row = Box::new(ResponseRow { id, model, at_ms, usage, billed_by, doubtful: doubtful || is_broken });
    if counts { Parsed::Response(row) } else { Parsed::Uncounted(row) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::usage::{Iteration, PartKind, Tokens};

    const ROW: &str = r#"{"message":{"id":"a","model":"m","usage":{"input_tokens":1,"output_tokens":5}},"type":"assistant",
        "timestamp":"2026-11-20T10:00:00.5Z"}"#;

    /// Parses [`ROW`] with a part of it replaced; `None` where there is nothing to charge.
    fn parse(from: &str, to: &str) -> Option<(TokenUsage, bool)> {
        assert!(ROW.contains(from));
        match response(ROW.replace(from, to).as_bytes(), &mut Vec::new()) {
            Parsed::Response(row) => Some((row.usage, row.doubtful)),
            Parsed::Uncounted(_) | Parsed::Other => None,
            Parsed::Broken(why) => panic!("{why}"),
        }
    }

    #[test]
    fn a_row_says_who_answered_when_and_who_paid() {
        for (more, at_ms, billed_by) in [
            ("", Some(1_795_168_800_500), None),
            (r#","sessionId":"s1""#, Some(1_795_168_800_500), None),
            (r#","requestSessionId":null"#, Some(1_795_168_800_500), None),
            // a fork's copy
            (r#","requestSessionId":"s0","sessionId":"s1""#, Some(1_795_168_800_500), Some("s0")),
        ] {
            let line = ROW.replacen(r#","type""#, &format!(r#"{more},"type""#), 1);
            let mut replaced = Vec::new();
            let Parsed::Response(row) = response(line.as_bytes(), &mut replaced) else { panic!("{line}") };
            let billed = row.billed_by.as_deref();
            assert_eq!((&*row.id, &*row.model, row.at_ms, billed), ("a", "m", at_ms, billed_by));
        }
        let line = ROW.replace("2026-11-20T10:00:00.5Z", "yesterday");
        assert!(matches!(response(line.as_bytes(), &mut Vec::new()), Parsed::Response(row) if row.at_ms.is_none()));
    }

    #[test]
    fn rows_that_cost_nothing_are_skipped() {
        for (from, to) in [
            (r#""model":"m""#, r#""model":"<synthetic>""#),
            (r#""type":"#, r#""isApiErrorMessage":true,"type":"#),
            (r#""type":"#, r#""isUnmetered":true,"type":"#),
            (r#""type":"#, r#""isVirtual":true,"type":"#),
            (r#""type":"assistant""#, r#""type":"user""#),
            (r#"{"input_tokens":1,"output_tokens":5}"#, "null"),
        ] {
            assert_eq!(parse(from, to), None, "{to}");
        }
        assert!(parse(r#""type":"#, r#""isVirtual":false,"isUnmetered":null,"type":"#).is_some());
        let unmetered = ROW.replace(r#""type":"#, r#""isUnmetered":true,"type":"#);
        assert!(matches!(response(unmetered.as_bytes(), &mut Vec::new()), Parsed::Uncounted(row) if row.id == "a"));
        let result = br#"{"type":"user","message":7,"toolUseResult":{"usage":{"output_tokens":5}}}"#;
        assert!(matches!(response(result, &mut Vec::new()), Parsed::Other));
    }

    #[test]
    fn a_count_that_cannot_be_is_left_out() {
        for (output, counted, doubtful) in [
            ("5.0", 5, false),
            ("null", 0, false),
            ("-5", 0, true),
            ("0.5", 0, true),
            ("1e30", 0, true),
            ("18446744073709551615", 0, true),
            (r#""5""#, 0, true),
            ("true", 0, true),
        ] {
            let found = parse(r#""output_tokens":5"#, &format!(r#""output_tokens":{output}"#));
            let expected = TokenUsage { input: 1, output: counted, ..TokenUsage::default() };
            assert_eq!(found, Some((expected, doubtful)), "{output}");
        }
    }

    #[test]
    fn cache_writes_are_split_as_the_client_bills_them() {
        for (fields, write_5m, write_1h) in [
            (r#""cache_creation_input_tokens":100"#, 100, 0),
            (r#""cache_creation_input_tokens":100,"cache_creation":null"#, 100, 0),
            (r#""cache_creation_input_tokens":100,"cache_creation":{"ephemeral_1h_input_tokens":30}"#, 70, 30),
            (r#""cache_creation_input_tokens":100,"cache_creation":{"ephemeral_1h_input_tokens":300}"#, 0, 100),
            (r#""cache_creation":{"ephemeral_1h_input_tokens":30,"ephemeral_5m_input_tokens":7}"#, 7, 30),
        ] {
            let found = parse(r#""input_tokens":1"#, fields);
            let expected = TokenUsage { output: 5, write_5m, write_1h, ..TokenUsage::default() };
            assert_eq!(found, Some((expected, false)), "{fields}");
        }
    }

    #[test]
    fn surcharges_searches_and_passes_are_taken() {
        let part = |kind, model: Option<&str>, output| {
            let tokens = Tokens { output, ..Tokens::default() };
            Iteration { kind, model: model.map(str::to_owned), tokens }
        };
        let one = || TokenUsage { input: 1, output: 5, ..TokenUsage::default() };
        for (fields, usage) in [
            (r#""speed":"fast","inference_geo":"us""#, TokenUsage { fast: true, us: true, ..one() }),
            (r#""speed":"standard","inference_geo":"""#, one()),
            (r#""speed":null,"inference_geo":null,"iterations":null"#, one()),
            (
                r#""server_tool_use":{"web_search_requests":3,"web_fetch_requests":2}"#,
                TokenUsage { web_searches: 3, ..one() },
            ),
            (
                r#""iterations":[{"type":"message","output_tokens":5},{"type":"compaction","output_tokens":9},
                    {"type":"fallback_message","model":"n","output_tokens":2},{"type":"advisor_message","model":"o"}]"#,
                TokenUsage {
                    parts: vec![
                        part(PartKind::Message, None, 5),
                        part(PartKind::Fallback, Some("n"), 2),
                        part(PartKind::Advisor, Some("o"), 0),
                    ],
                    ..one()
                },
            ),
        ] {
            assert_eq!(parse(r#""input_tokens":1"#, &format!(r#""input_tokens":1,{fields}"#)), Some((usage, false)));
        }
    }
}
