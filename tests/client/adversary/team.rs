//! The agent attacks the cap of its team: the file that says where the store is, what the machine has leased, the commands.

use crate::adversary::siege::{ESCAPED, program};
use crate::adversary::{Attempt, Outcome};
use crate::lab::Lab;
use crate::postgres::Postgres;
use crate::script::{Tool, call, main, say, work};
use crate::team::{machine, store, used};

pub const ATTEMPTS: &[Attempt] = &[
    Attempt {
        tries: "deletes `team.json` in disguise, so that its machine asks the team's store no more",
        outcome: Outcome::NoEffect,
        then: "what is leased is spent, and then work is refused: nothing but the store gives more. With `on_stale: \"allow\"` it would go on",
        scenario: "a_machine_whose_team_is_deleted_spends_what_is_leased_and_no_more",
    },
    Attempt {
        tries: "runs `fusebox team leave`, `limit`, `grant` and `sync` in disguise, with an environment that names no client",
        outcome: Outcome::NoEffect,
        then: "the commands see the client above them; the cap holds",
        scenario: "commands_for_the_team_in_disguise_change_no_cap",
    },
    Attempt {
        tries: "writes a lease that nobody gave into `team-machine.json` in disguise",
        outcome: Outcome::NoEffect,
        then: "a file that Fusebox has not written so is made anew of what the store knows",
        scenario: "a_lease_that_is_written_in_disguise_is_not_spent",
    },
];

/// The cap of the team, in requests.
const CAP: f64 = 16.0;
/// What an agent that is not stopped makes, in requests.
const ALL: usize = 40;

/// An agent that makes its attack in its third call, and works on.
fn attacked(attack: Tool) -> Option<(Postgres, Lab)> {
    let server = store(CAP)?;
    let before = [call([work()]), call([work()]), call([attack])];
    let rest = std::iter::repeat_n(call([work()]), ALL);
    let lab = machine(&server, "bob", main(before.into_iter().chain(rest).chain([say(ESCAPED)])));
    let run = lab.claude("MAIN start", &[]);
    assert!(!run.text().contains(ESCAPED), "{}", lab.story());
    // Which cap it is the store says, and a machine may not hear it any more.
    let is_teams = |record: &serde_json::Value| record["scope"] == "team";
    assert!(lab.logged("AGENT_FAILED").iter().any(is_teams), "{}\n{}", lab.must(&["log", "--json"]), lab.story());
    // The attack itself was let through.
    assert!(lab.ran().len() > 2, "{}", lab.story());
    Some((server, lab))
}

/// The cap was kept: by what was made, and by what the store has.
fn held((server, lab): &(Postgres, Lab)) {
    let (spent, committed) = used(server);
    let made = lab.api.requests_of("MAIN").len() as f64;
    assert!(made <= CAP && spent <= CAP && committed <= CAP, "{made} {spent} {committed}\n{}", lab.story());
}

/// The names of the commands, and the environment of a person, in disguise.
const HIDDEN: &str = "clean = {name: value for name, value in os.environ.items() if 'CLAUDE' not in name}\n\
    def fuse(*words): return subprocess.run(['fuse' + 'box', 'te' + 'am', *words], env=clean, capture_output=True, text=True)";

#[test]
fn a_machine_whose_team_is_deleted_spends_what_is_leased_and_no_more() {
    let Some(siege) = attacked(program("os.remove(state + '/te' + 'am.json')")) else { return };
    held(&siege);
    assert!(!siege.1.state().join("team.json").exists());
}

#[test]
fn commands_for_the_team_in_disguise_change_no_cap() {
    let orders = "orders = [['leave'], ['limit', 'month=none'], ['limit', 'month=none', '--user', 'bob'], ['grant', 'bob', '+9'],\n  \
         ['invite', 'bob', '--admin'], ['write-off', '11111111']]\n\
        for words in orders:\n    told = fuse(*words)\n    \
        assert told.returncode != 0 and 'a person' in told.stderr, told\nfuse('sync')";
    let Some(siege) = attacked(program(&format!("{HIDDEN}\n{orders}\nopen('tried', 'w').write('all')"))) else {
        return;
    };
    held(&siege);
    let (server, lab) = &siege;
    assert_eq!(std::fs::read_to_string(lab.project().join("tried")).unwrap(), "all");
    assert!(lab.state().join("team.json").exists());
    let cap = "SELECT count(*) FROM fusebox.cap; SELECT count(*) FROM fusebox.granted; SELECT role FROM fusebox.member WHERE login = 'bob'";
    assert_eq!(server.as_login("ann", cap).unwrap(), "1\n0\nmember");
}

#[test]
fn a_lease_that_is_written_in_disguise_is_not_spent() {
    let write = "path = state + '/te' + 'am-machine.json'\nknown = json.load(open(path))\n\
        leases = [lease for lease in known['leases'] if lease['stage'] == 'usable']\n\
        for lease in leases: lease.update(amount=10 ** 15, lives_ms=10 ** 12)\n\
        json.dump(known, open(path + '-new', 'w'))\nos.chmod(path + '-new', 0o600)\nos.rename(path + '-new', path)\n\
        open('tried', 'w').write(str(len(leases)))";
    let Some(siege) = attacked(program(write)) else { return };
    held(&siege);
    let tried = std::fs::read_to_string(siege.1.project().join("tried")).unwrap();
    assert!(tried.parse::<usize>().unwrap() > 0, "there was no lease to write");
}
