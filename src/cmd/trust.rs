//! `fusebox trust`: a person lets a repository's files loosen what is the user's, or takes that back.

use std::path::Path;
use std::process::ExitCode;

use crate::cmd::config::project_folder;
use crate::cmd::require_human;
use crate::config::problem::Problem;
use crate::config::resolve::Trust;
use crate::config::setting::{Document, Setting};
use crate::config::{effective, keys, load};
use crate::domain::layer::Layer;
use crate::domain::mode::Mode;
use crate::domain::session::Session;
use crate::domain::text::shell_word::typed;
use crate::error::Result;
use crate::messages::next_step::NextStep;
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::report::rows;
use crate::store::Store;

/// The layers that a person's trust is about.
const LAYERS_OF_REPOSITORY: [Layer; 3] = [Layer::Project, Layer::ProjectLocal, Layer::Frontmatter];

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
    let by = require_human::who(env);
    let sessions = store.open_sessions()?.into_iter().filter(|session| Path::new(&session.project) == project);
    let mut here: Vec<Session> = sessions.collect();
    for session in &mut here {
        let what = notices::trusted(&by, "this repository", verb, NextStep::Reload);
        require_human::announce(env, &store, session, &what)?;
        store.save_session(session)?;
    }
    if here.is_empty() {
        let what = notices::trusted(&by, typed(Path::new(rows::project(&name))), verb, NextStep::Reload);
        require_human::write_down(env, &store, "", "", &what)?;
    }
    store.commit()?;
    let loosened = loosened(env, &folder);
    let mut text = format!("`{}` is {verb}\n", folder.display());
    for setting in &loosened {
        text += &format!("  {counts}: {setting}\n");
    }
    if !args.revoke && load::load(env, &folder, Trust::Trusted).0.mode() == Mode::Observe {
        text += "limits are only observed here now, the built-in ones too: nothing is blocked\n";
    }
    if !args.revoke {
        text += "its files may loosen what is yours, now and later: `fusebox trust --revoke` takes that back\n";
    }
    text += "running sessions keep their limits until `fusebox reload`\n";
    env.print(&text);
    Ok(ExitCode::SUCCESS)
}

/// Returns what the repository's files say that counts with trust alone: what holds with it, and does not stand without.
fn loosened(env: &Environment, folder: &Path) -> Vec<String> {
    let (without, _) = load::load(env, folder, Trust::Untrusted);
    let (with, problems) = load::load(env, folder, Trust::Trusted);
    // What `config check` says to be ignored does not count, whatever drops it.
    let is_dropped = |document: &Document, setting: &Setting| {
        let names = |it: &&Problem| it.is_ignored() && it.path == document.path && it.key == setting.key;
        problems.iter().any(|problem| names(&problem))
    };
    // Where nothing blocks any more, no limit counts more than it did.
    let counts_at_all = |setting: &Setting| with.mode() == Mode::Enforce || setting.subject.path() == "mode";
    let stands_without = |document: &Document, setting: &Setting| {
        let same = without.read_from(document.layer).filter(|other| other.path == document.path);
        same.flat_map(|other| &other.settings).any(|other| other == setting)
    };
    let mut counts = Vec::new();
    for document in LAYERS_OF_REPOSITORY.into_iter().flat_map(|layer| with.read_from(layer)) {
        let holds = |it: &&Setting| {
            let is_new = !stands_without(document, it) && !is_dropped(document, it) && counts_at_all(it);
            is_new && effective::holds(&with, document, it)
        };
        let shown = |it: &Setting| format!("`{}` in `{}`", keys::shown(it), document.path);
        counts.extend(document.settings.iter().filter(holds).map(shown));
    }
    counts
}
