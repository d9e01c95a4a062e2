//! The check of a team that the machine has joined: what the state says of its store. No connection is opened for it.

use std::path::Path;

use crate::config::load;
use crate::doctor::diagnosis::Diagnosis;
use crate::doctor::environment_checks;
use crate::doctor::installation::Installation;
use crate::domain::moment::Moment;
use crate::domain::scope::Scope;
use crate::domain::spend::amount::Amount;
use crate::domain::stored::metadata;
use crate::domain::team::TeamShare;
use crate::domain::text::duration::measured;
use crate::error::Result;
use crate::platform::{file_info, files};
use crate::store::team::{JOINED, LARGEST, joined_in, mark};
use crate::store::trust::is_trusted;
use crate::store::{self, Store};

/// What shows why a store is not heard.
const SYNC: &str = "`fusebox team sync` shows why";

/// Whether a team's caps can be kept here; nothing where neither the policy names a team nor the machine has joined one.
pub fn team(installation: &Installation<'_>) -> Option<Diagnosis> {
    let env = installation.env;
    let (policy, _) = load::load(env, &installation.folder, is_trusted(env, &installation.folder));
    let named = policy.team().map(|terms| terms.name);
    let folder = store::folder(env).ok()?;
    let place = folder.join(JOINED);
    let Ok(info) = file_info::of(&place) else {
        return named.map(|name| {
            let what = format!("sessions are bound by team {name}, and this machine has joined none");
            Diagnosis::fail(what, format!("`fusebox team join {name}`, or take `team` out of your fusebox.json"))
        });
    };
    if cfg!(unix) && info.mode & 0o077 != 0 {
        let (path, mode) = (installation.short(&place), info.mode & 0o777);
        let what = format!("{path} can be read by others (mode {mode:04o}), and holds a password: no sync takes it");
        return Some(Diagnosis::fail(what, format!("chmod 600 {path}")));
    }
    let Some(joined) = joined_in(&folder) else {
        let what = format!("{} does not say which team was joined", installation.short(&place));
        return Some(Diagnosis::fail(what, "`fusebox team join NAME` writes it anew"));
    };
    if named.as_ref() != Some(&joined) {
        let what = format!("team {joined} is told what is spent, but binds no new session: no own file names it");
        return Some(Diagnosis::warn(
            what,
            format!("`fusebox team join {joined}` writes `team` into your fusebox.json"),
        ));
    }
    let share = Store::open(env).and_then(|store| Ok((is_as_written(&store, &place)?, share(&store, &joined)?)));
    Some(match share {
        Ok((false, _)) => {
            let what = format!("another program has changed {}: no sync takes it", installation.short(&place));
            Diagnosis::fail(what, format!("`fusebox team join {joined}` writes it anew"))
        }
        Ok((true, share)) => heard(&joined, &share.unwrap_or_default(), env.now()),
        Err(error) => environment_checks::unreadable(&error),
    })
}

fn is_as_written(store: &Store, place: &Path) -> Result<bool> {
    let known = store.metadata(&metadata::TEAM_FILE.of(JOINED))?;
    Ok(known == files::text(place, LARGEST).ok().as_deref().map(mark))
}

fn share(store: &Store, team: &str) -> Result<Option<TeamShare>> {
    let budget = store.shared_budget(Scope::Team, team)?;
    Ok(budget.and_then(|budget| budget.team).map(|share| *share))
}

/// Says when the store was heard, and whether what it has leased lives.
fn heard(team: &str, share: &TeamShare, now: Moment) -> Diagnosis {
    let ago = |moment: Moment| format!("{} ago", measured(now.wall_since(moment)));
    if share.heard == Moment::default() && share.failed == Moment::default() {
        return Diagnosis::ok(format!("team {team}: joined; its store is asked once an agent works"));
    }
    let helps = if share.helps.is_empty() { format!("ask {}", share.whom()) } else { share.helps.clone() };
    if share.heard == Moment::default() && !share.refused.is_empty() {
        return Diagnosis::fail(format!("team {team}: its store refuses this machine: {}", share.refused), helps);
    }
    if share.heard == Moment::default() {
        let what =
            format!("team {team}: this machine holds no lease yet; its store was not reached {}", ago(share.failed));
        return Diagnosis::warn(what, SYNC);
    }
    let heard = format!("team {team}: its store was heard {}", ago(share.heard));
    let lives_ms = share.until.mono_ms.saturating_sub(now.mono_ms);
    let is_alive = share.until.boot == now.boot && lives_ms > 0;
    let leases = match (share.left > Amount::ZERO, is_alive) {
        (true, true) => format!("{} is leased, for {} more", share.left, measured(lives_ms)),
        (false, _) => "nothing is leased".to_owned(),
        (true, false) => "the leases are over".to_owned(),
    };
    if !share.refused.is_empty() {
        let what = format!("{heard}, and refuses this machine since: {}; {leases}", share.refused);
        return Diagnosis::fail(what, helps);
    }
    if !share.held_by.is_empty() {
        let what = format!("{heard}; {leases}; {} keeps a transaction open, and nothing more is leased", share.held_by);
        return Diagnosis::warn(what, "docs/team-store.md#who-waits-for-whom says how that is ended");
    }
    if share.failed != Moment::default() {
        return Diagnosis::warn(format!("{heard}, and not reached {}; {leases}", ago(share.failed)), SYNC);
    }
    if share.left > Amount::ZERO && !is_alive {
        return Diagnosis::warn(format!("{heard}; {leases}"), "the next event, or `fusebox team sync`, asks for more");
    }
    Diagnosis::ok(format!("{heard}; {leases}; {JOINED} is for its user alone"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::diagnosis::Health;

    #[test]
    fn it_says_when_the_store_was_heard_and_whether_leases_live() {
        let at = |mono_ms| Moment { mono_ms, boot: 1, ..Moment::default() };
        let held =
            TeamShare { heard: at(1_000), until: at(901_000), left: Amount::from_usd(2.0), ..TeamShare::default() };
        let cases = [
            (TeamShare::default(), Health::Ok, "team core: joined; its store is asked once an agent works"),
            (
                TeamShare { failed: at(1_000), ..TeamShare::default() },
                Health::Warn,
                "team core: this machine holds no lease yet; its store was not reached 60.0 s ago",
            ),
            (
                TeamShare { failed: at(1_000), refused: "bob is no member".to_owned(), ..TeamShare::default() },
                Health::Fail,
                "team core: its store refuses this machine: bob is no member",
            ),
            (held.clone(), Health::Ok, "heard 60.0 s ago; 2.00 USD is leased, for 14.0 min more"),
            (TeamShare { until: at(2_000), ..held.clone() }, Health::Warn, "the leases are over"),
            (
                TeamShare { until: Moment { boot: 2, ..held.until }, ..held.clone() },
                Health::Warn,
                "the leases are over",
            ),
            (TeamShare { left: Amount::ZERO, until: at(2_000), ..held.clone() }, Health::Ok, "nothing is leased"),
            (TeamShare { held_by: "bob".to_owned(), ..held.clone() }, Health::Warn, "bob keeps a transaction open"),
            (TeamShare { failed: at(31_000), ..held.clone() }, Health::Warn, "and not reached 30.0 s ago"),
            (TeamShare { refused: "bob is no member".to_owned(), ..held }, Health::Fail, "since: bob is no member"),
        ];
        for (share, health, words) in cases {
            let found = heard("core", &share, at(60_999));
            assert_eq!(found.health, health, "{found:?}");
            assert!(found.words.contains(words), "{found:?}");
        }
    }
}
