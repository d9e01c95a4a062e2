//! What a sync is for.

/// What a machine has its team told for. It decides what the machine holds afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Agents work: what they need is held, and nothing where none does.
    #[default]
    Work,
    /// A person at a terminal is about to go on in a session that is open.
    Person,
    /// The machine leaves the team: it gives back all that it holds, and asks for nothing.
    Leave,
}
