//! What an agent reads of a call or prompt that is refused for another reason than a limit. `Fusebox: ` stands before it.

use crate::messages::messages;

messages! {
    /// Agents that were just started may yet spend what is left.
    agents_spend_first() => "agents that were just started have not answered yet, and what is left under a limit on cost or tokens may not be enough for one more beside them. This call was not run; the agent goes on. It can be tried again once one of them has made a call or has ended.";

    /// Too many agents are at work, or were asked for.
    too_many_agents(most = "64 agents are at work")
        => "this call was not run: {most}. It can be tried again once some of them have ended.";

    /// An agent has too many shell commands in the background.
    too_many_commands(commands = 64)
        => "this call was not run: this agent has {commands} shell commands in the background, and no more can be ended with it. It can be tried again once one of them has ended.";

    /// A skill, command or agent is called among more of them than are looked at.
    too_many_skills() => "this call was not run. There are more skills and commands here than Fusebox looks at for one call, and the client would run the commands in this one. Move those that nobody uses out of `.claude/skills` and `.claude/commands`.";

    /// A skill is called whose file cannot be read.
    unreadable_skill(file = ".claude/skills/deploy/SKILL.md")
        => "this call was not run. `{file}` cannot be read whole, and the client would run the commands in it.";

    /// A skill is called with a command in it that an agent may not run.
    skill_touches(said = "this call was not run. It touches `.claude/fusebox.json`, which holds the limits. A person can do that outside of this session.", file = ".claude/skills/deploy/SKILL.md")
        => "{said} `{file}` has the command.";

    /// A skill is called with a command in it that starts a client.
    skill_starts_client(file = ".claude/skills/deploy/SKILL.md", harm = "`disableAllHooks` in `.claude/settings.json` switches all hooks off")
        => "this call was not run. A command in `{file}` starts a client that may not be limited as this session is: {harm}. Take that out, or ask a person to start it in a terminal of their own.";

    /// An agent is called whose file names a server that starts a client.
    agent_serves(agent_type = "developer", harm = "an MCP server that starts a client")
        => "this call was not run. The file of `{agent_type}` names {harm}. A person can do that outside of this session.";

    /// A skill is called that has the client load code into the session.
    loads_code(what = "this call")
        => "{what} was not run. The skill `plugin-authoring` has the client load code that an agent writes into this session, where it can overrule every hook. A person can call it.";

    /// A command starts a client while a change of settings waits for a person.
    client_with_waiting_change(harm = "would take Fusebox's hooks away")
        => "this call was not run. It starts a client, which would work with a change of settings that waits: the change {harm}. Undo the change, or ask a person to take it with `fusebox reload` in a terminal of their own.";

    /// A command starts a client that the session's limits might not hold.
    client_without_limits(harm = "`disableAllHooks` in `.claude/settings.json` switches all hooks off")
        => "this call was not run. It starts a client that may not be limited as this session is: {harm}. Start it without that, or ask a person to start it in a terminal of their own.";

    /// A client below a session works with other settings than that.
    other_settings(above = "5f0c1d2e", harm = "would take Fusebox's hooks away", takes = "If that is yours, `fusebox reload` in a terminal of your own takes it")
        => "no prompt and no call of this client is let through. Session {above} started it, and works with other settings: those here {harm}. {takes}.";

    /// Another program has changed the rows of a session above.
    altered_above(above = "5f0c1d2e")
        => "no prompt and no call of this client is let through: another program has changed the rows of session {above}, which started it, in the state. That session's next event counts it again.";

    /// A hook has changed a call, and nothing that it could change is let through.
    changed_call() => "this call was not run. A hook has changed a call of this session into one that is refused, so that no command and no write can be let through. Other tools still work: report what you have, and that a person has to look at the hooks and run `fusebox reload` in a terminal of their own.";

    /// The state was deleted while the session ran, and a file of its limits was changed.
    limits_lost(what = "this call was not run", file = ".claude/fusebox.json")
        => "{what}. The state of Fusebox was deleted while this session ran, and `{file}`, which its limits are read from, was changed since it began. Nothing runs in it until a person has looked and run `fusebox reload` in a terminal of their own.";
}
