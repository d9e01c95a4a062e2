//! `fusebox metrics`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;

use crate::cmd::next_client;
use crate::cmd::query;
use crate::domain::session::Status;
use crate::domain::time_units::{DAY_MS, WEEK_MS};
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::platform::locks;
use crate::platform::post::post;
use crate::platform::serve::{Answer, Server};
use crate::platform::stopwatch::Stopwatch;
use crate::report::metrics::{self, MetricsSource};
use crate::report::model::Report;
use crate::report::rows::SessionRows;
use crate::report::status;
use crate::store::{self, Store};
use crate::ui::terminal::plain;

/// Where exporters of OpenTelemetry's metrics for Prometheus listen by custom.
const ADDRESS: &str = "127.0.0.1:9464";

/// Where a collector of OpenTelemetry takes HTTP by custom, and under which path it takes metrics.
const COLLECTOR: &str = "127.0.0.1:4318";
const PATH: &str = "/v1/metrics";

/// How long an answer is given again, whoever asks.
const KEPT: Duration = Duration::from_secs(1);

/// Sessions that were read before, by their ids.
type Cache = BTreeMap<String, SessionRows>;

/// Arguments of `fusebox metrics`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The figures are those of `fusebox report --json` and `fusebox status --json`; docs/metrics.md has every name. They are served
on this machine alone. examples/grafana-dashboard.json is a dashboard of them.

Examples:
  fusebox metrics                       print them once, as for a textfile collector
  fusebox metrics --serve               http://127.0.0.1:9464/metrics for Prometheus, until Ctrl-C
  fusebox metrics --serve 127.0.0.1:0   the same on a port that is free, which it names
  fusebox metrics --push                once to the OpenTelemetry collector at 127.0.0.1:4318
  fusebox metrics --otlp                what --push sends, for a program that sends it elsewhere")]
pub struct Args {
    /// Answer Prometheus on this machine, in place of printing once
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = ADDRESS)]
    serve: Option<SocketAddr>,
    /// Send them once to an OpenTelemetry collector on this machine (OTLP over HTTP, in JSON)
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = COLLECTOR, conflicts_with = "serve")]
    push: Option<SocketAddr>,
    /// Print what --push sends
    #[arg(long, conflicts_with_all = ["serve", "push"])]
    otlp: bool,
}

/// Tells a monitoring system what was spent, what tripped and how things stand.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    match (args.serve, args.push) {
        (Some(address), _) => serve(env, local(address)?),
        (_, Some(address)) => push(env, local(address)?),
        _ => {
            let write = if args.otlp { metrics::otlp } else { metrics::text };
            env.print_data(&read(env, &mut Cache::default(), write)?);
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Returns an address of this machine; the figures are no other's.
fn local(address: SocketAddr) -> Result<SocketAddr> {
    if address.ip().is_loopback() {
        return Ok(address);
    }
    Err(Error::usage(format!("{address} is not this machine alone, and metrics are for this one"))
        .hint("a collector on this machine sends them on: name it by 127.0.0.1 and its port"))
}

/// Sends the figures once.
fn push(env: &Environment, address: SocketAddr) -> Result<ExitCode> {
    let request = read(env, &mut Cache::default(), metrics::otlp)?;
    let to = format!("http://{address}{PATH}");
    let failed = |why: String| Error::failed(format!("{to}: {why}"));
    let answer = post(address, PATH, &request).map_err(|cause| {
        failed(format!("cannot be reached: {cause}"))
            .hint("is a collector with an OTLP receiver for HTTP running there?")
    })?;
    let rejected = rejected(&answer.text);
    match answer.code {
        200..300 if rejected.is_none() => {
            env.print(&format!("sent to {to}\n"));
            Ok(ExitCode::SUCCESS)
        }
        200..300 => Err(failed(rejected.unwrap_or_default())),
        code => Err(failed(format!("HTTP {code}: {}", plain(answer.text.lines().next().unwrap_or_default())))),
    }
}

/// Returns what a collector says of samples that it did not take.
fn rejected(answer: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let part = answer.get("partialSuccess")?;
    let count = part.get("rejectedDataPoints")?;
    let count = count.as_i64().or_else(|| count.as_str()?.parse().ok()).filter(|count| *count > 0)?;
    let why = part.get("errorMessage").and_then(Value::as_str).unwrap_or("no reason given");
    Some(format!("{count} samples were not taken: {}", plain(why)))
}

/// Answers Prometheus until Ctrl-C.
fn serve(env: &Environment, address: SocketAddr) -> Result<ExitCode> {
    let failed = |cause| Error::failed(format!("cannot listen at {address}: {cause}"));
    let server = Server::listen(address).map_err(failed)?;
    let at = server.address().map_err(failed)?;
    env.print(&format!("Metrics at http://{at}/metrics until Ctrl-C\n"));
    let (cache, last) = (RefCell::default(), RefCell::new(None::<(Stopwatch, Answer)>));
    let answered = server.answer("/metrics", || {
        if let Some((_, answer)) = last.borrow().as_ref().filter(|(since, _)| since.elapsed() < KEPT) {
            return answer.clone();
        }
        let answer = match read(env, &mut cache.borrow_mut(), metrics::text) {
            Ok(text) => Answer { status: "200 OK", text },
            Err(error) => Answer { status: "500 Internal Server Error", text: format!("error: {error}\n") },
        };
        last.replace(Some((Stopwatch::start(), answer.clone())));
        answer
    });
    answered.map(|()| ExitCode::SUCCESS).map_err(failed)
}

/// Reads the state, and writes what it tells. Hooks wait for the state's locks: each session has them for itself, and one that has
/// not changed since it was read is not read again.
fn read(env: &Environment, cache: &mut Cache, write: fn(&MetricsSource) -> String) -> Result<String> {
    let now = env.now();
    let folder = Store::open(env)?.folder().to_path_buf();
    let _held = locks::hold_detail(&folder)?;
    let mut lately = query::fresh_sessions(env, &lately(env, now.wall_ms)?)?;
    next_client::bind_rows(env, &Store::open(env)?, &mut lately)?;
    let (budgets, pruned, sessions) = {
        let store = Store::open(env)?;
        (store.shared_budgets()?, store.sums()?, store.sessions_since(0)?)
    };
    let report = Report::of(&lately, &budgets, now);
    let waiting = lately.iter().filter(|rows| waits(rows)).count();
    let known: BTreeSet<String> = lately.iter().map(|rows| rows.session.id.clone()).collect();
    let mut all = lately;
    for session in sessions.into_iter().filter(|session| !known.contains(&session.id)) {
        let is_same = |rows: &&SessionRows| rows.session == session;
        if cache.get(&session.id).filter(is_same).is_none() {
            let charges = Store::open_for(&folder, Some(&session.id))?.charges_of(&session.id)?;
            cache.insert(
                session.id.clone(),
                SessionRows { session: session.clone(), charges, ..SessionRows::default() },
            );
        }
        all.extend(cache.get(&session.id).cloned());
    }
    let zone = query::zone(env);
    let source =
        MetricsSource { all: &all, pruned: &pruned, lately: &report, waiting, zone: &zone, now_ms: now.wall_ms };
    Ok(write(&source))
}

/// Returns the ids of the sessions with an event in the last day, and of those that `fusebox status` lists.
fn lately(env: &Environment, now_ms: i64) -> Result<Vec<String>> {
    let (day_ms, week_ms) = (now_ms.saturating_sub(DAY_MS), now_ms.saturating_sub(WEEK_MS));
    let mut ids = Vec::new();
    for session in query::open_or_since(env, week_ms)? {
        let is_known = status::at_work(session.status) || session.last.wall_ms >= day_ms;
        let is_lately = is_known
            || session.last.wall_ms >= week_ms && {
                let runs = Store::open_for(&store::folder(env)?, Some(&session.id))?.runs_of(&session.id)?;
                runs.iter().any(|run| run.order.is_some() || run.resumed)
            };
        ids.extend(is_lately.then_some(session.id));
    }
    Ok(ids)
}

/// Whether a dialog of a session has no answer yet.
fn waits(rows: &SessionRows) -> bool {
    matches!(rows.session.status, Status::Running | Status::Paused)
        && rows.session.pending_prompts.iter().any(|ask| !ask.granted)
}
