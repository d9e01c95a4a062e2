//! What a key does.

use crate::domain::moment::Moment;
use crate::screen::item::ItemId;
use crate::screen::view::View;
use crate::ui::key::Key;

/// How many lines a page moves.
const PAGE: usize = 10;
/// How long what a command came to is shown at most, in milliseconds.
const NOTICE_MS: u64 = 30_000;
/// The longest grant that can be typed.
const LONGEST: usize = 80;

/// A command for what is chosen, given by a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionCommand {
    /// `fusebox pause`.
    Pause(ItemId),
    /// `fusebox stop`.
    Stop(ItemId),
    /// `fusebox resume`.
    Resume(ItemId),
    /// `fusebox grant`, with what is granted.
    Grant(ItemId, String),
    /// `fusebox explain`.
    Explain(ItemId),
}

impl SessionCommand {
    /// Returns the line that it is about.
    pub fn about(&self) -> &ItemId {
        match self {
            SessionCommand::Pause(id)
            | SessionCommand::Stop(id)
            | SessionCommand::Resume(id)
            | SessionCommand::Grant(id, _)
            | SessionCommand::Explain(id) => id,
        }
    }
}

/// What the screen is at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// It shows the tree.
    #[default]
    Tree,
    /// It asks for a yes or no before a command.
    Confirm(String, SessionCommand),
    /// It asks what is granted.
    Amount(ItemId, String),
    /// It shows a text, from a line on.
    Text(Vec<String>, usize),
}

/// What the screen remembers between keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenState {
    /// The line that is chosen; the first where it is `None` or gone.
    pub chosen: Option<ItemId>,
    /// What it is at.
    pub stage: Stage,
    /// What the last command came to.
    pub said: String,
    /// What that speaks of, where it is a line of the tree.
    pub about: Option<ItemId>,
    /// When it was first shown, and how its line stood then.
    pub shown: Option<(Moment, Option<String>)>,
}

/// What follows from a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The screen is drawn anew.
    Draw,
    /// A command is given.
    Give(SessionCommand),
    /// The screen stands still, as Ctrl-Z asks.
    Suspend,
    /// The screen ends.
    Quit,
}

/// The help.
const HELP: [&str; 15] = [
    "Keys",
    "",
    "  up, down, k, j      choose a line",
    "  PgUp, PgDn          ten lines",
    "  Home, End           the first or the last line",
    "  p                   pause what is chosen: fusebox pause",
    "  s                   stop it: fusebox stop",
    "  r                   let it go on: fusebox resume",
    "  g                   give it more: fusebox grant",
    "  e, Enter            tell its story: fusebox explain",
    "  Ctrl-Z              back to the shell; fg comes back",
    "  q, Esc              leave; from a story or from these keys, back to the tree",
    "  Ctrl-C              leave",
    "",
    "What is spent in a minute is a mean of the last ten.",
];

impl ScreenState {
    /// Says what a command about a line came to.
    pub fn say(&mut self, words: String, about: Option<ItemId>) {
        (self.said, self.about, self.shown) = (words, about, None);
    }

    /// Drops what was said where its line has changed since, or after a while.
    pub fn follow(&mut self, view: &View, now: Moment) {
        if self.said.is_empty() {
            return;
        }
        let line = view.items.iter().find(|item| Some(&item.id) == self.about.as_ref());
        let standing = line.map(|item| item.standing.clone());
        match &self.shown {
            None => self.shown = Some((now, standing)),
            Some((at, then)) if *then != standing || now.since(*at) >= NOTICE_MS => self.say(String::new(), None),
            Some(_) => {}
        }
    }

    /// Returns the number of the chosen line.
    pub fn at(&self, view: &View) -> usize {
        view.items.iter().position(|item| Some(&item.id) == self.chosen.as_ref()).unwrap_or(0)
    }

    /// Takes a key.
    pub fn update(&mut self, view: &View, key: Key) -> Action {
        match key {
            Key::Interrupt => return Action::Quit,
            Key::Suspend => return Action::Suspend,
            _ => {}
        }
        match std::mem::take(&mut self.stage) {
            Stage::Tree => self.in_tree(view, key),
            Stage::Confirm(_, command) if matches!(key, Key::Letter('y' | 'Y')) => Action::Give(command),
            Stage::Confirm(..) => {
                self.say("nothing was changed".to_owned(), None);
                Action::Draw
            }
            Stage::Amount(id, text) => self.in_amount(view, id, text, key),
            Stage::Text(lines, from) => {
                let last = lines.len().saturating_sub(1);
                let from = match key {
                    Key::Up | Key::Letter('k') => from.saturating_sub(1),
                    Key::Down | Key::Letter('j') => from + 1,
                    Key::PageUp => from.saturating_sub(PAGE),
                    Key::PageDown | Key::Letter(' ') => from + PAGE,
                    Key::Home => 0,
                    Key::End => last,
                    _ => return Action::Draw,
                };
                self.stage = Stage::Text(lines, from.min(last));
                Action::Draw
            }
        }
    }

    fn in_tree(&mut self, view: &View, key: Key) -> Action {
        let (at, last) = (self.at(view), view.items.len().saturating_sub(1));
        let to = match key {
            Key::Up | Key::Letter('k') => at.saturating_sub(1),
            Key::Down | Key::Letter('j') => at + 1,
            Key::PageUp => at.saturating_sub(PAGE),
            Key::PageDown => at + PAGE,
            Key::Home => 0,
            Key::End => last,
            Key::Letter('q') | Key::Escape => return Action::Quit,
            Key::Letter('?' | 'h') => {
                self.stage = Stage::Text(HELP.map(str::to_owned).to_vec(), 0);
                return Action::Draw;
            }
            Key::Letter(letter) => return self.ask(view, at, letter),
            Key::Enter => return self.ask(view, at, 'e'),
            Key::Backspace | Key::Interrupt | Key::Suspend => return Action::Draw,
        };
        self.chosen = view.items.get(to.min(last)).map(|item| item.id.clone());
        Action::Draw
    }

    /// Asks before a command about the line at `at`; what only looks is not asked about.
    fn ask(&mut self, view: &View, at: usize, letter: char) -> Action {
        let Some(item) = view.items.get(at) else { return Action::Draw };
        self.chosen = Some(item.id.clone());
        let what = if item.id.run.is_none() { format!("session {}", item.name) } else { item.name.clone() };
        let with = match view.below(at) {
            0 => String::new(),
            1 => " and the one below it".to_owned(),
            below => format!(" and the {below} below it"),
        };
        let id = item.id.clone();
        self.say(String::new(), None);
        self.stage = match letter {
            'p' => Stage::Confirm(format!("Pause {what}{with}?"), SessionCommand::Pause(id)),
            's' => Stage::Confirm(format!("Stop {what}{with}?"), SessionCommand::Stop(id)),
            'r' => Stage::Confirm(format!("Let {what} go on?"), SessionCommand::Resume(id)),
            'g' if item.proposal.is_empty() => {
                self.say(format!("{what} has no limit of its own to give more of; its session may have"), None);
                Stage::Tree
            }
            'g' => Stage::Amount(id, item.proposal.clone()),
            'e' => return Action::Give(SessionCommand::Explain(id)),
            _ => Stage::Tree,
        };
        Action::Draw
    }

    fn in_amount(&mut self, view: &View, id: ItemId, mut text: String, key: Key) -> Action {
        match key {
            Key::Enter if !text.trim().is_empty() => {
                let name = view.items.iter().find(|item| item.id == id).map_or("it", |item| item.name.as_str());
                let what = format!("Give {name} {}?", text.trim());
                self.stage = Stage::Confirm(what, SessionCommand::Grant(id, text));
                return Action::Draw;
            }
            Key::Enter | Key::Escape => {
                self.say("nothing was granted".to_owned(), None);
                return Action::Draw;
            }
            Key::Backspace => drop(text.pop()),
            Key::Letter(letter) if text.len() < LONGEST && (' '..='~').contains(&letter) => text.push(letter),
            _ => {}
        }
        self.stage = Stage::Amount(id, text);
        Action::Draw
    }
}
