//! What a hook writes to standard output: an answer in the client's protocol, or nothing.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::domain::action::Action;
use crate::domain::event::{Call, Event, EventKind, Intent};
use crate::domain::incomplete::is_of_end;
use crate::domain::notified::signed;
use crate::domain::outcome::EventOutcome;
use crate::domain::refusal::Refusal;
use crate::domain::scope::Scope;
use crate::domain::session::{Run, Session};
use crate::domain::spend::amount::Amount;
use crate::domain::verdict::{Decision, Finding, Verdict};
use crate::messages::{refusals, to_agents, to_people};
use crate::ui::terminal::plain;
use crate::wire::events::EventName;
use crate::wire::question::question;
use crate::wire::{inject_run_id, messages, tools, user_lines};

/// The answer's JSON. Empty fields are left out; an answer without any is no answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// False ends the loop in which the event happened.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub goes_on: Option<bool>,
    /// Why, for the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// `block` keeps a prompt or a settings change back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
    /// Why, for whoever reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Says nothing: the client writes down each answer that is not empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress_output: Option<bool>,
    /// Shown to the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// What depends on the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<Specific>,
}

/// The part of an answer that depends on the event.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Specific {
    hook_event_name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<Raw>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<String>,
    /// Keeps a blocked prompt off the screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    suppress_original_prompt: Option<bool>,
}

/// JSON as it stands, comparable.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
struct Raw(Box<RawValue>);

impl PartialEq for Raw {
    fn eq(&self, other: &Raw) -> bool {
        self.0.get() == other.0.get()
    }
}

impl Answer {
    /// Returns the text to print; nothing where there is nothing to say.
    pub fn text(&self) -> String {
        if *self == Answer::default() {
            return String::new();
        }
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the answer for a second process of the same event: the decision, without what was already told.
    pub fn decision_only(text: &str) -> String {
        let Ok(mut answer) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text) else {
            return String::new();
        };
        answer.remove("systemMessage");
        if let Some(specific) = answer.get_mut("hookSpecificOutput").and_then(serde_json::Value::as_object_mut) {
            specific.remove("additionalContext");
            if specific.len() == 1 {
                answer.remove("hookSpecificOutput");
            }
        }
        if answer.is_empty() { String::new() } else { serde_json::Value::Object(answer).to_string() }
    }

    /// Returns the call's input as the answer changes it.
    pub fn changed_input(&self) -> Option<&RawValue> {
        self.hook_specific_output.as_ref()?.updated_input.as_ref().map(|Raw(changed)| &**changed)
    }

    fn specific(&mut self, event: EventName) -> &mut Specific {
        self.hook_specific_output
            .get_or_insert_with(|| Specific { hook_event_name: event.as_str(), ..Specific::default() })
    }

    /// Adds a sentence for the model, where the event can carry one.
    fn tell_model(&mut self, event: EventName, text: &str) {
        if event.row().tells_model {
            append(&mut self.specific(event).additional_context, text);
        }
    }

    /// Has a person told in the reason why a prompt is not sent: the client shows nothing else of such an answer.
    pub fn tell_in_reason(&mut self) {
        let Some(reason) = &mut self.reason else { return };
        if let Some(told) = self.system_message.take() {
            *reason += "\n";
            *reason += &told;
        }
    }

    /// Makes it an answer where it is none.
    pub fn say_nothing(&mut self) {
        if *self == Answer::default() {
            self.suppress_output = Some(true);
        }
    }

    /// Adds a sentence for the person.
    pub fn tell_person(&mut self, text: &str) {
        append(&mut self.system_message, text);
    }
}

/// Adds a sentence on a line of its own: names in it come from outside, and break none.
fn append(slot: &mut Option<String>, text: &str) {
    match slot {
        Some(before) => {
            before.push('\n');
            before.push_str(&plain(text));
        }
        None => *slot = Some(plain(text)),
    }
}

/// What an answer is made from.
pub struct Case<'a> {
    /// The event's name; nothing for one that Fusebox does not know.
    pub name: Option<EventName>,
    /// The event.
    pub event: &'a Event,
    /// What it has come to.
    pub outcome: &'a EventOutcome<'a>,
    /// The call's input, as it stands.
    pub tool_input: Option<&'a RawValue>,
}

/// Writes a verdict in the client's protocol.
pub fn answer(case: &Case, verdict: &Verdict) -> Answer {
    let mut answer = Answer::default();
    let (Some(name), Some(run)) = (case.name, case.outcome.run) else { return answer };
    if verdict.observed {
        tell_own_run(&mut answer, case, name, run, verdict);
        return answer;
    }
    match verdict.decision {
        Decision::Allow => {}
        Decision::Warn => warn(&mut answer, name, run, verdict),
        Decision::Ask => ask(&mut answer, name, run, verdict),
        Decision::Deny | Decision::Stop => refuse(&mut answer, case, name, run, verdict),
    }
    early(&mut answer, name, run, verdict);
    for end in case.outcome.ends_for_parents {
        answer.tell_model(name, &messages::run_end(end));
    }
    if !case.outcome.let_go_on.is_empty() {
        answer.tell_model(name, &messages::let_go_on(case.outcome.let_go_on));
    }
    for (end, run) in &case.outcome.ends_for_person {
        let session = case.outcome.session;
        answer.tell_person(&match run.is_main() {
            _ if run.order.is_none() => user_lines::warning(run, &end.finding),
            true => user_lines::ended_main(session, run, &end.finding, &case.outcome.blocks_next),
            false => user_lines::ended_subagent(end, session, run),
        });
    }
    for cut in case.outcome.clamped_caps.iter().filter(|cut| cut.run == run.id) {
        answer.tell_model(name, &messages::cut(cut));
    }
    if let (Some(cut), Some(input), EventKind::ToolRequested(call)) =
        (&verdict.time_cut, case.tool_input, &case.event.kind)
    {
        answer.specific(name).updated_input = tools::with_timeout(&call.tool, input, cut.left_ms).map(Raw);
    }
    if let (Some(tail), Some(input)) = (&verdict.prompt_tail, case.tool_input)
        && let Some(updated) = tools::with_prompt_tail(input, tail)
    {
        answer.specific(name).updated_input = Some(Raw(updated));
    }
    tell_own_run(&mut answer, case, name, run, verdict);
    remaining(&mut answer, case, name);
    answer
}

/// Tells a `fusebox status --me` of the call which run asks, on top of what else of its input is changed.
fn tell_own_run(answer: &mut Answer, case: &Case, name: EventName, run: &Run, verdict: &Verdict) {
    // A command that asks names the program.
    let EventKind::ToolRequested(Call { intent: Intent::Timed { .. }, may_mention: true, .. }) = &case.event.kind
    else {
        return;
    };
    let Some(input) = case.tool_input.filter(|_| verdict.decision < Decision::Deny) else { return };
    let changed = answer.hook_specific_output.as_ref().and_then(|specific| specific.updated_input.as_ref());
    let input = changed.map_or(input, |Raw(changed)| changed);
    if let Some(told) = inject_run_id::with_run_named(input, &run.session, &run.id) {
        answer.specific(name).updated_input = Some(Raw(told));
    }
}

fn warn(answer: &mut Answer, name: EventName, run: &Run, verdict: &Verdict) {
    let Some(finding) = verdict.deciding().filter(|finding| finding.is_trip()) else { return };
    let text = match verdict.refusal {
        Some(Refusal::Tripped { grace } | Refusal::Ordered { grace }) => messages::report_due(run, finding, grace),
        _ if finding.action == Action::Warn => messages::warning(run, finding),
        _ => messages::report_due(run, finding, 0),
    };
    answer.tell_model(name, &text);
    match verdict.refusal {
        None if finding.action == Action::Warn => answer.tell_person(&user_lines::warning(run, finding)),
        Some(_) if run.is_main() => answer.tell_person(&user_lines::ending(run, finding)),
        // Of a subagent the person is told at its end; of a run that ended before, they were told.
        _ => {}
    }
    for other in verdict.findings.iter().skip(1).filter(|other| is_of_end(other)) {
        answer.tell_person(&user_lines::warning(run, other));
    }
}

/// Tells of early warnings: a run's to its agent, all others to the person too.
fn early(answer: &mut Answer, name: EventName, run: &Run, verdict: &Verdict) {
    for finding in verdict.findings.iter().filter(|finding| !finding.is_trip()) {
        answer.tell_model(name, &messages::warning(run, finding));
        if finding.scope != Scope::Run {
            answer.tell_person(&user_lines::warning(run, finding));
        }
    }
}

fn ask(answer: &mut Answer, name: EventName, run: &Run, verdict: &Verdict) {
    let asked: Vec<&Finding> = verdict.asked().collect();
    let specific = answer.specific(name);
    specific.permission_decision = Some("ask");
    specific.permission_decision_reason = Some(plain(&question(run, &asked)));
}

fn refuse(answer: &mut Answer, case: &Case, name: EventName, run: &Run, verdict: &Verdict) {
    let finding = verdict.deciding();
    match case.event.kind {
        EventKind::ToolRequested(_) => {
            let specific = answer.specific(name);
            specific.permission_decision = Some("deny");
            specific.permission_decision_reason = Some(plain(&refusal(run, verdict)));
        }
        EventKind::Prompt { .. } | EventKind::Compacting => {
            answer.decision = Some("block");
            answer.reason = Some(plain(&match finding {
                Some(finding) => {
                    let too: Vec<&Finding> = verdict.blocks_too().collect();
                    user_lines::blocked_prompt(case.outcome.session, run, finding, &too)
                        + &found(case.outcome.session, finding)
                }
                None => refusal(run, verdict),
            }));
            if is_by_machine(&case.event.kind) {
                answer.specific(name).suppress_original_prompt = Some(true);
            }
            return;
        }
        EventKind::SubagentEnded(_) | EventKind::Stopped { .. } if verdict.decision == Decision::Deny => {
            answer.decision = Some("block");
            answer.reason = Some(plain(&refusal(run, verdict)));
            return;
        }
        _ => {}
    }
    let tripped = matches!(verdict.refusal, Some(Refusal::Tripped { .. }));
    if verdict.decision == Decision::Stop {
        answer.goes_on = Some(false);
        let says = |finding: &Finding| match verdict.refusal {
            Some(Refusal::NotProlonged) => user_lines::ended_for_good(run, finding),
            _ => user_lines::stopped(case.outcome.session, run, finding, &case.outcome.blocks_next),
        };
        answer.stop_reason = finding.map(|finding| plain(&says(finding)));
    } else if let Some(finding) = finding.filter(|_| tripped && run.is_main()) {
        answer.tell_person(&user_lines::ending(run, finding));
    }
}

/// Whether a prompt is a machine's: no person misses its text.
fn is_by_machine(kind: &EventKind) -> bool {
    matches!(kind, EventKind::Prompt { notifications, by_machine, .. } if *by_machine || !notifications.is_empty())
}

/// Says what of a session's spend was found when the state first saw it.
fn found(session: &Session, finding: &Finding) -> String {
    let counted = session.spend_before_install.counted.cost;
    if counted == Amount::ZERO || finding.scope != Scope::Session || !finding.spent_by_requests() {
        return String::new();
    }
    format!(" {}", to_people::found_at_first(counted))
}

fn refusal(run: &Run, verdict: &Verdict) -> String {
    let finding = verdict.deciding();
    let with = |text: fn(&Finding) -> String| finding.map(text).unwrap_or_default();
    match &verdict.refusal {
        Some(Refusal::Tampering { what }) => messages::tampering(what),
        Some(Refusal::FirstRequestsPending) => signed(&refusals::agents_spend_first()),
        Some(Refusal::SiblingAsks) => with(messages::asking),
        Some(Refusal::NotProlonged) => {
            finding.map(|finding| user_lines::ended_for_good(run, finding)).unwrap_or_default()
        }
        Some(Refusal::CallAlone) => finding.map(|finding| messages::refused_call(run, finding)).unwrap_or_default(),
        Some(Refusal::Unread { bytes }) => to_people::unread(bytes.div_ceil(1_000_000)),
        Some(Refusal::NotByLimit { why }) => signed(why),
        Some(Refusal::Missing { what }) => messages::missing(what),
        Some(Refusal::Addressee { run, ended }) => {
            finding.map(|finding| messages::addressee(run, finding, *ended)).unwrap_or_default()
        }
        Some(Refusal::Tripped { grace } | Refusal::Ordered { grace }) => {
            finding.map(|finding| messages::refusal(run, finding, *grace)).unwrap_or_default()
        }
        Some(Refusal::Blocked) | None => String::new(),
    }
}

/// Tells the agent what is used, where that was measured for it.
fn remaining(answer: &mut Answer, case: &Case, name: EventName) {
    let used = messages::remaining(&case.outcome.used, case.outcome.model, case.event);
    if !used.is_empty() {
        answer.tell_model(name, &to_agents::used_so_far(used));
    }
}
