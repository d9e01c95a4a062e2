//! The second look at settings that a change was let pass for.
//!
//! The client reads its settings only once the hook has answered. A program can have moved them away by then, and back before anybody
//! looks: the client would go on without our hooks. So a process that outlives the hook watches the files until the client must
//! have read them. Where one has changed meanwhile, it has the client read them again, and waits until a hook is heard. A client that
//! goes on asking the model without any hook is ended.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::mode::Mode;
use crate::domain::record::{Record, RecordKind};
use crate::domain::session::{Process, Session};
use crate::domain::text::rfc3339;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::settings;
use crate::messages::next_step::NextStep;
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::platform::file_info::{self, FileVersion};
use crate::platform::processes;
use crate::store::{Store, log_file};
use crate::transcript::{ending, layout};
use crate::wire::messages::short;

/// How long after an answer the client may yet read its settings, in milliseconds: it takes a few, on an idle machine.
const READS_WITHIN_MS: u64 = 2_500;
/// How often the files are looked at until then.
const OFTEN: Duration = Duration::from_millis(3);
/// How long a client takes to ask about files that were touched: it waits for a second of quiet before.
const ASKS_WITHIN_MS: u64 = 5_000;
/// How often it is then looked for signs of hooks.
const SELDOM: Duration = Duration::from_millis(500);
/// How often the client is made to read again: at the first time it may get hooks back, at the second it asks them.
const TOUCHES: usize = 2;
/// At how many looks, one after another, a transcript has to be missing to be taken for moved away.
const MISSING: usize = 2;

/// What is looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecheckJob {
    session: String,
    client: Process,
    /// How often the client had asked about changes, this one included.
    asked: u32,
    /// The files and folders of settings, as they were when they were compared; `None` where nothing was there.
    #[serde(rename = "judged")]
    compared: Vec<(PathBuf, Option<FileVersion>)>,
    /// The session's main transcript, where it was then.
    transcript: PathBuf,
    /// Whether it was there: a session without a response has none.
    is_written: bool,
    /// The folder of the session's log.
    log: String,
}

/// Looks at the files and folders that settings are read from.
pub fn versions(env: &Environment, session: &Session) -> Vec<(PathBuf, Option<FileVersion>)> {
    let paths = settings::baseline::files(env, session);
    paths.into_iter().map(|path| (path.clone(), file_info::version(&path))).collect()
}

/// Makes the job to look again; nothing where no client is known.
pub fn job(state: &SessionState, compared: Vec<(PathBuf, Option<FileVersion>)>) -> Option<RecheckJob> {
    let session = &state.session;
    Some(RecheckJob {
        session: session.id.clone(),
        client: session.client?,
        asked: session.diverted.asked,
        compared,
        is_written: file_info::exists(Path::new(&*session.position.path)),
        transcript: PathBuf::from(&session.position.path),
        log: session.log.clone(),
    })
}

/// Watches until the client has read its settings as they were compared, or hooks are heard again, or the client is ended.
pub fn keep(env: &Environment, folder: &Path, job: &RecheckJob) {
    let Some(changed_ms) = change(env, job) else { return };
    let recheck = Recheck { env, folder, job, since_ms: changed_ms + READS_WITHIN_MS as i64 };
    let mut touches = 0;
    loop {
        if touches < TOUCHES {
            let Ok(Some(session)) = recheck.session() else { return };
            settings::baseline::wake(env, &session);
            touches += 1;
        }
        match recheck.watch_for(ASKS_WITHIN_MS) {
            Some(Sign::IsOver) => return,
            Some(Sign::GoesOnUnasked) => return recheck.end_client(),
            None => {}
        }
    }
}

/// What a client shows.
enum Sign {
    /// It has asked a hook, or has gone.
    IsOver,
    /// It has gone on from one response to another, and has asked none.
    GoesOnUnasked,
}

/// Waits until the client must have read its settings; returns when they were seen changed, in milliseconds since 1970. One that was
/// stopped meanwhile may read them whenever it goes on, so it counts as one whose settings have changed.
fn change(env: &Environment, job: &RecheckJob) -> Option<i64> {
    let until_ms = env.now().mono_ms + READS_WITHIN_MS;
    let Process { pid, start, ns } = job.client;
    let mut was_stopped = false;
    while was_stopped || env.now().mono_ms < until_ms {
        if processes::is_held_up(pid, start, ns) {
            was_stopped = true;
            processes::wait_for_end(&[pid], SELDOM);
            continue;
        }
        let is_edited = was_stopped || job.compared.iter().any(|(path, version)| file_info::version(path) != *version);
        // A client that moves takes its transcript along, and reads other files than those that were compared.
        if is_edited || job.is_written && !file_info::exists(&job.transcript) {
            return Some(env.now().wall_ms);
        }
        processes::rest(OFTEN);
    }
    None
}

struct Recheck<'a> {
    env: &'a Environment,
    folder: &'a Path,
    job: &'a RecheckJob,
    /// From when on a hook shows that the client has ours, and responses without one that it has not.
    since_ms: i64,
}

impl Recheck<'_> {
    /// Waits for a sign of the client's, for so many milliseconds.
    fn watch_for(&self, patience_ms: u64) -> Option<Sign> {
        let Process { pid, start, ns } = self.job.client;
        let until_ms = self.env.now().mono_ms + patience_ms;
        let mut missing = 0;
        loop {
            let is_at_work = processes::is_at_work(pid, start, ns) && !processes::is_gone(pid, start, ns);
            // Responses are looked at first: a hook that is heard after them must not have been heard before.
            let goes_on = self.goes_on_unasked();
            missing = if self.is_transcript_gone() { missing + 1 } else { 0 };
            if !is_at_work || file_info::is_gone(self.folder) || self.is_heard() {
                return Some(Sign::IsOver);
            }
            if goes_on || missing >= MISSING {
                return Some(Sign::GoesOnUnasked);
            }
            if self.env.now().mono_ms >= until_ms {
                return None;
            }
            processes::wait_for_end(&[pid], SELDOM);
        }
    }

    /// Whether the client has asked about a later change, or has told of anything since it has read its settings.
    fn is_heard(&self) -> bool {
        let is_later = |it: &Session| it.diverted.asked != self.job.asked || it.last.wall_ms > self.since_ms;
        self.session().is_ok_and(|session| session.is_none_or(|session| is_later(&session)))
    }

    fn session(&self) -> Result<Option<Box<Session>>> {
        let store = Store::open_for(self.folder, Some(&self.job.session))?;
        let session = store.session(&self.job.session);
        store.leave();
        session
    }

    /// Whether one of the session's agents has gone on from one response to another, and no hook was asked between.
    fn goes_on_unasked(&self) -> bool {
        let own = [self.transcript()];
        let agents = layout::agent_files(&own[0]).into_iter().map(|(_, path)| path);
        let responses = |path: &Path| ending::responses_since(path, self.since_ms).unwrap_or(0);
        own.into_iter().chain(agents).any(|path| responses(&path) >= ending::UNASKED)
    }

    /// Whether the transcript, which the client adds to, was taken away: responses are then seen nowhere.
    fn is_transcript_gone(&self) -> bool {
        self.job.is_written && !file_info::exists(&self.transcript())
    }

    /// Returns where the transcript is by now: a client that moves takes it along, and tells it at its next event.
    fn transcript(&self) -> PathBuf {
        let there = Some(self.job.transcript.clone()).filter(|path| file_info::exists(path));
        let moved = || Some(PathBuf::from(self.session().ok()??.position.path));
        there.or_else(moved).unwrap_or_else(|| self.job.transcript.clone())
    }

    /// Ends the client, and says so where it is read later. A session that is only watched goes on.
    fn end_client(&self) {
        // Whom a person has let go meanwhile has no hooks to lose.
        let Ok(Some(session)) = self.session() else { return };
        if session.diverted.let_go {
            return;
        }
        let Process { pid, start, ns } = self.job.client;
        let is_ended = session.mode != Mode::Observe && processes::ask_to_end(pid, start, ns);
        let next = || NextStep::Status { id: short(&session.id).to_owned() };
        let what =
            if is_ended { notices::client_without_hooks_ended(next()) } else { notices::client_without_hooks(next()) };
        let record = Record {
            error: what.clone(),
            event: Some(RecordKind::Notice),
            session: session.id.clone(),
            at: rfc3339::format(self.env.now().wall_ms),
            ..Record::default()
        };
        // The database has it, or the log alone.
        let _the_log_has_it = self.keep_notice(&what, &record);
        log_file::append(log_file::LogPlace { of_session: &self.job.log, state: self.folder }, &[record]);
    }

    fn keep_notice(&self, what: &str, record: &Record) -> Result<()> {
        let store = Store::open_for(self.folder, Some(&self.job.session))?;
        store.begin()?;
        store.save_record(record, self.env.now())?;
        if let Some(mut session) = store.session(&self.job.session)? {
            session.notify_user(what);
            store.save_session(&session)?;
        }
        store.commit()?;
        store.leave();
        Ok(())
    }
}
