//! The values of `alerts` and `watchdog`: which rules there are, how alerts are delivered, whether a client may be ended.

use serde_json::{Map, Value};

use crate::config::resolved::Resolved;
use crate::config::setting::Setting;
use crate::config::setting_value::SettingValue;
use crate::config::value_type::{Field, ValueType, millis};
use crate::domain::alert::{AlertCommand, AlertRule, AlertSettings, TerminalSignal, Trigger, WatchdogSettings};
use crate::domain::layer::Layer;
use crate::domain::time_units::{MINUTE_MS, YEAR_MS};

/// The rules that are built in.
pub const RULES: &str = include_str!("alerts.json");
/// How long a command may take where nobody says.
const TIMEOUT_MS: u64 = 10_000;
/// The longest time in milliseconds: a year.
const LONGEST_MS: u64 = YEAR_MS.cast_unsigned();
/// The longest that one alert may hold up the others, in milliseconds.
const LONGEST_TIMEOUT_MS: u64 = MINUTE_MS.cast_unsigned();
const TIME: ValueType = ValueType::Millis(1_000, LONGEST_MS);
const AGENTS: Field = Field::optional("agents", ValueType::Filled);

const RULE: ValueType = ValueType::Either(&[
    ValueType::Object(&[
        Field::needed("limit", ValueType::LimitKey),
        Field::needed("percent", ValueType::Whole(1, 1_000)),
        AGENTS,
    ]),
    ValueType::Object(&[Field::needed("usd_per_hour", ValueType::Number(0.000_001, 1_000_000.0))]),
    ValueType::Object(&[Field::needed("terminations_per_hour", ValueType::Whole(0, 1_000_000))]),
    ValueType::Object(&[Field::needed("waits_ms", TIME), AGENTS]),
    ValueType::Object(&[Field::needed("stopped", ValueType::Flag), AGENTS]),
    ValueType::Object(&[Field::needed("stalled_ms", TIME), AGENTS]),
    ValueType::Object(&[Field::needed("overdue_ms", TIME), AGENTS]),
    ValueType::Object(&[Field::needed("unasked", ValueType::Flag)]),
    ValueType::Object(&[Field::needed("team_percent", ValueType::Whole(1, 1_000))]),
    ValueType::Null,
]);

/// What `alerts` takes.
pub const ALERTS: ValueType = ValueType::Either(&[
    ValueType::Object(&[
        Field::optional("rules", ValueType::Entries(&RULE)),
        Field::optional(
            "command",
            ValueType::Either(&[
                ValueType::Filled,
                ValueType::Object(&[
                    Field::needed("command", ValueType::Filled),
                    Field::optional("timeout_ms", ValueType::Millis(100, LONGEST_TIMEOUT_MS)),
                ]),
                ValueType::Null,
            ]),
        ),
        Field::optional("desktop", ValueType::Flag),
        Field::optional("terminal", ValueType::Word(&["bell", "osc9", "none"])),
        Field::optional("quiet_ms", ValueType::Millis(MINUTE_MS.cast_unsigned(), LONGEST_MS)),
    ]),
    ValueType::Null,
]);

/// What `watchdog` takes.
pub const WATCHDOG: ValueType = ValueType::Object(&[
    Field::optional("kill", ValueType::Flag),
    Field::optional("grace_ms", ValueType::Millis(0, LONGEST_TIMEOUT_MS)),
]);

/// Returns the built-in rules as JSON.
pub fn built_in() -> Value {
    serde_json::from_str(RULES).unwrap_or_default()
}

/// Returns what is told of: the built-in rules, and over them what each layer says, the weakest first. A layer's fields go over those
/// of the weaker ones, its rules by their names, and `null` tells of nothing.
pub fn settings(said: &[&Setting]) -> AlertSettings {
    let mut settings = AlertSettings::NONE;
    if let Value::Object(rules) = built_in() {
        add_rules(&mut settings, &rules);
    }
    for setting in said {
        match &setting.value {
            SettingValue::Object(fields) => add(&mut settings, fields),
            _ => settings.rules.clear(),
        }
    }
    settings
}

fn add(to: &mut AlertSettings, fields: &Map<String, Value>) {
    if let Some(Value::Object(rules)) = fields.get("rules") {
        add_rules(to, rules);
    }
    if let Some(command) = fields.get("command") {
        to.command = command_of(command);
    }
    if let Some(desktop) = fields.get("desktop").and_then(Value::as_bool) {
        to.desktop = desktop;
    }
    if let Some(word) = fields.get("terminal").and_then(Value::as_str) {
        let named = TerminalSignal::NAMED.iter().find(|(_, name)| *name == word);
        to.terminal = named.map_or(to.terminal, |(signal, _)| *signal);
    }
    if let Some(quiet) = fields.get("quiet_ms").and_then(millis) {
        to.quiet_ms = quiet;
    }
}

/// Applies `watchdog`.
pub fn apply_watchdog(to: &mut Resolved<'_>, said: &Setting, _: Layer) {
    let SettingValue::Object(fields) = &said.value else { return };
    let default = WatchdogSettings::default();
    to.watchdog = WatchdogSettings {
        kill: fields.get("kill").and_then(Value::as_bool).unwrap_or(default.kill),
        grace_ms: fields.get("grace_ms").and_then(millis).unwrap_or(default.grace_ms),
    };
}

/// Adds rules by their names: one takes the place of another, and `null` takes it away.
fn add_rules(to: &mut AlertSettings, rules: &Map<String, Value>) {
    for (name, said) in rules {
        to.rules.retain(|rule| rule.name != *name);
        to.rules.extend(rule_of(name, said));
    }
    to.rules.sort_by(|one, other| one.name.cmp(&other.name));
}

fn rule_of(name: &str, said: &Value) -> Option<AlertRule> {
    let number = |key: &str| said.get(key).and_then(Value::as_u64);
    let time = |key: &str| said.get(key).and_then(millis);
    let limit = said.get("limit").and_then(Value::as_str).zip(number("percent"));
    let trigger = if let Some((limit, percent)) = limit {
        Trigger::Limit { limit: limit.to_owned(), percent }
    } else if let Some(usd) = said.get("usd_per_hour").and_then(Value::as_f64) {
        Trigger::Spend { usd }
    } else if let Some(count) = number("terminations_per_hour") {
        Trigger::Terminations { count }
    } else if let Some(percent) = number("team_percent") {
        Trigger::Team { percent }
    } else if let Some(ms) = time("waits_ms") {
        Trigger::Waits { ms }
    } else if let Some(ms) = time("stalled_ms") {
        Trigger::Stalled { ms }
    } else if let Some(ms) = time("overdue_ms") {
        Trigger::Overdue { ms }
    } else {
        let flag = |key: &str| said.get(key).and_then(Value::as_bool) == Some(true);
        let flags = [("stopped", Trigger::Stopped), ("unasked", Trigger::Unasked)];
        flags.into_iter().find(|(key, _)| flag(key))?.1
    };
    let agents = said.get("agents").and_then(Value::as_str).unwrap_or("*").to_owned();
    Some(AlertRule { name: name.to_owned(), trigger, agents })
}

fn command_of(said: &Value) -> Option<AlertCommand> {
    let line = said.as_str().or_else(|| said.get("command")?.as_str())?.to_owned();
    let timeout_ms = said.get("timeout_ms").and_then(millis).unwrap_or(TIMEOUT_MS);
    Some(AlertCommand { line, timeout_ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_rule_is_one() {
        let rules = settings(&[]).rules;
        let known = built_in();
        assert_eq!(rules.len(), known.as_object().map_or(0, Map::len), "{rules:?}");
        assert!(ALERTS.accepts(&serde_json::json!({ "rules": known })));
    }
}
