//! Commands that speak to the model themselves, without a client.

use crate::wire::bypass_detection::{Guard, SETTERS, Walk, clients, names_the_model};
use crate::wire::shell::Simple;
use crate::wire::shell::invocation::Invocation;

impl Guard {
    /// Whether a shell command speaks to the model without a client. A key that is set for a client is that client's.
    pub fn asks_the_model(&self, command: &str) -> bool {
        let mut walk = Walk { asks_of_model: true, ..Walk::new(self, command) };
        walk.text(command, 0);
        walk.names_model || (walk.sets_key && walk.starts.is_empty())
    }
}

impl Walk<'_> {
    /// Remembers what a command names of the model. The texts that it runs are read by themselves.
    pub(super) fn note_model(&mut self, simple: &Simple, invocations: &[Invocation]) {
        let reads = invocations.iter().any(|it| it.reads_commands || !it.scripts.is_empty());
        self.names_model |= !reads && simple.input.iter().any(|text| names_the_model(text));
        for it in invocations.iter().filter(|it| !it.program.is_empty()) {
            if SETTERS.contains(&it.name()) {
                self.sets_key |= it.args.iter().any(|word| names_the_model(&word.text));
                continue;
            }
            let variables = || it.variables.iter().any(|(name, _)| names_the_model(name));
            let words = || it.args.iter().any(|word| names_the_model(&word.text));
            self.names_model |= !clients::starts(it) && (variables() || words());
        }
    }
}
