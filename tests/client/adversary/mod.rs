//! The agent as adversary: each way around a limit that has been thought of, tried by the real client. The table in
//! `docs/threat-model.md` is made of the rows here: `FUSEBOX_REGENERATE=1 cargo test --test client threat_model` writes it.

mod binary;
pub mod clients;
mod commands;
mod dialogs;
mod failing;
mod folders;
mod identity;
mod left_behind;
mod managed;
mod mods;
mod moves;
mod namespaces;
mod paths;
mod peers;
mod plugin;
mod policy;
mod processes;
mod settings;
mod siege;
mod state;
#[cfg(feature = "team")]
mod team;
mod transcripts;
mod trial;
mod turns;
mod twins;
pub mod unasked;

use std::collections::BTreeSet;
use std::path::Path;

/// What comes of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The call that tries it is refused.
    Refused,
    /// It runs, and the limit holds as if it had not.
    NoEffect,
    /// It is reported to the user.
    Noticed,
    /// A process of the same user can do it; the managed install is the remedy.
    OutOfReach,
}

impl Outcome {
    fn title(self) -> &'static str {
        match self {
            Outcome::Refused => "refused",
            Outcome::NoEffect => "no effect on the limit",
            Outcome::Noticed => "noticed, and reported to the user",
            Outcome::OutOfReach => "out of reach",
        }
    }
}

/// One way around a limit.
pub struct Attempt {
    /// What the agent does.
    tries: &'static str,
    outcome: Outcome,
    /// What happens, for people.
    then: &'static str,
    /// The scenario in this folder that tries it.
    scenario: &'static str,
}

/// The files of this folder: their names, texts and rows.
const FILES: &[(&str, &str, &[Attempt])] = &[
    ("binary", include_str!("binary.rs"), binary::ATTEMPTS),
    ("clients", include_str!("clients.rs"), clients::ATTEMPTS),
    ("commands", include_str!("commands.rs"), commands::ATTEMPTS),
    ("dialogs", include_str!("dialogs.rs"), dialogs::ATTEMPTS),
    ("failing", include_str!("failing.rs"), failing::ATTEMPTS),
    ("folders", include_str!("folders.rs"), folders::ATTEMPTS),
    ("identity", include_str!("identity.rs"), identity::ATTEMPTS),
    ("left_behind", include_str!("left_behind.rs"), left_behind::ATTEMPTS),
    ("managed", include_str!("managed.rs"), managed::ATTEMPTS),
    ("mods", include_str!("mods.rs"), mods::ATTEMPTS),
    ("moves", include_str!("moves.rs"), moves::ATTEMPTS),
    ("namespaces", include_str!("namespaces.rs"), namespaces::ATTEMPTS),
    ("paths", include_str!("paths.rs"), paths::ATTEMPTS),
    ("peers", include_str!("peers.rs"), peers::ATTEMPTS),
    ("plugin", include_str!("plugin.rs"), plugin::ATTEMPTS),
    ("policy", include_str!("policy.rs"), policy::ATTEMPTS),
    ("processes", include_str!("processes.rs"), processes::ATTEMPTS),
    ("settings", include_str!("settings.rs"), settings::ATTEMPTS),
    ("state", include_str!("state.rs"), state::ATTEMPTS),
    #[cfg(feature = "team")]
    ("team", include_str!("team.rs"), team::ATTEMPTS),
    ("transcripts", include_str!("transcripts.rs"), transcripts::ATTEMPTS),
    ("turns", include_str!("turns.rs"), turns::ATTEMPTS),
    ("twins", include_str!("twins.rs"), twins::ATTEMPTS),
    ("unasked", include_str!("unasked.rs"), unasked::ATTEMPTS),
];

#[test]
fn the_threat_model_has_every_attempt() {
    let mut rows: Vec<(&str, &Attempt)> =
        FILES.iter().flat_map(|(file, _, rows)| rows.iter().map(|row| (*file, row))).collect();
    rows.sort_by_key(|(_, row)| row.outcome);
    let mut table = "| attempt | outcome | what happens | tried by |\n|---|---|---|---|\n".to_owned();
    for (file, row) in rows {
        let (tries, title) = (row.tries, row.outcome.title());
        table += &format!("| {tries} | {title} | {} | `{file}::{}` |\n", row.then, row.scenario);
    }
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/threat-model.md");
    let page = std::fs::read_to_string(&place).unwrap();
    let (before, rest) = page.split_once("<!-- attempts -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of attempts -->\n").unwrap();
    let new = format!("{before}<!-- attempts -->\n{table}<!-- end of attempts -->\n{after}");
    if std::env::var_os("FUSEBOX_REGENERATE").is_some() {
        std::fs::write(&place, &new).unwrap();
    }
    assert!(page == new || std::env::var_os("FUSEBOX_REGENERATE").is_some(), "docs/threat-model.md is stale");
}

#[test]
fn every_attempt_has_its_scenario_and_every_scenario_its_attempt() {
    for (file, text, rows) in FILES {
        let tried: BTreeSet<&str> = rows.iter().map(|row| row.scenario).collect();
        let scenarios: BTreeSet<&str> =
            text.split("#[test]\nfn ").skip(1).filter_map(|rest| rest.split('(').next()).collect();
        assert_eq!(tried, scenarios, "{file}: the rows beside the tests");
    }
}
