//! The processes above this one, where all of them are known.

/// The most processes above one that are looked at. An agent can have its processes start one another.
pub const MOST_ABOVE: usize = 4096;
/// Why the processes above this one are not known where one of them is missing in the list.
pub const UNSEEN: &str = "one of them is not shown";

/// A process above another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Above {
    /// Its id.
    pub pid: u32,
    /// Its start time, in the system's own unit.
    pub start: u64,
    /// The name of its program; empty where the system does not tell.
    pub name: String,
}

/// This process and all above it.
#[derive(Debug, PartialEq, Eq)]
pub struct Tree {
    /// The nearest first: this process, up to the first of its pid namespace.
    pub processes: Vec<Above>,
    /// The pid namespace.
    pub ns: u64,
    /// Whether all other pid namespaces are below this one.
    pub is_outermost: bool,
}

impl Tree {
    /// Makes the tree of a system that has one list of all processes, of what that says is above this one.
    #[cfg(any(not(target_os = "linux"), test))]
    pub fn of_one_list(above: Vec<(u32, u64)>, ns: u64) -> Result<Tree, &'static str> {
        match above.len() {
            0 | MOST_ABOVE.. => Err(UNSEEN),
            _ => {
                let named = above.into_iter().map(|(pid, start)| Above { pid, start, name: String::new() });
                Ok(Tree { processes: named.collect(), ns, is_outermost: true })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_without_this_process_or_with_too_many_above_it_is_no_tree() {
        assert_eq!(Tree::of_one_list(Vec::new(), 1), Err(UNSEEN));
        assert_eq!(Tree::of_one_list(vec![(1, 1); MOST_ABOVE], 1), Err(UNSEEN));
        let tree = Tree::of_one_list(vec![(7, 2), (1, 1)], 1).unwrap();
        assert!(tree.is_outermost && tree.processes.iter().map(|it| it.pid).eq([7, 1]));
    }
}
