//! Answers HTTP on this machine alone. By hand: it is fifty lines, and the well-kept servers bring a runtime along.
//!
//! It serves one document at one path, one request after the other.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use crate::platform::stopwatch::Stopwatch;

/// The longest request that is read, in bytes.
const LONGEST: usize = 8192;
/// How many callers in a row may be gone before they are answered.
const MOST_FAILURES: u32 = 100;
/// How long one caller may take to ask, and to take the answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is answered: the status with its words, the type of the document, and the document.
#[derive(Clone, Debug)]
pub struct Answer {
    /// `200 OK`.
    pub status: &'static str,
    /// The document.
    pub text: String,
}

/// A place that is listened at.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
}

impl Server {
    /// Listens at an address of this machine; port 0 takes one that is free.
    pub fn listen(address: SocketAddr) -> io::Result<Server> {
        Ok(Server { listener: TcpListener::bind(address)? })
    }

    /// Returns where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers every request for `path`, until the process is ended.
    pub fn answer(&self, path: &str, document: impl Fn() -> Answer) -> io::Result<()> {
        let mut failures = 0;
        loop {
            match self.listener.accept() {
                // Whoever hangs up or stalls gets no answer.
                Ok((caller, _)) => (failures, _) = (0, serve(&caller, path, &document)),
                Err(cause) if failures >= MOST_FAILURES => return Err(cause),
                Err(_) => failures += 1,
            }
        }
    }
}

fn serve(caller: &TcpStream, path: &str, document: &impl Fn() -> Answer) -> io::Result<()> {
    let request = read(caller)?;
    let Answer { status, text } = match refusal(&request, path) {
        Some(status) => Answer { status, text: format!("{status}\n") },
        None => document(),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        text.len()
    );
    write(caller, (head + &text).as_bytes())
}

fn write(mut caller: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    let watch = Stopwatch::start();
    while !bytes.is_empty() {
        let left = PATIENCE.saturating_sub(watch.elapsed());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        caller.set_write_timeout(Some(left))?;
        match caller.write(bytes)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            length => bytes = bytes.get(length..).unwrap_or_default(),
        }
    }
    Ok(())
}

/// Reads a request up to the empty line that ends its head.
fn read(mut caller: &TcpStream) -> io::Result<String> {
    let watch = Stopwatch::start();
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") && bytes.len() < LONGEST {
        let left = PATIENCE.saturating_sub(watch.elapsed());
        if left.is_zero() {
            break;
        }
        caller.set_read_timeout(Some(left))?;
        let mut part = [0; 1024];
        match caller.read(&mut part)? {
            0 => break,
            length => bytes.extend_from_slice(part.get(..length).unwrap_or_default()),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns why a request is refused. A page in a browser that has its own name point to this machine reads nothing here.
fn refusal(request: &str, path: &str) -> Option<&'static str> {
    let mut lines = request.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let host = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    let name = host.map(|host| host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')).map_or(host, |it| it.0));
    match (method, target.split('?').next()) {
        _ if !matches!(name, Some("127.0.0.1" | "localhost" | "[::1]")) => Some("403 Forbidden"),
        ("GET", Some(asked)) if asked == path => None,
        ("GET", _) => Some("404 Not Found"),
        _ => Some("405 Method Not Allowed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machines_names_are_answered() {
        for (request, expected) in [
            ("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9464\r\n\r\n", None),
            ("GET /metrics?x=1 HTTP/1.1\r\nAccept: */*\r\nhost: localhost\r\n\r\n", None),
            ("GET /metrics HTTP/1.1\r\nHost: [::1]:9464\r\n\r\n", None),
            ("GET /metrics HTTP/1.1\r\nHost: evil.example:9464\r\n\r\n", Some("403 Forbidden")),
            ("GET /metrics HTTP/1.1\r\n\r\n", Some("403 Forbidden")),
            ("GET / HTTP/1.1\r\nHost: localhost:1\r\n\r\n", Some("404 Not Found")),
            ("POST /metrics HTTP/1.1\r\nHost: localhost:1\r\n\r\n", Some("405 Method Not Allowed")),
            ("", Some("403 Forbidden")),
            ("\u{0}\u{fffd}\r\n\r\n", Some("403 Forbidden")),
        ] {
            assert_eq!(refusal(request, "/metrics"), expected, "{request:?}");
        }
    }
}
