//! Posts one document by HTTP on this machine. By hand: it is forty lines, and the well-kept clients bring TLS and a runtime along.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::platform::stopwatch::Stopwatch;

/// How long the other side may take, from the connection to the end of its answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much of an answer is read, in bytes.
const LONGEST: usize = 65_536;

/// What was answered.
#[derive(Debug, PartialEq, Eq)]
pub struct PostAnswer {
    /// The status: 200 where all is well.
    pub code: u16,
    /// The document, as far as it was read.
    pub text: String,
}

/// Sends JSON to a path of an address.
pub fn post(address: SocketAddr, path: &str, document: &str) -> io::Result<PostAnswer> {
    let watch = Stopwatch::start();
    let left = || match PATIENCE.saturating_sub(watch.elapsed()) {
        Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
        left => Ok::<_, io::Error>(left),
    };
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        document.len()
    );
    stream.set_write_timeout(Some(left()?))?;
    stream.write_all(head.as_bytes())?;
    stream.write_all(document.as_bytes())?;
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    while bytes.len() < LONGEST && !is_whole(&bytes) {
        stream.set_read_timeout(Some(left()?))?;
        match stream.read(&mut part)? {
            0 => break,
            length => bytes.extend_from_slice(part.get(..length).unwrap_or_default()),
        }
    }
    answer(&bytes).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "its answer is no HTTP"))
}

/// Splits an answer into head and document, once its head is there.
fn parts(bytes: &[u8]) -> Option<(String, &[u8])> {
    let end = bytes.windows(4).position(|end| end == b"\r\n\r\n")?;
    let (head, document) = bytes.split_at(end);
    Some((String::from_utf8_lossy(head).into_owned(), document.get(4..)?))
}

/// Whether an answer has come to the end that it names. One that names none ends with its connection.
fn is_whole(bytes: &[u8]) -> bool {
    let Some((head, document)) = parts(bytes) else { return false };
    let length = head.lines().filter_map(|line| line.split_once(':'));
    let mut length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    length
        .next()
        .and_then(|(_, length)| length.trim().parse().ok())
        .is_some_and(|length: usize| document.len() >= length)
}

fn answer(bytes: &[u8]) -> Option<PostAnswer> {
    let (head, document) = parts(bytes)?;
    let code = head.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()?;
    Some(PostAnswer { code, text: String::from_utf8_lossy(document).into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_as_far_as_it_goes() {
        for (bytes, whole, expected) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", true, Some((200, "{}"))),
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}", false, Some((200, "{}"))),
            ("HTTP/1.0 404 Not Found\r\ncontent-length: 0\r\n\r\n", true, Some((404, ""))),
            ("HTTP/1.1 503 Busy\r\n\r\nlater", false, Some((503, "later"))),
            ("HTTP/1.1 200 OK\r\n", false, None),
            ("SSH-2.0-OpenSSH\r\n\r\n", false, None),
            ("HTTP/1.1 soon\r\n\r\n", false, None),
            ("", false, None),
        ] {
            let expected = expected.map(|(code, text)| PostAnswer { code, text: text.to_owned() });
            assert_eq!((is_whole(bytes.as_bytes()), answer(bytes.as_bytes())), (whole, expected), "{bytes:?}");
        }
    }
}
