//! The installation that `doctor` examines, as it is found, and the checks of its registration.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::error::Result;
use crate::setup::diagnosis::Diagnosis;
use crate::setup::handler::Handler;
use crate::setup::handlers::{self, Registered, Settings};
use crate::setup::place::Folders;
use crate::setup::{files, hooks, json};
use crate::wire::events::EVENTS;
use crate::world::World;

/// The oldest client that the protocol was seen on to be what we rely on.
const OLDEST_CLIENT: [u32; 3] = [2, 1, 200];

/// Everything that the checks look at.
pub struct Patient<'a> {
    /// The surroundings.
    pub world: &'a World,
    /// The project's folder.
    pub folder: PathBuf,
    /// All settings files.
    pub settings: Vec<Settings>,
    /// What they come to.
    pub registered: Registered,
}

impl Patient<'_> {
    /// Takes the installation in.
    pub fn admit(world: &World) -> Patient<'_> {
        let folder = world.folder();
        let settings = handlers::read(&Folders::of(world, &folder));
        // Which binary is registered is a check of its own: here every fusebox counts.
        let registered = handlers::resolve(&settings, None);
        Patient { world, folder, settings, registered }
    }

    /// Returns the ways in which the client runs us, each once.
    pub fn launches(&self) -> Vec<Handler> {
        let found = self.settings.iter().flat_map(|file| hooks::find(&file.text));
        let mut launches: Vec<Handler> = Vec::new();
        for handler in found.map(|found| found.handler).filter(Handler::is_ours) {
            if launches.iter().all(|known| (&known.command, &known.args) != (&handler.command, &handler.args)) {
                launches.push(handler);
            }
        }
        launches
    }

    /// Returns a path as a person would write it: from here, or from home.
    pub fn short(&self, path: &Path) -> String {
        short(self.world, path)
    }
}

/// Returns a path as a person would write it: from here, or from home.
pub fn short(world: &World, path: &Path) -> String {
    let home = world.home();
    match (path.strip_prefix(world.folder()), home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned))) {
        (Ok(inside), _) => inside.display().to_string(),
        (_, Some(inside)) => format!("~/{}", inside.display()),
        _ => path.display().to_string(),
    }
}

/// Whether settings files can be read at all.
pub fn settings(patient: &Patient<'_>) -> Diagnosis {
    let faults: Vec<String> =
        patient.settings.iter().filter_map(|file| fault(patient, file).transpose()).filter_map(Result::ok).collect();
    match faults.is_empty() {
        true => Diagnosis::ok("every settings file can be read"),
        false => Diagnosis::warn(faults.join("; "), "correct them; until then the client ignores all that is in them"),
    }
}

fn fault(patient: &Patient<'_>, file: &Settings) -> Result<Option<String>> {
    let path = &file.place.settings;
    let Some(text) = files::read(path)? else { return Ok(None) };
    Ok(json::check(&text).err().map(|fault| format!("{} is no JSON: {fault}", patient.short(path))))
}

/// Whether the client runs us at every event.
pub fn registration(patient: &Patient<'_>) -> Diagnosis {
    let missing = EVENTS.iter().filter(|row| !patient.registered.files.iter().any(|file| file.1.contains(&row.event)));
    let missing: Vec<&str> = missing.map(|row| row.name).collect();
    let files: Vec<String> = patient.registered.files.iter().map(|file| patient.short(&file.0)).collect();
    let files = files.join(", ");
    match (missing.len(), EVENTS.len()) {
        (0, all) => Diagnosis::ok(format!("registered at {all} of {all} events in {files}")),
        (missing, all) if missing == all => Diagnosis::fail("not registered here", "run `fusebox init`"),
        _ => {
            Diagnosis::fail(format!("not registered at {} in {files}", missing.join(", ")), "run `fusebox init` again")
        }
    }
}

/// Whether a setting takes away what is registered.
pub fn switches(patient: &Patient<'_>) -> Diagnosis {
    if let Some(path) = &patient.registered.disabled {
        return Diagnosis::fail(
            format!("{} switches hooks off (disableAllHooks or allowManagedHooksOnly)", patient.short(path)),
            "take it out, or register with `fusebox init --scope managed`",
        );
    }
    match &patient.registered.diverted {
        Some((path, name)) => Diagnosis::warn(
            format!("{} sets {name} for the client: hooks then use other files than you see here", patient.short(path)),
            "take it out of `env`, unless it is meant",
        ),
        None => Diagnosis::ok("no setting switches hooks off"),
    }
}

/// Whether what is registered is a fusebox of this version.
pub fn binary(patient: &Patient<'_>) -> Diagnosis {
    let own = concat!("fusebox ", env!("CARGO_PKG_VERSION"));
    for launch in patient.launches() {
        let program = launch.program().unwrap_or(Path::new("fusebox"));
        let name = patient.short(program);
        match said(Command::new(program).arg("--version").output()) {
            Ok(version) if version == own => {}
            Ok(version) => {
                let hint = "run `fusebox init` with the one you want";
                return Diagnosis::warn(format!("{name} is `{version}`, this is `{own}`"), hint);
            }
            Err(why) => return Diagnosis::fail(format!("{name} does not run: {why}"), "run `fusebox init` again"),
        }
    }
    Diagnosis::ok(own)
}

/// Whether the client speaks the protocol that we rely on.
pub fn client(patient: &Patient<'_>) -> Diagnosis {
    let said = match said(Command::new("claude").arg("--version").current_dir(&patient.folder).output()) {
        Ok(said) => said,
        Err(why) => {
            return Diagnosis::warn(format!("`claude --version` does not run: {why}"), "put the client on the PATH");
        }
    };
    let numbers = said.split(|letter: char| !letter.is_ascii_digit()).filter_map(|number| number.parse::<u32>().ok());
    let numbers: Vec<u32> = numbers.take(3).collect();
    match numbers.as_slice() >= OLDEST_CLIENT.as_slice() {
        true => Diagnosis::ok(said),
        false => Diagnosis::warn(format!("`{said}` is older than 2.1.200, the oldest tried"), "update the client"),
    }
}

/// Returns the first line that a program printed, or why there is none.
fn said(output: std::io::Result<Output>) -> std::result::Result<String, String> {
    let output = output.map_err(|cause| cause.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().trim().to_owned()),
        false => Err(output.status.to_string()),
    }
}
