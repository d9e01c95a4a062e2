//! MCP servers that are clients: each way to name a server with each client that nothing would count, and with ordinary servers.

use serde_json::{Value, json};

use crate::wire::bypass_detection::tests::guard;

/// What a server is started with.
struct Server {
    env: &'static [(&'static str, &'static str)],
    words: &'static [&'static str],
}

const fn server(env: &'static [(&'static str, &'static str)], words: &'static [&'static str]) -> Server {
    Server { env, words }
}

/// Clients with an agent in them.
const CLIENTS: [Server; 13] = [
    server(&[], &["claude", "--bare", "-p", "go"]),
    server(&[("CLAUDE_CODE_SIMPLE", "1")], &["claude", "-p", "go"]),
    server(&[], &["claude", "-p", "go"]),
    server(&[], &["/usr/bin/claude"]),
    server(&[], &["setsid", "-f", "claude", "-p", "go"]),
    server(&[], &["sh", "-c", "cd ../other; exec setsid -f claude -p go </dev/null"]),
    server(&[], &["bash", "-lc", "nohup claude -p go & npx -y server"]),
    server(&[("A", "1")], &["env", "-i", "B=2", "claude", "--restricted", "-p", "go"]),
    server(&[], &["npx", "-y", "@anthropic-ai/claude-code", "-p", "go"]),
    server(&[], &["node", "node_modules/@anthropic-ai/claude-code/cli.js", "--bare", "-p", "go"]),
    server(&[], &["claude", "mcp", "serve", "-p"]),
    server(&[], &["claude", "mcp", "add", "y", "--", "claude", "-p", "go"]),
    server(&[], &["claude", "daemon", "run"]),
];

/// Words of a client that is put in where a variable is not set: in JSON alone.
const FILLED_IN: Server = server(&[], &["${NOT_SET:-claude}", "${A}", "${B:---bare}", "${"]);

/// Servers as people have them.
const ORDINARY: [Server; 14] = [
    server(&[], &["npx", "-y", "@modelcontextprotocol/server-filesystem", "/p", "."]),
    server(&[("API_KEY", "x"), ("HOME", "/tmp/x")], &["npx", "-p", "y", "server", "--bare"]),
    server(&[], &["node", "${CLAUDE_PROJECT_DIR:-.}/server.js", "--safe-mode"]),
    server(&[], &["uvx", "mcp-server-git", "--repository", "/p"]),
    server(&[("TOKEN", "x")], &["docker", "run", "-i", "--rm", "-p", "5432:5432", "-e", "TOKEN", "ghcr.io/x/claude"]),
    server(&[], &["python3", "-m", "server", "--client", "claude"]),
    server(&[], &["claude", "mcp", "serve"]),
    server(&[("DEBUG", "1")], &["claude", "mcp", "serve", "--debug"]),
    server(&[], &["npx", "-y", "@anthropic-ai/claude-code", "mcp", "serve"]),
    server(&[], &["sh", "-c", "cd tools && exec npx server --bare"]),
    server(&[], &["sh", "-c", "claude mcp serve 2>>log"]),
    server(&[], &["npx", "-y", "claude-code-mcp"]),
    server(&[], &["claude-mcp-bridge", "-p", "3000"]),
    server(&[], &["cmd", "/c", "npx", "server"]),
];

impl Server {
    fn json(&self) -> Value {
        let env: serde_json::Map<String, Value> =
            self.env.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        json!({"type": "stdio", "command": self.words[0], "args": self.words[1..], "env": env})
    }

    /// Returns each command that names it.
    fn commands(&self) -> Vec<String> {
        let quoted = |text: &str| format!("'{text}'");
        let line = self.words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let env =
            |option: &str| self.env.iter().map(|(name, value)| format!("{option} {name}={value} ")).collect::<String>();
        let one = self.json().to_string();
        let all = json!({"mcpServers": {"ok": {"url": "https://x", "type": "http"}, "x": self.json()}}).to_string();
        let agents = json!({"r": {"description": "d", "prompt": "p", "mcpServers": ["ok", {"x": self.json()}]}});
        vec![
            format!("claude mcp add x {}-- {line}", env("-e")),
            format!("claude mcp add {}-s user x -- {line}", env("--env")),
            format!("claude mcp add --transport stdio {}--scope project x -- {line}", env("-e")),
            format!("claude mcp add {}-- x {line}", env("-e").replace("-e ", "-e")),
            format!("cd sub && timeout 9 claude --debug mcp add x {}-- {line} && claude mcp list", env("-e")),
            format!("claude mcp add-json x '{one}'"),
            format!("claude mcp add-json -s user x '{one}' --client-secret"),
            format!("claude mcp add-json x - <<'E'\n{one}\nE"),
            format!("echo '{one}' | claude mcp add-json x -"),
            format!("claude -p go --mcp-config '{all}'"),
            format!("claude -p go '--mcp-config={all}' --strict-mcp-config"),
            format!("claude --mcp-config '{{\"mcpServers\":{{}}}}' '{all}' -p go"),
            format!(
                "sh -c \"claude -p go --mcp-config \\\"\\$C\\\"\"; claude --strict-mcp-config --mcp-config '{all}' --print go"
            ),
            format!("claude -p go --agents '{agents}' --agent r"),
            format!("claude -p go --mcp-config /dev/stdin <<'E'\n{all}\nE"),
        ]
    }
}

#[test]
fn a_client_is_no_server_of_another() {
    let commands = CLIENTS.iter().flat_map(Server::commands);
    let missed: Vec<_> = commands.filter(|command| guard().command(command).is_none()).collect();
    assert!(missed.is_empty(), "{}: {missed:#?}", missed.len());
    let all = json!({"mcpServers": {"x": FILLED_IN.json()}});
    assert!(guard().servers_in("/p", &all.to_string()).is_some());
}

#[test]
fn ordinary_servers_pass() {
    let commands = ORDINARY.iter().flat_map(Server::commands);
    let refused: Vec<_> = commands.filter_map(|command| Some((guard().command(&command)?, command))).collect();
    assert!(refused.is_empty(), "{}: {refused:#?}", refused.len());
    for command in [
        "claude mcp add --transport http s https://x --header 'Authorization: Bearer x'",
        "claude mcp add -t sse s https://x -H 'X: claude --bare'",
        "claude mcp add x; claude mcp add; claude mcp add-json x; claude mcp remove claude; claude mcp get x",
        "claude -p 'what does claude --bare do?' --mcp-config \"$CONFIG\" other.json",
        "claude -p go --mcp-config \"{\\\"mcpServers\\\":{\\\"x\\\":{\\\"command\\\":\\\"node\\\",\\\"args\\\":[\\\"$PWD/claude.js\\\"]}}}\"",
    ] {
        assert_eq!(guard().command(command), None, "{command}");
    }
}

/// A file is read where its client is about to start.
#[test]
fn servers_in_a_file_are_read_as_on_the_command_line() {
    for (servers, expected) in [(&CLIENTS[..], true), (&ORDINARY[..], false)] {
        for server in servers {
            let text = json!({"mcpServers": {"x": server.json()}}).to_string();
            assert_eq!(guard().servers_in("/p", &text).is_some(), expected, "{text}");
            assert_eq!(guard().servers_in("/p", &format!("\u{feff}{text}")).is_some(), expected, "{text}");
        }
    }
    for (text, expected) in
        [("", false), ("{}", false), ("{\"mcpServers\":", false), ("{\"x\":\"claude \\ud800\"}", true)]
    {
        assert_eq!(guard().servers_in("/p", text).is_some(), expected, "{text}");
    }
    let starts = guard().client_starts("cd sub && claude -p go --mcp-config a.json '{}' ../b.json --verbose");
    assert_eq!(starts[0].servers, ["/p/sub/a.json", "/p/b.json"]);
}
