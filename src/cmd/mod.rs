//! The command line: one file per command.

pub mod clear_order;
pub mod complete;
pub mod completions;
pub mod config;
mod config_check;
#[cfg(feature = "replay")]
pub mod demo;
pub mod doctor;
pub mod everything;
pub mod explain;
mod explain_last;
pub mod grant;
pub mod grant_args;
pub mod grant_shared;
mod grant_target;
pub mod help;
pub mod hook_watch;
pub mod init;
#[cfg(feature = "suggest")]
pub mod learn;
mod left_team;
mod limit_changes;
#[cfg(any(feature = "screen", feature = "watch"))]
pub mod live_state;
pub mod log;
#[cfg(feature = "metrics")]
pub mod metrics;
mod mistyped;
pub mod next_client;
pub mod off;
pub mod order_giver;
#[cfg(feature = "suggest")]
pub mod past_runs;
pub mod past_sessions;
pub mod pause_stop;
pub mod pricing;
pub mod prune;
pub mod query;
mod read_only;
pub mod reload;
#[cfg(feature = "replay")]
pub mod replay;
pub mod report;
#[cfg(feature = "html")]
pub mod report_page;
pub mod require_human;
pub mod reset;
pub mod resume;
pub mod run;
mod run_again;
mod run_cap;
mod run_command;
pub mod run_exit;
pub mod run_held;
pub mod run_hooks;
mod run_next;
mod run_outcome;
mod run_remarks;
pub mod run_summary;
pub mod session_edit;
pub mod status;
#[cfg(feature = "screen")]
pub mod status_screen;
pub mod statusline;
#[cfg(feature = "suggest")]
pub mod suggest;
pub mod target;
#[cfg(feature = "team")]
pub mod team;
#[cfg(feature = "team")]
mod team_audit;
#[cfg(feature = "team")]
mod team_blocked;
#[cfg(feature = "team")]
mod team_caps;
#[cfg(feature = "team")]
mod team_charges;
#[cfg(feature = "team")]
mod team_demand;
#[cfg(feature = "team")]
mod team_figures;
#[cfg(feature = "team")]
mod team_groups;
#[cfg(feature = "team")]
mod team_init;
#[cfg(feature = "team")]
mod team_join;
#[cfg(feature = "team")]
mod team_leases;
#[cfg(feature = "team")]
mod team_limits;
#[cfg(feature = "team")]
mod team_members;
#[cfg(feature = "team")]
mod team_memberships;
#[cfg(feature = "team")]
mod team_needs;
#[cfg(feature = "team")]
mod team_place;
#[cfg(feature = "team")]
mod team_publish;
#[cfg(feature = "team")]
mod team_report;
#[cfg(feature = "team")]
mod team_shares;
#[cfg(feature = "team")]
mod team_sync;
#[cfg(feature = "team")]
mod team_totals;
#[cfg(feature = "team")]
mod team_write_off;
pub mod trust;
pub mod uninstall;
mod uninstall_left;
pub mod upgrade;
#[cfg(feature = "watch")]
pub mod watch;

use std::process::ExitCode;

use clap::error::ErrorKind as Fault;
use clap::{CommandFactory, Parser, Subcommand};

use crate::error::{Error, ErrorKind, Result};
use crate::hook;
use crate::platform::environment::Environment;
use crate::ui::terminal::plain;

/// A fuse box for Claude Code: stops agents that pass their limits on turns, time, cost or tokens
#[derive(Debug, Parser)]
#[command(name = "fusebox", version, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Everything a person can ask for.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show a recorded runaway, and where limits would have stopped it
    #[cfg(feature = "replay")]
    Demo(demo::Args),
    /// Register Fusebox at Claude Code's hooks
    Init(init::Args),
    /// Take Fusebox out of Claude Code's settings again
    Uninstall(uninstall::Args),
    /// Have the hooks run this very program, where they run a copy
    Upgrade(upgrade::Args),
    /// Run a client headless; exit with 3 and the reason where a limit stopped it
    Run(run::Args),
    /// Prove that the installation works
    Doctor(doctor::Args),
    /// Show sessions and runs with what they have used
    Status(status::Args),
    /// Show what was spent and what tripped
    Report(report::Args),
    /// Tell Prometheus what was spent, what tripped and how things stand
    #[cfg(feature = "metrics")]
    Metrics(metrics::Args),
    /// Tell of agents near a limit, that hang or wait for you; end those that no hook can
    #[cfg(feature = "watch")]
    Watch(watch::Args),
    /// Tell the story of one run or trip
    Explain(explain::Args),
    /// Show the log of trips, grants and ends
    Log(log::Args),
    /// Give a run or session more
    Grant(grant::Args),
    /// Let a paused run or session go on
    Resume(resume::Args),
    /// Hold a run or session until it is resumed
    #[command(after_help = pause_stop::PAUSE_HELP)]
    Pause(pause_stop::Args),
    /// End a run or session at its next event
    #[command(after_help = pause_stop::STOP_HELP)]
    Stop(pause_stop::Args),
    /// Switch the limits of this repository or of a session off for a while
    Off(off::OffArgs),
    /// Switch them on again
    On(off::OnArgs),
    /// Set the counters of a run or session to zero
    Reset(reset::Args),
    /// Make running sessions take the configuration as it is now
    Reload(reload::Args),
    /// Let this repository's files loosen the user's limits
    Trust(trust::Args),
    /// Remove the detail of old sessions; the sums of each day stay
    Prune(prune::Args),
    /// Show or check the configuration
    Config(config::Args),
    /// Show or check the price table
    Pricing(pricing::Args),
    /// Play recorded sessions through a policy, without touching any state
    #[cfg(feature = "replay")]
    Replay(replay::Args),
    /// Suggest limits from past runs
    #[cfg(feature = "suggest")]
    Suggest(suggest::Args),
    /// Share what machines spend with a team
    #[cfg(feature = "team")]
    Team(team::Args),
    /// Print the script by which a shell completes command lines of fusebox
    Completions(completions::Args),
    /// Print what may stand where the cursor is (the scripts of `completions` run this)
    #[command(hide = true)]
    Complete(complete::Args),
    /// Print the line below Claude Code's prompt: JSON on stdin (the client runs this; see `init --statusline`)
    Statusline(statusline::Args),
    /// Answer one hook call: JSON on stdin, JSON or nothing on stdout (the client runs this)
    #[command(after_help = "\
Examples:
  fusebox hook <event.json   what the client does, with an event of docs/events.md in the file")]
    Hook,
}

/// Runs the command line and turns its outcome into an exit code.
pub fn run(env: &Environment) -> ExitCode {
    let cli = match Cli::try_parse_from(env.args()) {
        Ok(cli) => cli,
        Err(said) => return print_help(env, &repeated(env, said)),
    };
    if follows_upgrades(&cli.command) {
        upgrade::follow(env);
    }
    let copied = if only_reads(&cli.command) { read_only::over_copy(env) } else { Ok(None) };
    match copied.and_then(|code| code.map_or_else(|| dispatch(env, cli.command), Ok)) {
        Ok(code) => code,
        Err(error) => {
            print_error(env, &error);
            ExitCode::from(match error.kind {
                ErrorKind::Usage => 2,
                ErrorKind::NoSummary => run::STOPPED,
                _ => 1,
            })
        }
    }
}

/// Whether a person runs a command who may have a newer program than the hooks; not so where a program waits for its answer.
fn follows_upgrades(command: &Command) -> bool {
    let waits = matches!(command, Command::Hook | Command::Complete(_) | Command::Statusline(_));
    !waits && !matches!(command, Command::Upgrade(_) | Command::Uninstall(_))
}

/// Whether a command only tells of the state.
fn only_reads(command: &Command) -> bool {
    matches!(command, Command::Status(_) | Command::Report(_) | Command::Explain(_) | Command::Log(_))
}

fn dispatch(env: &Environment, command: Command) -> Result<ExitCode> {
    match command {
        Command::Hook => Ok(hook::run(env)),
        #[cfg(feature = "replay")]
        Command::Demo(args) => demo::run(env, &args),
        Command::Init(args) => init::run(env, &args),
        Command::Uninstall(args) => uninstall::run(env, &args),
        Command::Upgrade(args) => upgrade::run(env, &args),
        Command::Run(args) => run::run(env, &args),
        Command::Doctor(args) => doctor::run(env, &args),
        Command::Status(args) => status::run(env, &args),
        Command::Statusline(args) => statusline::run(env, &args),
        Command::Report(args) => report::run(env, &args),
        #[cfg(feature = "metrics")]
        Command::Metrics(args) => metrics::run(env, &args),
        #[cfg(feature = "watch")]
        Command::Watch(args) => watch::run(env, &args),
        Command::Explain(args) => explain::run(env, &args),
        Command::Log(args) => log::run(env, &args),
        Command::Grant(args) => grant::run(env, &args),
        Command::Resume(args) => resume::run(env, &args),
        Command::Pause(args) => pause_stop::pause(env, &args),
        Command::Stop(args) => pause_stop::stop(env, &args),
        Command::Off(args) => off::off(env, &args),
        Command::On(args) => off::on(env, &args),
        Command::Reset(args) => reset::run(env, &args),
        Command::Reload(args) => reload::run(env, &args),
        Command::Trust(args) => trust::run(env, &args),
        Command::Config(args) => config::run(env, &args),
        Command::Prune(args) => prune::run(env, &args),
        Command::Pricing(args) => pricing::run(env, &args),
        #[cfg(feature = "suggest")]
        Command::Suggest(args) => suggest::run(env, &args),
        #[cfg(feature = "team")]
        Command::Team(args) => team::run(env, &args),
        #[cfg(feature = "replay")]
        Command::Replay(args) => replay::run(env, &args),
        Command::Completions(args) => completions::run(env, &args),
        Command::Complete(args) => complete::run(env, &args, Cli::command()),
    }
}

/// Returns what clap says of the same words where none of them breaks a line: it repeats them.
fn repeated(env: &Environment, said: clap::Error) -> clap::Error {
    Cli::try_parse_from(words(env)).err().unwrap_or(said)
}

/// Returns the words of the command line; none of them breaks a line.
fn words(env: &Environment) -> Vec<String> {
    let words = env.args().into_iter().skip(1).map(|word| plain(&word.to_string_lossy()));
    std::iter::once("fusebox".to_owned()).chain(words).collect()
}

fn program() -> clap::Command {
    let mut program = Cli::command();
    program.build();
    program
}

/// Prints what clap has to say: help on standard output, or what is wrong with the command line, which it repeats.
fn print_help(env: &Environment, said: &clap::Error) -> ExitCode {
    let fitted = || help::fitted(Cli::command(), env.width()).try_get_matches_from(env.args()).err();
    let text = if said.use_stderr() { None } else { fitted() }.map_or_else(|| said.render(), |said| said.render());
    match (said.use_stderr(), env.colours()) {
        (false, true) => env.print(&text.ansi().to_string()),
        (false, false) => env.print(&text.to_string()),
        (true, _) if said.kind() == Fault::DisplayHelpOnMissingArgumentOrSubcommand => {
            env.eprintln_safe(text.to_string().trim_end());
        }
        (true, _) => env.eprintln_safe(&mistyped::answer(&program(), &words(env), said)),
    }
    ExitCode::from(u8::try_from(said.exit_code()).unwrap_or(2))
}

fn print_error(env: &Environment, error: &Error) {
    env.eprintln_safe(&format!("error: {error}"));
    let is_no_id = error.kind == ErrorKind::Unknown;
    let meant = is_no_id.then(|| mistyped::without_id(&program(), &words(env))).flatten();
    let meant = meant.map(|meant| format!("`{meant}`"));
    if let Some(hint) = meant.as_deref().or(error.advice()) {
        env.eprintln_safe(&format!("  hint: {hint}"));
    }
}
