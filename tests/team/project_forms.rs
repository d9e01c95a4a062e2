//! A project is one, however its address is written: in git's configuration, in an admin's command, by an older machine.

use std::fs;

use fusebox::domain::text::project_address;

use crate::caps::{RESPONSE, cap, joined};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

/// What is written, and by which address the team knows it; empty where by none.
const FORMS: &[(&str, &str)] = &[
    ("git.example/core/app", "git.example/core/app"),
    ("https://git.example/core/app.git", "git.example/core/app"),
    ("HTTPS://ann:token@GIT.Example:443/Core/App/", "git.example/core/app"),
    ("git@git.example:core/app", "git.example/core/app"),
    ("git@git.example:/core/app.git/", "git.example/core/app"),
    ("[git@git.example:22]:core/app", "git.example/core/app"),
    ("ssh://git@git.example:22/core/app/", "git.example/core/app"),
    ("ssh://git.example:2222/~/core/app", "git.example/core/app"),
    ("ssh+git://git.example./core//app", "git.example/core/app"),
    ("git://git.example:/core/./x/../app", "git.example/core/app"),
    ("ssh://git%40git%2Eexample%2Fcore%2fapp", "git.example/core/app"),
    ("https://git.example/%63ore/a%2570p%2egit", "git.example/core/app"),
    ("https://git.example/../../core/app/.git", "git.example/core/app"),
    ("https://git.example/core/app.git.git/.git", "git.example/core/app"),
    ("https://git.example/core/app.git?token=SECRET#x", "git.example/core/app"),
    ("https::https://git.example/core/app", "git.example/core/app"),
    ("https://git.example/core/x@y/../app", "git.example/core/app"),
    ("ssh://git@[::1]:22/core/app", "[::1]/core/app"),
    ("git@[::1]:core/app", "[::1]/core/app"),
    ("[::1]/core/app", "[::1]/core/app"),
    ("https://git.example/ångström/app", "git.example/ångström/app"),
    ("https://git.example/%C3%A5ngstr%c3%b6m/app", "git.example/ångström/app"),
    ("https://git.example/core/100%/app", "git.example/core/100%/app"),
    ("https://git.example/~ann/app", "git.example/~ann/app"),
    ("https://other.example/core/app", "other.example/core/app"),
    ("https://u:p@ss/SECRET@git.example/x", ""),
    ("https://u:SECRET/x@git.example/y", ""),
    ("ann:SECRET@box:core", ""),
    ("ext::ssh -i /srv/SECRET host %S /x", ""),
    ("fd::17/SECRET", ""),
    ("https://git.example/core/%40SECRET", ""),
    ("https://git.example/core/a%FFp", ""),
    ("https://git.example/core/a%00p", ""),
    ("https://git.example/core/a%5Bp", ""),
    ("https://git.example/", ""),
    ("https://git.example/.git", ""),
    ("https:///SECRET", ""),
    ("https://.../SECRET", ""),
    ("C:\\SECRET", ""),
    ("C:/SECRET", ""),
    ("/srv/SECRET/app", ""),
    ("../SECRET", ""),
    ("file:///srv/SECRET/app", ""),
    ("app", ""),
    ("", ""),
];

#[test]
fn each_form_of_an_address_has_one_name_and_that_is_its_own() {
    for (written, known) in FORMS {
        assert_eq!(project_address::canonical(written).unwrap_or_default(), *known, "{written}");
        assert_eq!(project_address::canonical(known).unwrap_or_default(), *known, "{known}");
    }
    let [long, longest] = [400, 388].map(|letters| format!("https://git.example/{}", "x".repeat(letters)));
    assert_eq!(project_address::canonical(&long), None);
    assert_eq!(project_address::canonical(&longest).map(|known| known.len()), Some(400));
}

#[test]
fn the_store_knows_a_project_by_the_same_name_as_machines_do() {
    let Some(server) = Postgres::start() else { return };
    let long = format!("https://git.example/{}", "x".repeat(400));
    let many = format!("https://git.example/core/a%{}2570p", "25".repeat(20));
    let huge = format!("https://git.example/core/app/{}", "./".repeat(3000));
    let more = [long.as_str(), &many, &huge, "https://git.example/a\nb", "git@git.example:a]b", "[a:b", "a]:b"];
    for written in FORMS.iter().map(|form| form.0).chain(more) {
        let asked = format!("SELECT fusebox.project_address($x${written}$x$)");
        let known = project_address::canonical(written).unwrap_or_default();
        assert_eq!(server.as_login("boss", &asked).unwrap(), known, "{written}");
    }
}

/// Makes a repository with this configuration below a machine's home.
pub fn repository(machine: &Machine, name: &str, config: &str) {
    let git = machine.home.path().join(name).join(".git");
    fs::create_dir_all(git.join("objects")).unwrap();
    fs::create_dir_all(git.join("refs")).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(git.join("config"), config).unwrap();
}

/// What an agent may write into git's configuration, so that git goes on with the same repository.
const CONFIGURATIONS: &[&str] = &[
    "[remote \"origin\"]\n\turl = https://git.example/core/app.git\n",
    "[remote \"origin\"]\n\turl = git@GIT.example:Core/app\n",
    "[remote \"origin\"]\n\turl = ssh://git@git.example:22/core/%61pp/\n",
    "[Remote   \"origin\"] url = https://git.example/core/app\n",
    "[remote \"or\\igin\"]\n\tURL = https://git.example/./core/app\n",
    "[remote.Origin] ; as it was written long ago\nurl=https://git.example/core/app\n",
    "[remote \"origin\"]\n\turl = https://git.example/core/\\\napp\n",
    "[remote \"origin\"]\n\turl = https://git.example/core/app\n\turl = https://git.example/other\n",
    "[remote \"origin\"]\n\tfetch = x\n[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://git.example/core/app\n",
    "[remote \"origin\"]\n\turl = https://git.example/other\n\turl =\n\turl = https://git.example/core/app\n",
    "[remote \"origin\"]\n\tpushurl = https://git.example/other\n\turl = https://git.example/core/app\n",
    "[url \"https://git.example/\"]\n\tinsteadOf = x:\n[remote \"origin\"]\n\turl = x:core/app\n",
    "[url \"https://other.example/\"]\n\tinsteadOf = x\n[url \"git@git.example:\"]\n\tinsteadOf = x:/\n[remote \"origin\"]\n\turl = x:/core/app\n",
];

#[test]
fn a_projects_cap_binds_by_whatever_form_of_its_address_git_has() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let machine = joined(&server, "bob", "");
    let ann = Machine::new(&server, "ann");
    ann.good(&["join", "core"]);
    let cents = format!("month={}", 4.0 * RESPONSE);
    let set = ann.good(&["limit", &cents, "--project", "ssh://me:secret@git.example:22/Core/app.git"]);
    assert!(set.contains("cap of project git.example/core/app for a month: 0.0234 USD"), "{set}");
    repository(&machine, "first", CONFIGURATIONS[0]);
    let first = Client::start_in(&machine, "s", "first");
    assert_eq!(first.prompt(), None);
    (0..4).for_each(|_| drop(first.turn()));
    machine.good(&["sync"]);
    machine.good(&["sync"]);
    for (at, config) in CONFIGURATIONS.iter().enumerate() {
        let name = format!("r{at}");
        repository(&machine, &name, config);
        let client = Client::start_in(&machine, &name, &name);
        machine.good(&["sync"]);
        let says = client.prompt().unwrap_or_default();
        assert!(says.contains("the cap of the month of project git.example/core/app in team core"), "{config}: {says}");
    }
    // Another project goes on.
    repository(&machine, "other", "[remote \"origin\"]\n\turl = https://git.example/core/other\n");
    assert_eq!(Client::start_in(&machine, "other", "other").prompt(), None);
    ann.good(&["limit", "month=none", "--project", "git@git.example:core/app"]);
    assert_eq!(server.as_login("ann", "SELECT count(*) FROM fusebox.cap WHERE scope = 'project'").unwrap(), "0");
}

/// Tells of a response as a machine does.
fn tells(batch: u32, message: &str, project: &str, cost: u32) -> String {
    format!(
        "SELECT FROM fusebox.settle('core', 'machine-1', 0, {batch},
            '[{{\"message\": \"{message}\", \"cost_pico_usd\": {cost}, \"project\": \"{project}\", \"model\": \"m\"}}]', false)"
    )
}

#[test]
fn machines_and_admins_that_name_a_project_in_different_forms_speak_of_one() {
    let Some(server) = Postgres::start() else { return };
    let ask = |login: &str, asked: &str| server.as_login(login, asked).unwrap();
    let (app, scp, https) = ("git.example/core/app", "git.example:core/app", "https://git.example/core/app.git");
    for (form, period, amount) in [
        (https, "month", "7000"),
        (scp, "month", "5000"),
        ("ssh://git.example:22/core/app", "day", "9000"),
        ("app", "month", "4000"),
    ] {
        ask("ann", &format!("SELECT fusebox.set_label_cap('core', 'project', '{form}', '{period}', {amount})"));
    }
    let caps = "SELECT label, period, amount_pico_usd FROM fusebox.cap WHERE scope = 'project' ORDER BY 1, 2";
    assert_eq!(ask("ann", caps), format!("app|month|4000\n{app}|day|9000\n{app}|month|5000"));
    for (batch, (form, cost)) in (1..).zip([(https, 100), (scp, 20), ("app", 3), (https, 4), (app, 1)]) {
        ask("bob", &tells(batch, &format!("m{batch}"), form, cost));
    }
    let sums = "SELECT project, period, sum(spent_pico_usd) FROM fusebox.project_used WHERE period <> 'week' GROUP BY 1, 2 ORDER BY 1, 2";
    assert_eq!(ask("ann", sums), format!("app|day|3\napp|month|3\n{app}|day|125\n{app}|month|125"));
    assert_eq!(ask("ann", "SELECT DISTINCT project FROM fusebox.charge ORDER BY 1"), format!("app\n{app}"));
    // Each hears of it by the form in which it asks.
    let asked = r#"SELECT project, period, cap_pico_usd, spent_pico_usd FROM fusebox.projects('core',
        '["git.example:core/app", "git.example/core/app", "https://git.example/other"]') ORDER BY 1, 2"#;
    let rows = [app, scp].map(|form| format!("{form}|day|9000|125\n{form}|month|5000|125"));
    assert_eq!(ask("bob", asked), rows.join("\n"));
    let all = "SELECT DISTINCT project FROM fusebox.projects('core', NULL) ORDER BY 1";
    assert_eq!(ask("bob", all), format!("app\n{app}"));
    ask("ann", &format!("SELECT fusebox.set_label_cap('core', 'project', '{https}', 'month', NULL)"));
    assert_eq!(ask("ann", caps), format!("app|month|4000\n{app}|day|9000"));
}
