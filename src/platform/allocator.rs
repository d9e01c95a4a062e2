//! The allocator of a process that lives for half a millisecond: it hands out a fixed room from front to back and takes back
//! the last piece alone. What does not fit goes to the system's allocator, as most does in long commands.
//!
//! musl's allocator took a third of a hook's instructions, half of that for SQLite. A hook call pays 1.5 microseconds for each page
//! that it touches first. So its one thread that uses memory keeps what it gives back in lists by size, and takes from these first.

#![expect(unsafe_code, reason = "an allocator cannot be written without it")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::AcqRel, Ordering::Relaxed};

use rusqlite::ffi;

/// Bytes of room: many times what a hook call asks for. Untouched pages cost nothing but addresses. A scan of 100 MB of transcripts
/// finds room in it, too, whose threads would wait for each other at the system's allocator: it takes 31 ms instead of 41.
const ROOM: usize = 16 << 20;

/// Where every piece stands at the least: at a multiple of what a system's allocator promises. The unwinder counts on that: it writes
/// sixteen bytes at once into a panic's exception, for which the standard library asks for eight, and ended by SIGSEGV elsewhere.
const ALIGNMENT: usize = 16;

/// Pieces up to so many bytes are kept in lists, one for each multiple of [`ALIGNMENT`].
const LARGEST_KEPT: usize = 4096;

/// Returns how many bytes a piece takes in the room: all up to where the next one may stand.
const fn whole_size(bytes: usize) -> usize {
    // A layout's size is at most `isize::MAX`.
    (bytes + ALIGNMENT - 1) & !(ALIGNMENT - 1)
}

thread_local! {
    /// Whether this thread keeps what it gives back. One thread of a process does.
    static KEEPS: Cell<bool> = const { Cell::new(false) };
}

#[global_allocator]
static ARENA: Arena = Arena::new();

/// A room that is handed out from front to back.
struct Arena {
    used: AtomicUsize,
    /// The piece of each size that was kept last. It begins with the address of the one that was kept before it.
    kept: UnsafeCell<[*mut u8; LARGEST_KEPT / ALIGNMENT + 1]>,
    room: UnsafeCell<[u8; ROOM]>,
}

// SAFETY: pieces are taken by an atomic exchange of `used`, so that no two threads ever own the same byte. What one thread wrote
// into a piece before it gave that back comes before what the next owner writes: both exchanges acquire and release. The one thread
// that has `KEEPS` set uses `kept`, and no other.
unsafe impl Sync for Arena {}

impl Arena {
    const fn new() -> Arena {
        let kept = [ptr::null_mut(); LARGEST_KEPT / ALIGNMENT + 1];
        Arena { used: AtomicUsize::new(0), kept: UnsafeCell::new(kept), room: UnsafeCell::new([0; ROOM]) }
    }

    /// Returns the list of pieces of a size; nothing where none are kept, or another thread keeps them.
    fn list(&self, layout: Layout) -> Option<*mut *mut u8> {
        let is_kept = layout.size() <= LARGEST_KEPT && layout.align() <= ALIGNMENT && KEEPS.get();
        // SAFETY: the index is within the lists, whose last is that of `LARGEST_KEPT`.
        is_kept.then(|| unsafe { self.kept.get().cast::<*mut u8>().add(whole_size(layout.size()) / ALIGNMENT) })
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
        if let Some(list) = self.list(layout) {
            // SAFETY: this thread alone uses the lists, and a piece that is kept begins with an address, or with null.
            unsafe {
                let piece = *list;
                if !piece.is_null() {
                    *list = piece.cast::<*mut u8>().read();
                    return piece;
                }
            }
        }
        let base = self.room.get().cast::<u8>();
        // An alignment is a power of two, so that no division is needed.
        let below = layout.align().max(ALIGNMENT) - 1;
        let mut used = self.used.load(Relaxed);
        loop {
            let start = ((base as usize + used + below) & !below) - base as usize;
            let Some(end) = start.checked_add(whole_size(layout.size())).filter(|end| *end <= ROOM) else {
                // SAFETY: the caller's duties are the same as the system's.
                return unsafe { System.alloc(layout) };
            };
            match self.used.compare_exchange_weak(used, end, AcqRel, Relaxed) {
                // SAFETY: `start` is at most `end`, which is in the room.
                Ok(_) => return unsafe { base.add(start) },
                Err(now) => used = now,
            }
        }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        match self.place(piece) {
            Some(start) => {
                let end = start + whole_size(layout.size());
                let is_last = self.used.load(Relaxed) == end;
                if is_last && self.used.compare_exchange(end, start, AcqRel, Relaxed).is_ok() {
                    return;
                }
                if let Some(list) = self.list(layout) {
                    // SAFETY: this thread alone uses the lists. The piece is nobody's any more, and has room for an address.
                    unsafe {
                        piece.cast::<*mut u8>().write(*list);
                        *list = piece;
                    }
                }
            }
            // SAFETY: a piece that is not in the room came from the system, with this layout.
            None => unsafe { System.dealloc(piece, layout) },
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(start) = self.place(piece) else {
            // SAFETY: a piece that is not in the room came from the system, with this layout.
            return unsafe { System.realloc(piece, layout, size) };
        };
        let (before, now) = (whole_size(layout.size()), whole_size(size));
        let fits = start.checked_add(now).filter(|end| *end <= ROOM);
        let grown = fits.map(|end| self.used.compare_exchange(start + before, end, AcqRel, Relaxed));
        if now <= before || matches!(grown, Some(Ok(_))) {
            return piece;
        }
        // SAFETY: `size` is not zero and does not overflow when aligned: that is the caller's duty, as for `alloc`.
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !new.is_null() {
            // SAFETY: both pieces are as long as that, and the new one is nobody else's. The old one is given back once.
            unsafe {
                new.copy_from_nonoverlapping(piece, layout.size().min(size));
                self.dealloc(piece, layout);
            }
        }
        new
    }
}

/// Bytes before a piece of SQLite's that hold its size: SQLite does not remember it, and wants pieces at multiples of 8.
const HEAD: usize = 8;

/// Bytes of a small piece that SQLite keeps for itself, and how many it has.
const PIECE: c_int = 128;
const PIECES: c_int = 50;

/// Gives SQLite its memory from the arena, too, and has this thread keep what it gives back; before SQLite's first use, by one
/// thread, and only in a process that is soon over.
pub fn serve_sqlite() {
    KEEPS.set(true);
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
    // A few small pieces of its own SQLite uses again and again. Its usual rooms would be laid out, touched and hardly used.
    // SAFETY: each is followed by what its documentation asks for: two numbers; a pointer that may be null, and two numbers.
    let _its_own_work_too = unsafe {
        ffi::sqlite3_config(ffi::SQLITE_CONFIG_LOOKASIDE, PIECE, PIECES);
        ffi::sqlite3_config(ffi::SQLITE_CONFIG_PAGECACHE, ptr::null_mut::<c_void>(), 0, 0)
    };
    // It would do that at the first open, while others wait for the lock.
    // SAFETY: it may be called at any time.
    let _it_tries_again = unsafe { ffi::sqlite3_initialize() };
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
    let (start, bytes) = unsafe {
        let start = piece.cast::<u8>().sub(HEAD);
        (start, start.cast::<usize>().read())
    };
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
    unsafe {
        if let Some((start, layout)) = whole(piece) {
            ARENA.dealloc(start, layout);
        }
    }
}

unsafe extern "C" fn resize(piece: *mut c_void, bytes: c_int) -> *mut c_void {
    if piece.is_null() {
        // SAFETY: nothing is asked of who takes a new piece.
        return unsafe { take(bytes) };
    }
    // SAFETY: SQLite changes pieces that it has.
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

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [usize; 6] = [1, 7, 8, 100, 4096, 3 * ROOM];

    /// Fills a piece, and returns whether it stands as it was asked for.
    fn fill(piece: *mut u8, layout: Layout, with: u8) -> bool {
        // SAFETY: the piece is as long as its layout says, and nobody else's.
        unsafe { piece.write_bytes(with, layout.size()) };
        (piece as usize).is_multiple_of(layout.align())
    }

    /// Whether every byte of a piece is as it was written.
    fn holds(piece: *mut u8, bytes: usize, with: u8) -> bool {
        // SAFETY: so many bytes of it were written.
        (0..bytes).all(|at| unsafe { piece.add(at).read() } == with)
    }

    #[test]
    fn pieces_are_aligned_and_apart_and_keep_what_is_in_them() {
        static OWN: Arena = Arena::new();
        let asked = || SIZES.into_iter().zip([1, 2, 8, 64, 4096, 8]);
        let layouts: Vec<Layout> = asked().map(|(size, align)| Layout::from_size_align(size, align).unwrap()).collect();
        // SAFETY: no layout is empty; each piece is given back once, with the layout that it was changed to.
        unsafe {
            let pieces: Vec<*mut u8> = layouts.iter().map(|layout| OWN.alloc(*layout)).collect();
            for (with, (piece, layout)) in pieces.iter().zip(&layouts).enumerate() {
                assert!(fill(*piece, *layout, with as u8), "{layout:?}");
                assert!((*piece as usize).is_multiple_of(ALIGNMENT) || layout.size() > ROOM, "{layout:?}");
            }
            for (with, (piece, layout)) in pieces.into_iter().zip(layouts).enumerate() {
                let size = layout.size() * 2;
                let grown = OWN.realloc(piece, layout, size);
                assert!(holds(grown, layout.size().min(5000), with as u8), "{layout:?}");
                OWN.dealloc(grown, Layout::from_size_align(size, layout.align()).unwrap());
            }
        }
    }

    #[test]
    fn the_last_piece_grows_where_it_is_and_is_given_back() {
        static OWN: Arena = Arena::new();
        let layout = Layout::from_size_align(100, 8).unwrap();
        // SAFETY: the layout is not empty; the piece is given back once, with the size it has by then.
        unsafe {
            let piece = OWN.alloc(layout);
            assert_eq!(OWN.realloc(piece, layout, 1000), piece);
            OWN.dealloc(piece, Layout::from_size_align(1000, 8).unwrap());
            assert_eq!(Some(OWN.used.load(Relaxed)), OWN.place(piece));
        }
    }

    #[test]
    fn a_piece_that_was_given_back_is_the_next_of_its_size() {
        static OWN: Arena = Arena::new();
        KEEPS.set(true);
        let layout = |bytes| Layout::from_size_align(bytes, 8).unwrap();
        // SAFETY: no layout is empty; each piece is given back once, with the size it has by then.
        unsafe {
            let [first, second, _last] = [20, 30, 40].map(|bytes| OWN.alloc(layout(bytes)));
            OWN.dealloc(first, layout(20));
            OWN.dealloc(second, layout(30));
            assert_eq!([25, 32, 17].map(|bytes| OWN.alloc(layout(bytes)))[..2], [second, first]);
            let moved = OWN.realloc(first, layout(32), 100);
            assert!(moved != first && OWN.alloc(layout(24)) == first);
            assert_eq!(OWN.realloc(first, layout(24), 31), first);
            let aligned = OWN.alloc(Layout::from_size_align(20, 4096).unwrap());
            assert!((aligned as usize).is_multiple_of(4096));
        }
        KEEPS.set(false);
    }

    #[test]
    fn sqlite_gets_pieces_that_know_their_size() {
        // SAFETY: each piece is one of `take`'s or `resize`'s, and is given back once.
        unsafe {
            let piece = take(10);
            assert_eq!(((piece as usize) % HEAD, size(piece)), (0, 10));
            piece.cast::<u8>().write_bytes(7, 10);
            let other = take(1);
            let grown = resize(piece, 1000);
            assert_eq!((size(grown), holds(grown.cast(), 10, 7)), (1000, true));
            give_back(grown);
            give_back(other);
            give_back(ptr::null_mut());
            assert_eq!((take(-1), size(ptr::null_mut()), round_up(9)), (ptr::null_mut(), 0, 16));
        }
    }
}
