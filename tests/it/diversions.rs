//! Settings that divert hooks, requests or prices wait for a person, whichever row of the list they are, wherever they stand and
//! however they come; all other edits pass. The cases are made of the list. `FUSEBOX_LAWS=full` tries each row in each file.

use std::fs;

use fusebox::wire::bypass_detection::diversions::{ASKING_HOOKS, Diversion, Reach, SETTINGS, VARIABLES};
use fusebox::wire::events::EVENTS;
use serde_json::{Value, json};

use crate::world::{TestWorld, in_long_form, is_static};

mod called_ours;
mod twins;

/// The settings files that an agent's user can write.
pub const FILES: [&str; 3] =
    ["home/.claude/settings.json", "project/.claude/settings.json", "project/.claude/settings.local.json"];

/// How a file is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Add,
    Change,
    Remove,
    Replace,
    Delete,
}

const WAYS: [Way; 5] = [Way::Add, Way::Change, Way::Remove, Way::Replace, Way::Delete];

/// Something in a settings file: its path, and two values of it.
#[derive(Clone, Debug)]
pub struct Entry {
    pub path: Vec<String>,
    pub values: [Value; 2],
    /// Whether its going diverts, too.
    pub stays: bool,
}

fn entry(path: &[&str], values: [Value; 2], stays: bool) -> Entry {
    Entry { path: path.iter().map(|part| (*part).to_owned()).collect(), values, stays }
}

/// Every row of the list that diverts the program under test, as an entry. What switches hooks off has no second value.
pub fn diverting() -> Vec<Entry> {
    let looks_up = !is_static();
    let acting = VARIABLES.iter().filter(|row| looks_up || row.reach != Reach::Lookups);
    let variables = acting.map(|row| entry(&["env", &row.example()], [json!("1"), json!("2")], true));
    let keys = SETTINGS.iter().filter_map(|row| {
        let values = match row.name {
            "disableAllHooks" | "allowManagedHooksOnly" => return None,
            "crossSessionInbound" => [json!("accept"), json!("other")],
            _ => [json!("a"), json!("b")],
        };
        Some(entry(&[row.name], values, true))
    });
    let hook =
        |event: &str, hooks: [Value; 2]| entry(&["hooks", event], hooks.map(|hook| json!([{"hooks": [hook]}])), false);
    let asking = EVENTS.iter().filter(|row| row.name != "ConfigChange").enumerate().map(|(at, row)| {
        let asks = |what: &str| json!({"type": ASKING_HOOKS[at % ASKING_HOOKS.len()], "prompt": what});
        hook(row.name, [asks("a"), asks("b")])
    });
    let slow = |command: &str| json!({"type": "command", "command": command});
    let judges = hook("ConfigChange", [slow("sleep 8"), slow("sleep 9")]);
    let called = called_ours::pairs().map(|pair| hook("ConfigChange", pair));
    // With such an environment no hook can be started.
    let text = |letter: &str, times: usize| json!(letter.repeat(times));
    let long = entry(&["env", "NOTES"], [text("a", 200_000), text("b", 140_000)], false);
    let many = |letter: &str| (0..9).map(|at| (format!("{letter}{at}"), text(letter, 9_000))).collect::<Value>();
    let crowd = entry(&["env"], [many("a"), many("b")], false);
    variables.chain(keys).chain(asking).chain([judges, long, crowd]).chain(called).collect()
}

/// Settings that name a command which the client runs with no hook between, each as the client takes it.
const RUNNING: [(&str, &str); 8] = [
    ("statusLine", r#"{"type": "command", "command": "COMMAND"}"#),
    ("subagentStatusLine", r#"{"type": "command", "command": "COMMAND"}"#),
    ("fileSuggestion", r#"{"type": "command", "command": "COMMAND"}"#),
    ("apiKeyHelper", r#""COMMAND""#),
    ("awsAuthRefresh", r#""COMMAND""#),
    ("awsCredentialExport", r#""COMMAND""#),
    ("gcpAuthRefresh", r#""COMMAND""#),
    ("otelHeadersHelper", r#""COMMAND""#),
];

/// What a command does that an agent may not have the client run, and what is ordinary.
const REACHING: [&str; 3] = [
    "claude --bare -p go",
    "true; fusebox grant x max_turns=+9",
    "/opt/fusebox statusline --with 'CLAUDE_CODE_SAFE_MODE=1 claude -p go'",
];
const PLAIN: [&str; 3] =
    ["~/.claude/statusline.sh", "npx -y ccstatusline", "/opt/fusebox statusline --with 'ccstatusline'"];

/// An edit of each setting that names a command, with these commands; and of a hook's.
fn running(commands: [&str; 3]) -> Vec<Entry> {
    let [first, second, _] = commands;
    let of = |(name, form): &(&str, &str)| {
        entry(&[name], [first, second].map(|line| serde_json::from_str(&form.replace("COMMAND", line)).unwrap()), false)
    };
    let hook = |line: &str| json!([{"hooks": [{"type": "command", "command": line}]}]);
    let exec = |line: &str| json!([{"hooks": [{"type": "command", "command": "sh", "args": ["-c", line]}]}]);
    let hooks = commands.map(|line| entry(&["hooks", "PostToolUse"], [hook(line), exec(line)], false));
    RUNNING.iter().map(of).chain(hooks).collect()
}

/// Edits that a person makes every day.
pub fn ordinary() -> Vec<Entry> {
    let other = |command: &str| json!([{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]);
    let hooks = EVENTS.iter().filter(|row| row.name != "ConfigChange");
    let hooks = hooks.map(|row| entry(&["hooks", row.name], [other("true"), other("false")], false));
    let names =
        ["JAVA_HOME", "NODE_ENV", "VITE_API_BASE_URL", "ANTHROPIC_MODEL", "BASH_DEFAULT_TIMEOUT_MS", "CARGO_HOME"];
    let harmless = [
        entry(&["env", "TZ"], [json!("UTC"), json!("Asia/Tokyo")], false),
        entry(&["env", "NODE_OPTIONS"], [json!("--max-old-space-size=4096"), json!("--no-warnings")], false),
    ];
    // A static program that is named by its path looks nothing up.
    let lookups = VARIABLES.iter().filter(|row| row.reach == Reach::Lookups && is_static()).map(Diversion::example);
    let variables = names.map(str::to_owned).into_iter().chain(lookups);
    let variables = variables.map(|name| entry(&["env", &name], [json!("1"), json!("2")], false));
    let keys = [
        entry(&["model"], [json!("opus"), json!("sonnet")], false),
        entry(&["permissions"], [json!({"allow": ["Bash"]}), json!({"deny": ["Bash"]})], false),
        entry(&["statusLine"], [json!({"type": "command", "command": "true"}), json!({})], false),
        entry(&["crossSessionInbound"], [json!("hold"), json!("refuse")], false),
        entry(&["allowManagedHooksOnly"], [json!(true), json!(false)], false),
        entry(&["fusebox"], [json!({"main": {"max_turns": 1}}), json!({})], false),
    ];
    hooks.chain(variables).chain(harmless).chain(keys).collect()
}

/// Puts a value at a path beside what is there; a list is added to.
pub fn with(settings: &Value, entry: &Entry, value: usize) -> Value {
    let mut all = settings.clone();
    let mut at = &mut all;
    for part in &entry.path {
        at = at.as_object_mut().unwrap().entry(part.clone()).or_insert(json!({}));
    }
    match at.as_array_mut() {
        Some(list) => list.extend(entry.values[value].as_array().unwrap().clone()),
        None => *at = entry.values[value].clone(),
    }
    all
}

/// A project in whose local settings our hooks are registered.
struct Bench {
    world: TestWorld,
    /// Each file's text without any entry.
    plain: Vec<Option<String>>,
    sessions: usize,
}

impl Bench {
    fn new() -> Bench {
        Bench::registered(&["init"])
    }

    fn registered(command: &[&str]) -> Bench {
        let world = TestWorld::new();
        let _said = world.run(command).ok();
        let plain = FILES.map(|file| world.read(file)).to_vec();
        Bench { world, plain, sessions: 0 }
    }

    fn settings(&self, file: usize) -> Value {
        self.plain[file].as_deref().map_or(json!({}), |text| serde_json::from_str(text).unwrap())
    }

    fn event(&self, name: &str) -> String {
        let input = json!({"session_id": format!("s{}", self.sessions), "cwd": self.world.path("project"),
            "transcript_path": self.world.path("t.jsonl"), "hook_event_name": name, "source": "startup"});
        self.world.hook(input).ok()
    }

    /// Starts a session with these settings in a file, edits it, and says whether the client is told to keep the old ones.
    fn is_blocked(&mut self, entry: &Entry, file: usize, way: Way) -> bool {
        let (path, plain) = (self.world.path(FILES[file]), self.settings(file));
        let set = |world: &TestWorld, value: &Value| world.write(FILES[file], value.to_string());
        let before = if way == Way::Add { plain.clone() } else { with(&plain, entry, 0) };
        set(&self.world, &before);
        self.sessions += 1;
        self.event("SessionStart");
        match way {
            Way::Add => set(&self.world, &with(&plain, entry, 0)),
            Way::Change => set(&self.world, &with(&plain, entry, 1)),
            Way::Remove => set(&self.world, &plain),
            Way::Replace => {
                let new = path.with_extension("new");
                fs::write(&new, with(&plain, entry, 1).to_string()).unwrap();
                fs::rename(new, &path).unwrap();
            }
            Way::Delete => fs::remove_file(&path).unwrap(),
        }
        self.event("ConfigChange").contains(r#""decision":"block""#)
    }

    /// Puts a file back as it was.
    fn undo(&self, file: usize) {
        match &self.plain[file] {
            Some(text) => self.world.write(FILES[file], text),
            None => drop(fs::remove_file(self.world.path(FILES[file]))),
        }
    }

    /// Tries an entry in files by every way; returns the cases that came out otherwise.
    fn try_all(&mut self, entry: &Entry, (files, ways): (&[usize], &[Way]), is_diverting: bool) -> Vec<String> {
        let mut wrong = Vec::new();
        for &file in files {
            for &way in ways {
                let comes = matches!(way, Way::Add | Way::Change | Way::Replace);
                let goes_with_ours = way == Way::Delete && self.plain[file].as_deref().is_some_and(is_registered);
                let expected = goes_with_ours || (is_diverting && (comes || entry.stays));
                if self.is_blocked(entry, file, way) != expected {
                    wrong.push(format!("{way:?} {} in {}: expected {expected}", entry.path.join("."), FILES[file]));
                }
                self.undo(file);
            }
        }
        wrong
    }
}

fn is_registered(text: &str) -> bool {
    text.contains("\"hook\"")
}

/// Tries each of the entries in one of the files, in turn; in all of them where that is asked for.
fn check(entries: &[Entry], is_diverting: bool) {
    let is_full = in_long_form();
    let mut bench = Bench::new();
    let mut wrong = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        // In the short form each row comes once, and once more in another way.
        let files = if is_full { vec![0, 1, 2] } else { vec![at % FILES.len()] };
        let ways = if is_full { WAYS.to_vec() } else { vec![Way::Add, WAYS[1 + at % 4]] };
        wrong.extend(bench.try_all(entry, (&files, &ways), is_diverting));
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), bench.sessions, wrong.join("\n"));
}

#[test]
fn a_change_that_diverts_waits_in_each_file_and_by_each_way() {
    check(&diverting(), true);
}

#[test]
fn a_command_that_the_client_is_to_run_waits_where_an_agent_may_not_run_it() {
    check(&running(REACHING), true);
    // The client is not known to take every form of this one: it waits for that beside our hooks.
    let plain: Vec<Entry> = running(PLAIN).into_iter().filter(|entry| entry.path != ["fileSuggestion"]).collect();
    check(&plain, false);
}

#[test]
fn an_ordinary_edit_passes_in_each_file_and_by_each_way() {
    check(&ordinary(), false);
}

#[test]
fn hooks_switched_off_wait_in_each_file() {
    let mut bench = Bench::new();
    let off = entry(&["disableAllHooks"], [json!(true), json!(true)], false);
    for (file, name) in FILES.iter().enumerate() {
        assert!(bench.is_blocked(&off, file, Way::Add), "{name}");
        bench.undo(file);
    }
}

/// Writes a text as each of the encodings that a file may be in, and as what is no text at all.
fn encoded(text: &str) -> Vec<(&'static str, Vec<u8>, bool)> {
    let wide = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let marked = |mark: &[u8], text: Vec<u8>| [mark, &text].concat();
    vec![
        ("UTF-8", text.into(), true),
        ("UTF-8 with its mark", marked(b"\xef\xbb\xbf", text.into()), true),
        ("UTF-16 with its mark", marked(b"\xff\xfe", wide(u16::to_le_bytes)), true),
        ("UTF-16 of other machines", marked(b"\xfe\xff", wide(u16::to_be_bytes)), false),
        ("UTF-16 without a mark", wide(u16::to_le_bytes), false),
        ("a comment before it", format!("// {text}\n{text}").into(), false),
        ("half of it", text[..text.len() / 2].into(), false),
        ("5 MB more", format!("{}{text}", " ".repeat(5 << 20)).into(), false),
    ]
}

#[test]
fn a_file_is_read_as_the_client_reads_it_and_else_waits() {
    let mut bench = Bench::new();
    let mut wrong = Vec::new();
    for (file, name) in FILES.iter().enumerate() {
        for (entry, diverts) in [
            (entry(&["disableAllHooks"], [json!(true), json!(true)], false), true),
            (entry(&["env", "ANTHROPIC_BASE_URL"], [json!("http://a"), json!("http://b")], true), true),
            (entry(&["spinnerTipsEnabled"], [json!(true), json!(false)], false), false),
        ] {
            for (encoding, bytes, is_read) in encoded(&with(&bench.settings(file), &entry, 0).to_string()) {
                bench.sessions += 1;
                bench.event("SessionStart");
                fs::write(bench.world.path(name), bytes).unwrap();
                let blocked = bench.event("ConfigChange").contains(r#""decision":"block""#);
                if blocked != (diverts || !is_read) {
                    wrong.push(format!("{} as {encoding} in {name}: {blocked}", entry.path.join(".")));
                }
                bench.undo(file);
                // What was held back is no longer there.
                assert!(!bench.event("ConfigChange").contains("block"), "{encoding} in {name}");
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), bench.sessions, wrong.join("\n"));
}

#[test]
fn a_person_takes_what_waits() {
    let mut entries = diverting();
    entries.push(entry(&["disableAllHooks"], [json!(true), json!(true)], false));
    for (at, entry) in entries.iter().enumerate().step_by(9) {
        let mut bench = Bench::new();
        assert!(bench.is_blocked(entry, at % FILES.len(), Way::Add), "{entry:?}");
        assert!(bench.event("ConfigChange").contains("`fusebox reload`"));
        let said = bench.world.command(&["reload"]).folder("project").run().ok();
        assert!(said.contains("it takes the settings that waited"), "{said}");
        assert!(!bench.event("ConfigChange").contains("block"), "{entry:?}");
        // What comes then waits again.
        let other = with(&bench.settings(1), &entries[at.max(1) - 1], 1);
        bench.world.write(FILES[(at + 1) % FILES.len()], other.to_string());
        assert!(bench.event("ConfigChange").contains("block"), "{entry:?}");
    }
}

#[test]
fn the_next_client_says_what_is_new_in_its_settings() {
    let mut bench = Bench::new();
    let base = entry(&["env", "ANTHROPIC_BASE_URL"], [json!("http://a"), json!("http://b")], true);
    assert!(bench.is_blocked(&base, 1, Way::Add));
    bench.sessions += 1;
    let told = bench.event("SessionStart") + &bench.event("UserPromptSubmit");
    assert!(
        told.contains("`ANTHROPIC_BASE_URL` in `env`") && told.contains("sends model requests to another server"),
        "{told}"
    );
    bench.sessions += 1;
    let told = bench.event("SessionStart") + &bench.event("UserPromptSubmit");
    assert!(!told.contains("ANTHROPIC_BASE_URL"), "it is no news any more: {told}");
}

#[test]
fn a_later_change_says_which_one_waits_before_it() {
    let mut bench = Bench::new();
    let proxy = entry(&["env", "HTTPS_PROXY"], [json!("http://a"), json!("http://b")], true);
    let model = entry(&["model"], [json!("opus"), json!("sonnet")], false);
    for (file, other) in [(0, 1), (1, 2), (2, 0)] {
        assert!(bench.is_blocked(&proxy, file, Way::Add));
        bench.world.write(FILES[other], with(&bench.settings(other), &model, 0).to_string());
        let later = bench.event("ConfigChange");
        let waits = bench.world.path(FILES[file]);
        for words in ["waits too, behind one", "HTTPS_PROXY", waits.to_str().unwrap(), "`fusebox reload`"] {
            assert!(later.contains(&bench.world.normalized(words)), "{words}: {later}");
        }
        let told = bench.event("UserPromptSubmit");
        assert!(told.contains("waits too, behind one"), "{told}");
        bench.undo(file);
        assert!(!bench.event("ConfigChange").contains("block"), "the other one alone is in force");
        bench.undo(other);
    }
}

#[test]
fn a_change_that_the_client_does_not_ask_about_is_told_before_the_session_is_over() {
    for (event, file) in
        ["Stop", "SessionEnd"].into_iter().flat_map(|event| (0..FILES.len()).map(move |file| (event, file)))
    {
        let mut bench = Bench::new();
        let (path, text) = (bench.world.path(FILES[file]), bench.settings(file));
        // The client watches the link, and not the file that it leads to.
        let elsewhere = bench.world.path("elsewhere.json");
        fs::write(&elsewhere, text.to_string()).unwrap();
        drop(fs::remove_file(&path));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        bench.sessions += 1;
        bench.event("SessionStart");
        assert!(!bench.event(event).contains("disableAllHooks"));
        let off = entry(&["disableAllHooks"], [json!(true), json!(true)], false);
        fs::write(&elsewhere, with(&text, &off, 0).to_string()).unwrap();
        let told = bench.event(event) + &bench.world.run(&["log", "--json"]).stdout;
        assert!(told.contains("would switch all hooks off"), "{event}, {}: {told}", FILES[file]);
    }
}
