//! A team's caps as its store says them: whose each is, what is used of it, and who raises it by which command.

use serde::{Deserialize, Serialize};

use crate::domain::limit::{Limit, Span};
use crate::domain::spend::amount::{Amount, PICO};
use crate::domain::stored::serde_default::is_default;

/// One of a team's caps, and what is used of it, as the store says it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CapUse {
    /// The team's name.
    pub team: String,
    /// `team`, `project`, or `user` for that of one login.
    pub scope: String,
    /// The project's label, or the login; empty for the team.
    pub label: String,
    /// `day`, `week` or `month`.
    pub period: String,
    /// When it ends, as messages write it.
    pub resets: String,
    /// The cap.
    pub cap: Amount,
    /// What is spent of it.
    pub spent: Amount,
    /// How much of that this machine has spent, and its store has not said yet.
    #[serde(skip_serializing_if = "is_default")]
    pub own: Amount,
    /// Of a project: what its sessions have spent here since all that was written down.
    #[serde(skip_serializing_if = "is_default")]
    pub since: Amount,
    /// What is spent of it or leased.
    pub committed: Amount,
    /// Whom to ask for more; empty where nobody is named.
    pub contact: String,
}

impl CapUse {
    /// Whether so many per cent are used.
    pub fn is_used(&self, percent: u64) -> bool {
        self.cap > Amount::ZERO && u128::from(self.spent.0) * 100 >= u128::from(self.cap.0) * u128::from(percent)
    }

    /// Returns the period that it is of.
    pub fn span(&self) -> Span {
        match self.period.as_str() {
            "day" => Span::Day,
            "week" => Span::Week,
            _ => Span::Month,
        }
    }

    /// Returns whose it is, where the team is named besides: `core`, `core, bob`, `core, project git.example/app`.
    pub fn owner(&self) -> String {
        let CapUse { team, label, .. } = self;
        match self.scope.as_str() {
            "team" => team.clone(),
            "project" => format!("{team}, project {label}"),
            _ => format!("{team}, {label}"),
        }
    }

    /// Names it: `bob's cap of the day in team core`.
    pub fn named(&self) -> String {
        let CapUse { team, label, period, .. } = self;
        match self.scope.as_str() {
            "team" => format!("the cap of the {period} of team {team}"),
            "project" => format!("the cap of the {period} of project {label} in team {team}"),
            _ => format!("{label}'s cap of the {period} in team {team}"),
        }
    }

    /// Says that it is used up where so much is spent: `bob's cap of the day in team core is used up, 0.0350/0.0350 USD`. Where it is
    /// not, says what `more` it is taken for: `… is at 0.0292/0.0350 USD + 0.0060 leased`.
    pub fn used_up(&self, spent: Amount, more: Amount, what: &str) -> String {
        let (named, figures) = (self.named(), self.figures(spent));
        match spent >= self.cap {
            true => format!("{named} is used up, {figures}"),
            false => format!("{named} is at {figures} + {} {what}", self.show(more).trim_end_matches(" USD")),
        }
    }

    /// Returns `0.0292/0.0350 USD`.
    pub fn figures(&self, spent: Amount) -> String {
        format!("{}/{}", self.show(spent).trim_end_matches(" USD"), self.show(self.cap))
    }

    /// Shows an amount as finely as the cap is.
    pub fn show(&self, amount: Amount) -> String {
        Limit::on_cost_of(self.span()).map_or_else(|| amount.to_string(), |limit| limit.show_cap(amount.0))
    }

    /// Says when it may be spent again, and whom to ask for more: `2026-11-29 00:00 UTC, ask ann: …`.
    pub fn anew(&self) -> String {
        format!("{}, {}", self.resets, self.asks())
    }

    /// Says whom to ask for more, and by which command an admin gives it: `ask ann: fusebox team grant bob +5.00 --period day`.
    pub fn asks(&self) -> String {
        let command = self.raised_by();
        match self.contact.as_str() {
            "" => format!("ask an admin: `{command}`"),
            contact => format!("ask {contact}: `{command}`"),
        }
    }

    /// Returns the command by which an admin raises it, and it alone, by enough.
    fn raised_by(&self) -> String {
        let CapUse { label, period, .. } = self;
        let enough = self.enough();
        match self.scope.as_str() {
            "team" => format!("fusebox team grant +{} --period {period}", enough.typed()),
            "project" => format!("fusebox team limit {period}={} --project {label}", (self.cap + enough).typed()),
            _ => format!("fusebox team grant {label} +{} --period {period}", enough.typed()),
        }
    }

    /// Returns as many halves of the cap as leave room above what is spent or leased: one at least, and a cent.
    fn enough(&self) -> Amount {
        let half = (self.cap.0 / 2).max(PICO / 100);
        let lacks = self.committed.max(self.spent).minus(self.cap);
        Amount(half.saturating_mul((lacks.0 / half).saturating_add(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_names_whose_it_is_what_is_used_and_who_raises_it() {
        let usd = Amount::from_usd;
        let cap = CapUse {
            team: "core".to_owned(),
            period: "day".to_owned(),
            resets: "2026-11-29 00:00 UTC".to_owned(),
            cap: usd(0.035),
            contact: "ann".to_owned(),
            ..CapUse::default()
        };
        let cases = [
            ("user", "bob", "bob's cap of the day in team core", "fusebox team grant bob +0.02 --period day"),
            ("team", "", "the cap of the day of team core", "fusebox team grant +0.02 --period day"),
            (
                "project",
                "git.example/app",
                "the cap of the day of project git.example/app in team core",
                "fusebox team limit day=0.06 --project git.example/app",
            ),
        ];
        for (scope, label, named, command) in cases {
            let cap = CapUse { scope: scope.to_owned(), label: label.to_owned(), ..cap.clone() };
            let said = |spent| cap.used_up(usd(spent), usd(0.006), "leased");
            assert_eq!(said(0.0292), format!("{named} is at 0.0292/0.0350 USD + 0.0060 leased"));
            assert_eq!(said(0.035), format!("{named} is used up, 0.0350/0.0350 USD"));
            assert_eq!(cap.anew(), format!("2026-11-29 00:00 UTC, ask ann: `{command}`"));
            let unnamed = CapUse { contact: String::new(), ..cap };
            assert_eq!(unnamed.anew(), format!("2026-11-29 00:00 UTC, ask an admin: `{command}`"));
        }
    }
}
