//! `fusebox statusline`: the client runs it, with JSON on standard input, and shows what it prints below the prompt.
//!
//! It says what is wrong on standard output and ends well: of a command that fails the client shows nothing.

use std::process::ExitCode;
use std::time::Duration;

use crate::calendar::Zone;
use crate::domain::session::{Run, Session};
use crate::error::{Error, Result};
use crate::hook::origin::sender;
use crate::hook::policy;
use crate::hook::reconcile::catch_up;
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::platform::run_command::Program;
use crate::report::rows::SessionRows;
use crate::report::status_line::{self, StatusLineSource};
use crate::report::team_budget;
use crate::store::{self, Store};
use crate::ui::style::{Colour, Terminal};
use crate::upkeep::client_figures;
use crate::wire::status_input::StatusInput;

/// How many characters fit the line where the client does not say.
const UNKNOWN: usize = 200;
/// How many of the terminal's columns the client keeps free beside the line, as client 2.1.332 shows it: two on each side. What does
/// not fit between them it cuts.
const MARGINS: usize = 4;
/// The most bytes that the client writes.
const MOST_BYTES: usize = 1 << 20;
/// The most runs that are looked at.
const MOST_RUNS: usize = 64;
/// How long another command may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Arguments of `fusebox statusline`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fusebox init --statusline                   put it into Claude Code's settings, where no other status line is
  fusebox statusline --with 'ccstatusline'    print another command's lines first, then ours; it gets the same input")]
pub struct Args {
    /// Print what this shell command prints, too: it stands first
    #[arg(long, value_name = "COMMAND")]
    with: Option<String>,
}

/// Prints the line.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    if env.is_attended() {
        return Err(Error::usage("the client runs this command, with JSON on standard input")
            .hint("`fusebox init --statusline` puts it into Claude Code's settings; `fusebox status` is for people"));
    }
    let bytes = env.stdin(MOST_BYTES, Vec::clear);
    // The client ends this command where there is news before it has answered: its figures are taken first.
    let line = line(env, &bytes).unwrap_or_else(|error| format!("fusebox: {error}"));
    let before = args.with.as_ref().map(|command| others(command, &bytes)).unwrap_or_default();
    env.print_data(&format!("{before}{line}\n"));
    Ok(ExitCode::SUCCESS)
}

/// Returns what another command prints for the same input.
fn others(line: &str, bytes: &[u8]) -> String {
    match Program::shell(line).run(bytes, PATIENCE) {
        Ok(Some(ran)) => {
            let said = String::from_utf8_lossy(&ran.out).trim_end().to_owned();
            if said.is_empty() { said } else { said + "\n" }
        }
        Ok(None) => format!("fusebox: `{line}` gave no answer within {} s\n", PATIENCE.as_secs()),
        Err(cause) => format!("fusebox: `{line}`: {cause}\n"),
    }
}

fn line(env: &Environment, bytes: &[u8]) -> Result<String> {
    let input = StatusInput::parse(bytes).ok_or_else(|| Error::failed("the client's input is not known here"))?;
    let unknown =
        || "fusebox: nothing of this session is counted yet; `fusebox doctor` says whether it will be".to_owned();
    let folder = store::folder(env)?;
    if !file_info::exists(&folder.join(store::FILE)) {
        return Ok(unknown());
    }
    let store = Store::open_for(&folder, Some(&input.session_id))?;
    let Some(mut session) = store.session(&input.session_id)?.filter(|session| !session.is_altered) else {
        store.leave();
        return Ok(unknown());
    };
    let now = env.now();
    let policy = session.policy.map(|id| policy::stored::stored(&store, id)).transpose()?.unwrap_or_default();
    let zone = Zone::named(policy.time_zone());
    let plan = input.plan_windows(now.wall_ms, |at_ms| zone.stamp(at_ms));
    if sender::is_from_client(env, &session) {
        session = client_figures::take(&store, session, input.total(), &plan)?;
    }
    let mut runs = at_work(&store, &session)?;
    if !runs.iter().any(|run| run.working) && catch_up::has_grown(&session.position) {
        // The client writes the last response of a turn after the last event of it.
        catch_up::catch_up(env, &store, &input.session_id)?;
        session = store.session(&input.session_id)?.unwrap_or(session);
        runs = at_work(&store, &session)?;
    }
    let budgets = store.shared_budgets()?;
    let rows = SessionRows { runs, session: *session, ..SessionRows::default() };
    store.leave();
    let colour = if env.var("NO_COLOR").is_some() { Colour::Off } else { Colour::On };
    let (billing, cost_source) = (policy.billing().unwrap_or_default(), policy.cost_source());
    let width = if env.var("COLUMNS").is_some() { env.width() - MARGINS } else { UNKNOWN };
    let page = Terminal { width, table_width: width, colour, zone, billing, cost_source, folder: String::new() };
    let budgets = team_budget::with_team(std::slice::from_ref(&rows), &budgets, now);
    Ok(status_line::text(StatusLineSource { rows: &rows, budgets: &budgets, plan: &plan, now }, &page))
}

/// Returns the runs of a session that may be at work.
fn at_work(store: &Store, session: &Session) -> Result<Vec<Run>> {
    let mut ids: Vec<&String> = session.open.iter().take(MOST_RUNS).chain(&session.main).collect();
    ids.sort_unstable();
    ids.dedup();
    let runs: Result<Vec<Option<Run>>> = ids.into_iter().map(|id| store.run(&session.id, id)).collect();
    Ok(runs?.into_iter().flatten().collect())
}
