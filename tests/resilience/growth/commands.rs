//! What an agent can write into a shell command: whatever stands in it and however often, the time that reading takes grows with its
//! length alone, and stays far below what a client waits.

use std::time::Duration;

use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture, Outcome, asked};
use crate::session::Session;

/// The longest that the longest of these commands may keep a processor busy.
const LONGEST: Duration = Duration::from_millis(1_000);
/// What is too short to say how time grows: it is measured in hundredths of a second.
const SHORT: Duration = Duration::from_millis(120);
/// Lengths of commands, in bytes; each is twice the one before.
const LENGTHS: [usize; 4] = [25_000, 50_000, 100_000, 200_000];
/// How much longer a command of twice the length may take, in percent. What grows with the square takes 400.
const MOST_GROWTH: u32 = 300;

/// What a shell's text is made of: what comes again and again, and what closes each of it at the end.
const FORMS: &[(&str, &str)] = &[
    ("lorem ipsum ", ""),
    ("\"$(echo ", ")\""),
    ("\"$(echo ", ""),
    ("\"$(echo x)\" ", ""),
    ("$(echo x)", ""),
    ("x$(a \\()", ""),
    ("mv $(a) b; ", ""),
    ("`echo x` ", ""),
    ("$((1+1)) ", ""),
    ("$((1+1) ", ""),
    ("$((echo \"(\");) ", ""),
    ("((a) ", ""),
    ("${a:-b} ", ""),
    ("${a:-", "}"),
    ("${!a}", ""),
    ("a=bbb; echo ${a//b/c}; ", ""),
    ("{a,b} ", ""),
    ("{a,b}; ", ""),
    ("{", ""),
    ("{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}xxxxxxxxxxxxxxxx ", ""),
    ("a=b; echo $a$a; ", ""),
    ("a+=b; ", ""),
    ("a=( x $y ); ", ""),
    ("a=(", ""),
    ("f() { echo $1; f; }; f x; ", ""),
    ("f() { ", "}; "),
    ("alias a=b\n", ""),
    ("case a in a) ", "esac; "),
    ("if a; then b; fi; ", ""),
    ("if a; then ", "fi; "),
    ("for i in a b; do echo $i; ", "done; "),
    ("while read x; do echo $x; done; ", ""),
    ("echo a b | ", ""),
    ("echo a b | sh; ", ""),
    ("cat <<E\nx $a $(b) `c`\nE\n", ""),
    ("cat <<E ", ""),
    ("sh <<< \"$a\"; ", ""),
    ("eval \"a $b\"; ", ""),
    ("sh -c '$1$1$1$1$1$1$1$1$1$1' x aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; ", ""),
    (
        "sh -c '$1' x '$2$2$2$2$2$2$2$2' '$3$3$3$3$3$3$3$3' '$4$4$4$4$4$4$4$4' '$5$5$5$5$5$5$5$5' '$6$6$6$6$6$6$6$6'; ",
        "",
    ),
    ("env a=b nohup ", ""),
    ("echo a | xargs -I{} sh -c '{}{}{}{}{}{}{}{}'; ", ""),
    ("find . .claude -exec a {} \\; ", ""),
    ("-exec a {} ; ", ""),
    ("cd a; ", ""),
    ("cd a && ", ""),
    ("a'b'\"c\"\\d", ""),
    ("$'a\\x41' ", ""),
    (">$a ", ""),
    ("cat <(", ")"),
    ("( a; ", ") "),
    ("{ ", "; }; "),
    ("[[ a ]] && ", ""),
    ("a & ", ""),
    ("set -- a b c; shift; echo $1 $@; ", ""),
    ("printf -v a %s b; ", ""),
    ("declare -n a=b; ", ""),
    ("python3 -c 'os.system(\"a\")'; ", ""),
    ("rm -rf a; ", ""),
    ("cp a b; ", ""),
    ("claude -p x; >a/.git; ", ""),
    ("/a/../b*?[c] ", ""),
];

/// Repeats a form up to a length.
fn repeated((opens, closes): (&str, &str), length: usize) -> String {
    let count = length / (opens.len() + closes.len());
    opens.repeat(count) + &closes.repeat(count)
}

/// A session whose calls run commands of any length.
struct Shell<'a> {
    session: Session<'a>,
    wrong: Vec<String>,
}

impl Shell<'_> {
    /// Has the hook read a command, and returns how long it took; what goes wrong is noted.
    fn read(&mut self, name: &str, command: &str) -> Duration {
        // Without a variable that is not known most texts are not read at all.
        let input = json!({"command": format!("echo $x; {command}")});
        let event: Value =
            self.session.event("PreToolUse", &json!({"tool_name": "Bash", "tool_input": input, "tool_use_id": "c1"}));
        let outcome: Outcome = self.session.fixture.hook().tell(&event);
        let worked = outcome.worked;
        let is_unchecked = |why: &str| why.contains("cannot be checked");
        match outcome.ok() {
            Answer::Refused(why) if is_unchecked(&why) => self.wrong.push(format!("{name}: {why}")),
            _ if worked > LONGEST => self.wrong.push(format!("{name}, {} bytes: {worked:?}", command.len())),
            _ => {}
        }
        worked
    }

    /// Has it read a form at all lengths.
    fn grow(&mut self, name: &str, make: impl Fn(usize) -> String) {
        let took = LENGTHS.map(|length| self.read(name, &make(length)));
        let grown = |pair: &[Duration]| pair[1] > SHORT && pair[1] > pair[0] * MOST_GROWTH / 100;
        // Once may be chance on a machine with other work.
        if took.windows(2).any(grown) && LENGTHS.map(|length| self.read(name, &make(length))).windows(2).any(grown) {
            self.wrong.push(format!("{name}: {took:?}"));
        }
    }
}

/// Has the hook read what `tried` makes of a shell.
fn reads(tried: impl FnOnce(&mut Shell)) {
    let limits = json!({"max_turns": null, "loop_detection": null});
    let fixture = Fixture::under(&json!({"main": limits}));
    let mut shell = Shell { session: Session::begin(&fixture, "s1"), wrong: Vec::new() };
    tried(&mut shell);
    assert!(shell.wrong.is_empty(), "{}", shell.wrong.join("\n"));
}

#[test]
fn commands_may_grow() {
    reads(|shell| {
        for form in FORMS {
            shell.grow(form.0, |length| repeated(*form, length));
        }
    });
}

/// Each form in each other one, behind it and in turn with it; a ninth of them, unless all are asked for.
#[test]
fn commands_in_commands_may_grow() {
    let all = asked("FUSEBOX_RESILIENCE").is_some_and(|form| form == "full");
    let length = LENGTHS[1];
    reads(|shell| {
        for (at, one) in FORMS.iter().enumerate() {
            for (other_at, other) in FORMS.iter().enumerate().filter(|(other_at, _)| all || (at + other_at) % 9 == 0) {
                let name = format!("{} with {}", one.0, other.0);
                let both = (format!("{}{}", one.0, other.0), format!("{}{}", other.1, one.1));
                shell.read(&name, &repeated((&both.0, &both.1), length));
                if at < other_at {
                    shell.read(&name, &(repeated(*one, length / 2) + "\n" + &repeated(*other, length / 2)));
                }
            }
        }
    });
}
