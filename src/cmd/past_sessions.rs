//! What a report is made of where there is no state: the client's transcripts alone.

use std::path::{Path, PathBuf};

use crate::domain::billing::OwnPrices;
use crate::domain::moment::Moment;
use crate::domain::session::{Run, Session};
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::pricing;
use crate::report::rows::SessionRows;
use crate::transcript::tree::{self, PastSession};
use crate::ui::terminal::plain;

/// How many remarks are shown: a tree of broken transcripts would have thousands.
const MOST_REMARKS: usize = 10;

/// Reads the sessions in transcripts below `paths`; without any, all that the client has kept.
pub fn sessions(env: &Environment, paths: &[PathBuf]) -> Result<Vec<SessionRows>> {
    let (table, trouble) = pricing::load(env, OwnPrices::Replace);
    let tree = match paths {
        [] => tree::read(&[projects(env)?], &table)?,
        _ => tree::read(paths, &table)?,
    };
    if let Some(trouble) = trouble {
        env.eprintln_safe(&plain(&format!("warning: {trouble}")));
    }
    warn(env, tree.remarks.iter());
    Ok(tree.sessions.into_iter().map(|session| rows(env, session)).collect())
}

/// Says what of the transcripts could not be read or believed.
pub fn warn<'a>(env: &Environment, remarks: impl ExactSizeIterator<Item = &'a String>) {
    let more = remarks.len().saturating_sub(MOST_REMARKS);
    for remark in remarks.take(MOST_REMARKS) {
        env.eprintln_safe(&plain(&format!("warning: {remark}")));
    }
    if more > 0 {
        env.eprintln_safe(&format!("warning: {more} more of these"));
    }
}

/// Returns the folder where the client keeps its transcripts.
pub fn projects(env: &Environment) -> Result<PathBuf> {
    let client = env.claude_dir().ok_or_else(|| Error::failed("there is no home folder").hint("set HOME"))?;
    let projects = client.join("projects");
    if file_info::is_gone(&projects) {
        return Err(Error::failed(format!(
            "Claude Code has kept no sessions here yet: there is no {}",
            env.short_path(&projects)
        ))
        .hint("run it once, or name the folder that has transcripts of yours"));
    }
    Ok(projects)
}

fn rows(env: &Environment, past: PastSession) -> SessionRows {
    let project = match past.folder.as_str() {
        "" => "unknown".to_owned(),
        folder => env.project_of(Path::new(folder)).to_string_lossy().into_owned(),
    };
    let first = past.charges.iter().map(|charge| charge.at_ms).min().unwrap_or_default();
    let started = Moment { wall_ms: first, ..Moment::default() };
    let run = |(id, agent_type)| Run { id, agent_type, ..Run::default() };
    SessionRows {
        session: Session { id: past.id, project, folder: past.folder, started, ..Session::default() },
        runs: past.agents.into_iter().map(run).collect(),
        charges: past.charges,
        ..SessionRows::default()
    }
}
