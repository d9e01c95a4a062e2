//! The page in the program is the one in `src/report/html`, packed; and where `fusebox report --html` writes it.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::state::with_shop;
use crate::world::{Outcome, TestWorld};

const SCRIPTS: [&str; 2] = ["{{library}}", "{{script}}"];
const STYLES: [&str; 2] = ["{{library style}}", "{{style}}"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/html")
}

fn part(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

/// Writes a digest as a Content-Security-Policy names it.
fn hash(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digest = Sha256::digest(text.as_bytes());
    let mut written = String::new();
    for three in digest.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            written.push(if place > three.len() { '=' } else { char::from(letter) });
        }
    }
    format!("'sha256-{written}'")
}

/// Returns the library of charts with its licence before it, and its version.
fn library() -> (String, String) {
    let code = part("vendor/uPlot.iife.min.js");
    let version = code.split("(v").nth(1).unwrap().split(')').next().unwrap().to_owned();
    (format!("/*!\n{}\n*/\n{}", part("vendor/uPlot.LICENSE").trim(), code.trim()), version)
}

/// Puts the page together, all but its data.
fn assembled() -> String {
    let (library, version) = library();
    let inline = [
        (SCRIPTS[0], library),
        (SCRIPTS[1], part("page.js")),
        (STYLES[0], part("vendor/uPlot.min.css")),
        (STYLES[1], part("page.css")),
    ];
    let hashes = |names: [&str; 2]| {
        let of = inline.iter().filter(|(name, _)| names.contains(name));
        of.map(|(_, text)| hash(text)).collect::<Vec<_>>().join(" ")
    };
    let page = part("page.html").replace("{{library version}}", &version);
    let page = page.replace("{{script hashes}}", &hashes(SCRIPTS)).replace("{{style hashes}}", &hashes(STYLES));
    inline.iter().fold(page, |page, (name, text)| page.replace(name, text))
}

#[test]
fn the_page_in_the_program_is_current() {
    let path = folder().join("page.lz4");
    let page = assembled();
    if fusebox::platform::environment::Environment::real().var("FUSEBOX_REGENERATE").is_some() {
        fs::write(&path, lz4_flex::compress_prepend_size(page.as_bytes())).unwrap();
    }
    let packed = fs::read(&path).unwrap();
    let unpacked = lz4_flex::decompress_size_prepended(&packed).unwrap();
    assert!(String::from_utf8(unpacked).unwrap() == page, "FUSEBOX_REGENERATE=1 cargo test --test it page writes it");
    assert!(packed.len() < 64_000, "{}: it is in every program", packed.len());
}

fn html(world: &TestWorld, file: &str) -> Outcome {
    world.run(&["report", "--since", "all", "--html", file])
}

#[test]
fn a_page_is_written_whole_and_its_place_is_said() {
    let world = with_shop();
    let said = html(&world, "shop.html").ok();
    assert!(said.starts_with("Wrote shop.html: ") && said.contains(" kB, 1 session. Open it in a browser: "), "{said}");
    assert!(said.ends_with("file://[ROOT]/project/shop.html\n") && said.lines().count() == 1, "{said}");
    let page = world.read("project/shop.html").unwrap();
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"), "{} bytes", page.len());
    assert!(page.contains("5f0c1d2e-0000") && page.contains("a3fa11ed00") && !page.contains("{{"), "it has its data");
    assert_eq!(world.files("project"), "project/shop.html", "nothing is left beside it");
    html(&world, "shop.html").ok();
    let printed = world.normalized(&html(&world, "-").ok());
    assert!(printed.starts_with("<!doctype html>") && printed.contains("a3fa11ed00"), "{} bytes", printed.len());
}

#[cfg(unix)]
#[test]
fn a_page_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let world = with_shop();
    html(&world, "shop.html").ok();
    let mode = |place: &str| fs::metadata(world.path(place)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("project/shop.html"), 0o600);
    fs::set_permissions(world.path("project/shop.html"), fs::Permissions::from_mode(0o644)).unwrap();
    html(&world, "shop.html").ok();
    assert_eq!(mode("project/shop.html"), 0o644, "who may read it stays");
}

#[cfg(unix)]
#[test]
fn a_page_takes_the_place_of_nothing_but_a_page() {
    let world = with_shop();
    world.write("project/.claude/settings.json", "{}");
    std::os::unix::fs::symlink(world.path("project/.claude/settings.json"), world.path("project/link.html")).unwrap();
    std::os::unix::fs::symlink("/dev/null", world.path("project/null.html")).unwrap();
    fs::create_dir_all(world.path("project/site.html")).unwrap();
    for (file, code, said) in [
        ("site.html", 1, "error: `site.html` is a folder\n  hint: name a file in it: --html site.html/report.html\n"),
        (
            ".claude/settings.json",
            2,
            "error: the page's name has to end in .html, and `.claude/settings.json` does not\n",
        ),
        (
            "report",
            2,
            "error: the page's name has to end in .html, and `report` does not\n  hint: --html report.html\n",
        ),
        ("link.html", 2, "error: the page's name has to end in .html, and `link.html` does not\n"),
        ("null.html", 2, "error: the page's name has to end in .html, and `null.html` does not\n"),
    ] {
        let outcome = html(&world, file);
        assert!(
            outcome.code == code && outcome.stderr.starts_with(said) && outcome.stdout.is_empty(),
            "{file}: {outcome}"
        );
    }
    assert_eq!(world.read("project/.claude/settings.json").as_deref(), Some("{}"));
}

#[test]
fn a_page_is_one_form_of_a_report() {
    let world = with_shop();
    for other in [&["--json"][..], &["--csv"], &["--by", "day"], &["--transcripts"]] {
        let arguments = [&["report", "--html", "shop.html"], other].concat();
        let outcome = world.run(&arguments);
        assert!(outcome.code == 2 && outcome.stderr.contains("cannot be used with"), "{outcome}");
    }
    assert_eq!(world.read("project/shop.html"), None);
}

#[test]
fn a_page_is_of_the_period_that_is_asked_for() {
    let world = with_shop();
    let has = |since: &str, until: &str| {
        let page = world.run(&["report", "--html", "-", "--since", since, "--until", until]).ok();
        page.contains("a3fa11ed00")
    };
    assert_eq!(
        (has("2026-11-20", "2026-11-20"), has("2026-11-21", "2026-11-22"), has("all", "2026-11-19")),
        (true, false, false)
    );
}
