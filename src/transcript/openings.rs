//! The beginnings of turns among new rows of a transcript, and who has begun each.

use std::collections::BTreeMap;

use crate::transcript::row::Opening;

/// How many turns are told apart: no more begin between two looks. What else looks like one, an agent has written.
const MOST: usize = 64;

/// Whether no person has begun a turn, by the id of its prompt.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Openings {
    by_machine: BTreeMap<String, bool>,
    is_more: bool,
}

impl Openings {
    /// Takes note of a turn's first row. Of several of one turn one of a machine's counts: an agent can write rows, too.
    pub fn note(&mut self, opening: Opening) {
        if self.by_machine.len() >= MOST && !self.by_machine.contains_key(&opening.prompt) {
            self.is_more = true;
            return;
        }
        *self.by_machine.entry(opening.prompt).or_default() |= opening.by_machine;
    }

    /// Says of the turn of a prompt whether no person has begun it; nothing where no row tells.
    pub fn by_machine(&self, prompt: &str) -> Option<bool> {
        if self.is_more { Some(true) } else { self.by_machine.get(prompt).copied() }
    }
}
