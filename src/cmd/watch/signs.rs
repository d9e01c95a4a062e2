//! The signs of life that the machine shows of runs at work: files that grow, shells that live.

use std::path::{Path, PathBuf};

use crate::alerts::silence::{Sign, Signs};
use crate::cmd::live_state::LiveState;
use crate::domain::session::{Run, Session, Status};
use crate::hook::check_completion;
use crate::platform::file_info;
use crate::platform::processes::{self, TICK_MS};
use crate::report::doing::Activity;
use crate::report::status;
use crate::transcript::{ending, layout, turn_end};
use crate::wire::tools;

/// Nanoseconds of a millisecond.
const MS: u64 = 1_000_000;

/// Looks for signs of life of each run at work.
pub fn find(live: &LiveState) -> Signs {
    let mut signs = Signs::new();
    for rows in live.rows.iter().filter(|rows| status::at_work(rows.session.status)) {
        for run in rows.runs.iter().filter(|run| run.status == Status::Running && run.working) {
            let call = live.calls.get(&rows.session.id).and_then(|calls| calls.get(&run.id));
            let transcripts = layout::transcripts_of(&rows.session, run);
            let kept = run.limits.checkpoints.iter();
            let kept = kept.map(|rule| check_completion::file_of(rule, run, &rows.session.folder));
            let activity = Activity::of(run, call);
            let sign = Sign {
                grown_ms: transcripts.iter().cloned().chain(kept).filter_map(|path| written_ms(&path)).max(),
                is_over: may_be_left(&rows.session, run, activity)
                    || transcripts.last().is_some_and(|path| turn_end::is_over(path)),
                unasked: unasked(&rows.session, transcripts.last(), live.read_ms),
                has_shell: has_shell(&rows.session, activity),
            };
            signs.insert((rows.session.id.clone(), run.id.clone()), sign);
        }
    }
    signs
}

/// Whether a person may have left a turn before its first answer: then the client leaves no trace of that, and waits for them.
fn may_be_left(session: &Session, run: &Run, activity: Activity) -> bool {
    let has_done_nothing = run.counters.turns == 0 && run.counters.spent.requests == 0;
    let waits_for_model = matches!(activity, Activity::Model(_)) && run.is_main();
    let has_terminal = || session.client.is_some_and(|client| processes::terminal(client.pid).is_some());
    has_done_nothing && waits_for_model && has_terminal()
}

/// Counts the responses of a transcript between the session's last event and the moment at which the state was read, where they show
/// a client that asks no hook: a later one may have an event before it that is not read yet. A transcript that was not written to
/// since is not opened.
fn unasked(session: &Session, transcript: Option<&PathBuf>, read_ms: i64) -> Option<usize> {
    let since_ms = session.last.wall_ms;
    let grown = transcript.filter(|path| written_ms(path) > Some(since_ms))?;
    ending::responses_within(grown, since_ms + 1..=read_ms).ok().filter(|responses| *responses >= ending::UNASKED)
}

fn written_ms(path: &Path) -> Option<i64> {
    let info = file_info::of(path).ok().filter(file_info::FileInfo::is_file)?;
    i64::try_from(info.modified_ns / MS).ok()
}

/// Whether a shell of the client lives that was started since the run's call, which runs one.
fn has_shell(session: &Session, activity: Activity) -> bool {
    let (Activity::Calls(call, since), Some(client)) = (activity, session.client) else { return false };
    if !tools::runs_shell(&call.tool) || !processes::is_at_work(client.pid, client.start, client.ns) {
        return false;
    }
    // The system tells of whole ticks.
    let mut shells = processes::leaders_below(client.pid);
    shells.any(|(_, start)| processes::since_boot_ms(start) + TICK_MS >= since.mono_ms)
}
