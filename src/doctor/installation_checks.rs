//! The checks of the installation: settings, registered hooks, the binary and the client.

use std::path::Path;

use crate::config::load;
use crate::config::policy::Policy;
use crate::doctor::diagnosis::Diagnosis;
use crate::doctor::installation::{Installation, registers};
use crate::install::client_versions::{self, TRIED, Version};
use crate::install::enabled_plugins::Enabled;
use crate::install::handler::{HOLD_S, pause_hold_s};
use crate::install::hooks::FoundHandler;
use crate::install::place::{Folders, InstallScope};
use crate::install::settings_files::Settings;
use crate::install::{client_extensions, files, hooks, json, owned_by_root, registration, settings_values};
use crate::platform::run_command::Program;
use crate::store::trust::is_trusted;
use crate::wire::events::{EVENTS, EventName, EventRow};

/// Whether settings files can be read at all.
pub fn settings(installation: &Installation<'_>) -> Diagnosis {
    let faults: Vec<String> = installation.settings.iter().filter_map(|file| fault(installation, file)).collect();
    match faults.is_empty() {
        true => Diagnosis::ok("every settings file can be read"),
        false => Diagnosis::warn(faults.join("; "), "correct them; until then the client ignores all that is in them"),
    }
}

/// How many characters are shown of a value.
const LONGEST_SHOWN: usize = 60;

fn fault(installation: &Installation<'_>, file: &Settings) -> Option<String> {
    let path = &file.place.settings;
    match files::read(path) {
        Ok(text) => {
            let text = text?;
            if let Err(fault) = json::check(&text) {
                return Some(format!("{} is no JSON: {fault}", installation.short(path)));
            }
            let (key, value, _) = settings_values::doubts(&text).into_iter().find(|(.., is_refused)| *is_refused)?;
            let value: String = value.chars().take(LONGEST_SHOWN).collect();
            Some(format!("{}: the client does not take `{key}: {value}`", installation.short(path)))
        }
        Err(cause) => Some(cause.to_string()),
    }
}

/// Whether the client runs us at every event.
pub fn registration(installation: &Installation<'_>) -> Diagnosis {
    let missing =
        EVENTS.iter().filter(|row| !installation.registered.files.iter().any(|file| file.1.contains(&row.event)));
    let (newer, missing): (Vec<&EventRow>, Vec<&EventRow>) = missing.partition(|row| row.since.is_some());
    let missing: Vec<&str> = missing.into_iter().map(|row| row.name).collect();
    let files: Vec<String> = installation.registered.files.iter().map(|file| named(installation, &file.0)).collect();
    let is_plugin_alone = files.len() == 1 && plugin_of(installation, &installation.registered.files[0].0).is_some();
    let without =
        registration::without(newer.iter().copied()).map(|names| format!(", without {names}")).unwrap_or_default();
    let files = files.join(", ");
    match (missing.len(), EVENTS.len() - newer.len()) {
        (0, all) if short_of_holds(installation) => Diagnosis::warn(
            format!(
                "registered at {all} of {all} events in {files}{without}; calls that are to wait for a rate are refused"
            ),
            registers_again(installation, &[EventName::PreToolUse], HOLD_S),
        ),
        (0, all) if short_of_pauses(installation) => Diagnosis::warn(
            format!(
                "registered at {all} of {all} events in {files}{without}; calls of paused runs are not held for as long as `pause_wait_ms` says"
            ),
            registers_again(installation, &[EventName::PreToolUse, EventName::PostToolBatch], pause_s(installation)),
        ),
        (0, all) if let Some(limit) = unheard(installation) => Diagnosis::warn(
            format!(
                "registered at {all} of {all} events in {files}{without}; `{limit}` hears nothing of the plan's windows"
            ),
            "run `fusebox init --statusline`: the client tells its status line alone of them",
        ),
        (0, all) if is_plugin_alone => Diagnosis::warn(
            format!("registered at {all} of {all} events in {files} alone{without}"),
            "the weaker guard: `claude plugin disable`, or an update while a client works, takes the hooks away; `fusebox init` \
             registers them in your settings too",
        ),
        (0, all) => Diagnosis::ok(format!("registered at {all} of {all} events in {files}{without}")),
        (missing, all) if missing == all => Diagnosis::fail("not registered here", registers(installation)),
        _ => {
            Diagnosis::fail(format!("not registered at {} in {files}", missing.join(", ")), "run `fusebox init` again")
        }
    }
}

/// Returns the name of a file with hooks: for one of a plugin's the plugin's, with its marketplace and version.
fn named(installation: &Installation<'_>, path: &Path) -> String {
    let Some(plugin) = plugin_of(installation, path) else { return installation.short(path) };
    let version = plugin.folder.file_name().unwrap_or_default().to_string_lossy();
    format!("the plugin {} (version {version})", plugin.id)
}

fn plugin_of<'a>(installation: &'a Installation<'_>, path: &Path) -> Option<&'a Enabled> {
    installation.brought.iter().find(|it| it.file.place.settings == path).map(|it| &it.plugin)
}

/// Returns the limit on the plan's windows that hears nothing, since the status line is not ours.
fn unheard(installation: &Installation<'_>) -> Option<&'static str> {
    let limit = policy(installation).user().on_plan()?;
    (installation.registered.status_line == 0).then_some(limit.key)
}

/// Whether calls are to be held, and the client would not wait for that.
fn short_of_holds(installation: &Installation<'_>) -> bool {
    policy(installation).holds_calls() && installation.registered.call_timeout_s < HOLD_S
}

/// Whether calls of paused runs are to be held, and the client would not wait for that.
fn short_of_pauses(installation: &Installation<'_>) -> bool {
    let registered = installation.registered.call_timeout_s.min(installation.registered.batch_timeout_s);
    registered < pause_s(installation)
}

/// Returns for how many seconds the client has to wait where calls of paused runs are held.
fn pause_s(installation: &Installation<'_>) -> u32 {
    pause_hold_s(policy(installation).pause_wait_ms())
}

/// Names the registrations whose handlers have the client wait for less than so many seconds at these events.
fn registers_again(installation: &Installation<'_>, events: &[EventName], least_s: u32) -> String {
    let is_short = |found: &FoundHandler| {
        let is_at = events.iter().any(|event| found.event == event.as_str());
        is_at && found.covers() && found.handler.is_ours() && found.handler.timeout_s() < least_s
    };
    let short = installation.settings.iter().filter(|file| hooks::find(&file.text).iter().any(is_short));
    let mut commands: Vec<String> =
        short.map(|file| format!("`fusebox init --scope {}`", file.place.scope.as_str())).collect();
    commands.dedup();
    let commands = if commands.is_empty() { "`fusebox init`".to_owned() } else { commands.join(" and ") };
    format!("run {commands} again: that has the client wait for the hook")
}

fn policy(installation: &Installation<'_>) -> Policy {
    let is_trusted = is_trusted(installation.env, &installation.folder);
    load::load(installation.env, &installation.folder, is_trusted).0
}

/// Whether a setting takes away what is registered, or code inside the client can overrule it.
pub fn switches(installation: &Installation<'_>) -> Diagnosis {
    if let Some(path) = &installation.registered.disabled {
        return Diagnosis::fail(
            format!("{} switches hooks off (disableAllHooks or allowManagedHooksOnly)", installation.short(path)),
            "take it out, or register with `fusebox init --scope managed`",
        );
    }
    // A mod reaches further than any setting.
    if let Some(mods) = mods(installation) {
        return mods;
    }
    // What cannot be read, and what the client may not take, is another check's.
    let unread = |file: &Path| installation.settings.iter().any(|it| it.unread.is_some() && it.place.settings == file);
    match installation.registered.diverted.iter().rfind(|it| !it.is_doubtful && !unread(&it.file)) {
        Some(it) => Diagnosis::warn(
            format!("{} has {}, which {}", installation.short(&it.file), it.what, it.does),
            "take it out, unless it is meant",
        ),
        None => Diagnosis::ok("no setting switches hooks off"),
    }
}

fn mods(installation: &Installation<'_>) -> Option<Diagnosis> {
    let found = client_extensions::found(&Folders::of(installation.env, &installation.folder), &installation.settings);
    let names: Vec<String> = found.mods.iter().map(|path| installation.short(path)).collect();
    let words = format!("the client loads mods, which can overrule every hook: {}", names.join(", "));
    let hint = "take out what you do not know; `allowManagedModsOnly` in managed settings keeps all of them out";
    (!names.is_empty()).then(|| Diagnosis::warn(words, hint))
}

/// Whether what is registered is a fusebox of this version, and for everybody where it must be.
pub fn binary(installation: &Installation<'_>) -> Diagnosis {
    let own = concat!("fusebox ", env!("CARGO_PKG_VERSION"));
    for launch in installation.launches() {
        let program = launch.program().unwrap_or(Path::new("fusebox"));
        let name = installation.short(program);
        match Program::new(program).args(["--version"]).first_line() {
            Ok(version) if version == own => {}
            Ok(version) => {
                let hint = "run `fusebox init` with the one you want";
                return Diagnosis::warn(format!("{name} is `{version}`, this is `{own}`"), hint);
            }
            Err(why) => return Diagnosis::fail(format!("{name} does not run: {why}"), "run `fusebox init` again"),
        }
    }
    match loose_binary(installation) {
        Some(words) => {
            Diagnosis::fail(words, "install it where only root may write, and run `fusebox init` there again")
        }
        None => Diagnosis::ok(own),
    }
}

/// Says what of a binary that is registered for everybody others than root may change.
fn loose_binary(installation: &Installation<'_>) -> Option<String> {
    let managed = installation.settings.iter().find(|file| file.place.scope == InstallScope::Managed)?;
    let found = hooks::find(&managed.text);
    let program = found.iter().filter(|found| found.handler.is_ours()).find_map(|found| found.handler.program())?;
    let part = owned_by_root::loose_part(program)?;
    Some(format!(
        "{} is registered for everybody, and others than root may change {}",
        program.display(),
        part.display()
    ))
}

/// Whether the client is one that was tried, and what its version costs.
pub fn client(installation: &Installation<'_>) -> Diagnosis {
    let said = match &installation.client {
        Ok(said) => said,
        Err(why) => {
            return Diagnosis::warn(format!("`claude --version` does not run: {why}"), "put the client on the PATH");
        }
    };
    let Some(version) = client_versions::version(said) else {
        return Diagnosis::warn(
            format!("`{said}` is no version that is known"),
            "is `claude` on the PATH Claude Code?",
        );
    };
    let [oldest, .., newest] = TRIED.map(client_versions::show);
    let update = format!("update the client: {newest} has all that Fusebox uses");
    let losses = client_versions::losses(version);
    match version {
        _ if version < TRIED[0] => {
            Diagnosis::warn(format!("`{said}` is older than {oldest}, the oldest tried"), update)
        }
        _ if !losses.is_empty() => Diagnosis::warn(format!("{said}: {}", losses.join("; ")), update),
        _ if is_newer(version) => Diagnosis::ok(format!("{said}, newer than {newest}, the newest tried")),
        _ => Diagnosis::ok(said.clone()),
    }
}

fn is_newer(version: Version) -> bool {
    TRIED.iter().all(|tried| version > *tried)
}
