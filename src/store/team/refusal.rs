//! What helps where a team's store takes nothing from a login, in words.

use crate::error::TeamRefusal;

/// Says who can do what about it. `whom` is whom the team's people ask.
pub fn helps(why: TeamRefusal, team: &str, login: &str, whom: &str) -> String {
    match why {
        TeamRefusal::Password => {
            format!("`fusebox team join {team}` takes a new address, with the login and its password")
        }
        TeamRefusal::NoLogin => format!(
            "whoever runs the database lets the login in: `ALTER ROLE {login} LOGIN`, or a line of its pg_hba.conf"
        ),
        TeamRefusal::NoRight => {
            format!("whoever made the login runs `GRANT fusebox_member TO {login}` in the database")
        }
        TeamRefusal::NoMember => format!("ask {whom}: `fusebox team invite {login}` lets a login take part"),
        TeamRefusal::NoAdmin => "`fusebox team members` lists the admins; one of them makes you an admin: \
             `fusebox team invite LOGIN --admin`"
            .to_owned(),
    }
}

/// Says the same where neither team nor login is at hand.
pub fn helps_anybody(why: TeamRefusal) -> String {
    helps(why, "NAME", "LOGIN", "an admin of the team")
}
