//! Paths of Windows as text: what others do not take, and what is no file.

/// What the system writes before a path that it has worked out.
const VERBATIM: &str = r"\\?\";
const VERBATIM_SHARE: &str = r"\\?\UNC\";
/// The longest path that every program takes, in UTF-16 units.
const LONGEST: usize = 259;

/// Names that are devices in every folder, whatever ending follows.
const DEVICES: [&str; 7] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"];
/// Names that are devices with a digit behind.
const NUMBERED: [&str; 2] = ["COM", "LPT"];

/// Returns a path without the prefix of verbatim ones, where it means the same without: on a drive or a share, and short enough.
pub fn plain(path: &str) -> String {
    let without = match (path.strip_prefix(VERBATIM_SHARE), path.strip_prefix(VERBATIM)) {
        (Some(share), _) => format!(r"\\{share}"),
        (None, Some(rest)) if is_on_drive(rest) => rest.to_owned(),
        _ => return path.to_owned(),
    };
    let is_understood = without.encode_utf16().count() <= LONGEST && !without.split('\\').any(is_odd_name);
    if is_understood { without } else { path.to_owned() }
}

fn is_on_drive(path: &str) -> bool {
    let mut bytes = path.bytes();
    bytes.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && bytes.next() == Some(b':')
}

/// Whether a part of a path means something else without the prefix.
fn is_odd_name(part: &str) -> bool {
    matches!(part, "." | "..") || part.ends_with(['.', ' ']) || part.contains('/') || is_device_name(part)
}

/// Whether a path names a device or a pipe, which may keep whoever opens it.
pub fn is_device(path: &str) -> bool {
    let path = path.replace('/', r"\");
    let of_files = |rest: &str| is_on_drive(rest) || rest.to_ascii_uppercase().starts_with(r"UNC\");
    let devices = [r"\\.\", r"\\?\", r"\??\"];
    if let Some(rest) = devices.iter().find_map(|prefix| path.strip_prefix(prefix)) {
        return !of_files(rest);
    }
    // A share's pipes: \\HOST\pipe\NAME.
    let is_pipe = path
        .strip_prefix(r"\\")
        .is_some_and(|share| share.split('\\').nth(1).is_some_and(|name| name.eq_ignore_ascii_case("pipe")));
    is_pipe || path.rsplit('\\').next().is_some_and(is_device_name)
}

fn is_device_name(part: &str) -> bool {
    let stem = part.split(['.', ':']).next().unwrap_or(part).trim_end().to_ascii_uppercase();
    let is_digit =
        |rest: &str| matches!(rest, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³");
    DEVICES.contains(&stem.as_str()) || NUMBERED.iter().any(|name| stem.strip_prefix(name).is_some_and(is_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_into_settings_has_no_prefix() {
        let long = format!(r"\\?\C:\{}", "x".repeat(260));
        for (real, written) in [
            (r"\\?\C:\Program Files\fusebox.exe", r"C:\Program Files\fusebox.exe"),
            (r"\\?\UNC\host\share\fusebox.exe", r"\\host\share\fusebox.exe"),
            (r"C:\x\fusebox.exe", r"C:\x\fusebox.exe"),
            ("/opt/fusebox", "/opt/fusebox"),
            (r"\\?\Volume{1}\fusebox.exe", r"\\?\Volume{1}\fusebox.exe"),
            (r"\\?\C:\a.\x", r"\\?\C:\a.\x"),
            (r"\\?\C:\nul\x", r"\\?\C:\nul\x"),
            (long.as_str(), long.as_str()),
        ] {
            assert_eq!(plain(real), written);
        }
    }

    #[test]
    fn devices_and_pipes_are_no_files() {
        for path in [
            r"\\.\pipe\x",
            "//./pipe/x",
            r"\\?\pipe\x",
            r"\\.\PhysicalDrive0",
            r"\\host\PIPE\x",
            r"C:\x\NUL",
            r"C:\x\con.txt",
            "com1",
            r"x\LPT9.log",
            "C:/x/aux",
            "CONIN$",
            r"\??\pipe\x",
            "nul:",
        ] {
            assert!(is_device(path), "{path}");
        }
        for path in [
            r"C:\x\fusebox.json",
            r"\\?\C:\x",
            r"\\host\share\x",
            "console.log",
            "com",
            "com10",
            "nullable.rs",
            "",
            r"\\?\UNC\host\share",
        ] {
            assert!(!is_device(path), "{path}");
        }
    }
}
