//! What people read: in the client's terminal, and on standard error of `fusebox run`. One line where one will do, at most two.

use crate::messages::messages;
use crate::messages::next_step::NextStep;

/// The next step of a sample.
fn next(step: fn(String) -> NextStep, id: &str) -> NextStep {
    step(id.to_owned())
}

/// How more of a run or session is read.
fn explain(id: String) -> NextStep {
    NextStep::Explain { id }
}

/// How more of the session's cost is given.
fn grant(id: String) -> NextStep {
    NextStep::Grant { id, limit: "max_cost_usd".to_owned(), more: "12.50".to_owned(), spent: String::new() }
}

messages! {
    /// A subagent was stopped or paused. Once, at the main agent's next event.
    stopped_agent(
        did = "stopped", agent = "developer (a1b2c3d4)",
        why = "Bash \"make test\" failed 3 times the same way: make: *** No rule to make targ… (loop_detection, built-in)",
        used = "14 calls, 0.42 USD. ", next = next(explain, "a1b2c3d4")
    ) => "Fusebox {did} {agent}: {why}. {used}{next}";

    /// The main agent is stopped or paused.
    stopped_main(did = "stopped", why = "tool calls 200/200 (max_turns, project)", next = NextStep::NextPrompt)
        => "Fusebox {did} the main agent: {why}. {next}";

    /// The main agent has ended as a limit had it: after its report, or without one.
    ended_main(why = "tool calls 200/200 (max_turns, project)", used = "200 calls, 6.20 USD", next = NextStep::NextPrompt)
        => "Fusebox stopped the main agent: {why}. {used}. {next}";

    /// The main agent has reached a limit, and may still report.
    ending(who = "the main agent", why = "cost 6.20/10.00 USD + 4.85 for 2 requests to come (max_cost_usd, user)")
        => "Fusebox is ending {who}, which may still report: {why}.";

    /// A turn that has ended is not prolonged once more by a hook.
    ended_for_good(who = "the main agent", why = "requests 30/30 (max_requests, project)")
        => "Fusebox: {who} has ended, and no hook may prolong that: {why}.";

    /// A part of a limit is used: 80 % and 95 %, unless `warn_at` says else.
    part_used(percent = 80, who = "the main agent", reading = "cost of the session 8.03/10.00 USD (max_cost_usd, user)")
        => "Fusebox: {percent} % is used: {who} is at {reading}.";

    /// A limit is passed where a part of it would have been told: the last response cost more than was left.
    passed(who = "the main agent", reading = "tokens of the session 3248000/3000000 (max_tokens, built-in)")
        => "Fusebox: all of it is used, and more: {who} is at {reading}.";

    /// A limit that only warns is reached.
    warned(who = "agent developer (run a1b2c3d4)", reading = "tool calls 100/100 (max_turns, built-in)")
        => "Fusebox: {who} is at {reading}. The limit only warns; work goes on.";

    /// A repetition is seen that is not stopped yet.
    repeats(who = "the main agent", reading = "Bash \"make test\" failed 3 times the same way: no rule (loop_detection, built-in)")
        => "Fusebox: {who}: {reading}. If that goes on, the limit acts.";

    /// An agent has ended although something is missing.
    ended_incomplete(who = "agent developer (run a1b2c3d4)", why = "no checkpoint `tests` (checkpoints, project)")
        => "Fusebox: {who} has ended, and its work is incomplete: {why}.";

    /// A limit asks in a dialog for more.
    question_cap(
        who = "the main agent", what = "cost", used = "0.047", cap = "0.050 USD", by = "(max_cost_usd, user)",
        ahead = "2 requests to come: about 0.006", then = "Yes: 0.025 USD more, cap 0.075. No: stop here"
    ) => "Fusebox: {who}: {what} {used} of {cap} {by}; {ahead}. {then}.";

    /// A dialog asks for more of several limits at once.
    question_caps(
        who = "the main agent",
        each = "cost of the session 0.047/0.050 USD (max_cost_usd, user) and cost today 4.98/5.00 USD (max_cost_usd_per_day, user)",
        then = "Yes: caps 0.075 and 7.50. No: stop here"
    ) => "Fusebox: {who}: {each}. {then}.";

    /// A window of a rate is full, and its limit asks.
    question_window(who = "the main agent", wait = "in 12 s", reading = "calls 10/10, WebSearch in 60 s (rate_limits, user)")
        => "Fusebox: {who} is at {reading}; next slot {wait}. Yes: run this call now. No: refuse it.";

    /// A repetition goes on, and its limit asks.
    question_repetition(who = "the main agent", reading = "Bash \"make test\" failed 3 times the same way: no rule (loop_detection, user)")
        => "Fusebox: {who}: {reading}. Yes: go on, counted anew. No: stop here.";

    /// A prompt is not sent.
    blocked_prompt(
        phrase = "this session has no room:",
        why = "cost 6.20/10.00 USD + 4.85 for 2 requests to come (max_cost_usd, user)",
        next = next(grant, "5f0c1d2e")
    ) => "Fusebox: {phrase} {why}. {next}";

    /// A prompt is not sent, and each of two limits would keep it back.
    blocked_by_two(
        why = "14.63/15.00 USD + 0.52 to come (built-in) and 5.10/5.00 USD (user)", one = "fusebox grant 5f0c1d2e max_cost_usd=+12.50",
        and = "fusebox grant user max_cost_usd_per_day=+2.50"
    ) => "Fusebox: no room in {why}: `{one} && {and}`";

    /// Beside a prompt that is not sent, where the session had spent before Fusebox saw it.
    found_at_first(cost = "3.2100 USD")
        => "{cost} of it was spent before Fusebox first saw this session, or its state was deleted.";

    /// Rows of the session's transcripts are still to be read, so a call or prompt is held back.
    unread(megabytes = 12)
        => "Fusebox: held back: {megabytes} MB of the session's transcripts are still to be read. Each try reads on: try again.";

    /// A dialog was answered with Yes.
    yes_raised(limit = "max_cost_usd", before = "0.050 USD", after = "0.075 USD", next = next(explain, "a1b2c3d4"))
        => "{limit} raised {before} -> {after} by a Yes in the dialog. {next}";

    /// A dialog was answered with Yes, and another Yes, or a command, had raised the cap as far by then.
    yes_raised_before(limit = "max_cost_usd", now = "0.075 USD", next = next(explain, "a1b2c3d4"))
        => "{limit} was raised to {now} before this Yes in the dialog, which adds nothing. {next}";

    /// A dialog about a repetition or a window was answered with Yes.
    yes_lifted(limit = "loop_detection", next = next(explain, "a1b2c3d4"))
        => "{limit} lifted for once by a Yes in the dialog. {next}";

    /// A dialog was answered sooner than it can be read.
    yes_too_soon(limit = "max_cost_usd", then = "; the next call asks again")
        => "a Yes about {limit} came within a second, too soon to have read the question: its call ran, nothing is granted{then}";

    /// Several dialogs in a row were answered with Yes.
    yes_in_a_row(times = 3, limit = "max_cost_usd", next = next(grant, "5f0c1d2e"))
        => "{times} times Yes about {limit} within a minute: nobody is asked in this session any more. {next}";

    /// A hook answered a dialog.
    yes_by_hook(limit = "max_cost_usd", next = next(grant, "5f0c1d2e"))
        => "a hook answered the dialog about {limit}: nothing is granted, nobody is asked any more. {next}";

    /// Nothing shows who answered a dialog.
    yes_by_nobody(limit = "max_cost_usd", next = next(grant, "5f0c1d2e"))
        => "nothing shows that a person answered the dialog about {limit}: nothing is granted, nobody is asked any more. {next}";

    /// A session starts in a repository whose shared hooks name Fusebox, on a machine that has none. Once, by the hooks' own line.
    program_missing()
        => "This repository limits its agents with Fusebox, which is not on your PATH: nothing is limited. \
            Whoever keeps .claude/fusebox.json says where to get it.";

    /// At the end of `fusebox run`: its main agent was stopped.
    run_stopped(
        why = "tool calls 200/200 (max_turns, project)", next = "`fusebox run -- claude -p --resume 5f0c1d2e-8d33-4c1a-9a1e-2b7f0c6d1e55 'go on'`"
    )
        => "stopped: {why}; the work is partial. {next}";

    /// At the end of `fusebox run`: a cap of its team has stopped its main agent, or its store was not heard.
    run_stopped_by_team(
        why = "bob's cap of the day in team core is used up, 5.00/5.00 USD; \
            it resets at 2026-11-29 00:00 UTC, ask ann@core: `fusebox team grant bob +2.50 --period day`"
    ) => "stopped: {why}";

    /// At the end of `fusebox run`: its prompt was not sent, for a cap of its team, or since its store was not heard.
    run_blocked_by_team(
        why = "bob's cap of the day in team core is used up, 5.00/5.00 USD; \
            it resets at 2026-11-29 00:00 UTC, ask ann@core: `fusebox team grant bob +2.50 --period day`"
    ) => "the prompt was blocked: {why}";

    /// Beside either: how its work goes on.
    run_goes_on(how = "`fusebox run -- claude -p --resume 5f0c1d2e-8d33-4c1a-9a1e-2b7f0c6d1e55 'go on'`")
        => "once that has passed: {how}";

    /// At the end of `fusebox run`: its team's store was not reached, and the policy lets work go on without it.
    run_unbound(team = "core")
        => "the store of team {team} was not reached: work went on without its cap, as `on_stale` says";

    /// At the end of `fusebox run`: its main agent was paused.
    run_paused(
        why = "cost of the session 9.70/10.00 USD (max_cost_usd, user)",
        next = "`fusebox resume 5f0c1d2e`, then `fusebox run -- claude -p --resume 5f0c1d2e-8d33-4c1a-9a1e-2b7f0c6d1e55 'go on'`"
    ) => "paused: {why}; its work is kept. {next}";

    /// At the end of `fusebox run`: where the limit stands that stopped its main agent.
    run_cap(key = "session.max_cost_usd", place = "in ~/.claude/fusebox.json") => "that limit is `{key}` {place}";

    /// While `fusebox run` waits for its client: a pause holds an agent of it (`pause_wait_ms`). Once for each pause.
    run_held(
        who = "developer", most = "10 min", why = "tool calls 25/25 (max_turns, project)",
        next = NextStep::Resume { id: "a1b2c3d4".to_owned() }
    ) => "{who} is held for {most} at most: {why}. {next}";

    /// At the end of `fusebox run`: its prompt was not sent.
    run_blocked(
        why = "cost of the session 10.20/10.00 USD (max_cost_usd, user)",
        next = "`fusebox grant 5f0c1d2e max_cost_usd=+12.50`, then again with `--resume 5f0c1d2e-8d33-4c1a-9a1e-2b7f0c6d1e55`"
    )
        => "the prompt was blocked: {why}. {next}";

    /// At the end of `fusebox run`: its prompt was not sent, and the client has printed why.
    run_blocked_said(session = "5f0c1d2e-8d33-4c1a-9a1e-2b7f0c6d1e55")
        => "nothing was done for the prompt: exit code 3. Once it may be sent, run it again with `--resume {session}`";

    /// At the end of `fusebox run`: one of its subagents was stopped or paused, and the main agent went on.
    run_subagent(agent = "developer", status = "stopped", why = "tool calls 25/25 (max_turns, project)", next = next(explain, "a1b2c3d4"))
        => "a subagent was {status}: {agent}: {why}. {next}";

    /// At the end of `fusebox run`: a limit on subagents has refused a call that would have started one.
    run_agent_refused(figures = "max_subagents 40/40", next = next(explain, "5f0c1d2e"))
        => "a subagent was not let start: {figures}. {next}";

    /// At the end of `fusebox run`: a client that an agent of it started was stopped, and the main agent could go on.
    run_below(did = "stopped", why = "tool calls 25/25 (max_turns, project)", next = next(explain, "a1b2c3d4"))
        => "a client that an agent started was {did}: {why}. {next}";

    /// At the end of `fusebox run`: a client that an agent of it started works with other settings, and did nothing.
    run_below_refused(harm = "would take Fusebox's hooks away", next = next(explain, "a1b2c3d4"))
        => "a client that an agent started was refused, since its settings {harm}. {next}";

    /// At the end of `fusebox run`: clients that its agents started asked no hook.
    run_silent(clients = "2 clients", next = next(explain, "5f0c1d2e"))
        => "its agents started {clients} not known here: nothing of it was counted or limited. {next}";

    /// `fusebox run --strict` does not start the client: a limit that is not read would not hold.
    run_not_begun() => "the command was not started: with `--strict` the configuration has to be right.";

    /// The client of `fusebox run` writes down nothing of what it spends.
    run_estimated() => "cost and tokens are estimates, and may be far below what was spent: the client keeps no transcript.";

    /// At the end of `fusebox run`: an agent has reached a limit that only warns, or would have passed it with its next request.
    run_warned(who = "developer (a1b2c3d4)", figures = "max_turns 25/25") => "{who}: {figures}: this limit only warns, and work went on.";

    /// At the end of `fusebox run`: a person had switched limits off.
    run_limits_off() => "limits were switched off (`fusebox off`)";

    /// At the end of `fusebox run`: the configuration says that nothing blocks.
    run_observed(struck = ": max_turns 25/25 would have struck") => "limits were only observed: nothing was blocked{struck}";

    /// At the end of `fusebox run`: a repository's file says that its limits do not block.
    run_observed_in_part(struck = ": max_turns 25/25 would have struck") => "some limits were only observed{struck}";

    /// At the end of `fusebox run`, and in `fusebox status`: the machine's owner refuses the repository's limits.
    repository_refused() => "the repository's limits are refused: nothing of them holds (`refuse_repositories`)";

    /// At the end of `fusebox run`: a signal was handed on to the client, or ended it.
    run_signal(signal = 15, code = 143) => "signal {signal} ended the client: exit code {code}";

    /// At the end of `fusebox run`: the client says that it failed, and no limit has stopped it.
    run_client_failed(code = 1) => "the client failed by itself with exit code {code}: its own output says why";

    /// At the end of `fusebox run --strict`, where its exit code is 3: why.
    run_strict(causes = "a subagent was stopped or paused; limits were only observed") => "exit code 3: {causes}";

    /// `fusebox run --strict` does not start a client that would run no hook.
    run_no_hooks(next = NextStep::Doctor)
        => "no hook of Fusebox is in force here, so no limit could strike: the client was not started. {next}";

    /// At the end of `fusebox run`: no hook was heard.
    run_unseen(next = NextStep::Doctor)
        => "no hook of this command was heard: nothing was counted, and no limit could strike. {next}";

    /// At the end of `fusebox run`: no hook was heard, and an option of it stands among the client's.
    run_option_behind(option = "--strict", typed = "--strict", program = "claude")
        => "no hook of this command was heard; it got `{option}`, which is an option of `fusebox run`: \
            `fusebox run {typed} -- {program} …`";

    /// At the end of `fusebox run`: the state cannot be read.
    run_unknown(error = "`state.db` cannot be opened", advice = " (set FUSEBOX_HOME to another folder)")
        => "whether a limit stopped it is not known: {error}{advice}";

    /// The state can be neither read nor written, so calls and prompts are refused. An agent reads it, too.
    state_fails(
        cause = "cannot use `/home/you/state/state.db`: it is a folder", advice = " (move it out of the way)"
    ) => "Fusebox: limits cannot be checked, so this is refused while the cause lasts: {cause}{advice}";

    /// A hook does not answer in time, and its call or prompt is refused.
    late_refused(waits = "a transcript or a configuration file")
        => "Fusebox: limits cannot be checked, so this is refused: {waits} did not come in time; it may be tried again";

    /// A hook does not answer in time, at an event that cannot be refused.
    late(waits = "a transcript or a configuration file")
        => "Fusebox: limits cannot be checked: {waits} did not come in time; it may be tried again";

    /// A hook has met a bug of Fusebox's own, or cannot read what it is told, and `on_error` is `deny`.
    error_denied(what = own_bug()) => "Fusebox: {what}; calls are refused because `on_error` is `deny`";

    /// A hook has met a bug of Fusebox's own.
    own_bug() => "Fusebox failed inside; please report it";

    /// An event is not taken: another program than the session's client has sent it.
    event_refused(cause = "a program below process 4711 sent an event of session 0e6f5ab1 that its client did not send")
        => "Fusebox: {cause}";
}
