//! A tree of transcripts as the client keeps them: projects, sessions with subagents, rows in their usual mix and shape.

use std::fmt::Write;
use std::fs;
use std::path::Path;

const SESSIONS: usize = 120;
const SUBAGENTS: usize = 2;
/// Every third session is long: its transcripts have so many times the turns of the others.
const LONG: usize = 4;
const MODELS: [&str; 2] = ["claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"];
/// Sizes of tools' results, in bytes, in turn: many are short, some are whole files.
const RESULTS: [usize; 8] = [200, 900, 400, 6_000, 1_500, 14_000, 300, 9_000];

/// What was written.
pub struct Written {
    /// Files.
    pub files: usize,
    /// Bytes.
    pub bytes: usize,
    /// Bytes of the rows that carry usage.
    pub usage: usize,
    /// Responses.
    pub responses: usize,
}

/// Writes about so many bytes of transcripts below `projects`, the same ones every time.
pub fn write(projects: &Path, bytes: usize) -> Written {
    let mut written = Written { files: 0, bytes: 0, usage: 0, responses: 0 };
    let weights: usize = (0..SESSIONS).map(weight).sum::<usize>() * (SUBAGENTS + 1);
    for session in 0..SESSIONS {
        let id = format!("{session:08x}-0000-4000-8000-000000000001");
        let project = projects.join(format!("-srv-project{}", session % 7));
        let subagents = project.join(&id).join("subagents");
        fs::create_dir_all(&subagents).unwrap();
        for file in 0..=SUBAGENTS {
            let path = match file {
                0 => project.join(format!("{id}.jsonl")),
                _ => subagents.join(format!("agent-a{session:08x}{file:08x}.jsonl")),
            };
            let text = transcript(&id, file, bytes * weight(session) / weights, &mut written);
            written.bytes += text.len();
            written.files += 1;
            fs::write(path, text).unwrap();
        }
    }
    written
}

fn weight(session: usize) -> usize {
    if session.is_multiple_of(3) { LONG } else { 1 }
}

/// Returns the rows of one file.
fn transcript(session: &str, file: usize, bytes: usize, written: &mut Written) -> String {
    let mut text = String::with_capacity(bytes + (32 << 10));
    for turn in 0.. {
        if text.len() >= bytes {
            break;
        }
        let number = written.responses;
        written.responses += 1;
        let before = text.len();
        let said = r#"{"type":"text","text":"I will run the tests and look at what fails."}"#;
        let call = format!(
            r#"{{"type":"tool_use","id":"toolu_{number:012}","name":"Bash","input":{{"command":"cargo test","description":"Run the tests"}}}}"#
        );
        for block in [said, &call] {
            assistant(&mut text, session, (number, turn, file), block);
        }
        written.usage += text.len() - before;
        result(&mut text, session, number);
        filler(&mut text, session, number);
    }
    text
}

/// What ends every row.
fn tail(session: &str, number: usize) -> String {
    let at = format!("2026-11-{:02}T{:02}:{:02}:00.000Z", 1 + number % 19, number % 24, number % 60);
    format!(
        r#""uuid":"{number:08x}-28c3-4f4f-4949-8ddf-d5690ef5968d","timestamp":"{at}","userType":"external","entrypoint":"cli","cwd":"/srv/project","sessionId":"{session}","version":"2.1.328","gitBranch":"main"}}"#
    )
}

fn assistant(text: &mut String, session: &str, (number, turn, file): (usize, usize, usize), block: &str) {
    let model = MODELS[file % MODELS.len()];
    let (write, read, output) = (300 + number % 4_000, 4_000 + turn % 100 * 900, 20 + number % 700);
    let usage = format!(
        r#"{{"input_tokens":12,"cache_creation_input_tokens":{write},"cache_read_input_tokens":{read},"output_tokens":{output},"output_tokens_details":{{"thinking_tokens":0}},"server_tool_use":{{"web_search_requests":0,"web_fetch_requests":0}},"service_tier":"standard","cache_creation":{{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":{write}}},"inference_geo":"","iterations":[],"speed":"standard","fallback_credit":null}}"#
    );
    writeln!(
        text,
        r#"{{"parentUuid":"{number:08x}-7aad-4af9-a189-ac84c428f92c","isSidechain":{},"message":{{"id":"msg_{number:016}","type":"message","role":"assistant","model":"{model}","content":[{block}],"stop_reason":"tool_use","stop_sequence":null,"usage":{usage},"stop_details":null}},"apiBlockIndex":0,"requestId":"req_{number:016}","requestedModel":"{model}","promptCacheRequested":"5m","type":"assistant","effort":"medium","madeBy":"model",{}"#,
        file > 0,
        tail(session, number)
    )
    .unwrap();
}

/// The result of a tool; the client writes it twice, for the model and for itself.
fn result(text: &mut String, session: &str, number: usize) {
    let line = r#"test limits::max_turns::\"counts\" ... ok\n    at src/limits/max_turns.rs:12:5\n"#;
    let result = line.repeat(RESULTS[number % RESULTS.len()] / line.len() + 1);
    writeln!(
        text,
        r#"{{"parentUuid":"{number:08x}-4aab-9ad0-409ae0","isSidechain":false,"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_{number:012}","type":"tool_result","content":"{result}","is_error":false}}]}},"toolUseResult":{{"stdout":"{result}","stderr":"","interrupted":false,"isImage":false}},{}"#,
        tail(session, number)
    )
    .unwrap();
}

/// What else the client notes: the shape of its request, attachments, the last prompt.
fn filler(text: &mut String, session: &str, number: usize) {
    for (kind, bytes) in [("api-request", 1_200), ("attachment", if number.is_multiple_of(3) { 3_900 } else { 0 })] {
        if bytes > 0 {
            let body = "lorem ipsum dolor ".repeat(bytes / 18);
            writeln!(text, r#"{{"type":"{kind}","body":"{body}",{}"#, tail(session, number)).unwrap();
        }
    }
    writeln!(text, r#"{{"type":"last-prompt","lastPrompt":"go on","sessionId":"{session}"}}"#).unwrap();
}
