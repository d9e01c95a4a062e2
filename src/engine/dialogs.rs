//! Dialogs that ask a person for more: what a Yes grants, and what comes of one that no person gave.

use crate::engine::book::{Book, CallState};
use crate::engine::enforce;
use crate::engine::event::{Event, Kind, Moment};
use crate::engine::session::Ask;
use crate::engine::verdict::Verdict;

/// Keeps what the dialog of a call asks for.
pub fn ask(book: &mut Book, id: &str, event: &Event, verdict: &Verdict) {
    let (Kind::ToolRequested(call), Some(finding)) = (&event.kind, verdict.deciding()) else { return };
    if book.call(&call.id).is_some_and(|call| call.state == CallState::Counted) {
        // It comes again: it has run, and its end is no Yes.
        return;
    }
    book.session.asks.push(Ask {
        tool_use_id: call.id.clone(),
        run: id.to_owned(),
        finding: finding.clone(),
        increase: finding.increase,
        granted: false,
        granted_at: Moment::default(),
    });
}

/// A dialog's call ran: that was a Yes. Grants what was asked, once.
pub fn granted(book: &mut Book, event: &Event) {
    let Kind::ToolEnded(call, _) = &event.kind else { return };
    let open = book.session.asks.iter_mut().find(|ask| ask.tool_use_id == call.id && !ask.granted);
    let Some(ask) = open else { return };
    (ask.granted, ask.granted_at) = (true, event.at);
    let ask = ask.clone();
    enforce::raise(book, &ask.run, &ask.finding, ask.increase);
}

/// Takes back what hooks have granted in a person's place. Nobody is asked in this session any more: a dialog that a hook
/// answers asks nobody.
pub fn take_back(book: &mut Book, by_hooks: &[String]) {
    let asks = std::mem::take(&mut book.session.asks);
    let (theirs, others): (Vec<Ask>, Vec<Ask>) = asks.into_iter().partition(|ask| by_hooks.contains(&ask.tool_use_id));
    book.session.asks = others;
    for Ask { run, finding, increase, .. } in theirs {
        if let Some(side) = book.side(&finding, &run) {
            side.rules.take_back(&finding.limit, increase, finding.layer);
        }
        if let Some(pool) = book.pools.iter_mut().find(|pool| pool.scope == finding.scope) {
            pool.granted.retain(|granted| *granted != (finding.limit.clone(), increase));
        }
        book.session.has_stand_in = true;
        book.session.tell(&format!(
            "a hook answered the dialog about {} in a person's place; nothing is granted, and nobody is asked in this session any more",
            finding.limit
        ));
    }
}
