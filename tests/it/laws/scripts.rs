//! Scripts that nobody wrote: acts, caps and actions, made at random from a fixed seed.

use std::fmt;

use fusebox::domain::action::{ACTIONS, Action, OnLimit};
use fusebox::domain::billing::Billing;
use fusebox::domain::layer::Layer;
use fusebox::domain::limit::{Counts, Form, Limit};
use fusebox::domain::limit_set::{LimitRule, LimitSet, Models, Rate};
use fusebox::domain::scope::Scope;
use fusebox::domain::unit::Unit;
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;

use crate::laws::client::{Act, Policy, Turn, ends};
use crate::laws::decided_at_events;

/// The largest response of a script.
const LARGEST: u64 = 5;
/// The window of rates.
const PER_MS: u64 = 3000;

/// How large requests are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Of any size.
    Any,
    /// All of the same.
    One,
}

/// One limit over one scope, and what happens.
#[derive(Clone)]
pub struct Case {
    pub limit: &'static Limit,
    pub scope: Scope,
    pub cap: u64,
    pub slack: u64,
    pub action: Action,
    pub grace: u32,
    pub says_yes: bool,
    pub warns: bool,
    pub place: usize,
    pub who: u8,
    pub acts: Vec<Act>,
}

/// Many limits at once, and what happens.
#[derive(Clone)]
pub struct Many {
    pub rules: Vec<(&'static Limit, Scope, u64, Action)>,
    pub grace: u32,
    pub says_yes: bool,
    pub acts: Vec<Act>,
}

impl Case {
    /// A case without a script.
    pub fn plain(limit: &'static Limit, scope: Scope, cap: u64, action: Action) -> Case {
        let (slack, grace, place, who) = (1, 0, 0, 0);
        Case { limit, scope, cap, slack, action, grace, says_yes: false, warns: false, place, who, acts: Vec::new() }
    }

    /// Returns the policy with a cap of this size.
    pub fn policy(&self, cap: u64) -> Policy {
        let mut rules = LimitSet { grace_turns: self.grace, ..LimitSet::default() };
        if !self.warns {
            rules.warn_at.clear();
        }
        let mut scopes = vec![(Scope::Session, rules.clone())];
        add(&mut rules, self.limit, cap, self.action);
        scopes.insert(0, (self.scope, rules));
        Policy { scopes, says_yes: self.says_yes, tools: None }
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { limit, scope, cap, slack, action, grace, says_yes, warns, place, who, acts } = self;
        writeln!(
            f,
            "{limit} over {scope:?}, cap {cap} or {slack} more, {action:?}, grace {grace}, yes {says_yes}, warns {warns}"
        )?;
        writeln!(f, "more use before act {place} by {who}")?;
        acts.iter().enumerate().try_for_each(|(number, act)| writeln!(f, "{number}: {act:?}"))
    }
}

impl fmt::Debug for Many {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (limit, scope, cap, action) in &self.rules {
            writeln!(f, "{limit} over {scope:?}: {cap} {action:?}")?;
        }
        writeln!(f, "grace {}, yes {}", self.grace, self.says_yes)?;
        self.acts.iter().enumerate().try_for_each(|(number, act)| writeln!(f, "{number}: {act:?}"))
    }
}

impl Many {
    /// Returns the policy, with the rules of each scope in the order in which they stand here.
    pub fn policy(&self) -> Policy {
        policy(&self.rules, self.grace, self.says_yes)
    }

    /// Returns the same with one action in place of all that end a run.
    pub fn ending_by(mut self, ending: Action) -> Many {
        for rule in self.rules.iter_mut().filter(|rule| ends(rule.3)) {
            rule.3 = ending;
        }
        self
    }

    /// Returns the same with at most one limit that asks.
    pub fn asking_once(mut self) -> Many {
        for rule in self.rules.iter_mut().filter(|rule| rule.3 == Action::RequestIncrease).skip(1) {
            rule.3 = Action::Warn;
        }
        self
    }

    /// Returns the policy without one of the rules, under which the same tools are called.
    pub fn without(&self, left_out: usize) -> Policy {
        let mut rules = self.rules.clone();
        rules.remove(left_out);
        Policy { tools: Some(self.policy().tools()), ..policy(&rules, self.grace, self.says_yes) }
    }
}

fn policy(of: &[(&'static Limit, Scope, u64, Action)], grace_turns: u32, says_yes: bool) -> Policy {
    let mut policy = Policy { says_yes, ..Policy::default() };
    for scope in [Scope::Run, Scope::Session, Scope::Outer, Scope::Project, Scope::User] {
        let mut rules = LimitSet { grace_turns, warn_at: Vec::new(), ..LimitSet::default() };
        for (limit, _, cap, action) in of.iter().filter(|rule| rule.1 == scope) {
            add(&mut rules, limit, *cap, *action);
        }
        // The grace of what sessions share is the session's.
        if !rules.is_empty() || scope == Scope::Session {
            policy.scopes.push((scope, rules));
        }
    }
    policy
}

fn add(rules: &mut LimitSet, limit: &'static Limit, cap: u64, action: Action) {
    let layer = Layer::User;
    match limit.form {
        Form::Cap => {
            let models = match limit.counts {
                Counts::Role(role) => Some(Models::Role(role, Some(vec!["*opus*".to_owned()]))),
                Counts::All => None,
            };
            rules.limits.push(LimitRule {
                limit,
                cap,
                action,
                layer,
                increase: 1,
                models,
                locked: false,
                billing: Billing::default(),
                responses_alone: false,
            });
        }
        Form::Windows => {
            let tool = if limit.key == "rate_limits" { "*".to_owned() } else { String::new() };
            rules.rates.push(Rate {
                limit,
                tool,
                max: cap.max(1),
                per_ms: PER_MS,
                layer,
                action,
                on_limit: OnLimit::Refuse,
            });
        }
    }
}

/// Returns the act that is more use of a limit, where there is one.
pub fn more(limit: &Limit, who: u8) -> Option<Act> {
    let turn = Turn { tokens: LARGEST, context: LARGEST, tool: 2, ..Turn::small(who) };
    match limit.key {
        "max_delegation_depth" | "loop_detection" => None,
        "max_duration_ms" | "max_wall_ms" => Some(Act::Wait(1000)),
        "max_parallel_subagents" | "max_subagents" => Some(Act::Spawn { by: 0, id: 99 }),
        "max_denials" => Some(Act::Tamper(who)),
        "max_execution_cost_usd" => Some(Act::Turn(Turn { plans: false, ..turn })),
        _ => Some(Act::Turn(turn)),
    }
}

/// A response with one call that has this result.
pub fn call(who: u8, result: u8, fails: bool) -> Act {
    Act::Turn(Turn { result, fails, ..Turn::small(who) })
}

/// Makes a limit's caps: most scripts reach them.
fn caps(limit: &Limit) -> std::ops::Range<u64> {
    match (limit.unit, limit.form) {
        (Unit::Millis, _) => 1..9000,
        (Unit::Switch, _) => 0..2,
        _ if limit.spent_by_requests() => 1..30,
        (Unit::Tokens, _) => 1..LARGEST,
        _ if limit.key == "max_delegation_depth" => 0..3,
        _ if limit.key.ends_with("subagents") => 0..4,
        _ if limit.key == "max_denials" => 1..4,
        (_, Form::Windows) => 1..5,
        _ => 1..8,
    }
}

fn turn(sizes: Sizes) -> impl Strategy<Value = Act> {
    let size = move || if sizes == Sizes::One { 3..=3 } else { 1..=LARGEST };
    let plans = if sizes == Sizes::One { Just(true).boxed() } else { any::<bool>().boxed() };
    (0_u8..4, 1_u8..3, 0_u8..3, 0_u8..3, any::<bool>(), size(), size(), plans).prop_map(
        |(who, calls, tool, result, fails, tokens, context, plans)| {
            Act::Turn(Turn { who, calls, tool, result, fails, tokens, context, plans })
        },
    )
}

/// Makes what happens: it begins with a prompt, and agents are numbered as they come.
fn acts(sizes: Sizes) -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        8 => turn(sizes),
        2 => (1_u64..2500).prop_map(Act::Wait),
        3 => (0_u8..4).prop_map(|by| Act::Spawn { by, id: 0 }),
        1 => (0_u8..4, 1_u8..4).prop_map(|(by, id)| Act::Wake { by, id }),
        1 => (0_u8..4).prop_map(Act::Done),
        1 => (0_u8..4).prop_map(Act::Tamper),
        1 => Just(Act::Prompt),
        1 => (0_u8..4, 0_u8..2, any::<bool>()).prop_map(|(who, result, fails)| call(who, result, fails)),
    ];
    let some = (act, prop_oneof![6 => Just(1_usize), 1 => 2_usize..8]).prop_map(|(act, times)| vec![act; times]);
    vec(some, 5..30).prop_map(|acts| {
        let acts = acts.into_iter().flatten();
        let mut agents = 0;
        let number = |act| match act {
            Act::Spawn { by, .. } => {
                agents += 1;
                Act::Spawn { by, id: agents }
            }
            act => act,
        };
        std::iter::once(Act::Prompt).chain(acts.map(number)).collect()
    })
}

/// Makes a limit's case over a scope.
pub fn case(limit: &'static Limit, scope: Scope, sizes: Sizes) -> impl Strategy<Value = Case> {
    let rule = (caps(limit), 1_u64..6, select(&ACTIONS[..]), 0_u32..3, any::<bool>(), any::<bool>());
    (rule, 0_usize..40, 0_u8..4, acts(sizes)).prop_map(move |(rule, place, who, acts)| {
        let (cap, slack, action, grace, says_yes, warns) = rule;
        // A switch has no other caps than on and off.
        let slack = if limit.unit == Unit::Switch { 1 } else { slack };
        Case { limit, scope, cap, slack, action, grace, says_yes, warns, place, who, acts }
    })
}

fn rule() -> impl Strategy<Value = (&'static Limit, Scope, u64, Action)> {
    select(decided_at_events().collect::<Vec<_>>()).prop_flat_map(|limit| {
        let outer = limit.scopes.contains(&Scope::Session).then_some(Scope::Outer);
        let scopes: Vec<Scope> = limit.scopes.iter().copied().chain(outer).collect();
        (Just(limit), select(scopes), caps(limit), select(&ACTIONS[..]))
    })
}

/// Makes many limits at once, each at most once over a scope.
pub fn many_rules() -> impl Strategy<Value = Many> {
    (vec(rule(), 2..20), 0_u32..3, any::<bool>(), acts(Sizes::Any)).prop_map(|(rules, grace, says_yes, acts)| {
        let mut seen = Vec::new();
        let mut rules = rules;
        rules.retain(|(limit, scope, ..)| {
            let new = !seen.contains(&(limit.key, *scope));
            seen.push((limit.key, *scope));
            new
        });
        Many { rules, grace, says_yes, acts }
    })
}

/// Makes many limits at once, in two orders.
pub fn shuffled() -> impl Strategy<Value = (Many, Many)> {
    many_rules().prop_flat_map(|case| {
        let other = case.clone();
        let rules = Just(case.rules.clone()).prop_shuffle();
        (Just(case), rules.prop_map(move |rules| Many { rules, ..other.clone() }))
    })
}
