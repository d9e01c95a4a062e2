//! `fusebox run`: runs a client headless and says what the client does not: that a limit stopped it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cmd::run_held::HeldLookout;
use crate::cmd::run_summary::{self, Ended};
use crate::config::load;
use crate::config::problem::nearest;
use crate::domain::mode::Mode;
use crate::domain::record::Record;
use crate::domain::scope::Scope;
use crate::domain::session::{MAIN, Order, Run, Session, Status};
use crate::error::{Error, Result};
use crate::hook::background::prune_due::DAY_MS;
use crate::messages::advice::{self, Stopped as Holder};
use crate::messages::next_step::NextStep;
use crate::messages::{notices, to_people};
use crate::platform::environment::Environment;
use crate::platform::foreground;
use crate::report::{log_lines, suggestion};
use crate::store::event::Numbered;
use crate::store::{self, Store, health, trust};
use crate::ui::formats::counted;
use crate::ui::terminal::plain;
use crate::wire::messages;
use crate::wire::user_lines::{self, beside_command};

/// The variable that marks the sessions of one `fusebox run`.
const MARK: &str = "FUSEBOX_RUN";

/// The exit code where a limit stopped the client's work.
const STOPPED: u8 = 3;

/// The client's option by which it writes down nothing of what its agents spend.
const KEEPS_NO_TRANSCRIPT: &str = "--no-session-persistence";

/// The options of `fusebox run`, and how each is typed.
const OPTIONS: [(&str, &str); 2] = [("--strict", "--strict"), ("--summary", "--summary FILE")];

/// What a signal's number is added to in an exit code.
const SIGNALS: u8 = 128;

/// What a record says of calls that no hook was asked about.
const UNASKED: &str = "without Fusebox being asked";

/// Arguments of `fusebox run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit codes: the client's own; 3 where a limit or a person stopped or paused its
main agent, or blocked its prompt; 1 where the client cannot be started; 128 and
the signal's number where a signal was handed on to it.
On standard error it says also what did not end it: mistakes in the configuration,
subagents that were stopped, calls that went by without Fusebox being asked, limits
that were off or only observed, a damaged state that was set aside. --strict makes
each of them exit 3, and does not start the client where the configuration has mistakes.

Examples:
  fusebox run -- claude -p 'fix the tests'
  fusebox run --strict -- claude -p 'fix the tests' --output-format json
  fusebox run --summary summary.json -- claude -p 'fix the tests'")]
pub struct Args {
    /// Exit with 3 where anything was not as the limits have it, too
    #[arg(long)]
    strict: bool,
    /// Write what came of it into a file, as JSON: the exit codes, what is said on standard error, and the sessions as in `status --json`
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// The client and its arguments: `claude -p "fix the tests"`
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs `fusebox run`.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(Error::usage("there is no command to run"));
    };
    if program.to_string_lossy().starts_with('-') {
        let error = Error::usage(format!("`{}` is no option of `fusebox run`, and no program", program.display()));
        let near = nearest(&program.to_string_lossy(), OPTIONS.map(|(option, _)| option));
        return Err(match OPTIONS.iter().find(|(option, _)| Some(*option) == near) {
            Some((_, typed)) => error.hint(format!("`fusebox run {typed} -- claude …`")),
            None => {
                error.hint("the client's own options stand behind its name: `fusebox run -- claude -p 'fix the tests'`")
            }
        });
    }
    let now = env.now();
    let mark = format!("{:x}-{:x}-{:x}", now.boot, now.mono_ms, env.pid());
    let mut remarks = mistakes(env);
    if args.strict && !remarks.is_empty() {
        remarks.push(to_people::run_not_begun());
        say(env, &remarks);
        return end(env, args, &Ended { exit_code: STOPPED, remarks, ..Ended::default() });
    }
    let asides = || store::folder(env).map(|folder| health::asides(&folder)).unwrap_or_default();
    let known = asides();
    let lookout = holds(env).then(|| HeldLookout::begin(env, &mark, now.wall_ms - DAY_MS)).flatten();
    let code = foreground::run(program, arguments, (MARK, &mark))?;
    drop(lookout);
    let mut ended = Ended { client_exit_code: Some(code), ..Ended::default() };
    match Store::open(env).and_then(|store| outcome(&store, &mark, now.wall_ms - DAY_MS)) {
        Ok(outcome) => {
            let unseen = outcome.sessions.is_empty().then(|| unseen(program, arguments));
            ended.stopped = outcome.stopped.as_ref().map(Stopped::whole);
            let stopped = outcome.stopped.map(|stopped| stopped.sentence(&args.command));
            remarks.extend(stopped.into_iter().chain(outcome.remarks).chain(unseen));
            say(env, &outcome.warned);
            (ended.warned, ended.sessions) = (outcome.warned, outcome.sessions);
        }
        Err(error) => remarks.push(to_people::run_unknown(error)),
    }
    let lost = asides().into_iter().filter(|aside| !known.contains(aside));
    remarks.extend(lost.map(|aside| notices::state_set_aside(aside.display())));
    let is_estimated = args.command.iter().any(|argument| argument == KEEPS_NO_TRANSCRIPT);
    remarks.extend(is_estimated.then(to_people::run_estimated));
    say(env, &remarks);
    let is_three = ended.stopped.is_some() || args.strict && !remarks.is_empty();
    ended.exit_code = if is_three { STOPPED } else { code };
    if let Some(signal) = code.checked_sub(SIGNALS).filter(|signal| (1..=64).contains(signal)) {
        say(env, &[to_people::run_signal(signal, ended.exit_code)]);
    }
    ended.remarks = remarks;
    end(env, args, &ended)
}

/// Says that no hook was heard; the client may not have begun over an option that stands among its own.
fn unseen(program: &OsStr, arguments: &[OsString]) -> String {
    let is_among = |option: &str| arguments.iter().any(|it| it.to_string_lossy().split('=').next() == Some(option));
    match OPTIONS.iter().find(|(option, _)| is_among(option)) {
        Some((option, typed)) => to_people::run_option_behind(option, typed, program.display()),
        None => to_people::run_unseen(NextStep::Doctor),
    }
}

/// Writes down what came of a command, where that was asked for; returns the exit code.
fn end(env: &Environment, args: &Args, ended: &Ended) -> Result<ExitCode> {
    if let Some(path) = &args.summary {
        run_summary::write(env, path, ended)?;
    }
    Ok(ExitCode::from(ended.exit_code))
}

/// Says on standard error what the client does not.
fn say(env: &Environment, remarks: &[String]) {
    for remark in remarks {
        env.eprintln_safe(&plain(&format!("fusebox: {remark}")));
    }
}

/// Says what is wrong in the configuration: a limit that is not read does not hold.
fn mistakes(env: &Environment) -> Vec<String> {
    let (_, problems) = load::load(env, &env.folder(), trust::is_trusted(env, &env.folder()));
    problems.iter().filter(|problem| problem.is_error()).map(ToString::to_string).collect()
}

/// Whether the configuration has pauses hold the next call.
fn holds(env: &Environment) -> bool {
    load::load(env, &env.folder(), trust::is_trusted(env, &env.folder())).0.pause_wait_ms() > 0
}

/// How a client's work went, as the state has it.
#[derive(Default)]
struct Outcome {
    /// The sessions of it that were seen.
    sessions: Vec<String>,
    /// Why its main agent was stopped, if it was.
    stopped: Option<Stopped>,
    /// What a person should know beside that.
    remarks: Vec<String>,
    /// Which limits were passed that only warn: that is as it was set up.
    warned: Vec<String>,
}

/// What a limit or a person did to the main agent, in a sentence.
enum Stopped {
    /// Its prompt was not sent: the sentence, and the session.
    Blocked(String, String),
    /// It was stopped or paused.
    Ended(String),
}

impl Stopped {
    /// Returns all of the sentence.
    fn whole(&self) -> String {
        let (Stopped::Blocked(sentence, _) | Stopped::Ended(sentence)) = self;
        sentence.clone()
    }

    /// Returns the sentence; of what the client has said itself only what it has not.
    fn sentence(self, command: &[OsString]) -> String {
        match self {
            Stopped::Blocked(_, id) if prints_its_result(command) => to_people::run_blocked_said(id),
            Stopped::Blocked(sentence, _) | Stopped::Ended(sentence) => sentence,
        }
    }
}

/// Whether a command is the client that prints its result as text: that of a blocked prompt is the reason.
fn prints_its_result(command: &[OsString]) -> bool {
    let is_client = command.first().is_some_and(|program| Path::new(program).file_stem() == Some("claude".as_ref()));
    is_client && !command.iter().any(|argument| argument.to_string_lossy().ends_with("json"))
}

fn outcome(store: &Store, mark: &str, since_ms: i64) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for session in &store.sessions_of_launcher(mark, since_ms)? {
        outcome.sessions.push(session.id.clone());
        if outcome.stopped.is_none() {
            outcome.stopped = stopped(store, session)?;
        }
        outcome.remarks.extend(remarks(store, session)?);
        outcome.warned.extend(warned(&store.records_of(&session.id)?));
    }
    Ok(outcome)
}

/// Says which subagents of a session were stopped, and which calls went by.
fn remarks(store: &Store, session: &Session) -> Result<Vec<String>> {
    let runs = store.runs_of(&session.id)?;
    let ended = runs.iter().filter(|run| !run.is_main() && is_ended(run.status));
    let of_run = |run: &Run| {
        let why = run.order.as_ref().map(order).or_else(|| run.error.clone()).unwrap_or_default();
        let next = NextStep::Explain { id: messages::short(&run.id).to_owned() };
        to_people::run_subagent(&run.agent_type, run.status.deed(), why, next)
    };
    let records = store.records_of(&session.id)?;
    let off = session.limits_off.as_ref().filter(|off| off.since_ms <= session.last.wall_ms);
    let off = off.map(|_| to_people::run_limits_off());
    let mut sets = std::iter::once(&session.limits).chain(runs.iter().map(|run| &run.limits));
    let struck = would_have_struck(&records);
    let observed = match session.mode {
        Mode::Observe => Some(to_people::run_observed(struck)),
        Mode::Enforce => sets.any(|limits| limits.observed.is_some()).then(|| to_people::run_observed_in_part(struck)),
    };
    let refused = session.refuses_repository.then(to_people::repository_refused);
    let silent = Some(session.silent_clients.count).filter(|count| *count > 0);
    let silent = silent.map(|count| {
        let next = NextStep::Explain { id: messages::short(&session.id).to_owned() };
        to_people::run_silent(counted(count, "client"), next)
    });
    let unasked = records.into_iter().map(|(_, _, record)| record.error).filter(|error| error.contains(UNASKED));
    Ok(ended.map(of_run).chain(off).chain(observed).chain(refused).chain(silent).chain(unasked).collect())
}

/// Says which limits only warned, each once.
fn warned(records: &[Numbered]) -> Vec<String> {
    let only_warned = |record: &&Record| record.mode.is_empty() && record.percent.is_none() && record.action == "warn";
    each_once(records, only_warned).into_iter().map(to_people::run_warned).collect()
}

/// Names the limits that would have blocked, where they had not only been observed, each once; empty where there are none.
fn would_have_struck(records: &[Numbered]) -> String {
    let is_observed = |record: &&Record| !record.mode.is_empty() && record.percent.is_none() && record.action != "warn";
    let struck = each_once(records, is_observed);
    if struck.is_empty() { String::new() } else { format!(": {} would have struck", struck.join(", ")) }
}

/// Returns the figures of the limits that some records are about, each once.
fn each_once(records: &[Numbered], keep: impl Fn(&&Record) -> bool) -> Vec<String> {
    let mut each: Vec<String> = Vec::new();
    for figures in records.iter().map(|row| &row.2).filter(keep).filter_map(log_lines::figures) {
        if !each.contains(&figures) {
            each.push(figures);
        }
    }
    each
}

/// Whether a limit or a person has ended or held a run.
fn is_ended(status: Status) -> bool {
    matches!(status, Status::Failed | Status::Paused | Status::Stopped)
}

/// Says why an order ended work, with the reason that was given for it.
fn order(order: &Order) -> String {
    beside_command(&order.finding) + &messages::because(order.reason.as_ref())
}

/// Says how the work of a stopped main agent goes on: what has to be given or lifted before, and the prompt that takes it up.
fn next_step(session: &Session, run: &Run, held: Option<&Order>) -> String {
    let again = suggestion::takes_up(&session.id, session.launcher.as_deref());
    let step = held.map(|order| {
        let finding = &order.finding;
        let stopped = if finding.ends_session() { Holder::Session } else { Holder::MainRun };
        let id = if finding.scope == Scope::Run { &run.id } else { &session.id };
        advice::lifts(finding, stopped, id)
    });
    match step {
        Some(step @ (NextStep::Passes { .. } | NextStep::Administrator)) => format!("{step} Then `{again}`"),
        Some(step) => match step.command() {
            Some(command) => format!("`{command}`, then `{again}`"),
            None => format!("`{again}`"),
        },
        None => format!("`{again}`"),
    }
}

/// Says how a blocked prompt is sent again: what has to be given or lifted before, and the command with the whole id.
fn sent_again(step: &NextStep, session: &str) -> String {
    let again = format!("again with `--resume {}`", plain(session));
    match step.command() {
        Some(command) => format!("`{command}`, then {again}"),
        None => format!("{step} Then {again}"),
    }
}

/// Returns why a session's main agent was stopped; what happened to its subagents, it could work on with.
fn stopped(store: &Store, session: &Session) -> Result<Option<Stopped>> {
    let runs = store.runs_of(&session.id)?;
    let main = runs.iter().rfind(|run| run.agent_type == MAIN);
    let run = match (main.filter(|run| is_ended(run.status)), &session.prompt_block) {
        // What was kept back opened a run that has done nothing.
        (run, Some(why)) if run.is_none_or(|run| run.order.is_none()) => {
            let id = session.id.clone();
            let next = match main {
                Some(main) => sent_again(&user_lines::unblocks(session, main, why), &id),
                None => NextStep::Status { id: messages::short(&id).to_owned() }.to_string(),
            };
            return Ok(Some(Stopped::Blocked(to_people::run_blocked(beside_command(why), next), id)));
        }
        (Some(run), _) => run,
        (None, _) => return Ok(None),
    };
    let held = run.order.as_ref().or(session.order.as_ref());
    let why = held.map(order).or_else(|| run.error.clone()).unwrap_or_else(|| "no reason was recorded".to_owned());
    let id = messages::short(&session.id).to_owned();
    // A pause of the run's own is lifted by the run's name.
    let is_own = run.order.as_ref().is_some_and(|order| !order.finding.ends_session());
    let holder = if is_own { messages::short(&run.id).to_owned() } else { id.clone() };
    Ok(Some(Stopped::Ended(match run.status {
        Status::Paused => to_people::run_paused(why, &holder, &session.id),
        _ => to_people::run_stopped(why, next_step(session, run, held)),
    })))
}
