//! Where the cap stands that has stopped the client of a `fusebox run`: in a job nobody is asked for more of it.

use std::path::Path;

use crate::config::effective::{self, WrittenAt};
use crate::config::load;
use crate::config::place::Who;
use crate::domain::layer::Layer;
use crate::domain::scope::Scope;
use crate::domain::verdict::Finding;
use crate::install::default_files::POLICY;
use crate::messages::to_people;
use crate::platform::environment::Environment;
use crate::store::trust;

/// Names the file and the key of a main agent's limit; nothing where the configuration has it no more, or no file has it.
pub fn place(env: &Environment, finding: &Finding) -> Option<String> {
    let who = match finding.scope {
        Scope::Run => Who::Main,
        Scope::Session => Who::Session,
        Scope::User => Who::User,
        Scope::Project => Who::Project,
        _ => return None,
    };
    let (policy, _) = load::load(env, &env.folder(), trust::is_trusted(env, &env.folder()));
    let WrittenAt { path, key } = effective::written_at(&policy, who, &finding.source, finding.layer)?;
    let place = match finding.layer {
        Layer::BuiltIn => format!("(built in; {} may set another)", env.short_path(&env.claude_dir()?.join(POLICY))),
        _ => format!("in {}", env.short_path(Path::new(&path))),
    };
    Some(to_people::run_cap(key, place))
}
