//! A shell command's text as simple commands. By hand: `shell-words` knows words alone, and parsers refuse what no shell would take.
//!
//! A command has words without their quotes, assignments, redirections and here-documents.
//! It reads what POSIX shells, bash and zsh share, and [`variables`] holds the values that the text tells. Text that no shell would
//! take is read as far as it goes.

mod arrays;
mod bounds;
mod braces;
mod choices;
mod globs;
mod grammar;
pub mod invocation;
mod lexer;
mod lists;
mod operators;
mod parameters;
mod parentheses;
mod parts;
mod references;
mod spelling;
pub mod unset;
pub mod variables;
mod words;
pub mod written;

use crate::byte_search;
pub use crate::wire::shell::parentheses::closed as closing_parenthesis;
pub use crate::wire::shell::parts::{Apart, Part, Simple, Word, assignment};
pub use crate::wire::shell::references::closed as closing_brace;
pub use crate::wire::shell::spelling::Spelling;

/// Splits a shell command into its parts.
pub fn parts(text: &str) -> Vec<Part<'_>> {
    lexer::Lexer::new(text).read()
}

/// Whether a shell may make other words of a text than those that stand in it: by a substitution, a variable, braces, an escape, a
/// pattern, or by quotes within a word.
pub fn may_assemble(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has = |signs| byte_search::first_of(signs, bytes).is_some();
    let joins = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"'\"/.-".contains(byte));
    let mut from = 0;
    let mut quotes = std::iter::from_fn(|| {
        let at = from + byte_search::first_of(*b"'\"\"", &bytes[from..])?;
        from = at + 1;
        Some(at)
    });
    has(*b"$`{")
        || has(*b"\\*?")
        || byte_search::first(b'[', bytes).is_some()
        || quotes.any(|at| at > 0 && joins(bytes.get(at - 1)) && joins(bytes.get(at + 1)))
}

/// Endings of programs that Windows leaves out of their names.
const ENDINGS: [&str; 4] = [".exe", ".cmd", ".bat", ".com"];

/// Returns the last part of a path, of Windows or another system.
pub fn base(path: &str) -> &str {
    // One letter at a time is looked for many times faster than either of two.
    let last = [b'/', b'\\'].into_iter().filter_map(|sign| byte_search::last(sign, path.as_bytes())).max();
    last.map_or(path, |last| &path[last + 1..])
}

/// Returns the name of a program: the last part of its path, without the ending that Windows leaves out.
pub fn program_name(path: &str) -> &str {
    let name = base(path);
    match name.len().checked_sub(4).and_then(|at| name.split_at_checked(at)) {
        Some((stem, end)) if !stem.is_empty() && ENDINGS.iter().any(|ending| ending.eq_ignore_ascii_case(end)) => stem,
        _ => name,
    }
}

/// Returns the program that a substitution looks up or names: `$(command -v make)`, `` `which make` ``.
pub fn substituted(word: &str) -> Option<&str> {
    let inner = word.strip_prefix("$(").and_then(|inner| inner.strip_suffix(')'));
    let inner = inner.or_else(|| word.strip_prefix('`').and_then(|inner| inner.strip_suffix('`')))?;
    let mut words = inner.split_whitespace();
    let looks_up = ["command", "which", "type", "echo", "printf", "readlink", "realpath"].contains(&words.next()?);
    words.next_back().filter(|_| looks_up)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes parts as lines: assignments, the words, `>` before files, `<` before what is read.
    fn told(text: &str) -> String {
        let show = |part: Part| match part {
            Part::Open => "(".to_owned(),
            Part::Close => ")".to_owned(),
            Part::Command(it) => {
                let mut told: Vec<String> = Vec::new();
                told.extend(it.assignments.iter().map(|word| format!("[{}]", word.text)));
                told.extend(it.words.iter().map(|word| word.text.replace('\n', "\\n")));
                told.extend(it.writes.iter().map(|word| format!(">{}", word.text)));
                told.extend(it.input.iter().map(|text| format!("<{}", text.replace('\n', "\\n"))));
                told.join("|")
            }
        };
        parts(text).into_iter().map(show).collect::<Vec<_>>().join(" ; ")
    }

    #[test]
    fn commands_are_read_as_a_shell_does() {
        for (text, read) in [
            ("", ""),
            ("ls -l", "ls|-l"),
            ("a && b || c; d & e\nf | g |& h", "a ; b ; c ; d ; e ; f ; g ; h"),
            ("echo 'a b' \"c d\" e\\ f g''h", "echo|a b|c d|e f|gh"),
            ("echo \"a \\\" $x \\$y\" '\\'", "echo|a \" $x $y|\\"),
            ("echo $'a\\'b\\n' $\"c\"", "echo|a'b\\n|c"),
            ("a \\\n b", "a|b"),
            ("A=1 B='2 3' make", "[A=1]|[B=2 3]|make"),
            ("A=1; export A B=2", "[A=1] ; export|A|B=2"),
            ("a=(x 'y z' w) ls", "[a=(x 'y z' w)]|ls"),
            ("make A=1", "make|A=1"),
            ("a # b; c\nd", "a ; d"),
            ("a#b c", "a#b|c"),
            ("ls >out 2>&1 <in 2>>err &>all >|x 3<>rw >&both", "ls|>out|>err|>all|>x|>rw|>both"),
            ("ls 2 >x", "ls|2|>x"),
            ("echo 12>x", "echo|>x"),
            ("( cd a; b )", "( ; cd|a ; b ; )"),
            ("{ a; b; } >x", "a ; b ; >x"),
            ("if a; then b; else c; fi", "a ; b ; c"),
            ("for i in 1 2; do a $i; done", "for|i|in|1|2 ; a|$i"),
            ("while ! a; do b; done >x", "a ; b ; >x"),
            ("case $x in a|b) c ;; (d) e;; esac; f", "case|$x|in ; c ; e ; f"),
            ("x=$(case a in a) b;; esac); c", "( ; case|a|in ; b ; ) ; [x=$(case a in a) b;; esac)] ; c"),
            ("f() { a; }; f", "a ; f"),
            ("function f { a; }", "a"),
            ("time -p a", "time|-p|a"),
            ("echo $(a 'b)' \"$(c)\") d", "( ; ( ; c ; ) ; a|b)|$(c) ; ) ; echo|$(a 'b)' \"$(c)\")|d"),
            ("echo \"$(a \"b c\")\"", "( ; a|b c ; ) ; echo|$(a \"b c\")"),
            ("echo `a b` \"`c`\"", "( ; a|b ; ) ; ( ; c ; ) ; echo|`a b`|`c`"),
            ("echo $((1 << 4)) ${a:-\"}\"} ${b//\\}/} x", "echo|$((1 << 4))|${a:-\"}\"}|${b//\\}/}|x"),
            ("echo \"${a:-it's}\" b", "echo|${a:-it's}|b"),
            ("echo ${a:-$(b c)}", "( ; b|c ; ) ; echo|${a:-$(b c)}"),
            ("(( a < 3 )) && b", "b"),
            ("[[ $a == b && $c > d ]] && e", "[[|$a|==|b ; $c|]]|>d ; e"),
            ("diff <(a b) >(c)", "( ; a|b ; ) ; ( ; c ; ) ; diff|<(a b)|>(c)"),
            ("cat <<E >x && b\n$(c) `d` it's\nE\ne", "cat|>x|<$(c) `d` it's\\n ; b ; ( ; c ; ) ; ( ; d ; ) ; e"),
            ("cat <<'E'\n$(c)\nE\nd", "cat|<$(c)\\n ; d"),
            ("cat <<-\\E <<F\n\ta\n\tE\nb\nF\n", "cat|<\ta\\n|<b\\n"),
            ("sh <<<'a b'", "sh|<a b"),
            ("cat <<E", "cat|<"),
            ("x=$(cat <<'E'\na ) b\nE\n); c", "( ; cat|<a ) b\\n ; ) ; [x=$(cat <<'E'\na ) b\nE\n)] ; c"),
            ("echo 'open", "echo|open"),
            ("echo \"$(a", "( ; a ; ) ; echo|$(a"),
            ("echo `a \\`b\\``", "( ; ( ; b ; ) ; a|`b` ; ) ; echo|`a \\`b\\``"),
            ("time { a; }; time -p if b; then c; fi; time A=1 d", "a ; b ; c ; [A=1]|d"),
            ("coproc N { a; }; coproc b c", "a ; b|c"),
            ("for ((;;)) do a; done; for x do b; done; for y (c d) e", "for ; a ; for|x ; b ; for|y|in|c|d ; e"),
            ("a[0]=1 b[x]+=2 c {fd}>d {e}", "[a[0]=1]|[b[x]+=2]|c|{e}|>d"),
            ("repeat 2 { a; }; { b; } always { c; }", "a ; b ; c"),
            ("a 2>/dev/null >/dev/null 2>b", "a|>/dev/null|>b"),
            ("a ) b", "a ; b"),
            ("echo ü 'ü'x", "echo|ü|üx"),
        ] {
            assert_eq!(told(text), read, "{text}");
        }
    }

    #[test]
    fn text_that_nests_without_end_does_not_fill_the_stack() {
        for nest in ["$(", "`", "(", "\"$(", "${", "<(", "$((", "\"${", "a=(", "case x in a)", "<<E\n", "$'", "(("] {
            let text = nest.repeat(200_000 / nest.len());
            assert!(parts(&text).len() <= text.len() + 2, "{nest}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_text_is_read_and_ends_of_words_lie_in_it(
            pieces in proptest::collection::vec(proptest::sample::select(vec![
                "a", "'", "\"", "$(", ")", "`", "\\", "<<E", "\nE\n", "\n", ";", "${", "}", "((", "))", "#", ">", "ü", "$'", "case x in",
                "esac", " ", "&", "|", "a=(",
            ]), 0..40)
        ) {
            let text = pieces.concat();
            for part in parts(&text) {
                if let Part::Command(simple) = part {
                    let words = simple.words.iter().chain(&simple.assignments).chain(&simple.writes);
                    for word in words {
                        assert!(text.is_char_boundary(word.end), "{text:?} {word:?}");
                    }
                }
            }
        }
    }
}
