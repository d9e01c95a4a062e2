//! The installation that `doctor` examines, as it is found.

use std::path::{Path, PathBuf};

use crate::install::client_versions::{self, Feature};
use crate::install::handler::Handler;
use crate::install::handlers::{self, Registered};
use crate::install::hooks::{self, FoundHandler};
use crate::install::place::Folders;
use crate::install::plugin_handlers::{self, PluginHandlers};
use crate::install::settings_files::{self, Settings};
use crate::platform::environment::Environment;
use crate::platform::run_command::Program;

/// Everything that the checks look at.
pub struct Installation<'a> {
    /// The surroundings.
    pub env: &'a Environment,
    /// The project's folder.
    pub folder: PathBuf,
    /// All settings files.
    pub settings: Vec<Settings>,
    /// The plugins that bring our hooks.
    pub brought: Vec<PluginHandlers>,
    /// What settings and plugins come to.
    pub registered: Registered,
    /// What the client on the PATH says of its version, or why it says nothing.
    pub client: std::result::Result<String, String>,
}

impl Installation<'_> {
    /// Takes the installation in.
    pub fn inspect(env: &Environment) -> Installation<'_> {
        let folder = env.folder();
        let folders = Folders::of(env, &folder);
        let settings = settings_files::read(&folders);
        let mut brought = plugin_handlers::find(&folders, &settings, &[]);
        brought.retain(|it| it.plugin.is_installed);
        // Which binary is registered is a check of its own: here every fusebox counts.
        let registered = handlers::resolve(&settings, &brought, None);
        let client = client_on_path(&folder);
        Installation { env, folder, settings, brought, registered, client }
    }

    /// Returns all files with hooks: the settings, and those of the plugins that bring ours.
    pub fn files(&self) -> impl Iterator<Item = &Settings> {
        self.settings.iter().chain(self.brought.iter().map(|it| &it.file))
    }

    /// Returns our handlers in all of these files.
    pub fn registered_handlers(&self) -> impl Iterator<Item = FoundHandler> + '_ {
        self.files().flat_map(|file| hooks::find(&file.text)).filter(|found| found.handler.is_ours())
    }

    /// Returns the client's version where that is known to be without a feature.
    pub fn client_lacks(&self, feature: Feature) -> Option<String> {
        let version = client_versions::version(self.client.as_ref().ok()?)?;
        (!feature.is_in(version)).then(|| client_versions::show(version))
    }

    /// Returns the ways in which the client runs us, each once.
    pub fn launches(&self) -> Vec<Handler> {
        let mut launches: Vec<Handler> = Vec::new();
        for handler in self.registered_handlers().map(|found| found.handler) {
            if launches.iter().all(|known| (&known.command, &known.args) != (&handler.command, &handler.args)) {
                launches.push(handler);
            }
        }
        launches
    }

    /// Returns a path as a person would write it: from here, or from home.
    pub fn short(&self, path: &Path) -> String {
        self.env.short_path(path)
    }
}

/// Asks the client on the PATH for its version.
pub fn client_on_path(folder: &Path) -> std::result::Result<String, String> {
    Program::new("claude").args(["--version"]).folder(folder).first_line()
}

/// Says what registers the hooks: in a repository's own folder that covers those below it.
pub fn registers(installation: &Installation<'_>) -> String {
    let root = Folders::of(installation.env, &installation.folder).repository;
    let at = root.map(|root| format!(" in {}", installation.short(&root))).unwrap_or_default();
    format!("run `fusebox init`{at}")
}
