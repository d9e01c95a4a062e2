//! A client in memory: it does what a script says as far as the answers let it, and takes down how strict they were.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fusebox::domain::action::Action;
use fusebox::domain::budget::{Period, SharedBudget};
use fusebox::domain::event::{Agent, Call, CallOutcome, Ending, Event, EventKind, Fingerprints, Intent, Spawned};
use fusebox::domain::ingested::Ingested;
use fusebox::domain::ingested::Link;
use fusebox::domain::limit::Limit;
use fusebox::domain::limit_meter::{ComingStep, Meter, Stage};
use fusebox::domain::limit_set::LimitSet;
use fusebox::domain::moment::Moment;
use fusebox::domain::plan_window::{PlanWindow, PlanWindows};
use fusebox::domain::refusal::Refusal;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::Session;
use fusebox::domain::spend::amount::Amount;
use fusebox::domain::spend::charge::{Charge, NewCharge};
use fusebox::domain::spend::meters::Spend;
use fusebox::domain::verdict::{Decision, Verdict};
use fusebox::engine::apply_event::apply_event;
use fusebox::engine::limit_source::LimitSource;
use fusebox::engine::orders;
use fusebox::engine::session_state::SessionState;

use crate::laws::verdicts;

/// One model response with its calls, and what it spent.
#[derive(Clone, Debug)]
pub struct Turn {
    pub who: u8,
    pub calls: u8,
    pub tool: u8,
    pub result: u8,
    pub fails: bool,
    pub tokens: u64,
    pub context: u64,
    pub plans: bool,
}

/// One thing that happens. Agent 0 is the main agent, the others are named by whoever wrote the script.
#[derive(Clone, Debug)]
pub enum Act {
    Prompt,
    Wait(u64),
    Turn(Turn),
    Spawn { by: u8, id: u8 },
    Wake { by: u8, id: u8 },
    Done(u8),
    Tamper(u8),
}

/// The rules in force over each scope, and how a person answers.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    pub scopes: Vec<(Scope, LimitSet)>,
    pub says_yes: bool,
    /// The tools that scripts call, where not the rules say: worlds that are compared call the same.
    pub tools: Option<[&'static str; 3]>,
}

/// How strict an answer is: its step, the per cent of its warning, and the fewer reports it leaves the stricter.
pub type Strictness = (Decision, u8, Reverse<u32>);

/// What an agent gets that is over or was never started.
const OVER: Strictness = (Decision::Stop, 100, Reverse(0));
/// What is said where nothing happens.
pub const FREE: Strictness = (Decision::Allow, 0, Reverse(u32::MAX));

/// 2026-11-20 10:00 UTC.
const BEGAN_MS: i64 = 1_795_168_800_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    AtWork,
    Ended,
    Over,
}

/// The client with the state that its events go to.
pub struct Client<'a> {
    policy: &'a Policy,
    pub state: SessionState,
    agents: BTreeMap<u8, State>,
    now: u64,
    prompts: u32,
    made: u32,
    answers: Vec<Strictness>,
    /// Every verdict, in the order of the events.
    pub verdicts: Vec<Verdict>,
}

impl LimitSource for Policy {
    fn main(&self) -> LimitSet {
        self.of(Scope::Run)
    }
    fn agent(&self, _: &str, _: Option<&str>) -> LimitSet {
        self.of(Scope::Run)
    }
}

/// Tools that a limit may count alone.
const SINGLED_OUT: [&str; 8] = ["WebFetch", "WebSearch", "Bash", "Edit", "Write", "Grep", "Glob", "Skill"];

impl Policy {
    /// Returns the tools that scripts call: most often one that a limit counts alone, where one does.
    pub fn tools(&self) -> [&'static str; 3] {
        if let Some(tools) = self.tools {
            return tools;
        }
        let adds = |limit: &Limit, tool: &str| match limit.meter {
            Meter::Count { adds, .. } => {
                let call = Call { tool: tool.to_owned(), ..Call::default() };
                adds(ComingStep { stage: Stage::Call, call: Some(&call), arrives: false })
            }
            Meter::Spend { .. } | Meter::Window | Meter::Silence => None,
        };
        let limits: Vec<&Limit> = self.scopes.iter().flat_map(|(_, set)| &set.limits).map(|rule| rule.limit).collect();
        let is_counted = |tool: &&str| limits.iter().any(|limit| adds(limit, tool) > adds(limit, "Read"));
        match SINGLED_OUT.into_iter().find(is_counted) {
            Some(tool) => [tool, "Bash", tool],
            None => ["Read", "Bash", "WebSearch"],
        }
    }

    fn of(&self, scope: Scope) -> LimitSet {
        self.scopes.iter().find(|(known, _)| *known == scope).map(|(_, rules)| rules.clone()).unwrap_or_default()
    }

    /// Opens the state of a session under these rules.
    pub fn state(&self) -> SessionState {
        let session = |id: &str, scope| Session { id: id.to_owned(), limits: self.of(scope), ..Session::default() };
        let mut state = SessionState::new(session("s", Scope::Session));
        state.session.started = at(0);
        let has = |scope: Scope| self.scopes.iter().any(|(known, _)| *known == scope);
        state
            .above
            .extend(has(Scope::Outer).then(|| Box::new(Session { started: at(0), ..session("outer", Scope::Outer) })));
        for scope in [Scope::Project, Scope::User].into_iter().filter(|scope| has(*scope)) {
            let for_ever = Period { from_ms: 0, to_ms: i64::MAX, resets: "midnight".to_owned(), ..Period::default() };
            let mut shared_budget = SharedBudget::new(scope, "");
            shared_budget.periods = [for_ever.clone(), for_ever.clone(), for_ever];
            shared_budget.set_limits(&self.of(scope));
            state.shared_budgets.push(shared_budget);
        }
        state
    }
}

fn at(ms: u64) -> Moment {
    Moment { wall_ms: BEGAN_MS + i64::try_from(ms).unwrap_or(0), mono_ms: ms, boot: 1, slept_ms: 0 }
}

/// Plays a script; returns how strict the events of each act were answered, and the client after it.
pub fn play<'a>(policy: &'a Policy, acts: &[Act]) -> (Vec<Vec<Strictness>>, Client<'a>) {
    let mut client = Client {
        policy,
        state: policy.state(),
        agents: BTreeMap::new(),
        now: 0,
        prompts: 0,
        made: 0,
        answers: Vec::new(),
        verdicts: Vec::new(),
    };
    let answers = acts.iter().map(|act| client.act(act)).collect();
    (answers, client)
}

impl Client<'_> {
    fn act(&mut self, act: &Act) -> Vec<Strictness> {
        match act {
            Act::Wait(ms) => self.now += ms,
            Act::Prompt => self.prompt(),
            Act::Turn(turn) => self.turn(turn),
            Act::Spawn { by, id } => self.spawn(*by, *id),
            Act::Wake { by, id } => self.wake(*by, *id),
            Act::Tamper(who) => {
                let intent = Intent::Tampering { what: "limits".to_owned() };
                self.batch(*who, &[self.call("Bash", intent, 0)], &Turn::small(*who));
            }
            Act::Done(who) => {
                if self.state(*who) == Some(State::AtWork) {
                    let ending = Ending::default();
                    let stopped = |ending| EventKind::Stopped { crons: Vec::new(), ending };
                    let kind = if *who == 0 { stopped(ending) } else { EventKind::SubagentEnded(ending) };
                    self.event(*who, kind, None);
                    if *who > 0 {
                        self.agents.insert(*who, State::Ended);
                    }
                }
            }
        }
        std::mem::take(&mut self.answers)
    }

    /// Where an agent stands; nothing where the script has not started it. What is over answers strictly from then on.
    fn state(&mut self, who: u8) -> Option<State> {
        let state = self.agents.get(&who).copied();
        if state == Some(State::Over) {
            self.answers.push(OVER);
        }
        state
    }

    fn prompt(&mut self) {
        self.prompts += 1;
        let verdict = self.event(
            0,
            EventKind::Prompt { text_hash: 0, notifications: Vec::new(), by_machine: false, is_command: false },
            None,
        );
        self.agents.insert(0, if verdict.decision >= Decision::Deny { State::Over } else { State::AtWork });
    }

    fn turn(&mut self, turn: &Turn) {
        let tools = self.policy.tools();
        let tool = tools[usize::from(turn.tool) % tools.len()];
        let calls: Vec<Call> = (0..turn.calls).map(|_| self.call(tool, Intent::Plain, turn.result)).collect();
        self.batch(turn.who, &calls, turn);
        self.tell_of_plan();
    }

    /// Tells that one per cent more of the user's plan is used, of a window that lasts for ever.
    fn tell_of_plan(&mut self) {
        for budget in self.state.shared_budgets.iter_mut().filter(|budget| budget.scope == Scope::User) {
            let used_percent = budget.plan.five_hour.as_ref().map_or(1, |window| window.used_percent + 1);
            let window = Some(PlanWindow { used_percent, resets_at_ms: i64::MAX, resets: "midnight".to_owned() });
            budget.take_plan(PlanWindows { five_hour: window.clone(), seven_day: window });
        }
    }

    /// Makes a call with an id of its own.
    fn call(&self, tool: &str, intent: Intent, result: u8) -> Call {
        let print = u32::from(result) * 7 + tool.len() as u32;
        Call {
            id: String::new(),
            tool: tool.to_owned(),
            intent,
            fingerprints: Fingerprints { all: print, error: print, ..Fingerprints::default() },
            ..Call::default()
        }
    }

    /// Plays a whole response; returns whether all its calls ran.
    fn batch(&mut self, who: u8, calls: &[Call], turn: &Turn) -> bool {
        if self.state(who) != Some(State::AtWork) {
            return false;
        }
        let mut named = Vec::new();
        for call in calls {
            self.made += 1;
            named.push(Call { id: format!("t{}", self.made), ..call.clone() });
        }
        let mut ran = true;
        for call in &named {
            let verdict = self.event(who, EventKind::ToolRequested(call.clone()), None);
            let runs = match verdict.decision {
                Decision::Allow | Decision::Warn => true,
                Decision::Ask => self.policy.says_yes,
                Decision::Deny | Decision::Stop => false,
            };
            ran &= runs;
            if runs && self.state(who) == Some(State::AtWork) {
                let agent = matches!(call.intent, Intent::Spawn { .. })
                    .then(|| Spawned { id: "launched".to_owned(), ended: false });
                let outcome = CallOutcome { failed: turn.fails, agent, ..CallOutcome::default() };
                self.event(who, EventKind::ToolEnded(call.clone(), outcome), None);
            }
        }
        if self.state(who) == Some(State::AtWork) {
            self.event(who, EventKind::BatchEnded(named), Some(turn));
        }
        ran && self.state(who) == Some(State::AtWork)
    }

    fn spawn(&mut self, by: u8, id: u8) {
        if self.agents.contains_key(&id) || matches!(self.state(by), None | Some(State::Ended)) {
            return;
        }
        let intent = Intent::Spawn { agent_type: "worker".to_owned(), name: None, model: None, prompt: String::new() };
        let call = self.call("Agent", intent, id);
        let starts = self.batch(by, &[call], &Turn::small(by));
        self.agents.insert(id, if starts { State::AtWork } else { State::Over });
        if starts {
            let depth = self.state.run(&self.run(by)).map_or(0, |run| run.depth) + 1;
            let parent = (by > 0).then(|| self.run(by));
            let link = Link { spawn_call: Some(format!("t{}", self.made)), parent, depth, ..Link::default() };
            self.found(id, EventKind::SubagentStarted, Ingested { link: Some(link), ..Ingested::default() });
        }
    }

    fn wake(&mut self, by: u8, id: u8) {
        match (self.state(id), self.state(by)) {
            (Some(State::Ended), Some(State::AtWork)) => {}
            _ => return,
        }
        let call = self.call("SendMessage", Intent::Message { to: format!("a{id}") }, id);
        if self.batch(by, &[call], &Turn::small(by)) {
            self.agents.insert(id, State::AtWork);
            self.event(id, EventKind::SubagentStarted, None);
        } else {
            self.agents.insert(id, State::Over);
        }
    }

    fn run(&self, who: u8) -> String {
        if who == 0 { format!("p{}", self.prompts) } else { format!("a{who}") }
    }

    fn event(&mut self, who: u8, kind: EventKind, spends: Option<&Turn>) -> Verdict {
        let charges = spends.map(|turn| (self.run(who), turn.charge(&self.run(who), self.now))).into_iter().collect();
        self.found(who, kind, Ingested { charges, ..Ingested::default() })
    }

    fn found(&mut self, who: u8, kind: EventKind, found: Ingested) -> Verdict {
        let agent = match who {
            0 => Agent::Main,
            _ => Agent::Sub { id: self.run(who), agent_type: "worker".to_owned() },
        };
        let prompt_id = Some(format!("p{}", self.prompts));
        let event = Event { session: "s".to_owned(), agent, prompt_id, at: at(self.now), attended: true, kind };
        let (_, verdict) = apply_event(&mut self.state, &event, &found, self.policy);
        verdicts::check(&verdict);
        if let Some(halted) = self.state.effects.halted.clone() {
            orders::cascade(&mut self.state, &halted);
        }
        self.state.next_event();
        self.answers.push(strictness(&verdict));
        if verdict.decision == Decision::Stop {
            self.agents.insert(who, State::Over);
        }
        self.verdicts.push(verdict.clone());
        verdict
    }
}

/// Returns how strict an act was answered at its strictest.
pub fn strictest(answers: &[Strictness]) -> Strictness {
    answers.iter().copied().max().unwrap_or(FREE)
}

fn strictness(verdict: &Verdict) -> Strictness {
    let percent = verdict.findings.iter().map(|finding| finding.percent).max().unwrap_or(0);
    let grace = match verdict.refusal {
        Some(Refusal::Tripped { grace } | Refusal::Ordered { grace }) => grace,
        _ => u32::MAX,
    };
    // A trip that will ask at the next call is no less than a warning.
    let step = if percent >= 100 { verdict.decision.max(Decision::Warn) } else { verdict.decision };
    (step, percent, Reverse(grace))
}

impl Turn {
    /// A response that spends next to nothing.
    pub fn small(who: u8) -> Turn {
        Turn { who, calls: 1, tool: 1, result: 0, fails: false, tokens: 1, context: 1, plans: true }
    }

    fn charge(&self, run: &str, now: u64) -> NewCharge {
        let spend = Spend { requests: 1, tokens: self.tokens, cache_reads: self.context, cost: Amount(self.tokens) };
        let model = if self.plans { "claude-opus-5-5" } else { "claude-haiku-5-5" };
        let charge = Charge {
            session: "s".to_owned(),
            run: run.to_owned(),
            model: model.to_owned(),
            at_ms: at(now).wall_ms,
            spend,
            output: self.tokens,
            context: self.context,
            ..Charge::default()
        };
        NewCharge { charge, adds: spend, again: spend, replay_price: (0, 0).into() }
    }
}

/// Whether the action of a rule leaves a run with nothing more to do.
pub fn ends(action: Action) -> bool {
    matches!(action, Action::Terminate | Action::Pause)
}
