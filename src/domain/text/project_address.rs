//! The address by which a team knows a repository: host and path, the same for each form in which git takes it. It has no login,
//! no token, no folder of this machine. The store's function `project_address` does the same.

use crate::domain::text::git_config;

/// Schemes whose addresses name a server. Others name a folder (`file`) or a command that git runs (`ext`).
const SCHEMES: [&str; 8] = ["https", "http", "ssh", "git", "git+ssh", "ssh+git", "ftp", "ftps"];
/// The longest address that the store takes, in bytes.
const LONGEST: usize = 400;
/// The longest form of one that is read, in bytes.
const LONGEST_FORM: usize = 4096;
/// How often a form is simplified at most, until that changes nothing.
const ROUNDS: usize = 8;

/// Returns the address of `origin` in git's configuration; `None` where it has none that a team may see.
pub fn of_config(config: &str) -> Option<String> {
    // Without a colon it is a folder of this machine.
    git_config::remote_url(config, "origin").filter(|url| url.contains(':')).and_then(|url| canonical(&url))
}

/// Returns `host/path` of an address in any form. Returns `None` where what is left could still hold a secret, or names no repository
/// on a server.
///
/// A port is left out, too: one server gives the same repository by several, and each would be a way around the project's cap.
/// For the same reason upper case is lower case in paths.
pub fn canonical(written: &str) -> Option<String> {
    let mut address = Some(written).filter(|written| written.len() <= LONGEST_FORM)?.to_owned();
    for _ in 0..ROUNDS {
        let simpler = simplified(&address)?;
        if simpler == address {
            return Some(simpler).filter(|address| address.len() <= LONGEST);
        }
        address = simpler;
    }
    None
}

fn simplified(address: &str) -> Option<String> {
    let (host, path) = parts(address.split(['?', '#']).next().unwrap_or_default())?;
    let place = without_login(host).to_owned() + "/" + path;
    let place = decoded(&place)?.to_ascii_lowercase();
    let (host, path) = place.split_once('/')?;
    let host = host_of(without_login(host))?;
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." | "~" => {}
            ".." => drop(segments.pop()),
            _ => segments.push(segment),
        }
    }
    let path = segments.join("/");
    let path = path.trim_end_matches(".git").trim_end_matches('/');
    (!path.is_empty() && path.bytes().all(is_of_a_path)).then(|| format!("{host}/{path}"))
}

/// Parts a server from the path on it.
fn parts(address: &str) -> Option<(&str, &str)> {
    let is_known = |scheme: &str| SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    // As git names the program that it is to ask with: `https::https://host/path`.
    let named = address.split_once("::").filter(|(program, _)| is_known(program));
    let address = named.map_or(address, |(_, address)| address);
    if let Some((scheme, rest)) = address.split_once("://") {
        return is_known(scheme).then(|| rest.split_once('/').unwrap_or((rest, "")));
    }
    // As scp writes it, `git@host:path` or `[git@host:22]:path`; else as it is returned here, `host/path`.
    let from = address.find(']').unwrap_or(0);
    let end = from + address.get(from..)?.find([':', '/'])?;
    let (host, path) = (address.get(..end)?, address.get(end + 1..)?);
    // One letter before a colon is a drive of Windows.
    (host.len() > 1 || address.as_bytes().get(end) == Some(&b'/')).then_some((host, path))
}

fn without_login(host: &str) -> &str {
    host.rsplit_once('@').map_or(host, |(_, host)| host)
}

/// Returns the name or number of a host without its port; `None` where it is none.
fn host_of(text: &str) -> Option<String> {
    let (name, behind) = text.rsplit_once(']').unwrap_or((text, ""));
    let name = name.trim_start_matches('[');
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !behind.is_empty() && !behind.strip_prefix(':').is_some_and(is_port) {
        return None;
    }
    if name.matches(':').count() > 1 {
        let is_number = name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':' || byte == b'.');
        return is_number.then(|| format!("[{name}]"));
    }
    let (name, port) = name.split_once(':').unwrap_or((name, ""));
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
    let name = name.trim_end_matches('.');
    (is_name && is_port(port) && !name.is_empty()).then(|| name.to_owned())
}

/// Returns whether a byte may stand in a path. With `@` or `:` it could be the rest of a login.
fn is_of_a_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || b"/._~+-%,=()!$&'*".contains(&byte)
}

/// Returns text with each escape (`%41`) resolved once. What is no escape stays as it is.
fn decoded(text: &str) -> Option<String> {
    let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let escape = if byte == b'%' { digit(ahead.next()).zip(digit(ahead.next())) } else { None };
        match escape.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            Some(escaped) => {
                bytes.push(escaped);
                rest = ahead;
            }
            None => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_named_by_its_server_and_path_without_any_secret() {
        let cases = [
            ("https://ann:token@git.example/core/app.git", Some("git.example/core/app")),
            ("\"https://git.example/core/app.git#SECRET\"", Some("git.example/core/app")),
            ("https://git.example/core/app ; SECRET", Some("git.example/core/app")),
            ("https://git.example/core/app # SECRET", Some("git.example/core/app")),
            ("https://SECRET\\\"x@git.example/core/app", Some("git.example/core/app")),
            ("https://u:p@ss/SECRET@git.example/x", None),
            ("ann:SECRET@box:core", None),
            ("/srv/SECRET/app", None),
            ("srv/SECRET/app", None),
            ("../SECRET", None),
            ("./a:b/SECRET", None),
        ];
        for (url, address) in cases {
            let config =
                format!("[core]\n\tbare = false\n[remote \"origin\"]\n\tfetch = x\n\turl = {url}\n[branch \"main\"]\n");
            assert_eq!(of_config(&config).as_deref(), address, "{url}");
        }
        assert_eq!(of_config("[remote \"up\"]\n\turl = https://h/p\n"), None);
    }
}
