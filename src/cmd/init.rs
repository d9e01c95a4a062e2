//! `fusebox init`: registers Fusebox at the client's hooks.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[cfg(feature = "suggest")]
use crate::cmd::past_runs;
use crate::cmd::{completions, query, require_human};
use crate::config::load;
use crate::config::resolve::Trust;
use crate::doctor::installation;
use crate::domain::mode::Mode;
use crate::domain::text::shell_word;
use crate::error::{Error, Result};
use crate::install::backup::Backups;
use crate::install::client_versions::{self, Version};
use crate::install::default_files::{self, StarterMode};
use crate::install::files::Change;
use crate::install::handler::{Judge, Launch, OnFailure, Wanted};
use crate::install::payment::{self, Payment};
use crate::install::place::{Folders, InstallScope};
use crate::install::registration::{self, Plan, Starter};
use crate::install::{
    binary, diff, fail_closed, installed_at, missing_mark, own_copy, owned_by_root, status_line, summary,
};
use crate::platform::environment::Environment;
use crate::store::{self, Store, trust};
use crate::ui::formats::counted;
use crate::ui::wrap::wrap;

/// Arguments of `fusebox init`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fusebox init                       this repository, for you alone
  fusebox init --scope user          all your projects
  fusebox init --scope user --observe
                                     the same; nothing is blocked, everything is logged
  fusebox init --scope project       this repository, for all who work in it: commit what it writes
  fusebox init --statusline          the same, and what is used of the limits below the prompt
  fusebox init --dry-run             what it would change")]
pub struct Args {
    /// Who it is for; when not given, all your projects in the home folder and where hooks are registered for those,
    /// else this repository
    #[arg(long, value_enum)]
    scope: Option<InstallScope>,
    /// Decide and log, block nothing; with --scope project only the limits in the repository's own file
    #[arg(long)]
    observe: bool,
    /// Have the client refuse calls when Fusebox itself breaks
    #[arg(long)]
    fail_closed: bool,
    /// Have a model judge the end of each subagent, at the cost of a request
    #[arg(long)]
    judge: bool,
    /// Show what is used of the limits below Claude Code's prompt, where no other status line is
    #[arg(long)]
    statusline: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

impl Args {
    /// Returns the arguments of a plain `fusebox init`.
    pub fn here() -> Args {
        Args {
            scope: Some(InstallScope::Local),
            observe: false,
            fail_closed: false,
            judge: false,
            statusline: false,
            dry_run: false,
        }
    }

    /// Returns who it is for. Where a person's hooks are registered already, a repository of theirs needs no second ones; what is only
    /// to be watched is no more than what is at hand. The home folder is no repository.
    fn scope(&self, env: &Environment) -> InstallScope {
        let folders = Folders::of(env, &env.folder());
        let is_home = folders.place(InstallScope::Project).is_err();
        let has = |scope| folders.place(scope).is_ok_and(|place| registration::is_in(&place));
        let is_covered = || !self.observe && has(InstallScope::User) && !has(InstallScope::Local);
        self.scope.unwrap_or_else(|| if is_home || is_covered() { InstallScope::User } else { InstallScope::Local })
    }
}

/// What a judge costs.
const JUDGES: &str =
    "a model is asked whenever a subagent ends whether its work is done: one request each time, at most 30 s";

/// What a dry run says where a repository has its own registration.
const COVERED: &str =
    "this repository registers hooks for all who work here; these would be for you alone, and each event counts once";

/// What to do where the program that hooks are to run cannot be copied.
const NO_COPY: &str =
    "make it writable for you, or put fusebox into a folder such as /usr/local/bin: hooks run it there";
/// What to do where a file of the registration cannot be written.
const BY_HAND: &str = "make it writable for you, or write by hand what `fusebox init --dry-run` shows";

/// Adds what to do to a failure that says none.
fn advised(error: Error, hint: &str) -> Error {
    if error.advice().is_some() { error } else { error.hint(hint) }
}

/// Runs `fusebox init`.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    if args.observe || args.judge {
        require_human::require(env, if args.observe { "init --observe" } else { "init --judge" })?;
    }
    let state = env.state_dir().ok_or_else(|| Error::failed("there is no home folder").hint("set FUSEBOX_HOME"))?;
    let place = Folders::of(env, &env.folder()).place(args.scope(env))?;
    let mode = if args.observe { StarterMode::Observe } else { StarterMode::Unsaid };
    if args.observe && args.scope(env) == InstallScope::Local {
        may_observe(env)?;
    }
    let program = program(env, args)?;
    may_have_status_line(env, args, program.as_ref())?;
    let starter = Starter { mode, paid_by_plan_in: own_file_of_plan(env, args, &state) };
    let plan = registration::plan(env, place, &wanted(env, args, program.as_ref())?, &starter)?;
    if plan.changes_anything() {
        show_past_runs(env, &plan);
    }
    if args.dry_run {
        env.print(&preview(env, &plan));
        return Ok(ExitCode::SUCCESS);
    }
    let backups = Backups::in_state(&state);
    let registers = plan.registers() && !plan.is_registered() && require_human::is_one(env, &state);
    if let Some(Registered { path, copied_from: Some(own) }) = &program {
        bring_up(env, &state, own, path).map_err(|error| advised(error, NO_COPY))?;
    }
    registration::apply(&backups, &plan).map_err(|error| advised(error, BY_HAND))?;
    let _told_again = missing_mark::remove(env);
    if registers {
        installed_at::note(env, &backups, &plan.place)?;
    }
    env.print(&summary::summary(env, &plan, &state));
    for note in notes(env, args, &plan, program.as_ref()) {
        env.print(&format!("\nnote: {}\n", wrap(&note, env.width(), 6)));
    }
    if let Some(command) = completions::offer(env).filter(|_| registers && env.is_attended()) {
        env.print(&format!("\nnote: `{command}` has your shell complete its command lines\n"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Says what else a person should know who has registered the hooks.
fn notes(env: &Environment, args: &Args, plan: &Plan, program: Option<&Registered>) -> Vec<String> {
    let notes = [
        program.and_then(|program| runs_a_copy(env, program)),
        mistakes(env, plan),
        args.judge.then(|| JUDGES.to_owned()),
        limits_off(env),
        summary::switched_off(env, plan),
        args.fail_closed.then(|| fail_closed::note(env, client_here(env))),
        summary::unheard(env, plan),
        summary::without_shell(plan),
    ];
    notes.into_iter().flatten().collect()
}

/// Says that hooks run a copy of this program.
fn runs_a_copy(env: &Environment, program: &Registered) -> Option<String> {
    let (copy, own) = (env.short_path(&program.path), env.short_path(program.copied_from.as_ref()?));
    Some(format!("hooks run a copy, {copy}, since {own} may be replaced or removed; `fusebox upgrade` renews it"))
}

/// Says that the configuration has mistakes: the limits above are those without what is wrong.
fn mistakes(env: &Environment, plan: &Plan) -> Option<String> {
    let folder = if plan.place.scope == InstallScope::User { env.home()? } else { env.folder() };
    let (_, problems) = load::load(env, &folder, Trust::Untrusted);
    let errors = problems.iter().filter(|problem| problem.is_error()).count() as u64;
    let words = || {
        format!(
            "{} in the configuration; the limits above are without them. `fusebox config check` shows each",
            counted(errors, "error")
        )
    };
    (errors > 0).then(words)
}

/// Says that a person has switched this repository's limits off, and that they stay so.
fn limits_off(env: &Environment) -> Option<String> {
    if !store::is_there(env) {
        return None;
    }
    let project = env.project_of(&env.folder());
    let off = Store::open(env).ok()?.limits_off(&project.to_string_lossy()).ok()??;
    let until = match off.until_ms {
        Some(at) => format!("until {}", query::zone(env).minute(at)),
        None => "until `fusebox on`".to_owned(),
    };
    let words = || {
        format!(
            "the limits of this repository are off {until}: nothing of the above is stopped. `fusebox on` switches them on"
        )
    };
    off.holds(env.now().wall_ms).then(words)
}

/// Says what past runs used beside the limits that will hold: who switches them on sees whom they will meet.
#[cfg(feature = "suggest")]
fn show_past_runs(env: &Environment, plan: &Plan) {
    past_runs::show(env, &summary::policy_of(env, plan).with_observed());
}

/// Says nothing: figures of past runs are part of `suggest`.
#[cfg(not(feature = "suggest"))]
fn show_past_runs(_env: &Environment, _plan: &Plan) {}

/// Refuses a status line where it would take the place of another, and where it would be everybody's.
fn may_have_status_line(env: &Environment, args: &Args, program: Option<&Registered>) -> Result<()> {
    if !args.statusline {
        return Ok(());
    }
    let Some(program) = program.filter(|_| args.scope(env) != InstallScope::Managed) else {
        return Err(Error::usage("--statusline is for one person: it goes with --scope local or user"));
    };
    match status_line::shown(env).filter(|(_, known)| !status_line::is_ours(known)) {
        None => Ok(()),
        Some((path, known)) => {
            Err(Error::failed(format!("{} has a status line, which stays: nothing was changed", env.short_path(&path)))
                .hint(format!(
                    "to see both, make this its command: {} --with {}",
                    status_line::command(&program.path),
                    shell_word::quoted(&known)
                )))
        }
    }
}

/// Returns the person's own policy file, where a plan pays, nothing says so yet, and a person runs this: an agent could have signed in.
fn own_file_of_plan(env: &Environment, args: &Args, state: &Path) -> Option<PathBuf> {
    let is_own = matches!(args.scope(env), InstallScope::Local | InstallScope::User);
    let is_seen = is_own && payment::payment(env) == Some(Payment::Plan);
    let is_said = || load::load(env, &env.folder(), false).0.billing().is_some();
    let own = env.claude_dir()?.join(default_files::POLICY);
    (is_seen && !is_said() && (args.dry_run || require_human::is_one(env, state))).then_some(own)
}

/// Refuses `--observe` for one person in a repository whose files may not loosen what is that person's: it would block on.
fn may_observe(env: &Environment) -> Result<()> {
    let folder = env.folder();
    let trusted = trust::is_trusted(env, &folder);
    let (policy, _) = load::load(env, &folder, trusted);
    if trusted || policy.mode() == Mode::Observe {
        return Ok(());
    }
    Err(Error::failed(
        "`--observe` would not hold here: a repository's file may not loosen what is yours, and your limits block",
    )
    .hint(
        "`fusebox init --scope user --observe` observes in all your projects; after `fusebox trust`, `fusebox init \
             --observe` observes in this one",
    ))
}

/// Returns the version of the client on the PATH.
fn client_here(env: &Environment) -> Option<Version> {
    client_versions::version(&installation::client_on_path(&env.folder()).ok()?)
}

/// The program that a settings file is to name by its path.
struct Registered {
    path: PathBuf,
    /// Where this program is, if `path` is to be a copy of it.
    copied_from: Option<PathBuf>,
}

/// Returns the program to register; none for a project, whose line looks it up on the PATH.
fn program(env: &Environment, args: &Args) -> Result<Option<Registered>> {
    if args.scope(env) == InstallScope::Project {
        return Ok(None);
    }
    let path = binary::stable_path(env)?;
    // A link outside a package manager's folders may lead into them.
    let real = binary::real_path(env)?;
    let is_volatile = own_copy::is_volatile(env, &path) || own_copy::is_volatile(env, &real);
    if args.scope(env) == InstallScope::Managed {
        owned_by_root::require(&path)?;
        if is_volatile {
            return Err(Error::failed(format!("`{}` may be replaced or removed by a package manager", path.display()))
                .hint("put the program into a folder such as /usr/local/bin as root, and run `fusebox init` there"));
        }
    }
    let copied_from = is_volatile.then_some(real);
    let path = if is_volatile { own_copy::path(env)? } else { path };
    Ok(Some(Registered { path, copied_from }))
}

/// Makes the copy that hooks are to run. One that is there is a person's to replace.
fn bring_up(env: &Environment, state: &Path, own: &Path, copy: &Path) -> Result<()> {
    if own_copy::version(copy).is_none() || require_human::is_one(env, state) {
        own_copy::bring_up(own, copy)?;
    }
    Ok(())
}

/// Returns the handler that the arguments ask for.
fn wanted(env: &Environment, args: &Args, program: Option<&Registered>) -> Result<Wanted> {
    let policy = load::load(env, &env.folder(), false).0;
    let (holds_calls, pause_wait_ms) = (policy.holds_calls(), policy.pause_wait_ms());
    let judge = if args.judge { Judge::Asked } else { Judge::AsItIs };
    let on_failure = if args.fail_closed { OnFailure::Block } else { OnFailure::Continue };
    match (program, on_failure) {
        (Some(program), _) => {
            let client = client_here(env).unwrap_or(client_versions::TRIED[0]);
            let status_line = args.statusline.then(|| status_line::command(&program.path));
            let launch = Launch::Binary(program.path.clone());
            Ok(Wanted { launch, on_failure, judge, holds_calls, pause_wait_ms, client, status_line })
        }
        // Others may have older clients.
        (None, OnFailure::Continue) => {
            let (launch, client, status_line) = (Launch::Guarded, client_versions::TRIED[0], None);
            Ok(Wanted { launch, on_failure, judge, holds_calls, pause_wait_ms, client, status_line })
        }
        (None, OnFailure::Block) => Err(Error::usage("--fail-closed is not for --scope project")
            .hint("it would stop everybody who has no fusebox; use it with --scope local, user or managed")),
    }
}

/// Shows what a plan would change, line by line; of the schema, which nobody reads, the name.
fn preview(env: &Environment, plan: &Plan) -> String {
    let changes = plan.steps.iter().map(|step| &step.change).filter(|change| change.is_change());
    let show = |change: &Change| match change.path.ends_with(default_files::SCHEMA) {
        true => format!("would write {}\n", env.short_path(&change.path)),
        false => diff::render(&env.short_path(&change.path), change),
    };
    let shown: String = changes.map(show).collect();
    let of_team =
        Folders::of(env, &env.folder()).place(InstallScope::Project).is_ok_and(|place| registration::is_in(&place));
    match (shown.is_empty(), of_team && plan.place.scope == InstallScope::Local) {
        (true, _) => "nothing would change\n".to_owned(),
        (false, true) => shown + &format!("\nnote: {}\n", wrap(COVERED, env.width(), 6)),
        (false, false) => shown,
    }
}
