//! `docs/reliability.md`: its tables are made of the rows in these files.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use crate::fixture::asked;

/// Tests write the page in turn.
static WRITING: Mutex<()> = Mutex::new(());

/// Compares the part of the page between two marks with what it should be; with FUSEBOX_REGENERATE=1 writes it.
pub fn check(mark: &str, expected: &str) {
    compare(mark, expected, |found| found == expected);
}

/// Does the same where the numbers in it are measured: a fifth more or less is no difference.
pub fn check_about(mark: &str, expected: &str) {
    let near = |(one, other): (&str, &str)| match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(one), Ok(other)) => (one - other).abs() <= other / 5.0,
        _ => one == other,
    };
    compare(mark, expected, |found| {
        let words = found.split(' ').count() == expected.split(' ').count();
        words && found.split(' ').zip(expected.split(' ')).all(near)
    });
}

fn compare(mark: &str, expected: &str, is_current: impl Fn(&str) -> bool) {
    let _alone = WRITING.lock();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reliability.md");
    let page = fs::read_to_string(&path).unwrap();
    let (begin, end) = (format!("<!-- begin {mark} -->\n"), format!("<!-- end {mark} -->\n"));
    let (before, rest) = page.split_once(&begin).unwrap();
    let (found, after) = rest.split_once(&end).unwrap();
    if asked("FUSEBOX_REGENERATE").is_some() {
        fs::write(&path, format!("{before}{begin}{expected}{end}{after}")).unwrap();
        return;
    }
    assert!(is_current(found), "{mark} of {} is not current: FUSEBOX_REGENERATE=1 writes it anew", path.display());
}
