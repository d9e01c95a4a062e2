//! `docs/config.md`: the prose of `manual.md` around what the tables know.

use std::fmt::Write;

use serde_json::Value;

use fusebox::config::discipline;
use fusebox::config::frontmatter::agentmd_keys;
use fusebox::config::key::{Key, Setter, Takes};
use fusebox::config::keys;
use fusebox::config::layers::{FilePart, Folder, LAYER_FILES, LayerFile, SETTINGS_KEY};
use fusebox::config::limit_name;
use fusebox::config::limit_name::LimitName;
use fusebox::config::place::{BLOCKS, Block};
use fusebox::config::policy::{DECLARED, DEFAULTS, PLAN};
use fusebox::config::rate_windows;
use fusebox::domain::layer::{LAYERS, Layer};
use fusebox::domain::limit::Limit;
use fusebox::domain::scope::Scope;
use fusebox::domain::unit::Unit;
use fusebox::limits::REGISTRY;

const PROSE: &str = include_str!("manual.md");

/// A configuration that shows what there is.
pub const EXAMPLE: &str = include_str!("example.json");

/// Returns the page.
pub fn page() -> String {
    let parts = [
        ("{{example}}", EXAMPLE.trim_end().to_owned()),
        ("{{layers}}", layers()),
        ("{{limits}}", limits()),
        ("{{keys}}", other_keys()),
        ("{{agentmd}}", agentmd_keys().collect::<Vec<_>>().join(", ")),
        ("{{declared}}", DECLARED.trim_end().to_owned()),
        ("{{discipline}}", discipline::STANDARD.trim_end().to_owned()),
        ("{{defaults}}", DEFAULTS.trim_end().to_owned()),
        ("{{plan}}", PLAN.trim_end().to_owned()),
    ];
    parts.iter().fold(PROSE.to_owned(), |page, (name, text)| page.replace(name, text))
}

fn layers() -> String {
    let mut table = String::from("| layer | read from |\n|---|---|\n");
    for (layer, name, owner) in LAYERS.iter().filter(|row| !matches!(row.0, Layer::Grant | Layer::Given)) {
        let files: Vec<String> = LAYER_FILES.iter().filter(|it| it.layer == *layer).map(file).collect();
        let from = if files.is_empty() { (*owner).to_owned() } else { files.join(", then ") };
        row(&mut table, &[name, &from]);
    }
    table.trim_end().to_owned()
}

fn file(source: &LayerFile) -> String {
    let folder = match source.folder {
        Folder::Claude => "~/.claude/",
        Folder::Project => ".claude/",
        Folder::Managed => "/etc/claude-code/",
    };
    match source.part {
        FilePart::Whole => format!("`{folder}{}`", source.file),
        FilePart::Object => format!("`{SETTINGS_KEY}` in `{folder}{}`", source.file),
    }
}

fn limits() -> String {
    let mut table = String::from(
        "| key | unit | range | default | ceiling of subagents' runs | in | example |\n|---|---|---|---|---|---|---|\n",
    );
    for named in limit_name::names() {
        let limit = named.limit;
        let key = if named.name == limit.key { code(limit.key) } else { format!("`{}` = `{}`", named.name, limit.key) };
        let (low, high) = named.range();
        let range = if limit.unit == Unit::Switch { String::new() } else { format!("{low} to {high}") };
        let example = if named.scale == 1 { limit.example } else { "600" };
        let cells = [named.unit(), &range, &default(named), &ceiling(named), &scopes(limit), &code(example)];
        row(&mut table, &[&[key.as_str()][..], &cells].concat());
    }
    for limit in limit_name::windows().map(|named| named.limit) {
        let each = if rate_windows::are_of_tools(limit) { "a list; in each: " } else { "" };
        let takes = format!("{each}{}", rate_windows::value_type(limit).expects());
        row(&mut table, &[&code(limit.key), &takes, "", "none", "none", "the top of a file", &code(limit.example)]);
    }
    for limit in REGISTRY.iter().copied() {
        let _infallible = write!(table, "\n**`{}`** ({}). {}\n", limit.key, limit.texts.label, limit.doc);
    }
    table.trim_end().to_owned()
}

/// Returns what is built in: over a session, for the main agent, and for a subagent whose type has no row of its own.
fn default(named: LimitName) -> String {
    let defaults: Value = serde_json::from_str(DEFAULTS).unwrap_or_default();
    let blocks = [("session", "/session/"), ("main", "/main/"), ("agents", "/agents/*/")];
    let said = blocks.iter().filter_map(|(name, path)| {
        let value = defaults.pointer(&format!("{path}{}", named.limit.key))?;
        Some(format!("`{value}` in `{name}`"))
    });
    let said: Vec<String> = said.filter(|_| named.name == named.limit.key).collect();
    if said.is_empty() { "none".to_owned() } else { said.join(", ") }
}

fn ceiling(named: LimitName) -> String {
    match named.limit.ceiling {
        Some((low, high)) => {
            format!("{} to {}", limit_name::written(named.limit, low), limit_name::written(named.limit, high))
        }
        None => "none".to_owned(),
    }
}

fn scopes(limit: &Limit) -> String {
    let blocks = limit.scopes.iter().map(|scope| match scope {
        Scope::Run => "`main`, `agents`",
        Scope::Session | Scope::Outer => "`session`",
        Scope::Project => "`project`",
        Scope::User => "`user`",
        Scope::Team => "a team",
    });
    blocks.collect::<Vec<_>>().join(", ")
}

fn other_keys() -> String {
    let mut table = String::from("| key | in | takes | default | example |\n|---|---|---|---|---|\n");
    for key in keys::all() {
        let default = (key.default)();
        let default = if default.is_null() { "none".to_owned() } else { code(&default.to_string()) };
        row(&mut table, &[&code(key.name), &place(key), &takes(key), &default, &code(key.example)]);
    }
    for key in keys::all() {
        let _infallible = write!(table, "\n**`{}`**. {}\n", key.name, key.doc);
    }
    table.trim_end().to_owned()
}

fn place(key: &Key) -> String {
    let blocks = |blocks: &[Block]| blocks.iter().map(|it| code(it.name())).collect::<Vec<_>>().join(", ");
    match (key.blocks, key.setter) {
        ([], Setter::Anyone | Setter::Files | Setter::Trusted) => "the top of a file".to_owned(),
        ([], Setter::Owner) => "the top of the user's or the managed file".to_owned(),
        ([], Setter::Managed) => "the top of the managed file".to_owned(),
        ([], Setter::Repository) => "the top of the repository's `.claude/fusebox.json`".to_owned(),
        (all, _) if all.len() == BLOCKS.len() => "every block".to_owned(),
        (some, _) => blocks(some),
    }
}

fn takes(key: &Key) -> String {
    match &key.takes {
        Takes::One(shape) | Takes::Keys(shape) | Takes::Note(shape) => shape.expects(),
        Takes::PerLimit(_) => "an object with a value for each limit".to_owned(),
        Takes::OneOrPerLimit(shape, ..) => format!("{}, or an object with a value for each limit", shape.expects()),
        Takes::Block(_) => "a block of limits".to_owned(),
        Takes::CostOf(_, span) => format!("{}, or `null`", limit_name::on_cost_of(*span).unwrap().expects()),
        Takes::Models => "an object with caps for each pattern of models".to_owned(),
        Takes::Blocks => "an object with a block of limits for each agent type".to_owned(),
    }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn row(table: &mut String, cells: &[&str]) {
    let _infallible = writeln!(table, "| {} |", cells.join(" | "));
}
