//! Plays many recordings, as many at once as there are processors. What comes of it is the same with any number of them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::error::Result;
use crate::replay::player::{self, ReplayTerms};
use crate::replay::recording::Recording;
use crate::replay::replayed_session::{ReplayedSession, Sums};
use crate::replay::sources::Source;
use crate::transcript::charges::Memory;

/// How much a recording tells of its session: hook calls more than a transcript, many more than few.
type Rank = (bool, usize);

/// One recording, played.
type Played = (Rank, ReplayedSession, Memory);

/// From when until when, in milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Between {
    /// A session counts where its last event is not before this.
    pub since_ms: i64,
    /// A session counts where its first event is before this.
    pub until_ms: i64,
}

impl Between {
    /// All of time.
    pub const ALWAYS: Between = Between { since_ms: i64::MIN, until_ms: i64::MAX };

    fn contains(self, recording: &Recording) -> bool {
        let last = recording.calls.last().map_or(recording.began_ms, |call| recording.moment(call).wall_ms);
        recording.began_ms < self.until_ms && last >= self.since_ms
    }
}

/// Plays all sessions of sources that had an event in a period; each session once, by the recording that tells most of it. One of many
/// transcripts that cannot be read is remarked.
///
/// `progress` is told how many sources are done.
pub fn play_all(
    terms: ReplayTerms<'_>,
    sources: &[Source],
    between: Between,
    progress: impl Fn(usize),
) -> Result<(Vec<ReplayedSession>, Sums)> {
    let mut played: Vec<Played> = Vec::new();
    // A session may lie in more than one of the paths: as a recording and as a transcript, or as a copy that ends sooner.
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut sums = Sums::default();
    for (source, of_source) in sources.iter().zip(at_once(terms, sources, between, progress)) {
        let of_source = match (source, of_source) {
            (Source::Transcript(_), Err(cause)) if sources.len() > 1 => {
                sums.remarks.insert(cause.to_string());
                continue;
            }
            (_, of_source) => of_source?,
        };
        for one in of_source {
            match places.get(&one.1.session.id).copied() {
                Some(place) if played[place].0 >= one.0 => {}
                Some(place) => played[place] = one,
                None => {
                    places.insert(one.1.session.id.clone(), played.len());
                    played.push(one);
                }
            }
        }
    }
    let sessions = played.into_iter().map(|(_, replayed, charges)| {
        sums.add(&replayed, &charges);
        replayed
    });
    Ok((sessions.collect(), sums))
}

/// Plays each source; returns what came of them in their order.
fn at_once(
    terms: ReplayTerms<'_>,
    sources: &[Source],
    between: Between,
    progress: impl Fn(usize),
) -> Vec<Result<Vec<Played>>> {
    let next = AtomicUsize::new(0);
    let one = || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        sources.get(at).map(|source| (at, play(terms, source, between)))
    };
    let others = thread::available_parallelism().map_or(1, usize::from).min(sources.len()).saturating_sub(1);
    let mut all: Vec<Option<Result<Vec<Played>>>> = sources.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let work = || std::iter::from_fn(one).collect::<Vec<_>>();
        let others: Vec<_> = (0..others).map(|_| scope.spawn(work)).collect();
        for (at, played) in std::iter::from_fn(one) {
            all[at] = Some(played);
            progress(next.load(Ordering::Relaxed).min(sources.len()));
        }
        for (at, played) in others.into_iter().filter_map(|other| other.join().ok()).flatten() {
            all[at] = Some(played);
        }
    });
    all.into_iter().flatten().collect()
}

fn play(terms: ReplayTerms<'_>, source: &Source, between: Between) -> Result<Vec<Played>> {
    let recordings = source.read()?;
    let recordings = recordings.iter().filter(|recording| between.contains(recording));
    let one = |recording: &Recording| {
        let rank = (matches!(source, Source::Folder(_)), recording.calls.len());
        player::play(terms, recording).map(|(replayed, charges)| (rank, replayed, charges))
    };
    recordings.map(one).collect()
}
