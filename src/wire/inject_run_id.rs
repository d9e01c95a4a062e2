//! `fusebox status --me` in an agent's shell: the command is told which run it is about, and nothing else of it changes.

use serde_json::value::RawValue;

use crate::wire::input::is_id;
use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::{self, Part};

/// Returns a shell call's input in which `fusebox status --me` names the run; nothing where it does not run that.
pub fn with_run_named(input: &RawValue, session: &str, run: &str) -> Option<Box<RawValue>> {
    if !input.get().contains("--me") || !is_id(session) || !is_id(run) {
        return None;
    }
    let mut fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(input.get()).ok()?;
    let command = with_run(fields.get("command")?.as_str()?, &format!("{session}/{run}"))?;
    fields.insert("command".to_owned(), command.into());
    serde_json::value::to_raw_value(&fields).ok()
}

/// Writes the run behind every `--me` of a `fusebox status` that the shell would run; what is quoted is no command.
fn with_run(command: &str, run: &str) -> Option<String> {
    let mut places = Vec::new();
    for part in shell::parts(command) {
        let Part::Command(simple) = part else { continue };
        let asks =
            |it: &Invocation| it.name() == "fusebox" && it.args.first().is_some_and(|verb| verb.text == "status");
        for invocation in Invocation::of(&simple).iter().filter(|it| asks(it)) {
            let plain = |end: usize| command[..end].ends_with("--me");
            places.extend(
                invocation.args.iter().filter(|word| word.text == "--me" && plain(word.end)).map(|word| word.end),
            );
        }
    }
    places.sort_unstable();
    let mut text = command.to_owned();
    for end in places.iter().rev() {
        text.insert_str(*end, &format!("={run}"));
    }
    (!places.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_status_that_runs_is_told_its_run() {
        for (command, told) in [
            ("fusebox status --me", Some("fusebox status --me=s/r")),
            ("/opt/bin/fusebox status --me --json", Some("/opt/bin/fusebox status --me=s/r --json")),
            ("fusebox status --json --me", Some("fusebox status --json --me=s/r")),
            ("cd a && NO_COLOR=1 fusebox status --me|cat", Some("cd a && NO_COLOR=1 fusebox status --me=s/r|cat")),
            ("ls\nfusebox status --me >out 2>&1", Some("ls\nfusebox status --me=s/r >out 2>&1")),
            ("fusebox status --me; fusebox status --me", Some("fusebox status --me=s/r; fusebox status --me=s/r")),
            ("echo 'ü' && fusebox status --me", Some("echo 'ü' && fusebox status --me=s/r")),
            ("fusebox status --me=other", None),
            ("fusebox status --me-too", None),
            ("fusebox status", None),
            ("fusebox log --me", None),
            ("notfusebox status --me", None),
            ("echo fusebox status --me", None),
            ("git commit -m 'now\nfusebox status --me\nworks'", None),
            ("echo \"\\\"; fusebox status --me\"", None),
            ("cat <<E >a.md\nfusebox status --me\nE", None),
            ("# fusebox status --me", None),
            ("ls # ; fusebox status --me", None),
            (
                "cat <<E >a.md\nfusebox status --me\nE\nfusebox status --me",
                Some("cat <<E >a.md\nfusebox status --me\nE\nfusebox status --me=s/r"),
            ),
            ("echo \"$(fusebox status --me)\"", Some("echo \"$(fusebox status --me=s/r)\"")),
            ("timeout 5 fusebox status --me", Some("timeout 5 fusebox status --me=s/r")),
            ("fusebox status '--me'", None),
            ("sh -c 'fusebox status --me'", None),
        ] {
            assert_eq!(with_run(command, "s/r").as_deref(), told, "{command}");
        }
    }

    #[test]
    fn everything_else_of_the_call_stays() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let input = raw(r#"{"command":"fusebox status --me","timeout":5,"description":"d"}"#);
        let told = with_run_named(&input, "s", "r").unwrap();
        let told: serde_json::Value = serde_json::from_str(told.get()).unwrap();
        assert_eq!(told, serde_json::json!({"command": "fusebox status --me=s/r", "timeout": 5, "description": "d"}));
        for (input, run) in [(r#"{"command":"fusebox status --me"}"#, "a b"), (r#"{"command":"ls --me"}"#, "r")] {
            assert!(with_run_named(&raw(input), "s", run).is_none(), "{input}");
        }
    }
}
