//! Tables of text that fit the page. By hand: columns that matter less give way first, and `comfy-table` ranks none.

use crate::ui::style::{Style, Terminal, cut, cut_front, length, plain};

/// The narrowest that a column of text is cut to before others give way.
const NARROWEST: usize = 12;
/// What stands between two columns.
const GAP: usize = 2;

/// How a column is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text, flush left.
    Left,
    /// Figures, flush right.
    Right,
    /// A path, flush left; it may be cut in front.
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

/// Writes rows below the columns' headings; each row has a style and a cell for every column.
pub fn table(columns: &[Column], rows: &[(Style, Vec<String>)], terminal: &Terminal) -> String {
    let rows: Vec<(Style, Vec<String>)> =
        rows.iter().map(|(style, cells)| (*style, cells.iter().map(|cell| plain(cell)).collect())).collect();
    let shown = fit(columns, &rows, terminal.width);
    let heads: Vec<String> = columns.iter().map(|column| column.head.to_owned()).collect();
    let mut text = terminal.paint(Style::Bold, &line(columns, &shown, &heads)) + "\n";
    for (style, cells) in &rows {
        text.push_str(&terminal.paint(*style, &line(columns, &shown, cells)));
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

/// Returns the columns that fit, each as its place and its width.
fn fit(columns: &[Column], rows: &[(Style, Vec<String>)], terminal: usize) -> Vec<(usize, usize)> {
    let wide = |at: usize| {
        let cells = rows.iter().filter_map(|(_, cells)| cells.get(at)).map(|cell| length(cell));
        cells.max().unwrap_or(0).max(length(columns[at].head))
    };
    let mut shown: Vec<(usize, usize)> = (0..columns.len()).map(|at| (at, wide(at))).collect();
    loop {
        let total = shown.iter().map(|(_, width)| width + GAP).sum::<usize>().saturating_sub(GAP);
        let over = total.saturating_sub(terminal);
        let path = shown.iter_mut().find(|(at, width)| columns[*at].align == Align::Path && *width >= NARROWEST + over);
        match (over, path) {
            (0, _) => return shown,
            (_, Some((_, width))) => *width -= over,
            _ => {
                let least = shown.iter().enumerate().max_by_key(|(_, (at, _))| columns[*at].rank);
                let Some((least, _)) = least.filter(|(_, (at, _))| columns[*at].rank > 0) else { return shown };
                shown.remove(least);
            }
        }
    }
}

fn line(columns: &[Column], shown: &[(usize, usize)], cells: &[String]) -> String {
    let cell = |(at, width): &(usize, usize)| {
        let text = cells.get(*at).map_or("", String::as_str);
        let width = *width;
        match columns[*at].align {
            Align::Left => format!("{:width$}", cut(text, width)),
            Align::Right => format!("{:>width$}", cut(text, width)),
            Align::Path => format!("{:width$}", cut_front(text, width)),
        }
    };
    let cells: Vec<String> = shown.iter().map(cell).collect();
    cells.join(&" ".repeat(GAP)).trim_end().to_owned()
}
