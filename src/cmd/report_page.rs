//! Where `fusebox report --html` writes its page.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::platform::{atomic_file, file_info};
use crate::ui::formats::counted;

/// How the names of pages end. No file that Claude Code or Fusebox reads does: a page never replaces one of these.
const ENDINGS: [&str; 2] = ["html", "htm"];
/// Who may read a page: it tells what its owner's agents do.
const PRIVATE: u32 = 0o600;

/// Returns the full path that a page is written to, or nothing for standard output (`-`); an error where it cannot be written.
pub fn writable(env: &Environment, file: &Path) -> Result<Option<PathBuf>> {
    if file == Path::new("-") {
        return Ok(None);
    }
    let path = env.folder().join(file);
    if file_info::is_folder(&path) {
        return Err(Error::failed(format!("`{}` is a folder", file.display()))
            .hint(format!("name a file in it: --html {}", file.join("report.html").display())));
    }
    // Where it is a link, the page takes the place of what the link leads to.
    let real = file_info::real_path(&path).unwrap_or_else(|_| path.clone());
    let is_page =
        |path: &Path| path.extension().is_some_and(|end| ENDINGS.iter().any(|it| end.eq_ignore_ascii_case(it)));
    if !is_page(&path) || !is_page(&real) {
        let named = file.with_extension(ENDINGS[0]);
        return Err(Error::usage(format!("the page's name has to end in .html, and `{}` does not", file.display()))
            .hint(format!("--html {}", named.display())));
    }
    if file_info::exists(&path) && !file_info::is_file(&path) {
        return Err(Error::failed(format!("`{}` is no regular file", file.display())));
    }
    Ok(Some(path))
}

/// Writes a page whole, and says where it is and how it is opened.
pub fn write(env: &Environment, page: &str, sessions: usize, path: Option<&Path>) -> Result<ExitCode> {
    let Some(path) = path else {
        env.print_data(page);
        return Ok(ExitCode::SUCCESS);
    };
    atomic_file::replace(path, page, PRIVATE).map_err(|cause| Error::file("write", path, cause))?;
    let (kilobytes, sessions) = (page.len().div_ceil(1000), counted(sessions as u64, "session"));
    let shown = env.short_path(path);
    let real = file_info::real_path(path).unwrap_or_else(|_| path.to_path_buf());
    env.print(&format!("Wrote {shown}: {kilobytes} kB, {sessions}. Open it in a browser: {}\n", url(&real)));
    Ok(ExitCode::SUCCESS)
}

/// Returns the address of a file for a browser's address bar.
fn url(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let mut url = if text.starts_with('/') { "file://".to_owned() } else { "file:///".to_owned() };
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b':' => {
                url.push(char::from(byte))
            }
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_can_be_pasted() {
        for (path, expected) in [
            ("/home/you/report.html", "file:///home/you/report.html"),
            ("/srv/a b#1/r\u{e9}port.html", "file:///srv/a%20b%231/r%C3%A9port.html"),
            ("C:\\Users\\you\\report.html", "file:///C:/Users/you/report.html"),
        ] {
            assert_eq!(url(Path::new(path)), expected);
        }
    }
}
