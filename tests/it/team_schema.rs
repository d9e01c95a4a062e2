//! The schema of a team's store in the program is the one in `src/store/team/schema`, packed.

use std::fs;
use std::path::Path;

/// The files of the first migration, in the order in which their statements run.
const FILES: [&str; 12] =
    ["tables", "members", "clock", "sums", "caps", "projects", "leases", "shares", "sync", "audit", "views", "rights"];

#[test]
fn the_schema_in_the_program_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/team");
    let read = |name: &str| fs::read_to_string(folder.join(format!("schema/{name}.sql"))).unwrap();
    let schema = FILES.map(read).concat();
    assert_eq!(fs::read_dir(folder.join("schema")).unwrap().count(), FILES.len());
    if fusebox::platform::environment::Environment::real().var("FUSEBOX_REGENERATE").is_some() {
        fs::write(folder.join("schema.lz4"), lz4_flex::compress_prepend_size(schema.as_bytes())).unwrap();
    }
    let packed = fs::read(folder.join("schema.lz4")).unwrap();
    let unpacked = lz4_flex::decompress_size_prepended(&packed).unwrap();
    assert!(unpacked == schema.as_bytes(), "FUSEBOX_REGENERATE=1 cargo test --test it schema writes it");
}
