//! What people read that is about no limit: settings, files, the state, the client, commands. `Fusebox: ` stands before each; all are logged.

use crate::messages::messages;
use crate::messages::next_step::NextStep;

messages! {
    /// A file of the configuration or of prices was edited while a session runs.
    configuration_edited(next = NextStep::Reload)
        => "the configuration was edited; this session keeps the limits it started with. {next}";

    /// A change of the client's settings would loosen Fusebox's hold. Once for each such change.
    settings_wait(harm = "would take Fusebox's hooks away (PreToolUse, PostToolBatch)", next = NextStep::Reload)
        => "a change of settings {harm}: it waits. Undo it, or if it is yours: {next}";

    /// The settings of the folder that the session has moved to would loosen Fusebox's hold. Once for each such folder and change.
    settings_wait_there(folder = "/p/tree", harm = "would take Fusebox's hooks away", next = NextStep::Reload)
        => "settings in `{folder}`, where this session works now, {harm}: they wait. {next}";

    /// Another change follows while one waits.
    settings_wait_behind(harm = "would take Fusebox's hooks away", next = NextStep::Reload)
        => "this change of settings waits too, behind one that {harm}. {next}";

    /// A client that an agent started reads settings that wait in the agent's session.
    settings_held(harm = "would take Fusebox's hooks away")
        => "no prompt and no call of this client is let through: its settings {harm}.";

    /// A client that an agent started reads settings that wait: told in the session above.
    settings_held_below(harm = "would take Fusebox's hooks away", next = "If that is yours: `fusebox reload` in a terminal of your own takes it up.")
        => "a client that its agent started is held back: the settings there {harm}. {next}";

    /// An event of the session was sent by a program that is not its client.
    event_foreign(what = "process 4711, left behind while the session's client is at work (is it yours? end that client first), sent an event of session 0e6f5ab1 that its client did not send: it was not taken")
        => "{what}.";

    /// A second client has taken the session up while the first is at work. Once.
    session_open_twice(pid = 4711)
        => "this session is open in a second client (process {pid}): what both do counts here. If it is not yours, end it.";

    /// An event of the session could not be read. Once.
    event_unreadable(cause = "the hook's input is no event as the client writes them: EOF while parsing a list")
        => "an event here could not be read: it was not counted, and was let through or refused as `on_error` says. {cause}.";

    /// The settings divert more than those of the last session here did.
    settings_changed(what = "`ANTHROPIC_BASE_URL` in `env` of `.claude/settings.json`, which sends requests elsewhere")
        => "the settings have changed since the last session here: they have {what}.";

    /// A limit on the plan's windows binds a session, and Fusebox is not in the client's status line.
    plan_unheard(limit = "max_five_hour_percent", next = NextStep::StatusLine)
        => "`{limit}` hears nothing of the plan's windows: Fusebox is not in the client's status line. {next}";

    /// The limits of a new session are not those of the one before it here.
    limits_changed(what = ": the repository's were only watched, and block now", next = NextStep::ShowConfiguration)
        => "the limits here have changed since the last session{what}. {next}";

    /// The team's store was not heard for as long as a lease lives, and what is left of the lease is spent.
    team_outlived(store = "the store of team core has not been heard since 2026-11-28 00:58 +01:00")
        => "{store}: what is left of this machine's lease is spent for a while, then work is refused.";

    /// The team's store was not heard for as long as a lease lives, and work goes on.
    team_unbound(store = "the store of team core has not been heard since 2026-11-28 00:58 +01:00")
        => "{store}: work goes on without the team's cap, as `on_stale` says. All that is spent until then can be above the cap.";

    /// The machine has joined a team whose caps do not bind the session that starts.
    team_unnamed(team = "team core", next = NextStep::Doctor)
        => "this machine has joined {team}, and no own file names it: its caps do not bind this session. {next}";

    /// The time zone of budgets is not that of the client before.
    zone_changed(zone = "Europe/Berlin", before = "America/New_York")
        => "the days of budgets begin in the time zone `{zone}`; for the client before it was `{before}`.";

    /// A higher limit in the files lets a stopped session go on.
    outgrown(limit = "max_cost_usd") => "{limit} was raised since it stopped this session; the work may go on.";

    /// A mistake in a configuration file, at the start of a session.
    mistake(problem = "`agents.developer.max_turns: \"many\"` in `.claude/fusebox.json` (project) is ignored: it must be a whole number from 1 to 1000000 or `null`")
        => "{problem}";

    /// Mistakes in the configuration beside those that were told.
    more_mistakes(more = 6, which = "`session.max_turnz` (project), `agents.*.max_turns` (project-local) and others", next = NextStep::CheckConfiguration)
        => "{more} more mistakes are in the configuration: {which}. {next}";

    /// Caps of a repository's file are looser than a person's own or the managed one's. Once, and again where the limits have changed.
    caps_give_way(which = "`session.max_cost_usd`", says = "gives way to a stricter value, which stands", next = NextStep::ShowConfiguration)
        => "this repository's {which} {says}. {next}";

    /// A person's own prices are below the list's, and a cap on cost holds that is not the person's own.
    prices_held(models = "`claude-opus-5-5`", file = "fusebox.pricing.json")
        => "caps on cost that are not your own hold here: the prices of {models} in `{file}` count no lower than the list's.";

    /// A hook changed a call into one that is refused.
    call_changed(what = "it edits `.claude/fusebox.json`", next = NextStep::Reload)
        => "a hook changed a call into one that is refused ({what}): commands and writes are refused. Look at the hooks; {next}";

    /// A mod was put where the next client loads it.
    mod_found(path = "/home/you/shop/.claude/mods/fast")
        => "a mod was put into `{path}`; the next client loads it, and a mod can overrule every hook.";

    /// A folder has more entries than are searched for mods.
    mods_unsearched(folder = "/home/you/shop/.claude/mods")
        => "`{folder}` has too many entries to search all of them for mods, which can overrule every hook.";

    /// The project's log cannot be written.
    log_diverted(log = "/home/you/shop/.claude/logs", cause = "Permission denied (os error 13)")
        => "the log goes to the state folder, since `{log}` cannot be written: {cause}.";

    /// More notices come at once than are shown.
    more_notices(count = 12, next = NextStep::Log) => "there are {count} more remarks like these. {next}";

    /// A client starts with hooks of Fusebox and does not wait for the one at calls: another file has it `async`, or its `timeout` is short.
    calls_not_waited_for(next = NextStep::Doctor)
        => "the client does not wait for Fusebox's hook at tool calls here: no call can be refused. {next}";

    /// A call ends that no hook was asked about.
    calls_unasked(calls = "3 tool calls", agent = "developer", next = NextStep::FailClosed)
        => "{calls} of {agent} went by without Fusebox being asked: its hooks were ended, failed or took too long. They are counted. {next}";

    /// Facts in the state are not believed, since Fusebox has not written them so.
    facts_altered(what = "`trust:/home/you/shop` (trust in a repository)")
        => "another program (or an earlier Fusebox) has written {what} into the state: it is not believed. `fusebox doctor` says what to do.";

    /// Responses in the state are not as they were charged, and are restored by the session's counters.
    charges_restored(session = "5f0c1d2e", cost = "2.3500 USD")
        => "another program has changed or deleted what session {session} was charged in the state: {cost} of it is restored.";

    /// The database was damaged, or of an early version: a new one is begun.
    state_set_aside(aside = "state.db.damaged-20261123-014512")
        => "the state cannot be read, and is kept aside as {aside}. Lost: grants, trust, stops, and what is off. What sessions spent is counted again.";

    /// Sessions that a lost state knew were counted by their transcripts.
    sessions_recounted(sessions = "12 sessions", cost = "2.3500 USD")
        => "the state lacked {sessions} that Fusebox has watched: counted again from transcripts ({cost}), in caps of the day, week and month.";

    /// Facts that Fusebox has written into the state are gone.
    facts_deleted()
        => "another program has deleted facts from the state. What was to be told of a change since the last session may not be told.";

    /// A session is met in the middle of its work, and the transcript is empty.
    beginning_unknown()
        => "the state knows nothing of how this session began, and neither does the transcript: what it used before cannot be counted.";

    /// A session that the state does not know has been at work: its transcript is counted.
    counted_anew(work = "41 tool calls", cost = "2.3500 USD", why = "Fusebox has watched it before, so its state was deleted")
        => "this session is not in the state; its transcript's {work} ({cost}) were counted anew. {why}; grants are lost.";

    /// The state of a session was deleted while it ran, and a file of limits was changed since it began.
    limits_held(path = "/home/you/.claude/fusebox.json", next = NextStep::Reload)
        => "the state was deleted while this session ran, and `{path}` was changed: nothing runs until you look. {next}";

    /// The state of a session was deleted while it ran; the files of limits are as they were, or gone.
    limits_read_again(next = NextStep::ShowConfiguration)
        => "its limits went with the state, and are those of the files as they are now. {next}";

    /// Another program has changed what the state has of a session.
    counted_again(
        cause = "another program has changed the rows of session 5f0c1d2e in the state", calls = "41 tool calls", cost = "2.3500 USD"
    ) => "{cause}. It is counted again from its transcripts: {calls}, {cost}. Grants and orders of a person are lost.";

    /// A session was at work while Fusebox was not installed.
    spent_before(how = "began before Fusebox was installed", cost = "2.3500 USD and 41 tool calls")
        => "this session {how}: {cost} of that time count in budgets of days, and toward no limit of the session.";

    /// A client names a session as its origin without being below its process.
    session_outside(session = "5f0c1d2e")
        => "session {session} runs outside of its process tree and names it as its origin, so it is charged to it and bound by it";

    /// The client's own total is well above what was counted.
    client_total_higher(counted = "2.3500 USD", client = "3.9000 USD")
        => "{counted} were counted in this session, and the client's own total is {client}: responses are missing in the transcript.";

    /// An agent leaves more commands in the background than are kept track of.
    command_ended(commands = 64, command = "npm run watch -- --filter shop")
        => "a shell command was ended, since its agent has {commands} others in the background: {command}";

    /// Clients asked the model in the session's folder during a turn, and no hook has told of them. Once for each.
    clients_unwatched(clients = "2 clients", session = "0e6f5ab1-77c2-4d0a-9f51-4c2f3f3a9f10", next = NextStep::Doctor)
        => "{clients} worked here without asking Fusebox, so nothing of it was counted or limited: session {session}. {next}";

    /// A client that a command of the session has started ran without that one of its hooks told of it. Once for each folder of files.
    client_silent(process = 48213, files = "~/work/shop/other/.claude", next = NextStep::Doctor)
        => "a client that this session started is not known here, so nothing here limits it: process {process}, files in {files}. {next}";

    /// More transcripts of clients that no hook has told of changed in the session's folder during a turn than are read. Once.
    transcripts_unread(next = NextStep::Doctor)
        => "too many transcripts of clients that do not ask Fusebox changed here to look at each: what they spent is not counted. {next}";

    /// A client goes on past a limit on a way that asks no hook: it was ended.
    client_ended(what = "model requests 5/5 (max_requests, project)", next = NextStep::Status { id: "5f0c1d2e".to_owned() })
        => "the client was ended: {what}, and what it does goes on without asking a hook. {next}";

    /// A client goes on without hooks: its settings changed between Fusebox's answer and its own look at them. It was ended.
    client_without_hooks_ended(next = NextStep::Status { id: "5f0c1d2e".to_owned() })
        => "the client was ended: its settings were changed while it read them, and it went on without hooks. {next}";

    /// A mod lies where the client loads it from into the session at work: the client was ended before.
    client_ended_for_mod(path = "/home/you/.claude/dev-mods/5f0c1d2e-0000/free", next = NextStep::Status { id: "5f0c1d2e".to_owned() })
        => "the client was ended: it would load a mod, `{path}`. {next}";

    /// A client goes on without hooks in a session that is only watched, or of a client that could not be ended.
    client_without_hooks(next = NextStep::Status { id: "5f0c1d2e".to_owned() })
        => "the client goes on without hooks: its settings were changed while it read them. Nothing of it is counted. {next}";

    /// A client that an agent started goes on past a limit on a way that asks no hook, and was ended: told in the session of that agent.
    client_below_ended(what = "model requests 5/5 (max_requests, project)", next = NextStep::Status { id: "5f0c1d2e".to_owned() })
        => "a client that its agent started was ended: {what}, and no hook is asked there. {next}";

    /// Responses are in no transcript.
    responses_missing(path = "/home/you/.claude/projects/-home-you-shop/5f0c1d2e-0000.jsonl", cost = "0.0058 USD", tokens = 1030)
        => "responses are missing in the transcript, each estimated at {cost} and {tokens} tokens until it is there: `{path}`";

    /// Responses in the transcript say less than they can have used.
    responses_doubted(path = "/home/you/.claude/projects/-home-you-shop/5f0c1d2e-0000.jsonl", cost = "0.0058 USD", tokens = 1030)
        => "responses in `{path}` say less than they can have used: estimated at {cost} and {tokens} tokens each.";

    /// A row of a transcript says what cannot be.
    row_doubted(doubt = "response `msg_01` has a token count that shrank: the larger one holds (in 5f0c1d2e-0000.jsonl)") => "{doubt}";

    /// A transcript cannot be read.
    transcript_unreadable(path = "/home/you/.claude/projects/-home-you-shop/5f0c1d2e-0000.jsonl", cause = "Permission denied (os error 13)")
        => "the transcript `{path}` cannot be read ({cause}): cost and tokens are estimates.";

    /// A response is called free.
    response_free() => "a response is called free in the transcript although the model gave it; it is charged as an average one.";

    /// A model has no price.
    model_unknown(model = "claude-never-heard-of-9", price = "the price of claude-opus-5-5")
        => "the model `{model}` has no known price; it is charged at {price}. `fusebox.pricing.json` can name one.";

    /// A shell command speaks to the model itself. Once a session.
    model_asked_by_shell()
        => "a shell command names the model's API or its key: what it asks for there is in no transcript, and not counted.";

    /// The command that checks an agent's work failed.
    completion_failed(command = "./check-done", why = "it ended with exit code 127: not found")
        => "the completion command `{command}` failed, so the end was not judged: {why}";

    /// A person raised a limit.
    granted(by = "somebody at the terminal pts/3", limit = "max_cost_usd", who = "session 5f0c1d2e", before = "10.00 USD", after = "15.00 USD")
        => "{by} raised {limit} of {who} from {before} to {after}.";

    /// A person raised a budget over sessions.
    granted_budget(by = "somebody at the terminal pts/3", what = "max_cost_usd_per_day of the user: 25.00 USD -> 30.00 USD") => "{by} granted {what}.";

    /// A person let work go on.
    resumed(by = "somebody at the terminal pts/3", who = "session 5f0c1d2e") => "{by} resumed {who}.";

    /// A limit would have stopped the resumed work at once.
    raised_with_resume(limit = "max_cost_usd", before = "10.00 USD", after = "15.00 USD")
        => "with that, {limit} was raised from {before} to {after}.";

    /// A call was refused that would have started an agent, or woken one. Once a run and limit.
    start_refused(
        who = "the main agent", what = "subagents at once", used = 1, cap = 1, limit = "max_parallel_subagents", layer = "user"
    ) => "{who} may start no other agent now, and goes on without it: {what} {used}/{cap} ({limit}, {layer}).";

    /// A person set counters to zero.
    reset(by = "somebody at the terminal pts/3", who = "session 5f0c1d2e") => "{by} set the counters of {who} to zero.";

    /// A person switched the limits of a session off.
    switched_off(by = "somebody at the terminal pts/3", whose = "this session", until = "until 2026-11-20 15:00", stays = "the caps of team core stay, and ")
        => "{by} switched the limits of {whose} off {until}; {stays}all that is spent counts.";

    /// A person switched the limits of a session on again.
    switched_on(by = "somebody at the terminal pts/3", whose = "this session")
        => "{by} switched the limits of {whose} on again.";

    /// A client takes up a session whose limits a person has switched off.
    off_here() => "`fusebox off` has switched the limits of this session off; `fusebox on` switches them on";

    /// A session begins in a repository whose limits a person has switched off.
    off_in_repository() => "`fusebox off` has switched the limits of this repository off; `fusebox on` switches them on";

    /// The time is over for which a person had switched limits off. Once.
    on_again() => "the limits are on again: the time is over for which a person had switched them off.";

    /// A person reloaded the configuration, and limits have changed.
    reloaded(by = "somebody at the terminal pts/3") => "{by} reloaded the configuration; the limits are now those of the files, and what was granted stays.";

    /// A person reloaded the configuration, and no limit has changed.
    reloaded_same(by = "somebody at the terminal pts/3") => "{by} reloaded the configuration; the limits are the same as before.";

    /// A person took the hooks out of the settings while the session runs.
    uninstalled(by = "somebody at the terminal pts/3")
        => "{by} ran `fusebox uninstall`: this session keeps its limits until it ends; `fusebox reload` lets it go now.";

    /// A person trusts a repository, or no longer does.
    trusted(by = "somebody at the terminal pts/3", whose = "this repository", verb = "trusted", next = NextStep::Reload)
        => "{by} said that {whose} is {verb}; that counts from the next client on. {next}";
}
