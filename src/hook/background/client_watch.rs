//! The watch over clients that a command starts and that ask no hook: it outlives its hook, and tells the person.
//!
//! No hook tells of a client that reads other settings, runs without hooks, or keeps no transcript. The process table shows it while the
//! command is at work, by the program that it runs. One watch serves a session. It goes when the session's agents are at rest, and the
//! commands and the clients that it saw are over.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::event::{Event, EventKind};
use crate::domain::session::Process;
use crate::domain::silent_client::SilentClient;
use crate::domain::verdict::{Decision, Verdict};
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::notify_later;
use crate::hook::origin::client_lineage::{self, STARTED_FOR};
use crate::messages::next_step::NextStep;
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::platform::locks;
use crate::platform::processes::{self, ProcessEnvironment};
use crate::platform::stopwatch::Stopwatch;
use crate::store::Store;
use crate::wire::bypass_detection::clients;
use crate::wire::input::Input;
use crate::wire::shell::program_name;
use crate::wire::tools;

/// How long it takes to look again: a client takes longer to start and to ask a model once.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest that it takes, however long a look takes.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// The share of a processor that looking may take, as one in so many: beside thousands of processes it looks more seldom.
const SHARE: u32 = 50;
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
    client: Process,
}

/// Makes the job to watch a session that runs a command. Returns nothing for a call that is refused, where a watch is there already,
/// and where the system does not tell which programs run.
pub fn job(
    folder: &Path,
    state: &SessionState,
    event: &Event,
    input: &Input,
    verdict: &Verdict,
) -> Option<ClientWatchJob> {
    let is_call = matches!(event.kind, EventKind::ToolRequested(_));
    let runs = processes::TELLS_PROGRAMS && !matches!(verdict.decision, Decision::Deny | Decision::Stop);
    if !is_call
        || !runs
        || tools::command(input.tool_input.as_ref()).is_none()
        || locks::are_clients_watched(folder, &event.session)
    {
        return None;
    }
    Some(ClientWatchJob { session: event.session.clone(), client: state.session.client? })
}

/// Watches until the session's agents are at rest, and the commands and clients that they have started are over.
pub fn keep(env: &Environment, folder: &Path, job: &ClientWatchJob) {
    let mut watch = Watch { env, folder, job, open: Vec::new(), settled: Vec::new() };
    while watch.has_work() {
        // Another process of this kind does it where the right is taken.
        let Ok(Some(_right)) = locks::for_clients(folder, &job.session) else { return };
        watch.look_until_rest();
    }
    // Nobody looks after those that its client leaves behind.
    for one in std::mem::take(&mut watch.open) {
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
    /// Looks as long as there is work.
    fn look_until_rest(&mut self) {
        let mut pause = PAUSE;
        loop {
            let pids: Vec<u32> = self.open.iter().map(|it| it.pid).chain([self.job.client.pid]).collect();
            processes::wait_for_end(&pids, pause);
            let began = Stopwatch::start();
            self.look();
            if !self.has_work() {
                return;
            }
            pause = (began.elapsed() * SHARE).clamp(PAUSE, LONGEST_PAUSE);
        }
    }

    fn has_work(&self) -> bool {
        self.is_client_at_work() && (self.has_commands() || self.has_agents())
    }

    fn is_client_at_work(&self) -> bool {
        let client = self.job.client;
        processes::is_at_work(client.pid, client.start, client.ns)
    }

    fn has_commands(&self) -> bool {
        !self.open.is_empty() || processes::leaders_below(self.job.client.pid).next().is_some()
    }

    /// Whether an agent of the session is at work, as far as the state is known.
    fn has_agents(&self) -> bool {
        let runs = Store::open_as_it_is(self.folder)
            .and_then(|store| store.map(|it| it.runs_of(&self.job.session)).transpose());
        runs.is_ok_and(|runs| runs.is_some_and(|runs| runs.iter().any(|run| run.working)))
    }

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
            let what = notices::client_silent(one.pid, &one.files, NextStep::Doctor);
            let (process, files, at_ms) = (self.process(one), one.files.clone(), self.env.now().wall_ms);
            let mut client = Some(SilentClient { process, files, at_ms });
            notify_later::change(self.env, self.folder, &self.job.session, &mut |session| {
                if session.mark_notified(&format!("client without hooks:{}", one.files)) {
                    session.notify_user(&what);
                }
                let is_logged = session.silent_clients.add(client.take()?);
                is_logged.then(|| what.clone())
            })?;
        }
        self.settled.push((one.pid, one.start));
        Ok(())
    }

    /// Whether a hook of a client has told the state of it, or no state is there any more.
    fn is_known(&self, one: &Silent) -> Result<bool> {
        let Some(store) = Store::open_as_it_is(self.folder)? else { return Ok(true) };
        Ok(client_lineage::known_client(&store, self.process(one), self.env.now())?.is_some())
    }

    fn process(&self, one: &Silent) -> Process {
        Process { pid: one.pid, start: one.start, ..self.job.client }
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
