//! Where each system keeps what: the home folder, the state, programs of one user, and what an administrator has put down for all.

use std::path::PathBuf;

/// The system that this program is made for.
pub const HERE: System = if cfg!(windows) {
    System::Windows
} else if cfg!(target_os = "macos") {
    System::Mac
} else {
    System::Linux
};

/// A system with folders of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Linux, and what is like it.
    Linux,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

/// Returns a folder that a variable names. Hooks run in whatever folder the agent is in: what is relative begins in the project's, so
/// that an agent which goes elsewhere is not counted in another state. `var` returns a variable that is set and not empty.
pub fn named(var: impl Fn(&str) -> Option<String>, name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(var(name)?);
    let project = var("CLAUDE_PROJECT_DIR").filter(|_| folder.is_relative());
    Some(project.map(|project| PathBuf::from(project).join(&folder)).unwrap_or(folder))
}

/// Returns the folder of the state that an environment names: `$FUSEBOX_HOME`, else the platform's state folder. `var` returns
/// a variable that is set and not empty.
pub fn state_dir_in(var: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    HERE.state_dir(var)
}

impl System {
    /// Returns the variables that name the home folder, the first first. Git Bash sets HOME on Windows, and the client does not
    /// go by it.
    fn home_variables(self) -> [&'static str; 2] {
        if self == System::Windows { ["USERPROFILE", "HOME"] } else { ["HOME", "USERPROFILE"] }
    }

    /// Returns the home folder. `var` returns a variable that is set and not empty.
    pub fn home(self, var: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
        self.home_variables().into_iter().find_map(|name| named(&var, name))
    }

    /// Returns the folder of managed files: where the client looks, whatever the environment says.
    pub fn managed_dir(self) -> PathBuf {
        PathBuf::from(match self {
            System::Linux => "/etc/claude-code",
            System::Mac => "/Library/Application Support/ClaudeCode",
            System::Windows => r"C:\Program Files\ClaudeCode",
        })
    }

    /// Returns the folder of a program that is one user's own, apart from the state: who loses the state keeps the program.
    /// `var` returns a variable that is set and not empty.
    pub fn program_dir(self, var: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let folder = |name: &str| named(&var, name);
        let home = || self.home(&var);
        Some(match self {
            System::Linux => {
                folder("XDG_DATA_HOME").or_else(|| Some(home()?.join(".local/share")))?.join("fusebox/bin")
            }
            System::Mac => home()?.join("Library/Application Support/fusebox-program"),
            System::Windows => {
                let local = folder("LOCALAPPDATA").or_else(|| Some(home()?.join("AppData").join("Local")))?;
                local.join("Programs").join("fusebox")
            }
        })
    }

    /// Returns the folder of the state: `FUSEBOX_HOME`, else the system's own. `var` returns a variable that is set and not empty.
    pub fn state_dir(self, var: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let folder = |name: &str| named(&var, name);
        if let Some(path) = folder("FUSEBOX_HOME") {
            return Some(path);
        }
        let home = || self.home(&var);
        Some(match self {
            System::Linux => folder("XDG_STATE_HOME").or_else(|| Some(home()?.join(".local/state")))?.join("fusebox"),
            System::Mac => home()?.join("Library/Application Support/fusebox"),
            System::Windows => {
                folder("LOCALAPPDATA").or_else(|| Some(home()?.join("AppData").join("Local")))?.join("fusebox")
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_has_its_own_folders() {
        let all = [
            ("HOME", "/h"),
            ("USERPROFILE", "/profile"),
            ("XDG_STATE_HOME", "/xdg"),
            ("LOCALAPPDATA", "/local"),
            ("XDG_DATA_HOME", "/data"),
            ("FUSEBOX_HOME", "/own"),
        ];
        let set = |names: &'static [&str]| {
            move |name: &str| {
                let row = all.iter().find(|row| row.0 == name && names.contains(&row.0));
                row.map(|row| row.1.to_owned())
            }
        };
        let (linux, mac, windows) = (System::Linux, System::Mac, System::Windows);
        const HOMES: [&str; 2] = ["HOME", "USERPROFILE"];
        for (system, names, folder, state) in [
            (linux, &HOMES[..], "/h", "/h/.local/state/fusebox"),
            (linux, &["USERPROFILE", "XDG_STATE_HOME"], "/profile", "/xdg/fusebox"),
            (mac, &["HOME", "XDG_STATE_HOME"], "/h", "/h/Library/Application Support/fusebox"),
            (windows, &["HOME", "USERPROFILE", "LOCALAPPDATA"], "/profile", "/local/fusebox"),
            (windows, &["HOME", "XDG_STATE_HOME"], "/h", "/h/AppData/Local/fusebox"),
            (windows, &["HOME", "FUSEBOX_HOME"], "/h", "/own"),
        ] {
            assert_eq!(system.home(set(names)), Some(PathBuf::from(folder)), "{system:?} {names:?}");
            let found = system.state_dir(set(names)).map(|path| path.to_string_lossy().replace('\\', "/"));
            assert_eq!(found.as_deref(), Some(state), "{system:?} {names:?}");
        }
        for (system, names, program) in [
            (linux, &HOMES[..], "/h/.local/share/fusebox/bin"),
            (linux, &["HOME", "XDG_DATA_HOME", "FUSEBOX_HOME"], "/data/fusebox/bin"),
            (mac, &["HOME", "XDG_DATA_HOME"], "/h/Library/Application Support/fusebox-program"),
            (windows, &["HOME", "USERPROFILE", "LOCALAPPDATA"], "/local/Programs/fusebox"),
            (windows, &["HOME", "XDG_DATA_HOME"], "/h/AppData/Local/Programs/fusebox"),
        ] {
            let found = system.program_dir(set(names)).map(|path| path.to_string_lossy().replace('\\', "/"));
            assert_eq!(found.as_deref(), Some(program), "{system:?} {names:?}");
        }
        let relative = |name: &str| match name {
            "FUSEBOX_HOME" => Some(".fusebox".to_owned()),
            "CLAUDE_PROJECT_DIR" => Some("/p".to_owned()),
            _ => None,
        };
        assert_eq!(linux.state_dir(relative), Some(PathBuf::from("/p/.fusebox")));
        assert_eq!((linux.home(|_| None), windows.state_dir(|_| None)), (None, None));
        assert_eq!((linux.program_dir(|_| None), mac.program_dir(|_| None)), (None, None));
    }
}
