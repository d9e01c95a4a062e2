//! The machine's own files of time zones, where the program brings none.

use std::path::{Component, Path};

use crate::platform::environment::Environment;
use crate::platform::{file_info, files};

/// Where they lie.
const FOLDER: &str = "/usr/share/zoneinfo";

/// The link that says which is the machine's.
const LOCAL: &str = "/etc/localtime";

/// The largest that is read, in bytes: many times what a zone takes.
const LARGEST: u64 = 64 * 1024;

/// Returns the file of a zone; nothing for a name that leads elsewhere.
pub fn read(name: &str) -> Option<Vec<u8>> {
    let name = Path::new(name);
    let is_below = !name.as_os_str().is_empty() && name.components().all(|part| matches!(part, Component::Normal(_)));
    is_below.then(|| files::bytes(&Path::new(FOLDER).join(name), LARGEST).ok()).flatten()
}

/// Returns the name of the machine's zone: that of the variable `TZ`, else that of the link.
pub fn name_of_system() -> Option<String> {
    let named = Environment::real().var("TZ").map(|name| name.trim_start_matches(':').to_owned());
    let linked = || {
        let link = file_info::link_target(Path::new(LOCAL)).ok()?;
        let (_, name) = link.to_str()?.split_once("zoneinfo/")?;
        Some(name.to_owned())
    };
    named.filter(|name| !name.is_empty()).or_else(linked)
}
