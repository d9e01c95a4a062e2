//! Who opened the channel that standard input is. No library asks without taking the process id 0, which stands for one of another
//! namespace, for one that exists.

#![expect(unsafe_code, reason = "the system writes the answer into a structure of its own")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::mem;

/// Returns the process that opened the two ends of the socket that standard input is; nothing where it is none.
pub fn input_sender() -> Option<u32> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = libc::socklen_t::try_from(mem::size_of_val(&peer)).ok()?;
    // SAFETY: the structure and its length live as long as the call, and the system writes no more than that.
    let status = unsafe {
        libc::getsockopt(
            libc::STDIN_FILENO,
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    u32::try_from(peer.pid).ok().filter(|pid| status == 0 && *pid != 0)
}
