//! How rules are kept: every call reads and writes those of its session and its run, so the usual ones are one short text.

use std::fmt;

use serde::de::{self, DeserializeSeed, IgnoredAny, SeqAccess, Visitor};
use serde::ser::{SerializeSeq, SerializeTuple};
use serde::{Deserializer, Serialize, Serializer};

use crate::domain::limit::Role;
use crate::domain::limit_set::{LimitRule, Models};
use crate::domain::policy::{ACTIONS, LAYERS};
use crate::limits;

/// Stands for the first place of a table; the letters after it for the next ones.
const FIRST: u8 = b'A';
/// Stands at the end of a rule over the models of a role.
const ROLES: [(u8, Role); 2] = [(b'p', Role::Planning), (b'e', Role::Execution)];
/// Stands between rules.
const BETWEEN: u8 = b' ';
/// Rules that most scopes have at most.
const ROOM: usize = 16;

/// Keeps rules as a list of texts with the usual rules, and of lists with the others, in their order.
pub fn write<S: Serializer>(rules: &[LimitRule], serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(None)?;
    for alike in rules.chunk_by(|one, next| is_usual(one) && is_usual(next)) {
        if is_usual(&alike[0]) {
            let mut text = String::with_capacity(24 * alike.len());
            alike.iter().for_each(|rule| append(rule, &mut text));
            list.serialize_element(&text)?;
        } else {
            alike.iter().try_for_each(|rule| list.serialize_element(&Special(rule)))?;
        }
    }
    list.end()
}

/// Reads what [`write`] has kept, but for rules of a newer version, with a limit that this one does not know.
pub fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<LimitRule>, D::Error> {
    deserializer.deserialize_seq(List)
}

/// Whether a rule is kept in a text.
fn is_usual(rule: &LimitRule) -> bool {
    !rule.locked && matches!(rule.of, None | Some(Models::Role(_, None)))
}

/// Adds a rule to a text: `CBA400` is a letter each for its limit, action and layer, and its cap; `CBA400+100p` has an increase
/// other than half of the cap, and counts the models that plan.
fn append(rule: &LimitRule, text: &mut String) {
    if !text.is_empty() {
        text.push(char::from(BETWEEN));
    }
    text.extend(places(rule).map(|place| char::from(FIRST + place as u8)));
    text.push_str(itoa::Buffer::new().format(rule.cap));
    if rule.increase != half(rule.cap) {
        text.push('+');
        text.push_str(itoa::Buffer::new().format(rule.increase));
    }
    let role = ROLES.iter().find(|(_, role)| rule.of == Some(Models::Role(*role, None)));
    text.extend(role.map(|(mark, _)| char::from(*mark)));
}

/// Reads a rule of a text; nothing in it where a newer version has written it.
fn usual(text: &[u8]) -> Option<Option<LimitRule>> {
    let (letters, rest) = text.split_first_chunk::<3>()?;
    let role = ROLES.iter().find(|(mark, _)| rest.last() == Some(mark));
    let numbers = &rest[..rest.len() - usize::from(role.is_some())];
    let (cap, increase) = match numbers.iter().position(|byte| *byte == b'+') {
        Some(at) => (number(&numbers[..at])?, Some(number(&numbers[at + 1..])?)),
        None => (number(numbers)?, None),
    };
    let places = letters.map(|letter| usize::from(letter.wrapping_sub(FIRST)));
    Some(rule(places, cap, (increase, role.map(|(_, role)| Models::Role(*role, None)), false)))
}

fn number(digits: &[u8]) -> Option<u64> {
    str::from_utf8(digits).ok()?.parse().ok()
}

/// The increase that is most common, and so not written.
fn half(cap: u64) -> u64 {
    cap.div_ceil(2).max(1)
}

/// Returns where a rule's limit, action and layer stand in their tables.
fn places(rule: &LimitRule) -> [usize; 3] {
    [
        place(&limits::REGISTRY, |limit| limit.key == rule.limit.key),
        place(&ACTIONS, |action| *action == rule.action),
        place(&LAYERS, |row| row.0 == rule.layer),
    ]
}

fn place<T>(table: &[T], is_it: impl Fn(&T) -> bool) -> usize {
    table.iter().position(is_it).unwrap_or(table.len())
}

/// Makes a rule of what was kept of it; nothing where the tables do not reach so far.
fn rule(places: [usize; 3], cap: u64, rest: (Option<u64>, Option<Models>, bool)) -> Option<LimitRule> {
    let [limit, action, layer] = places;
    let (limit, action, layer) = (limits::REGISTRY.get(limit)?, ACTIONS.get(action)?, LAYERS.get(layer)?.0);
    let (increase, of, locked) = rest;
    Some(LimitRule { limit, cap, action: *action, layer, increase: increase.unwrap_or_else(|| half(cap)), of, locked })
}

/// A rule that is kept as a list: the place of its limit, the cap, the places of its action and layer, the increase, the models, and
/// whether it is locked. Earlier versions kept every rule so, without what was as usual at its end.
struct Special<'a>(&'a LimitRule);

impl Serialize for Special<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Special(rule) = self;
        let [limit, action, layer] = places(rule);
        let mut list = serializer.serialize_tuple(7)?;
        list.serialize_element(&limit)?;
        list.serialize_element(&rule.cap)?;
        list.serialize_element(&action)?;
        list.serialize_element(&layer)?;
        list.serialize_element(&(rule.increase != half(rule.cap)).then_some(rule.increase))?;
        list.serialize_element(&rule.of)?;
        list.serialize_element(&rule.locked)?;
        list.end()
    }
}

/// Reads what stands in the list, a text or a list.
struct Reader<'a>(&'a mut Vec<LimitRule>);

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text of rules, or a rule: limit, cap, action, layer, increase, models, locked")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        for word in text.as_bytes().split(|byte| *byte == BETWEEN) {
            self.0.extend(usual(word).ok_or_else(|| E::custom("a rule cannot be read"))?);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let missing = || de::Error::invalid_length(0, &self);
        let limit = list.next_element()?.ok_or_else(missing)?;
        let cap = list.next_element()?.ok_or_else(missing)?;
        let action = list.next_element()?.ok_or_else(missing)?;
        let layer = list.next_element()?.ok_or_else(missing)?;
        let increase = list.next_element::<Option<u64>>()?.flatten();
        let of = list.next_element()?.unwrap_or_default();
        let locked = list.next_element()?.unwrap_or_default();
        while list.next_element::<IgnoredAny>()?.is_some() {}
        self.0.extend(rule([limit, action, layer], cap, (increase, of, locked)));
        Ok(())
    }
}

/// Reads the whole list.
struct List;

impl<'de> Visitor<'de> for List {
    type Value = Vec<LimitRule>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rules")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<LimitRule>, A::Error> {
        let mut rules = Vec::with_capacity(ROOM);
        while list.next_element_seed(Reader(&mut rules))?.is_some() {}
        Ok(rules)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::policy::{Action, Layer};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(transparent)]
    struct Kept(#[serde(serialize_with = "write", deserialize_with = "read")] Vec<LimitRule>);

    fn turns(cap: u64) -> LimitRule {
        let limit = limits::find("max_turns").unwrap();
        let (action, layer) = (Action::Terminate, Layer::User);
        LimitRule { limit, cap, action, layer, increase: half(cap), of: None, locked: false }
    }

    #[test]
    fn what_is_kept_is_read_as_it_was() {
        let role = |role, planning| Some(Models::Role(role, planning));
        let rules = vec![
            turns(0),
            LimitRule { increase: u64::MAX, ..turns(u64::MAX) },
            LimitRule { of: role(Role::Planning, None), increase: 7, ..turns(1) },
            LimitRule { of: role(Role::Execution, None), ..turns(2) },
            LimitRule { of: role(Role::Execution, Some(vec!["*opus*".to_owned()])), ..turns(3) },
            LimitRule { of: Some(Models::Like("a b+c".to_owned())), locked: true, ..turns(4) },
            LimitRule { action: Action::Warn, layer: Layer::Managed, ..turns(5) },
        ];
        let kept = serde_json::to_value(Kept(rules.clone())).unwrap();
        assert_eq!(kept.as_array().unwrap().len(), 4, "{kept}");
        assert_eq!(serde_json::from_value::<Kept>(kept).unwrap().0, rules);
        for limit in limits::REGISTRY {
            let kept = Kept(vec![LimitRule { limit, ..turns(9) }]);
            assert_eq!(serde_json::from_value::<Kept>(serde_json::to_value(&kept).unwrap()).unwrap(), kept);
        }
    }

    #[test]
    fn what_a_newer_version_has_written_is_left_out() {
        let mut known = String::new();
        append(&turns(400), &mut known);
        let read = |kept: Value| serde_json::from_value::<Kept>(kept).unwrap().0;
        assert_eq!(read(json!([format!("~{} {known}", &known[1..])])), [turns(400)]);
        assert_eq!(read(json!([[99, 400, 0, 0]])), []);
    }

    #[test]
    fn a_rule_that_is_damaged_is_an_error() {
        for kept in [json!("ADB4x0"), json!("ADB400+"), json!("ADB"), json!("Ä"), json!(""), json!(7), json!([0, 400])]
        {
            assert!(serde_json::from_value::<Kept>(json!([kept])).is_err(), "{kept}");
        }
    }

    #[test]
    fn rules_of_an_earlier_version_are_read() {
        let rules = serde_json::from_value::<Kept>(json!([[0, 400, 3, 1], [0, 400, 3, 1, 7]])).unwrap().0;
        assert_eq!(rules, [turns(400), LimitRule { increase: 7, ..turns(400) }]);
    }
}
