//! The functions of a team's store, typed: what a machine asks, and what people set and see.

use crate::domain::spend::amount::Amount;
use crate::domain::team_cap::CapUse;
use crate::error::{Error, ErrorKind, Result, TeamRefusal};
use crate::store::team::address::Address;
use crate::store::team::connection::{Connection, Failure, Refusal, Row};
use crate::store::team::migrations;
use crate::store::team::refusal;
use crate::team::made_anew::KnownLease;

/// The SQLSTATEs of a function, a table or a column that is not there: a later Fusebox has made it.
const MISSING: [&str; 3] = ["42883", "42P01", "42703"];
/// The SQLSTATE of a schema that is not there: the database is another one, or no team was made in it yet.
const NO_SCHEMA: &str = "3F000";
/// The SQLSTATE of a right that is lacking.
const NO_RIGHT: &str = "42501";

/// The SQLSTATE of a login that is not there.
const NO_LOGIN: &str = "42704";
/// The SQLSTATE of a name that is taken.
const TAKEN: &str = "23505";
/// The SQLSTATEs of a login that the server does not let in, and of a password that is wrong.
const NOT_LOGGED_IN: [(&str, TeamRefusal); 2] = [("28000", TeamRefusal::NoLogin), ("28P01", TeamRefusal::Password)];

/// The SQLSTATEs of a statement that has waited too long.
const WAITED: [&str; 2] = ["57014", "55P03"];

/// A team's store, as one login sees it.
pub struct Ledger {
    connection: Connection,
    /// The address without its password.
    shown: String,
}

/// When something of the team in `$1` ends, as its people write it: to the minute, in the team's time zone, which it names.
pub(super) const RESETS: &str = "(SELECT to_char(s.resets_at AT TIME ZONE t.time_zone, 'YYYY-MM-DD HH24:MI ') || t.time_zone \
     FROM fusebox.team t WHERE t.name = $1)";

/// What spend is summed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The login.
    User,
    /// The project.
    Project,
    /// The model.
    Model,
    /// The day, in the team's time zone.
    Day,
}

impl Ledger {
    /// Connects to a store.
    pub fn open(address: &Address) -> Result<Ledger> {
        let shown = address.shown();
        match Connection::open(address) {
            Ok(connection) => Ok(Ledger { connection, shown }),
            Err(failure) => Err(error(&shown, failure)),
        }
    }

    /// Brings the schema up to date, and returns how many migrations that took.
    pub fn migrate(&mut self) -> Result<usize> {
        self.migrate_by(&migrations())
    }

    /// Runs those migrations that the store has not had yet, and returns how many these were.
    pub fn migrate_by(&mut self, migrations: &[String]) -> Result<usize> {
        let there =
            "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = 'fusebox' AND tablename = 'migration'";
        let is_there = self.ask(there, &[])?.first().is_some_and(|row| number(row, 0) > 0);
        let last = match is_there {
            true => self.ask("SELECT coalesce(max(number), 0) FROM fusebox.migration", &[])?,
            false => Vec::new(),
        };
        let done = usize::try_from(last.first().map_or(0, |row| number(row, 0))).unwrap_or(usize::MAX);
        for (at, migration) in migrations.iter().enumerate().skip(done) {
            let note = format!("INSERT INTO fusebox.migration (number) VALUES ({})", at + 1);
            let statements = format!("BEGIN;\n{migration}\n;{note};\nCOMMIT;");
            self.connection.run(&statements).map_err(|failure| error(&self.shown, failure))?;
        }
        Ok(migrations.len().saturating_sub(done))
    }

    /// Returns the caps that bind this login, with what is used of each.
    pub fn status(&mut self, team: &str) -> Result<Vec<CapUse>> {
        let statement = format!(
            "SELECT scope, period, {RESETS}, cap_pico_usd, spent_pico_usd, committed_pico_usd, contact \
             FROM fusebox.status($1) s"
        );
        let cap = |row: &Row| CapUse {
            team: team.to_owned(),
            scope: word(row, 0).to_owned(),
            period: word(row, 1).to_owned(),
            resets: word(row, 2).to_owned(),
            cap: Amount(number(row, 3)),
            spent: Amount(number(row, 4)),
            committed: Amount(number(row, 5)),
            contact: word(row, 6).to_owned(),
            ..CapUse::default()
        };
        Ok(self.ask(&statement, &[Some(team)])?.iter().map(cap).collect())
    }

    /// Whether a machine is known as one of this login.
    pub fn knows(&mut self, team: &str, machine: &str) -> Result<bool> {
        let known = "SELECT count(*) FROM fusebox.machine x JOIN fusebox.team t ON t.id = x.team \
             WHERE t.name = $1 AND x.id = $2 AND x.login = session_user";
        Ok(self.ask(known, &[Some(team), Some(machine)])?.first().is_some_and(|row| number(row, 0) > 0))
    }

    /// Returns how far the store knows a machine: the number of its last lease, and all of its leases.
    pub fn known(&mut self, team: &str, machine: &str) -> Result<(u64, Vec<KnownLease>)> {
        let of_machine = "JOIN fusebox.team t ON t.id = x.team WHERE t.name = $1";
        let last = format!("SELECT coalesce(max(x.last_number), 0) FROM fusebox.machine x {of_machine} AND x.id = $2");
        let leases = format!(
            "SELECT x.number, x.sequence, x.state FROM fusebox.lease x {of_machine} AND x.machine = $2 ORDER BY x.number"
        );
        let names = [Some(team), Some(machine)];
        let last = self.ask(&last, &names)?.first().map_or(0, |row| number(row, 0));
        let known = |row: &Row| {
            let is_open = word(row, 2) == "open";
            KnownLease { number: number(row, 0), sequence: number(row, 1), is_open }
        };
        Ok((last, self.ask(&leases, &names)?.iter().map(known).collect()))
    }

    /// Returns a new id for a machine, which nobody can guess.
    pub fn new_id(&mut self) -> Result<String> {
        let rows = self.ask("SELECT gen_random_uuid()::text", &[])?;
        rows.first()
            .map(|row| word(row, 0).to_owned())
            .ok_or_else(|| Error::failed(format!("{}: no answer", self.shown)))
    }

    /// Returns what was spent in the last days, by a column of the view `spend`: its value, responses, cost.
    pub fn spent(&mut self, team: &str, by: By, days: u32) -> Result<Vec<(String, u64, Amount)>> {
        let column = match by {
            By::User => "login",
            By::Project => "project",
            By::Model => "model",
            By::Day => "day",
        };
        let spent = format!(
            "SELECT {column}::text, sum(responses)::bigint, sum(cost_pico_usd)::bigint FROM fusebox.spend \
             WHERE team = $1 AND day > (SELECT (clock_timestamp() AT TIME ZONE time_zone)::date FROM fusebox.team \
             WHERE name = $1) - $2::integer GROUP BY 1 ORDER BY 3 DESC, 1"
        );
        let days = days.to_string();
        let rows = self.ask(&spent, &[Some(team), Some(&days)])?;
        Ok(rows.iter().map(|row| (word(row, 0).to_owned(), number(row, 1), Amount(number(row, 2)))).collect())
    }

    /// Returns the address without its password.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    pub(super) fn ask(&mut self, statement: &str, values: &[Option<&str>]) -> Result<Vec<Row>> {
        Ok(self.ask_each(&[(statement, values)])?.pop().unwrap_or_default())
    }

    /// Runs statements in one round trip, each in a transaction of its own.
    pub(super) fn ask_each(&mut self, statements: &[(&str, &[Option<&str>])]) -> Result<Vec<Vec<Row>>> {
        self.connection.query_each(statements).map_err(|failure| match failure {
            Failure::Refused(refusal) if refusal.code == NO_RIGHT && !refusal.is_stores => self.lacks_a_right(),
            failure => error(&self.shown, failure),
        })
    }

    /// Says which right a login lacks: that of members, or that of admins.
    fn lacks_a_right(&mut self) -> Error {
        let sees = "SELECT has_schema_privilege('fusebox', 'USAGE')";
        let sees =
            self.connection.query(sees, &[]).is_ok_and(|rows| rows.first().is_some_and(|row| word(row, 0) == "t"));
        let shown = &self.shown;
        if !sees {
            return refused(format!("{shown} may not see the team's tables"), TeamRefusal::NoRight);
        }
        let by_admin = refusal::helps_anybody(TeamRefusal::NoAdmin);
        refused(format!("{shown}: only an admin of the team may do that"), TeamRefusal::NoAdmin)
            .hint(format!("{by_admin}; the database's owner runs `GRANT fusebox_admin TO LOGIN`"))
    }
}

fn refused(what: String, why: TeamRefusal) -> Error {
    Error::failed(what).of_kind(ErrorKind::Refused(why)).hint(refusal::helps_anybody(why))
}

fn error(shown: &str, failure: Failure) -> Error {
    let Refusal { code, words, is_stores } = match failure {
        Failure::Lost(why) => return Error::failed(format!("{shown} cannot be reached: {why}")),
        Failure::Refused(refused) => refused,
    };
    if WAITED.contains(&code.as_str()) {
        return Error::failed(format!("{shown}: somebody keeps a transaction open, and with it what this waits for"))
            .hint("wait, or find and end it: docs/team-store.md#who-waits-for-whom");
    }
    if is_stores {
        // The functions of the store say themselves what is wrong.
        return match code.as_str() {
            NO_RIGHT if words.contains(" is no admin of ") => refused(words, TeamRefusal::NoAdmin),
            NO_RIGHT => refused(words, TeamRefusal::NoMember),
            NO_LOGIN => Error::failed(words)
                .hint("the database's owner makes it: `CREATE ROLE NAME LOGIN IN ROLE fusebox_member`"),
            _ => Error::failed(words),
        };
    }
    if let Some((_, why)) = NOT_LOGGED_IN.iter().find(|(known, _)| *known == code) {
        return refused(format!("{shown} does not let this login in: {words}"), *why);
    }
    let refused = Error::failed(format!("{shown} refuses: {words}"));
    if code == TAKEN {
        return refused.of_kind(ErrorKind::Taken);
    }
    if code == NO_SCHEMA {
        return refused.hint(
            "no team's store is in this database: mend its name in the address, or its owner runs `fusebox team init NAME`",
        );
    }
    match MISSING.contains(&code.as_str()) {
        true => refused.hint(
            "the owner of the database runs `fusebox team init NAME` once more: its tables are of an earlier version",
        ),
        false => refused,
    }
}

/// Returns a column's text; that of NULL is empty.
pub(super) fn word(row: &Row, at: usize) -> &str {
    row.get(at).and_then(Option::as_deref).unwrap_or_default()
}

/// Returns a column's number; that of NULL, and of one below zero, is 0.
pub(super) fn number(row: &Row, at: usize) -> u64 {
    word(row, at).parse().unwrap_or(0)
}
