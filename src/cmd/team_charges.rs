//! What this machine has spent, as the team's store takes it: no prompt, and no path of this machine.

use std::collections::BTreeMap;
use std::path::Path;

use crate::domain::spend::amount::Amount;
use crate::domain::spend::charge::Charge as Response;
use crate::domain::stored::stable_hash;
use crate::platform::files;
use crate::team::messages::Charge;

/// How long a name may be in the store: of a response, a model, a project.
const LONGEST: [usize; 3] = [200, 200, 400];
/// The most that one response can cost, in pico-dollars: the store takes no more.
const MOST: Amount = Amount(1_000_000_000_000_000_000);
/// The most of git's configuration that is read, in bytes.
const LARGEST_CONFIG: u64 = 1 << 20;

/// Returns responses as the store takes them; `projects` names the project of each session.
pub fn charges(responses: &[Response], projects: &BTreeMap<String, String>) -> Vec<Charge> {
    let charge = |response: &Response| Charge {
        message: message_name(response),
        cost: response.spend.cost.min(MOST),
        model: label(&response.model, LONGEST[1]),
        project: projects.get(&response.session).cloned().unwrap_or_default(),
    };
    responses.iter().map(charge).collect()
}

/// Returns the response's `message.id`, which is the same wherever its session goes; of an estimate, a name of this session's.
fn message_name(response: &Response) -> String {
    let Response { message, session, .. } = response;
    let is_plain = |text: &str| text.len() <= LONGEST[0] && text.bytes().all(|byte| byte.is_ascii_graphic());
    match (message.starts_with("msg_"), is_plain(message)) {
        (true, true) => message.clone(),
        _ => format!("{:016x}:{:016x}", stable_hash::of(session.as_bytes()), stable_hash::of(message.as_bytes())),
    }
}

/// Returns the address of the repository's `origin`, without a login; empty where there is none. A path of this machine is never told.
pub fn project_name(git_folder: &Path) -> String {
    let config = files::text(&git_folder.join("config"), LARGEST_CONFIG).unwrap_or_default();
    label(&origin(&config).unwrap_or_default(), LONGEST[2])
}

fn origin(config: &str) -> Option<String> {
    let mut lines = config.lines().map(str::trim).skip_while(|line| *line != "[remote \"origin\"]").skip(1);
    let setting = lines.by_ref().take_while(|line| !line.starts_with('[')).find_map(|line| line.strip_prefix("url"))?;
    let url = setting.trim_start().strip_prefix('=')?.trim();
    match url.split_once("://") {
        Some(("file", _)) => None,
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            Some(format!("{scheme}://{host}/{path}"))
        }
        // `git@host:path`, but not a path of this machine.
        None => {
            url.split_once(':').filter(|(host, _)| host.len() > 1 && !host.contains(['/', '\\'])).map(|(host, path)| {
                let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
                format!("{host}:{path}")
            })
        }
    }
}

/// Returns text that the store takes: nothing that controls, and not too long.
fn label(text: &str, most: usize) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_named_by_its_origin_without_a_login_and_never_by_a_path() {
        let cases = [
            ("https://ann:token@git.example/core/app.git", Some("https://git.example/core/app.git")),
            ("git@git.example:core/app.git", Some("git.example:core/app.git")),
            ("ssh://git@git.example:22/core/app", Some("ssh://git.example:22/core/app")),
            ("/home/you/app", None),
            ("../app", None),
            ("C:\\app", None),
            ("file:///home/you/app", None),
        ];
        for (url, name) in cases {
            let config =
                format!("[core]\n\tbare = false\n[remote \"origin\"]\n\tfetch = x\n\turl = {url}\n[branch \"main\"]\n");
            assert_eq!(origin(&config).as_deref(), name, "{url}");
        }
        assert_eq!(origin("[remote \"up\"]\n\turl = https://h/p\n"), None);
    }

    #[test]
    fn a_response_keeps_its_id_and_an_estimate_is_of_its_session() {
        let name = |message: &str, session: &str| {
            message_name(&Response { message: message.to_owned(), session: session.to_owned(), ..Response::default() })
        };
        assert_eq!(name("msg_01", "s"), "msg_01");
        assert_ne!(name("estimate", "s"), name("estimate", "t"));
        assert!(name(&format!("msg_{}", "x".repeat(500)), "s").len() < LONGEST[0]);
        assert!(!name("msg_\0", "s").contains('\0'));
    }
}
