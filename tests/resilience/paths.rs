//! Anything at any path: whatever lies at a path that a hook call looks at, the call answers in time and the limit holds.
//!
//! The paths are found, not listed: each kind of hook call runs under strace. Below the fixture's folder, which stands for the home
//! of the agent's user, everything may be created or replaced.

mod calls;
mod found;
mod kinds;
mod listing;
mod private;

use std::path::Path;
use std::time::Duration;

use crate::fixture::{Answer, Fixture, Hook, Outcome, asked};
use crate::session::Session;

use calls::Call;
use kinds::{KINDS, Kind};

/// How long a call may take, whatever lies at a path.
const IN_TIME: Duration = Duration::from_secs(2);
/// The most memory that a call may take.
const MOST_KIB: u64 = 64 << 10;

/// One thing at one path, before one kind of hook call.
struct Trial<'a> {
    call: &'a Call,
    /// The path from the fixture's folder.
    place: &'a str,
    kind: &'a Kind,
}

/// The paths that every kind of thing is tried at in the short form, too: reading one of them hung, or writing one went elsewhere.
const WORST: [&str; 6] = [
    "home/.claude/skills/helper/hooks/hooks.json",
    "project/.claude/logs/execution-limits.log",
    "live/state/state.db-journal",
    "live/state/state.db",
    "live/s1.jsonl",
    "live/state/locks/all",
];

impl Trial<'_> {
    /// Lays the thing, makes the call and then one over the cap, and says what is wrong with them.
    fn run(&self, fixture: &Fixture, session: &Session) -> Result<(), String> {
        calls::put_back(fixture);
        let path = fixture.path(self.place);
        let was_folder = path.is_dir();
        let script = (self.kind.lay)(fixture, &path, was_folder);
        let before = listing::of(fixture);
        let over = self.call.over_cap(session);
        let mut said = String::new();
        for event in [Some(&self.call.event), over.as_ref()].into_iter().flatten() {
            let outcome = self.in_time(fixture, event, script.as_deref())?;
            let answer = sound(&outcome)?;
            let is_allowed = event["hook_event_name"] == "PreToolUse" && answer == Answer::Allowed;
            if is_allowed && (!self.begins_anew() || self.goes_on(fixture, session, script.as_deref())?) {
                return Err("a call over the cap was allowed".to_owned());
            }
            said += &outcome.stdout;
        }
        let changed = listing::changes(&before, &listing::of(fixture));
        if !changed.is_empty() {
            return Err(format!("changed what is not its own: {changed:?}"));
        }
        self.is_told(fixture, &said)
    }

    /// Whether a prompt comes in a state that knows nothing of the session: its run begins there, and so do its caps.
    fn begins_anew(&self) -> bool {
        let is_emptied = self.place == "live/state" && self.kind.name == "100,000 entries";
        is_emptied && self.call.event["hook_event_name"] == "UserPromptSubmit"
    }

    /// Whether calls go on where a run that began anew has used up its cap of two.
    fn goes_on(&self, fixture: &Fixture, session: &Session, script: Option<&str>) -> Result<bool, String> {
        let second = sound(&self.in_time(fixture, &session.requests("Read", "t10"), script)?)?;
        let third = sound(&self.in_time(fixture, &session.requests("Read", "t11"), script)?)?;
        Ok(second != Answer::Allowed || third == Answer::Allowed)
    }

    /// Makes a call; one that is late has another chance, since the machine may have been busy.
    fn in_time(&self, fixture: &Fixture, event: &serde_json::Value, script: Option<&str>) -> Result<Outcome, String> {
        let call = || through(fixture, self.place, self.kind, script).tell(event);
        let is_late = |outcome: &Outcome| outcome.took > IN_TIME;
        let mut outcome = call();
        if is_late(&outcome) && outcome.code.is_some() {
            outcome = call();
        }
        match is_late(&outcome) {
            true => Err(format!("{} took {:?}", event["hook_event_name"], outcome.took)),
            false => Ok(outcome),
        }
    }

    /// Whether the answers or the log speak of the thing, where it takes something away that a person counts on.
    fn is_told(&self, fixture: &Fixture, said: &str) -> Result<(), String> {
        let Some(words) = kinds::must_say(self.place, self.kind) else { return Ok(()) };
        let said = format!("{said}{}", fixture.log());
        if words.iter().any(|words| said.contains(words)) {
            Ok(())
        } else {
            Err(format!("nothing says {words:?}: {said:.1500}"))
        }
    }
}

/// Checks what holds for every outcome, and returns the answer.
fn sound(outcome: &Outcome) -> Result<Answer, String> {
    let shown = format!("{:.1500}", format!("{outcome:?}"));
    if outcome.code != Some(0) || !outcome.stderr.is_empty() {
        return Err(format!("it failed: {shown}"));
    }
    if outcome.peak_kib.is_none_or(|peak| peak > MOST_KIB) {
        return Err(format!("it took too much memory: {shown}"));
    }
    if !outcome.stdout.is_empty() && serde_json::from_str::<serde_json::Value>(&outcome.stdout).is_err() {
        return Err(format!("the answer is no JSON: {shown}"));
    }
    Ok(Answer::of(&outcome.stdout))
}

/// Returns the hook call that meets the thing.
fn through<'a>(fixture: &'a Fixture, place: &str, kind: &Kind, script: Option<&str>) -> Hook<'a> {
    let mut hook = fixture.hook();
    if Path::new("project").starts_with(place) {
        // A process keeps its working folder where another takes the name; a new one cannot start in it.
        hook = hook.in_folder(fixture.path("."));
    }
    if let Some(script) = script {
        hook = hook.through(crate::fixture::apart()).in_shell(&format!("{script}\nexec \"$@\""));
    }
    if kind.needs_a_plain_user {
        // Root reads everything, unless it cannot.
        hook = hook.through(&["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]);
    }
    hook
}

#[test]
fn anything_at_any_path() {
    let full = asked("FUSEBOX_RESILIENCE").as_deref() == Some("full");
    let only = asked("FUSEBOX_PATHS").unwrap_or_default();
    let fixture = calls::fixture();
    let session = Session::named(&fixture, "s1");
    let mut wrong = Vec::new();
    let (mut tried, mut turn) = (0, 0);
    for call in calls::all(&session) {
        for place in found::looked_at(&fixture, &call) {
            turn += 1;
            let is_worst = call.is_worst && WORST.contains(&place.as_str());
            for (at, kind) in KINDS.iter().enumerate() {
                let name = format!("{} at {place} before {}", kind.name, call.name);
                let is_due = full || is_worst || at == turn % KINDS.len();
                if !is_due || !name.contains(&only) {
                    continue;
                }
                tried += 1;
                let trial = Trial { call: &call, place: &place, kind };
                if let Err(why) = trial.run(&fixture, &session) {
                    eprintln!("{name}: {why}");
                    wrong.push(format!("{name}: {why}"));
                }
            }
        }
    }
    assert!(!only.is_empty() || tried > 100, "only {tried} trials");
    assert!(wrong.is_empty(), "{} of {tried} trials:\n{}", wrong.len(), wrong.join("\n"));
}
