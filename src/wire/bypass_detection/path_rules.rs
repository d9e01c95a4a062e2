//! How the system at hand reads paths and the names of programs, so that two ways to write one thing are compared as one.

use std::borrow::Cow;

/// How a system reads paths and the names of programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathRules {
    /// Each letter counts: Linux.
    #[default]
    Exact,
    /// Large and small letters are the same: macOS.
    AnyCase,
    /// So they are, and `\` stands between parts: Windows.
    Windows,
}

/// The longest path that a system takes, in bytes.
pub(super) const LONGEST: usize = 4096;

/// What may stand before a drive, in a path that is not to be read any further.
const VERBATIM: [&str; 2] = ["//?/", "//./"];

impl PathRules {
    /// Returns a word with `/` between the parts of a path.
    pub fn slashed(self, word: &str) -> Cow<'_, str> {
        match self {
            PathRules::Windows if word.contains('\\') => Cow::Owned(word.replace('\\', "/")),
            _ => Cow::Borrowed(word),
        }
    }

    /// Returns a path as it is compared: in small letters where they are the same, with a drive as Git's shell writes it, `/c/x`.
    pub fn unified(self, path: &str) -> Cow<'_, str> {
        match self {
            PathRules::Exact => Cow::Borrowed(path),
            PathRules::AnyCase => Cow::Owned(path.to_lowercase()),
            PathRules::Windows => {
                let path = path.replace('\\', "/").to_lowercase();
                let bare = VERBATIM.iter().find_map(|prefix| path.strip_prefix(prefix)).unwrap_or(&path);
                match bare.split_once(':') {
                    Some((drive, rest)) if drive.len() == 1 => {
                        Cow::Owned(format!("/{drive}/{}", rest.trim_start_matches('/')))
                    }
                    _ => Cow::Owned(path),
                }
            }
        }
    }

    /// Returns a path that was made to be compared as the system finds it: `c:/x` for `/c/x` on Windows.
    pub fn findable(self, path: &str) -> String {
        let drive = path.strip_prefix('/').and_then(|rest| rest.split_once('/')).filter(|(drive, _)| drive.len() == 1);
        match (self, drive) {
            (PathRules::Windows, Some((drive, rest))) => format!("{drive}:/{rest}"),
            _ => path.to_owned(),
        }
    }

    /// Returns the name of a variable that the start of a word stands for, as Unix shells call it: PowerShell's `$env:X` is `X`,
    /// and the home folder has another name.
    pub fn variable(self, name: &str) -> Cow<'_, str> {
        if self != PathRules::Windows {
            return Cow::Borrowed(name);
        }
        let name = name.to_ascii_uppercase();
        let name = name.strip_prefix("ENV:").unwrap_or(&name);
        Cow::Owned(if name == "USERPROFILE" { "HOME".to_owned() } else { name.to_owned() })
    }

    /// Returns a text in which words are looked for that are written in small letters.
    pub fn folded(self, text: &str) -> Cow<'_, str> {
        if self == PathRules::Exact { Cow::Borrowed(text) } else { Cow::Owned(text.to_ascii_lowercase()) }
    }
}

/// Turns a command of PowerShell into what a Unix shell would read: there `\` is a letter like any other, and a backtick takes the
/// meaning of the next one away.
pub fn from_powershell(command: &str) -> String {
    command.replace('\\', "/").replace("`\r\n", " ").replace("`\n", " ").replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_path_is_compared_as_one() {
        for path in [r"C:\Users\Me\.claude", "c:/users/me/.claude", "/c/Users/me/.claude", r"\\?\C:\Users\Me\.claude"] {
            assert_eq!(PathRules::Windows.unified(path), "/c/users/me/.claude", "{path}");
            assert_eq!(PathRules::Windows.findable("/c/users/me/.claude"), "c:/users/me/.claude");
        }
        assert_eq!(PathRules::Windows.unified(r"a\B"), "a/b");
        assert_eq!(PathRules::AnyCase.unified("/Home/You"), "/home/you");
        assert_eq!(PathRules::Exact.unified(r"/Home/Y\ou"), r"/Home/Y\ou");
        assert_eq!(PathRules::Windows.variable("env:UserProfile"), "HOME");
        assert_eq!(from_powershell("& \"C:\\x\\fuse`box.exe\" `\n stop"), "& \"C:/x/fusebox.exe\"   stop");
    }
}
