//! What agents read: facts, what still works, what to deliver. It never stands where the client shows it to a person, where that can
//! be helped; a refusal is shown, cut at some 200 characters, so what matters most stands first.

use crate::messages::messages;

messages! {
    /// A call is refused: a limit trips now, or the agent is ended already.
    refused(
        at = "tool call limit reached. Execution limit exceeded: [max_turns]. Agent developer (run a1b2c3d4) is at tool calls 25/25 (max_turns, set by the project's .claude/fusebox.json).",
        left = "One more response is left, for a report of the work so far: what is done, what is not, and that it is partial. Tools that still run: Write, Edit."
    ) => "Fusebox: {at} This call was not run. {left}";

    /// How far an agent has come that is refused a call, or ends.
    stands_at(phrase = "tool call limit reached. Execution limit exceeded: [max_turns].", who = "Agent developer (run a1b2c3d4)", reading = "tool calls 25/25 (max_turns, set by the project's .claude/fusebox.json)")
        => "{phrase} {who} is at {reading}.";

    /// What stops an agent that is refused a call, or ends, along with others.
    stopped_with(phrase = "tool call limit reached. Execution limit exceeded: [max_turns].", who = "Agent developer (run a1b2c3d4)", with = "with the agent above it (run b2c3d4e5)", reading = "tool calls 25/25 (max_turns, set by the project's .claude/fusebox.json)")
        => "{phrase} {who} is stopped {with}, which is at {reading}.";

    /// A limit refuses this call alone.
    refused_call(
        at = "rate limit exceeded, the next slot opens in 12 s. Execution limit exceeded: [rate_limits]. The main agent is at calls 10/10, WebSearch in 60 s (rate_limits, set by the user's fusebox.json).",
        then = "Other calls still run."
    ) => "Fusebox: {at} This call was not run; the agent goes on. {then}";

    /// A limit trips at the end of a batch or of a call, and a report is due; also where a stopped agent is woken.
    report_due(
        at = "cost budget exhausted. Execution limit exceeded: [max_cost_usd]. The main agent is at cost 0.93/1.00 USD, too little left for the next request (max_cost_usd, set by the user's fusebox.json).",
        left = "One more response is left, for a report of the work so far: what is done, what is not, and that it is partial. Tools that still run: Write, Edit."
    ) => "Fusebox: {at} {left}";

    /// What an agent that is ending may still do.
    left_to_report(responses = "One more response is", tools = "Write, Edit, TodoWrite, TaskUpdate, SendMessage")
        => "{responses} left, for a report of the work so far: what is done, what is not, and that it is partial. Tools that still run: {tools}.";

    /// What an agent that is paused reads.
    left_paused(command = "fusebox resume a1b2c3d4")
        => "The work is paused here and kept; a person can let it go on with `{command}`.";

    /// What an agent reads that has no response left.
    left_nothing() => "The agent is stopped here; its work so far counts as partial.";

    /// What an agent reads that was stopped and is woken.
    left_woken() => "This agent was stopped for it. It can still answer in words; any tool call ends it.";

    /// Something is missing where the agent ends: it is sent back.
    missing(what = "no checkpoint `tests`; `./check-done` says: 2 tests fail")
        => "Fusebox: the work is not complete: {what}. The agent goes on; a report that begins with PARTIAL says that it gets no further.";

    /// A part of a limit is used.
    part_used(percent = 80, who = "agent developer (run a1b2c3d4)", reading = "tool calls 20/25 (max_turns, set by the project's .claude/fusebox.json)")
        => "Fusebox: {percent} % is reached: {who} is at {reading}.";

    /// A limit that only warns is reached.
    warned(who = "Agent developer (run a1b2c3d4)", reading = "tool calls 100/100 (max_turns, set by Fusebox's built-in defaults)")
        => "Fusebox: {who} is at {reading}. The limit only warns; work goes on.";

    /// A repetition is seen; the limit acts when it goes on.
    repeats(who = "The main agent", reading = "repetition: Bash \"make test\" failed 3 times the same way: no rule (loop_detection, set by Fusebox's built-in defaults)")
        => "Fusebox: {who} is at {reading}. If that goes on, the limit acts.";

    /// A run has ended although something is missing.
    ended_incomplete(who = "agent developer (run a1b2c3d4)", why = "no checkpoint `tests` (checkpoints, set by the project's .claude/fusebox.json)")
        => "Fusebox: {who} has ended, and its work is incomplete: {why}.";

    /// Another call of the batch is asking the person.
    asking(reading = "tool calls 25/25 (max_turns, set by the project's .claude/fusebox.json)")
        => "Fusebox: {reading}. The user is being asked for more; this call was not run and can be tried again afterwards.";

    /// A subagent was stopped or paused: its parent reads it.
    child_stopped(agent = "agent developer (run a1b2c3d4)", what = "was stopped before it was done", why = "tool call limit reached. Execution limit exceeded: [max_turns]. At the end: tool calls 25/25 (max_turns, set by the project's .claude/fusebox.json)", then = "Its result is partial, although it is reported as completed.")
        => "Fusebox: {agent} {what}: {why}. {then}";

    /// A tool or its result asked for the end of a subagent.
    child_ended(agent = "agent developer (run a1b2c3d4)", why = "the tool `Done` asked for its end (explicit_stop, set by the project's .claude/fusebox.json)")
        => "Fusebox: {agent} was ended: {why}.";

    /// A person has let stopped subagents go on: the main agent reads it with the next prompt.
    let_go_on(agents = "developer (run a1b2c3d4), Explore (run a5c6d7e8)")
        => "Fusebox: these subagents were stopped before they were done, and may go on now: {agents}. Each goes on with a message to it.";

    /// A subagent has ended although something is missing.
    child_incomplete(agent = "agent developer (run a1b2c3d4)", why = "no checkpoint `tests` (checkpoints, set by the project's .claude/fusebox.json)")
        => "Fusebox: {agent} has ended, and its report is incomplete: {why}.";

    /// What the parent of a paused subagent reads beside it.
    child_paused(command = "fusebox resume a1b2c3d4")
        => "A person can let it go on with `{command}`; until then messages to it are refused.";

    /// What the parent of a stopped subagent reads beside it.
    child_partial() => "Its result is partial, although it is reported as completed.";

    /// A spawn asked for more than was left to hand down.
    clamped(label = "tool calls", limit = "max_turns", asked = 40, got = 12, of = "the whole session")
        => "Fusebox: {label} ({limit}): {asked} asked for, {got} is what is left of {of}, and so the cap.";

    /// A message was not sent: the agent that it is for may not go on.
    addressee(run = "a1b2c3d4", what = "was stopped", reading = "tool calls 25/25 (max_turns, set by the project's .claude/fusebox.json)", then = "After a person's `fusebox resume a1b2c3d4` a message lets it go on.")
        => "Fusebox: the agent addressed (run {run}) {what}: {reading}. The message was not sent. {then}";

    /// What lets an agent that was stopped or paused take messages again.
    addressee_resumes(command = "fusebox resume a1b2c3d4") => "After a person's `{command}` a message lets it go on.";

    /// What gives an agent more that has nothing left for another request.
    addressee_needs(command = "fusebox grant a1b2c3d4 max_cost_usd=+0.50")
        => "Only a person can give it more, with `{command}`.";

    /// A call reaches around Fusebox.
    tampering(what = "`.claude/fusebox.json`, which holds the limits")
        => "Fusebox: this call was not run. It touches {what}. A person can do that outside of this session.";

    /// What is used, beside a warning or after every batch.
    used_so_far(used = "tool calls 20/25 (max_turns); of the whole session: cost 4.10/10.00 USD (max_cost_usd)")
        => "Fusebox: used so far: {used}.";
}
