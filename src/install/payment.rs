//! How the client is paid for, as far as that can be seen without a secret: dollars mean something else to each.

use std::path::Path;

use serde_json::Value;

use crate::install::files;
use crate::platform::environment::Environment;
use crate::wire::javascript_json;

/// How the client is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payment {
    /// By the token, with a key of Anthropic's API.
    ApiKey,
    /// By the token, through another provider.
    Provider(&'static str),
    /// By the month: somebody is signed in.
    Plan,
}

/// The variables that have the client ask another provider.
const PROVIDERS: [(&str, &str); 4] = [
    ("CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock"),
    ("CLAUDE_CODE_USE_VERTEX", "Google Vertex AI"),
    ("CLAUDE_CODE_USE_FOUNDRY", "Microsoft Foundry"),
    ("CLAUDE_CODE_USE_GATEWAY", "a gateway"),
];

/// The variables that hold a key.
const KEYS: [&str; 2] = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"];

/// The variable that holds what `claude setup-token` gives to whoever has a plan.
const PLAN_TOKEN: &str = "CLAUDE_CODE_OAUTH_TOKEN";

/// Reads a JSON file of the client's.
fn object(path: &Path) -> Option<Value> {
    javascript_json::parse(&files::read(path).ok()??)
}

/// Returns how the client is paid for; `None` where nothing shows it. A key goes before an account, as in the client.
pub fn payment(env: &Environment) -> Option<Payment> {
    let settings = env.claude_dir().and_then(|folder| object(&folder.join("settings.json"))).unwrap_or_default();
    // The client takes these from its environment, and from what the person's settings add to that.
    let var = |name: &str| {
        let in_settings = settings.get("env").and_then(|of| of.get(name)).and_then(Value::as_str).map(str::to_owned);
        env.var(name).map(|value| value.to_string()).or(in_settings)
    };
    let is_on = |name: &str| var(name).is_some_and(|value| !["0", "false"].contains(&&*value));
    if let Some((_, provider)) = PROVIDERS.iter().find(|(name, _)| is_on(name)) {
        return Some(Payment::Provider(provider));
    }
    if KEYS.iter().any(|name| var(name).is_some()) {
        return Some(Payment::ApiKey);
    }
    if var(PLAN_TOKEN).is_some() {
        return Some(Payment::Plan);
    }
    let folder = env.named_folder("CLAUDE_CONFIG_DIR").or_else(|| env.home())?;
    let account = object(&folder.join(".claude.json"))?;
    // Whoever signs in at Anthropic's Console is given a key there.
    let has_helper = settings.get("apiKeyHelper").is_some_and(Value::is_string);
    if has_helper || account.get("primaryApiKey").is_some_and(Value::is_string) {
        return Some(Payment::ApiKey);
    }
    account.get("oauthAccount").filter(|account| account.is_object()).map(|_| Payment::Plan)
}

/// Says what dollars mean then.
pub fn meaning(payment: Payment) -> String {
    match payment {
        Payment::ApiKey => "by the token (API key): dollars are list prices".to_owned(),
        Payment::Provider(name) => {
            format!("by the token ({name}): dollars are Anthropic's list prices; your bill may differ")
        }
        Payment::Plan => "by a plan (the client is signed in): dollars are list prices, and no bill".to_owned(),
    }
}
