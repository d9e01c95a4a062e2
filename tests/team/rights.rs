//! What a member's login cannot do, tried; and what an admin's leaves in the audit.

use crate::postgres::Postgres;

/// What no member may do, whichever way the login asks.
const REFUSED: &[&str] = &[
    "SELECT fusebox.set_cap('core', 'team', '', 'day', 500)",
    "SELECT fusebox.set_cap('core', 'user', 'bob', 'day', 500)",
    "SELECT fusebox.set_member('core', 'bob', 'admin')",
    "SELECT fusebox.write_off('core', 'machine-1', 1)",
    "SELECT fusebox.grant_more('core', 'bob', NULL, 500)",
    "SELECT fusebox.grant_more('core', '', 'day', 500)",
    "SELECT fusebox.set_label_cap('core', 'project', 'app', 'day', 500)",
    "SELECT fusebox.set_label_cap('core', 'group', 'ops', 'day', 500)",
    "SELECT fusebox.set_group('core', 'ops', 'bob', false)",
    "INSERT INTO fusebox.group_member VALUES (1, 'ops', 'bob')",
    "DELETE FROM fusebox.group_member",
    "UPDATE fusebox.project_used SET spent_pico_usd = 0",
    "DELETE FROM fusebox.project_used",
    "SELECT * FROM fusebox.projects('other', NULL)",
    "SELECT * FROM fusebox.sums(1, '', 'day', '2020-01-01')",
    "SELECT fusebox.project_sum(1, 'app', 'day', '2020-01-01')",
    "INSERT INTO fusebox.granted VALUES (1, 'team', '', 'day', current_date, 500)",
    "UPDATE fusebox.granted SET amount_pico_usd = 500",
    "DELETE FROM fusebox.granted",
    "SELECT fusebox.create_team('mine')",
    "UPDATE fusebox.cap SET amount_pico_usd = 500",
    "DELETE FROM fusebox.cap",
    "DELETE FROM fusebox.audit",
    "UPDATE fusebox.audit SET before = 'x'",
    "TRUNCATE fusebox.audit",
    "INSERT INTO fusebox.audit (team, what, subject) VALUES (1, 'cap', 'x')",
    "UPDATE fusebox.used SET committed_pico_usd = 0",
    "DELETE FROM fusebox.charge",
    "ALTER TABLE fusebox.audit DISABLE ROW LEVEL SECURITY",
    "DROP SCHEMA fusebox CASCADE",
    "CREATE FUNCTION fusebox.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "SET ROLE fusebox_owner",
    "SET ROLE fusebox_admin",
    "SET SESSION AUTHORIZATION ann",
    "SELECT * FROM fusebox.lease('other', 'machine-1', 1, 1)",
    "SELECT * FROM fusebox.settle('other', 'machine-1', 1, 1, '[]', true)",
    "SELECT * FROM fusebox.status('other')",
    "SELECT fusebox.charge_all(NULL, '', 1, '2020-01-01', '[]', 0)",
    "SELECT fusebox.add_used(NULL, 'bob', '2020-01-01', 0, -5, -5, 0)",
    "SELECT fusebox.own_part(NULL)",
    "SELECT fusebox.holders(NULL, 'lease')",
    "SELECT fusebox.note_totals(NULL, 'machine-9', '[]')",
    "SELECT * FROM fusebox.audit_spend('core', 30)",
    "SELECT * FROM fusebox.sync('other', 'machine-9', '[]', '[]', '[]')",
    "UPDATE fusebox.client_total SET total_pico_usd = 0",
    "DELETE FROM fusebox.client_total",
    "INSERT INTO fusebox.client_total VALUES (1, 'machine-9', current_date, 'eve', 1)",
    "SELECT fusebox.set_shared_limit('core', 'agents', 500, NULL)",
    "SELECT fusebox.write_off_share('core', 'machine-1', 'agents')",
    "SELECT * FROM fusebox.reserve('other', 'machine-9', 'agents', 1, 0, 1, 1, 0)",
    "SELECT * FROM fusebox.reserve('core', 'machine-9', 'agents', 1, 0, -1, 1, 0)",
    "SELECT fusebox.sync_share('other', 'machine-9', 'agents', NULL)",
    "SELECT fusebox.forget_shares(1, 'agents', clock_timestamp())",
    "INSERT INTO fusebox.shared_limit VALUES (1, 'agents', 500, NULL)",
    "UPDATE fusebox.shared_limit SET amount = 500",
    "DELETE FROM fusebox.shared_limit",
    "UPDATE fusebox.share SET amount = 0",
    "DELETE FROM fusebox.share",
    "SELECT fusebox.rest_of(NULL, 'bob', '2020-01-01')",
    "SELECT fusebox.caps_of(NULL, 'bob', '2020-01-01')",
    "SELECT * FROM fusebox.lease('core', 'machine-1', 1, -5)",
    "SELECT * FROM fusebox.settle('core', 'machine-1', 1, 1, '[{\"message\": \"m\", \"cost_pico_usd\": -5}]', true)",
];

#[test]
fn a_member_raises_no_cap_reads_no_other_team_and_deletes_no_audit() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'team', '', 'day', 5)").unwrap();
    server.as_login("zoe", "SELECT fusebox.set_cap('other', 'team', '', 'day', 7)").unwrap();
    for statement in REFUSED {
        let refused = server.as_login("bob", statement).expect_err(statement);
        // It names what there is.
        let is_wrong = ["does not exist", "syntax error", "is not unique"].iter().any(|word| refused.contains(word));
        assert!(!is_wrong, "{statement}: {refused}");
    }
    assert_eq!(server.as_login("bob", "SELECT name FROM fusebox.team").unwrap(), "core");
    assert_eq!(server.as_login("bob", "SELECT amount_pico_usd FROM fusebox.cap").unwrap(), "5");
    assert_eq!(server.as_login("bob", "SELECT DISTINCT team FROM fusebox.audit").unwrap(), "1");
    let others = "SELECT fusebox.grant_more('other', '', 'day', 1); SELECT fusebox.set_group('other', 'ops', 'zoe', true);
        SELECT fusebox.set_label_cap('other', 'group', 'ops', 'day', 1);
        SELECT fusebox.set_label_cap('other', 'project', 'app', 'day', 1);
        SELECT * FROM fusebox.settle('other', 'machine-9', 0, 1, '[{\"message\": \"m\", \"cost_pico_usd\": 1, \"project\": \"app\"}]', false)";
    server.as_login("zoe", others).unwrap();
    assert_eq!(server.as_login("bob", "SELECT count(*) FROM fusebox.group_member").unwrap(), "0");
    assert_eq!(server.as_login("ann", "SELECT count(*) FROM fusebox.project_used").unwrap(), "0");
    assert_eq!(server.as_login("zoe", "SELECT count(*) FROM fusebox.project_used").unwrap(), "3");
    assert_eq!(server.as_login("bob", "SELECT count(*) FROM fusebox.granted").unwrap(), "0");
    // An admin of one team is nothing in another.
    assert!(server.as_login("zoe", "SELECT fusebox.grant_more('core', '', 'day', 500)").is_err());
    assert!(server.as_login("zoe", "SELECT fusebox.set_group('core', 'ops', 'bob', true)").is_err());
    assert!(server.as_login("zoe", "SELECT fusebox.set_label_cap('core', 'project', 'app', 'day', 1)").is_err());
    assert!(server.as_login("zoe", "SELECT fusebox.set_cap('core', 'team', '', 'day', 500)").is_err());
    assert_eq!(server.as_login("zoe", "SELECT amount_pico_usd FROM fusebox.cap WHERE scope = 'team'").unwrap(), "7");
}

#[test]
fn a_member_sees_what_is_theirs_and_uses_nobodys_machine() {
    let Some(server) = Postgres::start() else { return };
    let settle = |machine: &str, message: &str| {
        let charges = format!(r#"[{{"message": "{message}", "cost_pico_usd": 5, "project": "p", "model": "opus"}}]"#);
        format!("SELECT * FROM fusebox.settle('core', '{machine}', 0, 1, '{charges}', false)")
    };
    server.as_login("bob", &settle("machine-1", "m")).unwrap();
    server.as_login("eve", &settle("machine-2", "n")).unwrap();
    let refused = server.as_login("eve", &settle("machine-1", "o")).unwrap_err();
    assert!(refused.contains("machine machine-1 is not of eve"), "{refused}");
    let seen = "SELECT login, responses, cost_pico_usd FROM fusebox.spend ORDER BY login";
    assert_eq!(server.as_login("eve", seen).unwrap(), "eve|1|5");
    assert_eq!(server.as_login("ann", seen).unwrap(), "bob|1|5\neve|1|5");
    assert_eq!(server.as_login("zoe", seen).unwrap(), "");
    // Out of the team, nothing is left.
    server.as_login("ann", "SELECT fusebox.set_member('core', 'eve', NULL)").unwrap();
    assert!(server.as_login("eve", &settle("machine-2", "q")).is_err());
    assert_eq!(server.as_login("eve", seen).unwrap(), "");
}

#[test]
fn each_change_of_a_cap_is_kept_with_before_and_after() {
    let Some(server) = Postgres::start() else { return };
    for amount in ["5", "9", "NULL"] {
        let set = format!("SELECT fusebox.set_cap('core', 'user', 'bob', 'day', {amount})");
        server.as_login("ann", &set).unwrap();
    }
    let audit = "SELECT by_login, subject, before, after FROM fusebox.audit WHERE what = 'cap' ORDER BY id";
    let expected = "ann|user bob day||5\nann|user bob day|5|9\nann|user bob day|9|";
    assert_eq!(server.as_login("bob", audit).unwrap(), expected);
    let last = server.as_login("ann", "SELECT fusebox.set_member('core', 'ann', 'member')").unwrap_err();
    assert!(last.contains("core would be without an admin"), "{last}");
    // Nor does the owner of a role lend rights: who logged in counts.
    server.as_login("boss", "GRANT fusebox_admin TO bob").unwrap();
    assert!(server.as_login("bob", "SELECT fusebox.set_cap('core', 'user', 'bob', 'day', 5)").is_err());
}
