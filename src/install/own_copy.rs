//! The copy of this program that hooks run where the program's own path does not last.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::install::client_versions::{self, Version};
use crate::platform::environment::{EXE_SUFFIX, Environment};
use crate::platform::run_command::Program;
use crate::platform::{atomic_file, changes, file_info};

/// Folders whose programs a package manager replaces or removes: npm's, npx's, pnpm's and yarn's, and those of managers of Node.
const OF_PACKAGES: [&str; 6] = ["node_modules", "_npx", ".pnpm", ".nvm", ".fnm", ".volta"];
/// What cargo keeps beside the programs that it builds.
const BESIDE_A_BUILD: &str = ".fingerprint";
/// The mode of the copy: its user alone runs it.
const MODE: u32 = 0o700;

/// Whether a program's path may name another program tomorrow, or none.
pub fn is_volatile(env: &Environment, path: &Path) -> bool {
    let of_packages = path.components().any(|part| OF_PACKAGES.iter().any(|name| part.as_os_str() == OsStr::new(name)));
    let of_plugins = env.claude_dir().is_some_and(|claude| {
        let plugins = claude.join("plugins");
        path.starts_with(&plugins) || file_info::real_path(&plugins).is_ok_and(|plugins| path.starts_with(plugins))
    });
    let is_built = path.parent().is_some_and(|folder| file_info::exists(&folder.join(BESIDE_A_BUILD)));
    of_packages || of_plugins || is_built
}

/// Returns where the copy is kept: apart from the state, so that hooks have their program where the state is lost.
pub fn path(env: &Environment) -> Result<PathBuf> {
    let folder = env.program_dir().ok_or_else(|| Error::failed("there is no home folder").hint("set HOME"))?;
    Ok(folder.join(format!("fusebox{EXE_SUFFIX}")))
}

/// Returns what version a copy says that it is; `None` where there is none, or where it does not run.
pub fn version(copy: &Path) -> Option<Version> {
    let said = Program::new(copy).args(["--version"]).first_line().ok().filter(|_| file_info::is_file(copy))?;
    client_versions::version(said.strip_prefix("fusebox ")?)
}

/// Returns this program's own version.
pub fn own_version() -> Version {
    client_versions::version(env!("CARGO_PKG_VERSION")).unwrap_or_default()
}

/// Puts a program in the copy's place, at once: who starts the copy meanwhile starts the former or the new one.
pub fn replace(program: &Path, copy: &Path) -> Result<()> {
    let folder = copy.parent().unwrap_or(copy);
    changes::make_folders_with(folder, MODE).map_err(|cause| Error::file("make", folder, cause))?;
    atomic_file::replace_program(program, copy, MODE).map_err(|cause| Error::file("write", copy, cause))
}

/// Puts this program in the place of an older copy, or of none; returns whether it did. A newer one stays.
pub fn bring_up(program: &Path, copy: &Path) -> Result<bool> {
    let is_current = version(copy).is_some_and(|version| version > own_version() || is_equal(program, copy));
    if !is_current {
        replace(program, copy)?;
    }
    Ok(!is_current)
}

/// Whether two programs are the same, byte for byte.
pub fn is_equal(one: &Path, other: &Path) -> bool {
    file_info::is_same(one, other) || atomic_file::is_equal(one, other).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::given::GivenWorld;

    #[test]
    fn paths_that_do_not_last_are_told_from_those_that_do() {
        let variables = [("HOME", "/home/you"), ("CLAUDE_CONFIG_DIR", "/home/you/.claude")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let env = Environment::given(GivenWorld { variables, ..GivenWorld::default() });
        for (path, volatile) in [
            ("/home/you/.npm/_npx/5f7d/node_modules/fusebox-cli-linux-x64/bin/fusebox", true),
            ("/home/you/.nvm/versions/node/v22.1.0/lib/node_modules/fusebox-cli-linux-x64/bin/fusebox", true),
            ("/home/you/.nvm/versions/node/v22.1.0/bin/fusebox", true),
            ("/home/you/.local/share/pnpm/global/5/.pnpm/fusebox-cli-linux-x64@0.1.0/bin/fusebox", true),
            ("/usr/lib/node_modules/fusebox-cli/node_modules/fusebox-cli-linux-x64/bin/fusebox", true),
            ("/home/you/.claude/plugins/cache/fusebox/fusebox/0.1.0/bin/fusebox", true),
            ("/home/you/.cargo/bin/fusebox", false),
            ("/home/you/.local/bin/fusebox", false),
            ("/opt/homebrew/bin/fusebox", false),
            ("/home/you/node_modules.old/fusebox", false),
        ] {
            assert_eq!(is_volatile(&env, Path::new(path)), volatile, "{path}");
        }
    }
}
