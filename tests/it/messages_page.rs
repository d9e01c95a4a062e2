//! Every message fits where it is read, and `docs/messages.md` has them all.

use std::fmt::Write;

use fusebox::domain::action::Action;
use fusebox::domain::billing::Billing;
use fusebox::domain::finding_source::FindingSource;
use fusebox::domain::layer::Layer;
use fusebox::domain::limit::{Form, Limit};
use fusebox::domain::run_end::RunEnd;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::{MAIN, Run, Session};
use fusebox::domain::spend::amount::PICO;
use fusebox::domain::unit::Unit;
use fusebox::domain::verdict::Finding;
use fusebox::limits::REGISTRY;
use fusebox::messages::next_step::NextStep;
use fusebox::messages::{Row, alerts, notices, refusals, to_agents, to_people};
use fusebox::ui::wrap;
use fusebox::wire::question::question;
use fusebox::wire::user_lines;

use crate::world::check_current;

/// How wide the terminal of a person may be, and how many lines of it a message may take.
const WIDTH: usize = 100;
const LINES: usize = 2;

const HEAD: &str = "<!-- Made from src/messages: FUSEBOX_REGENERATE=1 cargo test --test it messages_page -->
# Messages

What Fusebox writes while agents work, each with values as they may be. A person reads at most two lines of 100 columns; in brackets
stand the limit's key and the layer whose rule it is (`fusebox config show` has its file). What an agent reads may be longer.
";

/// Returns a table of messages.
fn table(head: &str, before: &str, rows: &[Row]) -> String {
    let mut text = format!("\\n## {head}\\n\\n| message | when | text |\\n|---|---|---|\\n").replace("\\n", "\n");
    for Row { name, when, sample } in rows {
        writeln!(text, "| `{name}` | {when} | {before}{} |", sample.replace('|', "\\|").replace('*', "\\*")).unwrap();
    }
    text
}

/// Returns how many lines of a person's terminal a text takes where the client breaks it, between any words.
fn lines(text: &str) -> usize {
    let options = textwrap::Options::new(WIDTH).break_words(false);
    textwrap::wrap(text, options.word_splitter(textwrap::WordSplitter::NoHyphenation)).len()
}

#[test]
fn what_a_person_reads_takes_two_lines_at_most() {
    let notices = notices::rows().into_iter().map(|row| (row.name, format!("Fusebox: {}", row.sample)));
    let others = to_people::rows().into_iter().map(|row| (row.name, row.sample));
    let told = alerts::rows().into_iter().map(|row| (row.name, row.sample));
    let steps = NextStep::samples().into_iter().map(|step| ("next step", step.to_string()));
    let wide: Vec<String> = notices
        .chain(others)
        .chain(told)
        .chain(steps)
        .filter(|(_, text)| lines(text) > LINES)
        .map(|(name, text)| format!("{name}: {} characters: {text}", text.chars().count()))
        .collect();
    assert!(wide.is_empty(), "{} are too long:\n{}", wide.len(), wide.join("\n"));
}

/// A command is copied from where it stands: half of one is another, which may be valid and do nothing.
#[test]
fn no_command_that_a_message_names_is_broken() {
    let rows = [notices::rows(), to_people::rows(), alerts::rows(), refusals::rows(), to_agents::rows()].concat();
    let steps = NextStep::samples().into_iter().map(|step| step.to_string());
    let texts: Vec<String> = rows.into_iter().map(|row| row.sample).chain(steps).collect();
    let commands = texts.iter().filter(|text| text.contains("`fusebox ")).count();
    assert!(commands > 50, "only {commands} messages name a command");
    let mut broken = Vec::new();
    for text in &texts {
        for width in 40..=120 {
            let forms = [wrap::wrap(text, width, 0), wrap::sentence(text, width, "  "), wrap::fitting(text, width)];
            let is_half = |line: &&str| line.matches('`').count() % 2 == 1;
            broken.extend(forms.iter().filter_map(|form| Some(format!("{width}: {}", form.lines().find(is_half)?))));
        }
    }
    assert!(broken.is_empty(), "{} are broken:\n{}", broken.len(), broken[..broken.len().min(20)].join("\n"));
}

/// Every finding that a rule may come to, with figures as they may be: each limit over each scope, with each action.
fn findings() -> Vec<Finding> {
    let mut all = Vec::new();
    for limit in REGISTRY {
        let like = || FindingSource::LimitOfModels(limit, "*opus*".to_owned());
        let of_models = ["max_cost_usd", "max_tokens"].contains(&limit.key).then(like);
        for source in [Some(FindingSource::Limit(limit)), of_models].into_iter().flatten() {
            let above = limit.scopes.contains(&Scope::Session).then_some(Scope::Outer);
            for scope in limit.scopes.iter().copied().chain(above) {
                all.extend(findings_of(limit, &source, scope));
            }
        }
    }
    all
}

fn findings_of(limit: &Limit, source: &FindingSource, scope: Scope) -> Vec<Finding> {
    let cap = match limit.unit {
        Unit::Usd => 10 * PICO,
        Unit::Millis => 600_000,
        Unit::Tokens => 2_000_000,
        Unit::Count => 25,
        Unit::Percent => 90,
        Unit::Switch => 1,
    };
    let (subject, frees) = match (limit.unit, limit.form, limit.period) {
        (Unit::Percent, ..) => ("", "at 2026-11-20 14:00 +01:00"),
        (Unit::Switch, ..) => (LOOP, ""),
        (_, Form::Windows, _) => ("WebSearch in 60 s", "in 42 s"),
        (.., Some(_)) => ("", "at 2026-11-21 00:00 +01:00"),
        _ => ("", ""),
    };
    // The longer words are those of whoever pays by a plan.
    let billing = if limit.unit == Unit::Usd { Billing::Plan } else { Billing::Tokens };
    let of = |action, percent| Finding {
        used: cap / 100 * 97,
        cap,
        percent,
        increase: cap / 2,
        ahead: cap / 100 * 4,
        requests_ahead: 2,
        subject: subject.to_owned(),
        frees: frees.to_owned().into(),
        billing,
        ..Finding::bare(source.clone(), scope, action, Layer::Project)
    };
    let actions = [Action::Terminate, Action::Pause, Action::Warn, Action::RequestIncrease];
    actions.into_iter().map(|action| of(action, 100)).chain([of(Action::Warn, 80)]).collect()
}

/// A budget that keeps a prompt back besides.
fn budget() -> Finding {
    let limit = REGISTRY.iter().find(|limit| limit.key == "max_cost_usd_per_month").unwrap();
    let source = FindingSource::Limit(limit);
    let mut finding = findings_of(limit, &source, Scope::User).remove(0);
    (finding.used, finding.ahead) = (finding.cap * 11 / 10, 0);
    finding
}

const LOOP: &str = "Bash \"make test\" failed 3 times the same way: make: *** No rule to make targ…";

/// Returns what a person reads of a finding: whatever acts by it, on the main agent and on a subagent.
fn texts(finding: &Finding) -> Vec<String> {
    let session = Session { id: "5f0c1d2e-4d7c-4e0f-9b1f-0123456789ab".to_owned(), ..Session::default() };
    let main =
        Run { id: "b7d1c2e3-4d7c-4e0f-9b1f-0123456789ab".to_owned(), agent_type: MAIN.to_owned(), ..Run::default() };
    let agent = Run {
        id: "a3fa11ed0123456".to_owned(),
        agent_type: "developer".to_owned(),
        parent: Some(main.id.clone()),
        ..Run::default()
    };
    let end = RunEnd {
        run: agent.id.clone(),
        agent_type: agent.agent_type.clone(),
        finding: finding.clone(),
        stopped_with: None,
        paused: finding.action == Action::Pause,
        reason: None,
    };
    let on_a_plan = Session { billing: Billing::Plan, ..session.clone() };
    let mut texts = [&session, &on_a_plan].map(|session| user_lines::ended_subagent(&end, session, &agent)).to_vec();
    for run in [&main, &agent] {
        texts.push(user_lines::warning(run, finding));
        texts.push(question(run, &[finding]));
        if finding.has_cap() && finding.scope == Scope::Session {
            texts.push(question(run, &[finding, &budget()]));
        }
        texts.push(user_lines::blocked_prompt(&session, run, finding, &[]));
        if matches!(finding.scope, Scope::Session | Scope::Project | Scope::User) {
            texts.push(user_lines::blocked_prompt(&session, run, finding, &[&budget(), &budget()]));
        }
    }
    for blocks in [&[][..], &[budget()]] {
        texts.push(user_lines::stopped(&session, &main, finding, blocks));
        texts.push(user_lines::ended_main(&session, &main, finding, blocks));
    }
    texts.push(user_lines::ending(&main, finding));
    texts.push(user_lines::ended_for_good(&main, finding));
    texts
}

#[test]
fn whatever_a_limit_does_takes_two_lines_at_most() {
    let all: Vec<String> = findings().iter().flat_map(texts).collect();
    let mut wide: Vec<&String> = all.iter().filter(|text| lines(text) > LINES).collect();
    wide.sort_unstable_by_key(|text| std::cmp::Reverse(text.len()));
    wide.dedup();
    let shown: Vec<String> = wide.iter().take(60).map(|text| format!("{}: {text}", text.len())).collect();
    assert!(wide.is_empty(), "{} of {} are too long:\n{}", wide.len(), all.len(), shown.join("\n"));
}

#[test]
fn a_persons_line_names_what_is_counted() {
    for finding in findings() {
        let limit = finding.limit().unwrap();
        let named = limit.texts.short_label.unwrap_or(limit.texts.label);
        // What repeats, or how much of a team's budget is used, is the subject.
        let named = if limit.unit == Unit::Switch { &finding.subject } else { named };
        // Beside a command a long key says it.
        let is_named =
            |said: &str, word: &str| said.contains(word) || said.contains(&word.replacen("cost", "price", 1));
        let first = named.split(' ').next().unwrap();
        for billing in [Billing::Tokens, if limit.unit == Unit::Usd { Billing::Plan } else { Billing::Tokens }] {
            let finding = Finding { billing, ..finding.clone() };
            let (said, beside) = (user_lines::by_layer(&finding), user_lines::beside_command(&finding));
            assert!(is_named(&said, named), "{limit}: no \"{named}\" in {said}");
            let key = format!("({}", finding.source);
            assert!(is_named(&beside, named) || is_named(&beside, first) && beside.contains(&key), "{limit}: {beside}");
        }
    }
}

#[test]
fn what_is_counted_is_named_differently_for_each_limit() {
    // Of a cost its end says the period, of a window its subject.
    let name = |limit: &&Limit| {
        format!("{} {:?} {:?}", limit.texts.short_label.unwrap_or(limit.texts.label), limit.period, limit.form)
    };
    let mut names: Vec<String> = REGISTRY.iter().map(name).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all, "{names:?}");
}

#[test]
fn a_message_has_a_name_of_its_own_and_says_when() {
    let rows: Vec<Row> = [to_people::rows(), notices::rows(), to_agents::rows(), refusals::rows()].concat();
    let mut names: Vec<&str> = [to_people::rows(), notices::rows()].concat().iter().map(|row| row.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), to_people::rows().len() + notices::rows().len());
    for row in rows {
        assert!(row.when.ends_with('.') && !row.sample.is_empty() && !row.sample.contains('{'), "{row:?}");
    }
}

#[test]
fn the_page_of_messages_is_current() {
    let mut page = HEAD.to_owned();
    page += &table("What a person reads where a limit acts", "", &to_people::rows());
    page += &table("What a person reads beside that", "Fusebox: ", &notices::rows());
    page += &table("What `fusebox watch` tells", "", &alerts::rows());
    page += &table("What an agent reads", "", &to_agents::rows());
    page += &table("What an agent reads where it is no limit that refuses", "Fusebox: ", &refusals::rows());
    page += "\n## Next steps\n\nThe advice that stands in them. Tests run the commands that let work go on or show more of it: `resume`, \
             `grant`, `explain`, `reload` and `status`.\n\n";
    for step in NextStep::samples() {
        writeln!(page, "- {step}").unwrap();
    }
    check_current("docs/messages.md", &page);
}

#[test]
fn what_is_beyond_a_limit_is_said_to_be_more_than_all_of_it() {
    let main = Run { agent_type: MAIN.to_owned(), ..Run::default() };
    for finding in findings().into_iter().filter(|finding| finding.percent < 100 && !finding.is_switch()) {
        let beyond = Finding { used: finding.cap * 3, ..finding };
        let said = user_lines::warning(&main, &beyond);
        assert!(said.contains("all of it is used, and more"), "{said}");
    }
}
