//! The checks of what Fusebox works with: configuration, state, file system, prices.

use std::io::ErrorKind;
use std::path::Path;

use crate::config::load;
use crate::doctor::diagnosis::Diagnosis;
use crate::doctor::installation::Installation;
use crate::domain::billing::{Billing, OwnPrices};
use crate::domain::mode::{Mode, OnError};
use crate::domain::stored::metadata::kind_of;
use crate::domain::time_units::HOUR_MS;
use crate::error::{Error, Result};
use crate::hook::policy::retention;
use crate::hook::tampering::altered_metadata;
use crate::install::payment::{self, Payment};
use crate::platform::lacks::lacks;
use crate::platform::{file_system, locks, processes};
use crate::pricing::{self, table};
use crate::store::damaged::MOVE_AWAY;
use crate::store::private::ELSEWHERE;
use crate::store::trust::is_trusted;
use crate::store::{self, Store};
use crate::ui::formats::counted;

/// Whether the configuration says what it means to say. What a valid `mode` comes to is the next check's.
pub fn configuration(installation: &Installation<'_>) -> Diagnosis {
    let (_, mut problems) =
        load::checked_load(installation.env, &installation.folder, is_trusted(installation.env, &installation.folder));
    problems.retain(|problem| problem.key != "mode" || problem.is_ignored());
    let worst = problems.iter().find(|problem| problem.is_error()).or(problems.first());
    // The same figure as `config check` and `config show` have.
    let errors = problems.iter().filter(|problem| problem.is_error()).count() as u64;
    match (worst, errors) {
        (None, _) => Diagnosis::ok("every key is understood"),
        (Some(problem), count) if problem.is_error() => Diagnosis::fail(
            format!("{problem} ({} in all)", counted(count, "error")),
            "`fusebox config check` shows all of them",
        ),
        (Some(problem), _) => Diagnosis::warn(problem.to_string(), "`fusebox config check` shows all of them"),
    }
}

/// Whether limits block here, or are only observed, or switched off for a while.
pub fn mode(installation: &Installation<'_>) -> Diagnosis {
    let (env, folder) = (installation.env, &installation.folder);
    let off = Store::open(env).and_then(|store| store.limits_off(&env.project_of(folder).to_string_lossy()));
    if off.ok().flatten().is_some_and(|off| off.holds(env.now().wall_ms)) {
        return Diagnosis::warn(
            "`fusebox off` has switched the limits off here",
            "`fusebox on` switches them on again",
        );
    }
    let (policy, _) = load::load(env, folder, is_trusted(env, folder));
    let files: Vec<String> =
        policy.observed.iter().map(|document| installation.short(Path::new(&document.path))).collect();
    match (policy.mode(), files.is_empty()) {
        (Mode::Observe, _) => Diagnosis::warn(
            "limits are only observed here: nothing is blocked",
            "`fusebox config show` says which file sets `mode`; with \"enforce\" they block",
        ),
        (Mode::Enforce, _) if policy.binds.is_some() => Diagnosis::warn(
            "only what the repository binds blocks here; all else is only observed",
            "`fusebox config check` says which file sets `mode`",
        ),
        (Mode::Enforce, true) if policy.refuses_repository => Diagnosis::warn(
            "limits block, but none of the repository's: your own file refuses them",
            "`refuse_repositories` in your fusebox.json",
        ),
        (Mode::Enforce, true) => Diagnosis::ok("limits block"),
        (Mode::Enforce, false) => {
            // Its `mode` is one.
            let has_none = policy.observed.iter().all(|document| document.settings.len() <= 1);
            let yet = if has_none { ", and there are none yet" } else { "" };
            Diagnosis::ok(format!("limits block; those of {} are only observed{yet}", files.join(", ")))
        }
    }
}

/// Whether bugs and unreadable input refuse a call.
pub fn denies_on_error(installation: &Installation<'_>) -> bool {
    let (policy, _) =
        load::load(installation.env, &installation.folder, is_trusted(installation.env, &installation.folder));
    policy.on_error() == OnError::Deny
}

/// Says why the state cannot be read or written, and what to do.
pub fn unreadable(error: &Error) -> Diagnosis {
    Diagnosis::fail(error.to_string(), error.advice().unwrap_or(ELSEWHERE))
}

/// Whether the state can be read and written.
pub fn state(installation: &Installation<'_>) -> Diagnosis {
    let checked = Store::open(installation.env).and_then(|store| {
        store.try_write()?;
        Ok((store.faults()?, store.folder().join("state.db"), facts(&store)?))
    });
    let checked = match checked {
        Ok((faults, path, facts)) if faults.is_empty() => {
            return facts.unwrap_or_else(|| Diagnosis::ok(format!("{} is sound", installation.short(&path))));
        }
        other => other.map(|(faults, path, _)| (faults, path)),
    };
    match checked {
        Ok((faults, path)) => {
            Diagnosis::fail(format!("{} is damaged: {}", installation.short(&path), faults.join("; ")), MOVE_AWAY)
        }
        Err(error) => {
            let full = store::folder(installation.env).ok().and_then(|folder| no_room(installation, &folder));
            full.unwrap_or_else(|| unreadable(&error))
        }
    }
}

/// Returns what is wrong with the facts of the state; `None` where each is as Fusebox has written it.
fn facts(store: &Store) -> Result<Option<Diagnosis>> {
    let altered = store.altered_metadata()?;
    let names: Vec<String> = altered.iter().filter_map(|name| altered_metadata::describe(name)).take(5).collect();
    if !names.is_empty() {
        let words = format!(
            "another program (or an earlier Fusebox) has written {} into the state: it is not believed",
            names.join(", ")
        );
        let said = altered.iter().filter_map(|name| kind_of(name)?.command).next();
        let again = said.map(|command| format!("; where it was you, `fusebox {command}` says it again"));
        let hint = format!("`fusebox prune` removes it{}", again.unwrap_or_default());
        return Ok(Some(Diagnosis::warn(words, hint)));
    }
    let deleted = store.metadata_faults()?.lacks_some.then(|| {
        Diagnosis::warn(
            "another program has deleted facts from the state",
            "look at `fusebox config show` and the settings yourself: the next session may not tell what has changed",
        )
    });
    Ok(deleted)
}

/// How long a pruning may have to come to its end, in milliseconds.
const PRUNING_MS: i64 = HOUR_MS;

/// How large the state is, and what keeps it from growing.
pub fn history(installation: &Installation<'_>) -> Diagnosis {
    let read = Store::open(installation.env)
        .and_then(|store| Ok((store.size()?, retention::retention(&store)?, retention::last(&store)?)));
    let (size, days, retention::LastPruning { begun_ms: begun, done_ms: done }) = match read {
        Ok(read) => read,
        Err(error) => return unreadable(&error),
    };
    let kept = days.map_or_else(|| "all detail is kept".to_owned(), |days| format!("detail is kept for {days} days"));
    let now = installation.env.now().wall_ms;
    let ago = |at_ms: i64| format!("{} h ago", now.saturating_sub(at_ms).max(0) / HOUR_MS);
    let pruned = done.map_or_else(|| "not pruned yet".to_owned(), |at_ms| format!("pruned {}", ago(at_ms)));
    let words = format!("{:.1} MB; {kept}; {pruned}", size as f64 / 1e6);
    match begun {
        Some(at_ms) if days.is_some() && done.is_some_and(|done| done < at_ms) && now - at_ms > PRUNING_MS => {
            let words = format!("{words}; the pruning of {} did not come to its end", ago(at_ms));
            Diagnosis::warn(words, "run `fusebox prune` to see why")
        }
        _ => Diagnosis::ok(words),
    }
}

/// Says that the state's disk is full, and what follows; `None` where it has room.
fn no_room(installation: &Installation<'_>, folder: &Path) -> Option<Diagnosis> {
    let cause = file_system::try_room(folder, 1 << 20).err().filter(|cause| cause.kind() == ErrorKind::StorageFull)?;
    let words = format!(
        "{} has no room for 1 MB ({cause}): a hook that cannot write refuses calls and prompts; what is spent meanwhile \
         is counted from the transcripts later",
        installation.short(folder)
    );
    Some(Diagnosis::fail(words, "make room on that disk, or set FUSEBOX_HOME to a folder on another one"))
}

/// Whether the state's file system can do what the state needs.
pub fn file_system(installation: &Installation<'_>) -> Diagnosis {
    let hint = "set FUSEBOX_HOME to a folder on a local disk";
    let Ok(folder) = store::folder(installation.env) else { return Diagnosis::fail("there is no state folder", hint) };
    let name = installation.short(&folder);
    if let Some(kind) = file_system::network(&folder) {
        return Diagnosis::fail(format!("{name} is on {kind}: several machines can damage the state"), hint);
    }
    if !locks::work_in(&folder) {
        return Diagnosis::fail(format!("locks do not work in {name}"), hint);
    }
    if let Some(full) = no_room(installation, &folder) {
        return full;
    }
    match Store::open(installation.env).and_then(|store| store.journal()) {
        Ok(journal) if journal == "wal" => Diagnosis::ok("local, with locks and a write-ahead log"),
        Ok(journal) => {
            Diagnosis::warn(format!("{name} has no write-ahead log, but `{journal}`: hooks are slower"), hint)
        }
        Err(error) => Diagnosis::fail(error.to_string(), hint),
    }
}

/// Whether responses can be priced.
pub fn prices(installation: &Installation<'_>) -> Diagnosis {
    let env = installation.env;
    let (policy, _) = load::load(env, &installation.folder, is_trusted(env, &installation.folder));
    let (table, error) = pricing::load(env, policy.own_prices());
    let lowered = match policy.own_prices() {
        OwnPrices::Replace => Vec::new(),
        OwnPrices::OnlyRaise => pricing::lowered(&pricing::text(env).0),
    };
    match error {
        None if !lowered.is_empty() => Diagnosis::warn(
            format!(
                "your own of {} count no lower than the list's: caps on cost hold here that are not your own",
                lowered.join(", ")
            ),
            "docs/pricing.md says when your own prices hold",
        ),
        None => Diagnosis::ok(format!("{} prices, as client {} has them", table.in_force().len(), table::SOURCE)),
        Some(error) => Diagnosis::fail(error.to_string(), error.advice().unwrap_or_default()),
    }
}

/// Whether dollars are taken for what they are to who pays; nothing where they are.
pub fn billing(installation: &Installation<'_>) -> Option<Diagnosis> {
    let env = installation.env;
    let (policy, _) = load::load(env, &installation.folder, is_trusted(env, &installation.folder));
    match (payment::payment(env)?, policy.billing()) {
        (Payment::Plan, None) => Some(Diagnosis::warn(
            "the client is signed in with a plan, and its dollars are counted as a bill here",
            "`fusebox init` has tokens counted first, and says that dollars are list prices",
        )),
        (Payment::ApiKey | Payment::Provider(_), Some(Billing::Plan)) => Some(Diagnosis::warn(
            "the client pays by the token, and its dollars are called list prices here, as with a plan",
            "`\"billing\": \"tokens\"` in your own fusebox.json has them counted as a bill",
        )),
        _ => None,
    }
}

/// Whether clients that a command starts and that ask no hook are seen here while they run. Either way it is a fact, and no fault.
pub fn silent_clients(installation: &Installation<'_>) -> Diagnosis {
    let tells = processes::TELLS_PROGRAMS && processes::program(installation.env.pid()).is_some();
    let when =
        if tells { "while it runs" } else { "by its transcript alone: this system does not tell which program runs" };
    Diagnosis::ok(format!("one that asks no hook is told of {when}"))
}

/// Returns what the operating system does not give, one line each.
pub fn system() -> impl Iterator<Item = Diagnosis> {
    let hint = |at| (at + 1 == lacks().len()).then(|| "docs/platforms.md says what holds on each system".to_owned());
    let line = move |(at, words): (usize, &&str)| Diagnosis { hint: hint(at), ..Diagnosis::warn(*words, "") };
    lacks().iter().enumerate().map(line)
}
