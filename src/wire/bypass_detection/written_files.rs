//! The files that a program writes: by its row, and a client by the paths that it is given for its logs.

use crate::wire::bypass_detection::Walk;
use crate::wire::bypass_detection::clients::client_args;
use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::{base, program_name};

/// Options of the client whose value is a file that it writes before it reads its settings. It looks for them among all its words.
const LOG_OPTIONS: [&str; 1] = ["--debug-file"];

/// Variables whose value is one.
const LOG_VARIABLES: [&str; 6] = [
    "CLAUDE_CODE_DEBUG_LOGS_DIR",
    "CLAUDE_CODE_DIAGNOSTICS_FILE",
    "CLAUDE_CODE_PERFETTO_TRACE",
    "CLAUDE_CODE_FRAME_TIMING_LOG",
    "CLAUDE_PTY_RECORD",
    "AUTOMODE_DECISION_LOG",
];

impl Walk<'_> {
    /// Says what an invocation writes, where an agent may not.
    pub(super) fn writes(&self, it: &Invocation, read: &[&str]) -> Option<String> {
        let folder = self.scope.folder.as_deref();
        // Options of those that run it may lead it to another one: `env -C`.
        let led = self.led(it);
        let own = (led.as_deref().or(folder), (it.program, it.args));
        let mut programs = it.runners.iter().map(|runner| (folder, *runner)).chain([own]);
        let look = |folder: Option<&str>, path: &str| self.note_written(folder, path);
        programs
            .find_map(|(folder, (program, args))| self.guard.written(folder, program_name(program), args, read, &look))
            .or_else(|| self.logged(it))
    }

    /// Remembers a file that is written; says what it is, where an agent may not.
    pub(super) fn note_written(&self, folder: Option<&str>, path: &str) -> Option<String> {
        if self.guard.programs().any(|own| base(own) == base(path)) {
            self.guard.writes_like_program.set(true);
        }
        self.written.borrow_mut().push(self.guard.resolve(folder, path).unwrap_or_else(|| path.to_owned()));
        self.guard.guarded(folder, path)
    }

    /// Says what a client writes that is started, where an agent may not.
    fn logged(&self, it: &Invocation) -> Option<String> {
        let args = client_args(it)?;
        let folder = self.led(it);
        let by_option = args.iter().enumerate().filter_map(|(at, arg)| {
            let (name, value) = arg.split_once('=').map_or((*arg, None), |(name, value)| (name, Some(value)));
            LOG_OPTIONS.contains(&name).then(|| value.or_else(|| args.get(at + 1).copied())).flatten()
        });
        let given =
            it.variables.iter().filter(|(name, _)| LOG_VARIABLES.contains(name)).filter_map(|(_, value)| *value);
        let kept = LOG_VARIABLES.iter().flat_map(|name| self.variables.values(name)).map(String::as_str);
        by_option.chain(given).chain(kept).find_map(|path| self.note_written(folder.as_deref(), path))
    }
}
