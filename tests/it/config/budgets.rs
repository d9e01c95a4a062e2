//! Budgets of users and projects, of models and roles, and rates.

use crate::config::{
    AGENT, LOCAL, MANAGED, PROJECT, SPAWN, TRUST, USER, USER_SETTINGS, check, check_problem, policy, rate,
};

#[test]
fn users_and_projects_have_budgets() {
    let user = r#"{"user": {"max_cost_usd_per_day": 25, "timeout_action": "request_increase"}, "project": {"max_cost_usd_per_week": 90, "actions": {"max_cost_usd_per_week": "warn"}}}"#;
    check(&[(USER, user)], "user all", "max_cost_usd_per_day 25 request_increase user");
    check(&[(USER, user)], "project all", "max_cost_usd_per_week 90 warn user");
    check(&[(USER, user)], "session all", "max_cost_usd 25 request_increase built-in");
    check(&[(USER, r#"{"user": {"max_cost_usd_per_month": null}}"#)], "user all", "");
    check(&[(USER, r#"{"user": {"warn_at": [50]}}"#)], "user telling", "[50] false false");
    // layers
    let tighter = r#"{"user": {"max_cost_usd_per_day": 5}, "project": {"max_cost_usd_per_month": 7}}"#;
    check(&[(USER, user), (PROJECT, tighter)], "user all", "max_cost_usd_per_day 5 request_increase project");
    check(
        &[(USER, user), (PROJECT, tighter)],
        "project all",
        "max_cost_usd_per_week 90 warn user, max_cost_usd_per_month 7 terminate project",
    );
    check(&[(MANAGED, user), (USER, tighter)], "user all", "max_cost_usd_per_day 25 request_increase managed");
    // a repository tightens alone
    let asks = "max_cost_usd_per_day 25 request_increase user";
    for (looser, trusted) in [
        (r#"{"user": {"max_cost_usd_per_day": 50}}"#, "max_cost_usd_per_day 50 request_increase project"),
        (r#"{"user": {"max_cost_usd_per_day": null}}"#, ""),
        (r#"{"user": {"timeout_action": "warn"}}"#, "max_cost_usd_per_day 25 warn user"),
    ] {
        check(&[(USER, user), (PROJECT, looser)], "user all", asks);
        check(&[(USER, user), (PROJECT, looser), TRUST], "user all", trusted);
    }
    let more = r#"{"project": {"max_cost_usd_per_week": 100}}"#;
    check(&[(USER, user), (LOCAL, more)], "project all", "max_cost_usd_per_week 90 warn user");
    // wrong place, type, range
    check_problem(
        r#"{"session": {"max_cost_usd_per_day": 5}}"#,
        "`session.max_cost_usd_per_day: 5` @ is ignored: there is no max_cost_usd_per_day per session; it belongs in `user` or \
         `project`",
    );
    check_problem(
        r#"{"user": {"max_turns": 5}}"#,
        "`user.max_turns: 5` @ is ignored: there is no max_turns per user; it belongs in `session`, `main` or one of `agents`",
    );
    let dollars = "is ignored: it must be a number from 0.000001 to 1000000 (US dollars) or `null`";
    for value in ["0", "true", "\"five\"", "2000000"] {
        check_problem(
            &format!(r#"{{"user": {{"max_cost_usd_per_day": {value}}}}}"#),
            &format!("`user.max_cost_usd_per_day: {value}` @ {dollars}"),
        );
    }
}

#[test]
fn models_have_caps_of_their_own() {
    let opus = r#"{"main": {"max_cost_usd": 9, "models": {"*opus*": {"max_cost_usd": 5, "max_tokens": 1000}}, "timeout_action": "pause"}}"#;
    check(
        &[(USER, opus)],
        "main all",
        "max_cost_usd 9 pause user, models.*opus*.max_cost_usd 5 pause user, models.*opus*.max_tokens 1000 pause user",
    );
    // layers, by pattern and limit
    let more = r#"{"main": {"models": {"*opus*": {"max_cost_usd": 4}, "*": {"max_cost_usd": 8}}}}"#;
    check(
        &[(USER, opus), (PROJECT, more)],
        "main all",
        "max_cost_usd 9 pause user, models.*opus*.max_tokens 1000 pause user, models.*opus*.max_cost_usd 4 pause project, \
         models.*.max_cost_usd 8 pause project",
    );
    let none = r#"{"main": {"models": {"*opus*": {"max_cost_usd": null}}}}"#;
    let left = "max_cost_usd 9 pause user, models.*opus*.max_tokens 1000 pause user";
    check(&[(USER, opus), (PROJECT, none), TRUST], "main all", left);
    // rights
    let all =
        "max_cost_usd 9 pause user, models.*opus*.max_cost_usd 5 pause user, models.*opus*.max_tokens 1000 pause user";
    check(&[(USER, opus), (PROJECT, none)], "main all", all);
    check(
        &[(USER, opus), (PROJECT, r#"{"main": {"models": {"*opus*": {"max_cost_usd": 6}}}}"#)],
        "problems",
        "`main.models.*opus*.max_cost_usd: 6` in `fusebox.json` (project) is ignored: the stricter \
         `models.*opus*.max_cost_usd: 5` (user) stands; `fusebox trust` lets this repository loosen what is the user's or built in",
    );
    let agents = r#"{"agents": {"qa": {"models": {"*opus*": {"max_cost_usd": 0.4}}}}}"#;
    check(
        &[(USER, agents), (SPAWN, "execution_limits: {models: {'*opus*': {max_cost_usd: 0.45}}}")],
        "qa models.*opus*.max_cost_usd",
        "0.4 terminate user",
    );
    check(
        &[(USER, agents), (SPAWN, "execution_limits: {models: {'*opus*': {max_cost_usd: 0.1}}}")],
        "qa models.*opus*.max_cost_usd",
        "0.1 terminate spawn",
    );
    let days = r#"{"user": {"models": {"*opus*": {"max_cost_usd_per_day": 3}}}}"#;
    check(&[(USER, days)], "user all", "models.*opus*.max_cost_usd_per_day 3 terminate user");
    let flow = "---\nexecution_limits: { models: { '*opus*': { max_cost_usd: 0.2 } } }\n---\n";
    check(&[(AGENT, flow)], "reviewer models.*opus*.max_cost_usd", "0.2 terminate frontmatter");
}

#[test]
fn wrong_caps_on_models_are_dropped_alone() {
    let no_such = "is ignored: no such key here; it belongs in";
    check_problem(
        r#"{"main": {"models": {"*opus*": {"max_turns": 5}}}}"#,
        &format!("`main.models.*opus*.max_turns: 5` @ {no_such} `session`, `main` or one of `agents`"),
    );
    check_problem(
        r#"{"user": {"models": {"*opus*": {"max_tokens": "5"}}}}"#,
        &format!(r#"`user.models.*opus*.max_tokens: "5"` @ {no_such} `session`, `main` or one of `agents`"#),
    );
    check_problem(
        r#"{"main": {"models": {"*opus*": {"max_tokens": 0}}}}"#,
        "`main.models.*opus*.max_tokens: 0` @ is ignored: it must be a whole number from 1 to 1000000000000 (tokens) or \
         `null`",
    );
    check_problem(
        r#"{"main": {"models": {"*opus*": 5}}}"#,
        "`main.models.*opus*: 5` @ is ignored: it must be an object of limits",
    );
    check_problem(
        r#"{"main": {"models": []}}"#,
        "`main.models: []` @ is ignored: it must be an object with caps for each pattern of models",
    );
}

#[test]
fn roles_split_models() {
    let planning = r#"{"main": {"max_planning_cost_usd": 2, "max_execution_cost_usd": 1}}"#;
    let roles = r#"{"roles": {"planning": ["*sonnet*"]}}"#;
    let both = "max_planning_cost_usd 2 terminate user, max_execution_cost_usd 1 terminate user";
    check(&[(USER, planning)], "main all", both);
    check(&[(USER, planning)], "main roles", r#"Planning ["*opus*", "*fable*", "*mythos*"], Execution [...]"#);
    check(&[(USER, planning), (MANAGED, roles)], "main roles", r#"Planning ["*sonnet*"], Execution [...]"#);
    // a repository would move what counts
    check(
        &[(USER, planning), (PROJECT, roles)],
        "main roles",
        r#"Planning ["*opus*", "*fable*", "*mythos*"], Execution [...]"#,
    );
    check(&[(USER, planning), (PROJECT, roles), TRUST], "main roles", r#"Planning ["*sonnet*"], Execution [...]"#);
    let whole = "it must be an object of `planning` (a list of names)";
    for (value, words) in [
        ("null", whole),
        ("[]", whole),
        ("{}", "`planning` (a list of names) is missing"),
        (r#"{"planning":"opus"}"#, "`planning` must be a list of names"),
        (r#"{"planning":[],"execution":[]}"#, "`execution` is no key here"),
    ] {
        check_problem(&format!(r#"{{"roles": {value}}}"#), &format!("`roles: {value}` @ is ignored: {words}"));
    }
}

#[test]
fn rates_of_all_layers_hold() {
    let user = r#"{"rate_limits": [{"tool": "WebSearch", "max": 10, "per_ms": 60000}, {"tool": "Bash", "max": 3, "per_ms": 1000, "over": "run"}, {"tool": "mcp__*", "max": 9, "per_ms": 1000, "over": "user"}]}"#;
    let search = "WebSearch 10/60000 terminate user";
    check(&[(USER, user)], "session rates", search);
    check(&[(USER, user)], "main rates", "Bash 3/1000 terminate user");
    check(&[(USER, user)], "developer rates", "Bash 3/1000 terminate user");
    check(&[(USER, user)], "user rates", "mcp__* 9/1000 terminate user");
    check(&[(USER, user)], "project rates", "");
    // layers add up, also on the same window: one may be switched off or observed where another is not
    let more = r#"{"rate_limits": [{"tool": "WebSearch", "max": 5, "per_ms": 1000}]}"#;
    check(&[(USER, user), (PROJECT, more)], "session rates", &format!("{search}, WebSearch 5/1000 terminate project"));
    for max in [5, 50] {
        let same = format!(r#"{{"rate_limits": [{{"tool": "WebSearch", "max": {max}, "per_ms": 60000}}]}}"#);
        let expected = format!("{search}, WebSearch {max}/60000 terminate project");
        check(&[(USER, user), (PROJECT, &same)], "session rates", &expected);
    }
    // what happens is counted once in a window, however many layers have it
    let two = r#"{"rate_limits": [{"tool": "mcp__*", "max": 2, "per_ms": 5}, {"tool": "WebSearch", "max": 50, "per_ms": 60000}]}"#;
    let session = policy(&[(USER, user), (PROJECT, two)]).0.session();
    let counted: Vec<String> = session.counting_rates().map(rate).collect();
    assert_eq!(counted, ["WebSearch 50/60000 terminate project", "mcp__* 2/5 terminate project"]);
    // of one layer's the tighter stays
    let settings = r#"{"fusebox": {"rate_limits": [{"tool": "WebSearch", "max": 4, "per_ms": 60000}]}}"#;
    check(&[(USER, user), (USER_SETTINGS, settings)], "session rates", "WebSearch 4/60000 terminate user");
    for nothing in [r#"{"rate_limits": []}"#, r#"{"rate_limits": null}"#] {
        check(&[(USER, user), (PROJECT, nothing), TRUST], "session rates", search);
    }
    // requests, per model
    let requests = r#"{"adapter_rate_limit": {"max_requests": 50, "per_ms": 60000}}"#;
    check(&[(USER, requests)], "session rates", "requests 50/60000 terminate user");
    check(
        &[(USER, &requests.replace("60000}", r#"60000, "over": "user"}"#))],
        "user rates",
        "requests 50/60000 terminate user",
    );
    check(&[(USER, r#"{"adapter_rate_limit": null}"#)], "session rates", "");
    // the action is its own, unless the block of that scope singles it out
    let acts = r#"{"session": {"timeout_action": "pause"}, "main": {"actions": {"rate_limits": "warn"}}}"#;
    check(&[(USER, user), (MANAGED, acts)], "session rates", search);
    check(&[(USER, user), (MANAGED, acts)], "main rates", "Bash 3/1000 warn user");
    check(&[(USER, user), (MANAGED, acts)], "developer rates", "Bash 3/1000 terminate user");
    let warns = r#"{"main": {"actions": {"rate_limits": "warn"}}}"#;
    check(&[(USER, user), (PROJECT, warns)], "main rates", "Bash 3/1000 terminate user");
    check(&[(USER, user), (PROJECT, warns), TRUST], "main rates", "Bash 3/1000 warn user");
    let agents = r#"{"agents": {"developer": {"actions": {"rate_limits": "warn"}}}}"#;
    check(&[(USER, user), (PROJECT, agents)], "developer rates", "Bash 3/1000 terminate user");
    check(&[(USER, user), (PROJECT, agents), TRUST], "developer rates", "Bash 3/1000 warn user");
    let flow = "---\nexecution_limits: { actions: { rate_limits: warn } }\n---\n";
    check(&[(USER, user), (AGENT, flow)], "reviewer rates", "Bash 3/1000 terminate user");
    check(
        &[(USER, user), (SPAWN, "execution_limits: {actions: {rate_limits: warn}}")],
        "x rates",
        "Bash 3/1000 terminate user",
    );
}

#[test]
fn a_wrong_rate_is_dropped_alone() {
    let times = "a time like `10m`, or a whole number from 1 to 604800000 (milliseconds)";
    let whole = "it must be an object of `tool` (a text that is not empty), `max` (a whole number from 1 to 1000000), \
                 `per_ms` (a time like `10m`, or a whole number from 1 to 604800000 (milliseconds)), `over` (`run`, `session`, `user`, may be left out), \
                 `on_limit` (`refuse`, `wait`, may be left out)";
    for (wrong, words) in [
        (r#"{"tool":"","max":1,"per_ms":1}"#, "`tool` must be a text that is not empty"),
        (r#"{"tool":"A","max":0,"per_ms":1}"#, "`max` must be a whole number from 1 to 1000000"),
        (r#"{"tool":"A","max":1.5,"per_ms":1}"#, "`max` must be a whole number from 1 to 1000000"),
        (r#"{"tool":"A","max":1}"#, &format!("`per_ms` ({times}) is missing")),
        (r#"{"tool":"A","max":1,"per_ms":1,"over":"x"}"#, "`over` must be `run`, `session`, `user`"),
        (r#"{"tool":"A","max":1,"per_ms":1,"on_limit":"x"}"#, "`on_limit` must be `refuse`, `wait`"),
        (r#"{"tool":"A","max":1,"per_ms":1,"by":1}"#, "`by` is no key here"),
        ("5", whole),
    ] {
        let text = format!(r#"{{"rate_limits": [{{"tool": "Bash", "max": 1, "per_ms": 9}}, {wrong}]}}"#);
        check(&[(USER, &text)], "session rates", "Bash 1/9 terminate user");
        check_problem(&text, &format!("`rate_limits.1: {wrong}` @ is ignored: {words}"));
    }
    check_problem(r#"{"rate_limits": 5}"#, "`rate_limits: 5` @ is ignored: it must be a list of rates, or `null`");
    check_problem(
        r#"{"adapter_rate_limit": {"max_requests": 5}}"#,
        "`adapter_rate_limit: {\"max_requests\":5}` @ is ignored: `per_ms` (a time like `10m`, or a whole \
         number from 1 to 604800000 (milliseconds)) is missing",
    );
}

#[test]
fn days_begin_in_a_time_zone() {
    for (name, expected) in [
        ("local", "None"),
        ("UTC", r#"Some("UTC")"#),
        ("Europe/Berlin", r#"Some("Europe/Berlin")"#),
        ("America/Argentina/Buenos_Aires", r#"Some("America/Argentina/Buenos_Aires")"#),
        ("Etc/GMT+5", r#"Some("Etc/GMT+5")"#),
    ] {
        check(&[(USER, &format!(r#"{{"time_zone": "{name}"}}"#))], "time_zone", expected);
    }
    check(&[(USER, r#"{"time_zone": "UTC"}"#), (MANAGED, r#"{"time_zone": "local"}"#)], "time_zone", "None");
    for value in ["null", "5", r#""""#, r#""../etc""#, r#""+02:00""#, r#""Europe/""#, r#""Europe Berlin""#] {
        check_problem(
            &format!(r#"{{"time_zone": {value}}}"#),
            &format!(
                "`time_zone: {value}` @ is ignored: it must be `local` or the name of a time zone such as `Europe/Berlin`"
            ),
        );
    }
    check(
        &[(PROJECT, r#"{"time_zone": "UTC"}"#), TRUST],
        "problems",
        "`time_zone: \"UTC\"` in `fusebox.json` (project) is ignored: only the user's or the managed file can set it",
    );
}
