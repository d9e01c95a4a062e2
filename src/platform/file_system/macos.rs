//! The file systems of macOS: each says by itself whether it is local.

use std::path::Path;

/// Names of file systems that live on another machine, as the system has them and as people do.
const NETWORK: [(&str, &str); 5] =
    [("nfs", "NFS"), ("smbfs", "SMB"), ("afpfs", "AFP"), ("webdav", "WebDAV"), ("macfuse", "macFUSE")];

/// Returns the name of the network file system that a folder is on; `None` where it is on a local one.
pub fn network(folder: &Path) -> Option<&'static str> {
    let found = rustix::fs::statfs(folder).ok()?;
    if found.f_flags & libc::MNT_LOCAL as u32 != 0 {
        return None;
    }
    let name: Vec<u8> = found.f_fstypename.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8).collect();
    let row = NETWORK.iter().find(|row| row.0.as_bytes() == name);
    Some(row.map_or("a network file system", |row| row.1))
}
