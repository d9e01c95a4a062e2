//! The mark that a machine without Fusebox has once its person was told so: with Fusebox it has served its purpose.

use std::path::PathBuf;

use crate::install::handler::TOLD_MISSING;
use crate::platform::changes;
use crate::platform::environment::Environment;

/// Removes the mark, so that its person is told again where Fusebox goes missing again. Returns its path; `None` where there was none.
pub fn remove(env: &Environment) -> Option<PathBuf> {
    let mark = env.claude_dir()?.join(TOLD_MISSING);
    changes::remove_file(&mark).is_ok().then_some(mark)
}
