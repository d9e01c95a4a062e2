//! The allocator of a process that lives for half a millisecond: it hands out a fixed room from front to back and gives
//! nothing back but the last piece. What does not fit goes to the system's allocator, as everything does in long commands.
//!
//! This is the one place with unsafe code. musl's allocator took a third of a hook's instructions, half of that for SQLite;
//! locks and free lists are of no use to a process that is over before it would need its memory again.

#![expect(unsafe_code, reason = "an allocator cannot be written without it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rusqlite::ffi;

/// Bytes of room: several times what a hook call asks for. Untouched pages cost nothing.
const ROOM: usize = 2 << 20;

#[global_allocator]
static ARENA: Arena = Arena::new();

/// A room that is handed out from front to back.
struct Arena {
    used: AtomicUsize,
    room: UnsafeCell<[u8; ROOM]>,
}

// SAFETY: pieces are taken by an atomic exchange of `used`, so that no two threads ever own the same byte.
unsafe impl Sync for Arena {}

impl Arena {
    const fn new() -> Arena {
        Arena { used: AtomicUsize::new(0), room: UnsafeCell::new([0; ROOM]) }
    }

    /// Returns where a piece stands in the room; nothing where the system has handed it out.
    fn place(&self, piece: *mut u8) -> Option<usize> {
        (piece as usize).checked_sub(self.room.get() as usize).filter(|at| *at < ROOM)
    }
}

// SAFETY: `alloc` returns either the system's memory or bytes `start..end` of the room that this call alone took, aligned
// as asked; `dealloc` and `realloc` tell the two apart by address, and change only the piece they are given.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let base = self.room.get().cast::<u8>();
        let mut used = self.used.load(Relaxed);
        loop {
            let start = (base as usize + used).next_multiple_of(layout.align()) - base as usize;
            let Some(end) = start.checked_add(layout.size()).filter(|end| *end <= ROOM) else {
                return unsafe { System.alloc(layout) };
            };
            match self.used.compare_exchange_weak(used, end, Relaxed, Relaxed) {
                Ok(_) => return unsafe { base.add(start) },
                Err(now) => used = now,
            }
        }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        match self.place(piece) {
            Some(start) => {
                let _not_the_last = self.used.compare_exchange(start + layout.size(), start, Relaxed, Relaxed);
            }
            None => unsafe { System.dealloc(piece, layout) },
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(start) = self.place(piece) else { return unsafe { System.realloc(piece, layout, size) } };
        let fits = start.checked_add(size).filter(|end| *end <= ROOM);
        let grown = fits.map(|end| self.used.compare_exchange(start + layout.size(), end, Relaxed, Relaxed));
        if let Some(Ok(_)) = grown {
            return piece;
        }
        // SAFETY: `size` is not zero and does not overflow when aligned: that is the caller's duty, as for `alloc`.
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !new.is_null() {
            unsafe { new.copy_from_nonoverlapping(piece, layout.size().min(size)) };
        }
        new
    }
}

/// Bytes before a piece of SQLite's that hold its size: SQLite does not remember it, and wants pieces at multiples of 8.
const HEAD: usize = 8;

/// Gives SQLite its memory from the arena, too; before its first use, and only in a process that is soon over.
pub fn serve_sqlite() {
    let methods = ffi::sqlite3_mem_methods {
        xMalloc: Some(take),
        xFree: Some(give_back),
        xRealloc: Some(resize),
        xSize: Some(size),
        xRoundup: Some(round_up),
        xInit: Some(begin),
        xShutdown: Some(end),
        pAppData: ptr::null_mut(),
    };
    // SAFETY: SQLite copies the methods; where it is in use already it refuses, and keeps its own.
    let _its_own_works_too = unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, &raw const methods) };
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(HEAD)?, HEAD).ok()
}

/// Writes its size before a new piece and returns where the piece begins.
unsafe fn headed(piece: *mut u8, bytes: usize) -> *mut c_void {
    if piece.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: the piece is `HEAD` bytes longer than `bytes` and stands at a multiple of 8.
    unsafe {
        piece.cast::<usize>().write(bytes);
        piece.add(HEAD).cast()
    }
}

/// Returns a piece of SQLite's with its head, and how it was asked for.
unsafe fn whole(piece: *mut c_void) -> Option<(*mut u8, Layout)> {
    // SAFETY: every piece that SQLite has comes from `headed`.
    let start = unsafe { piece.cast::<u8>().sub(HEAD) };
    let bytes = unsafe { start.cast::<usize>().read() };
    layout(bytes).map(|layout| (start, layout))
}

unsafe extern "C" fn take(bytes: c_int) -> *mut c_void {
    let Ok(bytes) = usize::try_from(bytes) else { return ptr::null_mut() };
    // SAFETY: the layout is not empty: it holds the head.
    layout(bytes).map_or(ptr::null_mut(), |layout| unsafe { headed(ARENA.alloc(layout), bytes) })
}

unsafe extern "C" fn give_back(piece: *mut c_void) {
    if piece.is_null() {
        return;
    }
    // SAFETY: SQLite gives back what it has taken, once.
    if let Some((start, layout)) = unsafe { whole(piece) } {
        unsafe { ARENA.dealloc(start, layout) }
    }
}

unsafe extern "C" fn resize(piece: *mut c_void, bytes: c_int) -> *mut c_void {
    if piece.is_null() {
        return unsafe { take(bytes) };
    }
    let (Ok(bytes), Some((start, before))) = (usize::try_from(bytes), unsafe { whole(piece) }) else {
        return ptr::null_mut();
    };
    // SAFETY: the piece was asked for by this layout, and the new size holds the head and does not overflow.
    layout(bytes).map_or(ptr::null_mut(), |now| unsafe { headed(ARENA.realloc(start, before, now.size()), bytes) })
}

unsafe extern "C" fn size(piece: *mut c_void) -> c_int {
    // SAFETY: SQLite asks for pieces that it has.
    let found = if piece.is_null() { None } else { unsafe { whole(piece) } };
    found.and_then(|(_, layout)| c_int::try_from(layout.size() - HEAD).ok()).unwrap_or(0)
}

unsafe extern "C" fn round_up(bytes: c_int) -> c_int {
    bytes.saturating_add(7) & !7
}

unsafe extern "C" fn begin(_: *mut c_void) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn end(_: *mut c_void) {}
