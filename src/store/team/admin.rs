//! What admins of a team set and see in its store: members, groups, caps, grants, expired leases.

use crate::domain::spend::amount::Amount;
use crate::error::{Error, ErrorKind, Result};
use crate::store::team::connection::Row;
use crate::store::team::ledger::{Ledger, RESETS, number, word};

/// Whose a cap is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose<'a> {
    /// The team's as a whole.
    Team,
    /// Each user's that has none of their own.
    EachUser,
    /// One user's.
    User(&'a str),
    /// That of each login of a group that has none of its own.
    Group(&'a str),
    /// A project's, by the label that machines tell.
    Project(&'a str),
}

/// A login that takes part, as `team members` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The login.
    pub login: String,
    /// `member` or `admin`.
    pub role: String,
    /// How many of its machines were heard in 30 days, as far as who asks may see them.
    pub machines: String,
    /// When one was heard last, in the team's time zone; `-` for never.
    pub heard: String,
    /// When one was heard last, in RFC 3339; empty for never.
    pub heard_at: String,
    /// The beginnings of these machines' ids, as far as who asks may see them: that heard last first, separated by spaces.
    pub ids: String,
}

/// What a cap was raised by for one period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    /// `day`, `week` or `month`.
    pub period: String,
    /// The cap before.
    pub before: Amount,
    /// The cap until the period ends.
    pub after: Amount,
    /// When that is, by the server.
    pub resets: String,
}

/// A lease that holds something. It counts as a whole until it is settled or written off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenLease {
    /// Whose it is.
    pub login: String,
    /// The machine's id.
    pub machine: String,
    /// The machine's number of it.
    pub number: u64,
    /// What it holds beyond what was told as spent.
    pub left: Amount,
    /// Until when it lives: from then on it can be written off.
    pub until: String,
    /// Until when it lives, in RFC 3339.
    pub until_at: String,
    /// Whether that is over.
    pub is_expired: bool,
}

/// Whether a login is to belong to a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Belongs {
    /// It is put in.
    Yes,
    /// It is taken out.
    No,
}

impl Ledger {
    /// Makes a team, whose first admin is this login.
    pub fn create_team(&mut self, team: &str, zone: &str) -> Result<()> {
        let made = self.ask("SELECT fusebox.create_team($1, $2)", &[Some(team), Some(zone)]);
        made.map(|_| ()).map_err(|error| match error.kind {
            ErrorKind::Taken => Error::failed(format!("a team {team} is there already, and you take no part in it"))
                .hint("an admin of it lets you in by `fusebox team invite LOGIN`; `fusebox team join` has this machine take part"),
            _ => error,
        })
    }

    /// Lets a login take part, as `member` or `admin`; `None` lets it out.
    pub fn set_member(&mut self, team: &str, login: &str, role: Option<&str>) -> Result<()> {
        self.ask("SELECT fusebox.set_member($1, $2, $3)", &[Some(team), Some(login), role]).map(|_| ())
    }

    /// Sets a cap; `None` takes it away.
    pub fn set_cap(&mut self, team: &str, whose: Whose<'_>, period: &str, cap: Option<Amount>) -> Result<()> {
        const OF_LABEL: &str = "SELECT fusebox.set_label_cap($1, $2, $3, $4, $5)";
        const OF_LOGIN: &str = "SELECT fusebox.set_cap($1, $2, $3, $4, $5)";
        let (statement, scope, of) = match whose {
            Whose::Team => (OF_LOGIN, "team", ""),
            Whose::EachUser => (OF_LOGIN, "user", ""),
            Whose::User(login) => (OF_LOGIN, "user", login),
            Whose::Group(name) => (OF_LABEL, "group", name),
            Whose::Project(label) => (OF_LABEL, "project", label),
        };
        let cap = cap.map(|cap| cap.0.to_string());
        self.ask(statement, &[Some(team), Some(scope), Some(of), Some(period), cap.as_deref()]).map(|_| ())
    }

    /// Raises caps for their current periods: of one login, or the team's, in all periods or one.
    pub fn grant(
        &mut self,
        team: &str,
        login: Option<&str>,
        period: Option<&str>,
        more: Amount,
    ) -> Result<Vec<Granted>> {
        let statement = format!(
            "SELECT period, before_pico_usd, after_pico_usd, {RESETS} FROM fusebox.grant_more($1, $2, $3, $4) s"
        );
        let more = more.0.to_string();
        let rows = self.ask(&statement, &[Some(team), Some(login.unwrap_or_default()), period, Some(&more)])?;
        let granted = |row: &Row| Granted {
            period: word(row, 0).to_owned(),
            before: Amount(number(row, 1)),
            after: Amount(number(row, 2)),
            resets: word(row, 3).to_owned(),
        };
        Ok(rows.iter().map(granted).collect())
    }

    /// Returns the leases of a team that hold something; none where this login is no admin of it.
    pub fn open_leases(&mut self, team: &str) -> Result<Vec<OpenLease>> {
        self.leases(team, "fusebox.is_in(t.id, 'admin')")
    }

    /// Returns the leases that hold something and that this login may see: an admin all, a member their own.
    pub fn seen_leases(&mut self, team: &str) -> Result<Vec<OpenLease>> {
        self.leases(team, "true")
    }

    /// Returns the leases that hold something and that this login's own machines have.
    pub fn own_leases(&mut self, team: &str) -> Result<Vec<OpenLease>> {
        self.leases(team, "l.login = session_user")
    }

    /// Returns the open leases that a condition chooses, those of a machine together.
    fn leases(&mut self, team: &str, condition: &str) -> Result<Vec<OpenLease>> {
        let statement = format!(
            "SELECT l.login, l.machine, l.number, l.amount_pico_usd - l.spent_pico_usd, date_trunc('second', x.until), \
             to_char(x.until AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), x.until <= clock_timestamp() \
             FROM fusebox.lease l JOIN fusebox.team t ON t.id = l.team \
             CROSS JOIN LATERAL (SELECT greatest(l.expires_at, t.grants_from) AS until) x \
             WHERE t.name = $1 AND {condition} AND l.number > 0 AND l.state = 'open' \
             AND l.amount_pico_usd > l.spent_pico_usd ORDER BY l.machine, l.number"
        );
        let lease = |row: &Row| OpenLease {
            login: word(row, 0).to_owned(),
            machine: word(row, 1).to_owned(),
            number: number(row, 2),
            left: Amount(number(row, 3)),
            until: word(row, 4).to_owned(),
            until_at: word(row, 5).to_owned(),
            is_expired: word(row, 6) == "t",
        };
        Ok(self.ask(&statement, &[Some(team)])?.iter().map(lease).collect())
    }

    /// Gives up what an expired lease has reserved, and returns how much that is.
    pub fn write_off(&mut self, team: &str, machine: &str, lease: u64) -> Result<Amount> {
        let lease = lease.to_string();
        let rows = self.ask("SELECT fusebox.write_off($1, $2, $3)", &[Some(team), Some(machine), Some(&lease)])?;
        Ok(rows.first().map_or(Amount::ZERO, |row| Amount(number(row, 0))))
    }

    /// Whether a login of the database has a role of it.
    pub fn has_role(&mut self, login: &str, role: &str) -> Result<bool> {
        let rows = self.ask("SELECT pg_has_role($1::name, $2::name, 'MEMBER')", &[Some(login), Some(role)])?;
        Ok(rows.first().is_some_and(|row| word(row, 0) == "t"))
    }

    /// Whether this login sees a team of that name.
    pub fn has_team(&mut self, team: &str) -> Result<bool> {
        Ok(!self.ask("SELECT 1 FROM fusebox.team WHERE name = $1", &[Some(team)])?.is_empty())
    }

    /// Returns the teams that this login takes part in.
    pub fn teams(&mut self) -> Result<Vec<String>> {
        Ok(self.ask("SELECT name FROM fusebox.team", &[])?.iter().map(|row| word(row, 0).to_owned()).collect())
    }

    /// Sets whom a member asks.
    pub fn set_contact(&mut self, team: &str, contact: &str) -> Result<()> {
        let set = "SELECT fusebox.set_team($1, $2, NULL, NULL, NULL)";
        self.ask(set, &[Some(team), Some(contact)]).map(|_| ())
    }

    /// Returns the members of a team, with what those machines of theirs have last told that the login may see.
    pub fn members(&mut self, team: &str) -> Result<Vec<Member>> {
        let members = "SELECT m.login, m.role, \
             count(x.id) FILTER (WHERE x.seen_at > clock_timestamp() - interval '30 days'), \
             coalesce(to_char(max(x.seen_at) AT TIME ZONE t.time_zone, 'YYYY-MM-DD HH24:MI ') || t.time_zone, '-'), \
             string_agg(left(x.id, 8), ' ' ORDER BY x.seen_at DESC) \
             FILTER (WHERE x.seen_at > clock_timestamp() - interval '30 days'), \
             to_char(max(x.seen_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') FROM fusebox.member m JOIN fusebox.team t ON t.id = m.team \
             LEFT JOIN fusebox.machine x ON x.team = m.team AND x.login = m.login \
             WHERE t.name = $1 GROUP BY m.login, m.role, t.time_zone ORDER BY m.login";
        let rows = self.ask(members, &[Some(team)])?;
        let text = |row: &Row, at| word(row, at).to_owned();
        let member = |row: &Row| Member {
            login: text(row, 0),
            role: text(row, 1),
            machines: text(row, 2),
            heard: text(row, 3),
            ids: text(row, 4),
            heard_at: text(row, 5),
        };
        Ok(rows.iter().map(member).collect())
    }

    /// Puts a login into a group, or takes it out.
    pub fn set_group(&mut self, team: &str, group: &str, login: &str, belongs: Belongs) -> Result<()> {
        let belongs = if belongs == Belongs::Yes { "true" } else { "false" };
        let values = [Some(team), Some(group), Some(login), Some(belongs)];
        self.ask("SELECT fusebox.set_group($1, $2, $3, $4)", &values).map(|_| ())
    }

    /// Returns the logins of a group.
    pub fn group(&mut self, team: &str, group: &str) -> Result<Vec<String>> {
        let logins = "SELECT m.login FROM fusebox.group_member m JOIN fusebox.team t ON t.id = m.team \
             WHERE t.name = $1 AND m.name = $2 ORDER BY m.login";
        let rows = self.ask(logins, &[Some(team), Some(group)])?;
        Ok(rows.iter().map(|row| word(row, 0).to_owned()).collect())
    }
}
