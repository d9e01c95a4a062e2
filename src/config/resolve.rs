//! Picks the strongest of the settings that apply, and makes rules of them.

use crate::config::layers;
use crate::config::locks::{self, Locks};
use crate::config::place::{Block, Place, Who};
use crate::config::setting::{DEFAULT_ACTION, Doc, Increase, Term};
use crate::engine::policy::{Action, Layer};
use crate::engine::rules::{Checkpoints, Completion, ExplicitStop, Models, Rate, Rule, Rules};
use crate::limits::{Counts, Limit, ROSTER};

/// One setting that applies to what is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Where it was read.
    pub doc: &'a Doc,
    /// What it is said of.
    pub place: &'a Place,
    /// What it says.
    pub term: &'a Term,
}

/// Everything that applies to what is asked for, from the weakest to the strongest.
#[derive(Debug)]
pub struct Stack<'a> {
    candidates: Vec<Candidate<'a>>,
    /// What stands at the top of the documents.
    top: Vec<Candidate<'a>>,
    /// Whose rules are asked for.
    who: Who<'a>,
    /// What the managed file alone decides.
    locks: Locks<'a>,
    /// Whether the repository may do what the user may.
    pub trust: Trust,
}

/// Whether the user trusts the repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// The repository may only tighten what is the user's.
    #[default]
    Untrusted,
    /// The repository may loosen it.
    Trusted,
}

impl From<bool> for Trust {
    fn from(trusted: bool) -> Trust {
        if trusted { Trust::Trusted } else { Trust::Untrusted }
    }
}

/// The range that binds a limit, and whose rule that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceiling {
    /// The smallest and the largest cap.
    pub range: (u64, u64),
    /// Who set it.
    pub layer: Layer,
}

/// A cap in force, and what it replaced.
#[derive(Clone, Copy, Debug)]
pub struct Cap<'a> {
    /// The cap in the limit's base unit.
    pub value: u64,
    /// Whose it is.
    pub layer: Layer,
    /// The setting that says it; another than the ceiling where the ceiling cut it.
    pub said: Candidate<'a>,
}

impl<'a> Stack<'a> {
    /// Collects what applies to `who` from documents that are ordered from the weakest to the strongest.
    pub fn of(docs: &[&'a Doc], who: Who<'a>, trust: Trust) -> Stack<'a> {
        let locks = Locks::of(docs);
        Stack { candidates: applying(docs, who, &locks), top: applying(docs, Who::Top, &locks), who, locks, trust }
    }

    /// Returns all that applies, from the weakest to the strongest.
    pub fn candidates(&self) -> &[Candidate<'a>] {
        &self.candidates
    }

    /// Returns the strongest value that `of` finds, with the setting that says it.
    pub fn strongest<T>(&self, of: impl Fn(&'a Term) -> Option<T>) -> Option<(T, Candidate<'a>)> {
        self.candidates.iter().rev().find_map(|candidate| Some((of(candidate.term)?, *candidate)))
    }

    /// Returns the cap of a limit, cut to its ceiling.
    pub fn cap(&self, limit: &Limit) -> Option<Cap<'a>> {
        let (cap, said) = self.strongest(|term| match term {
            Term::Cap { limit: it, cap } if *it == limit => Some(*cap),
            _ => None,
        })?;
        let layer = said.doc.layer;
        let ceiling = self.ceiling(limit).filter(|_| layer != Layer::Managed);
        match (cap, ceiling) {
            (Some(value), Some(ceiling)) if value > ceiling.range.1 => {
                Some(Cap { value: ceiling.range.1, layer: ceiling.layer, said })
            }
            (Some(value), _) => Some(Cap { value, layer, said }),
            (None, Some(ceiling)) if !self.may_unbind(layer) => {
                Some(Cap { value: ceiling.range.1, layer: ceiling.layer, said })
            }
            (None, _) => None,
        }
    }

    /// Returns what a limit does when it trips. The built-in backstops only warn, but a cap that somebody set does not,
    /// and a limit with an action of its own is moved only by what singles it out.
    pub fn action(&self, limit: &Limit, cap_layer: Layer) -> (Action, Option<Candidate<'a>>) {
        let mut strongest = self.candidates.iter().rev();
        let found = strongest.find_map(|candidate| match candidate.term {
            Term::Action { limit: it, action } if it.map_or(limit.action.is_none(), |it| it == limit) => {
                let may = !is_backstop(candidate) || cap_layer == Layer::BuiltIn;
                (may && self.may_move(limit, candidate)).then_some((*action, *candidate))
            }
            _ => None,
        });
        found.map_or((limit.action.unwrap_or(DEFAULT_ACTION), None), |(action, candidate)| (action, Some(candidate)))
    }

    /// Whether a setting may change what a limit does: of a locked one, only the managed file's and what is built in.
    fn may_move(&self, limit: &Limit, by: &Candidate<'_>) -> bool {
        !self.locks.hold(self.who, limit.key) || !locks::bind(by.doc.layer)
    }

    /// Returns what an increase of a limit adds.
    pub fn increase(&self, limit: &Limit) -> Increase {
        let found = self.candidates.iter().rev().find_map(|candidate| match candidate.term {
            Term::Increase { limit: it, by } if it.is_none_or(|it| it == limit) => {
                self.may_move(limit, candidate).then_some(*by)
            }
            _ => None,
        });
        found.unwrap_or(Increase::DEFAULT)
    }

    /// Returns the range that binds a limit; only those of subagents' runs are bound.
    pub fn ceiling(&self, limit: &Limit) -> Option<Ceiling> {
        (self.who.block() == Some(Block::Agents)).then(|| ceiling(&self.top, limit))?
    }

    /// Whether the managed file has locked what a value says.
    pub fn locks(&self, term: &Term) -> bool {
        self.locks.hold(self.who, &term.key())
    }

    /// Makes the rules.
    pub fn rules(&self) -> Rules {
        let default = Rules::default();
        let grace_turns = self.strongest(|term| if let Term::GraceTurns(it) = term { Some(*it) } else { None });
        let tools = self.strongest(|term| if let Term::FinalizeTools(it) = term { Some(it) } else { None });
        let warn_at = self.strongest(|term| if let Term::WarnAt(it) = term { Some(it) } else { None });
        let remaining = self.strongest(|term| if let Term::RemainingEachTurn(it) = term { Some(*it) } else { None });
        let cache = self.strongest(|term| if let Term::CountCacheReads(it) = term { Some(*it) } else { None });
        Rules {
            rules: ROSTER.into_iter().filter_map(|limit| self.rule(limit)).chain(self.of_models()).collect(),
            rates: self.rates(),
            checkpoints: self.checkpoints(),
            completion: self.completion(),
            explicit_stop: self.explicit_stop(),
            grace_turns: grace_turns.map_or(default.grace_turns, |(it, _)| it),
            finalize_tools: tools.map(|(it, _)| it.clone()),
            warn_at: warn_at.map_or(default.warn_at, |(it, _)| it.clone()),
            remaining_each_turn: remaining.map_or(default.remaining_each_turn, |(it, _)| it),
            count_cache_reads: cache.map_or(default.count_cache_reads, |(it, _)| it),
        }
    }

    fn rule(&self, limit: &'static Limit) -> Option<Rule> {
        let cap = self.cap(limit)?;
        let of = match limit.counts {
            Counts::All => None,
            Counts::Role(role) => Some(Models::Role(role, self.planning())),
        };
        Some(self.ruled(limit, (cap.value, cap.layer), of))
    }

    fn ruled(&self, limit: &'static Limit, (cap, layer): (u64, Layer), of: Option<Models>) -> Rule {
        let (action, _) = self.action(limit, layer);
        let increase = self.increase(limit).of(cap);
        Rule { limit, cap, action, layer, increase, of, locked: self.locks.hold(self.who, limit.key) }
    }

    /// Returns the rules on some models: for each pattern and limit the strongest.
    fn of_models(&self) -> Vec<Rule> {
        let mut rules: Vec<Rule> = Vec::new();
        let mut said: Vec<(&str, &Limit)> = Vec::new();
        for candidate in self.candidates.iter().rev() {
            let Term::OfModels { like, limit, cap } = candidate.term else { continue };
            if said.contains(&(like.as_str(), *limit)) {
                continue;
            }
            said.push((like, limit));
            if let Some(cap) = cap {
                rules.push(self.ruled(limit, (*cap, candidate.doc.layer), Some(Models::Like(like.clone()))));
            }
        }
        rules.reverse();
        rules
    }

    /// Returns the models that plan, where somebody says.
    fn planning(&self) -> Option<Vec<String>> {
        let mut strongest = self.top.iter().rev();
        strongest.find_map(|it| if let Term::Planning(models) = it.term { Some(models.clone()) } else { None })
    }

    /// Returns the rates over this scope by all layers. Two on the same window would count it twice: the tighter stays.
    fn rates(&self) -> Vec<Rate> {
        let mut rates: Vec<Rate> = Vec::new();
        let scope = self.who.block().map(Block::scope);
        for candidate in &self.top {
            let Term::Windows { limit, windows } = candidate.term else { continue };
            let layer = candidate.doc.layer;
            let (action, _) = self.action(limit, layer);
            for window in windows.iter().filter(|window| Some(window.over) == scope) {
                let (max, per_ms) = (window.max, window.per_ms);
                let rate = Rate { limit, tool: window.tool.clone(), max, per_ms, layer, action };
                match rates.iter_mut().find(|it| it.tool == rate.tool && it.per_ms == rate.per_ms) {
                    Some(same) if same.max > rate.max => *same = rate,
                    Some(_) => {}
                    None => rates.push(rate),
                }
            }
        }
        rates
    }

    fn checkpoints(&self) -> Option<Checkpoints> {
        let (said, by) = self.strongest(|term| if let Term::Checkpoints(it) = term { Some(it) } else { None })?;
        said.clone().map(|it| Checkpoints { layer: by.doc.layer, ..it })
    }

    fn completion(&self) -> Option<Completion> {
        let (said, by) = self.strongest(|term| if let Term::Completion(it) = term { Some(it) } else { None })?;
        said.clone().map(|it| Completion { layer: by.doc.layer, ..it })
    }

    fn explicit_stop(&self) -> Option<ExplicitStop> {
        let (said, by) = self.strongest(|term| if let Term::ExplicitStop(it) = term { Some(it) } else { None })?;
        said.clone().map(|it| ExplicitStop { layer: by.doc.layer, ..it })
    }

    fn may_unbind(&self, layer: Layer) -> bool {
        layers::is_owner(layer) || self.trust == Trust::Trusted
    }
}

/// Returns the range that binds a limit, by settings at the top of documents, else by the limit itself.
pub fn ceiling(top: &[Candidate<'_>], limit: &Limit) -> Option<Ceiling> {
    let said = top.iter().rev().find_map(|candidate| match candidate.term {
        Term::Ceiling { limit: it, range } if *it == limit => Some((*range, candidate.doc.layer)),
        _ => None,
    });
    let (range, layer) = said.unwrap_or((limit.ceiling, Layer::BuiltIn));
    Some(Ceiling { range: range?, layer })
}

/// Returns the settings that apply, the weakest first: by document, then by fit, then what singles out a limit. Locked
/// keys count only where they may be said.
fn applying<'a>(docs: &[&'a Doc], who: Who<'_>, locks: &Locks<'_>) -> Vec<Candidate<'a>> {
    let mut candidates = Vec::new();
    for (place_in_order, doc) in docs.iter().enumerate() {
        for setting in &doc.settings {
            let Some(fit) = setting.place.fit(who) else { continue };
            if locks.is_empty() || !locks::bind(doc.layer) || !locks.hold(who, &setting.term.key()) {
                let rank = (place_in_order, fit, setting.term.is_single());
                candidates.push((rank, Candidate { doc, place: &setting.place, term: &setting.term }));
            }
        }
    }
    candidates.sort_by_key(|(rank, _)| *rank);
    candidates.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Whether it is the built-in block for every agent type, which is there so that nothing runs unseen.
fn is_backstop(candidate: &Candidate<'_>) -> bool {
    candidate.doc.layer == Layer::BuiltIn && matches!(candidate.place, Place::Agents(pattern) if pattern == "*")
}
