//! How long files and functions may be.

use crate::tidy::{check, rust};

/// The largest file of `src`, of tests, function and `main.rs`, in lines.
const LONGEST_FILE: usize = 350;
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

/// Whether a line begins a function whose body is on lines of its own, as rustfmt writes it.
fn opens_function(line: &str) -> bool {
    let words = line.trim_start().trim_start_matches("pub(crate) ");
    let words = words.trim_start_matches("pub ").trim_start_matches("const ").trim_start_matches("async ");
    words.starts_with("fn ") && !line.ends_with('}') && !line.ends_with(';')
}
