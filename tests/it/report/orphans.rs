//! Sessions whose client died without a word.

use std::fs;
use std::process::{Child, Command};

use fusebox::domain::moment::Moment;
use fusebox::domain::session::{Process, Run, Session, Status};
use fusebox::platform::processes;
use insta::assert_snapshot;

use crate::session_commands::{log, standing};
use crate::state::{developer, load, main_run, save, session};
use crate::world::TestWorld;

/// A process that stands for a client, and ends with the test.
pub struct Client(Child);

impl Client {
    pub fn start() -> Client {
        Client(Command::new("/bin/sleep").arg("60").spawn().unwrap())
    }

    pub fn process(&self) -> Process {
        let (_, start) = processes::parent_and_start(self.0.id()).unwrap();
        Process { pid: self.0.id(), start, ns: processes::namespace().unwrap() }
    }

    /// Kills it; it stays a zombie until the test ends, as below a parent that does not look.
    fn kill(&mut self) {
        self.0.kill().unwrap();
        let stat = || fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        while !stat().contains(") Z") {
            std::thread::yield_now();
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// A session of a client with its main run and a developer, both at work.
fn with_client(client: Option<Process>, boot: u64) -> TestWorld {
    let world = TestWorld::new();
    let main = Run { working: true, ..main_run("s1", "p1") };
    let worker = Run { working: true, ..developer("s1", "a1", "p1") };
    let open = vec![main.id.clone(), worker.id.clone()];
    save(&world, |store| {
        let started = session("s1");
        let last = Moment { boot, ..started.last };
        store.save_session(&Session { client, last, open, main: Some("p1".to_owned()), ..started }).unwrap();
        store.save_run(&main).unwrap();
        store.save_run(&worker).unwrap();
    });
    world
}

fn statuses(world: &TestWorld) -> String {
    let _told = world.run(&["report", "--since", "all"]).ok();
    let (session, runs) = load(world, "s1");
    let all = std::iter::once(session.status).chain(runs.iter().map(|run| run.status));
    all.map(Status::as_str).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_session_is_orphaned_when_its_client_is_surely_gone() {
    let client = Client::start();
    let alive = client.process();
    let now = fusebox::platform::environment::Environment::real().now();
    let (gone, stays) = ("orphaned orphaned orphaned", "running running running");
    for (name, client, boot, expected) in [
        ("alive", Some(alive), now.boot, stays),
        ("nothing is known of the client", None, now.boot, stays),
        ("its id was used again", Some(Process { start: alive.start + 1, ..alive }), now.boot, gone),
        ("in another namespace", Some(Process { start: alive.start + 1, ns: alive.ns + 1, ..alive }), now.boot, stays),
        ("in a namespace not known", Some(Process { start: alive.start + 1, ns: 0, ..alive }), now.boot, stays),
        ("before another boot", Some(alive), now.boot + 1, gone),
        ("before another boot, client not known", None, now.boot + 1, gone),
        ("boot not known", Some(alive), 0, stays),
    ] {
        assert_eq!(statuses(&with_client(client, boot)), expected, "{name}");
    }
}

#[test]
fn a_client_that_went_on_without_hooks_is_not_said_to_have_died() {
    for (responses, is_said) in [(0, false), (1, false), (2, true), (5, true)] {
        let mut client = Client::start();
        let world = with_client(Some(client.process()), 0);
        let row = |at: u32| {
            format!(
                "{{\"type\":\"assistant\",\"timestamp\":\"2126-01-01T00:00:0{at}.000Z\",\"message\":{{\"id\":\"m{at}\",\
                 \"model\":\"claude-opus-5-5\",\"usage\":{{\"input_tokens\":1,\"output_tokens\":1}}}}}}\n"
            )
        };
        world.write("s1.jsonl", (0..responses).map(row).collect::<String>());
        save(&world, |store| {
            let mut session = store.session("s1").unwrap().unwrap();
            session.position.path = world.path("s1.jsonl").to_string_lossy().into_owned();
            store.save_session(&session).unwrap();
        });
        client.kill();
        let log = log(&world);
        let said = log.contains(&format!("without asking Fusebox: {responses} responses came after its last hook"));
        assert_eq!((said, log.contains("main p1 The client died")), (is_said, !is_said), "{responses}: {log}");
    }
}

#[test]
fn the_death_of_a_client_is_written_down_once() {
    let mut client = Client::start();
    let world = with_client(Some(client.process()), 0);
    assert_eq!(log(&world), "");
    client.kill();
    assert_snapshot!(log(&world), @r"
    AGENT_ORPHANED developer a1 The client died before the agent was done
    AGENT_ORPHANED main p1 The client died before the agent was done
    ");
    assert_eq!(log(&world).lines().count(), 2);
    assert_snapshot!(standing(&world, "s1"), @r"
    session: orphaned; max_cost_usd 25.00 USD built-in
    p1: orphaned
    a1: orphaned; max_turns 25 project, max_cost_usd 1.00 USD project
    ");
    let story = world.run(&["explain", "a1"]).ok();
    assert!(story.starts_with("developer a1  orphaned\n"), "{story}");
    let (last, death) = (story.find("last event"), story.find("AGENT_ORPHANED: The client died"));
    assert!(last.is_some() && last < death, "{story}");
    assert_snapshot!(world.run(&["status"]), @r"
    No session is at work. `fusebox report` shows those of the last 7 days.
    no hook of Fusebox is registered here, so nothing is counted or stopped: `fusebox init` registers it
    [exit 0]
    ");
    let lines = world.read("state/execution-limits.log").unwrap();
    assert_eq!(lines.matches(r#""event":"AGENT_ORPHANED""#).count(), 2);
}

#[test]
fn a_resumed_session_goes_on_and_its_orphans_are_known() {
    let mut client = Client::start();
    let mut world = with_client(Some(client.process()), 0);
    client.kill();
    let next = Client::start();
    world.set("CLAUDE_PID", next.0.id().to_string());
    let event = |name: &str, rest: &str| {
        let head = r#"{"session_id":"s1","transcript_path":"","cwd":"/srv/shop""#;
        world.hook(format!(r#"{head},"hook_event_name":"{name}",{rest}}}"#)).ok()
    };
    event("SessionStart", r#""source":"resume""#);
    assert_eq!(statuses(&world), "running orphaned orphaned");
    assert_eq!(log(&world).lines().count(), 2);
    event("SubagentStart", r#""agent_id":"a1","agent_type":"developer""#);
    assert_eq!(statuses(&world), "running orphaned running");
    let (_, runs) = load(&world, "s1");
    assert_eq!((&runs[1].stop_reason, &runs[1].error), (&None, &None));
}
