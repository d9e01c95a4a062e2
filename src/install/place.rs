//! The places where a client looks for settings, and what Fusebox keeps beside them.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::wire::bypass_detection::paths::FROM_SERVER;

/// Who a registration is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum InstallScope {
    /// You, in this project
    Local,
    /// Everybody who works on this project
    Project,
    /// You, in every project
    User,
    /// Everybody on this machine, for good
    Managed,
}

impl InstallScope {
    /// Returns its word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            InstallScope::Local => "local",
            InstallScope::Project => "project",
            InstallScope::User => "user",
            InstallScope::Managed => "managed",
        }
    }
}

/// One settings file and what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsPlace {
    /// Whose it is.
    pub scope: InstallScope,
    /// The client's settings file.
    pub settings: PathBuf,
    /// The folder of the `fusebox.json` that goes with it.
    pub folder: PathBuf,
}

impl SettingsPlace {
    /// Whether it is in a project, and not one person's or the machine's.
    pub fn is_inside(&self) -> bool {
        matches!(self.scope, InstallScope::Local | InstallScope::Project)
    }

    /// Whether it is the administrator's, whom the person's own programs cannot write for.
    pub fn is_administrators(&self) -> bool {
        self.scope == InstallScope::Managed && !self.settings.ends_with(FROM_SERVER)
    }
}

/// The folders that all places lie in.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The project's folder: the one that the client is started in.
    pub project: PathBuf,
    /// The repository's main folder where that is another: the client reads its local settings too, from subfolders and worktrees.
    pub repository: Option<PathBuf>,
    /// The folders whose skills and commands are the client's, the farthest first and the project's own last.
    pub speaking: Vec<PathBuf>,
    /// The client's configuration folder; none without a home.
    pub claude: Option<PathBuf>,
    /// Where the client keeps plugins; nowhere without a home.
    pub plugins: Option<PathBuf>,
    /// The files of what the client remembers, whose `env` it puts in force at its start.
    pub remembered: Vec<PathBuf>,
    /// The folder of managed files.
    pub managed: PathBuf,
}

impl Folders {
    /// Returns the folders of a project in this world.
    pub fn of(env: &Environment, project: &Path) -> Folders {
        let common = env.project_of(project);
        let main = common.parent().filter(|_| common.ends_with(".git")).filter(|main| *main != project);
        Folders {
            project: project.to_path_buf(),
            repository: main.map(Path::to_path_buf),
            speaking: env.folders_down_to(project),
            claude: env.claude_dir(),
            plugins: plugins(env),
            remembered: remembered(env),
            managed: env.managed_dir(),
        }
    }

    /// Returns the place of a scope. In the home folder a project's settings are the person's own, and no project's.
    pub fn place(&self, scope: InstallScope) -> Result<SettingsPlace> {
        let of_project = self.project.join(".claude");
        let (folder, file) = match scope {
            InstallScope::Local => return Ok(local(&of_project)),
            InstallScope::Project if self.is_home() => return Err(no_project(&of_project)),
            InstallScope::Project => (of_project, "settings.json"),
            InstallScope::User => (self.claude.clone().ok_or_else(no_home)?, "settings.json"),
            InstallScope::Managed => (self.managed.clone(), "managed-settings.json"),
        };
        Ok(SettingsPlace { scope, settings: folder.join(file), folder })
    }

    /// Whether the project's settings are the person's own, by whatever links.
    pub fn is_home(&self) -> bool {
        let of_project = self.project.join(".claude");
        let is_parent = |own: &Path| own.parent().is_some_and(|home| file_info::is_same(home, &self.project));
        self.claude.as_deref().is_some_and(|own| own == of_project || own.ends_with(".claude") && is_parent(own))
    }

    /// Returns every place there is, the one that the client lets win last.
    pub fn places(&self) -> Vec<SettingsPlace> {
        let own = |scope| self.place(scope).ok();
        let repository = self.repository.as_ref().map(|folder| local(&folder.join(".claude")));
        let places = [
            own(InstallScope::User),
            own(InstallScope::Project),
            repository,
            own(InstallScope::Local),
            own(InstallScope::Managed),
            self.claude.clone().map(|folder| SettingsPlace {
                scope: InstallScope::Managed,
                settings: folder.join(FROM_SERVER),
                folder,
            }),
        ];
        places.into_iter().flatten().collect()
    }
}

/// Returns the file of what the client remembers, and the one that older clients have left, which wins where it is there.
fn remembered(env: &Environment) -> Vec<PathBuf> {
    let own = env.named_folder("CLAUDE_CONFIG_DIR").or_else(|| env.home());
    let former = env.claude_dir().map(|folder| folder.join(".config.json"));
    own.map(|folder| folder.join(".claude.json")).into_iter().chain(former).collect()
}

/// Returns the folder in which the client keeps plugins and marketplaces.
fn plugins(env: &Environment) -> Option<PathBuf> {
    let own = env.var("CLAUDE_CODE_PLUGIN_CACHE_DIR").map(PathBuf::from);
    own.or_else(|| env.claude_dir().map(|claude| claude.join("plugins")))
}

fn local(folder: &Path) -> SettingsPlace {
    let settings = folder.join("settings.local.json");
    SettingsPlace { scope: InstallScope::Local, settings, folder: folder.to_path_buf() }
}

fn no_project(folder: &Path) -> Error {
    Error::failed(format!("this folder is no project: `{}` is your own, for all projects", folder.display()))
        .hint("use `--scope user`, or go into a project")
}

fn no_home() -> Error {
    Error::failed("there is no home folder").hint("set HOME, or CLAUDE_CONFIG_DIR to the client's folder")
}
