//! Budgets that sessions share: of a user and of a project, over days, weeks and months.

mod others;

use fusebox::domain::action::Action;
use fusebox::domain::layer::Layer;
use fusebox::domain::limit_set::LimitSet;
use fusebox::domain::moment::Moment;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::Session;
use fusebox::domain::shared_limits::SharedLimits;
use fusebox::domain::spend::amount::PICO;
use fusebox::domain::spend::charge::Charge;
use fusebox::domain::text::rfc3339;
use fusebox::engine::session_state::SessionState;
use fusebox::hook::policy::shared_budgets;
use fusebox::platform::environment::Environment;
use fusebox::store::Store;
use insta::assert_snapshot;

use crate::session_commands::log;
use crate::state::{TEN, at, charge, main_run, rules, save};
use crate::world::TestWorld;

/// What one response of these tests costs is 0.00584 USD.
const USAGE: &str =
    r#"{"input_tokens":10,"output_tokens":20,"cache_creation_input_tokens":1000,"cache_read_input_tokens":2000}"#;

const DAY_MS: i64 = 86_400_000;

/// A budget of the day in thousandths of a dollar, without grace.
fn budget(milli_usd: u64) -> LimitSet {
    let caps = [("max_cost_usd_per_day", milli_usd * PICO / 1000, Action::Terminate)];
    LimitSet { grace_turns: 0, warn_at: Vec::new(), ..rules(&caps, Layer::User) }
}

/// A session of a client, with hooks as the client runs them.
struct Client<'a> {
    world: &'a TestWorld,
    id: &'a str,
    folder: &'a str,
    rows: String,
}

fn of_user(user: LimitSet) -> SharedLimits {
    SharedLimits { user, ..SharedLimits::default() }
}

fn of_project(project: LimitSet) -> SharedLimits {
    SharedLimits { project, ..SharedLimits::default() }
}

impl<'a> Client<'a> {
    /// Starts a session whose user and project have these budgets.
    fn start(world: &'a TestWorld, id: &'a str, folder: &'a str, budgets: SharedLimits) -> Client<'a> {
        std::fs::create_dir_all(world.path(folder)).unwrap();
        let client = Client { world, id, folder, rows: String::new() };
        client.event("SessionStart", r#""source":"startup""#);
        save(world, |store| {
            let session = store.session(id).unwrap().unwrap();
            let rules = LimitSet { grace_turns: 0, ..LimitSet::default() };
            store.save_session(&Session { shared_limits: budgets, limits: rules, ..*session }).unwrap();
        });
        client
    }

    fn event(&self, name: &str, rest: &str) -> String {
        let (id, transcript) = (self.id, self.world.path(self.id).with_extension("jsonl"));
        let (transcript, folder) = (transcript.display(), self.world.path(self.folder));
        let head = format!(
            r#"{{"session_id":"{id}","transcript_path":"{transcript}","cwd":"{}","prompt_id":"p-{id}""#,
            folder.display()
        );
        self.world.hook(format!(r#"{head},"hook_event_name":"{name}",{rest}}}"#)).ok()
    }

    fn prompt(&self) -> String {
        self.event("UserPromptSubmit", r#""prompt":"go""#)
    }

    /// Makes a response with a call, and ends its batch; returns whether the agent may go on.
    fn turn(&mut self) -> bool {
        let (id, number) = (self.id, self.rows.lines().count());
        let time = rfc3339::format(Environment::real().now().wall_ms);
        self.rows += &format!(
            r#"{{"type":"assistant","timestamp":"{time}","message":{{"id":"{id}-{number}","model":"claude-opus-5-5","usage":{USAGE}}}}}"#
        );
        self.rows.push('\n');
        self.world.write(&format!("{id}.jsonl"), &self.rows);
        let call = format!(r#""tool_name":"Read","tool_input":{{}},"tool_use_id":"{id}-t{number}""#);
        self.event("PreToolUse", &call);
        let answer = self.event("PostToolBatch", &format!(r#""tool_calls":[{{{call}}}]"#));
        !answer.contains(r#""continue":false"#)
    }
}

/// Lets clients work in turn until all are stopped; returns how many responses they made.
fn work(clients: &mut [Client]) -> usize {
    let mut made = 0;
    let mut at_work: Vec<&mut Client> = clients.iter_mut().collect();
    while !at_work.is_empty() && made < 50 {
        made += at_work.len();
        at_work.retain_mut(|client| client.turn());
    }
    made
}

/// A world with two git repositories, as far as Fusebox looks at them.
fn with_repositories() -> TestWorld {
    let world = TestWorld::new();
    for place in ["one/.git", "two/.git"] {
        std::fs::create_dir_all(world.path(place)).unwrap();
    }
    world
}

/// Takes the date of a reset out.
fn dateless(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let is_date = |word: &str| word.len() == 10 && word.chars().filter(|c| *c == '-').count() == 2;
    words.into_iter().map(|word| if is_date(word) { "[DATE]" } else { word }).collect::<Vec<_>>().join(" ")
}

#[test]
fn three_sessions_in_two_repositories_share_a_users_day() {
    let world = with_repositories();
    let starts = [("s1", "one"), ("s2", "one"), ("s3", "two")];
    let mut clients: Vec<Client> =
        starts.map(|(id, folder)| Client::start(&world, id, folder, of_user(budget(30)))).into();
    for client in &clients {
        assert_eq!(client.prompt(), "");
    }
    // Five responses of 0.00584 USD fit into 0.03 USD.
    assert_eq!(work(&mut clients), 5);
    let later = Client::start(&world, "s4", "two", of_user(budget(30)));
    assert_snapshot!(dateless(&later.prompt()), @r#"{"decision":"block","reason":"Fusebox: user budget has no room: cost 0.0292/0.0300 USD until [DATE] + 0.0058 to come (max_cost_usd_per_day, user). In a terminal: `fusebox grant user max_cost_usd_per_day=+0.02`"}"#);
    let day = "max_cost_usd_per_day";
    assert_snapshot!(dateless(&world.run(&["grant", "user", &format!("{day}=+1")]).ok()), @"max_cost_usd_per_day of the user: 0.0300 USD -> 1.03 USD until [DATE] 00:00 +00:00 (0.0292 USD used)");
    assert_snapshot!(dateless(&later.prompt()), @r#"{"systemMessage":"Fusebox: somebody without a terminal granted max_cost_usd_per_day of the user: 0.0300 USD -> 1.03 USD until [DATE] 00:00 +00:00 (0.0292 USD used)."}"#);
    assert_snapshot!(world.run(&["grant", "user", &format!("{day}=0.5")]), @r"
    [stderr]
    error: max_cost_usd_per_day of the user is 1.03 USD already: a grant only raises it
    [exit 1]
    ");
    assert_snapshot!(world.run(&["grant", "project", &format!("{day}=+1")]), @r"
    [stderr]
    error: no max_cost_usd_per_day is set for the project
      hint: the project has no limit: one in a configuration file holds over all sessions
    [exit 1]
    ");
    assert_snapshot!(world.run(&["grant", "user"]), @r"
    [stderr]
    error: nothing is granted to the user
      hint: `fusebox grant user max_cost_usd_per_day=+5` adds 5 US dollars
    [exit 2]
    ");
}

#[test]
fn clients_that_work_at_the_same_time_keep_to_the_budget() {
    let world = with_repositories();
    let starts = [("s1", "one"), ("s2", "one"), ("s3", "two"), ("s4", "two")];
    let mut clients: Vec<Client> =
        starts.map(|(id, folder)| Client::start(&world, id, folder, of_user(budget(30)))).into();
    assert_eq!(clients[0].prompt(), "");
    // From the first response on it is known what a request may cost.
    assert!(clients[0].turn());
    clients[1..].iter().for_each(|client| assert_eq!(client.prompt(), ""));
    std::thread::scope(|scope| {
        for client in &mut clients {
            scope.spawn(|| while client.turn() {});
        }
    });
    let made: usize = clients.iter().map(|client| client.rows.lines().count()).sum();
    assert_eq!(made, 5);
}

#[test]
fn a_person_is_asked_for_more_of_what_sessions_share() {
    let world = with_repositories();
    let caps = [("max_cost_usd_per_day", 16 * PICO / 1000, Action::RequestIncrease)];
    let asking = LimitSet { grace_turns: 0, warn_at: Vec::new(), ..rules(&caps, Layer::User) };
    let mut client = Client::start(&world, "s1", "one", of_user(asking.clone()));
    assert_eq!(client.prompt(), "");
    // The third response would not fit, least of all once the cache is cold: the next call asks, and its end was a Yes.
    assert!(client.turn() && client.turn());
    let call = r#""tool_name":"Read","tool_input":{},"tool_use_id":"ask""#;
    let asked = client.event("PreToolUse", call);
    assert!(asked.contains(r#""permissionDecision":"ask""#) && asked.contains("Yes: +0.0240, cap 0.0400."), "{asked}");
    client.event("PostToolUse", &format!(r#"{call},"tool_response":{{}}"#));
    let store = Store::open_for(&world.path("state"), None).unwrap();
    let granted = store.shared_budgets().unwrap()[0].granted.clone();
    drop(store);
    assert_eq!(granted, [("max_cost_usd_per_day".to_owned(), 24 * PICO / 1000)]);
    // Another session has it too.
    assert_eq!(Client::start(&world, "s2", "two", of_user(asking)).prompt(), "");
}

#[test]
fn a_grant_is_written_down_and_a_locked_cap_stays() {
    let world = with_repositories();
    let _open = Client::start(&world, "s1", "one", of_user(budget(30)));
    let _granted = world.run(&["grant", "user", "max_cost_usd_per_day=+1"]).ok();
    assert_snapshot!(log(&world), @"LIMIT_GRANTED user max_cost_usd_per_day is 1.03 USD now, by somebody without a terminal (0.00 USD used)");
    let mut locked = budget(30);
    locked.limits[0].locked = true;
    let _locked = Client::start(&world, "s2", "one", of_user(locked));
    assert_snapshot!(world.run(&["grant", "user", "max_cost_usd_per_day=+1"]), @r"
    [stderr]
    error: max_cost_usd_per_day of the user is the managed file's: nobody may raise it
    [exit 1]
    ");
    assert_eq!(log(&world).lines().count(), 1);
}

#[test]
fn budgets_come_from_the_files_and_end_in_their_time_zone() {
    let world = with_repositories();
    let user = r#"{"user": {"max_cost_usd_per_day": 5, "max_cost_usd_per_week": 20}, "time_zone": "Asia/Kolkata"}"#;
    world.write("home/.claude/fusebox.json", user);
    world.write("one/.claude/fusebox.json", r#"{"project": {"max_cost_usd_per_month": 50}}"#);
    let client = Client { world: &world, id: "s1", folder: "one", rows: String::new() };
    client.event("SessionStart", r#""source":"startup""#);
    assert_eq!(client.prompt(), "");
    let store = Store::open_for(&world.path("state"), None).unwrap();
    let shared_budgets = store.shared_budgets().unwrap();
    let resets = |at: usize| shared_budgets[at].periods.each_ref().map(|period| period.resets.contains("00:00 +05:30"));
    assert_eq!([resets(0), resets(1)], [[true, true, false], [false, false, true]]);
    drop(store);
    assert_snapshot!(dateless(&world.run(&["grant", "user", "max_cost_usd_per_week=+5"]).ok()), @"max_cost_usd_per_week of the user: 20.00 USD -> 25.00 USD until [DATE] 00:00 +05:30 (0.00 USD used)");
    let project = world.command(&["grant", "project", "max_cost_usd_per_month=60"]).folder("one").run();
    assert_snapshot!(dateless(&project.ok()), @"max_cost_usd_per_month of the project: 50.00 USD -> 60.00 USD until [DATE] 00:00 +05:30 (0.00 USD used)");
}

#[test]
fn a_projects_budget_binds_the_sessions_of_that_project_alone() {
    let world = with_repositories();
    let start = |id, folder| Client::start(&world, id, folder, of_project(budget(12)));
    let mut one = [start("s1", "one"), start("s2", "one/deeper")];
    let mut other = start("s3", "two");
    one.iter().for_each(|client| assert_eq!(client.prompt(), ""));
    assert!(work(&mut one) <= 3);
    assert_eq!(other.prompt(), "");
    assert!(other.turn());
}

#[test]
fn a_session_without_shared_rules_reads_and_writes_no_shared_budget() {
    let world = TestWorld::new();
    let mut client = Client::start(&world, "s1", "one", SharedLimits::default());
    assert!(client.turn());
    let store = Store::open_for(&world.path("state"), None).unwrap();
    assert_eq!(store.shared_budgets().unwrap(), []);
}

fn spent(state: &SessionState) -> u64 {
    state.shared_budgets[0].spent(None).day.cost.0 * 1000 / PICO
}

/// Lays the budgets of a session that has one into a state, at some time after ten.
fn laid(store: &Store, after_ms: i64) -> SessionState {
    let session =
        Session { last: Moment { wall_ms: TEN + after_ms, ..at(0) }, ..*store.session("mine").unwrap().unwrap() };
    let mut state = SessionState::new(session);
    shared_budgets::load(store, &mut state, Moment { wall_ms: TEN + after_ms, ..Moment::default() }).unwrap();
    store.save(&mut state).unwrap();
    state
}

/// A state in which a session without budgets spent 500 today and 300 yesterday, and one with a budget nothing yet.
fn with_spending(world: &TestWorld) {
    save(world, |store| {
        let session = |id: &str| Session {
            id: id.to_owned(),
            project: "/srv/shop/.git".to_owned(),
            started: at(0),
            last: at(60),
            ..Session::default()
        };
        store.save_session(&session("theirs")).unwrap();
        store.save_session(&Session { shared_limits: of_user(budget(10_000)), ..session("mine") }).unwrap();
        let (theirs, mine) = (main_run("theirs", "p1"), main_run("mine", "p2"));
        let copy = Charge { inherited: true, ..charge("m1", &mine, 1, 500) };
        let yesterday = Charge { at_ms: TEN - DAY_MS, ..charge("m0", &theirs, 0, 300) };
        for charge in [yesterday, charge("m1", &theirs, 1, 500), copy] {
            store.save_charge(&charge).unwrap();
        }
    });
}

#[test]
fn what_sessions_without_a_budget_spent_counts_once() {
    let world = TestWorld::new();
    with_spending(&world);
    save(&world, |store| {
        assert_eq!(spent(&laid(store, 60_000)), 500);
        store.save_charge(&charge("m2", &main_run("theirs", "p1"), 65, 40)).unwrap();
        // What such a session spends while the day is open counts when the next session with a budget is pinned.
        assert_eq!(spent(&laid(store, 70_000)), 500);
        shared_budgets::recount(store, &mut store.session("mine").unwrap().unwrap(), Some("UTC"), TEN + 80_000)
            .unwrap();
        assert_eq!(spent(&laid(store, 90_000)), 540);
    });
}

#[test]
fn turning_the_clock_back_and_forth_gives_no_fresh_budget() {
    let world = TestWorld::new();
    with_spending(&world);
    save(&world, |store| {
        assert_eq!(spent(&laid(store, 0)), 500);
        // Ahead by a day, where 20 are spent.
        assert_eq!(spent(&laid(store, DAY_MS)), 0);
        store.save_charge(&charge("m3", &main_run("mine", "p2"), 86_400, 20)).unwrap();
        assert_eq!(spent(&laid(store, 1000)), 520);
        // Back by a day: yesterday's 300 and all since.
        let state = laid(store, -DAY_MS);
        assert_eq!(spent(&state), 820);
        assert!(state.shared_budgets[0].periods[0].covers(TEN - DAY_MS));
        assert_eq!(spent(&laid(store, 2000)), 520);
    });
}

#[test]
fn a_budget_of_a_user_is_kept_apart_from_a_projects() {
    let world = TestWorld::new();
    with_spending(&world);
    save(&world, |store| {
        let mut mine = store.session("mine").unwrap().unwrap();
        mine.shared_limits.project = budget(5);
        store.save_session(&mine).unwrap();
        laid(store, 0);
        let shared_budgets = store.shared_budgets().unwrap();
        let names: Vec<(Scope, &str)> =
            shared_budgets.iter().map(|shared_budget| (shared_budget.scope, shared_budget.id.as_str())).collect();
        assert_eq!(names, [(Scope::User, ""), (Scope::Project, "/srv/shop/.git")]);
    });
}

#[test]
fn a_spawn_that_asks_for_more_than_is_left_gets_what_is_left_and_is_told() {
    let world = with_repositories();
    world.write("home/.claude/fusebox.json", r#"{"session": {"max_turns": 10, "max_cost_usd": null}}"#);
    let client = Client::start(&world, "s1", "one", SharedLimits::default());
    save(&world, |store| {
        let session = store.session("s1").unwrap().unwrap();
        let rules = rules(&[("max_turns", 10, Action::Terminate)], Layer::User);
        store.save_session(&Session { limits: rules, ..*session }).unwrap();
    });
    client.prompt();
    client.event("PreToolUse", r#""tool_name":"Read","tool_input":{},"tool_use_id":"t1""#);
    let prompt = r#"execution_limits:\n  max_turns: 20\n"#;
    let input = format!(r#"{{"subagent_type":"developer","description":"d","prompt":"Work.\n{prompt}"}}"#);
    client.event("PreToolUse", &format!(r#""tool_name":"Agent","tool_input":{input},"tool_use_id":"t2""#));
    world.write("s1/subagents/agent-a1.meta.json", r#"{"agentType":"developer","toolUseId":"t2","spawnDepth":1}"#);
    world.write("s1/subagents/agent-a1.jsonl", "");
    let told = client.event("SubagentStart", r#""agent_id":"a1","agent_type":"developer""#);
    assert_snapshot!(told, @r#"{"hookSpecificOutput":{"hookEventName":"SubagentStart","additionalContext":"Fusebox: tool calls (max_turns): 20 asked for, 8 is what is left of the whole session, and so the cap."}}"#);
}
