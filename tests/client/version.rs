//! Which client the suite drives: the newest that was tried, or the one that `FUSEBOX_CLIENT_VERSION` names.

use std::fs;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;

use fusebox::install::client_versions::{self, Feature, TRIED, Version};

/// Returns the real client, which is installed once from npm into the user's cache.
pub fn claude() -> PathBuf {
    static CLIENT: OnceLock<PathBuf> = OnceLock::new();
    CLIENT.get_or_init(install).clone()
}

/// Returns the client's version.
pub fn version() -> Version {
    // As in FUSEBOX_CLIENT_VERSION=2.1.328.
    let asked = std::env::var("FUSEBOX_CLIENT_VERSION").ok();
    let newest = TRIED[TRIED.len() - 1];
    asked.map_or(newest, |asked| client_versions::version(&asked).unwrap())
}

/// Whether the client has a feature; where a part of a scenario rests on it.
pub fn has(feature: Feature) -> bool {
    feature.is_in(version())
}

/// Whether the client is without a feature, which is then said; where a whole scenario rests on it.
pub fn lacks(feature: Feature) -> bool {
    if !has(feature) {
        let before = feature.row().map_or("", |row| row.before);
        skip(&format!("not available in {}: {before}", client_versions::show(version())));
    }
    !has(feature)
}

/// Says, past the capture of what tests print, that a scenario was not run; `./check all` does not count it as passed.
pub fn skip(why: &str) {
    let scenario = thread::current().name().unwrap_or_default().to_owned();
    stderr().write_all(format!("\nSKIPPED, NOT PASSED: {scenario}: {why}\n").as_bytes()).unwrap();
}

/// Returns what a response of the script costs: the client's default model has its price.
pub fn request_usd() -> f64 {
    if has(Feature::NewestModel) { 0.00584 } else { 0.0078 }
}

/// Returns an amount that is as many responses of the script as this one is with the newest client.
pub fn usd(with_the_newest: f64) -> f64 {
    with_the_newest / 0.00584 * request_usd()
}

fn install() -> PathBuf {
    if let Some(path) = std::env::var_os("CLAUDE_BIN") {
        return path.into();
    }
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache");
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from);
    let version = client_versions::show(version());
    let cache = cache.join(format!("claude-code-{version}"));
    if let Some(client) = installed(&cache) {
        return client;
    }
    fs::create_dir_all(&cache).unwrap();
    let package = format!("@anthropic-ai/claude-code@{version}");
    let mut npm = Command::new("npm");
    npm.args(["install", "--silent", "--no-fund", "--no-audit", "--prefix"]).arg(&cache).arg(package);
    assert!(npm.stdout(Stdio::null()).status().unwrap().success(), "npm could not install the client");
    installed(&cache).unwrap()
}

fn installed(cache: &Path) -> Option<PathBuf> {
    let packages = fs::read_dir(cache.join("node_modules/@anthropic-ai")).ok()?.flatten();
    packages.map(|package| package.path().join("claude")).find(|client| client.exists())
}

/// The client that is driven is the one that is meant.
#[test]
fn the_client_is_of_the_version_that_it_is_taken_for() {
    let said = Command::new(claude()).arg("--version").output().unwrap();
    assert_eq!(client_versions::version(&String::from_utf8_lossy(&said.stdout)), Some(version()));
}
