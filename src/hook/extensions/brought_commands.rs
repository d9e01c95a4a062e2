//! What the client runs for a call with no hook between: the commands in a skill's text, and the servers of an agent's file.

use std::path::Path;

use serde_json::json;

use crate::domain::event::{Call, Intent};
use crate::domain::session::Session;
use crate::hook::settings;
use crate::hook::settings::client_starts;
use crate::install::model_hooks;
use crate::install::skills::SkillFile;
use crate::platform::environment::Environment;
use crate::platform::files;
use crate::wire::bypass_detection::Guard;
use crate::wire::input::Input;
use crate::wire::skill_commands;
use crate::wire::{messages, tools};

/// The largest text of a skill that is read, in bytes.
const LARGEST: u64 = 1 << 20;
/// The keys of an agent's file that say what servers it has.
const KEYS: [&str; 2] = ["name", "mcpServers"];
/// What is said where a skill of this name may stand among those that are not looked at.
const MORE: &str = "this call was not run. There are more skills and commands here than Fusebox looks at for one call, and the client would \
                    run the commands in this one. Move those that nobody uses out of `.claude/skills` and `.claude/commands`.";
/// How a message to an agent begins.
const OURS: &str = "Fusebox: ";

/// Says why a call is refused for what the client would run for it; nothing where none of that is refused.
pub fn refusal_reason(
    env: &Environment,
    session: &Session,
    input: &Input,
    call: &Call,
    guard: &Guard,
) -> Option<String> {
    match &call.intent {
        Intent::Spawn { agent_type, .. } => served(env, session, agent_type, guard),
        _ => of_skill(env, session, input, call, guard),
    }
}

fn of_skill(env: &Environment, session: &Session, input: &Input, call: &Call, guard: &Guard) -> Option<String> {
    let name = tools::skill(&call.tool, input.tool_input)?;
    let arguments = tools::skill_arguments(input.tool_input);
    let client = settings::baseline::client(env, session);
    let found = client.skills(&name, Some(Path::new(&*input.transcript_path)));
    let harm = found.files.iter().find_map(|file| of_file(env, session, file, &arguments, guard));
    harm.or_else(|| found.is_more.then(|| MORE.to_owned()))
}

fn of_file(env: &Environment, session: &Session, file: &SkillFile, arguments: &str, guard: &Guard) -> Option<String> {
    let named = env.short_path(&file.path);
    let commands = files::text(&file.path, LARGEST).ok().and_then(|text| skill_commands::of(&text, arguments));
    let Some(commands) = commands else {
        return Some(format!(
            "this call was not run. `{named}` cannot be read whole, and the client would run the commands in it."
        ));
    };
    commands.iter().find_map(|command| {
        if let Some(what) = guard.command(command) {
            let said = messages::tampering(&what);
            return Some(format!("{} `{named}` has the command.", said.strip_prefix(OURS).unwrap_or(&said)));
        }
        let starts = if guard.may_mention(command) { guard.client_starts(command) } else { Vec::new() };
        starts.iter().find_map(|start| client_starts::harm(env, session, guard, start)).map(|harm| {
            format!(
                "this call was not run. A command in `{named}` starts a client that may not be limited as this session is: {harm}. Take \
                 that out, or ask a person to start it in a terminal of their own."
            )
        })
    })
}

fn served(env: &Environment, session: &Session, agent_type: &str, guard: &Guard) -> Option<String> {
    let types = model_hooks::described_types(env, &settings::baseline::bare_client(env, session), &KEYS);
    let harm = types.into_iter().filter(|(name, _)| name == agent_type).find_map(|(_, said)| {
        let text = match said {
            Ok(entries) => json!({ "mcpServers": entries.get("mcpServers")? }).to_string(),
            Err(text) if text.contains("mcpServers") => text,
            Err(_) => return None,
        };
        guard.servers_in(&session.folder, &text)
    })?;
    Some(format!(
        "this call was not run. The file of `{agent_type}` names {harm}. A person can do that outside of this session."
    ))
}
