//! What switches hooks off, leads them astray, or hides requests and prices from them: variables, settings and options of the
//! client. Every guard reads this one list.

use crate::wire::bypass_detection::node_options;

/// What a row acts upon. It decides who has to care: a static program that is named by its path looks nothing up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reach {
    /// Every handler, whatever its form.
    Hooks,
    /// Every handler by what it is told of its client. A client that starts sets these variables itself.
    Facts,
    /// What a shell finds: handlers in shell form, and programs that are not named by path.
    Lookups,
    /// What the dynamic loader finds, for programs that are not static: clients, too.
    Libraries,
    /// Code that is put into such a program at its start.
    Code,
    /// The client's requests: where they go, what is written down of them, how many there are. No handler is touched.
    Requests,
    /// A client at its start only: these hooks do not run in it, or not as here. The client at work is not touched.
    Starts,
}

/// One variable, setting or option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diversion {
    /// Its name; one `*` stands for any text.
    pub name: &'static str,
    /// What it acts upon.
    pub reach: Reach,
    /// What it does, to follow "it ".
    pub does: &'static str,
}

const fn row(name: &'static str, reach: Reach, does: &'static str) -> Diversion {
    Diversion { name, reach, does }
}

const STATE: &str = "leads hooks to another state";
const FILES: &str = "leads hooks and clients to other files";
const OF_CLIENT: &str = "tells hooks of another client or session";
const SHELL: &str = "changes what a shell runs";
const LIBRARIES: &str = "changes which libraries a program loads";
const INJECTS: &str = "puts code into programs that start";
const LOADER: &str = "has programs that start list what they load, or write between their answers";
const UNHOOKED: &str = "has clients start without these hooks";
const WRAPS: &str = "has sessions in the background start through another program";
const LOADS: &str = "has clients load plugins, which can answer for every hook";
const SERVER: &str = "sends model requests to another server, where what they cost can be changed";
const PROXY: &str = "sends model requests through a proxy, which can change what they cost";
const PAST_PROXY: &str = "changes which requests go through a proxy";
const ACCOUNT: &str = "changes the account, and with it the server, of model requests";
const TRUSTS: &str = "lets another server pass for the model's, which can change what requests cost";
const SHOWS: &str = "changes what the client shows of itself to the model's server";
const PROVIDER: &str = "changes the provider of the model, and with it the prices";
const UNSHOWN: &str = "asks for requests that no transcript shows";
const UNWRITTEN: &str = "keeps requests out of the transcript";
const GIVES_UP: &str = "has the client give up requests before they are answered, and ask again";
/// The shortest wait for an answer, in milliseconds, that is taken for a person's. The client's own is ten minutes for a request.
const SHORTEST_WAIT_MS: u64 = 60_000;

/// Variables of the environment.
pub const VARIABLES: &[Diversion] = &[
    row("FUSEBOX_*", Reach::Hooks, STATE),
    row("XDG_STATE_HOME", Reach::Hooks, STATE),
    row("LOCALAPPDATA", Reach::Hooks, STATE),
    row("HOME", Reach::Hooks, FILES),
    row("USERPROFILE", Reach::Hooks, FILES),
    row("CLAUDE_CONFIG_DIR", Reach::Hooks, FILES),
    row("RUST_MIN_STACK", Reach::Hooks, "takes the memory that a hook needs"),
    row("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", Reach::Hooks, "ends hooks before they answer"),
    row("CLAUDE_PID", Reach::Facts, OF_CLIENT),
    row("CLAUDECODE", Reach::Facts, OF_CLIENT),
    row("CLAUDE_PROJECT_DIR", Reach::Facts, OF_CLIENT),
    row("CLAUDE_CODE_SESSION_ID", Reach::Facts, OF_CLIENT),
    row("CLAUDE_CODE_SESSION_ATTENDED", Reach::Facts, OF_CLIENT),
    row("CLAUDE_CODE_ENTRYPOINT", Reach::Facts, OF_CLIENT),
    row("CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS", Reach::Facts, OF_CLIENT),
    row("PATH", Reach::Lookups, "changes which programs are found"),
    row("CLAUDE_CODE_SHELL_PREFIX", Reach::Lookups, "puts a command before hooks in shell form"),
    row("CLAUDE_CODE_SHELL", Reach::Lookups, SHELL),
    row("CLAUDE_CODE_SHELL_LAUNCHER_SCRIPT", Reach::Lookups, SHELL),
    row("CLAUDE_CODE_GIT_BASH_PATH", Reach::Lookups, SHELL),
    row("SHELL", Reach::Lookups, SHELL),
    row("BASH_ENV", Reach::Lookups, SHELL),
    row("ENV", Reach::Lookups, SHELL),
    row("BASH_FUNC_*", Reach::Lookups, SHELL),
    row("SHELLOPTS", Reach::Lookups, SHELL),
    row("BASHOPTS", Reach::Lookups, SHELL),
    row("LD_LIBRARY_PATH", Reach::Libraries, LIBRARIES),
    row("DYLD_*_PATH", Reach::Libraries, LIBRARIES),
    row("LD_PRELOAD", Reach::Code, INJECTS),
    row("LD_AUDIT", Reach::Code, INJECTS),
    row("DYLD_INSERT_LIBRARIES", Reach::Code, INJECTS),
    row("GLIBC_TUNABLES", Reach::Code, INJECTS),
    row("LD_*", Reach::Code, LOADER),
    row("DYLD_*", Reach::Code, LOADER),
    row("MALLOC_*", Reach::Code, "changes what memory a program that starts gets"),
    row("NODE_OPTIONS", Reach::Starts, "has programs load code or listen to a debugger when they start"),
    row("BUN_*", Reach::Starts, "changes what the client's runtime loads when it starts"),
    row("CLAUDE_CODE_SAFE_MODE", Reach::Starts, UNHOOKED),
    row("CLAUDE_CODE_SIMPLE", Reach::Starts, UNHOOKED),
    row("CLAUDE_CODE_RESTRICTED", Reach::Starts, UNHOOKED),
    row("CLAUDE_CODE_RESTRICT_PERSONAL_CONFIG", Reach::Starts, UNHOOKED),
    row("CLAUDE_CODE_PERSONAL_*", Reach::Starts, UNHOOKED),
    row("CLAUDE_CODE_IGNORE_PERSISTED_TRUST", Reach::Starts, UNHOOKED),
    row("CLAUDE_CODE_PLUGIN_DIRS", Reach::Starts, LOADS),
    row("CLAUDE_CODE_PLUGIN_CACHE_DIR", Reach::Starts, LOADS),
    row("CLAUDE_CODE_PLUGIN_SEED_DIR", Reach::Starts, LOADS),
    row("CLAUDE_CODE_USE_COWORK_PLUGINS", Reach::Starts, LOADS),
    row("CLAUDE_CODE_PROCESS_WRAPPER", Reach::Starts, WRAPS),
    row("CLAUDE_CODE_MANAGED_SETTINGS_PATH", Reach::Starts, UNHOOKED),
    row("CLAUDE_CODE_REMOTE_SETTINGS_PATH", Reach::Starts, UNHOOKED),
    row("CLAUDE_CODE_MOCK_REMOTE_SETTINGS", Reach::Starts, UNHOOKED),
    row("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", Reach::Requests, "lets hooks ask for more requests at an end"),
    row("API_TIMEOUT_MS", Reach::Requests, GIVES_UP),
    row("CLAUDE_*STREAM*_TIMEOUT_MS", Reach::Requests, GIVES_UP),
    row("CLAUDE_CODE_SKIP_PROMPT_HISTORY", Reach::Requests, UNWRITTEN),
    row("CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES", Reach::Requests, UNSHOWN),
    row("CLAUDE_CODE_AGENT_PROGRESS_SUMMARIES", Reach::Requests, UNSHOWN),
    row("CLAUDE_CODE_EXPERIMENTAL_OBSERVER_AGENTS", Reach::Requests, "starts agents that go on without asking a hook"),
    row("ANTHROPIC_*BASE_URL", Reach::Requests, SERVER),
    row("_CLAUDE_*BASE_URL", Reach::Requests, SERVER),
    row("CLAUDE_*BASE_URL", Reach::Requests, SERVER),
    row("ANTHROPIC_API_HOST", Reach::Requests, SERVER),
    row("ANTHROPIC_UNIX_SOCKET", Reach::Requests, SERVER),
    row("ANTHROPIC_PROFILE", Reach::Requests, ACCOUNT),
    row("ANTHROPIC_CONFIG_DIR", Reach::Requests, ACCOUNT),
    row("ANTHROPIC_FOUNDRY_RESOURCE", Reach::Requests, SERVER),
    row("AWS_ENDPOINT_URL*", Reach::Requests, SERVER),
    row("CLAUDE_CODE_RUNNER_MODEL_SOCKET", Reach::Requests, SERVER),
    row("HTTP_PROXY", Reach::Requests, PROXY),
    row("HTTPS_PROXY", Reach::Requests, PROXY),
    row("ALL_PROXY", Reach::Requests, PROXY),
    row("NO_PROXY", Reach::Requests, PAST_PROXY),
    row("CLAUDE_CODE_*PROXY*", Reach::Requests, PROXY),
    row("CCR_*PROXY*", Reach::Requests, PROXY),
    row("NODE_USE_ENV_PROXY", Reach::Requests, PROXY),
    row("NODE_EXTRA_CA_CERTS", Reach::Requests, TRUSTS),
    row("NODE_TLS_REJECT_UNAUTHORIZED", Reach::Requests, TRUSTS),
    row("NODE_USE_SYSTEM_CA", Reach::Requests, TRUSTS),
    row("SSL_CERT_FILE", Reach::Requests, TRUSTS),
    row("SSL_CERT_DIR", Reach::Requests, TRUSTS),
    row("AWS_CA_BUNDLE", Reach::Requests, TRUSTS),
    row("CLAUDE_CODE_CERT_STORE", Reach::Requests, TRUSTS),
    row("CLAUDE_CODE_CLIENT_CERT", Reach::Requests, SHOWS),
    row("CLAUDE_CODE_CLIENT_KEY*", Reach::Requests, SHOWS),
    row("CLAUDE_CODE_USE_BEDROCK", Reach::Requests, PROVIDER),
    row("CLAUDE_CODE_USE_VERTEX", Reach::Requests, PROVIDER),
    row("CLAUDE_CODE_USE_FOUNDRY", Reach::Requests, PROVIDER),
    row("CLAUDE_CODE_USE_MANTLE", Reach::Requests, PROVIDER),
    row("CLAUDE_CODE_USE_GATEWAY", Reach::Requests, PROVIDER),
    row("CLAUDE_CODE_USE_ANTHROPIC_*", Reach::Requests, PROVIDER),
];

/// Keys of a settings file that are no part of `env`.
pub const SETTINGS: &[Diversion] = &[
    row("disableAllHooks", Reach::Hooks, "switches all hooks off"),
    row("allowManagedHooksOnly", Reach::Hooks, "switches all hooks off that are not managed"),
    row("crossSessionInbound", Reach::Requests, "lets other processes send prompts"),
    row("modelPricing", Reach::Requests, "changes the prices that the client counts by"),
    row("proxyAuthHelper", Reach::Requests, PROXY),
    row("processWrapper", Reach::Starts, WRAPS),
];

/// Types of hooks that ask a model by themselves: no transcript shows their requests.
pub const ASKING_HOOKS: &[&str] = &["prompt", "agent"];

/// Options of the client's command line.
pub const OPTIONS: &[Diversion] = &[
    row("--bare", Reach::Starts, UNHOOKED),
    row("--safe-mode", Reach::Starts, UNHOOKED),
    row("--setting-sources", Reach::Starts, UNHOOKED),
    row("--managed-settings", Reach::Starts, UNHOOKED),
    row("--managed-settings-in-initialize", Reach::Starts, UNHOOKED),
    row("--project-config-root", Reach::Starts, UNHOOKED),
    row("--ignore-persisted-trust", Reach::Starts, UNHOOKED),
    row("--plugin-url", Reach::Starts, LOADS),
    row(
        "--input-format",
        Reach::Starts,
        "lets what feeds the client switch its hooks off and ask for what no hook sees",
    ),
    row("--bg", Reach::Starts, "starts a session under a daemon, below no client"),
    row("--background", Reach::Starts, "starts a session under a daemon, below no client"),
    row("--cloud", Reach::Starts, "starts a session on another machine"),
    row("--remote", Reach::Starts, "starts a session on another machine"),
    row("--environment", Reach::Starts, "starts a session on another machine"),
];

/// Finds a variable's row. Names of proxies are read in small letters, too, and on Windows so are all.
pub fn variable(name: &str) -> Option<&'static Diversion> {
    VARIABLES.iter().find(|row| row.is_named(name))
}

/// Finds a variable's row, where a value of it diverts; no value stands for a variable that is taken away.
pub fn set_variable(name: &str, value: Option<&str>) -> Option<&'static Diversion> {
    variable(name).filter(|row| match row.does {
        GIVES_UP => value.is_some_and(|value| !value.parse().is_ok_and(|wait_ms: u64| wait_ms >= SHORTEST_WAIT_MS)),
        _ if row.name == "NODE_OPTIONS" => !value.is_none_or(node_options::are_harmless),
        _ => true,
    })
}

/// Finds a variable's row, where it diverts a client that is started with it: what only tells hooks of their client does not,
/// nor what a client may find on another path.
pub fn variable_at_a_start(name: &str, value: Option<&str>) -> Option<&'static Diversion> {
    set_variable(name, value).filter(|row| !matches!(row.reach, Reach::Facts | Reach::Lookups | Reach::Libraries))
}

/// Finds the row of a settings key.
pub fn setting(key: &str) -> Option<&'static Diversion> {
    SETTINGS.iter().find(|row| row.name == key)
}

/// Finds the row of an option, with or without its value behind `=`.
pub fn option(word: &str) -> Option<&'static Diversion> {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    OPTIONS.iter().find(|row| row.name == name)
}

impl Diversion {
    /// Whether a name is this row's.
    pub fn is_named(&self, name: &str) -> bool {
        let name = name.as_bytes();
        match self.name.split_once('*') {
            None => name.eq_ignore_ascii_case(self.name.as_bytes()),
            Some((begins, rest)) => {
                let (middle, ends) = rest.split_once('*').unwrap_or(("", rest));
                let inner = name.get(begins.len()..name.len().saturating_sub(ends.len()));
                let inner = inner.filter(|inner| holds(inner, middle.as_bytes()));
                inner.is_some()
                    && name[..begins.len()].eq_ignore_ascii_case(begins.as_bytes())
                    && name[name.len() - ends.len()..].eq_ignore_ascii_case(ends.as_bytes())
            }
        }
    }

    /// Returns a name that the row matches, for tests and texts.
    pub fn example(&self) -> String {
        self.name.replace('*', "X_")
    }
}

fn holds(text: &[u8], part: &[u8]) -> bool {
    part.is_empty() || text.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
}

#[cfg(test)]
mod tests;
