//! `fusebox watch`: looks after agents between their events, tells a person, and ends clients that no hook can stop.

mod hold;
pub mod service;
mod signs;
#[cfg(feature = "team")]
mod team;
mod tell;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use crate::alerts::alert::Alert;
use crate::alerts::rule_input::RuleInput;
use crate::alerts::rules;
use crate::calendar::Zone;
use crate::cmd::live_state::{Depth, LiveState};
use crate::cmd::require_human;
use crate::cmd::watch::hold::WatchdogAction;
use crate::config::load;
use crate::config::problem::Problem;
use crate::config::resolve::Trust;
use crate::domain::alert::{AlertSettings, WatchdogSettings};
use crate::domain::record::Record;
use crate::domain::session::Session;
use crate::domain::time_units::DAY_MS;
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::platform::locks;
use crate::platform::stopwatch::Stopwatch;
use crate::store::{self, Store, log_file, private};
use crate::ui::pace::{Age, Due, due};
use crate::ui::terminal::plain;
use crate::ui::wrap;

/// How long a change of the state waits at most until it is seen.
const GLANCE: Duration = Duration::from_millis(500);

/// How far back it is known what was told, in milliseconds: longer than the longest period of a team's caps.
const MONTH_MS: i64 = 32 * DAY_MS;

/// What the cause of an alert ends with whose client is kept for now.
const KEPT: &str = ":kept";

/// Arguments of `fusebox watch`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It tells of agents near or past a limit, of dialogs that wait for you, of agents that hang, and
of what is spent in an hour. What it tells of, and how, stands under `alerts` in your own
fusebox.json (docs/alerts.md). There `watchdog.kill` has it end clients that no hook can stop.

Examples:
  fusebox watch             until Ctrl-C, in a terminal of your own
  fusebox watch --install   as a service of yours, from now on and after each login
  fusebox watch --once      one look, for cron
  fusebox watch --json      each alert as a line of JSON")]
pub struct Args {
    /// Look once, and exit
    #[arg(long)]
    once: bool,
    /// Write each alert as a line of JSON
    #[arg(long)]
    json: bool,
    /// Have your session of the system run it as a service (systemd, launchd)
    #[arg(long, conflicts_with_all = ["once", "json", "uninstall"])]
    install: bool,
    /// Take the service away
    #[arg(long, conflicts_with_all = ["once", "json"])]
    uninstall: bool,
}

/// Watches until it is ended, or once.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    match (args.install, args.uninstall) {
        (true, _) => return service::install(env),
        (_, true) => return service::uninstall(env),
        _ => require_human::require_outside(env, "`fusebox watch`")?,
    };
    let folder = store::folder(env)?;
    private::make_folder(&folder)?;
    let Some(_alone) = locks::for_watching(&folder)? else {
        env.eprintln_safe("note: another `fusebox watch` is at work, and tells of what this one would");
        return Ok(ExitCode::SUCCESS);
    };
    let mut watch = Watch::begin(env, if args.json { Form::Json } else { Form::Lines })?;
    if args.once {
        watch.live.read(env, Depth::Transcripts)?;
        watch.look()?;
        return Ok(ExitCode::SUCCESS);
    }
    if watch.form == Form::Lines {
        let ways = tell::ways(env, &watch.settings).join(", ");
        env.print(&format!("watching until Ctrl-C; alerts go to {ways}\n"));
    }
    watch.follow();
    Ok(ExitCode::SUCCESS)
}

/// How alerts are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Lines,
    Json,
}

/// Whether anybody reads what is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    There,
    Gone,
}

/// A watch at work. Its settings are those of its start: what is edited later changes nothing of it.
struct Watch<'a> {
    env: &'a Environment,
    form: Form,
    zone: Zone,
    settings: AlertSettings,
    watchdog: WatchdogSettings,
    live: LiveState,
    #[cfg(feature = "team")]
    syncs: team::Syncs,
    /// The causes that were told of, with the moment of the last time.
    told: BTreeMap<String, i64>,
}

impl<'a> Watch<'a> {
    fn begin(env: &'a Environment, form: Form) -> Result<Watch<'a>> {
        let (policy, problems) = load::load(env, &env.folder(), Trust::Untrusted);
        let is_own = |problem: &&Problem| ["alerts", "watchdog"].iter().any(|key| problem.key.starts_with(key));
        for problem in
            problems.iter().filter(|problem| problem.is_error()).filter(|it| it.is_of_whole_file() || is_own(it))
        {
            env.eprintln_safe(&plain(&format!("fusebox: {problem}")));
        }
        let since_ms = env.now().wall_ms.saturating_sub(MONTH_MS);
        let records = Store::open(env)?.records_since(since_ms)?;
        let told = records.into_iter().filter(|(.., record)| !record.cause.is_empty());
        Ok(Watch {
            env,
            form,
            zone: Zone::named(policy.time_zone()),
            settings: policy.alerts(),
            watchdog: policy.watchdog(),
            live: LiveState::default(),
            #[cfg(feature = "team")]
            syncs: team::Syncs::of(&policy),
            told: told.map(|(_, at_ms, record)| (record.cause, at_ms)).collect(),
        })
    }

    /// Looks again and again, until nobody reads any more.
    fn follow(&mut self) {
        let began = Stopwatch::start();
        let (mut read_at, mut transcripts_at, mut look_at) = (began, began, began);
        let (mut took, mut due_now) = (Duration::ZERO, Due::Transcripts);
        let mut complaint = String::new();
        loop {
            let began = Stopwatch::start();
            let read = match due_now {
                Due::Transcripts => self.live.read(self.env, Depth::Transcripts),
                Due::State => self.live.read(self.env, Depth::State),
                Due::Clocks | Due::Nothing => Ok(0),
            };
            let looked = read.and_then(|_| if due_now == Due::Nothing { Ok(Reader::There) } else { self.look() });
            match looked {
                Ok(Reader::Gone) => return,
                Ok(Reader::There) => {}
                Err(cause) if cause.to_string() == complaint => {}
                Err(cause) => {
                    complaint = cause.to_string();
                    self.env.eprintln_safe(&format!("warning: {complaint}; it is tried again"));
                }
            }
            if due_now != Due::Nothing {
                look_at = Stopwatch::start();
            }
            if matches!(due_now, Due::Transcripts | Due::State) {
                (took, read_at) = (began.elapsed(), Stopwatch::start());
            }
            if due_now == Due::Transcripts {
                transcripts_at = Stopwatch::start();
            }
            if !self.env.wait_while_read(GLANCE) {
                return;
            }
            let age = Age { read: read_at.elapsed(), transcripts: transcripts_at.elapsed(), view: look_at.elapsed() };
            due_now = due(age, took, self.live.has_changed(self.env));
        }
    }

    /// Tells of what is due and was not told.
    fn look(&mut self) -> Result<Reader> {
        #[cfg(feature = "team")]
        self.syncs.begin_if_due(self.env, &self.live)?;
        let signs = signs::find(&self.live);
        let now = self.env.now();
        let facts = RuleInput {
            rows: &self.live.rows,
            calls: &self.live.calls,
            signs: &signs,
            team_caps: &self.live.team_caps,
            now,
        };
        let due = rules::due(&facts, &self.settings.rules);
        let quiet_ms = i64::try_from(self.settings.quiet_ms).unwrap_or(i64::MAX);
        for mut alert in due {
            let session = self.live.rows.iter().map(|rows| &rows.session).find(|it| it.id == alert.session_id);
            let action = hold::choose_action(&alert, session.and_then(|it| it.client), self.watchdog);
            if matches!(action, WatchdogAction::Keep(_)) {
                // Once nothing speaks for the client any more, it may be ended.
                alert.cause += KEPT;
            }
            let is_due = match self.told.get(&alert.cause) {
                Some(at_ms) => alert.recurs && now.wall_ms.saturating_sub(*at_ms) >= quiet_ms,
                None => true,
            };
            let session = session.filter(|_| is_due).cloned();
            if !is_due || !hold::act(self.env, &mut alert, action, self.watchdog)? {
                continue;
            }
            self.told.insert(alert.cause.clone(), now.wall_ms);
            let reader = self.print(&alert);
            let told = tell::tell(self.env, &self.settings, &alert);
            self.write_down(&alert, session.as_ref(), &told)?;
            for failed in &told.failed {
                self.env.eprintln_safe(&format!("warning: {failed}"));
            }
            if reader == Reader::Gone {
                return Ok(reader);
            }
        }
        Ok(Reader::There)
    }

    fn print(&self, alert: &Alert) -> Reader {
        let now_ms = self.env.now().wall_ms;
        let line = match self.form {
            Form::Json => alert.json(now_ms) + "\n",
            Form::Lines => {
                let (at, rule) = (self.zone.second(now_ms), plain(&alert.rule));
                wrap::sentence(&format!("{at} {rule}: {}. More: {}", alert.text, alert.next), self.env.width(), "")
            }
        };
        if self.env.answer(&line) { Reader::There } else { Reader::Gone }
    }

    /// Writes down what was told, and by which ways: what is written down is not told again.
    fn write_down(&self, alert: &Alert, session: Option<&Session>, told: &tell::Told) -> Result<()> {
        let ways = if told.by.is_empty() { String::new() } else { format!(" ({})", told.by.join(", ")) };
        let failed: String = told.failed.iter().map(|failed| format!("; {failed}")).collect();
        let now = self.env.now();
        let what = format!("alert {}{ways}: {}{failed}", alert.rule, alert.text);
        let record = Record {
            task_id: alert.run_id.clone(),
            agent_type: alert.agent_type.clone(),
            run: alert.run_id.clone(),
            alert: alert.rule.clone(),
            cause: alert.cause.clone(),
            ..log_file::notice(&alert.session_id, &what, now.wall_ms)
        };
        let folder = store::folder(self.env)?;
        let store = Store::open_for(&folder, session.map(|session| session.id.as_str()))?;
        store.begin()?;
        store.save_record(&record, now)?;
        store.commit()?;
        store.leave();
        let of_session = session.map_or("", |session| session.log.as_str());
        log_file::append(log_file::LogPlace { of_session, state: &folder }, &[record]);
        Ok(())
    }
}
