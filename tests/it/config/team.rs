//! The team that the machine's managed file names holds, whatever any other file, an agent's frontmatter or a prompt says.

use crate::config::{AGENT, LOCAL, MANAGED, PROJECT, SPAWN, TRUST, USER, check};

const CORE: &str = r#"{"team": {"name": "core", "on_stale": "deny", "max_staleness_ms": 60000, "sync_interval_ms": "5s"}, "team_budget_usd": 100}"#;
const BOUND: &str = "core Deny 60000 5000 100.00 USD";

/// What other files may say: out of the team, another team, looser terms, a higher ceiling, and none.
const SAYINGS: [&str; 6] = [
    r#"{"team": null}"#,
    r#"{"team": "other"}"#,
    r#"{"team": {"name": "core", "on_stale": "allow", "max_staleness_ms": 86400000, "sync_interval_ms": "24h"}}"#,
    r#"{"team": {"name": "other", "on_stale": "allow"}, "team_budget_usd": 100000}"#,
    r#"{"team_budget_usd": null}"#,
    r#"{"team": null, "team_budget_usd": 1000000, "binding": true}"#,
];

#[test]
fn the_managed_files_team_is_changed_by_no_other_file() {
    check(&[(MANAGED, CORE)], "team", BOUND);
    for said in SAYINGS {
        for file in [USER, PROJECT, LOCAL] {
            check(&[(MANAGED, CORE), (file, said)], "team", BOUND);
            check(&[(MANAGED, CORE), (file, said), TRUST], "team", BOUND);
        }
        let block = format!("Go on.\n```fusebox\n{said}\n```\n");
        check(&[(MANAGED, CORE), (SPAWN, &block), TRUST], "team", BOUND);
        let agent = format!("---\nname: reviewer\nfusebox: {said}\n---\nYou review.\n");
        check(&[(MANAGED, CORE), (AGENT, &agent), TRUST], "team", BOUND);
    }
}

#[test]
fn without_a_managed_file_the_user_names_the_team_and_no_repository_does() {
    let terms = "core Warn 900000 30000 none";
    check(&[(USER, r#"{"team": "core"}"#)], "team", terms);
    for said in SAYINGS {
        for file in [PROJECT, LOCAL] {
            check(&[(file, said)], "team", "none");
            check(&[(file, said), TRUST], "team", "none");
            check(&[(USER, r#"{"team": "core"}"#), (file, said), TRUST], "team", terms);
        }
    }
    // A managed file takes a machine out of every team, too.
    check(&[(MANAGED, r#"{"team": null}"#), (USER, r#"{"team": "core"}"#)], "team", "none");
}
