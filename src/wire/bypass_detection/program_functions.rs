//! The functions that a program's text defines: what they are given, and what they do, as far as the text tells for sure.

use crate::wire::bypass_detection::program_text::Token;

/// The longest function that is read, and the longest list of what one is given, in tokens.
const LONGEST: usize = 256;

/// Words that begin what ends with `end`.
const OPENS: [&str; 11] = ["begin", "case", "class", "def", "do", "for", "if", "module", "unless", "until", "while"];

/// The parameters of a function, and what it does.
pub(super) type Defined<'k, 't> = (Vec<&'k [Token<'t>]>, &'k [Token<'t>]);

/// Whether a name is given a function here: `name = (a) => …`, `name = function (a) { … }`.
pub(super) fn is_lambda(after: &[Token]) -> bool {
    match after {
        [Token::Sign('='), rest @ ..] => defined_as(rest).is_some(),
        _ => false,
    }
}

/// Returns the parameters of a function and what it does, whose text begins behind its name.
pub(super) fn defined_at<'k, 't>(tokens: &'k [Token<'t>]) -> Option<Defined<'k, 't>> {
    if let [Token::Sign('='), rest @ ..] = tokens {
        return defined_as(rest);
    }
    let (parameters, behind) = listed(tokens)?;
    let does = match behind {
        [Token::Sign('{'), ..] => block(behind),
        [Token::Sign(':' | '-'), ..] => body(behind),
        [Token::Name(_), ..] => up_to_end(behind),
        _ => None,
    };
    Some((parameters, does?))
}

/// Returns the parameters of a function without a name of its own, and what it does.
fn defined_as<'k, 't>(tokens: &'k [Token<'t>]) -> Option<Defined<'k, 't>> {
    let (parameters, behind) = match tokens {
        [Token::Name("async"), rest @ ..] => return defined_as(rest),
        [Token::Name("function"), rest @ ..] => {
            let (parameters, behind) = listed(rest)?;
            return Some((parameters, block(behind)?));
        }
        [Token::Name(_), Token::Sign('='), Token::Sign('>'), ..] => (vec![&tokens[..1]], &tokens[1..]),
        _ => listed(tokens)?,
    };
    let [Token::Sign('='), Token::Sign('>'), behind @ ..] = behind else { return None };
    let does = if matches!(behind, [Token::Sign('{'), ..]) { block(behind) } else { expression(behind) };
    Some((parameters, does?))
}

/// Returns what stands between braces. Nothing where a pattern may stand there, which has braces of its own, or a text that runs something.
fn block<'k, 't>(tokens: &'k [Token<'t>]) -> Option<&'k [Token<'t>]> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().take(LONGEST).enumerate() {
        match token {
            Token::Sign('{') => depth += 1,
            Token::Sign('}') if depth <= 1 => return Some(&tokens[..at]),
            Token::Sign('}') => depth -= 1,
            Token::Sign('/') => return None,
            Token::Text(text) if text.contains(['$', '#']) => return None,
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Returns an expression up to a sign that ends it for sure.
fn expression<'k, 't>(tokens: &'k [Token<'t>]) -> Option<&'k [Token<'t>]> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().take(LONGEST).enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth = depth.checked_sub(1)?,
            Token::Sign(';') if depth == 0 => return Some(&tokens[..at]),
            Token::Sign('/') => return None,
            Token::Text(text) if text.contains('$') => return None,
            _ => {}
        }
    }
    (tokens.len() <= LONGEST).then_some(tokens)
}

/// Returns what a function does that ends with the word `end`: what else ends so stands within, and makes it rather longer.
fn up_to_end<'k, 't>(tokens: &'k [Token<'t>]) -> Option<&'k [Token<'t>]> {
    let mut open = 1_usize;
    for (at, token) in tokens.iter().take(LONGEST).enumerate() {
        match token {
            Token::Name("end") if open == 1 => return Some(&tokens[..at]),
            Token::Name("end") => open -= 1,
            Token::Text(text) if text.contains(['$', '#']) => return None,
            _ => open += usize::from(token.is_name(|name| OPENS.contains(&name))),
        }
    }
    None
}

/// Returns what stands between the parentheses that a text begins with, and what follows them.
pub(super) fn listed<'k, 't>(tokens: &'k [Token<'t>]) -> Option<(Vec<&'k [Token<'t>]>, &'k [Token<'t>])> {
    let (mut found, mut from, mut depth) = (Vec::new(), 1, 0_usize);
    for (at, token) in tokens.iter().take(LONGEST).enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') if depth == 1 => {
                found.extend((from < at).then(|| &tokens[from..at]));
                return Some((found, &tokens[at + 1..]));
            }
            Token::Sign(')' | ']' | '}') => depth = depth.checked_sub(1)?,
            Token::Sign(',') if depth == 1 => {
                found.push(&tokens[from..at]);
                from = at + 1;
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Returns what belongs to a function: up to a line that begins with a name outside of brackets.
fn body<'k, 't>(tokens: &'k [Token<'t>]) -> Option<&'k [Token<'t>]> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().take(LONGEST).enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Token::Sign('\n') if depth == 0 => return Some(&tokens[..at]),
            _ => {}
        }
    }
    (tokens.len() <= LONGEST).then_some(tokens)
}
