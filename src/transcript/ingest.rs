//! Takes in what is new in the transcripts: responses become charges, each `message.id` once a session.

use std::collections::{HashMap, HashSet};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::domain::bounds;
use crate::domain::conversation::Conversation;
use crate::domain::ingested::Unannounced;
use crate::domain::session::TranscriptPosition;
use crate::domain::spend::charge::{Charge, NewCharge};
use crate::domain::spend::meters::Spend;
use crate::domain::spend::spend_before_prompt;
use crate::domain::transcript_position::Unread;
use crate::engine::charging;
use crate::engine::charging::credible;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::messages::notices;
use crate::pricing::price;
use crate::pricing::table::Table;
use crate::pricing::usage::TokenUsage;
use crate::transcript::allowance::Allowance;
use crate::transcript::belief::{believes, grown, is_earlier, is_long_before};
use crate::transcript::cache;
use crate::transcript::charges::{Charges, Prices};
use crate::transcript::compaction;
use crate::transcript::cost_row::CostRow;
use crate::transcript::cursor::{self, Position};
use crate::transcript::layout;
use crate::transcript::response::Response;
use crate::transcript::stand_in::main_model;
use crate::wire::input::{is_backgrounded_main, is_id};

mod compactions;
mod inherit;
mod next_model;
mod rejoin;
mod request_ahead;
mod unmetered;

/// What opening a file takes of what is allowed: as long as reading so many bytes.
const BYTES_TO_OPEN: u64 = 16 << 10;

/// Ingests transcripts into the state of one session.
pub struct TranscriptIngest<'a, C: Charges> {
    /// Where charges are kept.
    pub charges: C,
    /// The prices.
    pub prices: Prices<'a>,
    /// The moment of reading, in milliseconds since 1970: when responses were given whose rows do not say, or say what cannot be.
    pub now_ms: Option<i64>,
    /// Responses found, each with its run.
    pub found: Vec<(String, NewCharge)>,
    /// Sentences for the person: unknown models, usage that cannot be.
    pub remarks: Vec<String>,
    /// How much more is taken in.
    pub allowed: Allowance,
    /// The sessions whose responses this one has copies of.
    origins: Vec<String>,
    /// The transcripts of agents that nobody announced, so that they are not looked for again.
    paths: HashMap<String, String>,
    /// The totals that clients have ended with, by the transcripts that nothing was written to since.
    totals: HashMap<String, CostRow>,
    /// What is read goes through it; it is kept from one read to the next.
    buffer: Vec<u8>,
    /// What [`Charges::closed_ms`] says, once that was asked.
    closed_ms: Option<i64>,
}

impl<'a, C: Charges> TranscriptIngest<'a, C> {
    /// Makes an ingest that has found nothing yet.
    pub fn new(charges: C, prices: impl Into<Prices<'a>>) -> TranscriptIngest<'a, C> {
        TranscriptIngest {
            charges,
            prices: prices.into(),
            now_ms: None,
            found: Vec::new(),
            remarks: Vec::new(),
            allowed: Allowance::ALL,
            origins: Vec::new(),
            paths: HashMap::new(),
            totals: HashMap::new(),
            buffer: Vec::new(),
            closed_ms: None,
        }
    }

    /// Takes in no more than this: the rest is noted as unread in the session.
    pub fn within(self, allowed: Allowance) -> TranscriptIngest<'a, C> {
        TranscriptIngest { allowed, ..self }
    }

    /// Reads what is new in the main transcript, up to a byte where one is given.
    pub fn main(&mut self, state: &mut SessionState, upto: Option<u64>) -> Result<()> {
        let run = state.session.main.clone().unwrap_or_else(|| spend_before_prompt::id_of(&state.session.id));
        let mut at = state.session.position.clone();
        self.read(state, &mut at, &run, upto)?;
        state.session.position = at;
        self.inherit(state)?;
        for mut at in std::mem::take(&mut state.session.more_positions) {
            self.read(state, &mut at, &run, None)?;
            state.session.more_positions.push(at);
        }
        Ok(())
    }

    /// Reads what is new in a subagent's transcript; returns whether there was anything.
    pub fn agent(&mut self, state: &mut SessionState, id: &str, upto: Option<u64>) -> Result<bool> {
        let known = state.run(id).and_then(|run| run.position.clone()).filter(|at| at.offset > 0);
        let transcript = PathBuf::from(&state.session.position.path);
        let mut at = known.unwrap_or_else(|| TranscriptPosition {
            path: self
                .paths
                .get(id)
                .cloned()
                .unwrap_or_else(|| layout::agent_file(&transcript, id).to_string_lossy().into_owned()),
            ..TranscriptPosition::default()
        });
        let before = at.offset;
        self.read(state, &mut at, id, upto)?;
        let grew = at.offset != before;
        if let Some(run) = state.run(id)
            && run.position.as_ref() != Some(&at)
            && let Some(run) = state.run_mut(id)
        {
            run.position = Some(at);
        }
        Ok(grew)
    }

    /// Looks for transcripts of agents that no hook has announced.
    pub fn unannounced(&mut self, state: &mut SessionState, known: impl Fn(&str) -> bool) -> Result<Vec<Unannounced>> {
        let mut agents = Vec::new();
        let folder = layout::folder(Path::new(&state.session.position.path)).to_string_lossy().into_owned();
        state.session.leave(&folder, Unread::default());
        for (id, path) in layout::agent_files(Path::new(&state.session.position.path)) {
            if agents.len() >= bounds::FOUND_AGENTS {
                state.session.leave(&folder, Unread { bytes: 1, inside: false });
                break;
            }
            let path_text = path.to_string_lossy().into_owned();
            if is_backgrounded_main(&id) && state.session.reads_on(&path_text) {
                continue;
            }
            if state.run(&id).is_none() && !known(&id) {
                let agent_type = layout::meta(&path).map(|meta| meta.agent_type).unwrap_or_default();
                let link = layout::link(&path).unwrap_or_default();
                self.paths.insert(id.clone(), path_text.clone());
                agents.push(Unannounced { link, id, agent_type, path: path_text });
            }
        }
        Ok(agents)
    }

    /// Reads one file from where it was left. A file that cannot be read has nothing new; it may come back. One that is not
    /// there yet is nothing strange. One of which nothing new is shown, as at most events of a replay, is not opened.
    fn read(
        &mut self,
        state: &mut SessionState,
        at: &mut TranscriptPosition,
        run: &str,
        upto: Option<u64>,
    ) -> Result<()> {
        let is_left = state.session.unread.contains_key(&at.path);
        if !is_left && upto.is_some_and(|upto| upto <= at.offset) {
            return Ok(());
        }
        let inside = state.session.unread.get(&at.path).is_some_and(|unread| unread.inside);
        let from = Position { offset: at.offset, inside };
        self.allowed.spend(BYTES_TO_OPEN, 0);
        let mut chunk = match cursor::read_within(&mut self.allowed, &mut self.buffer, Path::new(&at.path), from, upto)
        {
            Ok(chunk) => chunk,
            Err(cause) => {
                state.session.leave(&at.path, Unread::default());
                charging::missing::note_gone(state, run);
                if !matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                    self.remark_unreadable(state, &at.path, &cause);
                }
                return Ok(());
            }
        };
        let is_over = self.follow_totals(&at.path, &mut chunk);
        charging::missing::note_read(state, run, chunk.offset != at.offset);
        let is_first = at.offset == 0 || is_left && state.session.spend_before_install.is_open;
        at.offset = chunk.offset;
        state.session.leave(&at.path, Unread { bytes: chunk.left, inside: chunk.inside });
        state.facts.saw_notification |= chunk.notification;
        let rejoined = rejoin::run_of_machines_turn(state, run, &chunk.openings);
        let run = rejoined.as_deref().unwrap_or(run);
        if let Some(cost) = chunk.client_cost {
            state.session.client_cost = Some(cost.0);
        }
        self.remarks.extend(chunk.suspicious.iter().map(notices::row_doubted));
        let now_ms = self.now_ms.unwrap_or(state.session.last.wall_ms);
        for response in chunk.responses.iter_mut().chain(chunk.uncounted.values_mut()) {
            // What is new in a file that was read before is none of a time before the session, unless it is a copy.
            let is_old =
                !is_first && is_long_before(state, response) && response.billed_by.is_none() && !state.session.is_fork;
            if response.at_ms == 0 || is_old {
                response.at_ms = now_ms;
            }
        }
        for response in &chunk.responses {
            self.ingest_response(state, run, response, &mut at.conversation)?;
        }
        at.conversation.last.is_cold |= is_over;
        let counted: HashSet<&str> = match chunk.uncounted.is_empty() {
            true => HashSet::new(),
            false => chunk.responses.iter().map(|response| response.id.as_str()).collect(),
        };
        for (_, response) in chunk.uncounted.iter().filter(|(id, _)| !counted.contains(id.as_str())) {
            self.ingest_uncounted(state, run, response, is_first)?;
        }
        Ok(())
    }

    /// Makes a charge of a response: all of it where it is new, its growth where it is known.
    fn ingest_response(
        &mut self,
        state: &mut SessionState,
        run: &str,
        response: &Response,
        told: &mut Conversation,
    ) -> Result<()> {
        let session = state.session.id.clone();
        let (origin, is_copy) = copied(state, response);
        let history = spend_before_prompt::id_of(&session);
        let run = if is_copy { history.as_str() } else { run };
        self.note_origin(origin);
        let table = self.prices.table();
        let stand_in = main_model(state, table, response.at_ms);
        let named = Self::compacted_with(state, run, response);
        let last = told.last;
        let response = &compaction::complete(told, response, || self.asks(state, run, named, &stand_in));
        let stand_in = Some(stand_in.as_str());
        let priced = price::price(table, &response.model, response.at_ms, &response.usage, stand_in);
        let before = self.charges.find(&response.id, &session)?;
        if before.is_none() && state.session.pruned.is_some_and(|past| response.at_ms <= past.until_ms) {
            return Ok(());
        }
        let inherited = match &before {
            Some(before) => before.inherited,
            None => is_copy || self.was_billed(state, response)?,
        };
        state.session.is_metered |= before.is_none() && !inherited;
        let mut now = response.charge(&session, run, &priced);
        if response.summary.is_some() && before.is_some() {
            return Ok(());
        }
        let is_counted = inherited
            || response.summary.is_some()
            || before.as_ref().is_some_and(|before| !credible::is_doubted(before));
        if !is_counted && !believes(state, run, response, told) {
            now.spend.requests = 0;
        } else if response.summary.is_none() {
            compaction::note(told, response, is_copy);
        }
        let (charge, adds) = match &before {
            None => (Charge { inherited, ..now.clone() }, now.spend),
            Some(before) => match grown(before, &now) {
                Some(grown) => grown,
                None => return Ok(()),
            },
        };
        credible::note(state, run, before.as_ref(), &charge);
        let charge = Charge { unknown_model: !priced.known, ..charge };
        if let Some(model) = price::without_price(table, &response.model, response.at_ms, &response.usage) {
            self.remark_unknown(state, model, stand_in);
        }
        self.charges.keep(charge.clone())?;
        let replay_price = price::replay_price(table, &response.model, response.at_ms, stand_in);
        let again = cache::once_more(&response.usage, &last).map(|usage| spend_of(table, response, usage, stand_in));
        let again = again.unwrap_or(charge.spend);
        self.found.push((charge.run.clone(), NewCharge { charge, adds, again, replay_price }));
        Ok(())
    }

    /// Notes the session that a response was copied from, so that its agents are ingested too.
    fn note_origin(&mut self, origin: Option<&String>) {
        let is_new =
            |origin: &&String| is_id(origin) && self.origins.len() < bounds::NOTIFIED && !self.origins.contains(origin);
        if let Some(origin) = origin.filter(is_new) {
            self.origins.push(origin.clone());
        }
    }

    /// Returns the model that a run has asked last.
    fn last_model<'m>(&'m self, state: &'m SessionState, run: &str) -> Option<&'m str> {
        let found = self.found.iter().rev().filter(|(of, _)| of == run).map(|(_, new)| new.charge.model.as_str());
        found.chain(state.run(run).map(|run| run.model.as_str())).find(|model| !model.is_empty())
    }

    /// Whether a response that is new to a session was billed before: by another that it is a copy of, or in days that are closed.
    fn was_billed(&mut self, state: &SessionState, response: &Response) -> Result<bool> {
        let earlier_ms = is_earlier(state, response).then_some(response.at_ms);
        if self.charges.elsewhere(&response.id, &state.session.id, earlier_ms)? {
            return Ok(true);
        }
        if earlier_ms.is_none() {
            return Ok(false);
        }
        let closed_ms = match self.closed_ms {
            Some(known) => known,
            None => *self.closed_ms.insert(self.charges.closed_ms()?),
        };
        Ok(response.at_ms < closed_ms)
    }

    fn remark_unreadable(&mut self, state: &mut SessionState, path: &str, cause: &io::Error) {
        let key = format!("unreadable:{path}");
        if !path.is_empty() && state.session.mark_notified(&key) {
            self.remarks.push(notices::transcript_unreadable(path, cause));
        }
    }

    fn remark_unknown(&mut self, state: &mut SessionState, model: &str, stand_in: Option<&str>) {
        let key = format!("model:{model}");
        if state.session.mark_notified(&key) {
            let price = stand_in
                .map_or_else(|| "5/25 USD per million tokens".to_owned(), |name| format!("the price of {name}"));
            self.remarks.push(notices::model_unknown(model, price));
        }
    }
}

/// Returns what a response would spend with another usage.
fn spend_of(table: &Table, response: &Response, usage: TokenUsage, stand_in: Option<&str>) -> Spend {
    let priced = price::price(table, &response.model, response.at_ms, &usage, stand_in);
    Response { usage, ..Response::default() }.spend(&priced)
}

/// Returns the session that a response is copied from, where that is known, and whether it is a copy.
fn copied<'r>(state: &SessionState, response: &'r Response) -> (Option<&'r String>, bool) {
    let is_earlier = is_earlier(state, response);
    // What is made since the session began is its own summary, whatever rows stand beside it.
    let may_be_copy = response.summary.is_none() || is_earlier;
    let origin = response.billed_by.as_ref().filter(|billed| **billed != state.session.id && may_be_copy);
    // Some clients do not say in a fork which session a response is copied from.
    (origin, origin.is_some() || state.session.is_fork && is_earlier)
}
