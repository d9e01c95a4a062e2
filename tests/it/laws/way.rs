//! The ways in which a run goes on, as a list.

/// How a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Calls,
    Compactions,
    Crons,
    Notifications,
    Resumes,
    Forks,
    Clears,
    Messages,
    MessagesAndCalls,
    MessagesToOneAtWork,
    StartsOfItsOwn,
    DialogLeftOpen,
    Workflow,
    WorkflowInWords,
}

/// Every way.
pub const WAYS: [Way; 14] = [
    Way::Calls,
    Way::Compactions,
    Way::Crons,
    Way::Notifications,
    Way::Resumes,
    Way::Forks,
    Way::Clears,
    Way::Messages,
    Way::MessagesAndCalls,
    Way::MessagesToOneAtWork,
    Way::StartsOfItsOwn,
    Way::DialogLeftOpen,
    Way::Workflow,
    Way::WorkflowInWords,
];

impl Way {
    /// Whether it is a subagent that goes on, so that its limits alone are tried over runs.
    pub fn is_of_agents(self) -> bool {
        use Way::{Calls, Clears, Compactions, Crons, Forks, Notifications, Resumes};
        !matches!(self, Calls | Compactions | Crons | Notifications | Resumes | Forks | Clears)
    }
}
