//! Encryption of the connection to a team's store: the server's certificate is always verified, and for its name.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::platform::files;
use crate::platform::socket::Socket;

/// The most of a file of certificates that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// An encrypted connection.
pub type Encrypted = StreamOwned<ClientConnection, Socket>;

/// Encrypts a connection to `host`. The handshake is done with the first bytes.
pub fn encrypt(socket: Socket, host: &str, root_certificates: Option<&Path>) -> io::Result<Encrypted> {
    let mut roots = RootCertStore::empty();
    match root_certificates {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(path) => {
            let pem = files::bytes(path, LARGEST)?;
            for certificate in CertificateDer::pem_slice_iter(&pem) {
                roots.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
            }
            if roots.is_empty() {
                let what = format!("`{}` holds no certificate", path.display());
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(StreamOwned::new(connection, socket))
}
