//! The names that people give models, and what the client makes of them.

use crate::pricing::table::canonical;

/// Short names, the variable that says what each stands for, and what client 2.1.330 takes it for where none does.
const SHORT: [(&str, &str, &str); 7] = [
    ("opus", "ANTHROPIC_DEFAULT_OPUS_MODEL", "claude-opus-5-5"),
    ("sonnet", "ANTHROPIC_DEFAULT_SONNET_MODEL", "claude-sonnet-5-5"),
    ("haiku", "ANTHROPIC_DEFAULT_HAIKU_MODEL", "claude-haiku-5-5"),
    ("fable", "ANTHROPIC_DEFAULT_FABLE_MODEL", "claude-fable-5-2"),
    ("best", "ANTHROPIC_DEFAULT_OPUS_MODEL", "claude-opus-5-5"),
    ("default", "ANTHROPIC_DEFAULT_OPUS_MODEL", "claude-opus-5-5"),
    // Opus plans, Sonnet works: the dearer of the two.
    ("opusplan", "ANTHROPIC_DEFAULT_OPUS_MODEL", "claude-opus-5-5"),
];

/// Returns the id of the model that a name stands for; `None` for the name of the model at hand.
pub fn id_of(name: &str, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let name = name.trim();
    let plain = name.split('[').next().unwrap_or(name).to_ascii_lowercase();
    if plain.is_empty() || plain == "inherit" {
        return None;
    }
    let short = SHORT.iter().find(|(short, ..)| *short == plain);
    Some(short.map_or_else(|| name.to_owned(), |(_, var, id)| variable(var).unwrap_or_else(|| (*id).to_owned())))
}

/// Whether a short name is the family of a model: an agent that it is given to works with that one.
pub fn is_family(name: &str, model: &str) -> bool {
    canonical(model).split('-').any(|part| part == name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_stand_for_what_the_client_takes() {
        let none = |_: &str| None;
        for (name, id) in [
            ("opus", Some("claude-opus-5-5")),
            (" Opus[1m] ", Some("claude-opus-5-5")),
            ("claude-fable-5", Some("claude-fable-5")),
            ("inherit", None),
            ("", None),
            ("our-proxy/large", Some("our-proxy/large")),
        ] {
            assert_eq!(id_of(name, none).as_deref(), id, "{name}");
        }
        let said = |name: &str| (name == "ANTHROPIC_DEFAULT_OPUS_MODEL").then(|| "claude-fable-5".to_owned());
        assert_eq!(id_of("opus", said).as_deref(), Some("claude-fable-5"));
        assert!(is_family("haiku", "claude-haiku-4-5-20251001") && !is_family("opus", "claude-haiku-4-5"));
    }
}
