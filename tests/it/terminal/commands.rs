//! How each command is called where its output is looked at. A command without a row fails the test.

use clap::CommandFactory;
use fusebox::cmd::Cli;
use fusebox::store::Store;

use crate::world::TestWorld;

/// Every command with the ways in which it is called; `HOSTILE` stands for text that a terminal obeys.
pub const CALLS: &[(&str, &[&str])] = &[
    ("", &["HOSTILE", "--HOSTILE", "--help", "--version"]),
    ("hook", &["", "HOSTILE"]),
    ("status", &["", "--all", "--json", "--all --json", "HOSTILE", "s", "--me", "--me=HOSTILE/HOSTILE", "--HOSTILE"]),
    (
        "metrics",
        &["", "--serve HOSTILE", "--serve 0.0.0.0:9464", "--otlp", "--push HOSTILE", "--push 127.0.0.1:9", "--HOSTILE"],
    ),
    (
        "report",
        &[
            "",
            "--since all",
            "--since all --json",
            "--since all --csv",
            "--since all --by session",
            "--since all --by agent",
            "--since all --by model",
            "--since all --by project",
            "--since all --by day",
            "--since all --by week",
            "--since all --by month --json",
            "--since all --by block",
            "--since all --by tool",
            "--since all --by tool --json",
            "--since all --by tool --csv",
            "--until HOSTILE",
            "--since all --by agent --csv",
            "--since all --by model --csv",
            "--since all --by project --csv",
            "--since all --by model --json",
            "--transcripts",
            "--transcripts --by model --csv",
            "--transcripts --by project",
            "--transcripts --json",
            "--transcripts HOSTILE",
            "--since HOSTILE",
            "--by HOSTILE",
        ],
    ),
    ("watch", &["--once", "--once --json", "--uninstall", "--HOSTILE"]),
    ("explain", &["", "--json", "s --json", "HOSTILE", "s", "1", "2", "3", "4", "5"]),
    ("log", &["", "--since all", "--since all --json", "--since HOSTILE"]),
    (
        "grant",
        &[
            "HOSTILE max_turns=+1",
            "s-1 HOSTILE=+1",
            "s-1 max_turns=HOSTILE",
            "s-1 models.HOSTILE.max_turns=+1",
            "s-1",
            "s-2 max_turns=+50",
            "user HOSTILE=+1",
            "user",
            "project max_cost_usd_per_day=+1",
            "--task HOSTILE max_turns=+1",
            "s",
        ],
    ),
    ("pause", &["HOSTILE", "s-3 --reason HOSTILE", "s-3", "--task HOSTILE", "", "s"]),
    ("stop", &["HOSTILE", "s-4 --reason HOSTILE", "s-4", ""]),
    ("resume", &["HOSTILE", "s-3", "s-4 --no-grant", "s-3 --grant HOSTILE", "--task HOSTILE", ""]),
    ("off", &["HOSTILE", "--for HOSTILE", "--for 1h", "s"]),
    ("on", &["HOSTILE", "", "s"]),
    ("reset", &["HOSTILE", "s-3", "s"]),
    ("off", &["HOSTILE", "--for HOSTILE", "s-3 --for 1h", ""]),
    ("on", &["HOSTILE", "s-3", ""]),
    ("reload", &["", "--all"]),
    ("trust", &["", "--revoke"]),
    ("prune", &["--dry-run", "--dry-run --json", "--older-than HOSTILE"]),
    ("config show", &["", "--json", "--agent HOSTILE", "--agent general-purpose"]),
    ("config check", &[""]),
    ("config schema", &[""]),
    ("config", &["HOSTILE"]),
    ("pricing show", &["", "--json"]),
    ("pricing check", &[""]),
    ("pricing", &["HOSTILE"]),
    ("suggest", &["", "--json", "HOSTILE", "--since HOSTILE", "--scope HOSTILE", "--write", "--write --yes"]),
    (
        "replay",
        &[
            "",
            "HOSTILE",
            "--since all --json",
            "--since HOSTILE",
            "--until HOSTILE",
            "../home/.claude/projects",
            "../home/.claude/projects --json",
            "../home/.claude/projects --config hostile.json",
            "../home/.claude/projects --config HOSTILE",
        ],
    ),
    ("team init", &["HOSTILE", "core --time-zone HOSTILE"]),
    ("team join", &["HOSTILE"]),
    ("team leave", &["", "HOSTILE"]),
    ("team sync", &["", "HOSTILE"]),
    ("team invite", &["HOSTILE", "HOSTILE --remove"]),
    ("team members", &["", "HOSTILE"]),
    ("team limit", &["", "HOSTILE", "month=HOSTILE", "month=5 --user HOSTILE"]),
    ("team limits", &["", "--json", "HOSTILE"]),
    ("team group", &["", "HOSTILE", "HOSTILE --add HOSTILE"]),
    ("team contact", &["", "HOSTILE"]),
    ("team grant", &["HOSTILE", "HOSTILE +5", "+HOSTILE"]),
    ("team write-off", &["", "HOSTILE"]),
    ("team status", &["", "HOSTILE"]),
    ("team report", &["", "--by HOSTILE", "--days HOSTILE", "--audit --tolerance HOSTILE"]),
    ("team", &["HOSTILE"]),
    ("doctor", &["", "--json"]),
    ("run", &["-- HOSTILE", "-- true"]),
    (
        "init",
        &[
            "--dry-run",
            "--scope user --dry-run",
            "--scope project --dry-run",
            "--scope HOSTILE",
            "--scope project",
            "--scope user",
        ],
    ),
    ("statusline", &["", "--with HOSTILE", "HOSTILE"]),
    ("uninstall", &["", "--scope user", "--scope HOSTILE"]),
    ("demo", &["", "HOSTILE"]),
    ("upgrade", &["", "HOSTILE"]),
    ("completions", &["bash", "zsh", "fish", "powershell", "HOSTILE"]),
    ("complete", &["HOSTILE", "init --scope HOSTILE", "-- init --sc"]),
];

#[test]
fn every_command_is_called() {
    let program = Cli::command();
    let mut missing = Vec::new();
    for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
        let below: Vec<_> = command.get_subcommands().filter(|below| below.get_name() != "help").collect();
        let names = match below[..] {
            [] => vec![command.get_name().to_owned()],
            _ => below.iter().map(|below| format!("{} {}", command.get_name(), below.get_name())).collect(),
        };
        missing.extend(names.into_iter().filter(|name| CALLS.iter().all(|(called, _)| called != name)));
    }
    assert_eq!(missing, Vec::<String>::new(), "give each of these commands a row in CALLS");
}

/// Returns the ids of sessions and runs that have something of a terminal's in them, or in their agent's type.
pub fn ids(world: &TestWorld) -> Vec<(String, String)> {
    let store = Store::open_for(&world.path("state"), None).unwrap();
    let sessions = store.sessions_since(i64::MIN).unwrap();
    let runs = sessions.iter().flat_map(|session| store.runs_of(&session.id).unwrap());
    let hostile = runs.filter(|run| run.id.contains("FORGED") || run.agent_type.contains("FORGED"));
    hostile.map(|run| (run.session, run.id)).collect()
}
