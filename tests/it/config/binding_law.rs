//! Two laws of `binding`: a member never loosens what it names, and what is said to be ignored changes nothing.

use fusebox::config::effective::{self, Effective};
use fusebox::config::place::Who;
use fusebox::domain::action::Action;
use fusebox::domain::layer::Layer;
use fusebox::domain::limit_set::LimitSet;
use serde_json::{Value, json};

use crate::config::{LOCAL, PROJECT, TRUST, USER, policy};

/// The repository's file of docs/team-policy.md.
fn repository(binding: &Value) -> String {
    json!({
        "binding": binding,
        "session": {"max_cost_usd": 10, "timeout_action": "terminate"},
        "agents": {"developer": {"max_turns": 40, "max_cost_usd": 2}},
    })
    .to_string()
}

/// What a member may write into one block to loosen it: single settings, and all that speak of many limits beside a cap.
fn attempts() -> Vec<Value> {
    let mut attempts = vec![
        json!({"timeout_action": "warn"}),
        json!({"timeout_action": "pause"}),
        json!({"increase": 9}),
        json!({"increase": {"max_cost_usd": 90}}),
        json!({"grace_turns": 20}),
        json!({"finalize_tools": ["Bash"]}),
        json!({"loop_detection": false}),
        json!({"max_denials": 900}),
    ];
    let caps = [("max_turns", json!(99)), ("max_duration_ms", json!(1_800_000)), ("max_cost_usd", json!(90))];
    for (limit, cap) in caps.iter().chain(&[("max_requests", json!(500)), ("max_tokens", json!(900_000))]) {
        attempts.push(json!({*limit: cap}));
        attempts.push(json!({*limit: null}));
        attempts.push(json!({"actions": {*limit: "warn"}}));
        attempts.push(json!({*limit: cap, "timeout_action": "warn"}));
    }
    attempts
}

/// Everybody whom a block can be about, with the names of their blocks.
const ALL: [(Who<'_>, &[&str]); 4] = [
    (Who::Session, &["session"]),
    (Who::Main, &["main"]),
    (Who::Agent("developer"), &["developer", "dev*", "*"]),
    (Who::Agent("qa"), &["qa", "*"]),
];

/// Writes an attempt into a block of a member's own file.
fn local(who: Who<'_>, block: &str, attempt: &Value) -> Value {
    match who {
        Who::Agent(_) => json!({"agents": {block: attempt}}),
        _ => json!({block: attempt}),
    }
}

fn rules(binding: &Value, local: &Value, who: Who<'_>) -> LimitSet {
    rules_in(LOCAL, binding, local, who)
}

fn rules_in(file: &str, binding: &Value, own: &Value, who: Who<'_>) -> LimitSet {
    policy(&[(file, &own.to_string()), (PROJECT, &repository(binding)), TRUST]).0.rules_of(who)
}

/// Returns how `now` is looser than `before`, of the limits that are bound.
fn loosened(before: &LimitSet, now: &LimitSet, is_bound: impl Fn(&str) -> bool) -> Vec<String> {
    let mut looser = Vec::new();
    for rule in before.limits.iter().filter(|rule| is_bound(rule.limit.key)) {
        let only_warns = rule.layer == Layer::BuiltIn && rule.action == Action::Warn;
        let holds = now.get(rule.limit).is_some_and(|it| {
            it.cap <= rule.cap && it.action >= rule.action && (it.increase <= rule.increase || it.cap < rule.cap)
        });
        if !only_warns && !holds {
            looser.push(format!("{}: {:?}", rule.name(), now.get(rule.limit)));
        }
    }
    if is_bound("grace_turns") && now.grace_turns > before.grace_turns {
        looser.push(format!("grace_turns: {}", now.grace_turns));
    }
    if is_bound("finalize_tools") && now.finalizes("Bash") {
        looser.push("finalize_tools".to_owned());
    }
    looser
}

/// A limit that the file leaves out is bound by a list that names it, as what is built in: `locked` does the same.
#[test]
fn no_member_loosens_what_a_list_names() {
    type Names = fn(Who<'_>, &str) -> bool;
    let bindings: [(Value, Names); 5] = [
        (json!(["session.max_cost_usd", "agents.developer.*"]), |who, key| match who {
            Who::Session => key == "max_cost_usd",
            who => who == Who::Agent("developer"),
        }),
        (json!(["agents.*"]), |who, _| matches!(who, Who::Agent(_))),
        (json!(["max_turns", "max_duration_ms"]), |_, key| matches!(key, "max_turns" | "max_duration_ms")),
        (json!(["agents.qa.max_cost_usd"]), |who, key| who == Who::Agent("qa") && key == "max_cost_usd"),
        (json!(["session.*"]), |who, _| who == Who::Session),
    ];
    let mut failed = Vec::new();
    for (binding, names) in &bindings {
        for (file, (who, blocks)) in [LOCAL, USER].into_iter().flat_map(|file| ALL.map(|it| (file, it))) {
            let before = rules_in(file, binding, &json!({}), who);
            for (block, attempt) in blocks.iter().flat_map(|block| attempts().into_iter().map(move |it| (block, it))) {
                let own = local(who, block, &attempt);
                let looser = loosened(&before, &rules_in(file, binding, &own, who), |key| names(who, key));
                failed.extend(looser.iter().map(|what| format!("{binding}, {own} in {file}, {who:?}: {what}")));
            }
        }
    }
    assert!(failed.is_empty(), "{} are loosened:\n{}", failed.len(), failed.join("\n"));
}

/// A person's own file may set caps of its own. What a bound cap does is the repository's: one that only warns holds nobody.
#[test]
fn no_persons_own_file_disarms_what_the_repository_sets() {
    let set = |who: Who<'_>, key: &str| match who {
        Who::Session => key == "max_cost_usd",
        who => who == Who::Agent("developer") && matches!(key, "max_turns" | "max_cost_usd"),
    };
    let tighter_but_warning = [
        json!({"max_turns": 1, "max_cost_usd": 0.5, "timeout_action": "warn"}),
        json!({"max_turns": 1, "max_cost_usd": 0.5, "actions": {"max_turns": "warn", "max_cost_usd": "warn"}}),
    ];
    let mut failed = Vec::new();
    for binding in [json!(true), json!(["max_turns", "max_cost_usd"]), json!(["session.*", "agents.*"])] {
        let of = |user: &Value, who| {
            policy(&[(USER, &user.to_string()), (PROJECT, &repository(&binding)), TRUST]).0.rules_of(who)
        };
        for (who, blocks) in ALL {
            let before = of(&json!({}), who);
            let attempts = attempts().into_iter().chain(tighter_but_warning.clone());
            for (block, attempt) in attempts.flat_map(|it| blocks.iter().map(move |block| (block, it.clone()))) {
                let user = local(who, block, &attempt);
                let now = of(&user, who);
                for rule in before.limits.iter().filter(|rule| set(who, rule.limit.key)) {
                    let holds = now.get(rule.limit).is_some_and(|it| it.cap <= rule.cap && it.action >= rule.action);
                    if !holds {
                        failed.push(format!("{binding}, {user}, {who:?}: {}: {:?}", rule.name(), now.get(rule.limit)));
                    }
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} are disarmed:\n{}", failed.len(), failed.join("\n"));
}

/// What a member sets tighter than the repository holds, whatever binds the key: neither what the repository sets nor what is built in
/// takes its place. For an agent type of which the member's file says something looser, the repository's holds.
#[test]
fn what_a_member_tightens_holds_as_it_was_set() {
    let bindings = [
        json!(true),
        json!(["session.max_cost_usd", "agents.developer.*"]),
        json!(["agents.developer.max_turns", "agents.developer.max_cost_usd", "session.max_cost_usd"]),
        json!(["agents.*", "session.*"]),
        json!(["max_turns", "max_cost_usd"]),
    ];
    let developer = Who::Agent("developer");
    let mut failed = Vec::new();
    for binding in &bindings {
        for (who, block, key, value, cap) in [
            (developer, "developer", "max_turns", json!(30), 30),
            (developer, "*", "max_turns", json!(30), 30),
            (developer, "developer", "max_cost_usd", json!(1.5), 1_500_000_000_000),
            (Who::Session, "session", "max_cost_usd", json!(5), 5_000_000_000_000),
        ] {
            let own = local(who, block, &json!({key: value}));
            let now = rules_in(USER, binding, &own, who);
            let rule = now.limits.iter().find(|rule| rule.limit.key == key).unwrap();
            if (rule.cap, rule.layer) != (cap, Layer::User) {
                failed.push(format!("{binding}, {own}: {} by {}", rule.cap, rule.layer));
            }
        }
        let mixed = json!({"agents": {"*": {"max_turns": 30}, "developer": {"max_turns": 90}}});
        let now = rules_in(USER, binding, &mixed, developer);
        let rule = now.limits.iter().find(|rule| rule.limit.key == "max_turns").unwrap();
        if (rule.cap, rule.layer) != (40, Layer::Project) {
            failed.push(format!("{binding}, {mixed}: {} by {}", rule.cap, rule.layer));
        }
    }
    assert!(failed.is_empty(), "{} do not hold:\n{}", failed.len(), failed.join("\n"));
}

/// Returns what `fusebox config show` shows.
fn shown(files: &[(&str, &str)], who: Who<'_>) -> Vec<Effective> {
    effective::set(&policy(files).0, who)
}

/// Returns a member's file without one key, which stands in a block or in an object of one.
fn without(local: &Value, key: &str) -> Value {
    let mut rest = local.clone();
    let (block, name) = key.rsplit_once('.').unwrap();
    if let Some(object) = rest.pointer_mut(&format!("/{}", block.replace('.', "/"))).and_then(Value::as_object_mut) {
        object.remove(name);
    }
    rest
}

/// Returns how a message says that it is about one agent type only.
fn of_type(who: Who<'_>) -> String {
    let Who::Agent(name) = who else { return String::new() };
    format!("(for `{name}`)")
}

#[test]
fn what_is_said_to_be_ignored_changes_nothing() {
    let bindings = [
        json!(true),
        json!(["session.max_cost_usd", "agents.developer.*"]),
        json!(["agents.developer.max_turns"]),
        json!(["max_cost_usd"]),
        json!([]),
    ];
    let (mut failed, mut ignored) = (Vec::new(), 0);
    for binding in &bindings {
        for (who, blocks) in ALL {
            for (block, attempt) in blocks.iter().flat_map(|block| attempts().into_iter().map(move |it| (block, it))) {
                let local = local(who, block, &attempt);
                let files = [(PROJECT, &*repository(binding)), (LOCAL, &*local.to_string()), TRUST];
                for problem in policy(&files).1.iter().filter(|it| it.layer == Layer::ProjectLocal && it.is_error()) {
                    let is_of_another = problem.what.contains("(for `") && !problem.what.contains(&of_type(who));
                    if is_of_another {
                        continue;
                    }
                    ignored += 1;
                    let is_shown = |it: &Effective| {
                        it.layer == Layer::ProjectLocal && problem.key.ends_with(&format!(".{}", it.key))
                    };
                    if !problem.what.contains("is ignored for") && shown(&files, who).iter().any(is_shown) {
                        failed.push(format!("{problem}\n   but is shown as what holds for {who:?}"));
                    }
                    let rest = rules(binding, &without(&local, &problem.key), who);
                    let with = rules(binding, &local, who);
                    let named = problem.what.split(": the repository binds").next().unwrap_or_default();
                    let only_for = |limit: &str| named.contains(&format!("`{limit}`"));
                    let is_told = !problem.what.contains("is ignored for");
                    let differs = |it: &&fusebox::domain::limit_set::LimitRule| {
                        with.get(it.limit) != Some(it) && (is_told || only_for(it.limit.key))
                    };
                    failed.extend(
                        rest.limits.iter().filter(differs).map(|it| format!("{problem}\n   but {} moves", it.name())),
                    );
                }
            }
        }
    }
    assert!(ignored > 50, "{ignored}");
    assert!(failed.is_empty(), "{} count all the same:\n{}", failed.len(), failed.join("\n"));
}
