//! A connection to a server, over the network or by a socket in the file system, on which nothing waits for ever.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// A connected stream of bytes.
#[derive(Debug)]
pub enum Socket {
    /// Over the network.
    Network(TcpStream),
    /// By a socket in the file system.
    #[cfg(unix)]
    Local(UnixStream),
}

impl Socket {
    /// Connects to a host. The name's addresses are tried in turn; `patience` is for each, and for each read and write after.
    pub fn network(host: &str, port: u16, patience: Duration) -> io::Result<Socket> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in (host, port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, patience) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(patience))?;
                    stream.set_write_timeout(Some(patience))?;
                    stream.set_nodelay(true)?;
                    return Ok(Socket::Network(stream));
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Connects to a socket in the file system.
    #[cfg(unix)]
    pub fn local(path: &Path, patience: Duration) -> io::Result<Socket> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))?;
        Ok(Socket::Local(stream))
    }

    /// There are none here.
    #[cfg(windows)]
    pub fn local(_path: &Path, _patience: Duration) -> io::Result<Socket> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "sockets in the file system are not used on Windows"))
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Network(stream) => stream.read(buffer),
            #[cfg(unix)]
            Socket::Local(stream) => stream.read(buffer),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Network(stream) => stream.write(bytes),
            #[cfg(unix)]
            Socket::Local(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Socket::Network(stream) => stream.flush(),
            #[cfg(unix)]
            Socket::Local(stream) => stream.flush(),
        }
    }
}
