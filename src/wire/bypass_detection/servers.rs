//! The MCP servers that a command has a client start: behind `claude mcp add NAME --`, in `claude mcp add-json` and in `--mcp-config`.

use std::borrow::Cow;

use serde_json::Value;

use crate::wire::bypass_detection::{Guard, Walk, client_starts, clients};
use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::{Simple, Word};

/// The key that servers stand under.
const SERVERS: &str = "mcpServers";

/// The option that names servers, as JSON or in files.
const CONFIG: &str = "--mcp-config";

/// The options with JSON in which servers can stand.
const OPTIONS: [&str; 2] = [CONFIG, "--agents"];

/// The options of `claude mcp add` with one value, and those that take all words up to the next option.
const VALUED: [&str; 7] =
    ["-s", "--scope", "-t", "--transport", "--client-id", "--callback-port", "--client-metadata-url"];
const VARIADIC: [&str; 4] = ["-e", "--env", "-H", "--header"];

/// What a server is that starts a client.
const OF_A_CLIENT: &str = "an MCP server that starts a client with an agent in it, which nothing would count here: what a server is started \
     with does not name this session. Start that client in a call of its own";

/// The most words that a server is started with which are looked at.
const MOST_WORDS: usize = 1_000;

impl Guard {
    /// Says what the servers in a file do that is refused, where a client in a folder starts them.
    pub fn servers_in(&self, folder: &str, text: &str) -> Option<String> {
        let mut walk = Walk::new(self, text);
        walk.scope.folder = Some(folder.to_owned());
        let texts = [text.trim_start_matches('\u{feff}')];
        walk.started(texts.into_iter().map(in_options), 0)
    }
}

impl Walk<'_> {
    /// Says what the servers do that is refused which these clients are told to start; `said` is what they read.
    pub(super) fn servers(
        &mut self,
        simple: &Simple,
        found: &[Invocation],
        said: &[String],
        depth: usize,
    ) -> Option<String> {
        found.iter().find_map(|it| {
            let args = clients::client_args(it)?;
            let scope = self.scope.clone();
            self.scope.folder = self.led(it);
            let read = || simple.input.iter().map(|text| &**text).chain(said.iter().map(String::as_str));
            let added = clients::commands(&args).flat_map(|command| added(command, &read().collect::<Vec<_>>()));
            let streamed = configs(&args).into_iter().any(|word| !client_starts::is_file(word));
            let texts = valued(&args, &OPTIONS).into_iter().filter(|word| client_starts::is_json(word));
            let texts = texts.chain(read().filter(|_| streamed)).map(in_options);
            let refused = self.started(added.chain(texts).collect::<Vec<_>>().into_iter(), depth);
            self.scope = scope;
            refused
        })
    }

    /// Whether a program is what a server starts and may: the client as a server, as `claude mcp serve`.
    pub(super) fn is_let_serve(&self, it: &Invocation) -> bool {
        let serves = |args: Vec<&str>| args.starts_with(&["mcp", "serve"]);
        self.is_server && !clients::starts(it) && clients::client_args(it).is_some_and(serves)
    }

    /// Says what a server is that starts this program.
    pub(super) fn as_server(&self, it: &Invocation) -> Option<String> {
        (self.is_server && clients::starts(it)).then(|| OF_A_CLIENT.to_owned())
    }

    /// Goes through servers as they are started.
    fn started(&mut self, mut found: impl Iterator<Item = Servers>, depth: usize) -> Option<String> {
        found.find_map(|servers| match servers {
            Servers::Unread => Some(OF_A_CLIENT.to_owned()),
            Servers::Known(servers) => servers.iter().find_map(|server| {
                let scope = self.scope.clone();
                let outer = std::mem::replace(&mut self.is_server, true);
                let refused = self.simple(server, depth + 1);
                self.is_server = outer;
                self.scope = scope;
                refused
            }),
        })
    }
}

/// Servers as commands that run.
enum Servers {
    Known(Vec<Simple<'static>>),
    /// A text that is no JSON and names the client.
    Unread,
}

/// Returns the files of servers that a client is told to read.
pub(super) fn configs<'a>(args: &[&'a str]) -> Vec<&'a str> {
    valued(args, &[CONFIG]).into_iter().filter(|word| !client_starts::is_json(word)).collect()
}

/// Returns the values of options: all words up to the next option.
fn valued<'a>(args: &[&'a str], options: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut takes = false;
    for arg in args.iter().take_while(|arg| **arg != "--") {
        if let Some((name, value)) = arg.split_once('=').filter(|(name, _)| options.contains(name)) {
            takes = name == CONFIG;
            found.push(value);
        } else if arg.starts_with('-') && arg.len() > 1 {
            takes = options.contains(arg);
        } else if takes {
            found.push(*arg);
        }
    }
    found
}

/// Returns the servers that a command of the client adds.
fn added(command: &[&str], read: &[&str]) -> Vec<Servers> {
    let (verb, args) = match command {
        ["mcp", verb @ ("add" | "add-json"), args @ ..] => (*verb, args),
        _ => return Vec::new(),
    };
    let Operands { words, variables } = operands(args);
    match words.get(1..) {
        Some(["-", ..]) if verb == "add-json" => read.iter().map(|text| of_json(text, of_server)).collect(),
        Some([text, ..]) if verb == "add-json" => vec![of_json(text, of_server)],
        Some(server @ [_, ..]) => {
            vec![Servers::Known(vec![command_of(server.iter().copied(), variables.iter().copied())])]
        }
        _ => Vec::new(),
    }
}

/// The words of `claude mcp add` beside its options, and the variables that these set.
struct Operands<'a> {
    words: Vec<&'a str>,
    variables: Vec<&'a str>,
}

fn operands<'a>(args: &[&'a str]) -> Operands<'a> {
    let mut found = Operands { words: Vec::new(), variables: Vec::new() };
    let mut args = args.iter().copied();
    let mut option = "";
    while let Some(arg) = args.next() {
        let (name, value) = arg.split_once('=').map_or((arg, None), |(name, value)| (name, Some(value)));
        if arg == "--" {
            found.words.extend(args);
            break;
        } else if VARIADIC.contains(&name) {
            found.variables.extend(value);
            option = name;
        } else if VALUED.contains(&arg) {
            args.next();
            option = "";
        } else if arg.starts_with('-') && arg.len() > 1 {
            // `-eNAME=value`
            found.variables.extend(arg.strip_prefix("-e"));
            option = "";
        } else if !option.is_empty() && (arg.contains('=') || arg.contains(':')) {
            found.variables.push(arg);
        } else {
            option = "";
            found.words.push(arg);
        }
    }
    found
}

/// Returns the servers in the value of an option, or in a file of such.
fn in_options(text: &str) -> Servers {
    of_json(text, |value| {
        let mut found = Vec::new();
        below(value, &mut found);
        found
    })
}

fn of_json(text: &str, read: impl Fn(&Value) -> Vec<Simple<'static>>) -> Servers {
    match serde_json::from_str(text) {
        Ok(value) => Servers::Known(read(&value)),
        Err(_) if text.to_ascii_lowercase().contains("claude") => Servers::Unread,
        Err(_) => Servers::Known(Vec::new()),
    }
}

/// Finds the servers in a value, wherever they stand.
fn below(value: &Value, found: &mut Vec<Simple<'static>>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                if key == SERVERS { under(value, found) } else { below(value, found) }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| below(value, found)),
        _ => {}
    }
}

/// Takes all servers under their key: by their names, or in a list of such.
fn under(value: &Value, found: &mut Vec<Simple<'static>>) {
    let values: Vec<&Value> = match value {
        Value::Object(members) => members.values().collect(),
        Value::Array(values) => values.iter().collect(),
        _ => return,
    };
    for value in values {
        let servers = of_server(value);
        if servers.is_empty() {
            under(value, found);
        } else {
            found.extend(servers);
        }
    }
}

/// Returns what a server runs.
fn of_server(value: &Value) -> Vec<Simple<'static>> {
    let Some(program) = value.get("command").and_then(Value::as_str) else { return Vec::new() };
    let args = value.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let words: Vec<String> = [program].into_iter().chain(args).take(MOST_WORDS).map(filled_in).collect();
    let set = value.get("env").and_then(Value::as_object).into_iter().flatten();
    let set: Vec<String> = set.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default())).collect();
    vec![command_of(words.iter().map(String::as_str), set.iter().map(String::as_str))]
}

/// Puts the words that a variable stands for where it is not set into their place, as the client does: `${NAME:-word}`.
fn filled_in(text: &str) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, variable)) = rest.split_once("${") {
        filled.push_str(before);
        let Some((inner, after)) = variable.split_once('}') else {
            rest = &rest[before.len()..];
            break;
        };
        match inner.split_once(":-") {
            Some((_, word)) => filled.push_str(word),
            None => filled.push_str(&format!("${{{inner}}}")),
        }
        rest = after;
    }
    filled.push_str(rest);
    filled
}

/// Makes a command of words.
fn command_of<'a>(words: impl Iterator<Item = &'a str>, set: impl Iterator<Item = &'a str>) -> Simple<'static> {
    let word = |text: &str| Word { text: Cow::Owned(text.to_owned()), ..Word::default() };
    Simple {
        words: words.take(MOST_WORDS).map(word).collect(),
        assignments: set.take(MOST_WORDS).map(word).collect(),
        // It runs where the client does.
        follows: true,
        ..Simple::default()
    }
}
