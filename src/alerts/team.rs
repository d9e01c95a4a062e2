//! What is spent of a team's caps: each level is told once for each period.

use crate::alerts::alert::Alert;
use crate::domain::alert::{AlertRule, Trigger};
use crate::domain::team_cap::CapUse;
use crate::messages::alerts as messages;
use crate::ui::style::plain;

/// Finds the caps of which so much is spent, but not yet so much as a higher rule is about.
pub fn part_used(caps: &[CapUse], rule: &AlertRule, percent: u64, rules: &[AlertRule]) -> Vec<Alert> {
    let is_told_by = |other: &AlertRule, cap: &CapUse| match other.trigger {
        Trigger::Team { percent: higher } => higher > percent && cap.is_used(higher),
        _ => false,
    };
    let reached = caps.iter().filter(|cap| cap.is_used(percent) && !rules.iter().any(|other| is_told_by(other, cap)));
    reached.map(|cap| alert(cap, rule, percent)).collect()
}

fn alert(cap: &CapUse, rule: &AlertRule, percent: u64) -> Alert {
    let whose = match cap.scope.as_str() {
        "team" => format!("team {}", cap.team),
        "project" => format!("project {} in team {}", cap.label, cap.team),
        _ => format!("your own in team {}", cap.team),
    };
    let text = messages::team_part_used(percent, &cap.period, whose, cap.spent, cap.cap, &cap.resets);
    Alert {
        rule: rule.name.clone(),
        cause: format!("team:{}:{}{}:{}:{}:{percent}", cap.team, cap.scope, cap.label, cap.period, cap.resets),
        text: plain(&text),
        used: Some(cap.spent.usd()),
        cap: Some(cap.cap.usd()),
        next: "fusebox team status".to_owned(),
        ..Alert::default()
    }
}
