//! The allocator of a process that lives for half a millisecond: it hands out a fixed room from front to back and gives
//! nothing back but the last piece. What does not fit goes to the system's allocator, as everything does in long commands.
//!
//! This is the one place with unsafe code. musl's allocator took a fifth of a hook's instructions; locks and free lists
//! are of no use to a process that is over before it would need its memory again.

#![expect(unsafe_code, reason = "an allocator cannot be written without it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes of room: several times what a hook call asks for. Untouched pages cost nothing.
const ROOM: usize = 1 << 20;

/// A room that is handed out from front to back.
pub struct Arena {
    used: AtomicUsize,
    room: UnsafeCell<[u8; ROOM]>,
}

// SAFETY: pieces are taken by an atomic exchange of `used`, so that no two threads ever own the same byte.
unsafe impl Sync for Arena {}

impl Arena {
    /// Makes an empty room.
    pub const fn new() -> Arena {
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
