//! Unsafe code stands in few files.

use crate::tidy::{check, rust_besides};

/// The files with unsafe code; each says why.
const UNSAFE: [&str; 7] = [
    "src/platform/allocator.rs",
    "src/platform/foreground/linux.rs",
    "src/platform/macos.rs",
    "src/platform/streams/linux.rs",
    "src/platform/windows.rs",
    "src/platform/windows/jobs.rs",
    "src/platform/windows/table.rs",
];

#[test]
fn unsafe_code_is_in_few_files() {
    let mut broken = Vec::new();
    for text in rust_besides(file!()) {
        let is_unsafe =
            |code: &str| code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe");
        let lines: Vec<usize> = text.code().filter(|(_, code)| is_unsafe(code)).map(|(line, _)| line).collect();
        if UNSAFE.contains(&text.path.as_str()) {
            assert!(!lines.is_empty(), "{} is safe by now: change UNSAFE in tests/it/tidy/unsafe_code.rs", text.path);
            assert!(
                text.lines.iter().any(|line| line == "#![deny(clippy::undocumented_unsafe_blocks)]"),
                "{}",
                text.path
            );
        } else {
            broken.extend(lines.iter().map(|line| {
                format!("{}:{line}: unsafe code: there is a safe way, or it belongs in {UNSAFE:?}", text.path)
            }));
        }
    }
    check(broken);
}
