//! What a person recognizes a call by: its tool, the beginning of its input, and what came of it.

use serde::{Deserialize, Serialize};

/// A call as a person is shown it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownCall {
    /// The tool and the beginning of its input: `Bash "make test"`. Empty where nothing is known of it.
    pub call: String,
    /// The telling line of its error: `No rule to make target`. Empty where it ended well.
    pub error: String,
}
