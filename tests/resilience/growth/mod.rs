//! Anything that can grow, at sizes that no ordinary session has: each call answers in time and in little memory, what it did is
//! kept, so that the next call goes on from there, and the limit is in force meanwhile.

mod brought;
mod configured;
mod events;
mod rows;

use std::time::Duration;

use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture, Meter, Outcome, asked};
use crate::session::Session;

/// The longest that an answer may keep a processor busy, whatever has grown.
const LONGEST: Duration = Duration::from_secs(2);
/// The longest that it may take by the clock, on a machine that others use too.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most memory that a hook may take.
const MOST_KIB: u64 = 64 << 10;
/// The tool calls that the session may make.
const CAP: u64 = 3;
/// The most calls that may be held back while something is read.
const MOST_HELD: usize = 120;
/// What is said of a call that is held back.
const HELD: &str = "held back";

/// Something that can grow.
struct Dimension {
    /// What, for people.
    grows: &'static str,
    /// The most of it that can be made: a hook call for each, or a file that holds no more.
    most: usize,
    /// Whether it is there when the client starts; else it comes once the session has made a call.
    before: bool,
    /// Makes so many of it.
    make: fn(&Fixture, usize),
    /// The events that tell of it, besides the calls that follow.
    told: fn(&Session, usize) -> Vec<Value>,
    /// How many responses that brings.
    responses: fn(usize) -> usize,
    /// How many tool calls that brings.
    calls: fn(usize) -> usize,
    /// Whose calls follow: a subagent's, or the main agent's.
    agent: Option<&'static str>,
}

/// Something that is told nowhere, and brings nothing.
const DIMENSION: Dimension = Dimension {
    grows: "",
    most: 1_000_000,
    before: false,
    make: |_, _| (),
    told: |_, _| Vec::new(),
    responses: |_| 0,
    calls: |_| 0,
    agent: None,
};

/// Returns the sizes that are tried.
fn sizes() -> Vec<usize> {
    let long = asked("FUSEBOX_RESILIENCE").is_some_and(|form| form == "full");
    if long { vec![10, 1_000, 100_000, 1_000_000] } else { vec![30_000] }
}

/// A session in which something grows.
struct Growing<'a> {
    dimension: &'a Dimension,
    size: usize,
    session: Session<'a>,
    /// The calls that ran.
    ran: u64,
    /// The calls that were held back.
    held: usize,
    /// The longest that an answer took.
    slowest: Duration,
}

impl Growing<'_> {
    /// Makes a hook call, which has to answer in time and in little memory.
    fn tell(&mut self, event: &Value) -> Result<Answer, String> {
        let outcome: Outcome = self.session.fixture.hook().tell(event);
        self.slowest = self.slowest.max(outcome.worked);
        let name = &event["hook_event_name"];
        let (took, peak) = (outcome.worked, outcome.peak_kib.unwrap_or(u64::MAX));
        if took > LONGEST || outcome.took > PATIENCE || peak > MOST_KIB {
            return Err(format!("{name} took {took:?} and {peak} KiB, after {} held calls", self.held));
        }
        if outcome.code != Some(0) || !outcome.stderr.is_empty() {
            return Err(format!("{name} failed: {:.500}", format!("{outcome:?}")));
        }
        Ok(Answer::of(&outcome.stdout))
    }

    /// Makes a call, again while it is held back; returns whether it ran.
    fn works(&mut self, id: usize) -> Result<bool, String> {
        for again in 0.. {
            let id = format!("t{id}-{again}");
            match self.tell(&self.session.requests("Read", &id))? {
                Answer::Allowed => {
                    self.session.append(&self.session.rows("Read", &id));
                    self.tell(&self.session.ends("Read", &id))?;
                    self.tell(&self.session.batch("Read", &id))?;
                    self.ran += 1;
                    return Ok(true);
                }
                Answer::Refused(why) if why.contains(HELD) => self.held += 1,
                Answer::Refused(_) => return Ok(false),
            }
            if self.held > MOST_HELD {
                return Err(format!("{} calls were held back, and the next one would be", self.held));
            }
        }
        Ok(false)
    }

    /// Plays the session to the cap, and says what is wrong.
    fn play(&mut self) -> Result<(), String> {
        for event in (self.dimension.told)(&self.session, self.size) {
            let mut answer = self.tell(&event)?;
            while matches!(&answer, Answer::Refused(why) if why.contains(HELD)) && self.held < MOST_HELD {
                self.held += 1;
                answer = self.tell(&event)?;
            }
        }
        let mut id = 2;
        while id < 8 && self.works(id)? {
            id += 1;
        }
        let fixture = self.session.fixture;
        let (turns, requests) = (fixture.meter("s1", Meter::Turns), fixture.meter("s1", Meter::Requests));
        let brought = (self.dimension.calls)(self.size) as u64;
        let (calls, responses) = (self.ran.max(CAP) + brought, self.ran + (self.dimension.responses)(self.size) as u64);
        if self.ran > CAP || brought == 0 && self.ran < CAP {
            return Err(format!("{} calls ran, not {CAP}: {:.1000}", self.ran, fixture.log()));
        }
        if requests != responses || brought == 0 && turns != calls {
            return Err(format!("{requests} responses are counted, not {responses}; {turns} calls, not {calls}"));
        }
        Ok(())
    }
}

/// Grows one dimension to a size, and says what is wrong.
fn grow(dimension: &Dimension, size: usize) -> Result<(), String> {
    let rules = json!({"max_turns": CAP, "grace_turns": 0, "warn_at": []});
    let of_agents =
        json!({"max_turns": CAP, "grace_turns": 0, "warn_at": [], "max_cost_usd": null, "max_duration_ms": null});
    let asks = json!({"max_turns": 1, "timeout_action": "request_increase", "warn_at": []});
    let agents = json!({"developer": of_agents, "asker": asks});
    let config = json!({"main": rules, "agents": agents, "session": {"max_cost_usd": null}});
    let fixture = Fixture::under(&config);
    if dimension.before {
        (dimension.make)(&fixture, size);
    }
    let main = Session::named(&fixture, "s1");
    main.append(&[main.user(&json!("go"))]);
    let session = dimension.agent.map_or(main.clone(), |agent| main.agent(agent));
    let mut growing = Growing { dimension, size, session, ran: 0, held: 0, slowest: Duration::ZERO };
    for event in [main.starts(), main.prompt()] {
        growing.tell(&event)?;
    }
    growing.works(1)?;
    if !dimension.before {
        (dimension.make)(&fixture, size);
    }
    let played = growing.play();
    if asked("FUSEBOX_GROWTH").is_some() {
        println!("{} of {}: held {}, {:?}", size, dimension.grows, growing.held, growing.slowest);
    }
    played
}

/// Grows every dimension of a table to each size.
fn grow_all(dimensions: &[Dimension]) {
    let only = asked("FUSEBOX_GROWTH").unwrap_or_default();
    let mut wrong = String::new();
    for dimension in dimensions.iter().filter(|dimension| dimension.grows.contains(&only)) {
        let mut last = 0;
        for size in sizes().into_iter().map(|size| size.min(dimension.most)).filter(|size| *size > 0) {
            if size == std::mem::replace(&mut last, size) {
                continue;
            }
            if let Err(why) = grow(dimension, size) {
                wrong += &format!("\n{size} {}: {why}\n", dimension.grows);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
