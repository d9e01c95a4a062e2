//! The watch over a command whose time was cut: it outlives its hook, and ends the command if the client does not.
//!
//! The last hook to answer says what the client gives a command, and an agent's own may give it more. The watch sleeps without
//! locks until the cut time of the command's shell is over. It goes when the shell or the client has gone.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::call::Ended;
use crate::domain::event::{Event, EventKind};
use crate::domain::moment::Moment;
use crate::domain::record::{Record, RecordKind};
use crate::domain::session::{Process, Run};
use crate::domain::spend::amount::Amount;
use crate::domain::text::rfc3339;
use crate::domain::verdict::{Finding, TimeCut, Verdict};
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::background;
use crate::hook::background::tasks::Shell;
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::platform::processes;
use crate::store::{Store, log_file};
use crate::wire::input::Input;
use crate::wire::output::Answer;
use crate::wire::tool_input::ToolInput;
use crate::wire::tools;

/// How much later than the cut time the client may be, in milliseconds.
const LATER_MS: u64 = 2_000;
/// How soon a shell is looked for that is not there: a dialog may be open about its call. Each time it is twice that.
const SOON: Duration = Duration::from_secs(1);
/// The longest that it takes to look again.
const SELDOM: Duration = Duration::from_secs(15);

/// What is watched, and by which limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchJob {
    session: String,
    run: String,
    call: String,
    client: Process,
    /// The command as the agent gave it, and as Fusebox has changed it.
    commands: Vec<String>,
    /// Whether it runs on in the background, so that the end of its call is not its own.
    runs_on: bool,
    /// When the call was requested.
    began: Moment,
    /// What its time was cut to, in milliseconds.
    cut_ms: u64,
    /// The limit that leaves so little, as it stood.
    finding: Finding,
    /// The folder of the session's log.
    log: String,
}

/// Makes the job to watch a call of a run whose time was cut; nothing for a call that was not cut, or runs no command.
pub fn job(
    state: &SessionState,
    run: &str,
    event: &Event,
    input: &Input,
    verdict: &Verdict,
    answer: &Answer,
) -> Option<WatchJob> {
    let TimeCut { left_ms: cut_ms, by: finding } = verdict.time_cut.clone()?;
    let EventKind::ToolRequested(call) = &event.kind else { return None };
    let given = tools::command(input.tool_input.as_ref())?;
    let changed = answer.changed_input().map(ToolInput::new);
    let changed = tools::command(changed.as_ref()).filter(|changed| *changed != given);
    Some(WatchJob {
        session: event.session.clone(),
        run: run.to_owned(),
        call: call.id.clone(),
        client: state.session.client?,
        commands: [Some(given), changed].into_iter().flatten().map(str::to_owned).collect(),
        runs_on: tools::runs_on(&call.tool, input.tool_input.as_ref()),
        began: event.at,
        cut_ms,
        finding,
        log: state.session.log.clone(),
    })
}

/// Watches until the command is over, or ends it.
pub fn keep(env: &Environment, folder: &Path, job: &WatchJob) {
    let mut watch = Watch { env, folder, job, slept_ms: job.began.slept_ms };
    let mut pause = SOON;
    let client = job.client;
    // Most calls have ended by then.
    processes::wait_for_end(&[client.pid], pause);
    while processes::is_at_work(client.pid, client.start, client.ns)
        && !processes::is_gone(client.pid, client.start, client.ns)
    {
        match watch.check_shells() {
            WatchResult::Over => return,
            WatchResult::Until { shell, left } => {
                pause = SOON;
                if processes::wait_for_end(&[client.pid, shell.pid], left) {
                    // The client has yet to tell of the end.
                    processes::wait_for_end(&[client.pid], pause);
                }
            }
            WatchResult::Unseen => {
                processes::wait_for_end(&[client.pid], pause);
                pause = SELDOM.min(pause * 2);
            }
        }
    }
}

/// What a look at the client's shells has found.
enum WatchResult {
    /// There is nothing left to end.
    Over,
    /// A shell that has time left.
    Until { shell: Shell, left: Duration },
    /// No shell, though the call has not ended; or one that could not be ended.
    Unseen,
}

struct Watch<'a> {
    env: &'a Environment,
    folder: &'a Path,
    job: &'a WatchJob,
    /// How long the machine had slept when no shell was there yet.
    slept_ms: u64,
}

impl Watch<'_> {
    fn check_shells(&mut self) -> WatchResult {
        let shells = background::tasks::shells(self.job.client, &self.job.commands, self.job.began);
        let now = self.env.now();
        if shells.is_empty() {
            self.slept_ms = now.slept_ms;
        }
        let due_ms = self.job.cut_ms.saturating_add(LATER_MS);
        let left_ms = |shell: &Shell| due_ms.saturating_sub(self.worked_ms(shell, now));
        if let Some(shell) = shells.first().filter(|shell| left_ms(shell) > 0) {
            return WatchResult::Until { shell: *shell, left: Duration::from_millis(left_ms(shell)) };
        }
        let Ok(known) = self.known(!shells.is_empty()) else { return WatchResult::Unseen };
        let Some(Known { run, others }) = known else { return WatchResult::Over };
        let is_other = |shell: &Shell| others.iter().any(|task| background::tasks::writes_to(shell.pid, task));
        let mut due = shells.into_iter().filter(|shell| left_ms(shell) == 0 && !is_other(shell));
        let Some(shell) = due.next() else { return WatchResult::Unseen };
        if !background::tasks::end_shell(self.job.client, shell, &self.job.commands) {
            return WatchResult::Unseen;
        }
        let record = self.record(&run, self.worked_ms(&shell, now));
        // The database has it, or the log alone.
        let _the_log_has_it = self.keep_record(&record);
        log_file::append(log_file::LogPlace { of_session: &self.job.log, state: self.folder }, &[record]);
        WatchResult::Over
    }

    /// Returns for how long a shell has run while the machine was awake.
    fn worked_ms(&self, shell: &Shell, now: Moment) -> u64 {
        let slept = now.slept_ms.saturating_sub(self.slept_ms);
        now.mono_ms.saturating_sub(shell.started_ms).saturating_sub(slept)
    }

    /// Looks the call up in the state; nothing where it has ended, or is not known any more.
    fn known(&self, has_shell: bool) -> Result<Option<Known>> {
        let WatchJob { session, run, call, .. } = self.job;
        if file_info::is_gone(self.folder) {
            return Ok(None);
        }
        let store = Store::open_for(self.folder, Some(session))?;
        let Some(run) = store.run(session, run)? else { return Ok(None) };
        // A row that another program has changed says nothing of an end.
        let at_work =
            store.call(session, call)?.is_some_and(|call| call.is_altered || call.ended == Ended::No && !call.is_over);
        if self.job.runs_on && has_shell {
            return Ok(Some(Known { run, others: Vec::new() }));
        }
        let runs = if at_work { store.runs_of(session)? } else { Vec::new() };
        let others = runs.into_iter().flat_map(|run| run.background).map(|task| task.task).collect();
        Ok(at_work.then_some(Known { run, others }))
    }

    fn keep_record(&self, record: &Record) -> Result<()> {
        let store = Store::open_for(self.folder, Some(&self.job.session))?;
        store.begin()?;
        store.save_record(record, self.env.now())?;
        store.commit()?;
        store.leave();
        Ok(())
    }

    fn record(&self, run: &Run, worked_ms: u64) -> Record {
        let WatchJob { finding, session, commands, .. } = self.job;
        let number = |value| finding.limit().map(|limit| limit.configured(value));
        let (limit, command) = (&finding.source, commands.first().map_or("", String::as_str));
        Record {
            error: format!("a command that went on beyond what {limit} left it was ended: {command}"),
            task_id: run.task_id().to_owned(),
            agent_type: run.agent_type.clone(),
            turns: run.counters.turns,
            elapsed_ms: run.counters.duration_ms,
            accumulated_cost_usd: Amount(run.counters.spent.cost.0).usd(),
            event: Some(RecordKind::Notice),
            session: session.clone(),
            run: run.id.clone(),
            limit: limit.to_string(),
            scope: finding.scope.as_str().to_owned(),
            action: finding.action.as_str().to_owned(),
            used: number(finding.used.saturating_add(worked_ms)),
            cap: number(finding.cap),
            layer: finding.layer.as_str().to_owned(),
            at: rfc3339::format(self.env.now().wall_ms),
            ..Record::default()
        }
    }
}

/// A call that has not ended.
struct Known {
    run: Run,
    /// The tasks in the background that other calls of the session have started.
    others: Vec<String>,
}
