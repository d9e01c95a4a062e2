//! A limit that the machines of a team share and that is no money: what this machine may use of it, as the last sync has published it.

use serde::{Deserialize, Serialize};

use crate::domain::action::{Action, OnLimit};
use crate::domain::billing::Billing;
use crate::domain::layer::Layer;
use crate::domain::limit::Limit;
use crate::domain::limit_set::{LimitRule, LimitSet, Rate};
use crate::domain::moment::Moment;
use crate::domain::share_kind::ShareKind;
use crate::domain::stored::serde_default::is_default;
use crate::domain::team_terms::{Standing, TeamTerms};
use crate::domain::text::duration;

/// What this machine may use of a limit that its team shares.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShareRight {
    /// What the limit is on.
    pub kind: ShareKind,
    /// The team's limit.
    pub cap: u64,
    /// The window of requests, in milliseconds; 0 for agents.
    #[serde(skip_serializing_if = "is_default")]
    pub per_ms: u64,
    /// What all machines had reserved of it when the store was heard.
    pub reserved: u64,
    /// What this machine may use.
    pub usable: u64,
    /// Whether that was all in use when a sync looked last.
    #[serde(skip_serializing_if = "is_default")]
    pub lacks: bool,
    /// Until when, by the clock of this boot.
    pub until: Moment,
    /// Whether the store had no more for it than that then.
    #[serde(skip_serializing_if = "is_default")]
    pub is_full: bool,
    /// Whether it had more then, and granted nothing: for a while after its restart.
    #[serde(skip_serializing_if = "is_default")]
    pub is_held_back: bool,
    /// Who kept locked what the share waits for then; empty where nobody did.
    #[serde(skip_serializing_if = "is_default")]
    pub held_by: String,
    /// Whom to ask for more; empty where nobody is named.
    #[serde(skip_serializing_if = "is_default")]
    pub contact: String,
    /// How it stands at this event.
    #[serde(skip)]
    pub standing: Option<Standing>,
    /// How long a call may wait for what a sync brings, in milliseconds; 0 where that is known already.
    #[serde(skip)]
    pub wait_ms: u64,
}

impl ShareRight {
    /// Adds the rule that it comes to under a session's terms at a moment; none where the limit is not kept without the store.
    /// `is_unanswered` is whether the store was not reached when it was asked last.
    pub fn stand(&mut self, limits: &mut LimitSet, terms: &TeamTerms, now: Moment, is_unanswered: bool) {
        let is_lacking = self.lacks && is_unanswered && !self.is_full && !self.is_held_back;
        let standing = terms.without(is_lacking, terms.standing(self.until, now));
        self.standing = Some(standing);
        let cap = match standing {
            Standing::Alive | Standing::Outlived => self.usable,
            Standing::Closed | Standing::ProjectSpent => 0,
            Standing::Unbound => return,
        };
        match self.kind {
            ShareKind::Agents => limits.limits.extend(Limit::shared_as(self.kind).map(|limit| LimitRule {
                limit,
                cap,
                action: Action::Terminate,
                layer: Layer::Team,
                increase: 0,
                models: None,
                // Only the store's admin raises it.
                locked: true,
                billing: Billing::default(),
                responses_alone: false,
            })),
            ShareKind::Requests => limits.rates.extend(self.rate(cap)),
        }
    }

    /// Returns the rate that so many requests in its window are; `None` where it is on something else.
    pub fn rate(&self, max: u64) -> Option<Rate> {
        let limit = Limit::shared_as(self.kind).filter(|_| self.kind == ShareKind::Requests)?;
        let (action, layer, on_limit) = (Action::Terminate, Layer::Team, OnLimit::Refuse);
        Some(Rate { limit, tool: String::new(), max, per_ms: self.per_ms, layer, action, on_limit })
    }

    /// Names the team's limit: `4 subagents at once`, `600 model requests in 1m`.
    pub fn named(&self) -> String {
        match (self.kind, self.cap) {
            (ShareKind::Agents, 1) => "1 subagent at once".to_owned(),
            (ShareKind::Agents, cap) => format!("{cap} subagents at once"),
            (ShareKind::Requests, 1) => format!("1 model request in {}", duration::write(self.per_ms)),
            (ShareKind::Requests, cap) => format!("{cap} model requests in {}", duration::write(self.per_ms)),
        }
    }

    /// Returns the command by which an admin raises it.
    pub fn raised_by(&self) -> String {
        match self.kind {
            ShareKind::Agents => "fusebox team limit agents=N".to_owned(),
            ShareKind::Requests => format!("fusebox team limit requests=N/{}", duration::write(self.per_ms)),
        }
    }
}
