//! The functions in the database do what docs/teams.md says of the store's side.

use crate::postgres::Postgres;

const USD: u64 = 1_000_000_000_000;

impl Postgres {
    fn bob(&self, call: &str) -> String {
        self.as_login("bob", &format!("SELECT * FROM fusebox.{call}")).unwrap()
    }

    fn cap(&self, scope: &str, login: &str, period: &str, usd: u64) {
        let set = format!("SELECT fusebox.set_cap('core', '{scope}', '{login}', '{period}', {})", usd * USD);
        self.as_login("ann", &set).unwrap();
    }

    /// Asks for a lease as bob, and returns the answer and the amount in dollars.
    fn lease(&self, machine: &str, number: u64, usd: u64) -> (String, f64) {
        let row = self.bob(&format!("lease('core', '{machine}', {number}, {})", usd * USD));
        let columns: Vec<&str> = row.split('|').collect();
        (columns[1].to_owned(), columns[2].parse::<f64>().unwrap_or(0.0) / USD as f64)
    }

    fn settle(&self, machine: &str, batch: (u64, u64), message: &str, usd: u64, closes: bool) -> String {
        let charges = format!(r#"[{{"message": "{message}", "cost_pico_usd": {}}}]"#, usd * USD);
        self.bob(&format!("settle('core', '{machine}', {}, {}, '{charges}', {closes})", batch.0, batch.1))
    }

    /// Returns what the team has spent, and what it has spent or leased, in dollars.
    fn used(&self) -> String {
        let sums = "SELECT (sum(spent_pico_usd) / 1000000000000)::bigint, (sum(committed_pico_usd) / 1000000000000)::bigint FROM fusebox.used
            WHERE login = '' AND period = 'day'";
        self.as_login("ann", sums).unwrap()
    }
}

#[test]
fn spent_and_leased_never_pass_the_cap_and_slices_shrink() {
    let Some(server) = Postgres::start() else { return };
    server.cap("team", "", "month", 100);
    let mut slices = Vec::new();
    for number in 1.. {
        let (answer, usd) = server.lease("machine-1", number, 1000);
        if answer == "refused" {
            break;
        }
        slices.push(usd);
    }
    assert_eq!(slices[0], 25.0);
    assert!(slices.windows(2).all(|pair| pair[1] <= pair[0]), "{slices:?}");
    assert!((slices.iter().sum::<f64>() - 100.0).abs() < 1e-9, "{slices:?}");
    assert_eq!(server.used(), "0|100");
}

#[test]
fn the_tightest_cap_binds_and_a_users_own_comes_before_that_of_each_user() {
    let Some(server) = Postgres::start() else { return };
    server.cap("team", "", "month", 1000);
    server.cap("user", "", "day", 40);
    assert_eq!(server.lease("machine-1", 1, 1000), ("reserved".to_owned(), 10.0));
    server.cap("user", "bob", "day", 5);
    assert_eq!(server.lease("machine-1", 2, 1000).0, "refused");
    server.cap("user", "bob", "day", 30);
    assert_eq!(server.lease("machine-1", 3, 1).0, "reserved");
    let shown = server.bob("status('core')");
    let caps: Vec<&str> = shown.lines().map(|line| line.split('|').nth(4).unwrap()).collect();
    assert_eq!(caps, ["1000000000000000", "30000000000000"], "{shown}");
}

#[test]
fn a_grant_raises_a_users_caps_until_their_periods_end_and_is_in_the_audit() {
    let Some(server) = Postgres::start() else { return };
    server.cap("team", "", "month", 1000);
    server.cap("user", "", "day", 40);
    server.cap("user", "bob", "month", 50);
    let grant = |who: &str, period: &str| {
        let call =
            format!("SELECT period, after_pico_usd / {USD} FROM fusebox.grant_more('core', '{who}', {period}, {USD})");
        server.as_login("ann", &call)
    };
    assert_eq!(grant("bob", "NULL").unwrap(), "day|41\nmonth|51");
    assert_eq!(grant("bob", "'day'").unwrap(), "day|42");
    assert_eq!(grant("", "NULL").unwrap(), "month|1001");
    for (who, period) in [("bob", "'week'"), ("nobody", "NULL"), ("zoe", "NULL"), ("", "'day'")] {
        assert!(grant(who, period).is_err(), "{who} {period}");
    }
    let caps = |login: &str| {
        let status = format!("SELECT scope, period, cap_pico_usd / {USD} FROM fusebox.status('core')");
        server.as_login(login, &status).unwrap()
    };
    assert_eq!(caps("bob"), "team|month|1001\nuser|day|42\nuser|month|51");
    // It is for nobody else.
    assert_eq!(caps("eve"), "team|month|1001\nuser|day|40");
    let audit = "SELECT by_login, subject ~ '^user bob day 20', before, after FROM fusebox.audit WHERE what = 'grant'
        AND subject LIKE '%day%' ORDER BY id";
    let expected = format!("ann|t|{}|{}\nann|t|{}|{}", 40 * USD, 41 * USD, 41 * USD, 42 * USD);
    assert_eq!(server.as_login("bob", audit).unwrap(), expected);
    assert_eq!(server.lease("machine-1", 1, 1000), ("reserved".to_owned(), 10.5));
    // In the next period it is over.
    server.as_login("boss", "UPDATE fusebox.granted SET since = since - 40").unwrap();
    assert_eq!(caps("bob"), "team|month|1000\nuser|day|40\nuser|month|50");
}

#[test]
fn a_users_own_cap_comes_before_the_lowest_of_their_groups_and_that_before_the_one_for_each_user() {
    let Some(server) = Postgres::start() else { return };
    let ann = |call: &str| server.as_login("ann", &format!("SELECT fusebox.{call}"));
    let caps = |login: &str| {
        let status = format!("SELECT scope, period, cap_pico_usd / {USD} FROM fusebox.status('core')");
        server.as_login(login, &status).unwrap()
    };
    let group = |name: &str, usd: u64| {
        ann(&format!("set_label_cap('core', 'group', '{name}', 'day', {})", usd * USD)).unwrap();
    };
    server.cap("team", "", "day", 1000);
    server.cap("user", "", "day", 40);
    for (name, login) in [("web", "bob"), ("ops", "bob"), ("ops", "eve")] {
        ann(&format!("set_group('core', '{name}', '{login}', true)")).unwrap();
    }
    group("web", 60);
    assert_eq!(
        (caps("bob"), caps("eve")),
        ("team|day|1000\nuser|day|60".to_owned(), "team|day|1000\nuser|day|40".to_owned())
    );
    group("ops", 50);
    assert_eq!(
        (caps("bob"), caps("eve")),
        ("team|day|1000\nuser|day|50".to_owned(), "team|day|1000\nuser|day|50".to_owned())
    );
    server.cap("user", "bob", "day", 70);
    assert_eq!(caps("bob"), "team|day|1000\nuser|day|70");
    // Of other periods nothing is overridden.
    server.cap("user", "", "month", 500);
    assert_eq!(caps("bob"), "team|day|1000\nuser|day|70\nuser|month|500");
    assert_eq!(server.lease("machine-1", 1, 1000).1, 17.5);
    ann("set_group('core', 'ops', 'eve', false)").unwrap();
    assert_eq!(caps("eve"), "team|day|1000\nuser|day|40\nuser|month|500");
    for wrong in [
        "set_label_cap('core', 'group', 'none', 'day', 5)",
        "set_label_cap('core', 'user', 'bob', 'day', 5)",
        "set_cap('core', 'group', '', 'day', 5)",
        "set_group('core', 'web', 'zoe', true)",
    ] {
        assert!(ann(wrong).is_err(), "{wrong}");
    }
    let audit = "SELECT by_login, what, subject, before, after FROM fusebox.audit WHERE what = 'group' OR subject LIKE 'group%' ORDER BY id";
    let expected = format!(
        "ann|group|web bob|false|true\nann|group|ops bob|false|true\nann|group|ops eve|false|true\n\
         ann|cap|group web day||{}\nann|cap|group ops day||{}\nann|group|ops eve|true|false",
        60 * USD,
        50 * USD
    );
    assert_eq!(server.as_login("bob", audit).unwrap(), expected);
}

#[test]
fn a_project_counts_what_its_responses_have_grown_by_under_the_label_that_was_told_first() {
    let Some(server) = Postgres::start() else { return };
    let settle = |login: &str, batch: u64, project: &str, usd: u64| {
        let charges = format!(r#"[{{"message": "m", "cost_pico_usd": {}, "project": "{project}"}}]"#, usd * USD);
        let call = format!("SELECT * FROM fusebox.settle('core', 'machine-{login}', 0, {batch}, '{charges}', false)");
        server.as_login(login, &call).unwrap();
    };
    for label in ["app", "web"] {
        let cap = format!("SELECT fusebox.set_label_cap('core', 'project', '{label}', 'week', {})", 10 * USD);
        server.as_login("ann", &cap).unwrap();
    }
    settle("bob", 1, "app", 3);
    settle("bob", 1, "app", 3);
    // A session that has moved to a machine where its project is called otherwise.
    settle("eve", 1, "web", 5);
    let of = |labels: &str| server.bob(&format!("projects('core', {labels})"));
    let rows = of("NULL");
    let spent: Vec<String> = rows
        .lines()
        .map(|row| row.split('|').take(2).chain(row.split('|').skip(4).take(1)).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(spent, [format!("app week {}", 5 * USD), "web week 0".to_owned()]);
    assert_eq!(of(r#"'["web", "none"]'"#).lines().count(), 1);
    assert_eq!(of("'[]'"), "");
}

#[test]
fn without_a_cap_everything_is_leased() {
    let Some(server) = Postgres::start() else { return };
    assert_eq!(server.lease("machine-1", 1, 7), ("reserved".to_owned(), 7.0));
}

#[test]
fn requests_that_come_twice_reserve_and_charge_once() {
    let Some(server) = Postgres::start() else { return };
    server.cap("team", "", "day", 100);
    for _ in 0..2 {
        assert_eq!(server.lease("machine-1", 1, 10), ("reserved".to_owned(), 10.0));
        assert_eq!(server.settle("machine-1", (1, 1), "m", 4, false), "1|settled|1|f");
    }
    assert_eq!(server.used(), "4|10");
    // A batch after a gap waits, and is not confirmed.
    assert_eq!(server.settle("machine-1", (1, 3), "n", 4, false), "1|settled|1|f");
    // The same response, told by another machine and grown, is charged by what it has grown.
    server.lease("machine-2", 1, 10);
    assert_eq!(server.settle("machine-2", (1, 1), "m", 5, true), "1|settled|1|t");
    assert_eq!(server.used(), "5|11");
    assert_eq!(server.settle("machine-1", (1, 2), "o", 1, true), "1|settled|2|t");
    assert_eq!(server.used(), "6|6");
    assert_eq!(server.lease("machine-1", 1, 10).0, "over");
    // What comes after the close, and without a lease, is charged too.
    server.settle("machine-1", (1, 3), "p", 1, true);
    server.settle("machine-1", (0, 1), "q", 2, true);
    assert_eq!(server.used(), "9|9");
}

#[test]
fn many_machines_at_once_pass_no_cap() {
    let Some(server) = Postgres::start() else { return };
    server.cap("team", "", "day", 50);
    std::thread::scope(|scope| {
        for machine in 0..6 {
            let server = &server;
            scope.spawn(move || {
                let machine = format!("machine-{machine}");
                for number in 1..20 {
                    server.lease(&machine, number, 3);
                    server.settle(&machine, (number, 1), &format!("shared-{number}"), 2, number % 2 == 0);
                }
            });
        }
    });
    let charged = "SELECT (sum(cost_pico_usd) / 1000000000000)::bigint, count(*) FROM fusebox.charge";
    assert_eq!(server.as_login("ann", charged).unwrap(), "38|19");
    let leases = "SELECT (sum(spent_pico_usd) / 1000000000000)::bigint, sum(CASE state WHEN 'open' THEN
        greatest(amount_pico_usd, spent_pico_usd) ELSE spent_pico_usd END) FROM fusebox.lease";
    let sums = server.as_login("ann", leases).unwrap();
    let used = "SELECT (sum(spent_pico_usd) / 1000000000000)::bigint, sum(committed_pico_usd) FROM fusebox.used WHERE login = '' AND period = 'day'";
    assert_eq!(sums, server.as_login("ann", used).unwrap());
}

#[test]
fn a_lease_is_usable_once_no_replica_can_have_missed_it() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', NULL, NULL, 600000, NULL)").unwrap();
    server.lease("machine-1", 1, 1);
    let pending = server.bob("renew('core', 'machine-1', 1)");
    assert!(pending.starts_with("1|pending||"), "{pending}");
    server.as_login("ann", "SELECT fusebox.set_team('core', NULL, NULL, 0, NULL)").unwrap();
    let usable = server.bob("renew('core', 'machine-1', 1)");
    assert!(usable.starts_with("1|usable|"), "{usable}");
    assert_eq!(server.bob("renew('core', 'machine-1', 2)"), "1|over||");
}

#[test]
fn an_expired_lease_stays_reserved_until_an_admin_writes_it_off_and_is_settled_late_all_the_same() {
    let Some(server) = Postgres::start() else { return };
    server.cap("team", "", "day", 100);
    server.lease("machine-1", 1, 10);
    let write_off = "SELECT fusebox.write_off('core', 'machine-1', 1)";
    let refused = server.as_login("ann", write_off).unwrap_err();
    assert!(refused.contains("once it has expired"), "{refused}");
    server.as_login("boss", "UPDATE fusebox.lease SET expires_at = clock_timestamp()").unwrap();
    assert_eq!(server.used(), "0|10");
    assert_eq!(server.as_login("ann", write_off).unwrap(), (10 * USD).to_string());
    assert_eq!(server.used(), "0|0");
    assert_eq!(server.bob("renew('core', 'machine-1', 1)"), "1|over||");
    server.settle("machine-1", (1, 1), "m", 3, true);
    assert_eq!(server.used(), "3|3");
}

#[test]
fn a_crash_loses_nothing_and_a_new_timeline_grants_nothing_until_old_leases_have_run_out() {
    let Some(server) = Postgres::start() else { return };
    server.cap("team", "", "day", 100);
    server.lease("machine-1", 1, 10);
    server.crash();
    server.go_on();
    assert_eq!(server.used(), "0|10");
    assert_eq!(server.lease("machine-1", 2, 1).0, "reserved");
    server.take_over();
    let refused = server.bob("lease('core', 'machine-1', 3, 1)");
    assert!(refused.starts_with("2|refused||"), "{refused}");
    let usable = server.bob("renew('core', 'machine-1', 1)");
    assert!(usable.starts_with("2|usable|"), "{usable}");
    // A lease that the server has forgotten is charged when it is settled.
    assert_eq!(server.settle("machine-9", (5, 1), "m", 3, true), "2|settled|1|t");
    assert_eq!(server.used(), "3|14");
    server.as_login("boss", "UPDATE fusebox.team SET grants_from = clock_timestamp()").unwrap();
    assert_eq!(server.lease("machine-1", 4, 1).0, "reserved");
}
