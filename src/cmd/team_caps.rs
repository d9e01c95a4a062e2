//! `fusebox team limit`, `grant` and `contact`: what admins set of a team's caps.

use std::process::ExitCode;

use crate::cmd::team_blocked::{self, Said};
use crate::cmd::{team_members, team_place, team_shares};
use crate::domain::spend::amount::Amount;
use crate::domain::team_cap::CapUse;
use crate::domain::text::project_address;
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::store::team::admin::Whose;
use crate::store::team::ledger::Ledger;
use crate::store::team::limits::CapInForce;
use crate::ui::formats::by_number;

/// The highest cap, in dollars: what the store's numbers hold.
const HIGHEST: f64 = 9_000_000.0;
/// The longest contact, in characters.
const LONGEST_CONTACT: usize = 200;

/// Says from when on machines go by so many caps.
pub fn when(caps: usize) -> String {
    format!("each machine goes by {} from its next sync on\n", by_number(caps as u64, "it", "them"))
}

/// Sets caps.
pub fn limit(env: &Environment, caps: &[String], whose: Whose<'_>) -> Result<ExitCode> {
    let shared = caps.iter().filter_map(|text| team_shares::limit_of(text)).collect::<Result<Vec<_>>>()?;
    let caps = caps.iter().filter(|text| team_shares::limit_of(text).is_none());
    let caps = caps.map(|text| cap_of(text)).collect::<Result<Vec<_>>>()?;
    if !shared.is_empty() && whose != Whose::Team {
        return Err(Error::usage("agents and requests are limited for the team as a whole, and for nobody alone"));
    }
    let project = match whose {
        Whose::Project(written) => Some(known_project(written, caps.iter().all(|(_, cap)| cap.is_none()))?),
        _ => None,
    };
    let whose = project.as_deref().map_or(whose, Whose::Project);
    let joined = team_place::joined(env)?;
    let mut ledger = team_place::ledger(&joined)?;
    let shared_count = shared.len();
    for new in shared {
        team_shares::set(env, &mut ledger, &joined.team, new)?;
    }
    if let Whose::User(login) = whose {
        is_set_or_known(&mut ledger, &joined.team, login, &caps)?;
    }
    for (period, cap) in &caps {
        ledger.set_cap(&joined.team, whose, period, *cap)?;
        let shown = cap.map_or_else(|| "none".to_owned(), |cap| cap.to_string());
        let of = match whose {
            Whose::Team => "the team".to_owned(),
            Whose::EachUser => "each user".to_owned(),
            Whose::User(login) => login.to_owned(),
            Whose::Group(name) => format!("each login of group {name}"),
            Whose::Project(label) => format!("project {label}"),
        };
        env.print(&format!("cap of {of} for a {period}: {shown}\n"));
        if cap.is_some() {
            env.print(&granted_besides(&mut ledger, &joined.team, whose, period)?);
        }
    }
    env.print(&when(caps.len() + shared_count));
    Ok(ExitCode::SUCCESS)
}

/// Refuses caps of a login that takes no part. One that is there is taken away from whoever has it.
fn is_set_or_known(ledger: &mut Ledger, team: &str, login: &str, caps: &[(&str, Option<Amount>)]) -> Result<()> {
    let set = ledger.caps_in_force(team)?;
    let is_set = |period: &str| set.iter().any(|cap| cap.set_for == login && cap.period == period);
    match caps.iter().all(|(period, cap)| cap.is_none() && is_set(period)) {
        true => Ok(()),
        false => team_members::known(ledger, team, login),
    }
}

/// Says which of the caps that were just set a grant raises until their period ends.
fn granted_besides(ledger: &mut Ledger, team: &str, whose: Whose<'_>, period: &str) -> Result<String> {
    let set_for = match whose {
        Whose::Team => "team".to_owned(),
        Whose::EachUser => "each user".to_owned(),
        Whose::User(login) => login.to_owned(),
        Whose::Group(name) => format!("group {name}"),
        Whose::Project(_) => return Ok(String::new()),
    };
    let is_raised = |cap: &&CapInForce| cap.set_for == set_for && cap.period == period && cap.granted > Amount::ZERO;
    let caps = ledger.caps_in_force(team)?;
    let told = caps.iter().filter(is_raised).map(|cap| {
        let who = if cap.who.is_empty() { "the team" } else { &cap.who };
        let (after, granted, resets) = (cap.cap, cap.granted, &cap.resets);
        format!("  for {who} it is {after} until {resets}, with {granted} that was granted\n")
    });
    Ok(told.collect())
}

/// Returns the label of a project. Refuses an address by which none is known: a cap of it would bind nobody, and every member would
/// read it. One that a store of before holds can be taken away.
fn known_project(written: &str, is_taken_away: bool) -> Result<String> {
    let label = project_address::canonical(written).or_else(|| is_taken_away.then(|| written.to_owned()));
    label.ok_or_else(|| {
        Error::usage("no project is known by this address")
            .hint("`fusebox team report --by project` lists the addresses")
    })
}

/// Sets whom people ask whose agents are stopped.
pub fn contact(env: &Environment, contact: &str) -> Result<ExitCode> {
    let joined = team_place::joined(env)?;
    // Messages say `ask` before it.
    let contact = contact.trim();
    let contact =
        contact.get(..4).filter(|begin| begin.eq_ignore_ascii_case("ask ")).map_or(contact, |_| contact[4..].trim());
    if contact.chars().count() > LONGEST_CONTACT || contact.chars().any(char::is_control) {
        return Err(Error::usage(format!("a contact is one line of {LONGEST_CONTACT} characters at most")));
    }
    team_place::ledger(&joined)?.set_contact(&joined.team, contact)?;
    let whom = if contact.is_empty() { "an admin" } else { contact };
    env.print(&format!(
        "whose agents team {} stops reads: ask {whom}\neach machine says it from its next sync on\n",
        joined.team
    ));
    Ok(ExitCode::SUCCESS)
}

/// Reads `month=1000`.
fn cap_of(text: &str) -> Result<(&str, Option<Amount>)> {
    let wrong = || {
        Error::usage(format!(
            "`{text}` is no cap: it is like day=50, month=1000, month=none, agents=40 or requests=600/1m"
        ))
    };
    let (period, amount) = text.split_once('=').ok_or_else(wrong)?;
    if !["day", "week", "month"].contains(&period) {
        return Err(wrong());
    }
    match amount {
        "none" => Ok((period, None)),
        _ => {
            let usd = amount.parse::<f64>().ok().filter(|usd| (0.0..=HIGHEST).contains(usd)).ok_or_else(wrong)?;
            Ok((period, Some(Amount::from_usd(usd))))
        }
    }
}

/// Raises caps until their current periods end: of a login, or the team's.
pub fn grant(env: &Environment, what: &[String], period: Option<&str>) -> Result<ExitCode> {
    let (login, more) = match what {
        [login, more] => (Some(login.as_str()), more),
        [more] => (None, more),
        _ => return Err(Error::usage("a grant is like `bob +5`, or `+5` for the team")),
    };
    let more = more_of(more)?;
    let joined = team_place::joined(env)?;
    let mut ledger = team_place::ledger(&joined)?;
    if let Some(login) = login {
        team_members::known(&mut ledger, &joined.team, login)?;
    }
    let raised = ledger.grant(&joined.team, login, period, more)?;
    for granted in &raised {
        let (who, resets) = (login.unwrap_or("the team"), &granted.resets);
        let (period, before, after) = (&granted.period, granted.before, granted.after);
        env.print(&format!("cap of {who} for this {period}: {after}, was {before}; until {resets}\n"));
    }
    env.print(&blocks_still(&mut ledger, &joined.team, login)?);
    env.print(&when(raised.len()));
    Ok(ExitCode::SUCCESS)
}

/// Says which caps let a login, or the team, spend nothing more although others were raised.
fn blocks_still(ledger: &mut Ledger, team: &str, login: Option<&str>) -> Result<String> {
    let contact = ledger.status(team)?.into_iter().next().map(|cap| cap.contact).unwrap_or_default();
    let said = |cap: &CapInForce, _: &CapUse| {
        if !cap.is_committed() {
            return None;
        }
        let is = if cap.spent >= cap.cap { "is still" } else { "may still be" };
        let who = match (cap.scope.as_str(), login) {
            ("project", _) => "work in it",
            ("team", login) => login.unwrap_or("everyone"),
            (_, Some(login)) if login != cap.who => return None,
            _ => &cap.who,
        };
        Some(Said { whom: format!("{who} {is} blocked"), ..Said::default() })
    };
    Ok(team_blocked::lines(&ledger.caps_in_force(team)?, team, &contact, said))
}

/// Reads `+5`.
fn more_of(text: &str) -> Result<Amount> {
    let usd = text.strip_prefix('+').and_then(|usd| usd.parse::<f64>().ok());
    let more = usd.filter(|usd| *usd > 0.0 && *usd <= HIGHEST).map(Amount::from_usd).filter(|more| more.0 > 0);
    more.ok_or_else(|| Error::usage(format!("`{text}` is no grant: it is like +5, in US dollars")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_a_period_and_dollars_or_none() {
        assert_eq!(cap_of("month=1000").unwrap(), ("month", Some(Amount::from_usd(1000.0))));
        assert_eq!(cap_of("day=none").unwrap(), ("day", None));
        for wrong in ["1000", "year=5", "day=", "day=-1", "day=NaN", "day=inf", "day=1e12"] {
            assert!(cap_of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_grant_is_a_plus_and_dollars() {
        assert_eq!(more_of("+5").unwrap(), Amount::from_usd(5.0));
        for wrong in ["5", "+", "+0", "+-1", "-5", "+NaN", "+inf", "+1e12", "+1e-20"] {
            assert!(more_of(wrong).is_err(), "{wrong}");
        }
    }
}
