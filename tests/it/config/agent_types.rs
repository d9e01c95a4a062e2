//! An agent's type in every form of its name that the client takes.

use fusebox::config::unknown_agents;
use fusebox::domain::limit::Limit;

use crate::config::{AGENT, LOCAL, MANAGED, PROJECT, SPAWN, TRUST, USER, one, policy};

const FORMS: [&str; 6] = ["developer", "Developer", "DEVELOPER", "developer ", " developer", "ｄeveloper"];

#[test]
fn what_is_said_of_a_type_is_said_of_it_in_every_form() {
    for said in FORMS {
        let of_type = |limits: &str| format!(r#"{{"agents": {{"{said}": {{{limits}}}}}}}"#);
        let capped = of_type(r#""max_turns": 2"#);
        let pattern = format!(r#"{{"agents": {{"{}*": {{"max_turns": 2}}}}}}"#, &said.trim_end()[..said.len() - 3]);
        let lock = format!(r#"{{"locked": ["agents.{}.max_turns"], {}"#, said.trim(), &capped[1..]);
        let binding = format!(r#"{{"binding": ["agents.{}.max_turns"], {}"#, said.trim(), &capped[1..]);
        let file = format!("---\nname: \"{said}\"\nexecution_limits: {{ max_turns: 2 }}\n---\n");
        for name in FORMS {
            let looser = format!(r#"{{"agents": {{"{name}": {{"max_turns": 7}}}}}}"#);
            let frees = "execution_limits: {max_turns: 9}";
            for (files, expected) in [
                (vec![(USER, capped.as_str())], "2 terminate user"),
                (vec![(USER, pattern.as_str())], "2 terminate user"),
                (vec![(AGENT, file.as_str())], "2 terminate frontmatter"),
                (vec![(USER, capped.as_str()), (SPAWN, frees)], "2 terminate user"),
                (vec![(MANAGED, lock.as_str()), (USER, looser.as_str())], "2 terminate managed locked"),
                (vec![(PROJECT, binding.as_str()), (LOCAL, looser.as_str()), TRUST], "2 terminate project"),
            ] {
                let spawn = files.iter().find(|file| file.0 == SPAWN).map(|file| file.1);
                let (policy, _) = policy(&files);
                let rules = policy.agent(name, spawn).0;
                assert_eq!(one(&rules, "max_turns"), expected, "{name:?} under {files:?}");
                assert_eq!(unknown_agents::unknown(&policy, &[], name), None, "{name:?}");
            }
        }
    }
}

#[test]
fn of_two_forms_the_exact_one_wins() {
    let files = [(
        USER,
        r#"{"agents": {"Developer": {"max_turns": 4}, "developer": {"max_turns": 9}, "DEV*": {"max_turns": 5}, "dev*": {"max_turns": 6}}}"#,
    )];
    let (policy, _) = policy(&files);
    for (name, cap) in [("developer", 9), ("Developer", 4), ("devops", 6), ("DEVOPS", 5)] {
        let rules = policy.agent(name, None).0;
        assert_eq!(rules.get(Limit::find("max_turns").unwrap()).unwrap().cap, cap, "{name}");
    }
}
