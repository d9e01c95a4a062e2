//! Calls and requests of a paused run that are held until a person lets it go on, or the time is over. The pause is saved before that.
//! Nothing is locked meanwhile, and the event is decided anew once the state has changed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::domain::action::Action;
use crate::domain::event::EventKind;
use crate::domain::moment::Moment;
use crate::domain::process::Process;
use crate::domain::refusal::Refusal;
use crate::domain::verdict::Decision;
use crate::engine::holds;
use crate::error::Result;
use crate::hook::apply::Applied;
use crate::hook::deadline::Deadline;
use crate::hook::follow_up::{self, FollowUp};
use crate::hook::load::Loaded;
use crate::hook::load_on_demand::need_ancestors;
use crate::hook::parse::HookCall;
use crate::hook::{reply, save, word_verdict};
use crate::install::handlers;
use crate::platform::environment::Environment;
use crate::platform::stopwatch::Stopwatch;
use crate::platform::{file_info, processes};
use crate::store;

/// How often the files of the state are looked at.
const LOOK: Duration = Duration::from_millis(200);
/// How long the event rests where it was decided anew and is still held: others write into the state all the time.
const REST: Duration = Duration::from_secs(1);

/// How an event of a paused run was held so far.
#[derive(Clone, Debug, Default)]
pub struct HeldPause {
    /// Whether the event is saved, and is taken again.
    pub is_saved: bool,
    /// When the hold began.
    began: Option<Moment>,
    /// For how many seconds the client waits for the answer.
    timeout_s: u32,
    /// Whether it is held no more.
    is_over: bool,
}

impl HeldPause {
    /// Returns for how many milliseconds the event has been held.
    pub fn held_ms(&self, now: Moment) -> u64 {
        self.began.map_or(0, |began| now.since(began))
    }
}

/// Holds an event that a pause would end the loop at; returns what is loaded where it is to be answered. The first time, and where the
/// run is paused anew, it is saved as it is. After that nothing of it is kept until it is answered.
pub fn hold(
    env: &Environment,
    deadline: &Deadline,
    mut loaded: Loaded,
    call: &HookCall,
    applied: &Applied,
    pause: &mut HeldPause,
) -> Result<Option<Loaded>> {
    let Some(time) = due(env, deadline, &mut loaded, call, applied, pause)? else {
        if pause.is_saved {
            let held_ms = pause.held_ms(call.event.at);
            holds::end_hold(&mut loaded.state, &applied.run, &call.event, &applied.verdict, held_ms);
        }
        return Ok(Some(loaded));
    };
    let folder = loaded.store.folder().to_path_buf();
    let client = loaded.state.session.client.map_or_else(processes::parent_id, |client| client.pid);
    let order = loaded.state.run(&applied.run).and_then(|run| run.order.as_ref());
    let is_new = order.is_none_or(|order| order.hold.is_none());
    let (seen, rest) = if is_new || !pause.is_saved {
        pause.is_saved = true;
        pause.began.get_or_insert(call.event.at);
        let answer = word_verdict::word(&loaded, call, applied);
        let (pid, ns) = (env.pid(), processes::namespace().unwrap_or(0));
        let holder = processes::parent_and_start(pid).map(|(_, start)| Process { pid, start, ns });
        holds::begin_hold(&mut loaded.state, &applied.run, &call.event, time.as_millis() as u64, holder);
        reply::keep(&mut loaded, &answer);
        let saved = save::save(env, loaded, deadline, &call.event, folder.clone())?;
        let seen = Seen::of(&folder);
        follow_up::finish(env, FollowUp::Finish(Box::new(saved), Vec::new()));
        (seen, Duration::ZERO)
    } else {
        let seen = Seen::of(&folder);
        drop(loaded);
        (seen, REST)
    };
    let wait = Wait { client, seen, time, rest };
    pause.is_over = deadline.while_given(pause.timeout_s, || wait.until_change_or_end(env));
    Ok(None)
}

/// Returns for how long an event is to be held; `None` where it is to be answered.
fn due(
    env: &Environment,
    deadline: &Deadline,
    loaded: &mut Loaded,
    call: &HookCall,
    applied: &Applied,
    pause: &mut HeldPause,
) -> Result<Option<Duration>> {
    let (state, verdict) = (&loaded.state, &applied.verdict);
    let is_batch = matches!(call.event.kind, EventKind::BatchEnded(_));
    let waits = is_batch || matches!(call.event.kind, EventKind::ToolRequested(_));
    let pauses = matches!(verdict.refusal, Some(Refusal::Tripped { .. } | Refusal::Ordered { .. }))
        && verdict.decision == Decision::Stop
        && verdict.deciding().is_some_and(|finding| finding.action == Action::Pause);
    let most_ms = state.session.diverted.holds_for(state.session.pause_wait_ms);
    let is_held =
        waits && pauses && most_ms > 0 && !verdict.observed && !pause.is_over && state.effects.ends_client.is_none();
    let Some(order) = state.run(&applied.run).and_then(|run| run.order.as_ref()).filter(|_| is_held) else {
        return Ok(None);
    };
    let left = Duration::from_millis(order.hold_left_ms(call.event.at, most_ms));
    if left.is_zero() || is_stopped_above(loaded, &applied.run)? {
        return Ok(None);
    }
    if pause.timeout_s == 0 {
        let session = &loaded.state.session;
        // The settings may have been edited since the client started, and the client may or may not have taken that.
        let now = handlers::registered(env, Path::new(session.settings_folder()));
        pause.timeout_s = match is_batch {
            true => session.diverted.batch_timeout_s.min(now.batch_timeout_s),
            false => session.diverted.call_timeout_s.min(now.call_timeout_s),
        };
    }
    let time = left.min(deadline.longest_hold(pause.timeout_s));
    Ok(Some(time).filter(|time| !time.is_zero()))
}

/// Whether the session, or an agent above a run, is stopped for good: nobody waits for the run any more.
fn is_stopped_above(loaded: &mut Loaded, id: &str) -> Result<bool> {
    let Loaded { store, state, .. } = loaded;
    let parent = state.run(id).and_then(|run| run.parent.clone());
    need_ancestors(store, state, parent)?;
    let above = state.run(id).into_iter().flat_map(|run| state.above_run(run)).filter_map(|above| state.run(above));
    let of_session = state.order_above();
    let mut orders = above.filter_map(|run| run.order.as_ref()).chain(&of_session);
    Ok(orders.any(|order| order.finding.action != Action::Pause))
}

/// How the files of the state look: they change with each commit.
#[derive(PartialEq)]
pub struct Seen {
    files: [PathBuf; 2],
    looks: [Option<(u64, u64)>; 2],
}

impl Seen {
    /// Looks at the files of the state in a folder.
    pub fn of(folder: &Path) -> Seen {
        let files = [store::FILE.to_owned(), format!("{}-wal", store::FILE)].map(|name| folder.join(name));
        let looks = looks(&files);
        Seen { files, looks }
    }
}

fn looks(files: &[PathBuf; 2]) -> [Option<(u64, u64)>; 2] {
    [&files[0], &files[1]].map(|file| file_info::of(file).ok().map(|info| (info.length, info.modified_ns)))
}

/// What a hold waits for.
struct Wait {
    /// The client that waits for the answer.
    client: u32,
    /// How the state looked.
    seen: Seen,
    /// How long it waits at most.
    time: Duration,
    /// How long it does not look at the state.
    rest: Duration,
}

impl Wait {
    /// Waits until the state has changed, the time is over, or the client has ended; returns whether that has.
    fn until_change_or_end(&self, env: &Environment) -> bool {
        if env.lets_pass(self.time) {
            return false;
        }
        let began = Stopwatch::start();
        loop {
            let left = self.time.saturating_sub(began.elapsed());
            if left.is_zero() {
                return false;
            }
            if processes::wait_for_end(&[self.client], left.min(LOOK)) {
                return true;
            }
            if began.elapsed() >= self.rest && looks(&self.seen.files) != self.seen.looks {
                return false;
            }
        }
    }
}
