//! A transcript of any bytes, that grows while it is read: each response is charged once, whatever the pieces are, and no row
//! takes back what another has counted.

#![no_main]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use fusebox::domain::spend::meters::Spend;
use fusebox::domain::session::Session;
use fusebox::engine::session_state::SessionState;
use fusebox::pricing::table::Table;
use fusebox::transcript::charges::Memory;
use fusebox::transcript::cursor::{self, Chunk};
use fusebox::transcript::field::short;
use fusebox::transcript::ingest::TranscriptIngest;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// What a session was charged, by `message.id`.
type Charged = BTreeMap<String, Spend>;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, bytes).unwrap();
    let whole = cursor::read_from(&path, 0, None).unwrap();
    assert_eq!(cursor::read_from(&path, 0, None).unwrap(), whole, "read twice");
    sound(&whole, bytes);
    nothing_is_free(&whole, bytes);

    let at_once = charged(&path, bytes, &[]);
    assert_eq!(at_once.len(), whole.responses.len(), "each id once");
    let in_pieces = charged(&path, bytes, &cuts(bytes));
    assert!(at_once.keys().eq(in_pieces.keys()), "{at_once:?}\n{in_pieces:?}");
    for (id, spend) in &in_pieces {
        assert_eq!(spend.requests, 1, "{id}");
        assert!(spend.tokens <= at_once[id].tokens && spend.cache_reads <= at_once[id].cache_reads, "{id}");
    }
    let hostile = [&bytes[..whole.offset as usize], taken_back(&whole).as_bytes()].concat();
    assert_eq!(charged(&path, &hostile, &[whole.offset as usize]), at_once, "negative usage");
});

/// What holds of every chunk.
fn sound(chunk: &Chunk, bytes: &[u8]) {
    let lines_end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    assert_eq!(chunk.offset, lines_end as u64, "reading goes on after the last complete line");
    assert!(chunk.suspicious.len() <= 20, "doubts have an end");
    let mut ids: Vec<&str> = chunk.responses.iter().map(|response| response.id.as_str()).collect();
    ids.sort_unstable();
    assert!(ids.iter().all(|id| !id.is_empty()) && ids.is_sorted_by(|one, next| one < next), "{ids:?}");
}

/// A plain reading of each line as JSON finds the same responses, where no line is in doubt.
fn nothing_is_free(chunk: &Chunk, bytes: &[u8]) {
    if !chunk.suspicious.is_empty() {
        return;
    }
    for line in bytes[..chunk.offset as usize].split(|byte| *byte == b'\n') {
        let has = |text: &str| line.windows(text.len()).any(|window| window == text.as_bytes());
        let Ok(row) = serde_json::from_slice::<Value>(line) else { continue };
        let made_up = ["isApiErrorMessage", "isUnmetered", "isVirtual"].iter().any(|flag| row[*flag] == true);
        let message = &row["message"];
        let id = message["id"].as_str().unwrap_or_default();
        let costs = message["usage"].is_object() && !made_up && message["model"] != "<synthetic>" && !id.is_empty();
        if has(r#""usage":"#) && has(r#""type":"assistant""#) && row["type"] == "assistant" && costs {
            let kept = short(id.into());
            assert!(chunk.responses.iter().any(|response| response.id == kept), "`{kept}` is not found");
        }
    }
}

/// Reads a transcript that is written piece by piece.
fn charged(path: &Path, bytes: &[u8], cuts: &[usize]) -> Charged {
    let table = Table::embedded();
    let mut session_state = SessionState::new(Session { id: "s".to_owned(), ..Session::default() });
    session_state.session.position.path = path.display().to_string();
    let mut ingest = TranscriptIngest::new(Memory::default(), &table);
    let mut file = File::create(path).unwrap();
    let mut written = 0;
    let mut before = Charged::new();
    for cut in cuts.iter().copied().chain([bytes.len()]) {
        file.write_all(&bytes[written..cut]).unwrap();
        written = cut;
        ingest.main(&mut session_state, None).unwrap();
        let now: Charged = ingest.charges.all().map(|charge| (charge.message.clone(), charge.spend)).collect();
        for (id, spend) in &before {
            assert!(spend.cost <= now[id].cost && spend.tokens <= now[id].tokens, "`{id}` shrank");
        }
        before = now;
    }
    before
}

/// Places to cut a text at: some, anywhere, and always the same for the same text.
fn cuts(bytes: &[u8]) -> Vec<usize> {
    let mut state = bytes.iter().fold(bytes.len() as u64, |state, byte| state.rotate_left(7) ^ u64::from(*byte));
    let mut cuts = Vec::new();
    for _ in 0..4 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        cuts.push((state >> 33) as usize % (bytes.len() + 1));
    }
    cuts.sort_unstable();
    cuts
}

/// Returns rows that would take back everything that was counted.
fn taken_back(chunk: &Chunk) -> String {
    let row = |id: &str| {
        let usage = r#"{"input_tokens":-1000000,"output_tokens":-5,"cache_read_input_tokens":-1e30}"#;
        let id = Value::from(id);
        format!(r#"{{"type":"assistant","message":{{"id":{id},"model":"claude-opus-5-5","usage":{usage}}}}}"#) + "\n"
    };
    chunk.responses.iter().map(|response| row(&response.id)).collect()
}
