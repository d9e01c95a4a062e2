//! The beginnings of turns among new rows of a transcript, and who has begun each.

use crate::transcript::row::Opening;

/// How many turns are told apart: no more begin between two looks. What else looks like one, an agent has written.
const MOST: usize = 64;

/// The beginnings of turns, one for each prompt.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Openings {
    known: Vec<Opening>,
    is_more: bool,
}

impl Openings {
    /// Takes note of a turn's first row. Of several of one turn one of a machine's counts: an agent can write rows, too.
    pub fn note(&mut self, opening: Opening) {
        let has_room = self.known.len() < MOST;
        match self.known.iter_mut().find(|known| known.prompt == opening.prompt) {
            Some(known) => known.by_machine |= opening.by_machine,
            None if has_room => self.known.push(opening),
            None => self.is_more = true,
        }
    }

    /// Says of the turn of a prompt whether no person has begun it; nothing where no row tells.
    pub fn by_machine(&self, prompt: &str) -> Option<bool> {
        let known = self.known.iter().find(|known| known.prompt == prompt);
        if self.is_more { Some(true) } else { known.map(|known| known.by_machine) }
    }
}
