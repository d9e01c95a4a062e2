//! `docs/config.md`: the prose of `manual.md` around what the tables know.

use std::fmt::Write;

use crate::config::frontmatter::AGENTMD;
use crate::config::keys::{FUTURE, KEYS, Key, Level, Setter, Takes};
use crate::config::layers::{Folder, Part, SETTINGS_KEY, SOURCES, Source};
use crate::config::policy::{DECLARED, DEFAULTS};
use crate::config::shape::{self, Named};
use crate::engine::policy::{LAYERS, Layer, Scope};
use crate::limits::{Limit, ROSTER};

const PROSE: &str = include_str!("manual.md");

/// A configuration that shows what there is; `fusebox init` starts from less.
pub const EXAMPLE: &str = include_str!("example.json");

/// Returns the page.
pub fn page() -> String {
    let parts = [
        ("{{example}}", EXAMPLE.trim_end().to_owned()),
        ("{{layers}}", layers()),
        ("{{limits}}", limits()),
        ("{{keys}}", other_keys()),
        ("{{future}}", quoted(FUTURE)),
        ("{{agentmd}}", AGENTMD.join(", ")),
        ("{{declared}}", DECLARED.trim_end().to_owned()),
        ("{{defaults}}", DEFAULTS.trim_end().to_owned()),
    ];
    parts.iter().fold(PROSE.to_owned(), |page, (name, text)| page.replace(name, text))
}

fn layers() -> String {
    let mut table = String::from("| layer | read from |\n|---|---|\n");
    for (layer, name, owner) in LAYERS.iter().filter(|row| row.0 != Layer::Grant) {
        let files: Vec<String> = SOURCES.iter().filter(|it| it.layer == *layer).map(file).collect();
        let from = if files.is_empty() { (*owner).to_owned() } else { files.join(", then ") };
        row(&mut table, &[name, &from]);
    }
    table.trim_end().to_owned()
}

fn file(source: &Source) -> String {
    let folder = match source.folder {
        Folder::Claude => "~/.claude/",
        Folder::Project => ".claude/",
        Folder::Managed => "/etc/claude-code/",
    };
    match source.part {
        Part::Whole => format!("`{folder}{}`", source.file),
        Part::Object => format!("`{SETTINGS_KEY}` in `{folder}{}`", source.file),
    }
}

fn limits() -> String {
    let mut table =
        String::from("| key | unit | range | ceiling of subagents' runs | in | example |\n|---|---|---|---|---|---|\n");
    for named in shape::names() {
        let limit = named.limit;
        let key = if named.name == limit.key { code(limit.key) } else { format!("`{}` = `{}`", named.name, limit.key) };
        let (low, high) = named.range();
        let example = if named.scale == 1 { limit.example } else { "600" };
        let cells = [&key, named.unit(), &format!("{low} to {high}"), &ceiling(named), &scopes(limit), &code(example)];
        row(&mut table, &cells);
    }
    for limit in ROSTER {
        let _infallible = write!(table, "\n**`{}`** ({}). {}\n", limit.key, limit.label, limit.doc);
    }
    table.trim_end().to_owned()
}

fn ceiling(named: Named) -> String {
    match named.limit.ceiling {
        Some((low, high)) => {
            format!("{} to {}", shape::written(named.limit, low), shape::written(named.limit, high))
        }
        None => "none".to_owned(),
    }
}

fn scopes(limit: &Limit) -> String {
    let blocks = limit.scopes.iter().map(|scope| match scope {
        Scope::Run => "`main`, `agents`",
        Scope::Session => "`session`",
    });
    blocks.collect::<Vec<_>>().join(", ")
}

fn other_keys() -> String {
    let mut table = String::from("| key | in | takes | default | example |\n|---|---|---|---|---|\n");
    for key in KEYS {
        let default = (key.default)();
        let default = if default.is_null() { "none".to_owned() } else { code(&default.to_string()) };
        row(&mut table, &[&code(key.name), place(key), &takes(key), &default, &code(key.example)]);
    }
    for key in KEYS {
        let _infallible = write!(table, "\n**`{}`**. {}\n", key.name, key.doc);
    }
    table.trim_end().to_owned()
}

fn place(key: &Key) -> &'static str {
    match (key.level, key.setter) {
        (Level::Top, Setter::Anyone) => "the top of a file",
        (Level::Top, Setter::Owner) => "the top of the user's or the managed file",
        (Level::Block, _) => "`session`, `main`, `agents`",
    }
}

fn takes(key: &Key) -> String {
    match &key.takes {
        Takes::One(shape, _) | Takes::Note(shape) => shape.expects(),
        Takes::PerLimit(_) => "an object with a value for each limit".to_owned(),
        Takes::OneOrPerLimit(shape, ..) => format!("{}, or an object with a value for each limit", shape.expects()),
        Takes::Block(_) => "a block of limits".to_owned(),
        Takes::Blocks => "an object with a block of limits for each agent type".to_owned(),
    }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ")
}

fn row(table: &mut String, cells: &[&str]) {
    let _infallible = writeln!(table, "| {} |", cells.join(" | "));
}
