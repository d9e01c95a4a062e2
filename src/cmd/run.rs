//! `fusebox run`: runs a client headless and says what the client does not: that a limit stopped it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::cmd::run_again::Again;
use crate::cmd::run_cap;
use crate::cmd::run_command::{self, OPTIONS, is_client};
use crate::cmd::run_exit::{self, Cause, Remark};
use crate::cmd::run_held::HeldLookout;
use crate::cmd::run_hooks;
use crate::cmd::run_outcome::{Outcome, outcome};
use crate::cmd::run_summary::{self, Ended, HowEnded};
use crate::config::load;
use crate::domain::time_units::DAY_MS;
use crate::error::{Error, ErrorKind, Result};
use crate::messages::next_step::NextStep;
use crate::messages::{notices, to_people};
use crate::platform::environment::Environment;
use crate::platform::foreground;
use crate::store::{self, Store, health, trust};
use crate::ui::terminal::plain;

/// The variable that marks the sessions of one `fusebox run`.
const MARK: &str = "FUSEBOX_RUN";

/// The exit code where a limit stopped the client's work.
pub const STOPPED: u8 = 3;

/// The client's option by which it writes down nothing of what its agents spend.
const KEEPS_NO_TRANSCRIPT: &str = "--no-session-persistence";

/// What a signal's number is added to in an exit code.
const SIGNALS: u8 = 128;

/// Arguments of `fusebox run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit codes: the client's own; 3 where a limit or a person stopped or paused its
main agent, or blocked its prompt, where the state cannot be read to tell, and
where --summary cannot be written; 1 where the client cannot be started; 128 and
the signal's number where a signal was handed on to it.
On standard error it says also what did not end it: mistakes in the configuration,
subagents and clients of agents that were stopped or refused, calls that went by
without Fusebox being asked, limits that were off or only observed, a damaged state
that was set aside. --strict makes each of them exit 3, and does not start the
client where the configuration has mistakes or no hook of Fusebox is registered.

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
    let (program, arguments) = run_command::read(&args.command)?;
    let remarks = mistakes(env);
    let has_no_hooks = run_hooks::has_none(env, &args.command);
    if args.strict && (has_no_hooks || !remarks.is_empty()) {
        return end(env, args, not_begun(remarks, has_no_hooks));
    }
    let asides = || store::folder(env).map(|folder| health::asides(&folder)).unwrap_or_default();
    let known = asides();
    let now = env.now();
    let mark = format!("{:x}-{:x}-{:x}", now.boot, now.mono_ms, env.pid());
    let since_ms = now.wall_ms - DAY_MS;
    let lookout = holds(env).then(|| HeldLookout::begin(env, &mark, since_ms)).flatten();
    summarize(env, args, &Ended::default())?;
    let code = match foreground::run(program, arguments, MARK, &mark) {
        Ok(code) => code,
        Err(error) => {
            let (how, exit_code) = (HowEnded::NotStarted, Some(1));
            summarize(env, args, &Ended { how, exit_code, remarks, ..Ended::default() })?;
            let meant = run_command::misquoted(&args.command);
            return Err(if let Some(meant) = meant { error.hint(meant) } else { error });
        }
    };
    drop(lookout);
    let mut ended = Ended { remarks, ..of_client(code) };
    let again = Again::of(args.strict, args.summary.as_deref(), &args.command);
    again.remember(env, &mark, since_ms);
    match Store::open(env).and_then(|store| outcome(&store, &mark, now.wall_ms, &again, env.now())) {
        Ok(outcome) => of_state(&mut ended, outcome, &args.command, has_no_hooks),
        Err(error) => {
            ended.instead_of_completed(HowEnded::Unknown);
            let advice = error.advice().map(|advice| format!(" ({advice})")).unwrap_or_default();
            ended.remarks.push(Cause::Unknown.remark(to_people::run_unknown(error, advice)));
        }
    }
    let cap = ended.limit.as_ref().and_then(|limit| run_cap::place(env, limit));
    ended.remarks.extend(cap.map(|line| Remark { line, cause: None }));
    let lost = asides().into_iter().filter(|aside| !known.contains(aside));
    ended.remarks.extend(lost.map(|aside| Cause::SetAside.remark(notices::state_set_aside(aside.display()))));
    let is_estimated = args.command.iter().any(|argument| argument == KEEPS_NO_TRANSCRIPT);
    ended.remarks.extend(is_estimated.then(|| Cause::Estimated.remark(to_people::run_estimated())));
    let was_stopped = ended.stopped.is_some() || ended.how == HowEnded::Unknown;
    let exit_code =
        if was_stopped || args.strict && run_exit::causes(&ended.remarks).is_some() { STOPPED } else { code };
    ended.exit_code = Some(exit_code);
    ended.remarks.extend(by_itself(&ended, exit_code).map(|line| Remark { line, cause: None }));
    end(env, args, ended)
}

/// Says how a client ended that no limit has stopped, and that has not done its work.
fn by_itself(ended: &Ended, exit_code: u8) -> Option<String> {
    match (ended.how, ended.signal, ended.client_exit_code) {
        (_, Some(signal), _) => Some(to_people::run_signal(signal, exit_code)),
        (HowEnded::ClientFailed, None, Some(code)) => Some(to_people::run_client_failed(code)),
        _ => None,
    }
}

/// Returns the outcome of a command that is not started: the configuration has mistakes, or no hook would ask for it.
fn not_begun(mistakes: Vec<Remark>, has_no_hooks: bool) -> Ended {
    let no_hooks = has_no_hooks.then(|| Cause::NoHooks.remark(to_people::run_no_hooks(NextStep::Doctor)));
    let begun = (!mistakes.is_empty()).then(|| Cause::Mistakes.remark(to_people::run_not_begun()));
    let remarks = mistakes.into_iter().chain(begun).chain(no_hooks).collect();
    Ended { how: HowEnded::NotStarted, exit_code: Some(STOPPED), remarks, ..Ended::default() }
}

/// Takes in how the work went, as the state has it.
fn of_state(ended: &mut Ended, outcome: Outcome, command: &[OsString], has_no_hooks: bool) {
    if outcome.sessions.is_empty() {
        // A client that refuses its own options ends before its first hook.
        let has_begun = has_no_hooks || ended.how != HowEnded::ClientFailed || !is_client(command);
        ended.instead_of_completed(HowEnded::Unheard);
        ended.remarks.extend(unseen(command, has_begun).map(|line| Cause::Unheard.remark(line)));
    }
    (ended.warned, ended.sessions) = (outcome.warned, outcome.sessions);
    if let Some(stopped) = outcome.stopped {
        (ended.how, ended.stop_reason) = (stopped.how, stopped.reason.clone());
        ended.stopped = Some(stopped.sentence.clone());
        let cause = match stopped.how {
            HowEnded::Paused => Cause::Paused,
            HowEnded::Blocked => Cause::Blocked,
            _ => Cause::Stopped,
        };
        ended.limit = stopped.finding.clone();
        let goes_on = stopped.goes_on.clone();
        ended.remarks.push(cause.remark(stopped.beside_client(command)));
        ended.remarks.extend(goes_on.map(|line| Remark { line, cause: None }));
    }
    ended.remarks.extend(outcome.remarks);
}

/// Returns how a client ended as its own exit code says it.
fn of_client(code: u8) -> Ended {
    let signal = code.checked_sub(SIGNALS).filter(|signal| (1..=64).contains(signal));
    let how = match (code, signal) {
        (0, _) => HowEnded::Completed,
        (_, Some(_)) => HowEnded::Signal,
        (_, None) => HowEnded::ClientFailed,
    };
    Ended { how, signal, client_exit_code: Some(code), ..Ended::default() }
}

/// Says that no hook was heard; the client may not have begun over an option that stands among its own.
fn unseen(command: &[OsString], has_begun: bool) -> Option<String> {
    let is_among = |option: &str| command.iter().any(|it| it.to_string_lossy().split('=').next() == Some(option));
    match (OPTIONS.iter().find(|(option, _)| is_among(option)), command.first()) {
        (Some((option, typed)), Some(program)) => Some(to_people::run_option_behind(option, typed, program.display())),
        _ => has_begun.then(|| to_people::run_unseen(NextStep::Doctor)),
    }
}

/// Says on standard error what the client does not, and writes down what came of the command where that was asked for.
fn end(env: &Environment, args: &Args, mut ended: Ended) -> Result<ExitCode> {
    let exit_code = ended.exit_code.unwrap_or(STOPPED);
    let causes = run_exit::causes(&ended.remarks).filter(|_| args.strict && exit_code == STOPPED);
    ended.remarks.extend(causes.map(|causes| Remark { line: to_people::run_strict(causes), cause: None }));
    for line in ended.warned.iter().chain(ended.remarks.iter().map(|remark| &remark.line)) {
        env.eprintln_safe(&plain(&format!("fusebox: {line}")));
    }
    summarize(env, args, &ended)?;
    Ok(ExitCode::from(exit_code))
}

/// Writes down what came of the command, where that was asked for.
fn summarize(env: &Environment, args: &Args, ended: &Ended) -> Result<()> {
    let Some(path) = &args.summary else { return Ok(()) };
    run_summary::write(env, path, ended).map_err(|cause| {
        let begun = if ended.how == HowEnded::Unfinished { "; the command was not started" } else { "" };
        let error = Error::failed(format!("{cause}{begun}")).of_kind(ErrorKind::NoSummary);
        error.hint("name a file for --summary that can be written")
    })
}

/// Says what is wrong in the configuration: a limit that is not read does not hold.
fn mistakes(env: &Environment) -> Vec<Remark> {
    let (_, problems) = load::load(env, &env.folder(), trust::is_trusted(env, &env.folder()));
    problems
        .iter()
        .filter(|problem| problem.is_error())
        .map(|problem| Cause::Mistakes.remark(problem.to_string()))
        .collect()
}

/// Whether the configuration has pauses hold the next call.
fn holds(env: &Environment) -> bool {
    load::load(env, &env.folder(), trust::is_trusted(env, &env.folder())).0.pause_wait_ms() > 0
}
