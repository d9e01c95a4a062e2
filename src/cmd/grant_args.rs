//! What `fusebox grant` gives: more of which limits, as people type it, and what they mean where it cannot be read.

use crate::config::limit_name::{LimitName, named, names};
use crate::config::problem::nearest;
use crate::domain::limit::Limit;
use crate::domain::text::duration;
use crate::domain::text::shell_word::quoted;
use crate::domain::unit::Unit;
use crate::error::{Error, Result};

/// Words that people put before an id.
pub const NOUNS: [&str; 7] = ["agent", "id", "number", "run", "session", "the", "trip"];

/// Words that stand between two commands, and those that each begins with.
const LINKS: [&str; 3] = ["and", "then", "&&"];
const COMMAND: [&str; 2] = ["fusebox", "grant"];

/// More of one limit.
#[derive(Clone, Debug, PartialEq)]
pub struct More {
    /// The limit.
    pub limit: &'static Limit,
    /// The name of the rule that is raised: the limit's key, or that of some models.
    pub rule: String,
    /// How much.
    pub to: To,
}

/// How a new cap is given, in the limit's base unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// So much on top of what it is.
    Added(u64),
    /// The new cap itself.
    Cap(u64),
}

/// Reads the words of a grant: at most one id, none beside a task, and more of some limits.
pub fn read(words: &[String], task: Option<&str>) -> Result<(Option<String>, Vec<More>)> {
    if let Some(meant) = of_team(words) {
        return Err(Error::usage("a team's cap is no limit of this machine").hint(format!("`{meant}`")));
    }
    let (limits, ids): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| word.contains('='));
    let more = limits.into_iter().map(|word| parse(word)).collect::<std::result::Result<Vec<More>, String>>();
    let too_many = || Some(format!("`{}` is one id too many", ids.get(usize::from(task.is_none()))?));
    let wrong = ids.iter().find_map(|word| no_id(word)).or(more.as_ref().err().cloned()).or_else(too_many);
    match (wrong, more) {
        (None, Ok(more)) => Ok((ids.first().map(|id| (*id).clone()), more)),
        (wrong, _) => {
            let error = Error::usage(wrong.unwrap_or_default());
            Err(match meant(words, task) {
                Some(meant) => error.hint(format!("`{meant}`")),
                None => error.hint("more of a limit is `max_turns=+10`"),
            })
        }
    }
}

/// Returns the command that raises a team's cap, where that is meant: `team +5`, `team bob max_cost_usd=+5`.
fn of_team(words: &[String]) -> Option<String> {
    let (first, rest) = words.split_first().filter(|(first, _)| cfg!(feature = "team") && *first == "team")?;
    let (more, login) = rest.split_last()?;
    let (limit, usd) = more.split_once('=').unwrap_or(("", more));
    let is_cost = limit.is_empty() || key(limit).is_some_and(|named| named.limit.unit == Unit::Usd);
    let usd = usd.trim_start_matches(['+', '$']);
    let is_amount = usd.parse::<f64>().is_ok_and(|usd| usd > 0.0);
    let login: String = login.iter().map(|login| format!(" {}", quoted(login))).collect();
    (is_cost && is_amount).then(|| format!("fusebox {first} grant{login} +{usd}"))
}

/// Says what is wrong with a word that stands for an id and is a part of a limit.
fn no_id(word: &str) -> Option<String> {
    match split(word) {
        (_, "") if key(word).is_some() => Some(format!("`{word}` has no amount")),
        ("", _) => Some(format!("`{word}` is no id, and says not of which limit it is")),
        (limit, _) if key(limit).is_some() => Some(format!("`{word}` has no `=`")),
        _ => None,
    }
}

/// Splits `max_turns+10` at what is no part of a name: `("max_turns", "+10")`.
fn split(word: &str) -> (&str, &str) {
    word.split_at(word.find(['+', ':']).unwrap_or(word.len()))
}

/// Finds the limit that a rule's name is of: `models.*opus*.max_turns`.
fn key(rule: &str) -> Option<LimitName> {
    named(rule.rsplit_once('.').map_or(rule, |(_, key)| key))
}

/// Returns the command that was meant: each limit with an amount that can be read, and the first id.
fn meant(words: &[String], task: Option<&str>) -> Option<String> {
    // Several commands were pasted as one line.
    let is_link = |word: &String| LINKS.contains(&word.as_str());
    if task.is_none() && words.iter().any(is_link) {
        let each = words.split(is_link).filter(|words| !words.is_empty()).map(|words| meant(words, None));
        return Some(each.collect::<Option<Vec<String>>>()?.join(" && "));
    }
    let joined = words.join("\n").replace("\n=", "=").replace("=\n", "=");
    let mut words = joined.split('\n').peekable();
    let (mut ids, mut limits) = (Vec::new(), Vec::new());
    while let Some(word) = words.next() {
        let after = |next: &&str| split(next).0.is_empty() || next.bytes().all(|byte| byte.is_ascii_digit());
        match (word.contains('='), split(word)) {
            (true, _) => limits.push(readable(word)?),
            (_, (limit, "")) if key(limit).is_some() => {
                limits.push(readable(&format!("{limit}=+{}", words.next_if(after).unwrap_or_default()))?);
            }
            (_, (limit, more)) if key(limit).is_some() => limits.push(readable(&format!("{limit}={more}"))?),
            (_, ("", more)) => limits.extend(readable(&format!("max_turns={more}")).filter(|_| !joined.contains('='))),
            _ if NOUNS.contains(&word) || COMMAND.contains(&word) => {}
            _ => ids.push(word),
        }
    }
    let task = task.map(|task| format!(" --task {}", quoted(task)));
    let whose = task.or_else(|| Some(format!(" {}", quoted(ids.first()?)))).unwrap_or_default();
    let limits = limits.iter().map(|limit| format!(" {}", quoted(limit)));
    Some(format!("fusebox grant{whose}{}", limits.collect::<String>()))
}

/// Returns the limit with an amount that a word which cannot be read has meant: `max_cost_usd=+5` for `cost=$5`.
pub fn readable(word: &str) -> Option<String> {
    if parse(word).is_ok() {
        return Some(word.to_owned());
    }
    let (rule, value) = word.split_once('=')?;
    let known = match key(rule) {
        Some(_) => rule,
        None => nearest(rule, names().map(|named| named.name))?,
    };
    let number = value.trim_start_matches([':', '+', '-', '$']).to_lowercase().replace([',', '_', '$'], "");
    let number = number.strip_suffix("usd").unwrap_or(&number).trim_end_matches(' ');
    let raised = Some(format!("{known}=+{number}")).filter(|raised| parse(raised).is_ok());
    Some(raised.unwrap_or(format!("{known}={}", like(&key(known)?))))
}

/// Returns an amount of a limit as one may be typed.
pub fn like(named: &LimitName) -> &'static str {
    match named.limit.unit {
        Unit::Millis if named.scale == 1 => "+10m",
        Unit::Tokens => "+200k",
        Unit::Usd => "+5",
        Unit::Millis | Unit::Count | Unit::Percent | Unit::Switch => "+10",
    }
}

/// Reads `max_turns=+10`, `max_cost_usd=5`, `max_duration_ms=+10m`.
pub fn parse(text: &str) -> std::result::Result<More, String> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| format!("`{text}` has no `=`: write it like max_turns=+10"))?;
    if name.is_empty() || value.is_empty() {
        return Err(format!("`{text}` lacks a part: write limit and amount without spaces, like max_turns=+10"));
    }
    let models = name.strip_prefix("models.").and_then(|rest| rest.rsplit_once('.'));
    let key = models.map_or(name, |(_, key)| key);
    let named = named(key).ok_or_else(|| match nearest(key, names().map(|named| named.name)) {
        Some(nearest) => format!("no limit is called `{name}`; the nearest is `{nearest}`"),
        None => format!("no limit is called `{name}`"),
    })?;
    let (added, number) = match value.strip_prefix('+') {
        Some(number) => (true, number),
        None => (false, value),
    };
    // A number has no second sign.
    let is_plain = number.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.');
    let base = base(&named, number).filter(|base| is_plain && *base > 0);
    let base = base.ok_or_else(|| match value.starts_with('-') {
        true => format!("`{text}` would lower it: a grant only raises, and configuration files set lower limits"),
        false => format!("`{value}` is no amount of {}: write it like {}", named.unit(), like(&named)),
    })?;
    let rule = match models {
        Some((like, _)) => format!("models.{like}.{}", named.limit),
        None => named.limit.key.to_owned(),
    };
    Ok(More { limit: named.limit, rule, to: if added { To::Added(base) } else { To::Cap(base) } })
}

fn base(named: &LimitName, number: &str) -> Option<u64> {
    let time = Some(number).filter(|_| named.limit.unit == Unit::Millis).and_then(duration::parse);
    let (number, times) = match named.limit.unit {
        Unit::Tokens => of_thousands(number),
        _ => (number, 1.0),
    };
    // Rounded: in floating point, 1.1 times a million is a little more than 1,100,000.
    time.or_else(|| match number.parse::<f64>().ok()? * named.scale as f64 {
        given if times > 1.0 => named.limit.base((given * times).round()),
        given => named.limit.base(given),
    })
}

/// Splits `1.5M`, as tokens are shown, into its number and what that is to be multiplied by.
fn of_thousands(number: &str) -> (&str, f64) {
    let units = [("k", 1e3), ("K", 1e3), ("M", 1e6)];
    let split = units.into_iter().find_map(|(unit, times)| Some((number.strip_suffix(unit)?, times)));
    split.unwrap_or((number, 1.0))
}
