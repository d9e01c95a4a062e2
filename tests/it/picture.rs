//! The pictures in the README and the pages: what the demo, the live screen and the status line really print, drawn anew where that changes.

use std::process::Command;

use anstyle_svg::Term;

use crate::given::{BEGAN_MS, GivenTime};
use crate::recording::play;
use crate::world::{TestWorld, check_current};
use serde_json::json;

#[test]
fn the_picture_shows_what_the_demo_prints() {
    let world = TestWorld::new();
    // A program of `cargo demo` is built to be looked at, as cargo's own is for tests; one of a release ends with other words.
    let mut command = Command::new(env!("CARGO_BIN_EXE_fusebox"));
    command.arg("demo").env_clear().env("HOME", world.path("home")).env("COLUMNS", "96").env("CLICOLOR_FORCE", "1");
    let told = String::from_utf8(command.current_dir(world.path("project")).output().unwrap().stdout).unwrap();
    let drawn = Term::new().min_width_px(860).render_svg(&format!("$ cargo demo\n{told}"));
    check_current("docs/demo.svg", &drawn);
}

/// Plays recordings of the real client up to a moment at which their agents are at work, all under one policy. Returns the sessions.
fn at_work(world: &TestWorld) -> (GivenTime<'_>, [String; 3]) {
    let limits = json!({"session": {"max_cost_usd": 0.1}, "user": {"max_cost_usd_per_day": 0.25},
        "agents": {"general-purpose": {"max_turns": 4, "timeout_action": "terminate"}}});
    world.write("home/.claude/fusebox.json", limits.to_string());
    let mut time = GivenTime::at(world, BEGAN_MS);
    let mut played = |name: &str, events: usize| play(world, &mut time, name, events);
    // Two calls side by side, three agents one of which is another's, and a call that fails in the same way until a limit ends it.
    let sessions = [
        played("subagent-foreground-parallel-calls", 9),
        played("subagents-background-nested", 14),
        played("loop-identical-failing-call", 18),
    ];
    time.pass_ms(4_000);
    (time, sessions)
}

/// What the live screen shows of sessions that the real client was recorded in.
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
    let (time, _) = at_work(&world);
    let view = time.looks(status_screen::view).unwrap();
    let chosen = view.items.iter().find(|item| item.name.starts_with("general")).map(|item| item.id.clone());
    let mut buffer = Buffer::empty(Rect::new(0, 0, 112, 24));
    draw(&mut buffer, &view, &ScreenState { chosen, ..ScreenState::default() }, Colour::On);
    let lines = buffer.content().chunks(112).map(|cells| cells.iter().map(painted).collect::<String>() + "\n");
    let drawn = Term::new().min_width_px(960).render_svg(&lines.collect::<String>());
    assert!(drawn.len() <= 100_000, "the picture has {} bytes", drawn.len());
    check_current("docs/screen.svg", &drawn);
}

/// The line below the prompt of each of these sessions.
#[test]
fn the_picture_of_the_status_line_shows_what_it_prints() {
    let world = TestWorld::new();
    let (mut time, sessions) = at_work(&world);
    time.set("COLUMNS", "96");
    let line = |session: &String| time.feed(&["statusline"], json!({"session_id": session, "version": "2.1.328"})).ok();
    let lines: String = sessions.iter().map(line).collect();
    let drawn = Term::new().min_width_px(860).render_svg(&lines);
    check_current("docs/statusline.svg", &drawn);
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
