//! The published peers, as `benches/peers/install.sh` has installed them.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The entry point of ccusage 20, which is native; those before it run in Node.
pub const CCUSAGE_20: &str = "node_modules/@ccusage/ccusage-linux-ARCH/bin/ccusage";

/// One installed peer.
#[derive(Clone)]
pub struct Peer {
    folder: PathBuf,
    package: String,
    version: String,
}

/// Returns a peer by its folder's name, `ccusage-20`; where it is not installed, that is said.
pub fn installed(name: &str) -> Option<Peer> {
    let below = |variable: &str, place: &str| env::var_os(variable).map(|folder| PathBuf::from(folder).join(place));
    let all = env::var_os("FUSEBOX_PEERS").map(PathBuf::from);
    let all =
        all.or_else(|| below("XDG_CACHE_HOME", "fusebox/peers")).or_else(|| below("HOME", ".cache/fusebox/peers"));
    let folder = all.unwrap_or_default().join(name);
    let Ok(version) = fs::read_to_string(folder.join("installed")) else {
        eprintln!("SKIPPED, NOT MEASURED: {name}: benches/peers/install.sh installs it");
        return None;
    };
    // Two versions of one package have the version in the folder's name.
    let is_number = |end: &str| end.bytes().all(|byte| byte.is_ascii_digit());
    let package = name.rsplit_once('-').filter(|(_, end)| is_number(end)).map_or(name, |(package, _)| package);
    Some(Peer { folder, package: package.to_owned(), version: version.trim().to_owned() })
}

impl Peer {
    /// Returns its name with its version.
    pub fn name(&self) -> String {
        format!("{} {}", self.package, self.version)
    }

    /// Returns the program and the first words of the command line that starts an entry point, with no shim between.
    pub fn words(&self, entry: &str) -> Vec<PathBuf> {
        let arch = if env::consts::ARCH == "aarch64" { "arm64" } else { "x64" };
        let path = self.folder.join(entry.replace("ARCH", arch));
        if path.extension().is_none_or(|kind| kind != "js") {
            return vec![path];
        }
        let node = Command::new("node").args(["-p", "process.execPath"]).output().unwrap();
        vec![PathBuf::from(String::from_utf8(node.stdout).unwrap().trim()), path]
    }
}
