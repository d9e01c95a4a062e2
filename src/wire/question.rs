//! What a dialog asks a person.

use crate::domain::frees::Frees;
use crate::domain::limit::{Form, Span};
use crate::domain::scope::Scope;
use crate::domain::session::Run;
use crate::domain::unit::Unit;
use crate::domain::verdict::Finding;
use crate::messages::to_people;
use crate::ui::formats::counted;
use crate::wire::messages::{bare, bare_cap, pair, used_and_cap};
use crate::wire::user_lines::{beside_command, by, by_layer, has_long_key, is_short, label, named, over, without_wait};

/// Asks for an increase of every limit that a Yes would raise, with the figures of the moment.
pub fn question(run: &Run, asked: &[&Finding]) -> String {
    match asked {
        [] => String::new(),
        [finding] => about_one(run, finding),
        all => about_several(run, all),
    }
}

/// Of how many requests are to come there is no room to say.
fn about_several(run: &Run, asked: &[&Finding]) -> String {
    let bare = |it: &Finding| Finding { ahead: 0, requests_ahead: 0, frees: Frees::Never, ..it.clone() };
    let in_full: Vec<String> = asked.iter().map(|it| beside_command(&bare(it))).collect();
    let figures = |it: &&Finding| {
        // The key of a longer period says whose it is.
        let of = if it.scope <= Scope::Outer { over(it.scope) } else { "" };
        it.limit().map(|limit| format!("{}{of} {}", pair(limit, it.used, it.cap), by(it)))
    };
    let cap = |it: &&Finding| it.limit().map(|limit| bare_cap(limit, it.cap.saturating_add(it.increase)));
    let caps: Vec<String> = asked.iter().filter_map(cap).collect();
    let no = if asked.iter().any(|it| it.ends_run()) { "stop here" } else { "refuse this call" };
    let asks = |each: &[String]| {
        let then = format!("Yes: caps {}. No: {no}", caps.join(" and "));
        to_people::question_caps(named(run), each.join(" and "), then)
    };
    let whole = asks(&in_full);
    match is_short(&whole) {
        true => whole,
        false => asks(&asked.iter().filter_map(figures).collect::<Vec<_>>()),
    }
}

fn about_one(run: &Run, finding: &Finding) -> String {
    let (who, Some(limit)) = (named(run), finding.limit()) else { return by_layer(finding) };
    match (limit.form, limit.unit) {
        (Form::Windows, _) => to_people::question_window(who, finding.frees.to_string(), without_wait(finding)),
        (_, Unit::Switch) => to_people::question_repetition(who, by_layer(finding)),
        _ => {
            let (used, cap) = used_and_cap(limit, finding.used, finding.cap);
            // What the response that asks for the call costs is not on disk yet; that it is one more is known.
            let is_estimate = finding.missing_usage > 0 && limit.unit != Unit::Count;
            let used = if is_estimate { format!("about {used}") } else { used };
            // The cap says the unit.
            let about = bare(limit, finding.ahead);
            let ahead = match finding.ahead {
                0 => "one more would pass that".to_owned(),
                // What is under way and not counted yet, the next one, and the report after it.
                _ if limit.unit == Unit::Count => format!("{about} are to come"),
                // Beside a long key and its label there is no room for how many.
                _ if has_long_key(finding) && limit.texts.short_label.is_none() => format!("about {about} to come"),
                _ if finding.requests_ahead > 0 => {
                    format!("{} to come: about {about}", counted(finding.requests_ahead, "request"))
                }
                _ => format!("requests to come take about {about}"),
            };
            let period = limit.period.map_or("", now);
            let (what, by) = (format!("{}{}{period}", label(finding, limit), over(finding.scope)), by(finding));
            let raised = bare_cap(limit, finding.cap.saturating_add(finding.increase));
            let no = if finding.ends_run() { "stop here" } else { "refuse this call" };
            let asks = |ahead: &str, yes: &str| {
                let then = format!("Yes: {yes}cap {raised}. No: {no}");
                to_people::question_cap(&who, &what, &used, &cap, &by, ahead, then)
            };
            // What a Yes gives matters more than its unit, and than how many requests are to come.
            let whole = format!("{} more, ", limit.show_cap(finding.increase));
            let few = format!("+{}, ", bare_cap(limit, finding.increase));
            let is_many = finding.ahead > 0 && finding.requests_ahead > 0 && limit.unit != Unit::Count;
            let brief = if is_many { format!("about {about} to come") } else { ahead.clone() };
            let all = [asks(&ahead, &whole), asks(&ahead, &few), asks(&brief, &few)];
            all.into_iter().find(|said| is_short(said)).unwrap_or_else(|| asks(&ahead, ""))
        }
    }
}

/// Returns the words for the period that it is now.
fn now(period: Span) -> &'static str {
    match period {
        Span::Day => " today",
        Span::Week => " this week",
        Span::Month => " this month",
    }
}
