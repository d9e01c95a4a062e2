//! The one fact that is read of git's configuration: which address git asks for a remote.

/// One line `key = value` of a section. Names of sections and keys are in lower case, as git compares them.
struct Entry {
    section: String,
    subsection: String,
    key: String,
    value: String,
}

/// Returns the address that git asks for a remote, with `url.<base>.insteadOf` of the same file applied; `None` where it has none.
pub fn remote_url(config: &str, remote: &str) -> Option<String> {
    let entries = entries(config);
    let of_remote = |entry: &&Entry| entry.section == "remote" && entry.subsection == remote && entry.key == "url";
    // Of several the first counts. An empty one takes back those before it.
    let url = entries.iter().filter(of_remote).fold(None, |first, entry| match &entry.value {
        value if value.is_empty() => None,
        value => first.or(Some(value)),
    })?;
    let is_instead =
        |entry: &&Entry| entry.section == "url" && entry.key == "insteadof" && url.starts_with(&entry.value);
    let longest = entries.iter().filter(is_instead).max_by_key(|entry| entry.value.len());
    Some(longest.map_or_else(|| url.clone(), |by| format!("{}{}", by.subsection, &url[by.value.len()..])))
}

fn entries(config: &str) -> Vec<Entry> {
    let (mut section, mut subsection) = (String::new(), String::new());
    let mut entries = Vec::new();
    for line in config.trim_start_matches('\u{feff}').replace("\\\r\n", "").replace("\\\n", "").lines() {
        let mut line = line.trim();
        if let Some((name, of, rest)) = header(line) {
            (section, subsection, line) = (name, of, rest.trim());
        }
        if let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with(['#', ';', '['])) {
            let key = key.trim().to_ascii_lowercase();
            entries.push(Entry {
                section: section.clone(),
                subsection: subsection.clone(),
                key,
                value: unquoted(value),
            });
        }
    }
    entries
}

/// Takes the header of a section apart: its name, the subsection's name, and what stands behind it.
fn header(line: &str) -> Option<(String, String, &str)> {
    let line = line.strip_prefix('[')?;
    let end = line.find([']', '"'])?;
    let (name, rest) = line.split_at(end);
    let name = name.trim().to_ascii_lowercase();
    let Some(mut rest) = rest.strip_prefix('"') else {
        let (name, subsection) = name.split_once('.').unwrap_or((&name, ""));
        return Some((name.to_owned(), subsection.to_owned(), rest.get(1..)?));
    };
    let mut subsection = String::new();
    loop {
        let at = rest.find(['"', '\\'])?;
        subsection.push_str(&rest[..at]);
        let is_end = rest[at..].starts_with('"');
        rest = &rest[at + 1..];
        if is_end {
            return Some((name, subsection, rest.split_once(']')?.1));
        }
        let escaped = rest.chars().next()?;
        subsection.push(escaped);
        rest = &rest[escaped.len_utf8()..];
    }
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

    #[test]
    fn the_address_of_a_remote_is_the_one_that_git_asks() {
        let cases = [
            ("[remote \"origin\"]\n\turl = \"h:a b\" ; c\n", Some("h:a b")),
            ("[remote \"origin\"] # c\nurl = h:p\\\n/q\n", Some("h:p/q")),
            ("\u{feff}[ REMOTE \"o\\rigin\" ] URL=h:p", Some("h:p")),
            ("[remote.ORIGIN]\nurl=h:p", Some("h:p")),
            ("[remote \"Origin\"]\nurl=h:p", None),
            ("[remote \"up\"]\nurl=h:p\n[core]\nurl=h:q", None),
            ("[remote \"origin\"]\n;url=h:p\nurl\nurl = h:q\n", Some("h:q")),
            ("[remote \"origin\"]\nurl=h:p\nurl=h:q", Some("h:p")),
            ("[remote \"origin\"]\nurl=h:p\nurl=\nurl=h:q\nfetch=x", Some("h:q")),
            ("[remote \"origin\"]\nurl=a:p\n[url \"b:\"]\ninsteadOf=a\n[url \"c:\"]\ninsteadof=a:", Some("c:p")),
            ("[remote \"origin", None),
            ("[remote \"origin\\", None),
            ("[]\n[\n[remote", None),
        ];
        for (config, url) in cases {
            assert_eq!(remote_url(config, "origin").as_deref(), url, "{config}");
        }
    }
}
