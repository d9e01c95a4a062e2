//! The page of benchmarks: every section is filled and says by which command, and every picture exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The sections of the page, and the benchmark that writes each.
const SECTIONS: [(&str, &str); 7] = [
    ("calls", "hook"),
    ("languages", "hook"),
    ("peers", "peers"),
    ("scan", "scan"),
    ("growth", "growth"),
    ("transcripts", "hook"),
    ("crowd", "hook"),
];

/// The tables that several benchmarks write a row or more of.
const SHARED: [&str; 2] = ["summary", "bars"];

fn read(place: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(place)).unwrap()
}

/// Returns what stands between the marks of a section.
fn section<'a>(page: &'a str, name: &'a str) -> &'a str {
    let inside =
        page.split_once(&format!("<!-- begin {name} -->\n")).and_then(|(_, rest)| rest.split_once("<!-- end "));
    let (section, end) = inside.unwrap_or((name, "no section of docs/benchmarks.md"));
    assert!(end.starts_with(&format!("{name} -->")), "{name} ends with its own mark");
    section
}

#[test]
fn every_section_is_filled_and_names_its_command() {
    let (page, manifest) = (read("docs/benchmarks.md"), read("Cargo.toml"));
    for (name, bench) in SECTIONS {
        let section = section(&page, name);
        let rows = section.lines().filter(|line| line.starts_with('|') && !line.starts_with("|--"));
        assert!(rows.count() > 1, "{name} has no rows: cargo bench --bench {bench} writes them");
        let command = format!("`cargo bench --bench {bench}`</sub>");
        assert!(section.trim_end().ends_with(&command), "{name} does not end with {command}");
        assert!(manifest.contains(&format!("[[bench]]\nname = \"{bench}\"")), "{bench} is no benchmark");
    }
    let benches: BTreeSet<&str> = SECTIONS.iter().map(|(_, bench)| *bench).collect();
    for name in SHARED {
        let rows: Vec<&str> = section(&page, name).lines().skip(2).collect();
        for bench in &benches {
            let mine = format!("| `cargo bench --bench {bench}` |");
            let wanted = name == "summary" || ["hook", "scan"].contains(bench);
            assert_eq!(rows.iter().any(|row| row.ends_with(&mine)), wanted, "rows of {bench} in {name}");
        }
        for row in rows {
            assert!(
                row.ends_with("` |") && row.contains("| `cargo bench --bench "),
                "a row without its command: {row}"
            );
        }
    }
}

#[test]
fn the_page_shows_exactly_the_pictures_that_there_are() {
    let page = read("docs/benchmarks.md");
    let links = page.split("](benchmarks/").skip(1).filter_map(|rest| rest.split(')').next());
    let shown: BTreeSet<String> = links.map(str::to_owned).collect();
    let files = fs::read_dir(Path::new(ROOT).join("docs/benchmarks")).unwrap();
    let files: BTreeSet<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(shown, files);
    assert!(shown.len() >= 3);
    for name in shown {
        let picture = read(&format!("docs/benchmarks/{name}"));
        assert!(picture.starts_with("<svg ") && picture.contains("<polyline"), "{name} draws no curve");
    }
}
