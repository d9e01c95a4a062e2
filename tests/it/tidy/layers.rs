//! Which folder of `src` may use which, and which of them decide without touching anything.

use crate::tidy::{Text, check, paths, rust};

/// Which folders of `src` a folder may name in `crate::…`, besides itself.
/// `main.rs`, `lib.rs` and `error.rs` stand for themselves.
const MAY_USE: [(&str, &[&str]); 24] = [
    ("domain", &[]),
    ("limits", &["domain"]),
    ("messages", &["domain"]),
    ("engine", &["domain", "limits", "messages"]),
    ("team", &["domain"]),
    ("config", &["calendar", "domain", "engine", "error", "limits"]),
    ("pricing", &["calendar", "domain", "error", "platform"]),
    ("wire", &["byte_search", "domain", "limits", "messages", "ui"]),
    ("transcript", &["byte_search", "domain", "engine", "error", "messages", "platform", "pricing", "wire"]),
    ("store", &["domain", "engine", "error", "limits", "platform", "team", "ui"]),
    ("report", &["calendar", "domain", "engine", "limits", "messages", "ui", "wire"]),
    ("alerts", &["domain", "limits", "messages", "report", "ui", "wire"]),
    ("screen", &["calendar", "domain", "messages", "report", "ui", "wire"]),
    (
        "replay",
        &["byte_search", "config", "domain", "engine", "error", "platform", "pricing", "transcript", "ui", "wire"],
    ),
    (
        "hook",
        &[
            "byte_search",
            "calendar",
            "config",
            "domain",
            "engine",
            "error",
            "install",
            "messages",
            "platform",
            "pricing",
            "store",
            "transcript",
            "ui",
            "wire",
        ],
    ),
    ("upkeep", &["calendar", "domain", "engine", "error", "hook", "platform", "store", "transcript"]),
    ("install", &["config", "domain", "error", "messages", "platform", "replay", "store", "ui", "wire"]),
    ("doctor", &["config", "domain", "error", "hook", "install", "platform", "pricing", "store", "ui", "wire"]),
    (
        "cmd",
        &[
            "alerts",
            "calendar",
            "config",
            "doctor",
            "domain",
            "engine",
            "error",
            "hook",
            "install",
            "messages",
            "platform",
            "pricing",
            "replay",
            "report",
            "screen",
            "store",
            "team",
            "transcript",
            "ui",
            "upkeep",
            "wire",
        ],
    ),
    ("platform", &["domain", "error", "ui"]),
    ("calendar", &["domain"]),
    ("byte_search", &[]),
    ("ui", &["calendar", "domain"]),
    ("error", &["ui"]),
];

/// The folders that decide: same input, same output.
const PURE: [&str; 14] = [
    "alerts",
    "domain",
    "messages",
    "limits",
    "engine",
    "team",
    "wire",
    "config",
    "pricing",
    "report",
    "screen",
    "ui",
    "calendar",
    "byte_search",
];

/// What would make them depend on anything else.
const IMPURE: [&str; 9] = [
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "SystemTime",
    "Instant",
    "rusqlite",
    "crate::platform",
];

/// The files of pure folders that may touch the world all the same, and why.
const EXCEPT: [(&str, &str); 2] = [
    ("src/config/load.rs", "reads the layers' files for the rest of the folder"),
    ("src/pricing/mod.rs", "reads a person's own prices for the rest of the folder"),
];

#[test]
fn a_folder_uses_only_the_folders_it_may() {
    let mut broken = Vec::new();
    for text in rust() {
        let Some(module) = text.module().filter(|module| !["main", "lib"].contains(module)) else { continue };
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == module) else {
            broken.push(format!("{}: give `{module}` a row in MAY_USE of tests/it/tidy/layers.rs", text.path));
            continue;
        };
        for named in paths::of(&[module.to_owned()], &text.lines.join("\n"), true) {
            let used = named.path[0].as_str();
            let excepted = used == "platform" && is_excepted(&text);
            if used != module && !excepted && !allowed.contains(&used) {
                let what = format!("`{module}` may not use `{used}`: move the code, or pass in what it needs");
                broken.push(format!("{}:{}: {what}", text.path, named.line));
            }
        }
    }
    check(broken);
}

#[test]
fn what_decides_touches_nothing() {
    let mut broken = Vec::new();
    for text in rust().iter().filter(|text| text.module().is_some_and(|module| PURE.contains(&module))) {
        for (line, code) in text.code().filter(|_| !is_excepted(text)) {
            for word in IMPURE.iter().filter(|word| code.contains(**word)) {
                broken.push(format!(
                    "{}:{line}: `{word}` in a pure folder: the caller reads it and passes it in",
                    text.path
                ));
            }
        }
    }
    check(broken);
}

fn is_excepted(text: &Text) -> bool {
    EXCEPT.iter().any(|(path, _)| *path == text.path)
}

#[test]
fn every_exception_is_needed() {
    let texts = rust();
    let needed = |path: &str| {
        let text = texts.iter().find(|text| text.path == path)?;
        text.code().find(|(_, code)| IMPURE.iter().any(|word| code.contains(word)))
    };
    let unneeded = EXCEPT.iter().filter(|(path, _)| needed(path).is_none());
    check(
        unneeded
            .map(|(path, _)| format!("{path}: is pure by now; take it out of EXCEPT in tests/it/tidy/layers.rs"))
            .collect(),
    );
}
