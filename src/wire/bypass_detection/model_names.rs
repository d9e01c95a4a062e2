//! How the model's API is named.

use crate::byte_search;

/// What names the model's API, or the key to it.
const MODEL: [&str; 4] = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "api.anthropic.com", "/v1/messages"];

/// Whether a text names the model's API, or the key to it.
pub fn names_the_model(text: &str) -> bool {
    MODEL.iter().any(|name| byte_search::find(name.as_bytes(), text.as_bytes()).is_some())
}
