//! `fusebox trust`: a person lets a repository's files loosen what is the user's, or takes that back.

use std::path::Path;
use std::process::ExitCode;

use crate::cmd::config::project_folder;
use crate::cmd::require_human;
use crate::config::resolve::Trust;
use crate::config::{keys, load};
use crate::error::Result;
use crate::messages::next_step::NextStep;
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::store::Store;

/// Arguments of `fusebox trust`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fusebox trust            this repository's files may loosen what is yours
  fusebox trust --revoke   they may no longer")]
pub struct Args {
    /// Take the trust back
    #[arg(long)]
    revoke: bool,
}

/// Runs `fusebox trust`.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    require_human::require(env, "trust")?;
    let folder = project_folder(env);
    let project = env.project_of(&folder);
    let store = Store::open(env)?;
    store.begin()?;
    let name = project.to_string_lossy();
    if args.revoke {
        store.distrust(&name)?;
    } else {
        store.trust(&name, &env.now().wall_ms.to_string())?;
    }
    let (verb, counts) = if args.revoke { ("not trusted", "no longer counts") } else { ("trusted", "counts now") };
    for mut session in store.open_sessions()? {
        if Path::new(&session.project) == project {
            let what = notices::trusted(require_human::who(env), verb, NextStep::Reload);
            require_human::announce(env, &store, &mut session, &what)?;
            store.save_session(&session)?;
        }
    }
    store.commit()?;
    let loosened = loosened(env, &folder);
    let mut text = format!("`{}` is {verb}\n", folder.display());
    for setting in &loosened {
        text += &format!("  {counts}: {setting}\n");
    }
    text += "running sessions keep their limits until `fusebox reload`\n";
    env.print(&text);
    Ok(ExitCode::SUCCESS)
}

/// Returns what the repository's files say that only counts with trust.
fn loosened(env: &Environment, folder: &Path) -> Vec<String> {
    let (policy, without) = load::load(env, folder, Trust::Untrusted);
    let (_, with) = load::load(env, folder, Trust::Trusted);
    let gone = without.iter().filter(|problem| problem.is_error() && !with.contains(problem));
    let gone = gone.map(|problem| format!("`{}: {}` in `{}`", problem.key, problem.value, problem.path));
    let observed = policy.observed.iter().flat_map(|document| {
        let setting = |it| format!("`{}` in `{}`", keys::shown(it), document.path);
        document.settings.iter().map(setting).collect::<Vec<_>>()
    });
    gone.chain(observed).collect()
}
