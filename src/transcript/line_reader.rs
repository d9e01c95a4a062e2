//! A file's complete lines, in pieces of at most 128 KiB, with as few system calls as can be.
//!
//! A line longer than that is searched piece by piece and read as a whole only if it is interesting, so that a tool
//! result of 100 MB costs neither the memory nor a parse.

use std::io;

use crate::byte_search;
use crate::platform::files::{File, next_data, read_on};

/// Bytes read at a time.
const BUFFER: u64 = 128 * 1024;

/// The longest line that is read as a whole; no response comes near it.
pub const LONGEST: u64 = 16 * 1024 * 1024;

/// What is kept of one piece of a long line for the next, so that no word is missed where they meet.
const OVERLAP: usize = 128;

/// Some complete lines.
pub enum Piece<'a> {
    /// One or more lines.
    Lines(&'a [u8]),
    /// A long line that is not interesting.
    Uninteresting,
    /// An interesting line that is too long to be read, and its length.
    TooLong(u64),
    /// A line that is too long to be read, and has not ended yet: the rest of it is passed over, also by a later reader.
    Unended,
}

/// Reads the complete lines of a part of a file.
pub struct Lines<'a> {
    file: &'a File,
    /// Where reading ends.
    end: u64,
    buffer: &'a mut Vec<u8>,
    /// Where the buffer begins in the file.
    start: u64,
    /// Bytes of the buffer that have been handed out.
    done: usize,
    /// Bytes of the buffer, those included, after which no line ends.
    searched: usize,
    /// A long line.
    long: Vec<u8>,
    /// Whether the reading stands inside a line that is passed over.
    inside: bool,
    /// Bytes that may still be read.
    left: u64,
}

impl<'a> Lines<'a> {
    /// Reads from `offset` to `end` through a buffer, which many files can share: nothing of it is kept. Where `offset` is not the
    /// start of a line, it reads from the file's start.
    pub fn at(file: &'a File, offset: u64, end: u64, buffer: &'a mut Vec<u8>) -> io::Result<Lines<'a>> {
        // The byte before tells whether a line begins here; read with the rest, it costs no system call of its own.
        let mut lines = Lines::from(file, offset.saturating_sub(u64::from(offset < end)), end, buffer);
        if lines.start < offset {
            lines.fill()?;
            (lines.done, lines.searched) = (1, 1);
            if lines.buffer.first() != Some(&b'\n') {
                return Ok(Lines::from(file, 0, end, lines.buffer));
            }
        }
        Ok(lines)
    }

    /// Reads on from an offset inside a line that is passed over.
    pub fn inside(file: &'a File, offset: u64, end: u64, buffer: &'a mut Vec<u8>) -> Lines<'a> {
        Lines { inside: true, ..Lines::from(file, offset, end, buffer) }
    }

    /// Reads at most so many bytes, and what of the last line's start is in the buffer by then.
    pub fn at_most(self, bytes: u64) -> Lines<'a> {
        Lines { left: bytes, ..self }
    }

    fn from(file: &'a File, start: u64, end: u64, buffer: &'a mut Vec<u8>) -> Lines<'a> {
        buffer.clear();
        buffer.reserve_exact(to_usize(end.saturating_sub(start).min(BUFFER)));
        Lines { file, end, buffer, start, done: 0, searched: 0, long: Vec::new(), inside: false, left: u64::MAX }
    }

    /// Whether the reading stands inside a line that is passed over.
    pub fn is_inside(&self) -> bool {
        self.inside
    }

    /// Returns how many bytes may still be read.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Returns the place in the file after what has been handed out.
    pub fn position(&self) -> u64 {
        self.start + self.done as u64
    }

    /// Returns the next lines; long ones only where some piece of them is `interesting`.
    pub fn next(&mut self, interesting: impl Fn(&[u8]) -> bool) -> io::Result<Option<Piece<'_>>> {
        if self.inside {
            let from = self.position();
            let has_ended = self.pass_over()?;
            let unended = (self.position() > from).then_some(Piece::Unended);
            return Ok(if has_ended { Some(Piece::Uninteresting) } else { unended });
        }
        loop {
            if let Some(newline) = byte_search::last(b'\n', &self.buffer[self.searched..]) {
                let begin = self.done;
                self.done = self.searched + newline + 1;
                self.searched = self.buffer.len();
                return Ok(Some(Piece::Lines(&self.buffer[begin..self.done])));
            }
            self.searched = self.buffer.len();
            self.discard();
            if self.is_full() && self.start + (self.buffer.len() as u64) < self.end {
                return self.long_line(interesting);
            }
            if self.left == 0 {
                return Ok(None);
            }
            self.fill()?;
            if self.searched == self.buffer.len() {
                return Ok(None);
            }
        }
    }

    /// Passes over the rest of a line; returns whether it has ended.
    fn pass_over(&mut self) -> io::Result<bool> {
        while self.left > 0 {
            (self.done, self.searched) = (self.buffer.len(), self.buffer.len());
            self.discard();
            self.pass_hole();
            self.fill()?;
            if self.buffer.is_empty() {
                break;
            }
            if let Some(newline) = byte_search::first(b'\n', self.buffer) {
                (self.done, self.searched, self.inside) = (newline + 1, newline + 1, false);
                return Ok(true);
            }
        }
        self.done = self.buffer.len();
        Ok(false)
    }

    /// Passes over a hole in the file where the buffer ends: there are only zeros in it.
    fn pass_hole(&mut self) {
        let at = self.start + self.buffer.len() as u64;
        let data = next_data(self.file, at).unwrap_or(at).min(self.end);
        if data > at {
            self.buffer.clear();
            (self.start, self.done, self.searched) = (data, 0, 0);
        }
    }

    /// Passes over a line that fills the buffer and goes on.
    fn long_line(&mut self, interesting: impl Fn(&[u8]) -> bool) -> io::Result<Option<Piece<'_>>> {
        let line = self.start;
        let mut wanted = interesting(self.buffer);
        loop {
            self.done = self.buffer.len().saturating_sub(OVERLAP);
            self.discard();
            self.pass_hole();
            let before = self.buffer.len();
            if self.left > 0 {
                self.fill()?;
            }
            if self.buffer.len() == before {
                self.inside = self.start + before as u64 - line > LONGEST;
                self.done = if self.inside { before } else { 0 };
                return Ok(self.inside.then_some(Piece::Unended));
            }
            self.searched = before;
            let newline =
                byte_search::first(b'\n', &self.buffer[self.searched..]).map(|newline| self.searched + newline);
            wanted = wanted || interesting(&self.buffer[..newline.unwrap_or(self.buffer.len())]);
            self.searched = self.buffer.len();
            if let Some(newline) = newline {
                (self.done, self.searched) = (newline + 1, newline + 1);
                break;
            }
        }
        let length = self.position() - line;
        match (wanted, length <= LONGEST) {
            (false, _) => Ok(Some(Piece::Uninteresting)),
            (true, false) => Ok(Some(Piece::TooLong(length))),
            (true, true) => self.read_long(line, length).map(Some),
        }
    }

    fn read_long(&mut self, line: u64, length: u64) -> io::Result<Piece<'_>> {
        self.long = Vec::with_capacity(to_usize(length));
        read(self.file, &mut self.long, line, line + length)?;
        Ok(Piece::Lines(&self.long))
    }

    fn discard(&mut self) {
        self.buffer.drain(..self.done);
        self.start += self.done as u64;
        self.searched -= self.done;
        self.done = 0;
    }

    fn is_full(&self) -> bool {
        self.buffer.len() == self.buffer.capacity()
    }

    fn fill(&mut self) -> io::Result<()> {
        let before = self.buffer.len();
        read(self.file, self.buffer, self.start, self.end)?;
        self.left = self.left.saturating_sub((self.buffer.len() - before) as u64);
        Ok(())
    }
}

/// Reads a file into the rest of a buffer that begins at `start` in it, until the buffer is full or `end` is reached.
fn read(file: &File, buffer: &mut Vec<u8>, start: u64, end: u64) -> io::Result<()> {
    loop {
        let position = start + buffer.len() as u64;
        if position >= end || buffer.len() == buffer.capacity() {
            return Ok(());
        }
        match read_on(file, buffer, position)? {
            0 => return Ok(()),
            _ => buffer.truncate(to_usize(end - start)),
        }
    }
}

fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
