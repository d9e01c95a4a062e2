//! Sliding windows: how often something happened lately, and when the next slot opens.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::bounds::{MODELS, MOMENTS, OTHER_MODELS};
use crate::domain::limit_set::Rate;
use crate::domain::moment::Moment;
use crate::domain::stored::serde_default::is_default;
use crate::domain::text::pattern;

/// What happened in one window: the boot, and the milliseconds since then.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    boot: u64,
    /// When the last of it happened, by the wall clock: after a boot nothing else says how long ago that was.
    #[serde(default, skip_serializing_if = "is_default")]
    wall_ms: i64,
    at_ms: Vec<u64>,
}

/// The windows of a scope's rates, by what they count: a tool's pattern and the window's length, or a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RateWindows(BTreeMap<String, Window>);

/// What is in a window at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowUsage {
    /// How often it happened.
    pub used: u64,
    /// Milliseconds until one more fits; 0 where one fits now.
    pub frees_in_ms: u64,
}

/// How the names of the windows of model requests begin; no tool is called so.
const REQUESTS: &str = "model ";

impl Rate {
    /// Whether it counts the calls of a tool.
    pub fn counts_tool(&self, tool: &str) -> bool {
        !self.tool.is_empty() && pattern::matches(&self.tool, tool)
    }

    /// Whether it counts model requests.
    pub fn counts_requests(&self) -> bool {
        self.tool.is_empty()
    }

    /// Whether another rate counts in the same window.
    pub fn counts_as(&self, other: &Rate) -> bool {
        self.per_ms == other.per_ms && self.tool == other.tool && self.limit == other.limit
    }

    /// Returns the name of its window; requests have one for each model.
    fn window(&self, model: &str) -> String {
        let (kind, what) = if self.counts_requests() { (REQUESTS, model) } else { ("", self.tool.as_str()) };
        format!("{kind}{what}/{}", self.per_ms)
    }

    /// Whether a window is one that it looks at. Where the model is not known yet, each model's may be the one.
    fn looks_at(&self, name: &str, model: &str) -> bool {
        match model.is_empty() && self.counts_requests() {
            true => name.starts_with(REQUESTS) && name.ends_with(&format!("/{}", self.per_ms)),
            false => name == self.window(model) || self.counts_requests() && name == self.window(OTHER_MODELS),
        }
    }
}

impl RateWindows {
    /// Takes note that what a rate counts has happened.
    pub fn note(&mut self, rate: &Rate, model: &str, now: Moment) {
        let name = self.name(rate, model, now);
        let window = self.0.entry(name).or_default();
        if window.boot != now.boot {
            window.at_ms = window.moments(rate.per_ms, now).into_owned();
            window.boot = now.boot;
        }
        window.wall_ms = now.wall_ms;
        let old = window.at_ms.partition_point(|at| now.mono_ms.saturating_sub(*at) >= rate.per_ms);
        // When one more fits is told by the last ones, as many as fit.
        let kept = usize::try_from(rate.max).unwrap_or(usize::MAX).saturating_add(1).max(MOMENTS);
        let old = old.max(window.at_ms.len().saturating_sub(kept));
        window.at_ms.drain(..old);
        window.at_ms.push(now.mono_ms);
    }

    /// Takes in what happened after all that is noted here.
    pub fn follow(&mut self, later: RateWindows) {
        for (name, later) in later.0 {
            let window = self.0.entry(name).or_default();
            let before = if window.boot == later.boot { std::mem::take(&mut window.at_ms) } else { Vec::new() };
            *window = Window { at_ms: [before, later.at_ms].concat(), ..later };
        }
    }

    /// Returns the name of the window that something is noted in. Of models that are too many, those that are not known share one.
    fn name(&mut self, rate: &Rate, model: &str, now: Moment) -> String {
        let name = rate.window(model);
        if self.0.len() < MODELS || self.0.contains_key(&name) || !rate.counts_requests() {
            return name;
        }
        self.0.retain(|name, window| window.is_live(name, now));
        if self.0.len() < MODELS { name } else { rate.window(OTHER_MODELS) }
    }

    /// Reads a rate's window; of several, the one that is fullest.
    pub fn read(&self, rate: &Rate, model: &str, now: Moment) -> WindowUsage {
        self.read_ahead(rate, model, now, 0)
    }

    /// Reads a rate's window where so many more have happened that it does not hold yet.
    pub fn read_ahead(&self, rate: &Rate, model: &str, now: Moment, more: u64) -> WindowUsage {
        let windows = self.0.iter().filter(|(name, _)| rate.looks_at(name, model));
        let readings = windows.map(|(_, window)| window.read(rate, now, more));
        readings.max_by_key(|reading| reading.used).unwrap_or_else(|| Window::default().read(rate, now, more))
    }
}

impl Window {
    /// Whether something in it, by the length that stands in its name, has not passed.
    fn is_live(&self, name: &str, now: Moment) -> bool {
        let per_ms = name.rsplit('/').next().and_then(|per_ms| per_ms.parse().ok()).unwrap_or(u64::MAX);
        self.moments(per_ms, now).last().is_some_and(|at| now.mono_ms.saturating_sub(*at) < per_ms)
    }

    /// Returns when it happened, by the clock of this boot. What happened before the boot counts from its beginning on, as far as the
    /// window has not passed by the wall clock: a restart frees nothing.
    fn moments(&self, per_ms: u64, now: Moment) -> Cow<'_, [u64]> {
        if self.boot == now.boot {
            return Cow::Borrowed(&self.at_ms);
        }
        let last = self.at_ms.last().copied().unwrap_or_default();
        let passed = u64::try_from(now.wall_ms.saturating_sub(self.wall_ms)).unwrap_or(0);
        let is_live = |at: &&u64| passed.saturating_add(last.saturating_sub(**at)) < per_ms;
        Cow::Owned(vec![0; self.at_ms.iter().filter(is_live).count()])
    }

    fn read(&self, rate: &Rate, now: Moment, more: u64) -> WindowUsage {
        let mut left: Vec<u64> = self
            .moments(rate.per_ms, now)
            .iter()
            .filter_map(|at| rate.per_ms.checked_sub(now.mono_ms.saturating_sub(*at)))
            .filter(|left| *left > 0)
            .collect();
        left.sort_unstable();
        let used = left.len() as u64 + more;
        // One more fits once so many of them have left that there is room below the cap.
        let must_leave = usize::try_from((used + 1).saturating_sub(rate.max)).unwrap_or(usize::MAX);
        let frees_in_ms = match must_leave {
            0 => 0,
            count => left.get(count - 1).copied().unwrap_or(rate.per_ms),
        };
        WindowUsage { used, frees_in_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::action::{Action, OnLimit};
    use crate::domain::layer::Layer;
    use crate::domain::limit::Limit;

    fn rate(limit: &str, tool: &str) -> Rate {
        Rate {
            limit: Limit::find(limit).unwrap(),
            tool: tool.to_owned(),
            max: 2,
            per_ms: 1000,
            layer: Layer::User,
            action: Action::Terminate,
            on_limit: OnLimit::Refuse,
        }
    }

    #[test]
    fn a_window_slides() {
        let rate = rate("rate_limits", "Web*");
        let at = |mono_ms| Moment { wall_ms: 0, mono_ms, boot: 1, ..Moment::default() };
        let mut windows = RateWindows::default();
        let read = |windows: &RateWindows, now| {
            let reading = windows.read(&rate, "", at(now));
            (reading.used, reading.frees_in_ms)
        };
        assert_eq!(read(&windows, 0), (0, 0));
        windows.note(&rate, "", at(100));
        assert_eq!(read(&windows, 200), (1, 0));
        windows.note(&rate, "", at(300));
        assert_eq!(read(&windows, 400), (2, 700));
        assert_eq!(read(&windows, 1099), (2, 1));
        assert_eq!(read(&windows, 1100), (1, 0));
        assert_eq!(read(&windows, 1300), (0, 0));
        let written = serde_json::to_string(&windows).unwrap();
        assert_eq!(written, r#"{"Web*/1000":{"boot":1,"at_ms":[100,300]}}"#);
        assert_eq!(serde_json::from_str::<RateWindows>(&written).unwrap(), windows);
    }

    #[test]
    fn what_happened_before_a_boot_counts_until_its_window_has_passed() {
        let rate = rate("rate_limits", "Web*");
        let at = |boot, mono_ms, wall_ms| Moment { wall_ms, mono_ms, boot, ..Moment::default() };
        let mut windows = RateWindows::default();
        windows.note(&rate, "", at(1, 70_000, 500_000));
        windows.note(&rate, "", at(1, 70_600, 500_600));
        let cases = [
            ("at once", at(2, 10, 500_700), (2, 990)),
            ("once the first has left", at(2, 500, 501_000), (1, 0)),
            ("a wall clock that was set back", at(2, 10, 400_000), (2, 990)),
            ("a whole window after the boot", at(2, 1_000, 500_700), (0, 0)),
            ("long after", at(2, 10, 600_000), (0, 0)),
        ];
        for (when, now, expected) in cases {
            let reading = windows.read(&rate, "", now);
            assert_eq!((reading.used, reading.frees_in_ms), expected, "{when}");
        }
        windows.note(&rate, "", at(2, 200, 500_900));
        assert_eq!(windows.read(&rate, "", at(2, 300, 501_000)).used, 3);
        assert_eq!(windows.read(&rate, "", at(2, 1_100, 501_800)).used, 1);
    }

    #[test]
    fn requests_have_a_window_for_each_model_and_the_fullest_counts_where_it_is_not_known() {
        let tools = rate("adapter_rate_limit", "Web*");
        let requests = Rate { tool: String::new(), ..tools.clone() };
        let at = |mono_ms| Moment { wall_ms: 0, mono_ms, boot: 1, ..Moment::default() };
        let mut windows = RateWindows::default();
        for model in ["a", "b", "b"] {
            windows.note(&requests, model, at(100));
        }
        for _ in 0..3 {
            windows.note(&tools, "", at(100));
        }
        for (model, more, expected) in [
            ("a", 0, (1, 0)),
            ("a", 1, (2, 900)),
            ("b", 0, (2, 900)),
            ("c", 0, (0, 0)),
            ("c", 2, (2, 1000)),
            ("", 0, (2, 900)),
        ] {
            let reading = windows.read_ahead(&requests, model, at(200), more);
            assert_eq!((reading.used, reading.frees_in_ms), expected, "{model} and {more} more");
        }
    }
}
