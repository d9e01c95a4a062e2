//! Chromium, driven by playwright-core from npm, which is installed once into the user's cache.

use std::fs;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use serde_json::Value;

/// The version of playwright-core.
const VERSION: &str = "1.65.1";
/// The names under which systems have Chromium.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Returns Chromium: the one that `CHROMIUM_BIN` names, else the first on the PATH. Where there is none, says that the test was not run.
pub fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        || std::env::split_paths(&path).flat_map(|folder| NAMES.map(|name| folder.join(name))).find(|it| it.exists());
    let chromium = std::env::var_os("CHROMIUM_BIN").map(PathBuf::from).or_else(found);
    if chromium.is_none() {
        let test = thread::current().name().unwrap_or_default().to_owned();
        let why = "there is no Chromium here: `apt-get install chromium`, or CHROMIUM_BIN=PATH";
        stderr().write_all(format!("\nSKIPPED, NOT PASSED: {test}: {why}\n").as_bytes()).unwrap();
    }
    chromium
}

/// One browser at a time: how long it takes is measured.
static ONE: Mutex<()> = Mutex::new(());

/// Opens a page and returns what `browser.mjs` saw of it.
pub fn open(chromium: &Path, page: &Path, what: &str, folder: Option<&Path>) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page/browser.mjs");
    let playwright = playwright();
    let _alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut node = Command::new("node");
    node.arg(script).arg(playwright).arg(chromium).arg(page).arg(what).args(folder);
    let output = node.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn playwright() -> PathBuf {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(install).clone()
}

fn install() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache");
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from);
    let cache = cache.join(format!("playwright-core-{VERSION}"));
    let package = cache.join("node_modules/playwright-core");
    if !package.join("package.json").exists() {
        fs::create_dir_all(&cache).unwrap();
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-fund", "--no-audit", "--prefix"]).arg(&cache);
        npm.arg(format!("playwright-core@{VERSION}"));
        assert!(npm.stdout(Stdio::null()).status().unwrap().success(), "npm could not install playwright-core");
    }
    package
}
