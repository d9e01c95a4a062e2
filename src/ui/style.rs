//! The page a report is written on: its width, its colours, its time zone.

use crate::calendar::Zone;
pub use crate::ui::terminal::plain;

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

/// Every style with its escape sequence.
const STYLES: [(Style, &str); 6] = [
    (Style::Plain, ""),
    (Style::Bold, "\x1b[1m"),
    (Style::Dim, "\x1b[2m"),
    (Style::Green, "\x1b[32m"),
    (Style::Yellow, "\x1b[33m"),
    (Style::Red, "\x1b[31m"),
];

/// The page.
#[derive(Clone, Debug)]
pub struct Terminal {
    /// How many characters fit a line.
    pub width: usize,
    /// Whether text may carry colours.
    pub colour: Colour,
    /// The zone that times are shown in.
    pub zone: Zone,
}

impl Terminal {
    /// Returns the text in a style.
    pub fn paint(&self, style: Style, text: &str) -> String {
        let code = STYLES.iter().find(|row| row.0 == style).map_or("", |row| row.1);
        match self.colour {
            Colour::On if !code.is_empty() && !text.is_empty() => format!("{code}{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }

    /// Breaks a sentence into lines of the page's width, each after `indent`, those after the first two spaces deeper.
    pub fn wrap(&self, indent: &str, sentence: &str) -> String {
        let mut lines = Vec::new();
        let mut line = indent.to_owned();
        let mut empty = true;
        for word in sentence.split(' ') {
            if !empty && length(&line) + 1 + length(word) > self.width {
                lines.push(std::mem::replace(&mut line, format!("{indent}  ")));
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line.push_str(word);
            empty = false;
        }
        lines.push(line);
        lines.join("\n") + "\n"
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

/// Cuts the beginning off a text, which is what a path can spare.
pub fn cut_front(text: &str, width: usize) -> String {
    let long = length(text);
    if long <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().skip(long + 1 - width.max(1)).collect();
    format!("…{kept}")
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
    fn text_is_cut_to_its_width() {
        for (width, front, back) in [(9, "/a/b/shop", "/a/b/shop"), (6, "…/shop", "/a/b/…"), (1, "…", "…")] {
            assert_eq!(cut_front("/a/b/shop", width), front);
            assert_eq!(cut("/a/b/shop", width), back);
        }
    }

    #[test]
    fn tokens_read_short() {
        for (count, shown) in [(0, "0"), (9_999, "9999"), (12_345, "12.3k"), (999_950, "1.00M"), (4_560_000, "4.56M")] {
            assert_eq!(tokens(count), shown);
        }
    }
}
