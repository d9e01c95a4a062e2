//! The pictures in `docs/report.md`: the page of recorded sessions, taken anew with `FUSEBOX_REGENERATE=1`.

use std::fs;
use std::path::Path;

use crate::chromium::{chromium, open};
use crate::states::{OVER_MS, two_weeks};

/// The largest picture, in bytes.
const LARGEST: u64 = 150_000;

#[test]
fn the_pictures_are_of_a_real_page() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    if std::env::var_os("FUSEBOX_REGENERATE").is_some() {
        let Some(chromium) = chromium() else { return };
        let state = two_weeks();
        open(&chromium, &state.page(OVER_MS), "picture", Some(&docs));
    }
    for name in ["report-light.png", "report-dark.png"] {
        let bytes = fs::read(docs.join(name)).unwrap();
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() as u64 <= LARGEST, "{name}: {} bytes", bytes.len());
    }
}
