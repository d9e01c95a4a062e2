//! A law: however compactions are begun, caps hold them back as they hold prompts back, and live figures, reports and replays
//! say the same of them.

use serde_json::{Value, json};

use crate::compactions::fixture::{Bill, FABLE, FIRST, Fixture, OPUS, Open, REQUESTS, spent_before};

/// How many compactions each way tries.
const TRIES: usize = 5;
/// For how many of them a cap has room.
const ROOM: u64 = 2;
/// How much less than the true price a compaction may be charged at, in per cent.
const MARGIN: u64 = 5;

/// How compactions are begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// In the client that has made the requests.
    SameClient,
    /// In clients that resume the session, one after the other.
    ClientAnew,
    /// In clients that resume it with another model.
    OtherModel,
    /// In clients that resume it, all at once.
    AtOnce,
    /// In clients that resume it, with the summary taken away each time.
    Restored,
    /// In clients that resume it, each ended before its summary is there.
    CutOff,
    /// In clients that resume it, each killed before its summary is there.
    Killed,
    /// As the first acts of forks that the agent makes, each killed before its summary is there.
    KilledForks,
    /// As the first act of forks that the agent makes.
    Fork,
    /// The same, all at once.
    ForksAtOnce,
    /// As the first act in copies of the transcript under other names.
    Copy,
    /// The same, all at once.
    CopiesAtOnce,
}

const WAYS: [Way; 12] = [
    Way::SameClient,
    Way::ClientAnew,
    Way::OtherModel,
    Way::AtOnce,
    Way::Restored,
    Way::CutOff,
    Way::Killed,
    Way::KilledForks,
    Way::Fork,
    Way::ForksAtOnce,
    Way::Copy,
    Way::CopiesAtOnce,
];

impl Way {
    fn is_at_once(self) -> bool {
        matches!(self, Way::AtOnce | Way::ForksAtOnce | Way::CopiesAtOnce)
    }

    fn is_killed(self) -> bool {
        matches!(self, Way::Killed | Way::KilledForks)
    }

    fn is_under_another_name(self) -> bool {
        matches!(self, Way::Fork | Way::ForksAtOnce | Way::KilledForks | Way::Copy | Way::CopiesAtOnce)
    }

    /// Whether no summary shows what was made.
    fn leaves_nothing(self) -> bool {
        matches!(self, Way::Restored | Way::CutOff) || self.is_killed()
    }

    /// Returns the source that the client's start names, where there is one.
    fn source(self) -> Option<&'static str> {
        match self {
            Way::SameClient => None,
            Way::Fork | Way::ForksAtOnce | Way::KilledForks => Some("fork"),
            _ => Some("resume"),
        }
    }

    fn bill(self) -> Bill {
        Bill { prices: if self == Way::OtherModel { FABLE } else { OPUS }, is_warm: self == Way::SameClient }
    }

    /// Returns how many compactions of the whole conversation are made at the most.
    fn most(self) -> u64 {
        // After the first the conversation is its summary, where that is not taken away.
        let is_short = matches!(self, Way::SameClient | Way::ClientAnew | Way::OtherModel | Way::AtOnce);
        if is_short { TRIES as u64 } else { ROOM + 1 }
    }

    fn client(self, fixture: &Fixture, number: usize) -> Open {
        let own = Open { prompt: format!("c{number}"), ..fixture.first() };
        let session = match self.source() {
            None => return own,
            Some(_) if self.is_under_another_name() => {
                format!("s{}", number + 2)
            }
            Some(_) => FIRST.to_owned(),
        };
        Open { pid: fixture.clients.pids[number + 1], session, ..own }
    }
}

/// What came of a way under a policy.
struct Played {
    fixture: Fixture,
    made: u64,
}

fn play(way: Way, policy: &Value) -> Played {
    let fixture = Fixture::begin(policy, TRIES);
    let before = fixture.transcript();
    let clients: Vec<Open> = (0..TRIES).map(|number| way.client(&fixture, number)).collect();
    if clients.iter().all(|client| client.session == FIRST && client.pid != fixture.first().pid) {
        fixture.ends(&fixture.first(), "claude-opus-5-5");
    }
    let (is_copy, is_fork) = (matches!(way, Way::Copy | Way::CopiesAtOnce), way.source() == Some("fork"));
    let begins = |client: &Open| {
        if let Some(source) = way.source() {
            if is_copy {
                fixture.copies(&client.session, false);
            }
            fixture.event(client, "SessionStart", &json!({"source": source}));
        }
        fixture.may_compact(client)
    };
    let model = if way == Way::OtherModel { "claude-fable-5" } else { "claude-opus-5-5" };
    let ends = |client: &Open, is_made: bool| {
        let is_whole = is_made && way != Way::CutOff && !way.is_killed();
        if is_whole && is_fork {
            // The client writes a fork's transcript with the first row of its own.
            fixture.copies(&client.session, true);
        }
        if is_whole {
            fixture.compacted(client, model);
        }
        match way.source() {
            Some(_) if way.is_killed() => fixture.clients.kill(client.pid),
            Some(_) => fixture.ends(client, model),
            None => drop(fixture.event(client, "Stop", &json!({}))),
        }
        if way == Way::Restored {
            fixture.restores(&before);
        }
        u64::from(is_made)
    };
    let made = if way.is_at_once() {
        let begun: Vec<bool> = clients.iter().map(begins).collect();
        clients.iter().zip(begun).map(|(client, is_made)| ends(client, is_made)).sum()
    } else {
        clients.iter().map(|client| ends(client, begins(client))).sum()
    };
    Played { fixture, made }
}

pub fn capped(limit: &str, cap: Value) -> Value {
    let mut block = json!({"timeout_action": "terminate"});
    block[limit] = cap;
    let scope = if limit.ends_with("per_day") { "user" } else { "session" };
    let mut policy = json!({"session": {"grace_turns": 0}});
    for (key, value) in block.as_object().unwrap() {
        policy[scope][key] = value.clone();
    }
    policy
}

pub fn usd(pico: u64) -> Value {
    json!(pico as f64 / 1e12)
}

#[test]
fn no_way_of_compacting_passes_a_cap_of_requests() {
    let each = WAYS.map(|way| {
        let made = |cap: u64| play(way, &capped("max_requests", json!(cap))).made;
        let (some, none) = (made(REQUESTS + ROOM), made(REQUESTS));
        (some == ROOM && none == 0).then_some(()).ok_or((way, some, none))
    });
    let broken: Vec<_> = each.into_iter().filter_map(Result::err).collect();
    assert!(broken.is_empty(), "made with room for {ROOM}, and with nothing left: {broken:?}");
}

#[test]
fn no_way_of_compacting_passes_a_cap_of_cost_by_more_than_one_request() {
    let mut broken = Vec::new();
    for (limit, way) in
        ["max_cost_usd", "max_cost_usd_per_day"].into_iter().flat_map(|limit| WAYS.map(|way| (limit, way)))
    {
        let one = way.bill().first();
        let room = ROOM * one + one / 2;
        let made = |cap: u64| play(way, &capped(limit, usd(cap))).made;
        // The requests before are taken for a little more than they are.
        let (some, none) = (made(spent_before() + room), made(spent_before() + one / 10));
        if some > way.most() || none > 0 {
            broken.push((limit, way, some, none));
        }
    }
    assert!(broken.is_empty(), "made with room for {ROOM}, and with nothing left: {broken:?}");
}

#[test]
fn each_compaction_is_charged_once_and_told_the_same_everywhere() {
    for way in WAYS {
        let Played { fixture, made } = play(way, &json!({}));
        assert_eq!(made, TRIES as u64, "{way:?}");
        let [live, transcripts, replay] = fixture.told();
        let shown = if way.leaves_nothing() { 0 } else { made };
        assert_eq!(transcripts.0, REQUESTS + shown, "{way:?}: by the transcripts alone");
        match way {
            // A summary that was taken away, or never came, is in the state alone.
            _ if way.leaves_nothing() => assert_eq!(live.0, REQUESTS + made, "{way:?}"),
            // Only the state knows that another client has sent a plain copy, and that its cache may be cold.
            Way::Copy | Way::CopiesAtOnce => assert_eq!((live.0, replay), (transcripts.0, transcripts), "{way:?}"),
            _ => assert_eq!([live, replay], [transcripts; 2], "{way:?}: the state and a replay beside the transcripts"),
        }
    }
}

#[test]
fn a_compaction_is_charged_at_no_less_than_it_costs() {
    for way in WAYS {
        // The first finds the whole conversation, and so do those in forks and copies.
        let Played { fixture, made } = play(way, &json!({}));
        let truth = way.bill().first() * if way.most() < made { made } else { 1 };
        let charged = fixture.told()[0].1 - spent_before();
        assert!(charged >= truth * (100 - MARGIN) / 100, "{way:?}: {charged} for {truth} at least");
    }
}
