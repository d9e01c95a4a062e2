//! Commands that speak to the model themselves, without a client.

use crate::wire::bypass_detection::finds::LISTS;
use crate::wire::bypass_detection::model_names::names_the_model;
use crate::wire::bypass_detection::{Guard, SETTERS, Walk, clients};
use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::written::HAND_ON;
use crate::wire::shell::{Simple, base};

/// Programs that only print, compare or edit text, or move files, beside those that list files and that hand on what they read.
const OF_TEXT: [&str; 26] = [
    ":",
    "true",
    "test",
    "[",
    "[[",
    "echo",
    "printf",
    "print",
    "fgrep",
    "sed",
    "cut",
    "tr",
    "wc",
    "diff",
    "cmp",
    "less",
    "more",
    "mkdir",
    "touch",
    "rm",
    "cp",
    "mv",
    "chmod",
    "cd",
    "Write-Output",
    "Select-String",
];

impl Guard {
    /// Whether a shell command speaks to the model without a client. A key that is set for a client is that client's.
    pub fn asks_the_model(&self, command: &str) -> bool {
        let mut walk = Walk { asks_of_model: true, ..Walk::new(self, command) };
        walk.text(command, 0);
        walk.names_model || (walk.sets_key && walk.starts.is_empty())
    }
}

impl Walk<'_> {
    /// Remembers what a command names of the model. The texts that it runs are read by themselves. What programs of text name asks for
    /// nothing, unless another program gets it: through a pipe, or as a file that it runs or reads.
    pub(super) fn note_model(&mut self, simple: &Simple, invocations: &[Invocation], said: &[String]) {
        let is_of_text =
            |it: &Invocation| [&LISTS[..], &HAND_ON, &OF_TEXT].iter().any(|names| names.contains(&it.name()));
        let asks = invocations.iter().any(|it| !is_of_text(it) && !clients::starts(it));
        let reads = invocations.iter().any(|it| it.reads_commands || !it.scripts.is_empty());
        let input = || simple.input.iter().map(|text| &**text);
        let piped = || said.iter().map(String::as_str).filter(|_| simple.is_piped);
        let words = || simple.words.iter().map(|word| &*word.text);
        if !asks {
            if input().chain(piped()).chain(words()).any(names_the_model) {
                self.model_files.extend(simple.writes.iter().map(|file| base(&file.text).to_owned()));
            }
            return;
        }
        let is_written = |word: &str| self.model_files.iter().any(|file| file == base(word));
        self.names_model |= words().any(is_written) || !reads && input().chain(piped()).any(names_the_model);
        for it in invocations.iter().filter(|it| !it.program.is_empty() && !is_of_text(it)) {
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
