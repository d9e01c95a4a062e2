//! What `NODE_OPTIONS` may hold in a client that an agent starts.

/// The flags that load no code and open no debugger: sizes, warnings, and what is taken for an error.
const HARMLESS_FLAGS: &[&str] = &[
    "--max-old-space-size",
    "--max-old-space-size-percentage",
    "--max-semi-space-size",
    "--min-semi-space-size",
    "--max-http-header-size",
    "--stack-trace-limit",
    "--expose-gc",
    "--trace-gc",
    "--no-warnings",
    "--disable-warning",
    "--trace-warnings",
    "--no-deprecation",
    "--pending-deprecation",
    "--throw-deprecation",
    "--trace-deprecation",
    "--trace-uncaught",
    "--trace-exit",
    "--unhandled-rejections",
    "--enable-source-maps",
    "--dns-result-order",
    "--no-network-family-autoselection",
    "--openssl-legacy-provider",
    "--experimental-vm-modules",
    "--experimental-strip-types",
    "--no-experimental-strip-types",
];

/// Whether options for Node are nothing but harmless flags with their values, and those that there are.
pub fn are_harmless(options: &str) -> bool {
    let mut may_be_value = false;
    let is_harmless = |word: &str| {
        let name = word.split_once('=').map_or(word, |(name, _)| name).replace('_', "-");
        let is_kept = matches!(word, "$NODE_OPTIONS" | "${NODE_OPTIONS}" | "${NODE_OPTIONS:-}" | "${NODE_OPTIONS-}");
        let is_flag = HARMLESS_FLAGS.contains(&name.as_str());
        let is_value = may_be_value && word.bytes().all(|byte| byte.is_ascii_digit());
        may_be_value = is_flag && !word.contains('=');
        is_kept || is_flag || is_value
    };
    // Quotes keep words together.
    !options.contains(['"', '\'', '\\', '`', '(']) && options.split_whitespace().all(is_harmless)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::bypass_detection::diversions::set_variable;

    #[test]
    fn options_for_node_divert_unless_all_of_them_are_known_to_be_harmless() {
        for flag in HARMLESS_FLAGS {
            for options in [flag.to_string(), format!("  {flag}=8192  "), format!("$NODE_OPTIONS {flag} 4096")] {
                assert_eq!(set_variable("NODE_OPTIONS", Some(&options)), None, "{options}");
            }
            let load =
                ["--require x", "-r x", "--import=x", "--loader x", "--experimental-loader=x", "--inspect", "x.js"];
            for other in load {
                for options in [format!("{flag} {other}"), format!("{other} {flag}"), format!("{flag}{other}")] {
                    assert!(set_variable("NODE_OPTIONS", Some(&options)).is_some(), "{options}");
                }
            }
        }
        for options in [
            "--icu-data-dir=/x",
            "--env-file=x",
            "--openssl-config=x",
            "$OTHER",
            "1",
            "$(cat x)",
            "\"--no-warnings --r\"",
        ] {
            assert!(set_variable("NODE_OPTIONS", Some(options)).is_some(), "{options}");
        }
        assert!(set_variable("NODE_OPTIONS", None).is_none() && set_variable("NODE_OPTIONS", Some("")).is_none());
        assert!(set_variable("HOME", None).is_some(), "another one is no less diverting where it is taken away");
    }
}
