//! The places where a client looks for settings, and what Fusebox keeps beside them.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::platform::environment::World;

/// Who a registration is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Scope {
    /// You, in this project
    Local,
    /// Everybody who works on this project
    Project,
    /// You, in every project
    User,
    /// Everybody on this machine, for good
    Managed,
}

impl Scope {
    /// Returns its word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Local => "local",
            Scope::Project => "project",
            Scope::User => "user",
            Scope::Managed => "managed",
        }
    }
}

/// One settings file and what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Whose it is.
    pub scope: Scope,
    /// The client's settings file.
    pub settings: PathBuf,
    /// The folder of the `fusebox.json` that goes with it.
    pub folder: PathBuf,
}

impl Place {
    /// Whether it is in a project, and not one person's or the machine's.
    pub fn is_inside(&self) -> bool {
        matches!(self.scope, Scope::Local | Scope::Project)
    }
}

/// The folders that all places lie in.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The project's folder: the one that the client is started in.
    pub project: PathBuf,
    /// The repository's main folder where that is another: the client reads its local settings too, from subfolders and worktrees.
    pub repository: Option<PathBuf>,
    /// The client's configuration folder; none without a home.
    pub claude: Option<PathBuf>,
    /// The folder of managed files.
    pub managed: PathBuf,
}

impl Folders {
    /// Returns the folders of a project in this world.
    pub fn of(world: &World, project: &Path) -> Folders {
        let common = world.project_of(project);
        let main = common.parent().filter(|_| common.ends_with(".git")).filter(|main| *main != project);
        Folders {
            project: project.to_path_buf(),
            repository: main.map(Path::to_path_buf),
            claude: world.claude_dir(),
            managed: world.managed_dir(),
        }
    }

    /// Returns the place of a scope.
    pub fn place(&self, scope: Scope) -> Result<Place> {
        let (folder, file) = match scope {
            Scope::Local => return Ok(local(&self.project.join(".claude"))),
            Scope::Project => (self.project.join(".claude"), "settings.json"),
            Scope::User => (self.claude.clone().ok_or_else(no_home)?, "settings.json"),
            Scope::Managed => (self.managed.clone(), "managed-settings.json"),
        };
        Ok(Place { scope, settings: folder.join(file), folder })
    }

    /// Returns every place there is, the one that the client lets win last.
    pub fn places(&self) -> Vec<Place> {
        let own = |scope| self.place(scope).ok();
        let repository = self.repository.as_ref().map(|folder| local(&folder.join(".claude")));
        let places = [own(Scope::User), own(Scope::Project), repository, own(Scope::Local), own(Scope::Managed)];
        places.into_iter().flatten().collect()
    }
}

fn local(folder: &Path) -> Place {
    let settings = folder.join("settings.local.json");
    Place { scope: Scope::Local, settings, folder: folder.to_path_buf() }
}

fn no_home() -> Error {
    Error::failed("there is no home folder").hint("set HOME, or CLAUDE_CONFIG_DIR to the client's folder")
}
