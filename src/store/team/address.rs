//! Where a team's store is: `postgres://user:password@host:port/database?sslrootcert=FILE`.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use crate::error::{Error, Result};

/// PostgreSQL's port.
const PORT: u16 = 5432;

/// How the server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// By its name or number.
    Network {
        /// The name or number.
        host: String,
        /// The port.
        port: u16,
    },
    /// By a socket in this folder.
    Local {
        /// The folder.
        folder: PathBuf,
        /// The port, which is a part of the socket's name.
        port: u16,
    },
}

/// Where the store is, and who asks.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// How the server is reached.
    pub endpoint: Endpoint,
    /// The login.
    pub user: String,
    /// Its password; empty where the server asks for none.
    pub password: String,
    /// The database.
    pub database: String,
    /// A file with the certificates that sign the server's, in place of those that browsers trust.
    pub root_certificates: Option<PathBuf>,
}

/// Leaves the password out.
impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

impl Address {
    /// Reads an address. Its errors do not repeat it: it may hold a password.
    pub fn parse(text: &str) -> Result<Address> {
        let wrong = |what: &str| {
            Error::failed(format!("the address of the team's store {what}"))
                .hint("write it like postgres://LOGIN:PASSWORD@HOST/DATABASE")
        };
        let rest = ["postgres://", "postgresql://"].iter().find_map(|scheme| text.trim().strip_prefix(scheme));
        let rest = rest.ok_or_else(|| wrong("does not begin with postgres://"))?;
        let (rest, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, place) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let decode = |part: &str| decoded(part).ok_or_else(|| wrong("has a `%` that is not followed by two digits"));
        let (mut host, port) = host_and_port(place).ok_or_else(|| wrong("names no port"))?;
        let mut root_certificates = None;
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("host", folder)) => host = decode(folder)?,
                Some(("sslrootcert", file)) => root_certificates = Some(PathBuf::from(decode(file)?)),
                // It is always on but for this machine's own addresses.
                Some(("sslmode", "verify-full" | "require")) => {}
                _ => return Err(wrong("has an option other than host, sslrootcert, and sslmode=verify-full")),
            }
        }
        let (user, database) = (decode(user)?, decode(database)?);
        if user.is_empty() || host.is_empty() {
            return Err(wrong("names no login or no host"));
        }
        let endpoint = match host.starts_with('/') {
            true => Endpoint::Local { folder: PathBuf::from(host), port },
            false => Endpoint::Network { host, port },
        };
        let database = if database.is_empty() { user.clone() } else { database };
        let password = decode(password)?;
        if [&user, &password, &database].iter().any(|part| part.contains('\0')) {
            return Err(wrong("has a character that no name has"));
        }
        Ok(Address { endpoint, user, password, database, root_certificates })
    }

    /// Whether what is sent stays on this machine.
    pub fn is_on_this_machine(&self) -> bool {
        match &self.endpoint {
            Endpoint::Local { .. } => true,
            Endpoint::Network { host, .. } => {
                host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
            }
        }
    }

    /// Returns the address without its password.
    pub fn shown(&self) -> String {
        let (user, database) = (&self.user, &self.database);
        match &self.endpoint {
            Endpoint::Network { host, port } => format!("postgres://{user}@{host}:{port}/{database}"),
            Endpoint::Local { folder, .. } => format!("postgres://{user}@/{database}?host={}", folder.display()),
        }
    }
}

fn host_and_port(place: &str) -> Option<(String, u16)> {
    if let Some((host, port)) = place.strip_prefix('[').and_then(|place| place.split_once(']')) {
        return Some((host.to_owned(), port.strip_prefix(':').map_or(Some(PORT), |port| port.parse().ok())?));
    }
    match place.split_once(':') {
        Some((host, port)) => Some((host.to_owned(), port.parse().ok()?)),
        None => Some((place.to_owned(), PORT)),
    }
}

/// Returns text with each `%20` replaced by what it stands for.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_and_shown_without_its_password() {
        let cases = [
            ("postgres://ann:p%40s@db.example/ledger", "postgres://ann@db.example:5432/ledger", "p@s", false),
            ("postgresql://ann@[::1]:6000", "postgres://ann@::1:6000/ann", "", true),
            ("postgres://ann@/ledger?host=%2Ftmp%2Fpg", "postgres://ann@/ledger?host=/tmp/pg", "", true),
            ("postgres://ann@127.0.0.1/l?sslmode=verify-full", "postgres://ann@127.0.0.1:5432/l", "", true),
            ("postgres://ann@localhost.example/l", "postgres://ann@localhost.example:5432/l", "", false),
        ];
        for (text, shown, password, is_here) in cases {
            let address = Address::parse(text).unwrap();
            assert_eq!((address.shown().as_str(), address.password.as_str()), (shown, password));
            assert_eq!(address.is_on_this_machine(), is_here, "{text}");
        }
    }

    #[test]
    fn a_wrong_address_is_refused_without_being_repeated() {
        let wrong = [
            "mysql://a:secret@h",
            "postgres://h/secret",
            "postgres://a:secret%zz@h",
            "postgres://a:secret@h:x",
            "postgres://a:secret@h?sslmode=disable",
            "postgres://a:secret@",
        ];
        for text in wrong {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
