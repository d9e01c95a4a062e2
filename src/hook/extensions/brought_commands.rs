//! What the client runs for a call with no hook between: the commands in a skill's text, and the servers of an agent's file.

use std::path::Path;

use serde_json::json;

use crate::domain::agent_type::is_same;
use crate::domain::event::{Call, Intent};
use crate::domain::notified::unsigned;
use crate::domain::session::Session;
use crate::hook::settings;
use crate::hook::settings::client_starts;
use crate::install::model_hooks;
use crate::install::skills::SkillFile;
use crate::messages::refusals;
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
    let name = tools::skill(&call.tool, input.tool_input.as_ref())?;
    let arguments = tools::skill_arguments(input.tool_input.as_ref());
    let client = settings::baseline::client(env, session);
    let found = client.skills(name, Some(Path::new(&*input.transcript_path)));
    let harm = found.files.iter().find_map(|file| of_file(env, session, file, arguments, guard));
    harm.or_else(|| found.is_more.then(refusals::too_many_skills))
}

fn of_file(env: &Environment, session: &Session, file: &SkillFile, arguments: &str, guard: &Guard) -> Option<String> {
    let named = env.short_path(&file.path);
    let commands = files::text(&file.path, LARGEST).ok().and_then(|text| skill_commands::find(&text, arguments));
    let Some(commands) = commands else {
        return Some(refusals::unreadable_skill(named));
    };
    commands.iter().find_map(|command| {
        let may_mention = guard.may_mention(command);
        let read = guard.read_command(command, may_mention);
        if let Some(what) = read.refused {
            return Some(refusals::skill_touches(unsigned(&messages::tampering(&what)), &named));
        }
        let mut starts = read.starts.iter().filter(|_| may_mention);
        let harm = starts.find_map(|start| client_starts::harm(env, session, guard, start));
        harm.map(|harm| refusals::skill_starts_client(&named, harm))
    })
}

fn served(env: &Environment, session: &Session, agent_type: &str, guard: &Guard) -> Option<String> {
    let types = model_hooks::described_types(env, &settings::baseline::bare_client(env, session), &KEYS);
    let harm = types.into_iter().filter(|(name, _)| is_same(name, agent_type)).find_map(|(_, said)| {
        let text = match said {
            Ok(entries) => json!({ "mcpServers": entries.get("mcpServers")? }).to_string(),
            Err(text) if text.contains("mcpServers") => text,
            Err(_) => return None,
        };
        guard.servers_in(&session.folder, &text)
    })?;
    Some(refusals::agent_serves(agent_type, harm))
}
