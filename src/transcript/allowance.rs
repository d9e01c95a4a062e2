//! How much of the transcripts one hook call takes in, so that it answers in time. The rest is left for the next call.

/// Bytes that one hook call reads: below two seconds from a slow disk, and more than an ordinary session has in all.
const BYTES: u64 = 256 << 20;

/// Responses that one hook call charges: more than a transcript of 100 MB has, and no more than it has the memory for.
const RESPONSES: usize = 22_000;

/// Bytes that a command reads of one file: a file may pretend to any length.
const BYTES_OF_A_FILE: u64 = 1 << 30;

/// What may still be taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Bytes to be read.
    pub bytes: u64,
    /// Rows of responses to be taken, those of one response that stand together as one.
    pub responses: usize,
}

impl Allowance {
    /// What one hook call takes in.
    pub const HOOK: Allowance = Allowance { bytes: BYTES, responses: RESPONSES };
    /// What a command takes in of one file.
    pub const FILE: Allowance = Allowance { bytes: BYTES_OF_A_FILE, responses: usize::MAX };
    /// Everything.
    pub const ALL: Allowance = Allowance { bytes: u64::MAX, responses: usize::MAX };

    /// Whether nothing more is taken in.
    pub fn is_spent(&self) -> bool {
        self.bytes == 0 || self.responses == 0
    }

    /// Takes out what was read.
    pub fn spend(&mut self, bytes: u64, responses: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
        self.responses = self.responses.saturating_sub(responses);
    }
}
