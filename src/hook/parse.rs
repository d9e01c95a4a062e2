//! One hook call as the client makes it: its input, and the event that it tells of.

use std::path::{Path, PathBuf};

use crate::domain::event::Event;
use crate::domain::moment::Moment;
use crate::hook::origin::client_process;
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::platform::files;
use crate::platform::folders::{HERE, System};
use crate::wire::bypass_detection::Guard;
use crate::wire::bypass_detection::path_rules::PathRules;
use crate::wire::bypass_detection::paths::{FILES, SETTINGS};
use crate::wire::events::EventName;
use crate::wire::input::Input;
use crate::wire::read_event;

/// The largest settings file that is read, in bytes.
const LARGEST_SETTINGS: u64 = 4 << 20;

/// A hook call.
pub struct HookCall<'a> {
    /// The input, typed.
    pub input: &'a Input<'a>,
    /// The input, as it came.
    pub bytes: &'a [u8],
    /// The event's name; `None` for one that Fusebox does not know.
    pub name: Option<EventName>,
    /// The event.
    pub event: Event,
    /// What of the machine is this session's own.
    pub guard: Guard,
    /// The process that opened the channel which the event came over, where the system tells.
    pub sender: Option<u32>,
    /// Whether its session was forgotten a moment ago, to be counted again.
    pub is_again: bool,
}

/// Reads a hook call whose state is in `folder`.
pub fn read_call<'a>(env: &Environment, input: &'a Input<'a>, bytes: &'a [u8], folder: &Path) -> HookCall<'a> {
    let guard = guard(env, input, folder);
    let event = event_of(env, input, env.now(), &guard);
    let name = EventName::parse(&input.hook_event_name);
    HookCall { input, bytes, name, event, guard, sender: client_process::sender(env), is_again: false }
}

impl HookCall<'_> {
    /// Reads the event again: the state of its session is in another folder, which is to be guarded too.
    pub fn moves_to(&mut self, env: &Environment, folder: &Path) {
        self.guard.state_dir = folder.to_str().map(str::to_owned);
        // It is one event: what is new in the state began with it.
        self.event = event_of(env, self.input, self.event.at, &self.guard);
    }
}

fn event_of(env: &Environment, input: &Input, at: Moment, guard: &Guard) -> Event {
    read_event::event(input, at, is_attended(env), guard)
}

/// Says what of the machine is this session's own.
fn guard(env: &Environment, input: &Input, state: &Path) -> Guard {
    let text = |path: PathBuf| path.into_os_string().into_string().ok();
    let program = env.called_as();
    let target = input.tool_input.as_ref().and_then(|_| target(env, program.as_deref()));
    Guard {
        rules: match HERE {
            System::Linux => PathRules::Exact,
            System::Mac => PathRules::AnyCase,
            System::Windows => PathRules::Windows,
        },
        state_dir: state.to_str().map(str::to_owned),
        program,
        target,
        project: Some(env.var("CLAUDE_PROJECT_DIR").unwrap_or_else(|| input.cwd.clone().into_owned())),
        claude_dir: env.claude_dir().and_then(text),
        home: env.home().and_then(text),
        folder: Some(input.cwd.clone().into_owned()),
        holds_limits: Some(holds_limits),
        is_there: Some(|path| !file_info::is_gone(Path::new(path))),
        ..Guard::default()
    }
}

/// Whether a folder of the client's has a file of limits, or settings that name this program.
fn holds_limits(folder: &str) -> bool {
    let at = |name: &str| Path::new(folder).join(name);
    let is_there = |name: &str| !file_info::is_gone(&at(name));
    // What cannot be read may name it.
    let names_it = |name: &str| files::text(&at(name), LARGEST_SETTINGS).map_or(true, |text| text.contains("fusebox"));
    FILES.into_iter().any(is_there) || SETTINGS.into_iter().any(|name| is_there(name) && names_it(name))
}

/// Returns the file that the program's path leads to, where a link stands there.
fn target(env: &Environment, program: Option<&str>) -> Option<String> {
    let target = env.binary()?.into_os_string().into_string().ok();
    target.filter(|target| Some(target.as_str()) != program)
}

/// Whether somebody can answer a dialog: the client says it, an older one by how it was started.
fn is_attended(env: &Environment) -> bool {
    match env.var("CLAUDE_CODE_SESSION_ATTENDED") {
        Some(said) => said != "0",
        None => env.var("CLAUDE_CODE_ENTRYPOINT").is_none_or(|started_as| !started_as.starts_with("sdk")),
    }
}
