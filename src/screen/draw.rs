//! Draws a view.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};

use crate::domain::billing::Billing;
use crate::domain::session::Status;
use crate::screen::item::{Gauge, Item, STATE};
use crate::screen::update::{ScreenState, Stage};
use crate::screen::view::{View, counts};
use crate::ui::formats::{by_number, counted};
use crate::ui::style::{Colour, cut, cut_before_figure, length, tokens};
use crate::ui::terminal::plain;
use crate::ui::wrap;

/// Per cent from which a gauge is yellow, and red.
const NEAR: u128 = 80;
const LAST: u128 = 95;
/// Cells of a gauge in the tree, and of one below it.
const CELLS: u16 = 10;
const WIDE_CELLS: u16 = 20;
/// How wide the word for a limit is. On a narrow screen it stands without a gauge: the room is for what an agent waits for.
const WORD: u16 = 6;
/// The narrowest screen that has all columns, and the one that has wide ones.
const ALL_COLUMNS: u16 = 70;
const WIDE: u16 = 110;

/// A part of the screen, and whether it may be coloured.
struct Canvas<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
    colour: Colour,
}

impl Canvas<'_> {
    /// Writes a text on a line, cut to a width; returns the column after it.
    fn put(&mut self, x: u16, y: u16, width: u16, text: &str, style: Style) -> u16 {
        if y >= self.area.height || x >= self.area.width {
            return x;
        }
        let width = width.min(self.area.width - x);
        self.buffer.set_stringn(x, y, cut(text, usize::from(width)), usize::from(width), style).0
    }

    /// Writes a text that ends at a column; nothing where that is 0.
    fn put_right(&mut self, end: u16, y: u16, width: u16, text: &str, style: Style) {
        if end == 0 {
            return;
        }
        let long = u16::try_from(text.chars().count()).unwrap_or(width).min(width);
        self.put(end.saturating_sub(long), y, long, text, style);
    }

    fn ink(&self, colour: Color) -> Style {
        if self.colour == Colour::On { Style::new().fg(colour) } else { Style::new() }
    }

    fn accent(&self) -> Style {
        self.ink(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// Draws a line across with a word in it.
    fn rule(&mut self, y: u16, word: &str) {
        let across = "─".repeat(usize::from(self.area.width));
        self.put(0, y, self.area.width, &across, dim());
        if !word.is_empty() {
            self.put(1, y, self.area.width, &format!(" {word} "), dim());
        }
    }

    fn warning(&self, percent: u128) -> Style {
        self.ink(match percent {
            0..NEAR => Color::Green,
            NEAR..LAST => Color::Yellow,
            _ => Color::Red,
        })
    }

    fn bar(&mut self, x: u16, y: u16, cells: u16, percent: u128) {
        let filled = u16::try_from(percent.min(100) * u128::from(cells) / 100).unwrap_or(cells);
        self.put(x, y, filled, &"━".repeat(usize::from(filled)), self.warning(percent));
        self.put(x + filled, y, cells - filled, &"╌".repeat(usize::from(cells - filled)), dim());
    }
}

fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

/// Draws a view on a whole screen.
pub fn draw(buffer: &mut Buffer, view: &View, state: &ScreenState, colour: Colour) {
    let area = buffer.area;
    if area.width == 0 || area.height == 0 {
        return;
    }
    let mut canvas = Canvas { buffer, area, colour };
    head(&mut canvas, view);
    let foot_at = foot(&mut canvas, view, state);
    if let Stage::Text(lines, from) = &state.stage {
        for (y, line) in (2..foot_at).zip(lines.iter().skip(*from)) {
            canvas.put(1, y, area.width, line, Style::new());
        }
        return;
    }
    let mut top = 1;
    for why in view.waits.iter().take(usize::from(area.height / 8)) {
        let style = canvas.ink(Color::Yellow).add_modifier(Modifier::BOLD);
        canvas.put(0, top, area.width, &format!(" ! {why}"), style);
        top += 1;
    }
    let at = state.at(view);
    let tall = area.height >= 16;
    let trips = if tall { u16::try_from(view.trips.len()).unwrap_or(0).min(area.height / 8) } else { 0 };
    let chosen = view.items.get(at);
    let gauges = chosen.map_or(0, |item| u16::try_from(item.gauges.len()).unwrap_or(0)).min(area.height / 4);
    let gauges = if tall { gauges } else { 0 };
    let below = [gauges, trips].iter().filter(|lines| **lines > 0).map(|lines| lines + 1).sum::<u16>();
    let bottom = foot_at.saturating_sub(below);
    tree(&mut canvas, view, at, top, bottom);
    if let Some(item) = chosen.filter(|_| gauges > 0) {
        canvas.rule(bottom, &item.name);
        for (y, gauge) in (bottom + 1..).zip(item.gauges.iter().take(usize::from(gauges))) {
            limit(&mut canvas, y, gauge);
        }
    }
    if trips > 0 {
        let y = foot_at - trips - 1;
        canvas.rule(y, "last trips");
        for (y, trip) in (y + 1..foot_at).zip(&view.trips) {
            canvas.put(1, y, area.width, trip, Style::new());
        }
    }
}

fn head(canvas: &mut Canvas, view: &View) {
    let width = canvas.area.width;
    let style = canvas.accent();
    let mut x = canvas.put(1, 0, width, "fusebox", style) + 2;
    let mut parts = vec![(counts(view), Style::new())];
    if view.off > 0 {
        let style = canvas.ink(Color::Yellow).add_modifier(Modifier::BOLD);
        parts.insert(0, (format!("limits off in {}", counted(view.off as u64, "session")), style));
    }
    if !view.waits.is_empty() {
        let verb = by_number(view.waits.len() as u64, "waits", "wait");
        let style = canvas.ink(Color::Yellow).add_modifier(Modifier::BOLD);
        parts.insert(0, (format!("{} {verb} for you", view.waits.len()), style));
    }
    let taken = usize::from(x) + parts.iter().map(|(part, _)| length(part) + 2).sum::<usize>();
    let of_spent = view.spent.parts(usize::from(width).saturating_sub(taken)).into_iter();
    parts.extend(of_spent.map(|(part, is_aside)| (part, if is_aside { dim() } else { Style::new() })));
    for (part, style) in parts {
        // A figure is whole or not there; dollars that nobody is billed give way to the tokens before them.
        let forms = [part.as_str(), part.split(", ").next().unwrap_or_default()];
        let fits = |form: &&&str| usize::from(x) + form.chars().count() <= usize::from(width);
        if let Some(form) = forms.iter().find(fits) {
            x = canvas.put(x, 0, width, form, style) + 2;
        }
    }
}

/// Draws what is said or asked at the bottom, else what keys do; returns the line where that begins.
fn foot(canvas: &mut Canvas, view: &View, state: &ScreenState) -> u16 {
    let (width, y) = (canvas.area.width, canvas.area.height - 1);
    let accent = canvas.accent();
    match &state.stage {
        Stage::Confirm(question, _) => {
            let (top, x) = words(canvas, question, 5);
            canvas.put(x + 1, y, width, "y/n", accent);
            return top;
        }
        Stage::Amount(_, text) => {
            let x = canvas.put(1, y, width, "Grant: ", bold());
            let x = canvas.put(x, y, width, &plain(text), accent);
            let x = canvas.put(x, y, 1, "▏", accent);
            canvas.put(x + 1, y, width, "Enter goes on, Esc leaves", dim());
        }
        Stage::Text(..) => keys(canvas, y, &[("↑↓", "move"), ("q", "back"), ("Ctrl-C", "quit")]),
        Stage::Tree if !state.said.is_empty() => return words(canvas, &state.said, 1).0,
        Stage::Tree if view.items.is_empty() => keys(canvas, y, &[("?", "keys"), ("q", "quit")]),
        Stage::Tree => keys(
            canvas,
            y,
            &[
                ("q", "quit"),
                ("p", "pause"),
                ("r", "resume"),
                ("s", "stop"),
                ("g", "grant"),
                ("e", "explain"),
                ("?", "keys"),
            ],
        ),
    }
    y
}

/// Writes words at the bottom, on as many lines as they need, with so many columns left free; returns the first line, and the column
/// after the last word.
fn words(canvas: &mut Canvas, words: &str, free: u16) -> (u16, u16) {
    let area = canvas.area;
    let text = wrap::sentence(&plain(words), usize::from(area.width.saturating_sub(free).max(1)), " ");
    let most = usize::from((area.height / 3).max(1));
    let lines: Vec<&str> = text.lines().take(most).collect();
    let top = area.height - u16::try_from(lines.len()).unwrap_or(1).clamp(1, area.height);
    let mut x = 1;
    for (y, line) in (top..area.height).zip(lines) {
        x = canvas.put(0, y, area.width.saturating_sub(free), line, bold());
    }
    (top, x)
}

fn keys(canvas: &mut Canvas, y: u16, keys: &[(&str, &str)]) {
    let (mut x, width) = (1, canvas.area.width);
    for (key, what) in keys {
        let style = canvas.accent();
        x = canvas.put(x, y, width, key, style) + 1;
        x = canvas.put(x, y, width.saturating_sub(x), what, dim()) + 2;
    }
}

/// Where the columns of the tree end, from the left; 0 for those that are not there.
struct Columns {
    name: u16,
    turns: u16,
    tokens: u16,
    cost: u16,
    gauge: u16,
    /// How long a cost is.
    paid: u16,
    /// How long a bar is.
    cells: u16,
}

impl Columns {
    /// Lays out the columns. Where a plan pays, tokens come first, and list prices only where there is room for them.
    fn of(width: u16, view: &View) -> Columns {
        let name = match width {
            WIDE.. => 38,
            ALL_COLUMNS.. => 25,
            _ => width.saturating_sub(16).max(8),
        };
        if width < ALL_COLUMNS {
            return Columns { name, turns: 0, tokens: 0, cost: 0, gauge: 0, paid: 0, cells: 0 };
        }
        let turns = name + 15;
        let longest = view.items.iter().map(|item| length(item.bare_cost()) + 1).max();
        let paid = u16::try_from(longest.unwrap_or(0)).unwrap_or(width).clamp(9, width / 4);
        let (tokens, cost) = match view.billing {
            Billing::Tokens => (0, turns + paid),
            Billing::Plan if width >= WIDE => (turns + 9, turns + 9 + paid.max(12)),
            Billing::Plan => (turns + 9, 0),
        };
        let cells = if width >= WIDE { CELLS } else { 0 };
        let gauge = tokens.max(cost) + WORD + 6 + cells + u16::from(cells > 0);
        Columns { name, turns, tokens, cost, gauge, paid, cells }
    }
}

fn tree(canvas: &mut Canvas, view: &View, at: usize, top: u16, bottom: u16) {
    let width = canvas.area.width;
    if view.items.is_empty() {
        canvas.put(1, top + 1, width, "No session is at work.", dim());
        return;
    }
    let columns = Columns::of(width, view);
    let has_head = canvas.area.height >= 8;
    if has_head {
        canvas.put(2, top, columns.name, "SESSION, RUN", dim());
        canvas.put(columns.name + 1, top, STATE, "STATE", dim());
        if columns.gauge > 0 {
            let cost = if view.billing == Billing::Plan { "LIST PRICE" } else { "COST" };
            canvas.put_right(columns.turns, top, 6, "CALLS", dim());
            canvas.put_right(columns.tokens, top, 9, "TOKENS", dim());
            canvas.put_right(columns.cost, top, 10, cost, dim());
            let limit = if columns.cells > 0 { "NEAREST LIMIT" } else { "LIMIT" };
            canvas.put(columns.tokens.max(columns.cost) + 2, top, columns.cells + 6, limit, dim());
            canvas.put(columns.gauge + 2, top, width, "NOW", dim());
        }
    }
    let top = top + u16::from(has_head);
    let lines = usize::from(bottom.saturating_sub(top));
    let first = at.saturating_sub(lines / 2).min(view.items.len().saturating_sub(lines));
    for (y, (number, item)) in (top..bottom).zip(view.items.iter().enumerate().skip(first)) {
        row(canvas, y, item, &columns, number == at);
    }
}

fn row(canvas: &mut Canvas, y: u16, item: &Item, columns: &Columns, is_chosen: bool) {
    let width = canvas.area.width;
    let name_style = match (is_chosen, item.depth) {
        (true, _) => canvas.accent(),
        (false, 0) => bold(),
        (false, _) => Style::new(),
    };
    canvas.put(0, y, 1, if is_chosen { "▸" } else { " " }, name_style);
    let indent = u16::try_from(item.depth * 2).unwrap_or(0).min(columns.name / 2);
    let room = columns.name.saturating_sub(2 + indent);
    canvas.put(2 + indent, y, room, &fitting(item, usize::from(room)), name_style);
    let colour = match item.status {
        _ if item.waits => Color::Yellow,
        Status::Running => Color::Green,
        Status::Paused => Color::Yellow,
        Status::Failed | Status::Stopped => Color::Red,
        Status::Completed | Status::Orphaned => Color::Reset,
    };
    let (style, word) = (canvas.ink(colour), if item.waits { "waits" } else { item.state() });
    canvas.put(columns.name + 1, y, STATE, word, style);
    if columns.gauge == 0 {
        if let Some(gauge) = item.nearest() {
            canvas.put_right(width, y, 5, &format!("{}%", gauge.percent), Style::new());
        }
        return;
    }
    canvas.put_right(columns.turns, y, 6, &item.turns.to_string(), Style::new());
    canvas.put_right(columns.tokens, y, 9, &tokens(item.tokens), Style::new());
    canvas.put_right(columns.cost, y, columns.paid, item.bare_cost(), Style::new());
    if let Some(gauge) = item.nearest() {
        let (word, style) = (columns.tokens.max(columns.cost) + 2, canvas.warning(gauge.percent));
        canvas.put(word, y, WORD, gauge.word(), style);
        canvas.bar(word + WORD + 1, y, columns.cells, gauge.percent);
        canvas.put_right(columns.gauge, y, 5, &format!("{}%", gauge.percent), Style::new());
    }
    let style = if item.waits { canvas.ink(Color::Yellow) } else { Style::new() };
    let room = usize::from(width.saturating_sub(columns.gauge + 2));
    canvas.put(columns.gauge + 2, y, width, &cut_before_figure(&item.doing, room), style);
}

/// Returns the name of an item in so much room: of a run its type is cut, since its id is what orders take.
fn fitting(item: &Item, room: usize) -> String {
    match item.name.rsplit_once(' ').filter(|_| item.depth > 0) {
        Some((kind, id)) if room > id.len() + 3 => format!("{} {id}", cut(kind, room - id.len() - 1)),
        _ => item.name.clone(),
    }
}

fn limit(canvas: &mut Canvas, y: u16, gauge: &Gauge) {
    let (width, label) = (canvas.area.width, if canvas.area.width >= WIDE { 34 } else { 26 });
    canvas.put(1, y, label - 1, &gauge.label, Style::new());
    let cells = if width >= WIDE { WIDE_CELLS } else { CELLS };
    canvas.bar(label + 1, y, cells, gauge.percent);
    let reading = &gauge.reading;
    let x = canvas.put(label + cells + 2, y, width, &reading.figures(), Style::new());
    canvas.put(x + 2, y, width, &format!("{}  {}", plain(&reading.limit), reading.layer), dim());
}
