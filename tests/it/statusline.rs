//! `fusebox statusline`: what it shows, what it takes of the client's figures, and that it takes them from the client alone.

mod figures;

use fusebox::domain::session::Session;
use fusebox::domain::spend::amount::Amount;
use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;
use serde_json::{Value, json};

use crate::state::load;
use crate::world::{Outcome, TestWorld};

/// A session whose client is this process.
struct Client {
    world: TestWorld,
}

/// One response costs 0.00584 USD.
const ONE: Amount = Amount(5_840_000_000);

impl Client {
    fn with(policy: &Value) -> Client {
        let world = TestWorld::new();
        world.write("home/.claude/fusebox.json", policy.to_string());
        let client = Client { world };
        client.event("SessionStart", &json!({"source": "startup"}));
        client.event("UserPromptSubmit", &json!({"prompt": "go"}));
        client
    }

    fn event(&self, name: &str, rest: &Value) -> String {
        let own = std::process::id().to_string();
        let input = self.world.event("s1", "p1", name, rest);
        self.world.command(&["hook"]).env("CLAUDE_PID", &own).stdin(input).over_channel().run().ok()
    }

    /// Writes a response to the transcript.
    fn response(&self, id: &str) {
        let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000,
            "cache_read_input_tokens": 2000});
        let now = rfc3339::format(Environment::real().now().wall_ms);
        let message = json!({"id": id, "model": "claude-opus-5-5", "usage": usage});
        let row = json!({"type": "assistant", "timestamp": now, "message": message});
        self.world.append("s1.jsonl", format!("{row}\n"));
    }

    fn batch(&self, id: &str) {
        self.response(id);
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id});
        self.event("PreToolUse", &call);
        self.event("PostToolBatch", &json!({"tool_calls": [call]}));
    }

    /// Ends the turn, and begins the next.
    fn turn(&self) {
        self.event("Stop", &json!({}));
        self.event("UserPromptSubmit", &json!({"prompt": "more"}));
    }

    fn said(&self, total: f64, rest: &Value) -> Value {
        let mut said = json!({"session_id": "s1", "cost": {"total_cost_usd": total}, "version": "2.1.330"});
        said.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        said
    }

    fn line(&self, total: f64, rest: &Value) -> String {
        let command = self.world.command(&["statusline"]).env("NO_COLOR", "1").stdin(self.said(total, rest));
        command.over_channel().run().ok()
    }

    fn session(&self) -> Session {
        load(&self.world, "s1").0
    }
}

fn windows(five_hour: f64, resets_at: i64) -> Value {
    json!({"rate_limits": {"five_hour": {"used_percentage": five_hour, "resets_at": resets_at}}})
}

/// A moment so many seconds from now, in seconds since 1970.
fn in_seconds(seconds: i64) -> i64 {
    Environment::real().now().wall_ms / 1000 + seconds
}

#[test]
fn the_line_says_what_is_used_of_each_limit_and_who_is_at_work() {
    let client = Client::with(&json!({"session": {"max_cost_usd": 5}, "user": {"max_cost_usd_per_day": 25},
        "agents": {"developer": {"max_turns": 25}}}));
    assert_eq!(client.line(0.0, &json!({})), "session 0.00/5.00 USD · today 0.00/25.00 USD\n");
    let agent = json!({"agent_id": "a1", "agent_type": "developer"});
    client.event("SubagentStart", &agent);
    for id in ["c1", "c2"] {
        let call = json!({"agent_id": "a1", "agent_type": "developer", "tool_name": "Read", "tool_input": {}, "tool_use_id": id});
        client.event("PreToolUse", &call);
        client.event("PostToolUse", &call);
    }
    let said = client.line(0.0, &windows(42.7, in_seconds(3600)));
    assert_eq!(said, "session 0.00/5.00 USD · today 0.00/25.00 USD · 5h 42 % · developer 2/25\n");
    // What does not fit is left out, and what is shorter behind it is not.
    let narrow = |width: &str, said: &Value| {
        let command = client.world.command(&["statusline"]).env("NO_COLOR", "1").env("COLUMNS", width);
        command.stdin(client.said(0.0, said)).run().ok()
    };
    assert_eq!(narrow("54", &json!({})), "session 0.00/5.00 USD · today 0.00/25.00 USD\n");
    assert_eq!(narrow("32", &windows(42.7, in_seconds(3600))), "session 0.00/5.00 USD · 5h 42 %\n");
    // What is nearly used up comes before what is not.
    let said = narrow("54", &windows(81.0, in_seconds(3600)));
    assert_eq!(said, "session 0.00/5.00 USD · 5h 81 % · developer 2/25\n");
    assert_eq!(
        narrow("61", &windows(81.0, in_seconds(3600))),
        "session 0.00/5.00 USD · today 0.00/25.00 USD · 5h 81 %\n"
    );
}

#[test]
fn a_part_is_yellow_and_red_as_its_limit_is_used_up() {
    let client = Client::with(&json!({"user": {"max_five_hour_percent": 50}}));
    for (used, code) in [(39.0, ""), (40.0, "\u{1b}[33m"), (48.0, "\u{1b}[31m")] {
        let said = client.said(0.0, &windows(used, in_seconds(7200)));
        let line = client.world.command(&["statusline"]).stdin(said).over_channel().run().ok();
        assert!(line.contains(&format!("{code}5h {used:.0}/50 %")), "{line}");
    }
}

/// Whatever is wrong is said: of a command that fails, or prints nothing, the client shows nothing.
#[test]
fn what_is_wrong_is_one_line_and_no_failure() {
    let world = TestWorld::new();
    for input in ["", "{", "[]", "null", "{\"session_id\": 7}", "\u{0}\u{1}"] {
        let said = world.command(&["statusline"]).stdin(input).run().ok();
        assert_eq!(said, "fusebox: the client's input is not known here\n", "{input:?}");
    }
    let said = world.command(&["statusline"]).stdin(json!({"session_id": "nobody"})).run().ok();
    assert_eq!(said, "fusebox: nothing of this session is counted yet; `fusebox doctor` says whether it will be\n");
    assert_eq!(world.files("state"), "", "it makes no state");
    world.write(
        "state/state.db",
        "no database at all, and longer than a header of SQLite is, which has a hundred bytes; so much for that one",
    );
    let said = world.command(&["statusline"]).stdin(json!({"session_id": "nobody"})).run().ok();
    assert!(said.starts_with("fusebox: ") && said.lines().count() == 1, "{said}");
}

#[test]
fn another_command_gets_the_same_input_and_stands_first() {
    let client = Client::with(&json!({}));
    for (with, first) in [
        ("tr -d '{}\"' | cut -c1-13", "session_id:s1"),
        ("printf 'one\\ntwo\\n'", "one\ntwo"),
        ("exit 3", ""),
        ("no-such-command-here", ""),
    ] {
        let command = client.world.command(&["statusline", "--with", with]).env("NO_COLOR", "1");
        let said = command.stdin(client.said(0.5, &json!({}))).run().ok();
        let expected = if first.is_empty() { String::new() } else { format!("{first}\n") };
        assert_eq!(said, expected + "session 0.00/25.00 USD\n", "{with}");
    }
}

/// What the client asks and no transcript shows is charged once the rows of that time are read, and once only.
#[test]
fn the_clients_total_is_charged_where_it_is_more_than_was_counted() {
    let client = Client::with(&json!({"session": {"max_cost_usd": 5}}));
    let cost = || client.session().counters.spent.cost;
    client.batch("m1");
    assert_eq!(cost(), ONE);
    let one_tokens = client.session().counters.spent.tokens;
    // The title of the session: 0.1 USD that no row has.
    client.line(ONE.usd() + 0.1, &json!({}));
    assert_eq!((cost(), client.session().client_cost), (ONE, Some(105_840_000_000)));
    client.batch("m2");
    assert_eq!(cost(), ONE * 2, "rows of that time may still come");
    client.batch("m3");
    let title = Amount::from_usd(0.1);
    assert_eq!(cost(), ONE + title, "what was counted since then may be in that total or not");
    // Of tokens it tells nothing: each is taken to cost what it cost so far.
    let spent = client.session().counters.spent;
    assert_eq!(spent.tokens, one_tokens * spent.cost.0 / ONE.0, "{spent:?}");
    client.line(ONE.usd() * 3.0 + 0.1, &json!({}));
    client.turn();
    assert_eq!(cost(), ONE * 3 + title, "between two turns nothing is under way");
    client.batch("m4");
    client.batch("m5");
    for _ in 0..2 {
        client.line(ONE.usd() * 5.0 + 0.1, &json!({}));
        client.turn();
        assert_eq!(cost(), ONE * 5 + title);
    }
    let report = client.world.run(&["status", "--json"]).ok();
    assert!(report.contains("\"client_cost_usd\": \"0.129200000000\""), "{report}");
}

#[test]
fn a_person_chooses_which_cost_stands_first() {
    let total = Amount::from_usd(0.5);
    for (policy, line, status, heads) in [
        (json!({}), "session 0.0058/25.00 USD\n", "  0.0058 USD  since", ["COST", "CLIENT"]),
        (
            json!({"cost_source": "client"}),
            "client 0.50 USD · session 0.0058/25.00 USD\n",
            "  client 0.50 USD, counted 0.0058 USD  since",
            ["CLIENT", "COST"],
        ),
        (
            json!({"cost_source": "client", "billing": "plan"}),
            "client 0.50 USD list price · session 1030/3.00M tokens\n",
            "  client 0.50 USD list price, counted 1030 tokens, 0.0058 USD list price  since",
            ["CLIENT", "LIST PRICE"],
        ),
    ] {
        let client = Client::with(&policy);
        client.batch("m1");
        assert!(!client.world.run(&["status"]).ok().contains("client 0"), "{policy}: it is not known yet");
        assert_eq!(client.line(total.usd(), &json!({})), line, "{policy}");
        let wide = |command: &[&str]| client.world.command(command).env("COLUMNS", "140").run().ok();
        assert!(wide(&["status"]).contains(status), "{policy}: {}", wide(&["status"]));
        let table = wide(&["report"]);
        let mut shown = table.lines().next().unwrap().split("  ").map(str::trim).filter(|head| heads.contains(head));
        assert_eq!([shown.next(), shown.next()], heads.map(Some), "{policy}: {table}");
        assert_eq!(client.session().counters.spent.cost, ONE, "{policy}: it is shown, and nothing is counted by it");
    }
    // A repository is not asked.
    let client = Client::with(&json!({}));
    client.world.write("project/.claude/fusebox.json", r#"{"cost_source": "client"}"#);
    assert!(client.world.run(&["config", "check"]).to_string().contains("cost_source"));
}

/// The rows of agents that work side by side may come long after the batches of one another.
#[test]
fn batches_of_other_agents_do_not_hasten_the_charge() {
    let client = Client::with(&json!({}));
    let agent = json!({"agent_id": "a1", "agent_type": "developer"});
    client.batch("m1");
    client.event("SubagentStart", &agent);
    client.line(ONE.usd() + 0.1, &json!({}));
    let cost = || client.session().counters.spent.cost;
    for id in ["c1", "c2"] {
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id});
        let mut batch = agent.clone();
        batch["tool_calls"] = json!([call]);
        client.event("PostToolBatch", &batch);
        assert_eq!(cost(), ONE, "{id}");
    }
    // Nor does a prompt while one is at work.
    client.event("UserPromptSubmit", &json!({"prompt": "and this"}));
    assert_eq!(cost(), ONE);
    client.batch("m2");
    assert_eq!(cost(), ONE + Amount::from_usd(0.1), "what was counted since then may be in that total or not");
}

/// A second account tells of a window of its own; what counts against the limit is the one that is used most.
#[test]
fn with_two_accounts_the_line_shows_what_the_limit_goes_by() {
    let client = Client::with(&json!({"user": {"max_five_hour_percent": 90}}));
    assert!(client.line(0.0, &windows(80.0, in_seconds(3600))).contains("5h 80/90 %"));
    let other_account = windows(5.0, in_seconds(1800));
    assert!(client.line(0.0, &other_account).contains("5h 80/90 %"));
}

/// Whatever the order in which batches end, turns end and the client tells its total: what it has told before it had shown all that
/// was counted by then is nobody's spend once more.
#[test]
fn a_total_that_follows_what_was_counted_charges_nothing_in_any_order() {
    let orders = (0..81_u32).map(|number| [number % 3, number / 3 % 3, number / 9 % 3, number / 27]);
    for order in orders {
        let client = Client::with(&json!({}));
        // It was at work before Fusebox was, or its conversation is a new one.
        client.event("SessionStart", &json!({"source": "clear"}));
        let (mut batches, mut of_turn) = (0, 0);
        for (at, step) in order.into_iter().chain([1, 2]).enumerate() {
            match step {
                0 => {
                    client.batch(&format!("m{at}"));
                    (batches, of_turn) = (batches + 1, of_turn + 1);
                }
                1 => drop(client.line(20.0 + (ONE * batches).usd(), &json!({}))),
                // A turn without an answer is none.
                _ if of_turn == 0 => {}
                _ => {
                    client.turn();
                    of_turn = 0;
                }
            }
        }
        assert_eq!(client.session().counters.spent.cost, ONE * batches, "{order:?}");
    }
}

/// After `/clear` the client's total may still be that of the session before: it charges nothing by itself.
#[test]
fn a_total_that_began_before_the_session_charges_what_it_grows_by() {
    let client = Client::with(&json!({}));
    client.event("SessionStart", &json!({"source": "clear"}));
    let cost = || client.session().counters.spent.cost;
    for (turn, more) in [0.0, 0.25, 0.25].into_iter().enumerate() {
        client.batch(&format!("m{turn}"));
        let responses = ONE * (turn as u64 + 1);
        client.line(20.0 + more + responses.usd(), &json!({}));
        client.turn();
        assert_eq!(cost(), responses + Amount::from_usd(more), "turn {turn}");
    }
}

/// An agent that runs the command with figures of its own changes nothing.
#[test]
fn figures_are_taken_from_the_client_alone() {
    let client = Client::with(&json!({"user": {"max_five_hour_percent": 90}}));
    client.line(0.01, &windows(10.0, in_seconds(3600)));
    let before = format!("{:?}", client.session());
    let forged = client.said(4.0, &windows(99.0, in_seconds(3600)));
    let by_pipe = client.world.command(&["statusline"]).stdin(&forged).run().ok();
    let socket = "import socket, subprocess, sys\nown, other = socket.socketpair()\n\
        line = subprocess.Popen([sys.argv[1], 'statusline'], stdin=other)\nother.close()\n\
        own.sendall(sys.stdin.buffer.read())\nown.close()\nsys.exit(line.wait())\n";
    let by_socket = client.world.program(
        "/usr/bin/env",
        &["PATH=/usr/local/bin:/usr/bin:/bin", "python3", "-c", socket, crate::world::FUSEBOX],
    );
    let by_socket = by_socket.stdin(&forged).run().ok();
    for said in [by_pipe, by_socket] {
        assert!(said.contains("5h 99/90 %"), "it shows what it was given: {said}");
    }
    assert_eq!(format!("{:?}", client.session()), before);
    assert!(!client.event("UserPromptSubmit", &json!({"prompt": "more"})).contains("block"));
}

#[test]
fn a_plans_window_keeps_prompts_back_until_it_begins_anew() {
    let client = Client::with(&json!({"user": {"max_five_hour_percent": 90}}));
    let prompt = || client.event("UserPromptSubmit", &json!({"prompt": "more"}));
    client.line(0.0, &windows(89.9, in_seconds(3600)));
    assert!(!prompt().contains("\"block\""));
    client.line(0.0, &windows(90.2, in_seconds(3600)));
    let said = prompt();
    assert!(said.contains("\"block\"") && said.contains("max_five_hour_percent"), "{said}");
    let other: Outcome =
        client.world.hook(client.world.event("s2", "p9", "UserPromptSubmit", &json!({"prompt": "go"})));
    assert!(other.ok().contains("\"block\""), "every session of the user");
    client.line(0.0, &windows(3.0, in_seconds(5 * 3600)));
    assert!(!prompt().contains("\"block\""));
}

fn status_line(world: &TestWorld, place: &str) -> Value {
    let text = world.read(place).unwrap_or_else(|| "{}".to_owned());
    serde_json::from_str::<Value>(&text).unwrap()["statusLine"]["command"].clone()
}

const LOCAL: &str = "project/.claude/settings.local.json";
const USER: &str = "home/.claude/settings.json";

#[test]
fn init_puts_it_where_no_other_is_and_uninstall_takes_it_out() {
    let world = TestWorld::with_git();
    let said = world.run(&["init"]).ok();
    assert!(said.contains("`fusebox init --statusline`"), "{said}");
    world.run(&["init", "--statusline"]).ok();
    let command = status_line(&world, LOCAL);
    assert!(command.as_str().unwrap().ends_with("fusebox statusline"), "{command}");
    let before = world.read(LOCAL);
    let said = world.run(&["init", "--statusline"]).ok();
    assert!(!said.contains("init --statusline") && world.read(LOCAL) == before, "{said}");
    world.run(&["uninstall"]).ok();
    assert_eq!(world.read(LOCAL), None);
}

#[test]
fn anybody_elses_status_line_stays_and_init_names_the_command_that_shows_both() {
    let other = "npx -y ccstatusline --config 'my file'";
    for (place, scope) in
        [(USER, "local"), (USER, "user"), (LOCAL, "local"), ("project/.claude/settings.json", "local")]
    {
        let world = TestWorld::with_git();
        world.write(place, json!({"statusLine": {"type": "command", "command": other}}).to_string());
        let before = world.files("project") + &world.files("home");
        let said = world.run(&["init", "--scope", scope, "--statusline"]);
        assert_eq!(said.code, 1, "{place}: {said}");
        let with = said.stderr.split_once("--with ").unwrap().1.trim_end().replace("'\\''", "\u{1}").replace('\'', "");
        assert_eq!(with.replace('\u{1}', "'"), other, "{said}");
        assert_eq!(world.files("project") + &world.files("home"), before);
        // What a person then writes is the person's.
        world.run(&["init"]).ok();
        world.run(&["uninstall"]).ok();
        assert_eq!(status_line(&world, place), other);
    }
    let world = TestWorld::with_git();
    for scope in ["project", "managed"] {
        assert_ne!(world.run(&["init", "--scope", scope, "--statusline"]).code, 0);
    }
}
