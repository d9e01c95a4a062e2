//! The copy that hooks run where the program's own path does not last: made by `init`, renewed by `upgrade` and by newer programs.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use crate::world::{FUSEBOX, TestWorld};

const COPY: &str = "home/.local/share/fusebox/bin/fusebox";
const SETTINGS: &str = "project/.claude/settings.local.json";

/// Folders as package managers, the client and cargo make them.
const VOLATILE: [&str; 5] = [
    "home/.npm/_npx/5f7d/node_modules/fusebox-cli-linux-x64/bin",
    "home/.nvm/versions/node/v22.1.0/lib/node_modules/fusebox-cli/node_modules/fusebox-cli-linux-x64/bin",
    "home/.local/share/pnpm/global/5/.pnpm/fusebox-cli-linux-x64@0.1.0/node_modules/fusebox-cli-linux-x64/bin",
    "home/.claude/plugins/cache/fusebox/fusebox/0.1.0/bin",
    "project/target/release",
];

/// Lays the program into a folder, with these bytes behind it: another file that runs the same.
fn lay(world: &TestWorld, folder: &str, behind: &str) -> PathBuf {
    let path = world.path(folder).join("fusebox");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if folder.ends_with("target/release") {
        fs::create_dir_all(world.path(folder).join(".fingerprint")).unwrap();
    }
    let _former = fs::remove_file(&path);
    let script = format!("cp {FUSEBOX} {0} && printf '%s' '{behind}' >>{0}", path.display());
    assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
    path
}

/// Lays a program in the copy's place that only says a version.
fn lay_version(world: &TestWorld, version: &str) {
    world.script(COPY, &format!("echo fusebox {version}"));
}

#[test]
fn init_names_a_copy_where_the_programs_path_does_not_last() {
    for folder in VOLATILE {
        let world = TestWorld::new();
        let program = lay(&world, folder, "");
        let shown = world.program(program.to_str().unwrap(), &["init", "--dry-run"]).run().ok();
        assert!(shown.contains("[ROOT]/home/.local/share/fusebox/bin/fusebox"), "{folder}: {shown}");
        assert_eq!(world.read(SETTINGS), None, "{folder}: a dry run writes nothing");
        assert!(!world.path(COPY).exists(), "{folder}: not even the copy");
        let said = world.program(program.to_str().unwrap(), &["init"]).run().ok();
        assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains("hooks run a copy"), "{folder}: {said}");
        let settings = world.read(SETTINGS).unwrap();
        let copy = world.path(COPY);
        assert!(settings.contains(&format!("\"command\": \"{}\"", copy.display())), "{folder}: {settings}");
        assert_eq!(fs::read(&copy).unwrap(), fs::read(&program).unwrap(), "{folder}");
        // The package manager cleans up, somebody deletes the state, and the hooks go on.
        fs::remove_file(&program).unwrap();
        let _never_made = fs::remove_dir_all(world.path("state"));
        let call = format!(
            r#"{{"session_id":"s","transcript_path":"","cwd":"{}","prompt_id":"p","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{{}},"tool_use_id":"t"}}"#,
            world.path("project").display()
        );
        assert_eq!(world.program(copy.to_str().unwrap(), &["hook"]).stdin(call).run().code, 0, "{folder}");
    }
}

/// The link of npm's global folder, or one that a person made, lies where nothing is removed.
#[test]
fn init_names_a_copy_where_a_link_leads_to_a_path_that_does_not_last() {
    for folder in VOLATILE {
        let mut world = TestWorld::new();
        let program = lay(&world, folder, "");
        let link = world.path("home/bin/fusebox");
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&program, &link).unwrap();
        // By its path, and by its name.
        world.set("PATH", format!("{}:/usr/bin:/bin", link.parent().unwrap().display()));
        for called in [link.to_str().unwrap(), "fusebox"] {
            world.program(called, &["init"]).run().ok();
            let settings = world.read(SETTINGS).unwrap();
            let copy = world.path(COPY);
            let named = settings.contains(&format!("\"command\": \"{}\"", copy.display()));
            assert!(named, "{folder}, called as {called}: {settings}");
            assert_eq!(fs::read(&copy).unwrap(), fs::read(&program).unwrap(), "{folder}");
            fs::remove_file(world.path(SETTINGS)).unwrap();
            fs::remove_file(copy).unwrap();
        }
    }
}

/// Homebrew's link outlives the folder of the version that it leads to.
#[test]
fn a_link_to_a_folder_of_a_version_is_named_itself() {
    let world = TestWorld::new();
    let program = lay(&world, "homebrew/Cellar/fusebox-cli/0.1.0/bin", "");
    let link = world.path("homebrew/bin/fusebox");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&program, &link).unwrap();
    world.program(link.to_str().unwrap(), &["init"]).run().ok();
    let settings = world.read(SETTINGS).unwrap();
    assert!(settings.contains(&format!("\"command\": \"{}\"", link.display())), "{settings}");
    assert!(!world.path(COPY).exists());
}

#[test]
fn a_path_that_lasts_is_named_itself() {
    let world = TestWorld::new();
    let program = lay(&world, "home/.local/bin", "");
    world.program(program.to_str().unwrap(), &["init"]).run().ok();
    assert!(world.read(SETTINGS).unwrap().contains("home/.local/bin/fusebox"));
    assert!(!world.path(COPY).exists());
}

/// Copies are run without a pause while others take their place.
#[test]
fn upgrade_takes_effect_at_once_and_nobody_misses_the_program() {
    let world = TestWorld::new();
    let program = lay(&world, VOLATILE[0], "");
    world.program(program.to_str().unwrap(), &["init"]).run().ok();
    let copy = world.path(COPY);
    // A hook is at work when the program is replaced: it answers as the one that it was started as.
    let mut held = Command::new(&copy).arg("hook").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    thread::scope(|scope| {
        let runs = scope.spawn(|| {
            let run = |_| Command::new(&copy).arg("--version").output().unwrap().status.success();
            (0..300).filter(|number| run(*number)).count()
        });
        for number in 0..20 {
            let program = lay(&world, VOLATILE[0], &format!("build {number}"));
            let said = world.program(program.to_str().unwrap(), &["upgrade"]).run().ok();
            assert!(said.contains("sessions at work take it at their next event"), "{said}");
            assert_eq!(fs::read(&copy).unwrap(), fs::read(&program).unwrap());
        }
        assert_eq!(runs.join().unwrap(), 300);
    });
    drop(held.stdin.take());
    assert!(held.wait_with_output().unwrap().status.success());
    let left = fs::read_dir(world.path("home/.local/share/fusebox/bin")).unwrap().count();
    assert_eq!(left, 1, "nothing but the copy is left");
    let said = world.program(program.to_str().unwrap(), &["upgrade"]).run().ok();
    assert!(said.contains("already"), "{said}");
    let said = world.program(program.to_str().unwrap(), &["uninstall"]).run().ok();
    assert!(said.contains("the copy of the program that hooks ran stays in ~/.local/share/fusebox/bin"), "{said}");
}

#[test]
fn a_newer_program_run_by_a_person_takes_the_copys_place() {
    let mut world = TestWorld::new();
    lay_version(&world, "0.0.1");
    let said = world.run(&["status"]);
    assert!(
        said.stderr.contains("note: ~/.local/share/fusebox/bin/fusebox, which hooks run, is fusebox"),
        "{}",
        said.stderr
    );
    assert_eq!(fs::read(world.path(COPY)).unwrap(), fs::read(FUSEBOX).unwrap());
    // A newer copy stays, whatever an older program does but for `upgrade`.
    lay_version(&world, "99.0.0");
    let program = lay(&world, VOLATILE[0], "");
    for words in [&["status"][..], &["init"]] {
        world.program(program.to_str().unwrap(), words).run().ok();
        assert_eq!(world.read(COPY).unwrap(), "#!/bin/sh\necho fusebox 99.0.0\n", "{words:?}");
    }
    let said = world.run(&["upgrade"]).ok();
    assert!(said.contains("(before: 99.0.0)"), "{said}");
    // An agent changes nothing.
    world.set("CLAUDECODE", "1");
    lay_version(&world, "0.0.1");
    for words in [&["status"][..], &["init"]] {
        let _said = world.program(program.to_str().unwrap(), words).run();
        assert_eq!(world.read(COPY).unwrap(), "#!/bin/sh\necho fusebox 0.0.1\n", "{words:?}");
    }
    let said = world.run(&["upgrade"]);
    assert!(said.stderr.contains("a person's to run"), "{}", said.stderr);
}

#[test]
fn upgrade_says_how_a_newer_program_comes() {
    let world = TestWorld::new();
    insta::assert_snapshot!(world.run(&["upgrade"]), @r"
    hooks run no copy: they name the program where it is installed; a newer one comes with what brought this one: in a clone of the repository `git pull` and `cargo install --path . --locked`, else its package manager or its install script
    [exit 0]
    ");
}
