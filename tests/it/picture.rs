//! The picture in the README: what the demo really prints in a terminal, drawn anew where it changes.

use std::path::Path;

use anstyle_svg::Term;

use crate::world::{TestWorld, check_current};

#[test]
fn the_picture_shows_what_the_demo_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut world = TestWorld::new();
    world.set("COLUMNS", "96");
    world.set("CLICOLOR_FORCE", "1");
    let [session, policy] = ["demo/runaway", "demo/fusebox.json"].map(|path| root.join(path).display().to_string());
    let printed = world.run(&["replay", &session, "--config", &policy]).ok();
    let text = format!("$ fusebox replay demo/runaway --config demo/fusebox.json\n{printed}");
    let drawn = Term::new().min_width_px(860).render_svg(&text);
    check_current("docs/demo.svg", &drawn);
}

/// What the live screen shows of a session with agents at work, one that asks for more, and one that a limit has stopped.
#[cfg(feature = "screen")]
#[test]
fn the_picture_of_the_screen_shows_what_hooks_have_counted() {
    use fusebox::cmd::status_screen;
    use fusebox::screen::draw::draw;
    use fusebox::screen::update::ScreenState;
    use fusebox::ui::style::Colour;
    use ratatui_core::buffer::Buffer;
    use ratatui_core::layout::Rect;

    let world = TestWorld::new();
    let view = at_work(&world).looks(status_screen::view).unwrap();
    let chosen = view.items.iter().find(|item| item.name.starts_with("developer")).map(|item| item.id.clone());
    let mut buffer = Buffer::empty(Rect::new(0, 0, 112, 24));
    draw(&mut buffer, &view, &ScreenState { chosen, ..ScreenState::default() }, Colour::On);
    let lines = buffer.content().chunks(112).map(|cells| cells.iter().map(painted).collect::<String>() + "\n");
    let drawn = Term::new().min_width_px(960).render_svg(&lines.collect::<String>());
    assert!(drawn.len() <= 100_000, "the picture has {} bytes", drawn.len());
    check_current("docs/screen.svg", &drawn);
}

/// Writes a cell in its style.
#[cfg(feature = "screen")]
fn painted(cell: &ratatui_core::buffer::Cell) -> String {
    use anstyle::{AnsiColor, Style};
    use ratatui_core::style::{Color, Modifier};

    let colour = match cell.fg {
        Color::Cyan => Some(AnsiColor::Cyan),
        Color::Green => Some(AnsiColor::Green),
        Color::Yellow => Some(AnsiColor::Yellow),
        Color::Red => Some(AnsiColor::Red),
        _ => None,
    };
    let mut style = Style::new().fg_color(colour.map(Into::into));
    style = if cell.modifier.contains(Modifier::BOLD) { style.bold() } else { style };
    style = if cell.modifier.contains(Modifier::DIM) { style.dimmed() } else { style };
    format!("{style}{}{style:#}", cell.symbol())
}

/// What the agents of the picture work on.
#[cfg(feature = "screen")]
const PARTS: [&str; 22] = [
    "cart", "price", "order", "stock", "login", "mail", "tax", "coupon", "search", "image", "menu", "review", "refund",
    "wish", "gift", "basket", "address", "invoice", "parcel", "return", "total", "theme",
];

/// Has hooks count a session at work.
#[cfg(feature = "screen")]
fn at_work(world: &TestWorld) -> crate::given::GivenTime<'_> {
    use serde_json::json;

    use crate::given::{BEGAN_MS, GivenTime};

    let limits = json!({"session": {"max_cost_usd": 10}, "agents": {
        "developer": {"max_turns": 25, "max_duration_ms": 600_000, "max_cost_usd": 1},
        "qa": {"max_turns": 8, "timeout_action": "request_increase"},
        "researcher": {"max_turns": 6}}});
    world.write("home/.claude/fusebox.json", limits.to_string());
    let session = "5f0c1d2e-7a11-4c02-9b1e-2f6a0c3d4e5f";
    let mut time = GivenTime::at(world, BEGAN_MS);
    let event = |time: &GivenTime, name: &str, rest: &serde_json::Value| {
        time.hook(world.event(session, "b7e1f0aa", name, rest))
    };
    event(&time, "SessionStart", &json!({"source": "startup"}));
    event(&time, "UserPromptSubmit", &json!({"prompt": "Ship the cart"}));
    let agents = [
        ("a1b2c3d4", "developer", 21),
        ("c3d4e5f6", "qa", 9),
        ("e5f60718", "researcher", 7),
        ("09a8b7c6", "developer", 4),
    ];
    for (agent, kind, calls) in agents {
        time.pass_ms(20_000);
        let of = json!({"agent_id": agent, "agent_type": kind});
        event(&time, "SubagentStart", &of);
        for (number, part) in PARTS.iter().enumerate().skip(1).take(calls) {
            time.pass_ms(4_000);
            let call = json!({"agent_id": agent, "agent_type": kind, "tool_name": "Bash", "tool_response": {"stdout": part},
                "tool_input": {"command": format!("cargo test {}", part)}, "tool_use_id": format!("{agent}-{number}")});
            let answer = event(&time, "PreToolUse", &call);
            if answer.contains("\"deny\"") || answer.contains("\"ask\"") || number == calls {
                break;
            }
            event(&time, "PostToolUse", &call);
            let usage = json!({"input_tokens": 10, "output_tokens": 600, "cache_creation_input_tokens": 2000,
                "cache_read_input_tokens": 9000});
            let row = json!({"type": "assistant", "timestamp": fusebox::domain::rfc3339::format(time.now_ms()), "agentId": agent,
                "message": {"role": "assistant", "id": format!("m-{agent}-{number}"), "model": "claude-opus-5-5", "content": [], "usage": usage}});
            world.append(&format!("{session}/subagents/agent-{agent}.jsonl"), format!("{row}\n"));
            event(
                &time,
                "PostToolBatch",
                &json!({"agent_id": agent, "agent_type": kind,
                "tool_calls": [{"tool_name": "Bash", "tool_input": call["tool_input"], "tool_response": call["tool_response"], "tool_use_id": format!("{agent}-{number}")}]}),
            );
        }
    }
    time.pass_ms(3_000);
    time
}
