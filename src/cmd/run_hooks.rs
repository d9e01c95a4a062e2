//! Whether the client that `fusebox run` starts will run any hook of Fusebox.

use std::ffi::OsString;

use crate::cmd::run_command::is_client;
use crate::install::place::Folders;
use crate::install::{handlers, plugin_handlers, settings_files};
use crate::platform::environment::Environment;
use crate::wire::events::EventName;

/// The client's options that bring hooks of their own.
const BRING_HOOKS: [&str; 2] = ["--settings", "--plugin-dir"];

/// Whether no settings file and no plugin that this client will read has it run Fusebox. What another program does is not known.
pub fn has_none(env: &Environment, command: &[OsString]) -> bool {
    let brings = |argument: &OsString| {
        let text = argument.to_string_lossy();
        BRING_HOOKS.contains(&text.split('=').next().unwrap_or_default())
    };
    is_client(command) && !command.iter().any(brings) && none_registered(env)
}

/// Says that nothing is counted where no hook of Fusebox is registered for this folder.
pub fn missing(env: &Environment) -> Option<&'static str> {
    none_registered(env).then_some(
        "no hook of Fusebox is registered here, so nothing is counted or stopped: `fusebox init` registers it",
    )
}

/// Whether no settings file and no plugin that a client reads in this folder has it run Fusebox.
fn none_registered(env: &Environment) -> bool {
    let folders = Folders::of(env, &env.folder());
    let settings = settings_files::read(&folders);
    let mut brought = plugin_handlers::find(&folders, &settings, &[]);
    // The client loads nothing of what lies in its cache alone.
    brought.retain(|it| it.plugin.is_installed);
    // Whichever binary is registered: another version or copy counts too.
    !handlers::resolve(&settings, &brought, None).events.contains(&EventName::PreToolUse)
}
