//! Our handlers in the text of a settings file: found, put in, taken out.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::domain::gather::gather;
use crate::domain::model_hook::ModelHook;
use crate::domain::stored::stable_hash::StableHash;
use crate::install::handler::{Handler, Judge, Wanted, judge_handler};
use crate::install::json::{self, Span};
use crate::wire::events::{EVENTS, EventName, EventRow, ORDINARY_TIMEOUT_S};
use crate::wire::untold_events::{DENIED, UNTOLD};

/// A part of a settings file that is not what it must be.
#[derive(Debug, PartialEq, Eq)]
pub struct WrongType {
    /// The path of the part: `hooks.PreToolUse`.
    pub key: String,
    /// What it must be: `an object`.
    pub must_be: &'static str,
    /// Its line and column, from 1.
    pub position: (usize, usize),
}

/// One of our handlers in a settings file.
pub struct FoundHandler {
    /// The event's name on the wire.
    pub event: String,
    /// The handler.
    pub handler: Handler,
    /// Whether its group matches every call.
    pub matches_all: bool,
    event_list: Span,
    group: usize,
    handler_list: Span,
    index: usize,
}

impl FoundHandler {
    /// Whether the client runs it at every call of its event, and waits for it.
    pub fn covers(&self) -> bool {
        self.matches_all && self.handler.is_ours() && self.is_attended()
    }

    /// Whether the client waits for it for as long as its answer may take.
    pub fn is_attended(&self) -> bool {
        let least_s = EventName::parse(&self.event).map_or(0, |event| event.timeout_s().min(ORDINARY_TIMEOUT_S));
        self.handler.is_attended(least_s)
    }
}

/// Finds our handlers in a valid text. Parts of a wrong type hold none, nor does a list that a later one of its name hides.
pub fn find(text: &str) -> Vec<FoundHandler> {
    let hooks = json::root(text).and_then(|root| json::member(text, &root, "hooks"));
    let events = hooks.map(|hooks| json::children(text, &hooks)).unwrap_or_default();
    let named: BTreeMap<_, _> = gather(events.into_iter().filter_map(|event| Some((event.key?, event.value))));
    named.iter().flat_map(|(event, list)| find_in_event(text, event, list)).collect()
}

/// Returns the hooks of a valid text that Fusebox does not write, each behind its event.
pub fn others(text: &str) -> Vec<(String, Value)> {
    let hooks = json::root(text).and_then(|root| json::member(text, &root, "hooks"));
    let mut found = Vec::new();
    for event in hooks.map(|hooks| json::children(text, &hooks)).unwrap_or_default() {
        let groups = json::children(text, &event.value).into_iter();
        for hook in groups.flat_map(|group| hooks_of(text, &group.value)) {
            let handler = hook.as_object().map(|fields| Handler::from(fields.clone()));
            let event = event.key.clone().unwrap_or_default();
            let is_judge = event == EventName::SubagentStop.as_str() && hook["prompt"] == judge_handler()["prompt"];
            if !is_judge && !handler.is_some_and(|handler| handler.is_ours() && handler.is_plain()) {
                found.push((event, hook));
            }
        }
    }
    found
}

/// The events of calls: at no other a rule is looked at.
const OF_CALLS: [&str; 5] = ["PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", DENIED];

/// Finds the handlers of a valid text that ask the model, each kind for an event and a matcher once, with how many there are. One that
/// was `seen` before is left out: of those that say the same the client runs one.
pub fn find_asking(text: &str, seen: &mut Vec<u64>) -> Vec<ModelHook> {
    let hooks = json::root(text).and_then(|root| json::member(text, &root, "hooks"));
    let mut found: Vec<ModelHook> = Vec::new();
    let events = hooks.map(|hooks| json::children(text, &hooks)).unwrap_or_default();
    for list in events {
        let event = list.key.as_deref().unwrap_or_default();
        let untold = UNTOLD.iter().find(|(name, _)| *name == event);
        if untold.is_none() && EventName::parse(event).is_none() {
            continue;
        }
        let is_of_call = OF_CALLS.contains(&event);
        let is_matched = untold.is_none_or(|(_, is_matched)| *is_matched);
        for group in json::children(text, &list.value) {
            let matcher = json::member(text, &group.value, "matcher").and_then(|span| json::parse(text, &span));
            let matcher: String = matcher.filter(|_| is_matched).unwrap_or_default();
            for hook in hooks_of(text, &group.value) {
                let field = |name: &str| hook.get(name).and_then(Value::as_str).unwrap_or_default();
                let (kind, rule) = (field("type"), field("if").to_owned());
                // A rule is met by a call alone, and no agent is asked for a permission.
                let is_run = kind == "prompt" || kind == "agent" && event != "PermissionRequest";
                if !is_run || !rule.is_empty() && !is_of_call {
                    continue;
                }
                let (is_agent, model) = (kind == "agent", field("model").to_owned());
                let (event, matcher) = (event.to_owned(), matcher.clone());
                let hook = ModelHook { event, matcher, is_agent, model, rule, count: 1, ..ModelHook::default() };
                let parts = [&hook.event, &hook.matcher, kind, &hook.model, &hook.rule, field("prompt")];
                let print = parts.iter().fold(StableHash::default(), |hash, part| hash.text(part)).value();
                if !seen.contains(&print) {
                    if seen.len() < MOST_SEEN {
                        seen.push(print);
                    }
                    count(&mut found, hook);
                }
            }
        }
    }
    found
}

/// Returns the hooks of a group.
fn hooks_of(text: &str, group: &Span) -> Vec<Value> {
    let hooks = json::member(text, group, "hooks").map(|hooks| json::children(text, &hooks)).unwrap_or_default();
    hooks.iter().filter_map(|hook| json::parse(text, &hook.value)).collect()
}

/// How many such handlers are kept in mind: of more, those that say the same count each.
const MOST_SEEN: usize = 512;
/// The most kinds of such handlers that are told apart; what is more counts for every call.
const MOST_KINDS: usize = 32;

/// Adds handlers to those of their kind.
pub fn count(found: &mut Vec<ModelHook>, more: ModelHook) {
    let more =
        if found.len() < MOST_KINDS { more } else { ModelHook { matcher: String::new(), rule: String::new(), ..more } };
    let same = |known: &&mut ModelHook| {
        (&known.event, &known.matcher, known.is_agent, &known.model, &known.rule, &known.holder)
            == (&more.event, &more.matcher, more.is_agent, &more.model, &more.rule, &more.holder)
    };
    match found.iter_mut().find(same) {
        Some(known) => known.count = known.count.saturating_add(more.count),
        None => found.push(more),
    }
}

fn find_in_event(text: &str, event: &str, event_list: &Span) -> Vec<FoundHandler> {
    let mut found = Vec::new();
    for (group, child) in json::children(text, event_list).into_iter().enumerate() {
        if child.key.is_some() {
            continue;
        }
        let Some(handler_list) = json::member(text, &child.value, "hooks") else { continue };
        let matcher = json::member(text, &child.value, "matcher");
        let matcher = matcher.map(|span| json::parse::<String>(text, &span));
        let matches_all =
            matcher.is_none_or(|pattern| pattern.is_some_and(|pattern| pattern.is_empty() || pattern == "*"));
        for (index, element) in json::children(text, &handler_list).into_iter().enumerate() {
            let handler = json::parse::<Map<String, Value>>(text, &element.value).map(Handler::from);
            let handler = handler.filter(|it| it.is_ours() || it.is_judge());
            let Some(handler) = handler.filter(|_| element.key.is_none()) else { continue };
            found.push(FoundHandler {
                event: event.to_owned(),
                handler,
                matches_all,
                event_list: event_list.clone(),
                group,
                handler_list: handler_list.clone(),
                index,
            });
        }
    }
    found
}

/// Puts our handlers for every event into a valid text, each once.
pub fn merge(text: &str, wanted: &Wanted) -> Result<String, WrongType> {
    let mut text = match json::root(text) {
        Some(_) => text.to_owned(),
        None => format!("{}{{}}\n", text.trim()),
    };
    for row in EVENTS.iter().filter(|row| wanted.knows(row)) {
        while let Some(next) = improve(&text, row, wanted)? {
            text = next;
        }
    }
    match wanted.judge {
        Judge::Asked => Ok(with_judge(&text).unwrap_or(text)),
        Judge::AsItIs => Ok(text),
    }
}

/// Puts the judge beside our handler at the end of a subagent, or brings one that is there up to date.
fn with_judge(text: &str) -> Option<String> {
    let event = at(text, &["hooks", EventName::SubagentStop.as_str()])?;
    let found = find_in_event(text, EventName::SubagentStop.as_str(), &event);
    let Some(present) = found.iter().find(|found| found.handler.is_judge()) else {
        return Some(json::insert(text, &event, None, &json!({ "matcher": "*", "hooks": [judge_handler()] })));
    };
    let span = json::children(text, &present.handler_list).into_iter().nth(present.index)?.value;
    Some(json::replace(text, &span, &judge_handler()))
        .filter(|_| json::parse::<Value>(text, &span) != Some(judge_handler()))
}

/// Makes one step towards the handler that is wanted for an event; none where all is well.
fn improve(text: &str, row: &EventRow, wanted: &Wanted) -> Result<Option<String>, WrongType> {
    let root = json::root(text).unwrap_or(0..text.len());
    must_be(text, &root, '{', "the file")?;
    let Some(hooks) = json::member(text, &root, "hooks") else {
        let first = json!({ row.name: [wanted.group(row)] });
        return Ok(Some(json::insert(text, &root, Some("hooks"), &first)));
    };
    must_be(text, &hooks, '{', "hooks")?;
    let Some(event) = json::member(text, &hooks, row.name) else {
        return Ok(Some(json::insert(text, &hooks, Some(row.name), &json!([wanted.group(row)]))));
    };
    must_be(text, &event, '[', &format!("hooks.{}", row.name))?;
    let mut found = find_in_event(text, row.name, &event);
    found.retain(|found| found.handler.is_ours());
    let kept = found.iter().position(|found| found.matches_all);
    if let Some(surplus) = found.iter().enumerate().find(|(index, _)| Some(*index) != kept) {
        return Ok(Some(take_out(text, surplus.1)));
    }
    let Some(kept) = kept.and_then(|index| found.get(index)) else {
        return Ok(Some(json::insert(text, &event, None, &wanted.group(row))));
    };
    Ok(update(text, kept, row, wanted))
}

/// Rewrites a handler of ours that is not as wanted.
fn update(text: &str, found: &FoundHandler, row: &EventRow, wanted: &Wanted) -> Option<String> {
    let span = json::children(text, &found.handler_list).into_iter().nth(found.index)?.value;
    let present: Map<String, Value> = json::parse(text, &span)?;
    let handler = wanted.handler(row, &present);
    (handler != Value::Object(present)).then(|| json::replace(text, &span, &handler))
}

fn must_be(text: &str, span: &Span, opening: char, key: &str) -> Result<(), WrongType> {
    match text[span.clone()].starts_with(opening) {
        true => Ok(()),
        false => Err(WrongType {
            key: key.to_owned(),
            must_be: if opening == '{' { "an object" } else { "a list" },
            position: json::position(text, span.start),
        }),
    }
}

/// Takes one handler out, and its group where nothing else is in it.
fn take_out(text: &str, found: &FoundHandler) -> String {
    match json::children(text, &found.handler_list).len() {
        1 => json::remove(text, &found.event_list, found.group),
        _ => json::remove(text, &found.handler_list, found.index),
    }
}

/// Takes all our handlers out of a valid text, and what held nothing but them and was not there `before`.
pub fn strip(text: &str, before: Option<&str>) -> String {
    let mut text = text.to_owned();
    while let Some(found) = find(&text).first() {
        text = prune(&take_out(&text, found), &found.event, before.unwrap_or_default());
    }
    text
}

/// Takes out an event's list and `hooks` itself where they have become empty.
fn prune(text: &str, event: &str, before: &str) -> String {
    let emptied = |text: &str, path: &[&str]| {
        at(text, path).is_some_and(|span| json::children(text, &span).is_empty()) && at(before, path).is_none()
    };
    let mut text = text.to_owned();
    for path in [["hooks", event].as_slice(), &["hooks"]] {
        if emptied(&text, path) {
            text = remove_at(&text, path);
        }
    }
    text
}

/// Returns the value at a path of names.
fn at(text: &str, path: &[&str]) -> Option<Span> {
    path.iter().try_fold(json::root(text)?, |span, name| json::member(text, &span, name))
}

fn remove_at(text: &str, path: &[&str]) -> String {
    let Some((name, parents)) = path.split_last() else { return text.to_owned() };
    let Some(container) = at(text, parents) else { return text.to_owned() };
    let index = json::children(text, &container).iter().rposition(|child| child.key.as_deref() == Some(*name));
    index.map_or_else(|| text.to_owned(), |index| json::remove(text, &container, index))
}
