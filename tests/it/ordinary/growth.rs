//! However long a command is and whatever stands in it again and again: the time that reading takes grows with its length alone.

#![cfg(unix)]

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{json, value::to_raw_value};

use crate::ordinary::guard;
use crate::world::in_long_form;
use fusebox::config::spawn;
use fusebox::wire::tool_input::ToolInput;
use fusebox::wire::tools;

/// Lengths of a shorter and a longer command, in bytes.
const LENGTHS: [usize; 2] = [50_000, 150_000];
/// How long reading the shorter may take, in a build that is not optimized.
const MOST: Duration = Duration::from_secs(1);
/// What is too short to say how time grows.
const SHORT: Duration = Duration::from_millis(75);
/// How much longer each byte of the longer may take than one of the shorter: what grows with the square takes three times.
const MOST_GROWTH: u32 = 2;
/// What stands before them: a name that is known, and one that the text does not tell.
const STARTS: [&str; 2] = ["echo $x; ", "echo claude fusebox;"];

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
    ("$(", ""),
    ("`", ""),
    ("(", ""),
    ("${", ""),
    ("<(", ""),
    ("$((", ""),
    ("eval ", ""),
    ("eval \"", ""),
    ("sh -c '", ""),
    ("\"$(", ""),
    ("((a) ", ""),
    ("a=(", ""),
    ("case x in ", ""),
    ("<<E ", ""),
    ("<<E;", ""),
    ("<<E\n", ""),
    ("$'", ""),
    ("a;", ""),
    (">a;", ""),
    (">.claude/fusebox.json.x;", ""),
    ("A=1 ", ""),
    ("export HOME=$HOME;", ""),
    ("FUSEBOX_A=1;$(a)", ""),
    ("env ", ""),
    ("env -u HOME ", ""),
    ("find . -exec ", ""),
    ("find . -exec a ; ", ""),
    ("xargs ", ""),
    ("rm fusebox/../fusebox ", ""),
    ("cp fusebox/a ", ""),
    ("curl -o -o ", ""),
    ("cd a/b/c/d/e/f;rm fusebox/a;", ""),
    ("cd fusebox;$(rm a);", ""),
    ("claude --settings ", ""),
    ("claude --settings {\"env\":{\"A\":1}};", ""),
    ("git -C fusebox checkout fusebox;", ""),
    ("pkill fusebox.x ", ""),
    ("sqlite3 fusebox ';;;;' ", ""),
    ("sleep 1;", ""),
    ("x=claude;cat $x;", ""),
    ("(x=claude;cat $x);", ""),
    ("x+=claude;", ""),
    ("x=$x$x;", ""),
    ("true && x=$x;", ""),
    ("cat ${x:-claude};", ""),
    ("${x:-", ""),
    ("echo ${x:-a}|cat ${y:-b}|", ""),
    ("{ echo ${x:-a};cat ${y:-b}; }|", ""),
    ("echo ${x:-a}${y:-b}|tee ${z:-c}|", ""),
    ("x=a;x+=b;true || x=c;cat $x $x|", ""),
    ("$(dirname ", ""),
    ("a+=(a b);cat ${a[@]};", ""),
    ("for x in a b; do rm $x fusebox/a; done;", ""),
    ("read x <<<claude;", ""),
    ("export x=$(which fusebox);", ""),
    ("x=fuse;${x%e}${x/f/${y}};", ""),
    ("x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;${x%%*a*b*c};", ""),
    ("fuse${x}box $x ", ""),
    ("f() { f $1; f $1; };f a;", ""),
    ("f() { x=$1;cd $x;rm $x; };f a;cd b;", ""),
    ("f() { cd a;x+=$1; };f b;", ""),
    ("A=1 >a ", ""),
    ("x=$(echo a);for x in $(echo a b);do cd $(echo $x);done;", ""),
    ("alias a='b b';alias b='a a';a a;", ""),
    ("a=(a b);${a[0]}${a[1]};", ""),
    ("printf '%s%s%s' a b c|sh;", ""),
    ("declare -n x=y;y=$x;", ""),
    ("python3 -c 'run(run(run(\"fusebox\"';", ""),
    ("`echo \\`echo x\\`` ", ""),
    ("echo a b | (a; sh); ", ""),
    ("{ sh; } <<<a; ", ""),
    ("f() ( $1 ); f a; ", ""),
    ("f() if a; then $1; fi; f a; ", ""),
    ("time { a; }; ", ""),
    ("for ((;;)) do a; done; ", ""),
    ("for x (a b) c; ", ""),
    ("a[0]=b; ", ""),
    (": ${a:=b} ${a#?} ${a//[b]/}; ", ""),
    ("set a b; for x; do $x; done; ", ""),
    ("cd a; cd $OLDPWD; rm $(pwd); ", ""),
    ("perl -e 'qx(a)`b`'; ", ""),
];

/// Those of them that open something and close nothing.
const NESTING: &[&str] = &["$(", "\"$(echo ", "`", "(", "${", "<(", "$((", "eval ", "eval \"", "sh -c '"];

/// Repeats a form up to a length.
fn repeated((opens, closes): (&str, &str), length: usize) -> String {
    let count = length / (opens.len() + closes.len());
    opens.repeat(count) + &closes.repeat(count)
}

/// Returns for how long this thread has worked.
fn now() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
}

/// Returns how long this thread works on all that a call's command is read for.
fn works(command: &str) -> Duration {
    let json = to_raw_value(&json!({"command": command})).unwrap();
    let printed = to_raw_value(&json!({"stdout": "[main 1a2b3c4] x"})).unwrap();
    let guard = guard();
    let began = now();
    let input = ToolInput::new(&json);
    let may_mention = tools::may_mention("Bash", Some(&input), &guard);
    let _intent_and_starts = tools::intent_and_starts("Bash", Some(&input), &guard, may_mention);
    let _waits = tools::wait("Bash", Some(&input));
    let _edits = tools::has_edited("Bash", Some(&input), Some(&*printed));
    now() - began
}

/// Returns a command of this length, which is read for waits and commits, too.
fn command(start: &str, form: (&str, &str), length: usize) -> String {
    format!("{start}sleep 1; git commit -m x; {}", repeated(form, length))
}

/// What nests, and a few of the others.
#[test]
fn the_time_grows_with_the_length_of_a_command() {
    let mut wrong = Vec::new();
    let nests = |form: &(&str, &str)| !form.1.is_empty() || NESTING.contains(&form.0);
    for (at, form) in FORMS.iter().enumerate() {
        let starts = STARTS
            .iter()
            .enumerate()
            .filter(|(start, _)| in_long_form() || *start == at % STARTS.len() && (nests(form) || at % 4 == 0));
        for (_, start) in starts {
            let per_byte = |took: Duration, length: usize| took.max(SHORT) / u32::try_from(length / 1_000).unwrap();
            let is_slow = |[short, long]: [Duration; 2]| {
                let [one, more] = [per_byte(short, LENGTHS[0]), per_byte(long, LENGTHS[1])];
                short > MOST || long > SHORT * 3 && more > one * MOST_GROWTH
            };
            let once = || LENGTHS.map(|length| works(&command(start, *form, length)));
            let took = once();
            // Once may be chance on a machine with other work.
            if is_slow(took) && is_slow(once()) {
                wrong.push(format!("{start}{form:?}: {took:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Prompts that name a block of limits again and again, which nothing closes.
#[test]
fn a_prompt_with_many_blocks_is_read_in_time() {
    for form in [
        "execution_limits: {",
        "execution_limits:\n  a: {\n",
        "\"execution_limits\" : {\"a\":[",
        "execution_limits:  \t",
    ] {
        let prompt = form.repeat(1_000_000 / form.len());
        let began = now();
        assert_eq!(spawn::find(&prompt), None, "{form}");
        let took = now() - began;
        assert!(took < MOST * 2, "{form}: {took:?}");
    }
}

/// How a value of many words, `W`, comes into many places, `P`, and how it is named in each.
const FILLED: &[(&str, &str)] = &[
    ("set -- W; : P", "$@ "),
    ("set -- W; : P", "${@:2} "),
    ("set -- W; shift; : P", "\"$@\" "),
    ("x='W'; : P", "$x "),
    ("x='W'; : P", "${x:-y z} "),
    ("x='W'; y=(P); : ${y[@]}", "$x "),
    ("a=(W); : P", "${a[@]} "),
    ("a=(W); for x in P; do : $x; done", "${a[@]} "),
    ("a=(W); : P", "\"${a[@]}\" "),
    ("x='W'; y=$x$x; z=$y$y; q=\"$z$z\"; : P", "$q "),
    ("x='W'; y=$x$x; z=$y$y; q=$z$z; : P", "\"$q\" "),
    ("read -r x <<<'W'; : P", "$x "),
    ("f() { : P; }; f W", "$@ "),
    ("sh -c ': P' x W", "$@ "),
    ("x='W'; eval ': P'", "$x "),
    ("x='W'; echo P | xargs :", "$x "),
    ("x='W'; cat >P", "$x "),
];

/// How many words a value has, and in how many places it stands.
const SHARES: [(usize, usize); 8] =
    [(1500, 1000), (100, 1000), (1000, 100), (20, 2000), (4000, 20), (500, 3000), (4000, 3000), (700, 300)];

/// How long reading one of a few thousand bytes may take, in a build that is not optimized.
const MOST_OF_A_FEW: Duration = Duration::from_millis(150);

#[test]
fn a_value_of_many_words_in_many_places_is_read_in_time() {
    let mut wrong = Vec::new();
    for (way, name) in FILLED {
        for (words, places) in SHARES {
            for before in ["", "false || exit 3; "] {
                let command =
                    before.to_owned() + &way.replace('W', &"x ".repeat(words)).replace('P', &name.repeat(places));
                let took = works(&command).min(works(&command));
                if took > MOST_OF_A_FEW {
                    wrong.push(format!("{before}{way} of {words} words in {places} places: {took:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
