//! Which commands divert the client, and which pass.

use crate::wire::bypass_detection::diversions::*;

#[test]
fn each_row_is_found_by_its_name_and_no_ordinary_variable_is() {
    for row in VARIABLES {
        let found = variable(&row.example());
        assert_eq!(found.map(|found| found.reach), Some(row.reach), "{}", row.name);
    }
    for name in ["https_proxy", "ANTHROPIC_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL", "CLAUDE_CODE_HTTPS_PROXY"] {
        assert_eq!(variable(name).map(|row| row.reach), Some(Reach::Requests), "{name}");
    }
    let ordinary = [
        "JAVA_HOME",
        "VITE_API_BASE_URL",
        "NODE_ENV",
        "ANTHROPIC_MODEL",
        "CARGO_HOME",
        "BASH_DEFAULT_TIMEOUT_MS",
        "MAX_THINKING_TOKENS",
        "XDG_CONFIG_HOME",
        "DOCKER_HTTP_PROXY",
        "PYTHONPATH",
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
        "TZ",
        "ANTHROPIC_BASE",
        "ANTHROPIC_BASE_UR",
        "",
        "*",
        "LDFLAGS",
        "MALLOC",
        "FUSEBO",
        "MCP_TIMEOUT",
        "CLAUDE_CODE_PLUGIN_GIT_TIMEOUT_MS",
    ];
    for name in ordinary {
        assert_eq!(variable(name), None, "{name}");
    }
}

#[test]
fn a_client_that_starts_is_diverted_by_less() {
    for (name, diverts) in [
        ("CLAUDE_CODE_SAFE_MODE", true),
        ("HOME", true),
        ("CLAUDE_CODE_PROCESS_WRAPPER", true),
        ("LD_PRELOAD", true),
        ("ANTHROPIC_BASE_URL", true),
        ("CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES", true),
        ("CLAUDE_CODE_AGENT_PROGRESS_SUMMARIES", true),
        ("CLAUDE_CODE_DISABLE_AGENT_PROGRESS_SUMMARIES", false),
        ("PATH", false),
        ("LD_LIBRARY_PATH", false),
        ("CLAUDECODE", false),
    ] {
        assert_eq!(variable_at_a_start(name, Some("1")).is_some(), diverts, "{name}");
    }
    assert!(option("--setting-sources=user").is_some() && option("--model").is_none());
}

#[test]
fn only_a_short_wait_for_an_answer_diverts() {
    for name in [
        "API_TIMEOUT_MS",
        "CLAUDE_STREAM_IDLE_TIMEOUT_MS",
        "CLAUDE_STREAM_FIRST_BYTE_TIMEOUT_MS",
        "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS",
    ] {
        for (value, diverts) in [
            (Some("700"), true),
            (Some("0"), true),
            (Some("-1"), true),
            (Some("1e3"), true),
            (Some(""), true),
            (Some("60000"), false),
            (Some("3000000"), false),
            (None, false),
        ] {
            assert_eq!(set_variable(name, value).is_some(), diverts, "{name}={value:?}");
        }
    }
}
