//! A connection to PostgreSQL: it logs in, and runs one statement after the other. Values go and come as text.

use std::io::{self, Read, Write};
use std::time::Duration;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{DataRowBody, ErrorResponseBody, Message};
use postgres_protocol::{IsNull, message::frontend};

use crate::platform::socket::Socket;
use crate::store::team::address::{Address, Endpoint};
use crate::store::team::tls;

/// How long the server may take for each answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most of one answer that is kept, in bytes.
const LARGEST: usize = 64 << 20;

/// A row of an answer; `None` is NULL.
pub type Row = Vec<Option<String>>;

/// Why a statement failed.
#[derive(Debug)]
pub enum Failure {
    /// The connection broke, or was never made. The statement may have been carried out all the same.
    Lost(io::Error),
    /// The server says no.
    Refused(Refusal),
}

/// What the server says where it refuses a statement.
#[derive(Debug)]
pub struct Refusal {
    /// Its SQLSTATE, which is the same in every language.
    pub code: String,
    /// Its own words.
    pub words: String,
    /// Whether a function of the team's store has refused it, and not the server itself.
    pub is_stores: bool,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Lost(error)
    }
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection that is logged in.
pub struct Connection {
    stream: Box<dyn Stream>,
    received: BytesMut,
}

impl Connection {
    /// Connects and logs in.
    pub fn open(address: &Address) -> Result<Connection, Failure> {
        let mut connection = Connection { stream: stream_to(address)?, received: BytesMut::new() };
        let mut out = BytesMut::new();
        let parameters = [
            ("user", address.user.as_str()),
            ("database", address.database.as_str()),
            ("application_name", "fusebox"),
            ("client_encoding", "UTF8"),
            ("TimeZone", "UTC"),
            ("statement_timeout", "10000"),
        ];
        frontend::startup_message(parameters, &mut out)?;
        connection.send(&out)?;
        connection.log_in(address)?;
        connection.wait_until_ready()?;
        Ok(connection)
    }

    /// Runs one statement with its values, and returns the rows.
    pub fn query(&mut self, statement: &str, values: &[Option<&str>]) -> Result<Vec<Row>, Failure> {
        Ok(self.query_each(&[(statement, values)])?.pop().unwrap_or_default())
    }

    /// Runs statements in one round trip, each a transaction of its own that another's refusal leaves alone. Returns the rows of each.
    pub fn query_each(&mut self, statements: &[(&str, &[Option<&str>])]) -> Result<Vec<Vec<Row>>, Failure> {
        let mut out = BytesMut::new();
        let write = |value: &Option<&str>, out: &mut BytesMut| match value {
            Some(text) => {
                out.extend_from_slice(text.as_bytes());
                Ok(IsNull::No)
            }
            None => Ok(IsNull::Yes),
        };
        for (statement, values) in statements {
            frontend::parse("", statement, [], &mut out)?;
            frontend::bind("", "", [], *values, write, [], &mut out).map_err(|_| invalid("a value is too long"))?;
            frontend::execute("", 0, &mut out)?;
            frontend::sync(&mut out);
        }
        self.send(&out)?;
        let mut answers = Vec::new();
        for _ in statements {
            match self.rows() {
                Err(Failure::Lost(cause)) => return Err(cause.into()),
                answer => answers.push(answer),
            }
        }
        answers.into_iter().collect()
    }

    /// Runs several statements, in one transaction where they do not say else.
    pub fn run(&mut self, statements: &str) -> Result<(), Failure> {
        let mut out = BytesMut::new();
        frontend::query(statements, &mut out)?;
        self.send(&out)?;
        self.rows().map(|_| ())
    }

    fn rows(&mut self) -> Result<Vec<Row>, Failure> {
        let (mut rows, mut refused, mut length) = (Vec::new(), None, 0);
        loop {
            match self.receive()? {
                Message::DataRow(row) => {
                    length += row.buffer().len();
                    if length > LARGEST {
                        return Err(invalid("the answer is too long").into());
                    }
                    rows.push(row_of(&row)?);
                }
                Message::ErrorResponse(error) => refused = Some(refusal(&error)),
                Message::ReadyForQuery(_) => return refused.map_or(Ok(rows), |refusal| Err(Failure::Refused(refusal))),
                _ => {}
            }
        }
    }

    fn log_in(&mut self, address: &Address) -> Result<(), Failure> {
        let mut scram = None;
        loop {
            let mut out = BytesMut::new();
            match self.receive()? {
                Message::AuthenticationOk => return Ok(()),
                Message::AuthenticationCleartextPassword => {
                    frontend::password_message(address.password.as_bytes(), &mut out)?;
                }
                Message::AuthenticationMd5Password(body) => {
                    let hash = md5_hash(address.user.as_bytes(), address.password.as_bytes(), body.salt());
                    frontend::password_message(hash.as_bytes(), &mut out)?;
                }
                Message::AuthenticationSasl(body) => {
                    if !body.mechanisms().any(|mechanism| Ok(mechanism == SCRAM_SHA_256))? {
                        return Err(invalid("the server knows no SCRAM-SHA-256").into());
                    }
                    let new = ScramSha256::new(address.password.as_bytes(), ChannelBinding::unsupported());
                    frontend::sasl_initial_response(SCRAM_SHA_256, new.message(), &mut out)?;
                    scram = Some(new);
                }
                Message::AuthenticationSaslContinue(body) => {
                    let scram = scram.as_mut().ok_or_else(|| invalid("the server goes on with what was not begun"))?;
                    scram.update(body.data())?;
                    frontend::sasl_response(scram.message(), &mut out)?;
                }
                Message::AuthenticationSaslFinal(body) => {
                    let scram = scram.as_mut().ok_or_else(|| invalid("the server ends what was not begun"))?;
                    scram.finish(body.data())?;
                }
                Message::ErrorResponse(error) => return Err(Failure::Refused(refusal(&error))),
                _ => return Err(invalid("the server asks for a login of another kind").into()),
            }
            self.send(&out)?;
        }
    }

    fn wait_until_ready(&mut self) -> Result<(), Failure> {
        loop {
            match self.receive()? {
                Message::ReadyForQuery(_) => return Ok(()),
                Message::ErrorResponse(error) => return Err(Failure::Refused(refusal(&error))),
                _ => {}
            }
        }
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)?;
        self.stream.flush()
    }

    fn receive(&mut self) -> io::Result<Message> {
        loop {
            if let Some(message) = Message::parse(&mut self.received)? {
                return Ok(message);
            }
            let mut part = [0; 8192];
            let length = self.stream.read(&mut part)?;
            if length == 0 || self.received.len() > LARGEST {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.received.extend_from_slice(part.get(..length).unwrap_or_default());
        }
    }
}

/// Connects, and encrypts what leaves this machine.
fn stream_to(address: &Address) -> io::Result<Box<dyn Stream>> {
    let (host, mut socket) = match &address.endpoint {
        Endpoint::Local { folder, port } => {
            return Ok(Box::new(Socket::local(&folder.join(format!(".s.PGSQL.{port}")), PATIENCE)?));
        }
        Endpoint::Network { host, port } => (host, Socket::network(host, *port, PATIENCE)?),
    };
    if address.is_on_this_machine() && address.root_certificates.is_none() {
        return Ok(Box::new(socket));
    }
    let mut out = BytesMut::new();
    frontend::ssl_request(&mut out);
    socket.write_all(&out)?;
    let mut answer = [0];
    socket.read_exact(&mut answer)?;
    match answer {
        [b'S'] => Ok(Box::new(tls::encrypt(socket, host, address.root_certificates.as_deref())?)),
        _ => Err(invalid("the server does not encrypt, and nothing is sent to it in the clear")),
    }
}

fn row_of(row: &DataRowBody) -> io::Result<Row> {
    let text = |range: Option<std::ops::Range<usize>>| {
        let bytes = range.and_then(|range| row.buffer().get(range));
        Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
    };
    row.ranges().map(text).collect()
}

fn refusal(error: &ErrorResponseBody) -> Refusal {
    let field = |kind| {
        let field = error.fields().find(|field| Ok(field.type_() == kind)).ok().flatten();
        field.map(|field| String::from_utf8_lossy(field.value_bytes()).into_owned())
    };
    Refusal {
        code: field(b'C').unwrap_or_default(),
        words: field(b'M').unwrap_or_else(|| "it gives no reason".to_owned()),
        // The server's own function that raises what PL/pgSQL says.
        is_stores: field(b'R').is_some_and(|routine| routine == "exec_stmt_raise"),
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
