//! A client that a plain command starts has the files of its MCP servers read beforehand: one of them may be a client that nothing counts.

use serde_json::json;

use crate::client_starts::Bench;
use crate::world::TestWorld;

#[test]
fn a_client_is_not_started_with_a_server_that_starts_another() {
    let bench = Bench::of(TestWorld::new(), "user");
    let servers = |words: &[&str]| json!({"mcpServers": {"x": {"command": words[0], "args": words[1..]}}}).to_string();
    bench.world.write("project/sub/bare.json", servers(&["claude", "--bare", "-p", "go"]));
    bench.world.write("project/sub/away.json", servers(&["sh", "-c", "cd ..; exec setsid -f claude -p go"]));
    bench.world.write("project/sub/serve.json", servers(&["claude", "mcp", "serve"]));
    bench.world.write("project/sub/npx.json", servers(&["npx", "-y", "server", "--bare"]));
    for (command, expected) in [
        ("claude -p go --mcp-config sub/bare.json", true),
        ("cd sub && claude --mcp-config=away.json -p go", true),
        ("claude -p go --mcp-config sub/npx.json \"$PWD\"/x.json sub/away.json", true),
        ("cp sub/npx.json x.json; claude -p go --mcp-config x.json", true),
        ("claude -p go --mcp-config sub", true),
        ("claude -p go --mcp-config sub/serve.json sub/npx.json --strict-mcp-config", false),
        ("claude -p go --mcp-config sub/nosuch.json", false),
        ("claude -p go --mcp-config \"$MCP\"", false),
    ] {
        assert_eq!(bench.refuses(command), expected, "{command}");
    }
    bench.world.write("project/.mcp.json", servers(&["claude", "mcp", "serve"]));
    assert!(!bench.refuses("claude -p go") && bench.refuses("cp sub/bare.json .mcp.json; claude -p go"));
    bench.world.write("project/.mcp.json", servers(&["claude", "-p", "go"]));
    assert!(bench.refuses("claude -p go") && bench.refuses("cd sub && claude -p go"));
}
