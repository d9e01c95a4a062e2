//! How a person pays for the model, which cost they read first, and how their own prices count.

use serde::{Deserialize, Serialize};

/// How the person pays for what the client asks of models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Billing {
    /// By the token: dollars are what is paid, at list price.
    #[default]
    Tokens,
    /// By a plan: dollars are list prices, and no bill.
    Plan,
}

/// Which of a session's two costs a person reads first. Limits go by the larger of the two, whichever that is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// What Fusebox has counted.
    #[default]
    Counted,
    /// The client's own total, where it is known.
    Client,
}

/// How a person's own prices stand to the list's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnPrices {
    /// They take their place.
    Replace,
    /// They only raise them: a cap on cost is not the person's own, and lower prices would lift it.
    OnlyRaise,
}
