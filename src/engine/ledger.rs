//! What is spent, added to the sums of all that share in it.

use crate::domain::bounds::of_model;
use crate::domain::event::Moment;
use crate::domain::meters::Spend;
use crate::engine::session_state::Book;

/// What is added to the sums of a run and all that share in it.
#[derive(Clone, Copy)]
pub struct Adds<'a> {
    /// The model it was spent on.
    pub model: &'a str,
    /// Whether that has a price of its own.
    pub is_priced: bool,
    /// When, milliseconds since 1970.
    pub at_ms: i64,
    /// How much.
    pub spend: Spend,
    /// Whether another session was billed for it.
    pub inherited: bool,
    /// Whether it is of the time before Fusebox: the sessions that this one comes from have nothing to do with it.
    pub earlier: bool,
}

/// Adds what was spent to a run, to its session, and, where that was billed for it, to all that share in it.
pub fn add(book: &mut Book, id: &str, adds: &Adds, now: Moment) {
    spread(book, id, adds, now);
    if adds.spend.requests > 0 {
        book.settle(id);
    }
}

/// Does the same for a request that nothing was reserved for.
pub fn spread(book: &mut Book, id: &str, adds: &Adds, now: Moment) {
    book.session.tally.spent += adds.spend;
    *of_model(&mut book.session.models, adds.model, adds.is_priced) += adds.spend;
    if adds.inherited {
        book.session.inherited += adds.spend;
    } else {
        add_to_others(book, adds, now);
    }
    if let Some(run) = book.run_mut(id) {
        run.tally.spent += adds.spend;
        *of_model(&mut run.models, adds.model, adds.is_priced) += adds.spend;
    }
}

/// Adds what a session was billed for to the sessions that it comes from, and to the user's and the project's budgets.
fn add_to_others(book: &mut Book, adds: &Adds, now: Moment) {
    for above in book.above.iter_mut().filter(|_| !adds.earlier) {
        above.tally.spent += adds.spend;
        *of_model(&mut above.models, adds.model, adds.is_priced) += adds.spend;
    }
    for pool in &mut book.pools {
        if !pool.counted {
            let model = pool.name_of(&book.session.id, adds.model, adds.is_priced).into_owned();
            pool.charge((&model, adds.is_priced), adds.at_ms, adds.spend);
        }
    }
    if adds.spend.requests > 0 {
        book.note_request(adds.model, (adds.at_ms, now));
    }
}
