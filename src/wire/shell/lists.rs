//! A list of commands while it is read: how they hang on one another, and which blocks they stand in.

use crate::wire::shell::parts::{Apart, Simple};

/// How a command hangs on the one before it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Link {
    /// Behind `;`, a line's end or nothing: it runs whatever became of that one.
    #[default]
    None,
    /// Behind `&&`.
    And,
    /// Behind `||`.
    Other,
    /// Behind a pipe.
    Pipe,
}

/// What is between a word such as `if` and its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    /// Commands that may be left out.
    Condition,
    /// Commands that may be run again.
    Loop,
    /// Commands in braces.
    Group,
    /// Commands that run where the function's name stands.
    Function,
}

/// One list of commands while it is read.
#[derive(Default)]
pub struct List<'a> {
    /// The command at hand.
    pub command: Simple<'a>,
    /// How it hangs on the one before it.
    pub link: Link,
    /// The place among the parts at which the commands begin that are joined to it.
    pub chain: usize,
    /// Whether the next block is a function's.
    pub defines: bool,
    /// Whether the next word may be the name of a `coproc`.
    pub is_coproc: bool,
    /// Whether the next words are the patterns of a `case`.
    pub in_pattern: bool,
    /// How many `case` are open.
    pub cases: usize,
    /// Whether nothing was read of it yet.
    is_new: bool,
    /// Whether the command at hand does well where it fails: behind `!`.
    is_negated: bool,
    blocks: Vec<Block>,
    /// How many of them are loops, and how many functions.
    loops: usize,
    functions: usize,
}

impl List<'_> {
    /// Begins a list at a place among the parts.
    pub fn after(link: Link, chain: usize) -> Self {
        List { link, chain, is_new: true, ..List::default() }
    }

    /// Notes the block that a word of the shell's grammar opens or closes.
    pub fn open_or_close(&mut self, word: &str) {
        let opened = match word {
            "if" | "case" => Block::Condition,
            "while" | "until" | "for" | "select" => Block::Loop,
            "{" if std::mem::take(&mut self.defines) => Block::Function,
            "{" => Block::Group,
            "coproc" => {
                (self.link, self.is_coproc) = (Link::Other, true);
                return;
            }
            "!" => {
                self.is_negated = true;
                return;
            }
            "fi" | "esac" | "done" | "}" => {
                let closed = self.blocks.pop();
                self.loops -= usize::from(closed == Some(Block::Loop));
                self.functions -= usize::from(closed == Some(Block::Function));
                return;
            }
            _ => return,
        };
        self.blocks.push(opened);
        self.loops += usize::from(opened == Block::Loop);
        self.functions += usize::from(opened == Block::Function);
    }

    /// Whether what is read is a function's: a subshell is one in place of braces.
    pub fn takes_in_function(&mut self) -> bool {
        std::mem::take(&mut self.defines) || self.functions > 0
    }

    /// Writes down on a command how it hangs on what is around it.
    pub fn mark(&mut self, command: &mut Simple) {
        let link = std::mem::take(&mut self.link);
        command.follows = link == Link::And;
        command.is_piped = link == Link::Pipe;
        self.is_coproc = false;
        let is_in_parentheses = std::mem::take(&mut self.is_new);
        if command.is_piped && !is_in_parentheses && self.blocks.is_empty() {
            command.apart = Apart::InSomeShells;
        }
        command.is_doubtful |= std::mem::take(&mut self.is_negated);
        // The words of a loop are read once, before it.
        let begins_loop = command.words.first().is_some_and(|word| matches!(&*word.text, "for" | "select"));
        let own = usize::from(begins_loop && self.blocks.last() == Some(&Block::Loop));
        command.is_doubtful |= matches!(link, Link::Other | Link::Pipe) || self.blocks.len() > own;
        command.is_repeated = self.loops > own;
        command.is_called = self.functions > 0;
    }

    /// Takes note of a line's end: an operator before it goes on in the next line.
    pub fn ends_line(&mut self, parts: usize) {
        if self.link == Link::None {
            self.chain = parts;
        }
    }

    /// Whether the words so far begin a loop over words: `for x`.
    pub fn names_loop(&self) -> bool {
        self.command.words.len() == 2 && matches!(&*self.command.words[0].text, "for" | "select")
    }

    /// Whether `((` is arithmetic here: at the start of a command, and after `for`.
    pub fn may_be_arithmetic(&self) -> bool {
        self.command.words.first().is_none_or(|word| word.text == "for")
    }
}
