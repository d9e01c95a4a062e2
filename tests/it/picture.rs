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
