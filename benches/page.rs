//! docs/benchmarks.md: each benchmark writes its own sections there, and their pictures into docs/benchmarks.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

const PAGE: &str = "docs/benchmarks.md";

/// Prints a section, and writes it to the page between `<!-- begin NAME -->` and `<!-- end NAME -->` unless `--no-page` is given.
///
/// Below it stands when, where and by which command it was measured.
pub fn section(name: &str, markdown: &str) {
    replace(name, |_| format!("{}\n\n{}", markdown.trim(), circumstances()));
    println!("{markdown}\n");
}

/// Prints rows, and puts them into a table of the page that several benchmarks write: they replace those of this benchmark.
///
/// The table's last column is the command.
pub fn rows(name: &str, rows: &[String]) {
    let rows: Vec<String> = rows.iter().map(|row| format!("{row} {} |", command())).collect();
    replace(name, |table| {
        let mine = format!("| {} |", command());
        let mut lines: Vec<&str> = table.lines().collect();
        let place = lines.iter().position(|line| line.ends_with(&mine)).unwrap_or(lines.len());
        lines.retain(|line| !line.ends_with(&mine));
        lines.splice(place..place, rows.iter().map(String::as_str));
        lines.join("\n")
    });
    println!("{}\n", rows.join("\n"));
}

/// Puts something else between the marks of a section.
fn replace(name: &str, change: impl Fn(&str) -> String) {
    if is_blocked_prompt() {
        return;
    }
    let page = fs::read_to_string(place(PAGE)).unwrap();
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->"));
    let (before, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("{PAGE} has no line {begin}"));
    let (section, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{PAGE} has no line {end}"));
    fs::write(place(PAGE), format!("{before}{begin}{}\n{end}{after}", change(section.trim()))).unwrap();
}

/// Writes docs/benchmarks/NAME.svg, unless `--no-page` is given, and returns the Markdown that shows it.
pub fn picture(name: &str, title: &str, svg: &str) -> String {
    if !is_blocked_prompt() {
        fs::create_dir_all(place("docs/benchmarks")).unwrap();
        fs::write(place(&format!("docs/benchmarks/{name}.svg")), svg).unwrap();
    }
    format!("![{title}](benchmarks/{name}.svg)")
}

fn is_blocked_prompt() -> bool {
    std::env::args().any(|word| word == "--no-page")
}

fn place(path: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), path].iter().collect()
}

/// Returns the line on when, where and how.
fn circumstances() -> String {
    let date = chrono::Local::now().format("%F");
    let described = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = described.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let processors = std::thread::available_parallelism().unwrap();
    let system = said(Command::new("uname").arg("-sr"));
    let compiler = said(Command::new("rustc").arg("--version"));
    format!(
        "<sub>{date}, {processors} processors ({}), {system}, {compiler}: {}</sub>",
        processor.unwrap_or(std::env::consts::ARCH),
        command()
    )
}

/// Returns the command of this benchmark.
fn command() -> &'static str {
    concat!("`cargo bench --bench ", env!("CARGO_CRATE_NAME"), "`")
}

fn said(command: &mut Command) -> String {
    let output = command.output().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    output.unwrap_or_else(|why| format!("{command:?}: {why}"))
}
