//! Behind every bound of what is read of a command, in letters and in disguise: what passes is run by a shell, and does nothing that is
//! refused.

use std::collections::BTreeSet;
use std::fs;

use fusebox::domain::text::shell_word::quoted;

use crate::hidden_forms::values::{lay_out, own};
use crate::hidden_forms::{guard, run};
use crate::world::{TestWorld, in_long_form};

/// Commands that a session refuses, and the word of each that is disguised: `§` stands for it.
const ATTEMPTS: [(&str, &str); 3] =
    [("§ --bare -p X", "claude"), ("§ off", "fusebox"), ("rm §", ".claude/fusebox.json")];

/// Ways to write a word: `W` is all of it, `A` and `B` its halves, `C` the code of its first letter, `R` the rest.
const DISGUISES: &[&str] = &[
    "W",
    "A''B",
    "\"A\"B",
    "A\\B",
    "$'\\xC'R",
    "${x:-W}",
    "A${x}B",
    "A$@B",
    "$!W",
    "${HOME:0:0}W",
    "${x@a}W",
    "${!nope*}W",
    "$(:)W",
    "$(true \\')W",
    "$(echo x >/dev/null)W",
    "A$(:)B",
    "A$(true | true)B",
    "A\"$(x=1)\"B",
    "W$(cat </dev/null)",
    "`:`W",
    "$(:)${x}W",
    "$(echo A)$(:)B",
    "$(echo A)$(cat </dev/null)B",
    "$(echo A)${x}B",
    "{A''B,}",
    "{W,}$(:)",
];

/// The same of many parts.
const LONG_DISGUISES: &[fn(&str, &str) -> String] = &[
    |first, second| format!("{}{first}{second}", "$(:)".repeat(100)),
    |first, second| format!("{first}{}{second}", "$(:)".repeat(300)),
    |first, second| format!("{first}{}{second}", "$(cat </dev/null)".repeat(100)),
    |first, second| format!("{first}{}{second}", "${x}".repeat(300)),
    |first, second| format!("${{x:-{first}{second}{}}}", " ".repeat(1_100)),
    |first, second| format!("$(echo ${{x:-{first}{second}{}}})", " ".repeat(1_100)),
    |first, second| format!("{{{first}''{second},{}}}", "{a,b}".repeat(12)),
    |first, second| format!("{first}{}{second}", "''".repeat(10_000)),
];

fn disguised(word: &str) -> Vec<String> {
    let (first, second) = word.split_at(word.len() / 2);
    let (begin, rest) = word.split_at(1);
    let code = format!("{:x}", begin.as_bytes()[0]);
    let put = |form: &&str| {
        let parts = form.chars().map(|letter| match letter {
            'W' => word.to_owned(),
            'R' => rest.to_owned(),
            'A' => first.to_owned(),
            'B' => second.to_owned(),
            'C' => code.clone(),
            other => other.to_string(),
        });
        parts.collect::<String>()
    };
    DISGUISES.iter().map(put).chain(LONG_DISGUISES.iter().map(|form| form(first, second))).collect()
}

/// The longest command that a shell is given.
const LONGEST: usize = 100_000;

/// Puts a text into another again and again, as often as a command is no longer than a shell takes.
fn put(text: &str, times: usize, into: fn(&str, usize) -> String) -> String {
    let mut text = text.to_owned();
    for at in 0..times {
        let longer = into(&text, at);
        if longer.len() > LONGEST {
            break;
        }
        text = longer;
    }
    text
}

/// Ways to put a command into another, so many times: around every bound that there is.
const NESTS: &[fn(&str, usize) -> String] = &[
    |text, times| "eval ".repeat(times) + text,
    |text, times| "command eval ".repeat(times) + text,
    |text, times| put(text, times, |text, _| format!("sh -c {}", quoted(text))),
    |text, times| put(text, times, |text, _| format!("eval {}", quoted(text))),
    |text, times| put(text, times, |text, _| format!("echo {} | sh", quoted(text))),
    |text, times| put(text, times, |text, at| format!("bash <<'E{at}'\n{text}\nE{at}")),
    |text, times| format!("{}{text}{}", "( ".repeat(times), " )".repeat(times)),
    |text, times| format!("{}{text}{}", "{ ".repeat(times), "; }".repeat(times)),
    |text, times| format!("{}{text} >&2{}", "echo $(".repeat(times), ")".repeat(times)),
    |text, times| format!("{}{text} >&2{}", "echo \"$(".repeat(times), ")\"".repeat(times)),
    |text, times| format!("{}{text} >&2{}", "cat <(".repeat(times), ")".repeat(times)),
    |text, times| "env ".repeat(times) + text,
    |text, times| "nice ".repeat(times) + text,
    |text, times| format!("find . -maxdepth 0{} -exec {text} \\;", " -exec true \\;".repeat(times * 4)),
    |text, times| {
        let functions: String = (1..=times).map(|at| format!("f{at}() {{ f{} \"$@\"; }}; ", at - 1)).collect();
        format!("f0() {{ \"$@\"; }}; {functions}f{times} {text}")
    },
];

/// How often each is done.
const TIMES: [usize; 6] = [1, 2, 6, 7, 17, 30];

/// What stands around a command at a bound of another kind: of counts and of lengths.
const BOUNDS: &[fn(&str) -> String] = &[
    |text| format!("{}{text}", "A=$(echo a) ".repeat(100)),
    |text| format!("{text}{}", " $(echo a)".repeat(100)),
    |text| {
        let others: String = (0..300).map(|at| format!("f{at}() {{ :; }}\n")).collect();
        format!("{others}g() {{ \"$@\"; }}\ng {text}")
    },
    |text| format!("f() {{ {} \"$@\"; }}; f {text}", ": x; ".repeat(300)),
    |text| format!("f() {{ shift 20; \"$@\"; }}; f {} {text}", "x ".repeat(20)),
    |text| format!("f() {{ shift 70; \"$@\"; }}; f {} {text}", "x ".repeat(70)),
    |text| format!("f() {{ \"${{@:71}}\"; }}; f {} {text}", "x ".repeat(70)),
    |text| format!("set -- {} {text}; ${{10}} ${{11}} ${{12}} ${{13}}", "x ".repeat(9)),
    |text| format!("set -- {} {text}; ${{100}} ${{101}} ${{102}} ${{103}}", "x ".repeat(99)),
    |text| format!("sh -c '${{10}} ${{11}} ${{12}} ${{13}}' {} {text}", "x ".repeat(10)),
    |text| format!("sh -c '${{1:-x}} $2 $3 $4' x {text}"),
    |text| format!("sh -c 'shift; \"$@\"' x y {text}"),
    |text| format!("sh -c {} x {}", quoted(text), "y".repeat(100_000)),
    |text| format!("x={}; eval {text}", "$(echo a)".repeat(200)),
    |text| format!("x={}{}; eval \"${{x:1100}}\"", "y".repeat(1_100), quoted(text)),
    |text| format!("a=({} {text}); ${{a[40]}} ${{a[41]}} ${{a[42]}} ${{a[43]}}", "x ".repeat(40)),
    |text| format!("for x in {}; do :; done; {text}", "{a,b}".repeat(12)),
    |text| format!("for x in {}; do {text}; done", (0..1_100).map(|at| format!("a{at} ")).collect::<String>()),
    |text| format!("for x in {{1..60}}; do for y in {{1..60}}; do {text} $x $y; done; done"),
    |text| format!("x=aaaaaaaaaaaaaaaa; {} {text}", "x=$x$x$x$x; ".repeat(12)),
    |text| format!("cat{}\n{}it's\nE\n{text}", " <<E".repeat(101), "E\n".repeat(100)),
    |text| format!("xargs -I% sh -c % <<'E'\n{}{text}\nE", ":\n".repeat(300)),
    |text| format!("xargs -I% sh -c % <<'E'\n{}\n{text}\nE", "y".repeat(70_000)),
    |text| format!("while read -r x; do eval \"$x\"; done <<'E'\n{}{text}\nE", ":\n".repeat(300)),
];

/// The same at lengths that take time to read.
const LONG_BOUNDS: &[fn(&str) -> String] = &[
    |text| format!("{}{text}", ":;".repeat(60_000)),
    |text| format!("{}{text}", "x=$(echo a); ".repeat(30_000)),
    |text| format!("f() {{ {} \"$@\"; }}; f {text}", ": x; ".repeat(30_000)),
    |text| format!("f() {{ :{} ; }}; {} {text}", " x".repeat(10_000), "f $x; ".repeat(2_000)),
];

/// What of these commands a shell does although it was not refused.
struct Tried {
    world: TestWorld,
    count: usize,
    missed: Vec<String>,
}

impl Tried {
    fn new() -> Tried {
        let world = TestWorld::new();
        Tried { world, count: 0, missed: Vec::new() }
    }

    fn lay_out(&self) {
        lay_out(&self.world);
        let called = format!("echo --bare >>{}", self.world.path("calls").display());
        self.world.script("home/.cargo/bin/fusebox", &called);
        let _none = fs::remove_file(self.world.path("calls"));
    }

    fn attempt(&mut self, command: &str) {
        self.count += 1;
        if guard(&self.world).command(command).is_some() {
            return;
        }
        self.lay_out();
        let before = own(&self.world);
        run(&self.world, &format!("PATH=$PATH:~/.cargo/bin\n{command}"));
        if own(&self.world) != before {
            self.missed.push(format!("{command:.300}"));
        }
    }

    fn assert_none_is_missed(&self) {
        let some = self.missed[..self.missed.len().min(40)].join("\n");
        assert!(self.missed.is_empty(), "{} of {} are missed:\n{some}", self.missed.len(), self.count);
    }
}

/// Each attempt with each disguise.
fn texts() -> impl Iterator<Item = String> {
    ATTEMPTS.iter().flat_map(|(attempt, word)| disguised(word).into_iter().map(|word| attempt.replace('§', &word)))
}

#[test]
fn no_disguise_hides_a_name() {
    let mut tried = Tried::new();
    texts().for_each(|text| tried.attempt(&text));
    tried.assert_none_is_missed();
}

#[test]
fn no_depth_hides_a_name() {
    let mut tried = Tried::new();
    for (number, text) in texts().enumerate() {
        for (place, nest) in NESTS.iter().enumerate() {
            let times = TIMES.iter().enumerate().filter(|(at, _)| in_long_form() || (at + place + number) % 3 == 0);
            let nested: BTreeSet<String> = times.map(|(_, times)| nest(&text, *times)).collect();
            nested.iter().filter(|command| command.len() < LONGEST).for_each(|command| tried.attempt(command));
        }
    }
    tried.assert_none_is_missed();
}

#[test]
fn no_count_hides_a_name() {
    let mut tried = Tried::new();
    for (number, text) in texts().enumerate() {
        let some = BOUNDS.iter().enumerate().filter(|(at, _)| in_long_form() || (at + number) % 3 == 0);
        some.for_each(|(_, bound)| tried.attempt(&bound(&text)));
    }
    tried.assert_none_is_missed();
}

#[test]
fn no_length_hides_a_name() {
    let mut tried = Tried::new();
    for (attempt, word) in ATTEMPTS {
        let (first, second) = word.split_at(word.len() / 2);
        for (at, bound) in LONG_BOUNDS.iter().enumerate() {
            let disguises = ["''", "$(:)"].into_iter().enumerate();
            for (_, between) in disguises.filter(|(number, _)| in_long_form() || (at + attempt.len()) % 2 == *number) {
                tried.attempt(&bound(&attempt.replace('§', &format!("{first}{between}{second}"))));
            }
        }
    }
    tried.assert_none_is_missed();
}

/// What a single `echo` says of braces, nothing is done with.
#[test]
fn braces_of_more_words_than_are_read_are_only_said_by_an_echo() {
    let world = TestWorld::new();
    for (command, is_refused) in [
        ("echo {a..z}{a..z}{a..z}", false),
        ("echo {a..z}{a..z}{a..z} > words.txt", false),
        ("echo {a..z}{a..z}{a..z} | sh", true),
        ("echo {a..z}{a..z}{a..z}; rm {a..z}{a..z}{a..z}", true),
        ("rm $(echo {a..z}{a..z}{a..z})", true),
        ("echo() { \"$@\"; }; echo {a..z}{a..z}{a..z}", true),
        ("echo $(rm .claude/fusebox.json){a..z}{a..z}{a..z}", true),
        ("echo {a..z}{a..z}{a..z} > .claude/fusebox.json", true),
        ("echo '{}' ''{,}{,}{,}{,}{,}{,}{,}{,}{,}{,}{,}{,}{,} > .claude/fusebox.jso{n..n}", true),
        ("rm {a..z}{a..z}{a..z}", true),
    ] {
        assert_eq!(guard(&world).command(command).is_some(), is_refused, "{command}");
    }
}
