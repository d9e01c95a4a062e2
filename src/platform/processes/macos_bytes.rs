//! What macOS answers about processes, read from its bytes: `kinfo_proc`, `KERN_PROCARGS2` and `vnode_fdinfowithpath`.
//!
//! The layouts are those of `sys/sysctl.h`, `sys/proc.h` and `sys/proc_info.h`, the same on both processors. The tests build the bytes
//! from structures with the headers' fields, so they run on every system.

/// How long an entry of the process table is: `struct kinfo_proc`.
pub const ENTRY: usize = 648;
/// How long the answer about an open file is: `struct vnode_fdinfowithpath`.
pub const OPEN_FILE: usize = 1200;

/// Where the fields of an entry are.
const START_SECONDS: usize = 0;
const START_MICROSECONDS: usize = 8;
const STATUS: usize = 36;
const PID: usize = 40;
const PARENT: usize = 560;
const GROUP: usize = 564;
const TERMINAL: usize = 572;
/// Where the path of an open file is.
const FILE_PATH: usize = 176;

/// The status of a process that has ended and whose parent has not asked for it (`SZOMB`).
const ENDED: u8 = 5;
/// What stands in the place of a terminal where there is none (`NODEV`).
const NO_TERMINAL: i32 = -1;

/// An entry of the process table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub pid: u32,
    /// The id of its parent.
    pub parent: u32,
    /// The id of its group.
    pub group: u32,
    /// When it was started, in microseconds since 1970.
    pub start: u64,
    /// Whether it has a terminal.
    pub has_terminal: bool,
    /// Whether it has ended.
    pub has_ended: bool,
}

/// Reads the entries of the process table; what is left over at the end is none.
pub fn entries(bytes: &[u8]) -> Vec<Entry> {
    bytes.chunks_exact(ENTRY).filter_map(entry).collect()
}

/// Reads one entry; nothing where the bytes are too few, or a number is none that an entry has.
pub fn entry(bytes: &[u8]) -> Option<Entry> {
    let bytes = bytes.get(..ENTRY)?;
    let id = |at| u32::try_from(number(bytes, at)?).ok();
    let seconds = bytes.get(START_SECONDS..START_SECONDS + 8)?.try_into().ok().map(i64::from_ne_bytes)?;
    let microseconds = u64::try_from(number(bytes, START_MICROSECONDS)?).ok()?;
    Some(Entry {
        pid: id(PID)?,
        parent: id(PARENT)?,
        group: id(GROUP)?,
        start: u64::try_from(seconds).ok()?.checked_mul(1_000_000)?.checked_add(microseconds)?,
        has_terminal: number(bytes, TERMINAL)? != NO_TERMINAL,
        has_ended: bytes[STATUS] == ENDED,
    })
}

fn number(bytes: &[u8], at: usize) -> Option<i32> {
    bytes.get(at..at + 4)?.try_into().ok().map(i32::from_ne_bytes)
}

/// What a process was started with.
#[derive(Debug, PartialEq, Eq)]
pub struct StartedWith<'a> {
    /// Its arguments, its own name among them.
    pub arguments: Vec<&'a [u8]>,
    /// Its environment, each variable ended by a zero byte; empty where the system keeps it to itself.
    pub environment: &'a [u8],
}

/// Reads what a process was started with: the number of arguments, the program's path, zero bytes, arguments, environment.
pub fn started_with(bytes: &[u8]) -> Option<StartedWith<'_>> {
    let count = usize::try_from(number(bytes, 0)?).ok()?;
    let (_program, rest) = text(&bytes[4..])?;
    let mut rest = &rest[rest.iter().take_while(|byte| **byte == 0).count()..];
    let mut arguments = Vec::new();
    for _ in 0..count {
        let (argument, after) = text(rest)?;
        arguments.push(argument);
        rest = after;
    }
    let mut end = 0;
    while let Some((variable, _)) = rest.get(end..).and_then(text).filter(|(variable, _)| !variable.is_empty()) {
        end += variable.len() + 1;
    }
    Some(StartedWith { arguments, environment: &rest[..end.min(rest.len())] })
}

/// Takes off the bytes before the first zero byte; all of them where there is none.
fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    if bytes.is_empty() {
        return None;
    }
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    Some((&bytes[..end], bytes.get(end + 1..).unwrap_or_default()))
}

/// Reads the path of an open file; nothing where it has none.
pub fn file_path(bytes: &[u8]) -> Option<&[u8]> {
    let (path, _) = text(bytes.get(FILE_PATH..OPEN_FILE)?)?;
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// `struct timeval` of `sys/_types/_timeval.h`.
    #[repr(C)]
    struct Timeval {
        tv_sec: i64,
        tv_usec: i32,
    }

    /// `struct extern_proc` of `sys/proc.h`.
    #[repr(C)]
    struct ExternProc {
        p_starttime: Timeval,
        p_vmspace: u64,
        p_sigacts: u64,
        p_flag: i32,
        p_stat: i8,
        p_pid: i32,
        p_oppid: i32,
        p_dupfd: i32,
        user_stack: u64,
        exit_thread: u64,
        p_debugger: i32,
        sigwait: i32,
        p_estcpu: u32,
        p_cpticks: i32,
        p_pctcpu: u32,
        p_wchan: u64,
        p_wmesg: u64,
        p_swtime: u32,
        p_slptime: u32,
        p_realtimer: [Timeval; 2],
        p_rtime: Timeval,
        p_ticks: [u64; 3],
        p_traceflag: i32,
        p_tracep: u64,
        p_siglist: i32,
        p_textvp: u64,
        p_holdcnt: i32,
        p_signals: [u32; 3],
        p_priority: u8,
        p_usrpri: u8,
        p_nice: i8,
        p_comm: [i8; 17],
        p_pgrp: u64,
        p_addr: u64,
        p_xstat: u16,
        p_acflag: u16,
        p_ru: u64,
    }

    /// `struct _pcred`, `struct _ucred` and `struct vmspace`.
    #[repr(C)]
    struct Pcred {
        pc_lock: [i8; 72],
        pc_ucred: u64,
        ids: [u32; 4],
        p_refcnt: i32,
    }

    #[repr(C)]
    struct Ucred {
        cr_ref: i32,
        cr_uid: u32,
        cr_ngroups: i16,
        cr_groups: [u32; 16],
    }

    #[repr(C)]
    struct Vmspace {
        dummy: i32,
        dummy2: u64,
        dummy3: [i32; 5],
        dummy4: [u64; 3],
    }

    /// `struct eproc` of `sys/sysctl.h`.
    #[repr(C)]
    struct Eproc {
        e_paddr: u64,
        e_sess: u64,
        e_pcred: Pcred,
        e_ucred: Ucred,
        e_vm: Vmspace,
        e_ppid: i32,
        e_pgid: i32,
        e_jobc: i16,
        e_tdev: i32,
        e_tpgid: i32,
        e_tsess: u64,
        e_wmesg: [i8; 8],
        e_xsize: i32,
        e_xrssize: i16,
        e_xccount: i16,
        e_xswrss: i16,
        e_flag: i32,
        e_login: [i8; 12],
        e_spare: [i32; 4],
    }

    #[repr(C)]
    struct KinfoProc {
        kp_proc: ExternProc,
        kp_eproc: Eproc,
    }

    /// `struct vnode_fdinfowithpath` of `sys/proc_info.h`, with what it is made of.
    #[repr(C)]
    struct VnodeFdInfoWithPath {
        fi_openflags: u32,
        fi_status: u32,
        fi_offset: i64,
        fi_type: i32,
        fi_guardflags: u32,
        vst_dev: u32,
        vst_mode: u16,
        vst_nlink: u16,
        vst_ino: u64,
        vst_owner: [u32; 2],
        vst_times: [i64; 8],
        vst_size: i64,
        vst_blocks: i64,
        vst_numbers: [u32; 4],
        vst_qspare: [i64; 2],
        vi_type: i32,
        vi_pad: i32,
        vi_fsid: [i32; 2],
        vip_path: [u8; 1024],
    }

    fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
        bytes[at..at + value.len()].copy_from_slice(value);
    }

    fn built(pid: i32, parent: i32, terminal: i32, status: u8) -> Vec<u8> {
        let mut bytes = vec![0xA5; size_of::<KinfoProc>()];
        put(&mut bytes, offset_of!(KinfoProc, kp_proc.p_starttime.tv_sec), &1_700_000_000i64.to_ne_bytes());
        put(&mut bytes, offset_of!(KinfoProc, kp_proc.p_starttime.tv_usec), &42i32.to_ne_bytes());
        put(&mut bytes, offset_of!(KinfoProc, kp_proc.p_stat), &[status]);
        put(&mut bytes, offset_of!(KinfoProc, kp_proc.p_pid), &pid.to_ne_bytes());
        put(&mut bytes, offset_of!(KinfoProc, kp_eproc.e_ppid), &parent.to_ne_bytes());
        put(&mut bytes, offset_of!(KinfoProc, kp_eproc.e_pgid), &pid.to_ne_bytes());
        put(&mut bytes, offset_of!(KinfoProc, kp_eproc.e_tdev), &terminal.to_ne_bytes());
        bytes
    }

    #[test]
    fn an_entry_is_read_as_the_headers_lay_it_out() {
        let bytes = [built(501, 1, -1, 2), built(502, 501, 0x1000_0003, 5), vec![0; 100]].concat();
        let entry = |pid, parent, has_terminal, has_ended| {
            let start = 1_700_000_000_000_042;
            Entry { pid, parent, group: pid, start, has_terminal, has_ended }
        };
        assert_eq!(size_of::<KinfoProc>(), ENTRY);
        assert_eq!(entries(&bytes), [entry(501, 1, false, false), entry(502, 501, true, true)]);
        assert_eq!(entries(&built(-1, 1, 0, 2)), []);
        assert!((0..ENTRY).all(|length| super::entry(&bytes[..length]).is_none()));
    }

    #[test]
    fn arguments_and_environment_are_told_apart() {
        let bytes = |count: i32, rest: &[u8]| [&count.to_ne_bytes(), rest].concat();
        let whole = bytes(3, b"/bin/sh\0\0\0\0sh\0-c\0echo a\0PATH=/bin\0HOME=/h\0\0executable_path=/bin/sh\0");
        let read = started_with(&whole).unwrap();
        assert_eq!(read.arguments, [&b"sh"[..], b"-c", b"echo a"]);
        assert_eq!(read.environment, b"PATH=/bin\0HOME=/h\0");
        let bare = bytes(1, b"/bin/ls\0ls\0");
        assert_eq!(started_with(&bare).unwrap(), StartedWith { arguments: vec![b"ls"], environment: b"" });
        let empty = bytes(2, b"/bin/ls\0ls\0\0A=1\0");
        assert_eq!(started_with(&empty).unwrap().arguments, [&b"ls"[..], b""]);
        assert_eq!(started_with(&bytes(9, b"/bin/ls\0ls\0")), None);
        assert_eq!(started_with(&bytes(-1, b"x\0")), None);
        // Whatever is cut off, nothing is read that is not there.
        for length in 0..whole.len() {
            let _any = started_with(&whole[..length]);
        }
    }

    #[test]
    fn the_path_of_an_open_file_is_read() {
        let mut bytes = vec![0xA5; size_of::<VnodeFdInfoWithPath>()];
        let at = offset_of!(VnodeFdInfoWithPath, vip_path);
        assert_eq!((bytes.len(), at), (OPEN_FILE, FILE_PATH));
        put(&mut bytes, at, b"/tmp/x.output\0");
        assert_eq!(file_path(&bytes), Some(&b"/tmp/x.output"[..]));
        put(&mut bytes, at, b"\0");
        assert_eq!(file_path(&bytes), None);
        assert_eq!(file_path(&bytes[..FILE_PATH]), None);
    }
}
