//! What a person is told of by `fusebox watch`: each sentence is an alert, and stands in the log.

use crate::messages::messages;

messages! {
    /// An agent has used a part of a limit that a rule names.
    part_used(percent = 80, who = "developer (a1b2c3d4) in shop", reading = "tool calls 20/25 (max_turns, built-in)")
        => "{who} has used {percent} % of a limit: {reading}";

    /// All sessions together spend fast.
    spend(spent = "12.40 USD", most = "10.00 USD")
        => "{spent} was spent within the last hour, and the rule says {most}";

    /// Limits end many agents.
    terminations(count = 6, most = 5)
        => "limits ended {count} agents within the last hour, and the rule says {most}";

    /// An agent waits for a person.
    waits(who = "developer (a1b2c3d4) in shop", time = "90 s", what = "a dialog about Bash")
        => "{who} waits for a person for {time}: {what}";

    /// A limit ended or paused an agent.
    stopped(who = "developer (a1b2c3d4) in shop", did = "stopped", why = "max_turns 25/25 (built-in)")
        => "{who} was {did}: {why}";

    /// An agent gives no sign of life.
    stalled(who = "developer (a1b2c3d4) in shop", time = "10 min", doing = "in a call of mcp__github__search")
        => "{who} gives no sign of life for {time}: {doing}";

    /// An agent is past a limit that ends it, and sends no event.
    overdue(who = "developer (a1b2c3d4) in shop", reading = "wall time 31.0/30.0 min (max_wall_ms, user)", time = "90 s")
        => "{who} is past a limit, and no hook was asked for {time}: {reading}";

    /// A client asks the model again and again, and no hook between: it cannot start one, or has none any more.
    unasked(who = "developer (a1b2c3d4) in shop", responses = "3 responses", client = "4711")
        => "{who} goes on without asking Fusebox (process {client}): {responses} came since its last hook, and no limit holds it";

    /// A client that an agent has started is at work, and no hook tells of it.
    silent(session = "5f0c1d2e", client = 48213, files = "~/work/shop/other/.claude")
        => "session {session} has started a client that is not known here (process {client}, files in {files}), and no limit here holds it";

    /// A part of one of the team's caps is spent.
    team_part_used(percent = 75, period = "month", whose = "team core", spent = "751.20 USD", cap = "1000.00 USD", resets = "2026-12-01 00:00 +00:00")
        => "{percent} % of the {period}'s cap of {whose} are spent: {spent} of {cap}, until {resets}";

    /// The watchdog has ended the client.
    client_ended(said = "developer (a1b2c3d4) in shop gives no sign of life for 10 min: in a call of Read", how = "interrupted (SIGINT)")
        => "{said}. Its client was {how}";

    /// The watchdog does not end the client.
    client_kept(said = "developer (a1b2c3d4) in shop gives no sign of life for 10 min: in a call of Read", why = "other agents of it are at work")
        => "{said}. Its client was not ended: {why}";
}
