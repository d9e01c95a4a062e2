//! What the screen looks like, and what its keys do.

use insta::assert_snapshot;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Color;

use crate::domain::billing::Billing;
use crate::domain::moment::Moment;
use crate::domain::session::Status;
use crate::screen::draw::draw;
use crate::screen::item::tests::reading;
use crate::screen::item::{Gauge, Item, ItemId};
use crate::screen::spent::Spent;
use crate::screen::update::{Action, ScreenState, SessionCommand, Stage};
use crate::screen::view::View;
use crate::ui::key::Key;
use crate::ui::style::Colour;
use crate::ui::terminal::plain;

fn item(name: &str, depth: usize, status: Status, gauges: Vec<Gauge>) -> Item {
    Item {
        id: ItemId { session: "s1".to_owned(), run: (depth > 0).then(|| name.to_owned()) },
        depth,
        name: plain(name),
        standing: status.word().to_owned(),
        status,
        turns: 17,
        tokens: 1_234_567,
        cost: "0.42 USD".to_owned(),
        doing: String::new(),
        waits: false,
        gauges,
        proposal: "max_turns=+12".to_owned(),
    }
}

fn view() -> View {
    const CENT: u64 = 10_000_000_000;
    let gauge = |key, used, cap| Gauge::of(&reading(key, used, cap), Billing::Tokens);
    let (calls, cost) = (gauge("max_turns", 17, 25), gauge("max_cost_usd", 96 * CENT, 100 * CENT));
    let session = vec![gauge("max_cost_usd", 810 * CENT, 1_000 * CENT)];
    let mut items = vec![
        item("5f0c1d2e shop", 0, Status::Running, session),
        item("main b7e1f0aa", 1, Status::Running, Vec::new()),
        item("developer a1b2c3d4", 2, Status::Running, vec![calls.clone(), cost]),
        item("qa\u{202e}\x1b[2J 語 c3d4e5f6", 2, Status::Paused, vec![calls]),
    ];
    items[0].waits = true;
    items[1].doing = "model 8s".to_owned();
    (items[2].doing, items[2].waits) = ("asks for more, 2h".to_owned(), true);
    let [today, a_minute, day] = ["8.10 USD", "0.12 USD", "93.40 USD"].map(str::to_owned);
    View {
        billing: Billing::Tokens,
        spent: Spent { today, a_minute: Some(a_minute), day: Some(day) },
        at_work: 2,
        off: 0,
        waits: vec!["developer a1b2c3d4 in shop: asks for more of max_cost_usd".to_owned()],
        items,
        trips: vec!["#12  3m  qa c3d4e5f6 max_turns 25/25 terminate".to_owned()],
    }
}

fn buffer(width: u16, height: u16, state: &ScreenState, colour: Colour) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    draw(&mut buffer, &view(), state, colour);
    buffer
}

/// Returns the lines of a screen, each with its end marked.
fn lines(buffer: &Buffer) -> Vec<String> {
    let lines = buffer.content().chunks(usize::from(buffer.area.width));
    let line = |cells: &[ratatui_core::buffer::Cell]| cells.iter().map(|cell| cell.symbol()).collect::<String>();
    lines.map(|cells| format!("{}|\n", line(cells).trim_end())).collect()
}

fn drawn(width: u16, height: u16, state: &ScreenState) -> String {
    lines(&buffer(width, height, state, Colour::Off)).concat()
}

fn chosen(name: &str) -> ScreenState {
    ScreenState {
        chosen: Some(ItemId { session: "s1".to_owned(), run: Some(name.to_owned()) }),
        ..ScreenState::default()
    }
}

#[test]
fn it_fits_eighty_columns() {
    assert_snapshot!(drawn(80, 24, &chosen("developer a1b2c3d4")), @r"
     fusebox  1 waits for you  2 agents at work  0.12 USD/min  today 8.10 USD|
     ! developer a1b2c3d4 in shop: asks for more of max_cost_usd|
      SESSION, RUN            STATE    CALLS     COST  LIMIT       NOW|
      5f0c1d2e shop           waits       17     0.42  cost   81%|
        main b7e1f0aa         running     17     0.42              model 8s|
    ▸     developer a1b2c3d4  waits       17     0.42  cost   96%  asks for more, 2h|
          qa\u202e\… c3d4e5f6 paused      17     0.42  calls  68%|
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    ─ developer a1b2c3d4 ───────────────────────────────────────────────────────────|
     tool calls                ━━━━━━╌╌╌╌ 17/25  max_turns  project|
     cost                      ━━━━━━━━━╌ 0.96/1.00 USD  max_cost_usd  project|
    ─ last trips ───────────────────────────────────────────────────────────────────|
     #12  3m  qa c3d4e5f6 max_turns 25/25 terminate|
     q quit  p pause  r resume  s stop  g grant  e explain  ? keys|
    ");
}

#[test]
fn a_wide_screen_shows_more() {
    assert_snapshot!(drawn(120, 40, &ScreenState::default()), @r"
     fusebox  1 waits for you  2 agents at work  0.12 USD/min  today 8.10 USD  at this pace 93.40 USD  (mean of 10 min)|
     ! developer a1b2c3d4 in shop: asks for more of max_cost_usd|
      SESSION, RUN                         STATE    CALLS     COST  NEAREST LIMIT          NOW|
    ▸ 5f0c1d2e shop                        waits       17     0.42  cost   ━━━━━━━━╌╌ 81%|
        main b7e1f0aa                      running     17     0.42                         model 8s|
          developer a1b2c3d4               waits       17     0.42  cost   ━━━━━━━━━╌ 96%  asks for more, 2h|
          qa\u202e\u001b[2J 語  c3d4e5f6    paused      17     0.42  calls  ━━━━━━╌╌╌╌ 68%|
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    ─ 5f0c1d2e shop ────────────────────────────────────────────────────────────────────────────────────────────────────────|
     cost                              ━━━━━━━━━━━━━━━━╌╌╌╌ 8.10/10.00 USD  max_cost_usd  project|
    ─ last trips ───────────────────────────────────────────────────────────────────────────────────────────────────────────|
     #12  3m  qa c3d4e5f6 max_turns 25/25 terminate|
     q quit  p pause  r resume  s stop  g grant  e explain  ? keys|
    ");
}

#[test]
fn where_a_plan_pays_tokens_come_first_and_dollars_are_list_prices() {
    let [today, a_minute, day] =
        ["1.20M tokens, 8.10 USD list price", "12.3k tokens", "9.87M tokens, 93.40 USD list price"];
    let spent = Spent { today: today.to_owned(), a_minute: Some(a_minute.to_owned()), day: Some(day.to_owned()) };
    let view = View { billing: Billing::Plan, spent, items: view().items, ..View::default() };
    let heads = [80, 112].map(|width| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, 8));
        draw(&mut buffer, &view, &ScreenState::default(), Colour::Off);
        lines(&buffer)[..3].join("")
    });
    assert_snapshot!(heads.concat(), @r"
     fusebox  0 agents at work  12.3k tokens/min  today 1.20M tokens|
      SESSION, RUN            STATE    CALLS   TOKENS  LIMIT       NOW|
    ▸ 5f0c1d2e shop           waits       17    1.23M  cost   81%|
     fusebox  0 agents at work  12.3k tokens/min  today 1.20M tokens, 8.10 USD list price  at this pace 9.87M tokens|
      SESSION, RUN                         STATE    CALLS   TOKENS  LIST PRICE  NEAREST LIMIT          NOW|
    ▸ 5f0c1d2e shop                        waits       17    1.23M        0.42  cost   ━━━━━━━━╌╌ 81%|
    ");
}

#[test]
fn a_line_says_which_limit_its_figure_is_of() {
    for width in [70, 80, 109, 110, 200] {
        let text = drawn(width, 24, &ScreenState::default());
        let told: Vec<&str> = text.lines().filter(|line| line.contains('%')).collect();
        let says = |line: &&str| ["  cost ", "  calls "].iter().any(|word| line.contains(word));
        assert!(told.len() >= 3 && told.iter().all(says), "{width}:\n{text}");
    }
}

#[test]
fn a_small_screen_shows_what_fits() {
    assert_snapshot!(drawn(40, 10, &ScreenState::default()), @r"
     fusebox  1 waits for you  0.12 USD/min|
     ! developer a1b2c3d4 in shop: asks for…|
      SESSION, RUN           STATE|
    ▸ 5f0c1d2e shop          waits       81%|
        main b7e1f0aa        running|
          developer a1b2c3d4 waits       96%|
          qa\u202e… c3d4e5f6 paused      68%|
    |
    |
     q quit  p pause  r resume  s stop  g g…|
    ");
}

#[test]
fn no_size_is_too_small() {
    let asks = ScreenState { stage: Stage::Text(vec!["語".repeat(100)], 0), ..ScreenState::default() };
    for (width, height) in (0..45).flat_map(|width| (0..20).map(move |height| (width, height))) {
        buffer(width, height, &ScreenState::default(), Colour::On);
        buffer(width, height, &asks, Colour::Off);
    }
}

#[test]
fn without_colour_nothing_is_coloured_and_with_it_gauges_warn() {
    let colours = |colour| {
        let cells = buffer(80, 24, &ScreenState::default(), colour);
        let mut colours: Vec<Color> = cells.content().iter().map(|cell| cell.fg).collect();
        colours.sort_by_key(|colour| format!("{colour:?}"));
        colours.dedup();
        colours
    };
    assert_eq!(colours(Colour::Off), [Color::Reset]);
    assert_eq!(colours(Colour::On), [Color::Cyan, Color::Green, Color::Red, Color::Reset, Color::Yellow]);
}

#[test]
fn an_order_is_given_once_it_is_confirmed() {
    let (view, mut state) = (view(), chosen("developer a1b2c3d4"));
    let id = state.chosen.clone().unwrap();
    for (key, order) in [
        ('p', SessionCommand::Pause(id.clone())),
        ('s', SessionCommand::Stop(id.clone())),
        ('r', SessionCommand::Resume(id.clone())),
    ] {
        for (answer, action) in [('y', Action::Give(order)), ('n', Action::Draw)] {
            assert_eq!(state.update(&view, Key::Letter(key)), Action::Draw);
            assert_eq!(state.update(&view, Key::Letter(answer)), action);
        }
    }
    state.update(&view, Key::Letter('g'));
    state.update(&view, Key::Backspace);
    state.update(&view, Key::Letter('5'));
    assert_eq!(state.update(&view, Key::Enter), Action::Draw);
    assert!(
        matches!(&state.stage, Stage::Confirm(question, _) if question.ends_with("max_turns=+15?")),
        "{:?}",
        state.stage
    );
    assert_eq!(
        state.update(&view, Key::Letter('y')),
        Action::Give(SessionCommand::Grant(id, "max_turns=+15".to_owned()))
    );
    let mut view = view;
    view.items[2].proposal.clear();
    state.update(&view, Key::Letter('g'));
    assert!(state.stage == Stage::Tree && state.said.contains("no limit of its own"), "{state:?}");
}

#[test]
fn what_a_confirmation_holds_is_counted() {
    let (view, mut state) = (view(), ScreenState::default());
    state.update(&view, Key::Letter('s'));
    let Stage::Confirm(question, _) = &state.stage else { panic!("{state:?}") };
    assert_eq!(question, "Stop session 5f0c1d2e shop and the 2 below it?");
}

#[test]
fn what_an_order_came_to_is_shown_until_its_line_changes_and_for_half_a_minute_at_most() {
    let at = |seconds: u64| Moment { mono_ms: seconds * 1_000, boot: 1, ..Moment::default() };
    let paused = "session 5f0c1d2e is paused; that takes effect at its next event";
    let id = Some(ItemId { session: "s1".to_owned(), run: None });
    for (about, changes, seconds, stays) in [
        (&id, false, 29, true),
        (&id, false, 30, false),
        (&id, true, 1, false),
        (&None, true, 29, true),
        (&None, false, 30, false),
    ] {
        let (mut view, mut state) = (view(), ScreenState::default());
        state.say(paused.to_owned(), about.clone());
        state.follow(&view, at(0));
        if changes {
            view.items[0].standing = "may go on".to_owned();
        }
        state.follow(&view, at(seconds));
        assert_eq!(state.said.is_empty(), !stays, "{about:?} {changes} {seconds}");
    }
}

#[test]
fn a_cost_that_says_whose_it_is_has_room() {
    for (billing, width) in [(Billing::Tokens, 80), (Billing::Plan, 120)] {
        let mut view = View { billing, ..view() };
        view.items[0].cost = "client 1234.56 USD".to_owned();
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, 24));
        draw(&mut buffer, &view, &ScreenState::default(), Colour::Off);
        let shown = lines(&buffer).concat();
        let end = |cost: &str| {
            shown.lines().find_map(|line| Some(line[..line.find(cost)?].chars().count() + cost.trim_end().len()))
        };
        let (first, second) = (end("client 1234.56  "), end("0.42  "));
        assert!(first.is_some() && first == second && shown.contains(" client 1234.56"), "{shown}");
    }
}

#[test]
fn a_long_line_at_the_bottom_goes_on_in_the_next() {
    let mut state = ScreenState::default();
    state.say("error: no run of this session is held; `fusebox status` shows what is".to_owned(), None);
    assert_snapshot!(drawn(40, 10, &state).lines().skip(7).collect::<Vec<_>>().join("\n"), @r"
    |
     error: no run of this session is held;|
       `fusebox status` shows what is|
    ");
    let stage = Stage::Confirm(
        "Stop session 5f0c1d2e shop and the 2 below it?".to_owned(),
        SessionCommand::Stop(ItemId { session: "s1".to_owned(), run: None }),
    );
    let asks = ScreenState { stage, ..ScreenState::default() };
    assert_snapshot!(drawn(40, 10, &asks).lines().skip(8).collect::<Vec<_>>().join("\n"), @r"
     Stop session 5f0c1d2e shop and the|
       2 below it? y/n|
    ");
}

#[test]
fn q_leads_back_from_a_story_and_leaves_from_the_tree() {
    let (view, mut state) = (view(), ScreenState::default());
    for (key, of_story, of_tree) in [
        (Key::Letter('q'), Action::Draw, Action::Quit),
        (Key::Escape, Action::Draw, Action::Quit),
        (Key::Interrupt, Action::Quit, Action::Quit),
    ] {
        state.stage = Stage::Text(vec!["a story".to_owned()], 0);
        assert!(drawn(40, 10, &state).contains("q back  Ctrl-C quit"));
        assert_eq!(state.update(&view, key), of_story, "{key:?}");
        state.stage = Stage::Tree;
        assert_eq!(state.update(&view, key), of_tree, "{key:?}");
    }
}
