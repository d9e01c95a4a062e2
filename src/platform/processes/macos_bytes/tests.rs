//! The structures of macOS, read from bytes as it lays them.

use std::mem::offset_of;

use crate::platform::processes::macos_bytes::*;

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
        Entry { pid, parent, group: pid, start, has_terminal, has_ended, is_stopped: false }
    };
    assert_eq!(size_of::<KinfoProc>(), ENTRY);
    assert_eq!(entries(&bytes), [entry(501, 1, false, false), entry(502, 501, true, true)]);
    assert!(super::entry(&built(503, 501, -1, 4)).is_some_and(|found| found.is_stopped && !found.has_ended));
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
