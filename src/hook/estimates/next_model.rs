//! Which model the next request goes to, where something names it: the client's start, its command line and environment, the
//! command that a prompt is, the call that starts an agent, and the agent's file.

use crate::domain::agent_type::{self, is_same};
use crate::domain::event::{Agent, Call, Event, EventKind, Intent};
use crate::domain::session::Session;
use crate::domain::start_source::StartSource;
use crate::engine::estimate;
use crate::engine::session_state::SessionState;
use crate::hook::settings;
use crate::install::agent_models;
use crate::install::plugins::value_of;
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::pricing::model_names::{id_of, is_family};
use crate::wire::input::Input;

/// Names the model of a client, in its environment.
const OF_CLIENT: &str = "ANTHROPIC_MODEL";
/// Names the model of agents for which nothing else names one, in the client's environment.
const OF_AGENTS: &str = "CLAUDE_CODE_SUBAGENT_MODEL";
/// The client's own types of agents that have a model of their own, and its name.
const OWN: [(&str, &str); 1] = [("statusline-setup", "sonnet")];
/// The client's own type that works with its parent's model where that is of these families, else with the first of them.
const EXPLORES: (&str, [&str; 3]) = ("Explore", ["opus", "sonnet", "haiku"]);

/// Takes note of the model that a client is started with, where its own event does not say.
pub fn note_start(env: &Environment, session: &mut Session, source: &StartSource) {
    if matches!(source, StartSource::Compact | StartSource::Clear) {
        return;
    }
    let arguments = session.client.map(|client| processes::arguments(client.pid)).unwrap_or_default();
    let named = value_of(&arguments, "--model").map(str::to_owned).or_else(|| env.var(OF_CLIENT));
    let files = &session.named_models;
    let named = named.or_else(|| files.agent.clone());
    let is_new = *source == StartSource::Startup;
    let named = named.or_else(|| files.settings.clone().filter(|_| is_new));
    let word = named.and_then(|name| id_of(&name, |name| env.var(name)));
    // An agent decides what starts a client below its own: it may have named another model in between.
    let goes_on = !is_new && session.outer.is_none();
    if session.client_start.model.is_none() && word.is_some() {
        session.model.clone_from(&word);
    }
    session.client_start.started_with(word, goes_on);
}

/// Takes note of the model that a client goes on with, where an event says so. One that takes a conversation up goes on with the
/// model that has answered there; of a fork that is not known here.
pub fn note_switch(session: &mut Session, input: &Input) {
    let goes_on = input.source == Some(StartSource::Resume) && !session.is_fork;
    if let Some(model) = input.to_model.clone().filter(|_| !goes_on) {
        session.client_start.switches(model);
    }
}

/// Returns the models that the next request of an event may go to, where something names them.
pub fn find(env: &Environment, state: &mut SessionState, event: &Event, input: &Input) -> Vec<String> {
    match &event.kind {
        EventKind::Prompt { .. } if event.agent == Agent::Main => {
            let of_command = of_command(env, state, input);
            let before = note_command(state, of_command.is_some());
            // Below another client an agent decides what the command line says, and where each word belongs.
            let is_below = state.session.outer.is_some();
            let last = state.session.main.as_deref().filter(|_| is_below).and_then(|main| state.run(main));
            let last = last.map(|run| estimate::model_of(state, run).to_owned());
            let start = state.session.client_start.model.clone().filter(|_| of_command.is_none());
            let named = of_command.or(start).or(before);
            let last = last.filter(|_| named.is_some());
            named.into_iter().chain(last).collect()
        }
        EventKind::ToolRequested(Call { intent: Intent::Spawn { agent_type, model, .. }, .. }) => {
            of_agent(env, state, event, agent_type, model.as_deref()).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Takes note of a prompt that is a command with a model of its own, or is none; returns the model that the conversation went to
/// before such a command.
fn note_command(state: &mut SessionState, is_one: bool) -> Option<String> {
    let last = state.session.main.as_deref().and_then(|main| state.run(main));
    let last = last.map(|run| estimate::model_of(state, run).to_owned()).filter(|model| !model.is_empty());
    let before = &mut state.session.client_start.before_command;
    if !is_one {
        return before.take();
    }
    if before.is_none() {
        *before = last;
    }
    None
}

/// Returns the model of the command or skill that a prompt is.
fn of_command(env: &Environment, state: &SessionState, input: &Input) -> Option<String> {
    let name = input.slash_command()?;
    let client = settings::baseline::client(env, &state.session);
    let named = agent_models::of_skill(&client, name)?;
    id_of(&named, |name| env.var(name))
}

/// Returns the model of an agent that is about to start: the call names it, its type's file, or the environment, else it is its
/// parent's.
fn of_agent(
    env: &Environment,
    state: &SessionState,
    event: &Event,
    agent_type: &str,
    model: Option<&str>,
) -> Option<String> {
    let parent = match &event.agent {
        Agent::Main => state.session.main.as_deref(),
        Agent::Sub { id, .. } => Some(id.as_str()),
    };
    let parent = parent.and_then(|id| state.run(id)).map_or("", |run| estimate::model_of(state, run));
    let of_type = agent_type::find(&state.session.named_models.types, agent_type).map(String::as_str);
    let of_agents = env.var(OF_AGENTS);
    let (explores, families) = EXPLORES;
    let is_dearer = !families.iter().any(|family| is_family(family, parent));
    let explores = (is_same(agent_type, explores) && is_dearer).then_some(families[0]);
    let own = OWN.iter().find(|(name, _)| is_same(name, agent_type)).map(|(_, model)| *model).or(explores);
    let named = model.or(of_type).or(of_agents.as_deref()).or(own).unwrap_or_default();
    let id = if is_family(named, parent) { None } else { id_of(named, |name| env.var(name)) };
    id.or_else(|| Some(parent.to_owned())).filter(|id| !id.is_empty())
}
