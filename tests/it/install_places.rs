//! `init` wherever a person may run it, in each of its scopes: said once, warned of by nothing, and gone with `uninstall`.

use crate::world::TestWorld;

/// Where `init` is run: at home, outside of git, and in a repository's root, a folder below it and a worktree.
const PLACES: [&str; 5] = ["home", "project", "repository", "repository/below", "tree"];

/// How it is run.
const WAYS: [&[&str]; 6] = [
    &["init"],
    &["init", "--scope", "local"],
    &["init", "--scope", "user"],
    &["init", "--scope", "user", "--observe"],
    &["init", "--scope", "project"],
    &["init", "--scope", "project", "--observe"],
];

/// What `doctor` warns of in each place: that nothing is blocked, where that was asked for.
const MEANT: &str = "limits are only observed here: nothing is blocked";

/// A machine with a home, a plain folder, and a repository with a worktree; the program and a client are on the PATH.
fn machine() -> TestWorld {
    let mut world = TestWorld::new();
    world.set("COLUMNS", "200");
    world.script("bin/claude", "echo '2.1.332 (Claude Code)'");
    std::os::unix::fs::symlink(crate::world::FUSEBOX, world.path("bin/fusebox")).unwrap();
    world.lay_worktree("repository", "tree");
    world.write("repository/.git/info/exclude", "");
    PLACES.iter().for_each(|place| world.write(&format!("{place}/README"), ""));
    world
}

/// HOME may name the home by a link.
#[test]
fn a_home_that_a_link_leads_to_is_no_project_either() {
    let world = machine();
    std::os::unix::fs::symlink(world.path("home"), world.path("link")).unwrap();
    let home = world.path("link").display().to_string();
    let run = |words: &[&str]| world.command(words).env("HOME", &home).folder("home").run();
    let said = run(&["init", "--scope", "project"]);
    assert!(said.code != 0 && said.stderr.contains("`--scope user`"), "{said}");
    assert!(run(&["init"]).ok().contains("fusebox uninstall --scope user"));
}

/// Returns what is wrong with a line of `doctor`: a warning that nobody needs, or a file that is named twice.
fn fault(line: &str) -> Option<String> {
    let is_meant = line.contains(MEANT) || line.contains("  latency ") || line.starts_with("warn  system ");
    let mut files: Vec<&str> = line.split([' ', ',']).filter(|word| word.ends_with(".json")).collect();
    let all = files.len();
    files.sort_unstable();
    files.dedup();
    let is_bad = (line.starts_with("warn") || line.starts_with("fail")) && !is_meant;
    (is_bad || files.len() < all).then(|| line.to_owned())
}

/// Returns what is wrong with `init` run in a place, `doctor` and `uninstall` after it.
fn faults(place: &str, way: &[&str]) -> Vec<String> {
    let world = machine();
    let run = |words: &[&str]| world.command(words).folder(place).run();
    let files = || world.files("").lines().filter(|file| !file.starts_with("state/")).collect::<Vec<_>>().join("\n");
    let before = files();
    let said = run(way);
    if said.code != 0 {
        let is_told = place == "home" && way.contains(&"project") && said.stderr.contains("`--scope user`");
        let is_untouched = files() == before;
        return if is_told && is_untouched { Vec::new() } else { vec![said.to_string()] };
    }
    let scope = said.stdout.split("fusebox uninstall --scope ").nth(1).unwrap().split('`').next().unwrap().to_owned();
    let mut wrong: Vec<String> = run(&["doctor"]).stdout.lines().filter_map(fault).collect();
    let is_repository = !["home", "project"].contains(&place);
    wrong.extend((said.stdout.contains("in this repository") && !is_repository).then(|| said.stdout.clone()));
    // One who reads it at home must see that it is no project's file.
    let looks_like_a_project = || [" .claude/fusebox", " .claude/settings"].iter().any(|it| said.stdout.contains(it));
    wrong.extend((place == "home" && looks_like_a_project()).then(|| said.stdout.clone()));
    let gone = run(&["uninstall", "--scope", &scope]).ok();
    let mut lines: Vec<&str> = gone.lines().collect();
    let all = lines.len();
    lines.sort_unstable();
    lines.dedup();
    wrong.extend((lines.len() < all || files() != before).then(|| format!("{gone}{}", files())));
    // Git is no part of these repositories: nobody else has what was written.
    wrong.extend(gone.contains("commit").then_some(gone));
    wrong
}

#[test]
fn init_is_said_once_and_doctor_warns_of_nothing_that_it_wrote() {
    let mut wrong = Vec::new();
    for place in PLACES {
        for way in WAYS {
            wrong.extend(faults(place, way).into_iter().map(|it| format!("{place}, {}: {it}", way.join(" "))));
        }
    }
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn at_home_init_is_for_all_projects() {
    let world = machine();
    let said = world.command(&["init"]).folder("home").run().ok();
    assert!(said.starts_with("registered at [ALL] hooks in ~/.claude/settings.json\n"), "{said}");
    insta::assert_snapshot!(world.command(&["init", "--scope", "project"]).folder("home").run(), @r"
    [stderr]
    error: this folder is no project: `[ROOT]/home/.claude` is your own, for all projects
      hint: use `--scope user`, or go into a project
    [exit 1]
    ");
}

/// Where something cannot be written, `init` says what that is and what to do, and no more.
#[cfg(target_os = "linux")]
#[test]
fn a_place_that_cannot_be_written_is_named_with_what_to_do() {
    const READ_ONLY: &str =
        r#"mount --bind "$PLACE" "$PLACE" && mount -o remount,bind,ro "$PLACE" && cd . && exec "$@""#;
    if !std::process::Command::new("unshare").args(["-rm", "true"]).output().unwrap().status.success() {
        fusebox::platform::environment::Environment::real().eprintln_safe("not tried: the system allows no mounts");
        return;
    }
    for (place, scope) in [("home", "user"), ("project", "local"), ("project", "project"), ("state", "local")] {
        let world = machine();
        world.write("state/README", "");
        let read_only = ["-rm", "--", "sh", "-c", READ_ONLY, "sh", crate::world::FUSEBOX, "init", "--scope", scope];
        let path = world.path(place).display().to_string();
        let said = world.program("unshare", &read_only).env("PLACE", &path).folder("project").run();
        let lines: Vec<&str> = said.stderr.lines().collect();
        assert!(said.code == 1 && said.stdout.is_empty(), "{place} {scope}: {said}");
        assert!(lines.len() == 2 && lines[0].contains(&format!("`[ROOT]/{place}/")), "{place} {scope}: {said}");
        assert!(lines[1].contains("writable") || lines[1].contains("FUSEBOX_HOME"), "{place} {scope}: {said}");
    }
}
