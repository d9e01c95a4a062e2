//! Tables of text that fit the page. By hand: columns that matter less give way first, and `comfy-table` ranks none.

use crate::ui::style::{Style, Terminal, cut_front, length, plain};
use crate::ui::wrap::wrap;

/// What stands between two columns.
const GAP: usize = 2;

/// How a column is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text, flush left.
    Left,
    /// Figures, flush right.
    Right,
    /// A path, flush left; it may lack folders in front.
    Path,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its heading.
    pub head: &'static str,
    /// How it is set.
    pub align: Align,
    /// Where the page is too narrow the column with the highest rank is left out first; 0 always stays.
    pub rank: u8,
}

impl Column {
    /// Makes a column.
    pub const fn new(head: &'static str, set: Align, rank: u8) -> Column {
        Column { head, align: set, rank }
    }
}

/// Writes rows below the columns' headings; each row has a style and a cell for every column. No word and no figure is cut.
pub fn table(columns: &[Column], rows: &[(Style, Vec<String>)], terminal: &Terminal) -> String {
    let rows: Vec<(Style, Vec<String>)> =
        rows.iter().map(|(style, cells)| (*style, cells.iter().map(|cell| plain(cell)).collect())).collect();
    let shown = fit(columns, &rows, terminal.table_width);
    let heads: Vec<String> = columns.iter().map(|column| column.head.to_owned()).collect();
    let mut text = terminal.paint(Style::Bold, &lines(columns, &shown, &heads)) + "\n";
    for (style, cells) in &rows {
        text.push_str(&terminal.paint(*style, &lines(columns, &shown, cells)));
        text.push('\n');
    }
    let is_shown = |at: usize| shown.iter().any(|(other, _)| *other == at);
    let hidden: Vec<&str> = columns.iter().enumerate().filter(|(at, _)| !is_shown(*at)).map(|it| it.1.head).collect();
    if !hidden.is_empty() {
        let words = format!("(a wider terminal shows {}, too)", hidden.join(", "));
        text.push_str(&terminal.paint(Style::Dim, &terminal.wrap("", &words)));
    }
    text
}

/// Returns the columns that fit, each as its place and its width: paths lose folders, then columns go, then text is broken at words.
fn fit(columns: &[Column], rows: &[(Style, Vec<String>)], terminal: usize) -> Vec<(usize, usize)> {
    let widest = |at: usize, wide: fn(&str) -> usize| {
        let cells = rows.iter().filter_map(|(_, cells)| cells.get(at)).map(|cell| wide(cell));
        cells.max().unwrap_or(0).max(wide(columns[at].head))
    };
    let mut shown: Vec<(usize, usize)> = (0..columns.len()).map(|at| (at, widest(at, length))).collect();
    loop {
        let total = shown.iter().map(|(_, width)| width + GAP).sum::<usize>().saturating_sub(GAP);
        let over = total.saturating_sub(terminal);
        if over == 0 {
            return shown;
        }
        let is_path = |at: usize| columns[at].align == Align::Path;
        if let Some((_, width)) = shown.iter_mut().find(|it| is_path(it.0) && it.1 >= widest(it.0, last_folder) + over)
        {
            *width -= over;
            continue;
        }
        let least = shown.iter().enumerate().max_by_key(|(_, (at, _))| columns[*at].rank);
        if let Some((least, _)) = least.filter(|(_, (at, _))| columns[*at].rank > 0) {
            shown.remove(least);
            continue;
        }
        let narrowest = |at: usize| widest(at, if is_path(at) { last_folder } else { longest_word });
        let can_give = |(at, width): &(usize, usize)| match columns[*at].align {
            Align::Right => 0,
            Align::Left | Align::Path => width - narrowest(*at),
        };
        let Some(column) = shown.iter_mut().max_by_key(|it| can_give(it)).filter(|it| can_give(it) > 0) else {
            return shown;
        };
        column.1 -= over.min(can_give(column));
    }
}

/// Returns how wide the longest word of a text is.
fn longest_word(text: &str) -> usize {
    text.split_whitespace().map(length).max().unwrap_or(0)
}

/// Returns how wide a path is without the folders above its last name.
fn last_folder(path: &str) -> usize {
    length(&cut_front(path, 0))
}

/// Writes a row; text that is wider than its column goes on below itself.
fn lines(columns: &[Column], shown: &[(usize, usize)], cells: &[String]) -> String {
    let cell = |(at, width): &(usize, usize)| {
        let text = cells.get(*at).map_or("", String::as_str);
        let lines = match columns[*at].align {
            _ if length(text) <= *width => text.to_owned(),
            Align::Left => wrap(text, *width, 0),
            Align::Right => text.to_owned(),
            Align::Path => cut_front(text, *width),
        };
        lines.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let cells: Vec<Vec<String>> = shown.iter().map(cell).collect();
    let high = cells.iter().map(Vec::len).max().unwrap_or(0);
    let line = |number: usize| {
        let set = |((at, width), cell): (&(usize, usize), &Vec<String>)| {
            let (text, width) = (cell.get(number).map_or("", String::as_str), *width);
            match columns[*at].align {
                Align::Right => format!("{text:>width$}"),
                Align::Left | Align::Path => format!("{text:width$}"),
            }
        };
        let cells: Vec<String> = shown.iter().zip(&cells).map(set).collect();
        cells.join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    (0..high).map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::Zone;
    use crate::domain::billing::{Billing, CostSource};
    use crate::ui::style::Colour;

    fn set(width: usize, columns: &[Column], cells: &[&str]) -> String {
        let row = (Style::Plain, cells.iter().map(|cell| (*cell).to_owned()).collect());
        let (billing, cost_source) = (Billing::default(), CostSource::default());
        table(
            columns,
            &[row],
            &Terminal {
                width,
                table_width: width,
                colour: Colour::Off,
                zone: Zone::utc(),
                billing,
                cost_source,
                folder: String::new(),
            },
        )
    }

    #[test]
    fn a_narrow_page_breaks_text_at_words_once_no_column_is_left_to_go() {
        let columns = [
            Column::new("AT", Align::Path, 0),
            Column::new("WHAT", Align::Left, 0),
            Column::new("MORE", Align::Left, 1),
            Column::new("COST", Align::Right, 0),
        ];
        let cells = ["/srv/own/work/shop", "ended by a limit", "unimportant", "1.25 USD"];
        let shown: [(usize, &[&str]); 4] = [
            (
                60,
                &[
                    "AT                  WHAT              MORE             COST",
                    "/srv/own/work/shop  ended by a limit  unimportant  1.25 USD",
                ],
            ),
            (
                52,
                &[
                    "AT           WHAT              MORE             COST",
                    "…/work/shop  ended by a limit  unimportant  1.25 USD",
                ],
            ),
            (
                31,
                &[
                    "AT      WHAT               COST",
                    "…/shop  ended by a     1.25 USD",
                    "        limit",
                    "(a wider terminal shows MORE,",
                    "  too)",
                ],
            ),
            (20, &["AT      WHAT       COST", "…/shop  ended  1.25 USD", "        by a", "        limit"]),
        ];
        for (width, lines) in shown {
            let text = set(width, &columns, &cells);
            let lines = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            assert!(text.starts_with(&lines), "{width}:\n{text}\n{lines}");
        }
    }
}
