//! Changes of Windows: it has no modes, and does not rename what somebody has open.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

/// How often, and after what pause, something is renamed again that somebody has open: a scanner of viruses, say.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);
/// The errors of that: access denied, and a sharing violation.
const IN_USE: [i32; 2] = [5, 32];

/// Makes a folder, with those that it needs; who may do what with it, the folder around it says.
pub fn make_folders_with(path: &Path, _mode: u32) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Does nothing: who may do what with a file, its folder says.
pub fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// Does nothing: who may do what with a file, its folder says.
pub fn mode_of_new(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// Renames a file; one that has the new name goes.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    for _ in 1..TRIES {
        match fs::rename(from, to) {
            Err(cause) if cause.raw_os_error().is_some_and(|code| IN_USE.contains(&code)) => thread::sleep(PAUSE),
            other => return other,
        }
    }
    fs::rename(from, to)
}

/// Renames a program; one that has the new name goes. Windows lets a program that runs be renamed, and not replaced: so it is put
/// aside as `NAME.old`, which the next rename removes.
pub fn rename_program(from: &Path, to: &Path) -> io::Result<()> {
    let aside = to.with_extension("old");
    let _still_runs = fs::remove_file(&aside);
    match fs::rename(from, to) {
        Err(cause) if cause.raw_os_error().is_some_and(|code| IN_USE.contains(&code)) => {
            fs::rename(to, &aside)?;
            rename(from, to).inspect_err(|_| {
                let _back = fs::rename(&aside, to);
            })
        }
        other => other,
    }
}

/// Sets the time of a file to now, as a program does that has written it.
pub fn touch(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.set_modified(SystemTime::now())
}
