//! The client's own record of which shell commands ran.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// Returns the shell commands below a folder of transcripts that ran, each with the id of its call.
///
/// A call that was refused, rejected or interrupted has a result too, an error that no command gave.
pub fn commands_run(folder: &Path) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    collect(folder, &mut rows);
    let blocks = |kind: &'static str| {
        let all = rows.iter().flat_map(|row| row["message"]["content"].as_array().into_iter().flatten());
        all.filter(move |block| block["type"] == kind)
    };
    let shell = blocks("tool_use").filter(|block| block["name"] == "Bash");
    let commands: HashMap<&str, &str> =
        shell.filter_map(|block| Some((block["id"].as_str()?, block["input"]["command"].as_str()?))).collect();
    let ran = |result: &&Value| {
        result["is_error"] != true || result["content"].as_str().is_some_and(|text| text.starts_with("Exit code"))
    };
    let ids = blocks("tool_result").filter(ran).filter_map(|result| result["tool_use_id"].as_str());
    ids.filter_map(|id| Some((id.to_string(), commands.get(id)?.to_string()))).collect()
}

/// Reads every row of every transcript; a line that is still being written is left out.
fn collect(folder: &Path, rows: &mut Vec<Value>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, rows);
        } else if path.extension().is_some_and(|end| end == "jsonl") {
            let text = fs::read(&path).unwrap();
            rows.extend(String::from_utf8_lossy(&text).lines().filter_map(|line| serde_json::from_str(line).ok()));
        }
    }
}
