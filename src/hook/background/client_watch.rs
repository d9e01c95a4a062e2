//! The watch over clients that a command starts and that ask no hook: it outlives its hook, and tells the person.
//!
//! No hook tells of a client that reads other settings, runs without hooks, or keeps no transcript. The process table shows it while the
//! command is at work, by the program that it runs. The watch goes when the command and the clients that it saw are over.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::call::Ended;
use crate::domain::event::{Event, EventKind, Moment};
use crate::domain::session::Process;
use crate::domain::verdict::{Decision, Verdict};
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::background::tasks;
use crate::hook::notify_later;
use crate::hook::origin::client_lineage::{self, STARTED_FOR};
use crate::messages::next_step::NextStep;
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::platform::processes::{self, ProcessEnvironment};
use crate::store::Store;
use crate::wire::bypass_detection::clients;
use crate::wire::input::Input;
use crate::wire::output::Answer;
use crate::wire::shell::program_name;
use crate::wire::tools;

/// How often the process table is looked at while the command is at work: a client takes longer to start and to ask once.
const OFTEN: Duration = Duration::from_millis(500);
/// The longest that it takes to look again where no shell is there yet: a dialog may be open about the call.
const SELDOM: Duration = Duration::from_secs(15);
/// For how long a client may be at work before its hooks tell of it, in milliseconds.
const SILENT_MS: u64 = 10_000;
/// What the client's program does under other names: it searches files.
const SEARCHES: [&str; 3] = ["rg", "ugrep", "bfs"];
/// Programs that run a client which is a script: they run much else.
const RUNTIMES: [&str; 8] = ["node", "bun", "deno", "python3", "bash", "dash", "sh", "zsh"];

/// What is watched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientWatchJob {
    session: String,
    call: String,
    client: Process,
    /// The command as the agent gave it, and as Fusebox has changed it.
    commands: Vec<String>,
    /// When the call was requested.
    began: Moment,
}

/// Makes the job to watch a call that runs a command; nothing for one that is refused, and where the system does not tell which
/// programs run.
pub fn job(state: &SessionState, what: (&Event, &Input), said: (&Verdict, &Answer)) -> Option<ClientWatchJob> {
    let ((event, input), (verdict, answer)) = (what, said);
    let EventKind::ToolRequested(call) = &event.kind else { return None };
    if !processes::TELLS_PROGRAMS || matches!(verdict.decision, Decision::Deny | Decision::Stop) {
        return None;
    }
    let given = tools::command(input.tool_input)?;
    let changed = tools::command(answer.changed_input()).filter(|changed| *changed != given);
    Some(ClientWatchJob {
        session: event.session.clone(),
        call: call.id.clone(),
        client: state.session.client?,
        commands: [Some(given), changed].into_iter().flatten().collect(),
        began: event.at,
    })
}

/// Watches until the command is over, and the clients that it has started are.
pub fn keep(env: &Environment, folder: &Path, job: &ClientWatchJob) {
    let client = job.client;
    let mut watch = Watch { env, folder, job, open: Vec::new(), settled: Vec::new() };
    let mut pause = OFTEN;
    while processes::is_at_work(client.pid, client.start, client.ns) {
        let pids: Vec<u32> = watch.open.iter().map(|it| it.pid).chain([client.pid]).collect();
        processes::wait_for_end(&pids, pause);
        watch.look();
        let is_running = !tasks::shells(client, &job.commands, job.began).is_empty();
        if is_running || !watch.open.is_empty() {
            pause = OFTEN;
        } else if watch.is_over().unwrap_or(true) {
            return;
        } else {
            pause = SELDOM.min(pause * 2);
        }
    }
    // Nobody looks after those that its client leaves behind.
    let left = std::mem::take(&mut watch.open);
    for one in left {
        // There is no later look.
        let _told = watch.tell(&one);
    }
}

/// A client that no hook has told of yet.
struct Silent {
    pid: u32,
    start: u64,
    /// The folder of its configuration, as its environment names it.
    files: String,
}

struct Watch<'a> {
    env: &'a Environment,
    folder: &'a Path,
    job: &'a ClientWatchJob,
    /// Those that may still be told of by a hook.
    open: Vec<Silent>,
    /// Those that a hook or this watch has told of.
    settled: Vec<(u32, u64)>,
}

impl Watch<'_> {
    /// Looks at the clients that run now, and tells of those that have ended, or that have been silent for too long.
    fn look(&mut self) {
        let running = processes::running_as(self.job.client.pid);
        let now_ms = self.env.now().mono_ms;
        for one in std::mem::take(&mut self.open) {
            let is_over = !running.contains(&(one.pid, one.start));
            let silent_ms = now_ms.saturating_sub(processes::since_boot_ms(one.start));
            let is_due = is_over || silent_ms >= SILENT_MS;
            if !is_due || self.tell(&one).is_err() {
                self.open.push(one);
            }
        }
        for (pid, start) in &running {
            let is_seen = self.settled.contains(&(*pid, *start)) || self.open.iter().any(|one| one.pid == *pid);
            // It may have begun another program while it was looked at.
            let is_still = || processes::runs_as(*pid, self.job.client.pid);
            if !is_seen && self.is_client(*pid) && self.is_of_session(*pid, &running) && is_still() {
                self.open.push(Silent { pid: *pid, start: *start, files: self.files_of(*pid) });
            }
        }
    }

    /// Tells the person of a client, unless a hook of it has told of it. Fails where the state cannot be read for now.
    fn tell(&mut self, one: &Silent) -> Result<()> {
        if !self.is_known(one)? {
            let key = format!("client without hooks:{}", one.files);
            let what = notices::client_silent(one.pid, &one.files, NextStep::Doctor);
            notify_later::once(self.env, self.folder, &self.job.session, (&key, &what))?;
        }
        self.settled.push((one.pid, one.start));
        Ok(())
    }

    /// Whether a hook of a client has told the state of it, or no state is there any more.
    fn is_known(&self, one: &Silent) -> Result<bool> {
        let Some(store) = Store::open_as_it_is(self.folder)? else { return Ok(true) };
        let process = Process { pid: one.pid, start: one.start, ..self.job.client };
        Ok(client_lineage::known_client(&store, process, self.env.now())?.is_some())
    }

    /// Whether the call has ended, or is not known any more.
    fn is_over(&self) -> Result<bool> {
        let Some(store) = Store::open_as_it_is(self.folder)? else { return Ok(true) };
        let call = store.call(&self.job.session, &self.job.call)?;
        Ok(call.is_none_or(|call| !call.is_altered && (call.ended != Ended::No || call.is_over)))
    }

    /// Whether a process of the client's program is a client with an agent in it.
    fn is_client(&self, pid: u32) -> bool {
        let (line, own) = (processes::arguments(pid), processes::arguments(self.job.client.pid));
        let runtime = processes::program(self.job.client.pid);
        let is_script = runtime.is_some_and(|path| RUNTIMES.contains(&program_name(&path.to_string_lossy())));
        let Some((first, rest)) = line.split_first() else { return false };
        if is_script {
            let is_same = |script: &String| !script.starts_with('-') && rest.first() == Some(script);
            return own.first() == Some(first) && own.get(1).is_none_or(is_same);
        }
        let words: Vec<&str> = rest.iter().map(String::as_str).collect();
        !SEARCHES.contains(&program_name(first)) && clients::has_agent(&words)
    }

    /// Whether this session is the nearest that a process comes from: by the processes above it, or by the name in its environment.
    fn is_of_session(&self, pid: u32, running: &[(u32, u64)]) -> bool {
        let above = processes::ancestors(pid);
        let client = self.job.client.pid;
        let is_one = |it: &&(u32, u64)| it.0 == client || running.contains(it);
        match above.iter().skip(1).find(is_one) {
            // What the client has only just started still runs its program, and is all that the client is.
            Some((nearest, _)) if *nearest == client => {
                above.get(1).is_some_and(|parent| parent.0 != client)
                    || processes::leaders_below(client).any(|(leader, _)| leader == pid)
                        && !processes::is_twin(pid, client)
            }
            Some(_) => false,
            None => processes::variable(pid, STARTED_FOR).is_some_and(|name| name == self.job.session),
        }
    }

    /// Names the folder of a client's configuration.
    fn files_of(&self, pid: u32) -> String {
        let environment = ProcessEnvironment::of(pid);
        let var = |name: &str| environment.as_ref().and_then(|it| it.var(name)).filter(|value| !value.is_empty());
        let folder = var("CLAUDE_CONFIG_DIR").or_else(|| var("HOME").map(|home| format!("{home}/.claude")));
        folder.map_or_else(|| "unknown".to_owned(), |folder| self.env.short_path(Path::new(&folder)))
    }
}
