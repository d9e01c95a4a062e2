//! Clients that a command starts so that the session's hooks do not run in them, or not as here.

use crate::byte_search;
use crate::wire::bypass_detection::diversions;
use crate::wire::bypass_detection::lies::{fits, is_pattern};
use crate::wire::bypass_detection::runner_variables::{self, CLEARED, diverting};
use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::{program_name, substituted};

/// Options of the client that leave out hooks, beside those of the list.
const RESTRICTED: &str = "--restricted";

/// Options that only show something.
const SHOWS: [&str; 4] = ["--help", "-h", "--version", "-v"];

/// The client's commands that start no agent, where they are its first argument and no option asks for an answer in print.
const HARMLESS: [&str; 15] = [
    "attach",
    "auth",
    "auto-mode",
    "doctor",
    "gateway",
    "install",
    "kill",
    "logs",
    "mcp",
    "plugin",
    "plugins",
    "setup-token",
    "stop",
    "update",
    "upgrade",
];

/// Commands below those that ask the model where no hook is told, and what they do.
const ASKING: [(&str, &str, &str); 4] = [
    ("plugin", "eval", UNHOOKED),
    ("plugins", "eval", UNHOOKED),
    ("auto-mode", "critique", UNTOLD),
    ("mcp", "serve", UNTOLD),
];

/// The oldest version of the client that is known to run the hooks.
pub const OLDEST_CLIENT: [u32; 3] = [2, 1, 214];

/// Prompts that the client answers by asking the model before any hook is told.
const UNTOLD_PROMPTS: [&str; 2] = ["/model", "/rename"];

/// Commands below `plugin` that switch off, remove or replace a plugin: with it go its hooks.
const TAKES_PLUGINS: [&str; 6] = ["disable", "uninstall", "remove", "rm", "update", "marketplace"];
/// Commands below `plugin marketplace` that leave its plugins as they are.
const KEEPS_PLUGINS: [&str; 2] = ["add", "list"];
/// The words that add a plugin, or a marketplace of some.
const ADDS_PLUGINS: [&str; 5] = ["install", "i", "enable", "add", "update"];

/// What a client's daemon is told that starts nothing.
const ENDS_DAEMON: [&str; 6] = ["status", "logs", "stop", "uninstall", "--help", "-h"];

/// Programs that take the first `--` for themselves, wherever it stands.
const TAKE_ENDS: [&str; 5] = ["npm", "pnpm", "yarn", "nix", "start-stop-daemon"];

/// How the path of a process's program ends.
pub(super) const RUNNING: &str = "/exe";

/// How many words are looked at for a command.
const MOST_BEFORE: usize = 64;

/// The name of our plugin, and of the marketplace that it comes from.
const PLUGIN: &str = "fusebox";
const SWITCHED: &str = "switches hooks off";
const UNHOOKED: &str = "has clients start without these hooks";
const UNPLUGGED: &str = "takes away or replaces the plugin that these hooks are in";
const UNTOLD: &str = "asks the model where no hook is told";
const OLDER: &str = "may be too old to run these hooks";
const ELSEWHERE: &str = "has agents work on another machine";
const DAEMON: &str = "starts sessions below no client";

/// Says how a client is started, where its hooks would not be the session's; `diverted` is a variable that the shell has set.
pub(super) fn unhooked(
    it: &Invocation,
    diverted: Option<&(String, &'static str)>,
    names_switch: bool,
) -> Option<String> {
    let args = client_args(it)?;
    let told = |(how, does): (String, &str)| format!("a client with `{how}`, which {does}");
    if shows(&args) {
        return None;
    }
    match args.first() {
        Some(&"daemon") if !starts_daemon(&args) => return None,
        Some(&"ultrareview") if args.iter().any(|arg| SHOWS.contains(arg)) => return None,
        Some(&"ultrareview") => return Some(told(("ultrareview".to_owned(), ELSEWHERE))),
        Some(first @ (&"daemon" | &"respawn")) => return Some(told(((*first).to_owned(), DAEMON))),
        _ => {}
    }
    if let Some(version) = other_version(it.program, &args) {
        return Some(told((version.to_owned(), OLDER)));
    }
    if let Some(prompt) = UNTOLD_PROMPTS.iter().find(|prompt| args.iter().any(|arg| is_prompt(arg, prompt))) {
        return Some(told(((*prompt).to_owned(), UNTOLD)));
    }
    if commands(&args).any(takes_our_plugin) {
        return Some(format!("`claude plugin`, which {UNPLUGGED}"));
    }
    if let Some(asking) = commands(&args).find_map(asking) {
        return Some(told(asking));
    }
    if is_harmless(&args) {
        return None;
    }
    if let Some(option) = by_option(&args, names_switch) {
        return Some(told(option));
    }
    let set = it.variables.iter().find_map(|(name, value)| diverting(name, *value));
    let cleared = it.is_cleared.then(|| ("env -i".to_owned(), CLEARED));
    let set = set.or(cleared).or_else(|| runner_variables::of_runner(it)).or_else(|| diverted.cloned()).map(told);
    set.map(|set| format!("{set}. What is set where a person starts this session's client holds for every client"))
}

/// Whether an argument is a prompt that begins with a command.
fn is_prompt(arg: &str, command: &str) -> bool {
    arg.trim_start().strip_prefix(command).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// Returns the version of the client that a command names, in its package's name or to install it, where none that old was tried.
fn other_version<'a>(program: &'a str, args: &[&'a str]) -> Option<&'a str> {
    let of_package = program.rsplit_once('@').filter(|_| is_package(program)).map(|(_, version)| version);
    let installed = || match args {
        ["install", after @ ..] => after.iter().copied().find(|arg| !arg.starts_with('-')),
        _ => None,
    };
    let numbers = |version: &str| version.split('.').map(|number| number.parse().unwrap_or(0)).collect::<Vec<u32>>();
    of_package.or_else(installed).filter(|version| version.contains('.') && numbers(version)[..] < OLDEST_CLIENT[..])
}

/// Returns a client's arguments from each word on that may be its command: all before it are options and their values.
pub(super) fn commands<'w, 'a>(args: &'w [&'a str]) -> impl Iterator<Item = &'w [&'a str]> {
    let is_option = |at: usize| args[at].starts_with('-');
    let follows_options = move |at: usize| (1..at).all(|at| is_option(at) || is_option(at - 1));
    let may_be = move |at: &usize| !is_option(*at) && (*at == 0 || is_option(0)) && follows_options(*at);
    // No more words are looked at than a person would write before a command.
    (0..args.len().min(MOST_BEFORE)).filter(may_be).map(|at| &args[at..])
}

/// Finds the command below a command's word that asks the model, and what it does.
fn asking(command: &[&str]) -> Option<(String, &'static str)> {
    let (first, after) = command.split_first()?;
    let second = after.iter().find(|arg| !arg.starts_with('-'))?;
    let row = ASKING.iter().find(|row| (row.0, row.1) == (*first, *second))?;
    let shows = after.iter().skip_while(|arg| *arg != second).nth(1).is_some_and(|arg| SHOWS.contains(arg));
    (!shows).then(|| (format!("{first} {second}"), row.2))
}

/// Whether a command of the client switches off, removes or replaces our plugin, by its name or with all others.
fn takes_our_plugin(command: &[&str]) -> bool {
    let Some((&("plugin" | "plugins"), after)) = command.split_first() else { return false };
    let is_one = after.iter().find(|arg| !arg.starts_with('-')).is_some_and(|word| TAKES_PLUGINS.contains(word));
    let is_ours =
        || after.iter().any(|arg| matches!(*arg, "-a" | "--all") || arg.split('@').any(|part| part == PLUGIN));
    is_one && is_ours() && !after.iter().any(|arg| KEEPS_PLUGINS.contains(arg))
}

/// Whether an invocation starts a client with an agent in it.
pub(super) fn starts(it: &Invocation) -> bool {
    client_args(it).is_some_and(|args| has_agent(&args))
}

/// Whether a client that is given these words has an agent in it.
pub fn has_agent(args: &[&str]) -> bool {
    args.first() != Some(&"daemon") && !is_harmless(args)
}

/// Whether a command of the client adds a plugin to those that the next client loads.
pub(super) fn adds_plugins(it: &Invocation) -> bool {
    let args = client_args(it).unwrap_or_default();
    let Some((&("plugin" | "plugins"), after)) = args.split_first() else { return false };
    after.iter().any(|arg| ADDS_PLUGINS.contains(arg))
}

/// Whether `claude daemon` is told to start something.
fn starts_daemon(args: &[&str]) -> bool {
    !args.get(1).is_some_and(|arg| ENDS_DAEMON.contains(arg))
}

/// Whether a client shows its version, or how it is called.
fn shows(args: &[&str]) -> bool {
    first_word(args).is_some_and(|first| SHOWS.contains(&first))
}

/// Whether a client only shows something, or runs a command of its own that starts no agent. Behind an option, and with `-p`, the
/// client takes some of these words for the prompt.
fn is_harmless(args: &[&str]) -> bool {
    shows(args) || (args.first().is_some_and(|first| HARMLESS.contains(first)) && !prints(args))
}

/// Whether a word may ask for an answer in print. What `mcp add` is given behind `--` is a server's.
fn prints(args: &[&str]) -> bool {
    let adds = args.starts_with(&["mcp", "add"]);
    let is_short = |arg: &str| {
        arg.strip_prefix('-')
            .is_some_and(|letters| letters.contains('p') && letters.bytes().all(|letter| letter.is_ascii_alphabetic()))
    };
    args.iter().take_while(|arg| !adds || **arg != "--").any(|arg| *arg == "--print" || is_short(arg))
}

/// Returns the first thing that a client is told, beside options that only leave out hooks.
fn first_word<'a>(args: &[&'a str]) -> Option<&'a str> {
    let leaves_out = |arg: &str| arg == RESTRICTED || diversions::option(arg).is_some_and(|row| !takes_value(row.name));
    args.iter().copied().find(|arg| !leaves_out(arg))
}

/// Returns what a client is given, where the invocation starts one.
pub(super) fn client_args<'a>(it: &Invocation<'a>) -> Option<Vec<&'a str>> {
    let args = || it.args.iter().map(|word| &*word.text);
    if is_client(it.program) || is_running(it.program) {
        let mut args: Vec<&str> = args().collect();
        let ends = it.runners.last().is_some_and(|(runner, _)| TAKE_ENDS.contains(&program_name(runner)));
        if let Some(at) = args.iter().position(|arg| *arg == "--").filter(|_| ends) {
            args.remove(at);
        }
        return Some(args);
    }
    // A runtime with the client's file.
    let is_runtime = ["node", "bun", "deno"].iter().any(|runtime| it.name().eq_ignore_ascii_case(runtime));
    let script = args().position(|arg| !arg.starts_with('-') && arg != "run").filter(|_| is_runtime)?;
    let is_client = |path: &str| {
        path.contains("claude-code/")
            || path.contains("claude-code\\")
            || is_package(path.strip_prefix("npm:").unwrap_or(path))
            || substituted(path).is_some_and(is_client)
    };
    args().nth(script).is_some_and(is_client).then(|| args().skip(script + 1).collect())
}

/// Whether a program is the client: by its name, its package, or the folder that its versions are kept in.
pub(super) fn is_client(program: &str) -> bool {
    let program = substituted(program).unwrap_or(program);
    // Nix names a package behind what it is in.
    let program = program.rsplit_once('#').map_or(program, |(_, package)| package);
    let program = program.strip_prefix('=').unwrap_or(program);
    let name = program_name(program);
    let is_found = is_pattern(name) && !name.starts_with('*') && program.contains('/');
    ["claude", "claude-code", "claude.ps1"].iter().any(|client| name.eq_ignore_ascii_case(client))
        || (is_found && fits(name, "claude"))
        || is_package(program)
        || ["/claude/versions/", "\\claude\\versions\\"].iter().any(|versions| program.contains(versions))
}

/// Whether a word names the client's package, with or without a version.
fn is_package(word: &str) -> bool {
    let version = word.strip_prefix("@anthropic-ai/claude-code");
    version.is_some_and(|version| version.is_empty() || version.starts_with('@'))
}

/// Whether a program is the one that another process runs, as Linux names it: an agent's shell finds its client so.
fn is_running(program: &str) -> bool {
    let process = program.strip_prefix("/proc/").and_then(|rest| rest.strip_suffix(RUNNING));
    process.is_some_and(|process| !matches!(process, "self" | "thread-self" | "$$"))
}

/// Whether the word after an option is its value.
fn takes_value(option: &str) -> bool {
    matches!(
        option,
        "--setting-sources"
            | "--cloud"
            | "--remote"
            | "--environment"
            | "--managed-settings"
            | "--project-config-root"
            | "--plugin-url"
            | "--input-format"
    )
}

/// Finds an option that leaves out hooks, and what it does.
fn by_option(args: &[&str], names_switch: bool) -> Option<(String, &'static str)> {
    let mut args = args.iter().copied().take_while(|arg| *arg != "--").peekable();
    while let Some(arg) = args.next() {
        let (name, value) = arg.split_once('=').map_or((arg, None), |(name, value)| (name, Some(value)));
        let value = value.or_else(|| args.peek().copied());
        if name == "--settings" {
            if let Some(found) = value.and_then(|settings| by_settings(settings, names_switch)) {
                return Some(found);
            }
        } else if name == RESTRICTED {
            return Some((RESTRICTED.to_owned(), UNHOOKED));
        } else if let Some(row) = diversions::option(arg).filter(|_| !keeps_hooks(name, value)) {
            return Some((row.name.to_owned(), row.does));
        }
    }
    None
}

/// Whether an option's value is one that leaves all hooks in force.
fn keeps_hooks(option: &str, value: Option<&str>) -> bool {
    let has = |source: &str| value.is_some_and(|value| value.split(',').any(|named| named.trim() == source));
    match option {
        "--setting-sources" => ["user", "project", "local"].into_iter().all(has),
        "--input-format" => value == Some("text"),
        _ => false,
    }
}

/// Whether a text names a setting that switches or diverts hooks.
pub(super) fn names_switch(text: &str) -> bool {
    diversions::SETTINGS.iter().any(|row| byte_search::find(row.name.as_bytes(), text.as_bytes()).is_some())
}

/// Finds what settings on the command line switch or divert. A file's are taken for what the command's text names beside it.
fn by_settings(settings: &str, names_switch: bool) -> Option<(String, &'static str)> {
    let Ok(settings) = serde_json::from_str::<serde_json::Value>(settings) else {
        return names_switch.then(|| ("--settings".to_owned(), SWITCHED));
    };
    let is_on = |value: &serde_json::Value| !matches!(value, serde_json::Value::Null | serde_json::Value::Bool(false));
    let keys = settings.as_object()?;
    let switch = keys.iter().find_map(|(key, value)| diversions::setting(key).filter(|_| is_on(value)));
    if let Some(row) = switch {
        return Some((row.name.to_owned(), row.does));
    }
    let variables = keys.get("env").and_then(serde_json::Value::as_object)?;
    variables.iter().find_map(|(name, value)| diverting(name, Some(value.as_str().unwrap_or_default())))
}
