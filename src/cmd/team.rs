//! `fusebox team`: what many machines spend, and the caps that bind them together (docs/teams.md).

use std::process::ExitCode;

use clap::{Subcommand, ValueEnum};

use crate::cmd::team_sync::{self, Caller};
use crate::cmd::{
    require_human, team_caps, team_groups, team_init, team_join, team_limits, team_members, team_report, team_write_off,
};
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::store::team::admin::Whose;

/// Arguments of `fusebox team`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The store is a PostgreSQL of yours; docs/teams.md says how it is set up, what holds, and what is not there yet.
Its address, with a login and its password, is in FUSEBOX_TEAM_STORE or comes on standard input, for init and join.

Examples:
  fusebox team init core             make the tables, and the team `core`, whose first admin you are
  fusebox team invite bob            let the database's login `bob` take part
  fusebox team join core             have the caps of `core` bind the sessions of this machine
  fusebox team sync                  tell it what is new, and ask for more; hooks begin it by themselves
  fusebox team limit month=1000      set a cap, for the team, or with --user or --each-user
  fusebox team grant bob +5          raise bob's caps by 5 US dollars until each period ends
  fusebox team report --by project   what was spent in 30 days")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make the tables of the store where they are missing, and a team
    #[command(after_help = "\
Examples:
  fusebox team init core
  fusebox team init core --time-zone Europe/Berlin")]
    Init {
        /// The team's name
        team: String,
        /// Where its days begin
        #[arg(long, default_value = "UTC")]
        time_zone: String,
    },
    /// Have a team's caps bind the sessions of this machine, and tell it what they spend
    #[command(after_help = "Examples:\n  fusebox team join core")]
    Join {
        /// The team's name
        team: String,
    },
    /// Have this machine take part no longer
    #[command(after_help = "Examples:\n  fusebox team leave")]
    Leave,
    /// Tell the team what this machine has spent since the last time, and ask for what it may spend
    #[command(after_help = "Examples:\n  fusebox team sync")]
    Sync {
        /// For a hook
        #[arg(long, hide = true)]
        background: bool,
    },
    /// Let a login of the database take part
    #[command(after_help = "\
Examples:
  fusebox team invite bob
  fusebox team invite alice --admin
  fusebox team invite bob --remove")]
    Invite {
        /// The login
        login: String,
        /// It may set caps and let others in
        #[arg(long)]
        admin: bool,
        /// It may no longer take part
        #[arg(long, conflicts_with = "admin")]
        remove: bool,
    },
    /// List who takes part
    #[command(after_help = "Examples:\n  fusebox team members\n  fusebox team members --json")]
    Members {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Say whom people ask whose agents are stopped
    #[command(after_help = "Examples:\n  fusebox team contact 'alice, in #agents'")]
    Contact {
        /// A name, an address, a channel: what a stopped agent's person reads
        #[arg(value_name = "TEXT")]
        contact: String,
    },
    /// Put logins into a group, or take them out; without either show who is in it
    #[command(after_help = "\
Examples:
  fusebox team group backend --add bob --add carol
  fusebox team group backend                         show who is in it")]
    Group {
        /// The group's name
        name: String,
        /// A login that is to belong to it
        #[arg(long, value_name = "LOGIN")]
        add: Vec<String>,
        /// A login that is to belong to it no longer
        #[arg(long, value_name = "LOGIN")]
        remove: Vec<String>,
    },
    /// Set caps: day=50 week=200 month=1000, or month=none; for the whole team also agents=40 and requests=600/1m
    #[command(after_help = "\
Examples:
  fusebox team limit month=1000
  fusebox team limit day=20 month=200 --each-user
  fusebox team limit month=none --user bob
  fusebox team limit agents=40               subagents at work at once in the whole team
  fusebox team limit requests=600/1m         requests to one model in a minute")]
    Limit {
        /// A period and US dollars, `agents` and a number, or `requests` and a number in a window; or `none`
        #[arg(required = true, value_name = "PERIOD=USD")]
        caps: Vec<String>,
        /// For one login, in place of the team
        #[arg(long, value_name = "LOGIN")]
        user: Option<String>,
        /// For each login that has none of its own, and is in no group with one
        #[arg(long, conflicts_with = "user")]
        each_user: bool,
        /// For each login of a group that has none of its own; of several groups the lowest counts
        #[arg(long, value_name = "NAME", conflicts_with_all = ["user", "each_user"])]
        group: Option<String>,
        /// For a project, by its label in `team report --by project` or any form of its address
        #[arg(long, value_name = "LABEL", conflicts_with_all = ["user", "each_user", "group"])]
        project: Option<String>,
    },
    /// List the caps: whose, what is spent of each, and whom it was set for; an admin sees all of the team
    #[command(after_help = "Examples:\n  fusebox team limits\n  fusebox team limits --json")]
    Limits {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Raise a cap until its current period is over: of a login, or without one the team's
    #[command(after_help = "\
Examples:
  fusebox team grant bob +5
  fusebox team grant +50 --period month")]
    Grant {
        /// The login, and how many US dollars more
        #[arg(required = true, num_args = 1..=2, value_names = ["LOGIN", "+USD"])]
        what: Vec<String>,
        /// Of this period alone: all of them, where it is not said
        #[arg(long, value_enum)]
        period: Option<CapPeriod>,
    },
    /// Give up what a lost machine's expired leases hold; `team status` names them
    #[command(after_help = "\
Examples:
  fusebox team write-off 3f2a91
  fusebox team write-off 3f2a91/7   one lease of it")]
    WriteOff {
        /// The beginning of the machine's id; with /NUMBER one lease of it
        #[arg(value_name = "MACHINE[/LEASE]")]
        what: String,
    },
    /// Show the caps that bind you, and what is spent of each
    #[command(after_help = "Examples:\n  fusebox team status")]
    Status,
    /// Show what was spent: an admin sees all of the team, a member what is theirs
    Report(team_report::Args),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CapPeriod {
    Day,
    Week,
    Month,
}

impl CapPeriod {
    fn name(self) -> &'static str {
        match self {
            CapPeriod::Day => "day",
            CapPeriod::Week => "week",
            CapPeriod::Month => "month",
        }
    }
}

/// Runs `fusebox team`.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    match &args.command {
        Command::Sync { background } => {
            return team_sync::run(env, if *background { Caller::Hook } else { Caller::Person });
        }
        Command::Status => return team_limits::status(env),
        Command::Limits { json } => return team_limits::list(env, *json),
        Command::Report(args) => return team_report::run(env, args),
        Command::Members { json } => return team_members::list(env, *json),
        Command::Init { .. }
        | Command::Join { .. }
        | Command::Leave
        | Command::Invite { .. }
        | Command::Contact { .. }
        | Command::Limit { .. }
        | Command::Group { .. }
        | Command::Grant { .. }
        | Command::WriteOff { .. } => {}
    }
    require_human::require(env, "team")?;
    match &args.command {
        Command::Init { team, time_zone } => team_init::init(env, team, time_zone),
        Command::Join { team } => team_init::join(env, team),
        Command::Leave => team_join::leave(env),
        Command::Invite { login, admin, remove } => {
            let role = if *admin { "admin" } else { "member" };
            team_members::invite(env, login, Some(role).filter(|_| !remove))
        }
        Command::Limit { caps, user, each_user, group, project } => {
            let by_name = user.as_deref().map(Whose::User).or(group.as_deref().map(Whose::Group));
            let by_name = by_name.or(project.as_deref().map(Whose::Project));
            let whose = by_name.unwrap_or(if *each_user { Whose::EachUser } else { Whose::Team });
            team_caps::limit(env, caps, whose)
        }
        Command::Contact { contact } => team_caps::contact(env, contact),
        Command::Group { name, add, remove } => {
            team_groups::group(env, name, team_groups::GroupChanges { add, remove })
        }
        Command::Grant { what, period } => team_caps::grant(env, what, period.map(CapPeriod::name)),
        Command::WriteOff { what } => team_write_off::run(env, what),
        _ => Ok(ExitCode::SUCCESS),
    }
}
