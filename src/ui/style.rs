//! The page a report is written on: its width, its colours, its time zone.

use anstyle::AnsiColor;

use crate::calendar::Zone;
use crate::domain::billing::{Billing, CostSource};
use crate::domain::limit::LIST_PRICE;
use crate::domain::spend::amount::Amount;
pub use crate::ui::terminal::plain;
use crate::ui::wrap;

/// Whether text may carry colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// A terminal that wants them.
    On,
    /// A pipe, a file, or NO_COLOR.
    Off,
}

/// How a piece of text stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Not at all.
    Plain,
    /// A heading.
    Bold,
    /// Of little importance.
    Dim,
    /// All is well.
    Green,
    /// Nearly used up.
    Yellow,
    /// Used up, or ended.
    Red,
}

impl From<Style> for anstyle::Style {
    fn from(style: Style) -> anstyle::Style {
        let plain = anstyle::Style::new();
        match style {
            Style::Plain => plain,
            Style::Bold => plain.bold(),
            Style::Dim => plain.dimmed(),
            Style::Green => AnsiColor::Green.on_default(),
            Style::Yellow => AnsiColor::Yellow.on_default(),
            Style::Red => AnsiColor::Red.on_default(),
        }
    }
}

/// The page.
#[derive(Clone, Debug)]
pub struct Terminal {
    /// How many characters fit a line.
    pub width: usize,
    /// Whether text may carry colours.
    pub colour: Colour,
    /// The zone that times are shown in.
    pub zone: Zone,
    /// How many characters fit a line of a table; where there is no terminal, any number.
    pub table_width: usize,
    /// How whoever reads it pays: then dollars are prices paid, or list prices and no bill.
    pub billing: Billing,
    /// Which cost of a session stands first.
    pub cost_source: CostSource,
    /// The folder that commands are typed in.
    pub folder: String,
}

impl Terminal {
    /// Returns the text in a style.
    pub fn paint(&self, style: Style, text: &str) -> String {
        let style = anstyle::Style::from(style);
        match self.colour {
            Colour::On if !text.is_empty() => format!("{style}{text}{style:#}"),
            _ => text.to_owned(),
        }
    }

    /// Returns an amount of dollars as what it is to the reader: `0.42 USD`, `0.42 USD list price`.
    pub fn dollars(&self, amount: Amount) -> String {
        match self.billing {
            Billing::Tokens => amount.to_string(),
            Billing::Plan => format!("{amount} {LIST_PRICE}"),
        }
    }

    /// Returns what is spent, the first what the reader pays by: `0.42 USD`, `12k tokens, 0.42 USD list price`.
    pub fn spent(&self, count: u64, amount: Amount) -> String {
        match self.billing {
            Billing::Tokens => amount.to_string(),
            Billing::Plan => format!("{} tokens, {}", tokens(count), self.dollars(amount)),
        }
    }

    /// Returns the client's own total of a session, where it stands first.
    pub fn client_first(&self, client: Option<Amount>) -> Option<Amount> {
        client.filter(|_| self.cost_source == CostSource::Client)
    }

    /// Sets parts behind each other into lines of the page's width, each after `indent`, those after the first two spaces deeper.
    pub fn parts(&self, indent: &str, parts: &[String]) -> String {
        wrap::parts(parts, self.width, indent)
    }

    /// Breaks a sentence into lines of the page's width, each after `indent`, those after the first two spaces deeper.
    pub fn wrap(&self, indent: &str, sentence: &str) -> String {
        wrap::sentence(sentence, self.width, indent)
    }

    /// Sets what is to be done, commands that are whole, into lines of the page's width, each after `indent`.
    pub fn steps(&self, indent: &str, steps: &str) -> String {
        wrap::steps(steps, self.width, indent)
    }
}

/// Returns how many characters a text has.
pub fn length(text: &str) -> usize {
    text.chars().count()
}

/// Cuts a text to so many characters; what is cut shows as `…`.
pub fn cut(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    kept + "…"
}

/// Cuts a text to so many characters before a figure at its end, which stays whole: a part of it would be another.
pub fn cut_before_figure(text: &str, width: usize) -> String {
    match text.rsplit_once(' ').filter(|_| length(text) > width) {
        Some((words, figure)) if figure.starts_with(|c: char| c.is_ascii_digit()) && width > length(figure) + 2 => {
            format!("{} {figure}", cut(words, width - length(figure) - 1))
        }
        _ => cut(text, width),
    }
}

/// Cuts whole folders off the beginning of a path; its last name stays, however long.
pub fn cut_front(path: &str, width: usize) -> String {
    let cut =
        path.char_indices().skip(1).filter(|(_, c)| matches!(c, '/' | '\\')).map(|(at, _)| format!("…{}", &path[at..]));
    let forms = std::iter::once(path.to_owned()).chain(cut);
    let shortest = || forms.clone().last().unwrap_or_default();
    forms.clone().find(|form| length(form) <= width).unwrap_or_else(shortest)
}

/// Returns a number of tokens as people read it: `999`, `12.3k`, `4.56M`.
pub fn tokens(count: u64) -> String {
    match count {
        0..=9_999 => count.to_string(),
        10_000..=999_949 => format!("{:.1}k", count as f64 / 1e3),
        _ => format!("{:.2}M", count as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_at_the_end_is_never_cut() {
        for (text, width, cut) in [
            ("asks for more, 125s", 17, "asks for mo… 125s"),
            ("asks for more, 12s", 18, "asks for more, 12s"),
            ("dialog: mcp__github__search 3m", 17, "dialog: mcp__… 3m"),
            ("asked for more: nobody answered", 17, "asked for more: …"),
        ] {
            assert_eq!(cut_before_figure(text, width), cut);
        }
    }

    #[test]
    fn text_is_cut_to_its_width_and_a_path_between_its_folders() {
        for (width, front, back) in
            [(9, "/a/b/shop", "/a/b/shop"), (8, "…/b/shop", "/a/b/sh…"), (7, "…/shop", "/a/b/s…"), (1, "…/shop", "…")]
        {
            assert_eq!(cut_front("/a/b/shop", width), front);
            assert_eq!(cut("/a/b/shop", width), back);
        }
        for (path, front) in [("shop", "shop"), ("/", "/"), ("C:\\a\\shop", "…\\shop"), ("", "")] {
            assert_eq!(cut_front(path, 2), front);
        }
    }

    #[test]
    fn tokens_read_short() {
        for (count, shown) in [(0, "0"), (9_999, "9999"), (12_345, "12.3k"), (999_950, "1.00M"), (4_560_000, "4.56M")] {
            assert_eq!(tokens(count), shown);
        }
    }
}
