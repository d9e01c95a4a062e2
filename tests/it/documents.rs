//! What documents point at is there: links, headings, commands and their options, and JSON that is valid configuration.

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;

use fusebox::cmd::Cli;
use fusebox::config::layers::LAYER_FILES;
use fusebox::config::read;

/// Returns every document of the repository with its text.
fn documents() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let of = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let all = of(root.to_path_buf()).chain(of(root.join("docs")));
    let pages = all.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let read = pages.map(|path| (path.clone(), fs::read_to_string(path).unwrap()));
    let documents: Vec<(PathBuf, String)> = read.collect();
    assert!(documents.len() > 10, "{documents:?}");
    documents
}

/// Returns a heading as links name it.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// Returns the blocks of code in this language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    text.split(&begin).skip(1).filter_map(|rest| Some(rest.split_once("```")?.0)).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    for (path, text) in documents() {
        let links = text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
        for link in links.filter(|link| !link.contains("://") && !link.contains([' ', '`', '\\'])) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let is_there = target.exists();
            let page = fs::read_to_string(&target).unwrap_or_default();
            let has_heading = || page.lines().any(|line| line.starts_with('#') && anchor(line) == heading);
            if !is_there || !heading.is_empty() && !has_heading() {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

/// A page cites only what a reader of it can open: each file by a name that leads to it, each document by a link.
#[test]
fn documents_that_are_cited_are_there() {
    let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/');
    let mut broken = Vec::new();
    for (path, text) in documents() {
        let folders = [path.parent().unwrap(), Path::new(env!("CARGO_MANIFEST_DIR"))];
        for line in text.lines() {
            let names = line.split(|letter| !is_name(letter)).filter(|name| name.ends_with(".md"));
            // Files of the client's are a reader's own.
            let names =
                names.filter(|name| !name.contains(".claude/") && !name.ends_with("SKILL.md") && *name != ".md");
            let missing = names.filter(|name| !folders.iter().any(|folder| folder.join(name).exists()));
            broken.extend(missing.map(|name| format!("{}: {name}", path.display())));
            let words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '-');
            if !line.contains("](") && words.into_iter().any(|word| ["document", "specification"].contains(&word)) {
                broken.push(format!("{}: no link in {line:?}", path.display()));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn commands_are_understood() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (path, text) in documents() {
        for line in blocks(&text, "sh").into_iter().flat_map(str::lines) {
            let line = line.split(" #").next().unwrap_or(line);
            for command in line.split(" && ").map(str::trim).filter(|command| command.starts_with("fusebox ")) {
                seen += 1;
                let words = shlex::split(command.split(['>', '|']).next().unwrap_or(command)).unwrap();
                if let Err(cause) = Cli::command().try_get_matches_from(words) {
                    wrong.push(format!("{}: {command}: {cause}", path.display()));
                }
            }
        }
    }
    assert!(seen > 20, "{seen}");
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn configuration_is_valid() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (path, text) in documents() {
        for block in blocks(&text, "json") {
            let of_fusebox = |source: &&fusebox::config::layers::LayerFile| source.file == "fusebox.json";
            let readings = LAYER_FILES.iter().filter(of_fusebox).filter_map(|source| read::text(source, "it", block));
            let problems: Vec<Vec<String>> =
                readings.map(|it| it.problems.iter().map(ToString::to_string).collect()).collect();
            let is_ours =
                ["session", "main", "agents", "user", "binding", "refuse_repositories", "rate_limits", "mode"]
                    .iter()
                    .any(|key| block.contains(&format!("\"{key}\":")) && !block.contains("\"version\""));
            seen += usize::from(is_ours);
            if is_ours && problems.iter().all(|problems| !problems.is_empty()) {
                wrong.push(format!("{}: {block}: {problems:?}", path.display()));
            }
        }
    }
    assert!(seen > 3, "{seen}");
    assert_eq!(wrong, Vec::<String>::new());
}

/// What the README says of limits that nobody has set is what is built in.
#[test]
fn the_limits_without_any_file_are_as_the_readme_says() {
    let built_in = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let (all, plan) = (built_in(fusebox::config::policy::DEFAULTS), built_in(fusebox::config::policy::PLAN));
    let others = &all["agents"]["*"];
    assert_eq!((&others["max_duration_ms"], &others["timeout_action"]), (&3_600_000.into(), &"warn".into()));
    let names = |action: &str, last: &str| {
        let of_type = all["agents"].as_object().unwrap().iter().filter(|(name, _)| *name != "*");
        let mut names: Vec<String> =
            of_type.filter(|(_, it)| it["timeout_action"] == action).map(|(name, _)| format!("`{name}`")).collect();
        names.sort();
        let (end, begin) = names.split_last().unwrap();
        format!("{} {last} {end}", begin.join(", "))
    };
    let said = format!(
        "a session asks you at {} USD ([with a plan](docs/config.md#paid-by-a-plan) such as Pro or Max: at {} million tokens), an agent \
         that goes round in circles is told and then ended, and subagents are warned at {} tool calls, an hour, or {} USD. Agents \
         called {} have lower limits and are ended there, {} are warned at theirs: `fusebox config show`.",
        all["session"]["max_cost_usd"],
        plan["session"]["max_tokens"].as_f64().unwrap() / 1e6,
        others["max_turns"],
        others["max_cost_usd"].as_f64().unwrap(),
        names("terminate", "or"),
        names("warn", "and"),
    );
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let readme = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(readme.contains(&said), "{said}");
    // A first limit that is built in anyway shows nothing.
    let first = blocks(&fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap(), "json")
        .into_iter()
        .map(built_in)
        .find(|block| block["agents"]["developer"].is_object())
        .unwrap();
    for (key, value) in first["agents"]["developer"].as_object().unwrap() {
        assert_ne!(all["agents"]["developer"][key].as_f64(), value.as_f64(), "{key}");
    }
}

/// What fetches a package by its name and runs or installs it: the words before the name.
const FETCHERS: [&str; 14] = [
    "npx",
    "bunx",
    "pnpx",
    "npm exec",
    "npm install",
    "npm i",
    "npm uninstall",
    "pnpm add",
    "pnpm dlx",
    "yarn add",
    "yarn dlx",
    "bun add",
    "cargo install",
    "cargo binstall",
];

/// Returns the package that a line fetches by its bare name `fusebox`, if it does.
fn fetches_strangers(line: &str) -> bool {
    // A folder is whose it is.
    let line = line.replace("--path fusebox", "--path .");
    let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || "`\"'(),;".contains(c)).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty() && !word.starts_with('-')).collect();
    FETCHERS.iter().any(|fetcher| {
        let fetcher: Vec<&str> = fetcher.split(' ').collect();
        let named = |at: usize| words.get(at + fetcher.len()).map(|word| word.split('@').next().unwrap_or(word));
        words.windows(fetcher.len()).enumerate().any(|(at, here)| here == fetcher && named(at) == Some("fusebox"))
    })
}

#[test]
fn a_line_that_fetches_strangers_is_known() {
    for (line, strangers) in [
        ("npx fusebox init", true),
        ("run `npx -y fusebox@latest init`", true),
        ("npm i -g fusebox", true),
        ("cargo install --locked fusebox", true),
        ("npx fusebox-cli init", false),
        ("cargo install --path . --locked", false),
        ("cargo install --locked --path fusebox", false),
        ("npm install -g fusebox-cli && fusebox init", false),
    ] {
        assert_eq!(fetches_strangers(line), strangers, "{line}");
    }
}

/// The name `fusebox` is taken on npm and crates.io: who installs that runs somebody else's program.
#[test]
fn nothing_tells_to_run_a_strangers_package() {
    assert_eq!(env!("CARGO_PKG_NAME"), "fusebox-cli");
    let (mut wrong, mut seen) = (Vec::new(), 0);
    // Attempts to reach around the limits may be written in any way.
    let may = ["tests/it/documents.rs", "src/wire/bypass_detection/tests.rs"];
    for text in crate::tidy::tree().iter().filter(|text| !may.contains(&text.path.as_str())) {
        seen += text.lines.iter().filter(|line| line.contains("npx fusebox-cli")).count();
        let lines = text.lines.iter().enumerate().filter(|(_, line)| fetches_strangers(line));
        wrong.extend(lines.map(|(at, line)| format!("{}:{}: {line}", text.path, at + 1)));
    }
    assert!(seen > 3, "{seen}");
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_parts_that_can_be_left_out_are_all_named() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |place: &str| fs::read_to_string(root.join(place)).unwrap();
    let manifest = read("Cargo.toml");
    let line = manifest.lines().find_map(|line| line.strip_prefix("default = [")).unwrap();
    let parts: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
    let page = read("docs/install.md");
    let (_, table) = page.split_once("| feature | commands |").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let named: Vec<&str> = table.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(named, parts, "docs/install.md, \"A smaller program\"");
}
