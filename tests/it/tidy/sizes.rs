//! How long files and functions may be.

use crate::tidy::{check, rust};

/// The largest file of `src`, of tests, function and `main.rs`, in lines.
const LONGEST_FILE: usize = 350;
/// How long all but a tenth of the files of `src` may be.
const LONGEST_OF_MOST: usize = 250;
const LONGEST_TEST: usize = 400;
const LONGEST_FUNCTION: usize = 60;
const LONGEST_MAIN: usize = 40;

#[test]
fn files_are_short() {
    let long = rust().into_iter().filter_map(|text| {
        let most = match text.module() {
            Some("main") => LONGEST_MAIN,
            Some(_) => LONGEST_FILE,
            None => LONGEST_TEST,
        };
        let lines = text.lines.len();
        (lines > most).then(|| format!("{}:{most}: {lines} lines, at most {most}: split it by idea", text.path))
    });
    check(long.collect());
}

#[test]
fn nine_files_of_ten_are_short() {
    let texts = rust();
    let mut sizes: Vec<(usize, &str)> = texts
        .iter()
        .filter(|text| text.module().is_some())
        .map(|text| (text.lines.len(), text.path.as_str()))
        .filter(|(lines, _)| *lines > LONGEST_OF_MOST)
        .collect();
    sizes.sort_unstable();
    let files = texts.iter().filter(|text| text.module().is_some()).count();
    let (long, most) = (sizes.len(), files / 10);
    let nearest: Vec<String> =
        sizes.iter().take(long.saturating_sub(most)).map(|it| format!("{}: {}", it.1, it.0)).collect();
    assert!(
        long <= most,
        "{long} of {files} files of src have more than {LONGEST_OF_MOST} lines, at most {most} may: split by idea, the nearest:\n  {}",
        nearest.join("\n  ")
    );
}

#[test]
fn functions_fit_on_a_screen() {
    let mut broken = Vec::new();
    for text in rust() {
        for (start, line) in text.code().filter(|(_, line)| opens_function(line)) {
            let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
            let lines = text.lines[start..].iter().position(|line| *line == end).map_or(1, |body| body + 2);
            if lines > LONGEST_FUNCTION {
                broken.push(format!(
                    "{}:{start}: {lines} lines, at most {LONGEST_FUNCTION}: give the steps names of their own",
                    text.path
                ));
            }
        }
    }
    check(broken);
}

#[test]
fn no_function_takes_several_values_as_one() {
    let mut broken = Vec::new();
    for text in rust().iter().filter(|text| text.module().is_some()) {
        for (start, _) in text.code().filter(|(_, line)| opens_function(line) && !line.contains("fn from(")) {
            let lines = &text.lines[start - 1..];
            let ends = lines.iter().position(|line| line.ends_with('{')).unwrap_or(0);
            let head = lines[..=ends].concat();
            if head.contains(": (") {
                broken.push(format!(
                    "{}:{start}: a tuple as a parameter: name each, or make a struct of them",
                    text.path
                ));
            }
        }
    }
    check(broken);
}

/// Whether a line begins a function whose body is on lines of its own, as rustfmt writes it.
fn opens_function(line: &str) -> bool {
    let words = line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
    let words = words.trim_start_matches("pub ").trim_start_matches("const ").trim_start_matches("async ");
    words.starts_with("fn ") && !line.ends_with('}') && !line.ends_with(';')
}
