//! The address by which a team knows a repository: no login, no token, no folder of this machine.

/// Schemes whose addresses name a server. Others name a folder (`file`) or a command that git runs (`ext`).
const SCHEMES: [&str; 5] = ["https", "http", "ssh", "git", "git+ssh"];
/// The longest address that the store takes, in characters.
const LONGEST: usize = 400;

/// Returns the address of `origin` in git's configuration; `None` where it has none that a team may see.
pub fn of_config(config: &str) -> Option<String> {
    let mut lines = config.lines().map(str::trim).skip_while(|line| *line != "[remote \"origin\"]").skip(1);
    let value = lines.by_ref().take_while(|line| !line.starts_with('[')).find_map(|line| {
        let (key, value) = line.split_once('=')?;
        key.trim().eq_ignore_ascii_case("url").then_some(value)
    })?;
    shared(&unquoted(value))
}

/// Returns an address without its login, its query and its fragment. Returns `None` where what is left could still hold a secret,
/// or names no repository on a server.
pub fn shared(address: &str) -> Option<String> {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let (scheme, host, separator, path) = match address.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/')?;
            (SCHEMES.into_iter().find(|known| scheme.eq_ignore_ascii_case(known))?, host, '/', path)
        }
        // As scp writes it, `git@host:path`. One letter is a drive of Windows.
        None => {
            let (host, path) = address.split_once(':').filter(|(host, _)| host.len() > 1)?;
            ("", host, ':', path)
        }
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let named = is_host(host) && !path.is_empty() && path.bytes().all(is_of_a_path);
    let after_scheme = if scheme.is_empty() { "" } else { "://" };
    Some(format!("{scheme}{after_scheme}{host}{separator}{path}")).filter(|address| named && address.len() <= LONGEST)
}

/// Returns whether a text is a name or number of a host, with its port where it has one.
fn is_host(text: &str) -> bool {
    let port = text.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = port.map_or(text, |(name, _)| name);
    match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(number) => number.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':' || byte == b'.'),
        None => !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte)),
    }
}

/// Returns whether a byte may stand in a path. With `@` or `:` it could be the rest of a login.
fn is_of_a_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || b"/._~+-%,=()!$&'*".contains(&byte)
}

/// Returns a value of git's configuration as git reads it: quotes taken off, escapes resolved, the comment left out.
fn unquoted(value: &str) -> String {
    let (mut text, mut quoted, mut escaped) = (String::new(), false, false);
    for letter in value.trim().chars() {
        match letter {
            _ if escaped => {
                text.push(letter);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => break,
            _ => text.push(letter),
        }
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASES: [(&str, Option<&str>); 25] = [
        ("https://ann:token@git.example/core/app.git", Some("https://git.example/core/app.git")),
        ("HTTPS://git.example/core/app.git", Some("https://git.example/core/app.git")),
        ("git@git.example:core/app.git", Some("git.example:core/app.git")),
        ("ssh://git@git.example:22/core/app", Some("ssh://git.example:22/core/app")),
        ("ssh://git@[::1]:22/core/app", Some("ssh://[::1]:22/core/app")),
        ("https://git.example/ångström/app", Some("https://git.example/ångström/app")),
        ("https://git.example/core/app.git?private_token=SECRET", Some("https://git.example/core/app.git")),
        ("\"https://git.example/core/app.git#SECRET\"", Some("https://git.example/core/app.git")),
        ("https://git.example/core/app ; SECRET", Some("https://git.example/core/app")),
        ("https://git.example/core/app # SECRET", Some("https://git.example/core/app")),
        ("https://SECRET\\\"x@git.example/core/app", Some("https://git.example/core/app")),
        ("https://u:p@ss/SECRET@git.example/x", None),
        ("https://u:SECRET/x@git.example/y", None),
        ("ann:SECRET@box:core", None),
        ("ext::ssh -i /srv/SECRET host %S /x", None),
        ("fd::17/SECRET", None),
        ("https://u:SECRET/x", None),
        ("https://SECRET", None),
        ("https:///SECRET", None),
        ("/srv/SECRET/app", None),
        ("../SECRET", None),
        ("./a:b/SECRET", None),
        ("C:\\SECRET", None),
        ("C:/SECRET", None),
        ("file:///srv/SECRET/app", None),
    ];

    #[test]
    fn a_project_is_named_by_its_server_and_path_without_any_secret() {
        for (url, address) in CASES {
            let config =
                format!("[core]\n\tbare = false\n[remote \"origin\"]\n\tfetch = x\n\turl = {url}\n[branch \"main\"]\n");
            assert_eq!(of_config(&config).as_deref(), address, "{url}");
            assert!(!of_config(&config).unwrap_or_default().contains("SECRET"), "{url}");
        }
        assert_eq!(of_config("[remote \"up\"]\n\turl = https://h/p\n"), None);
        assert_eq!(of_config("[remote \"origin\"]\n\tURL=https://h/p\n").as_deref(), Some("https://h/p"));
    }

    #[test]
    fn an_address_stays_what_it_is_when_it_is_read_again() {
        for address in CASES.into_iter().filter_map(|case| case.1) {
            assert_eq!(shared(address).as_deref(), Some(address));
        }
    }

    #[test]
    fn an_address_that_the_store_would_not_take_is_none() {
        assert_eq!(shared(&format!("https://h/{}", "x".repeat(LONGEST))), None);
    }
}
