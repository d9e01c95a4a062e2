//! Which calls a policy has held.

use crate::config::place::Who;
use crate::config::policy::Policy;
use crate::config::setting_value::SettingValue;
use crate::domain::action::OnLimit;
use crate::domain::mode::Mode;

impl Policy {
    /// Whether calls beyond a rate are to be held.
    pub fn holds_calls(&self) -> bool {
        let documents = self.documents.iter().filter(|_| self.mode() == Mode::Enforce);
        documents.flat_map(|document| &document.settings).any(|setting| match &setting.value {
            SettingValue::Windows(windows) => windows.iter().any(|window| window.on_limit == OnLimit::Wait),
            _ => false,
        })
    }

    /// Returns for how many milliseconds the next call or request of a paused run is held; 0 where it is not.
    pub fn pause_wait_ms(&self) -> u64 {
        if self.mode() == Mode::Enforce { self.resolved(Who::Top).values().pause_wait_ms } else { 0 }
    }
}
