//! What `init` says at its end: what happens from now on, and what to do about it.

use std::path::{Path, PathBuf};

use crate::config::load;
use crate::config::policy::Policy;
use crate::config::resolve::Trust;
use crate::domain::billing::Billing;
use crate::domain::mode::Mode;
use crate::install::client_versions;
use crate::install::default_files;
use crate::install::files::Change;
use crate::install::handlers;
use crate::install::limit_words;
use crate::install::payment::{self, Payment};
use crate::install::place::{Folders, InstallScope, SettingsPlace};
use crate::install::registration::{self, Plan};
use crate::install::settings_files;
use crate::install::status_line;
use crate::platform::environment::Environment;
use crate::platform::run_command;
use crate::store::trust;
use crate::store::{self, log_file};
use crate::ui::terminal::plain;
use crate::ui::wrap::wrap;
use crate::wire::events::EventRow;

/// How wide the words before each line are.
const INDENT: usize = 10;

/// What a team does with what a project's registration has written.
const SHARED: &str = ".claude/settings.json and .claude/fusebox.json; each member needs `fusebox` on the PATH, and no `init` \
                      (`binding` there holds values against members' own files";

/// What a team may begin with.
const WATCHED: &str = "; `init --scope project --observe` only watches at first";

/// Whom a repository's registration is for.
const COVERS: &str =
    "clients that are started in this repository; `fusebox init --scope user` covers those in all of yours";

/// Whom a registration in a folder outside of any repository is for.
const COVERS_FOLDER: &str =
    "clients that are started in this very folder; `fusebox init --scope user` covers those in all of yours";

/// Whom a team's registration is for: the client reads settings.json of the folder that it is started in alone.
const COVERS_ROOT: &str =
    "clients that are started in this very folder; who starts them in folders below runs `fusebox init` once";

/// The file of one person's limits in a repository.
const OWN_POLICY: &str = "fusebox.local.json";

/// The file in which git is told to leave out what is one person's.
const EXCLUDED: &str = "info/exclude";

/// Returns the summary after a plan was carried out.
pub fn summary(env: &Environment, plan: &Plan, state: &Path) -> String {
    let settings = env.short_path(&plan.place.settings);
    let (hooks, newer) = registration::events_in(&plan.place);
    let changed = plan.changed_events().map(|events| format!("; changed: {events}")).unwrap_or_default();
    let done = match (plan.registers(), plan.shows_line_from_now()) {
        (true, true) => format!("registered at {hooks} hooks in {settings}, with the status line{changed}"),
        (true, false) => format!("registered at {hooks} hooks in {settings}{changed}"),
        (false, _) if plan.changes_anything() => format!("already registered in {settings}"),
        (false, _) => format!("already registered in {settings}: nothing has changed"),
    };
    let without = left_out(&newer).filter(|_| plan.registers()).map(|words| ("without", words));
    let policy = policy_of(env, plan);
    let is_ours = |place: &SettingsPlace| registration::is_in(place);
    let of_project = Folders::of(env, &env.folder()).place(InstallScope::Project).ok().filter(is_ours);
    let of_team = of_project.filter(|_| plan.place.scope == InstallScope::Local);
    let name = if of_team.is_some() { OWN_POLICY } else { default_files::POLICY };
    let file = env.short_path(&plan.place.folder.join(name));
    let log = log(env, plan, &policy, state);
    let shared = shared(plan, &policy).map(|words| ("commit", words));
    let wrote = wrote(env, plan).map(|files| ("wrote", files));
    let paid = payment::payment(env).map(|payment| ("paid", paid(env, payment, &policy)));
    let covers = covers(env, plan).map(|whom| ("covers", whom.to_owned()));
    let before = [
        ("state", format!("{}; log: {log}", env.short_path(&state.join("state.db")))),
        ("change", format!("edit {file}, then `fusebox config check`; {PINNED}")),
    ];
    let raise = raise(env, plan, &policy, &file).map(|words| ("raise", words));
    let after =
        [("watch", watch(env, plan)), ("undo", format!("`fusebox uninstall --scope {}`", plan.place.scope.as_str()))];
    let limits = limit_words::limits(&policy).into_iter().enumerate();
    let limits = limits.map(|(at, words)| (if at == 0 { "limits" } else { "" }, words));
    let line = |(name, words): (&str, String)| format!("  {name:<8}{}\n", wrap(&plain(&words), env.width(), INDENT));
    let already = of_team.map(|place| {
        let team = format!(
            "this repository registers them for all who work here ({}); each event counts once. Its limits are in {}, \
             yours in {file}",
            env.short_path(&place.settings),
            env.short_path(&place.folder.join(default_files::POLICY)),
        );
        ("team", team)
    });
    let text = format!(
        "{done}\n\n{}",
        limits
            .chain(without)
            .chain(covers)
            .chain(paid)
            .chain(already)
            .chain(wrote)
            .chain(before)
            .chain(raise)
            .chain(after)
            .chain(shared)
            .map(line)
            .collect::<String>()
    );
    text + &note(env, plan)
}

/// Says of hooks that newer clients alone know why they are left out.
fn left_out(newer: &[&EventRow]) -> Option<String> {
    let since = newer.iter().filter_map(|row| row.since).max().map(client_versions::show)?;
    let names: Vec<&str> = newer.iter().map(|row| row.name).collect();
    Some(format!(
        "{}, which Claude Code knows from {since} on (an older one warns of it): nothing is to be done, every limit holds without it",
        names.join(", ")
    ))
}

/// Says what a team commits.
fn shared(plan: &Plan, policy: &Policy) -> Option<String> {
    let is_watched = policy.mode() == Mode::Observe || !policy.observed.is_empty();
    let is_shared = plan.place.scope == InstallScope::Project;
    is_shared.then(|| format!("{SHARED}{})", if is_watched { "" } else { WATCHED }))
}

/// Says whose clients a repository's registration is for, unless a note does.
fn covers(env: &Environment, plan: &Plan) -> Option<&'static str> {
    let folder = env.folder();
    match plan.place.scope {
        InstallScope::Project => Some(COVERS_ROOT),
        InstallScope::Local if env.project_of(&folder) == folder => Some(COVERS_FOLDER),
        InstallScope::Local if Folders::of(env, &folder).repository.is_none() => Some(COVERS),
        InstallScope::Local | InstallScope::User | InstallScope::Managed => None,
    }
}

/// Says what a registration leaves out.
fn note(env: &Environment, plan: &Plan) -> String {
    let Some(main) = Folders::of(env, &env.folder()).repository.filter(|_| plan.place.is_inside()) else {
        return String::new();
    };
    // Of the main folder's settings the client reads the local ones alone in the folders below.
    let local = Folders::of(env, &main).place(InstallScope::Local).map(|place| place.settings).ok();
    let is_covered = handlers::registered(env, &main).files.iter().any(|(path, _)| Some(path) == local.as_ref());
    let root = env.short_path(&main);
    let note = match is_covered {
        true => format!(
            "note: the hooks in {root} cover this folder, too: `fusebox uninstall` takes away those that stand here"
        ),
        false => format!(
            "note: this covers clients that are started in this very folder; `fusebox init` in {root} covers the whole repository"
        ),
    };
    format!("\n{}\n", wrap(&note, env.width(), 6))
}

/// Names the files that were written beside the settings; `None` where there are none.
fn wrote(env: &Environment, plan: &Plan) -> Option<String> {
    let changes = plan.steps.iter().map(|step| &step.change);
    let beside: Vec<&Change> =
        changes.filter(|change| change.is_change() && change.path != plan.place.settings).collect();
    let files: Vec<String> = beside.iter().map(|change| env.short_path(&change.path)).collect();
    let is_hidden = beside.iter().any(|change| change.path.ends_with(EXCLUDED));
    let hides = match plan.place.scope {
        _ if !is_hidden => "",
        InstallScope::Project => " (which keeps the schema and what is one person's out of this clone's commits)",
        _ => ": kept out of git, so that nobody commits them by accident",
    };
    (!files.is_empty()).then(|| format!("{}{hides}", files.join(", ")))
}

/// Says where the log is: beside the limits that a repository brings, else with the state.
fn log(env: &Environment, plan: &Plan, policy: &Policy, state: &Path) -> String {
    let of_repository = PathBuf::from(".claude/logs");
    let own = env.short_path(&state.join(log_file::FILE));
    match policy.has_policy_file() {
        true => of_repository.join(log_file::FILE).display().to_string(),
        false if plan.place.scope == InstallScope::User => {
            format!("{own}, or {} of a repository with a fusebox.json", of_repository.display())
        }
        false => own,
    }
}

/// Returns the policy of whom a plan is for. Others who work in a repository may not trust it.
pub fn policy_of(env: &Environment, plan: &Plan) -> Policy {
    if let (InstallScope::User, Some(home)) = (plan.place.scope, env.home()) {
        // What the repository at hand says is not for the others.
        return load::load(env, &home, false).0;
    }
    // A dry run makes no state.
    let is_known = plan.place.scope != InstallScope::Project && store::is_there(env);
    load::load(env, &env.folder(), is_known && trust::is_trusted(env, &env.folder())).0
}

/// Says how a person sees what is used: below the prompt, too, where nothing of somebody else's is shown there.
fn watch(env: &Environment, plan: &Plan) -> String {
    let is_own = matches!(plan.place.scope, InstallScope::Local | InstallScope::User);
    match status_line::shown(env) {
        None if is_own => "`fusebox status`; below the prompt: `fusebox init --statusline`".to_owned(),
        _ => "`fusebox status`".to_owned(),
    }
}

/// When a session takes an edit up.
const PINNED: &str = "a session keeps the limits it started with until `fusebox reload`";

/// Says in which file a cap is raised that a repository's file may only lower.
fn raise(env: &Environment, plan: &Plan, policy: &Policy, file: &str) -> Option<String> {
    let is_bound =
        plan.place.is_inside() && (policy.trust == Trust::Untrusted || plan.place.scope == InstallScope::Project);
    let own = env.claude_dir().filter(|own| *own != plan.place.folder)?.join(default_files::POLICY);
    let own = env.short_path(&own);
    is_bound.then(|| {
        format!(
            "caps of `session`, `main`, `user` and `project` in {own}: until `fusebox trust`, {file} may only lower those \
             that are yours or built in"
        )
    })
}

/// Says what dollars mean here, and how somebody who pays none is not asked about them.
fn paid(env: &Environment, payment: Payment, policy: &Policy) -> String {
    match (payment, policy.billing()) {
        (_, Some(Billing::Plan)) => {
            let plan = "by a plan: dollars are list prices, and no bill (`billing` in ~/.claude/fusebox.json)";
            let has_line = status_line::shown(env).is_some_and(|(_, command)| status_line::is_ours(&command));
            if has_line {
                return plan.to_owned();
            }
            format!(
                "{plan}. What the client asks for itself is counted with the status line alone (`fusebox init --statusline`)"
            )
        }
        (Payment::Plan, Some(Billing::Tokens)) => "by the token (`billing`): dollars are list prices".to_owned(),
        (Payment::Plan, None) => {
            let advice = "`\"billing\": \"plan\"` in ~/.claude/fusebox.json has tokens counted in their place";
            format!("{}. {advice}", payment::meaning(payment))
        }
        (_, _) => payment::meaning(payment),
    }
}

/// Says that a repository's hooks do nothing here, where no shell can run their line.
pub fn without_shell(plan: &Plan) -> Option<String> {
    (plan.place.scope == InstallScope::Project && !run_command::has_unix_shell()).then(|| {
        "these hooks need Git's shell (bash.exe), which is missing: they do nothing on this machine. Install Git for Windows, or run \
         `fusebox init --scope user`"
            .to_owned()
    })
}

/// Says that `--observe` waits for trust, where the files of a repository may not loosen what is the user's.
pub fn unheard(env: &Environment, plan: &Plan) -> Option<String> {
    let policy = policy_of(env, plan);
    let file = env.short_path(&plan.place.folder.join(default_files::POLICY));
    let is_watched = plan.place.scope == InstallScope::Project && !policy.observed.is_empty();
    let has_none = policy.observed.iter().all(|document| document.settings.len() <= 1);
    let yet = if has_none { " (it has none yet: write some into it)" } else { "" };
    is_watched.then(|| {
        format!(
            "the limits in {file}{yet} are only watched, for all who work here. Your own limits and the built-in ones still block; \
             `fusebox init --scope user --observe` has those watched, too"
        )
    })
}

/// Says which settings file switches off the hooks that are registered.
pub fn switched_off(env: &Environment, plan: &Plan) -> Option<String> {
    let folder = if plan.place.scope == InstallScope::User { env.home()? } else { env.folder() };
    let settings = settings_files::read(&Folders::of(env, &folder));
    let file = env.short_path(&handlers::resolve(&settings, &[], None).disabled?);
    Some(format!(
        "{file} switches hooks off (disableAllHooks or allowManagedHooksOnly): nothing is limited until that is taken out"
    ))
}
