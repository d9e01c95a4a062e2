//! What Windows answers about processes, read from its bytes: `UNICODE_STRING`, `PROCESS_BASIC_INFORMATION`, environments.
//!
//! The layouts are those of 64-bit Windows in `winternl.h`. The tests build the bytes, so they run on every system.

/// How long `PROCESS_BASIC_INFORMATION` is.
pub const BASIC: usize = 48;
/// Where that names the process environment block.
pub const PEB: usize = 8;
/// Where the process environment block names its parameters.
pub const PARAMETERS: u64 = 0x20;
/// Where those name the environment, and say its length in bytes.
pub const ENVIRONMENT: (u64, u64) = (0x80, 0x3F0);

/// Where those have the command line, a `UNICODE_STRING`.
pub const COMMAND_LINE: u64 = 0x70;
/// How long a `UNICODE_STRING` is: its length in bytes, and where its text is.
pub const UNICODE_STRING: usize = 16;

/// Reads a number of eight bytes.
pub fn number(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at.checked_add(8)?)?.try_into().ok().map(u64::from_le_bytes)
}

/// Reads the text of a `UNICODE_STRING` that stands behind it, as the system answers.
pub fn text_behind(bytes: &[u8]) -> Option<String> {
    let length = usize::from(u16::from_le_bytes(bytes.get(..2)?.try_into().ok()?));
    Some(utf16(bytes.get(UNICODE_STRING..UNICODE_STRING + length)?))
}

fn utf16(bytes: &[u8]) -> String {
    let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Turns an environment in UTF-16 into variables that each end with a zero byte; what stands behind its end is left out.
pub fn environment(bytes: &[u8]) -> Vec<u8> {
    let text = utf16(bytes);
    let end = text.find("\0\0").map_or(text.len(), |end| end + 1);
    text.as_bytes()[..end].to_vec()
}

/// Splits a command line as programs of Microsoft's C library do: at blanks outside of quotes, `\"` is a quote, `""` within quotes, too.
pub fn arguments(line: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let line = line.trim_start_matches([' ', '\t']);
    // The program's name has no escapes.
    let (program, mut rest) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
        None => line.split_at(line.find([' ', '\t']).unwrap_or(line.len())),
    };
    if !line.is_empty() {
        arguments.push(program.to_owned());
    }
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        if rest.is_empty() {
            return arguments;
        }
        let (argument, after) = argument(rest);
        arguments.push(argument);
        rest = after;
    }
}

/// Takes one argument off.
fn argument(text: &str) -> (String, &str) {
    let (mut argument, mut is_quoted, mut rest) = (String::new(), false, text);
    loop {
        let slashes = rest.bytes().take_while(|byte| *byte == b'\\').count();
        rest = &rest[slashes..];
        let is_quote = rest.starts_with('"');
        argument.push_str(&"\\".repeat(if is_quote { slashes / 2 } else { slashes }));
        let Some(next) = rest.chars().next() else { return (argument, rest) };
        if !is_quote && !is_quoted && matches!(next, ' ' | '\t') {
            return (argument, rest);
        }
        rest = &rest[next.len_utf8()..];
        match is_quote {
            true if slashes % 2 == 1 => argument.push('"'),
            true if is_quoted && rest.starts_with('"') => {
                argument.push('"');
                rest = &rest[1..];
            }
            true => is_quoted = !is_quoted,
            false => argument.push(next),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// `PROCESS_BASIC_INFORMATION` and the beginning of `PEB`, with pointers of eight bytes.
    #[repr(C)]
    struct Basic {
        exit_status: i32,
        peb: u64,
        affinity: u64,
        priority: i32,
        pid: u64,
        parent: u64,
    }

    #[repr(C)]
    struct Peb {
        flags: [u8; 4],
        mutant: u64,
        image_base: u64,
        loader: u64,
        parameters: u64,
    }

    fn utf16_bytes(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn the_layouts_are_those_of_the_headers() {
        assert_eq!((size_of::<Basic>(), offset_of!(Basic, peb)), (BASIC, PEB));
        assert_eq!(offset_of!(Peb, parameters) as u64, PARAMETERS);
        assert_eq!(number(&[1, 0, 0, 0, 0, 0, 0, 2, 9], 0), Some((2 << 56) + 1));
        assert_eq!((number(&[0; 8], 1), number(&[0; 8], usize::MAX)), (None, None));
    }

    #[test]
    fn a_command_line_is_read_from_behind_its_head() {
        let text = utf16_bytes("claude.exe -p ü😀");
        let head = [(text.len() as u16).to_le_bytes().to_vec(), vec![0xA5; 14]].concat();
        let bytes = [head, text, vec![0, 0, 9]].concat();
        assert_eq!(text_behind(&bytes).as_deref(), Some("claude.exe -p ü😀"));
        assert!((0..bytes.len() - 3).all(|length| text_behind(&bytes[..length]).is_none()));
    }

    #[test]
    fn an_environment_ends_where_it_says() {
        let bytes = utf16_bytes("=C:=C:\\x\0A=1\0FUSEBOX_HOME=C:\\s\0\0behind=2\0");
        assert_eq!(environment(&bytes), b"=C:=C:\\x\0A=1\0FUSEBOX_HOME=C:\\s\0");
        assert_eq!(environment(&utf16_bytes("A=1")), b"A=1");
        assert_eq!(environment(&[]), b"");
    }

    #[test]
    fn a_command_line_is_split_as_programs_split_theirs() {
        for (line, read) in [
            ("", &[][..]),
            ("a", &["a"]),
            (r#""C:\Program Files\x.exe" -c "echo a""#, &[r"C:\Program Files\x.exe", "-c", "echo a"]),
            (r#"x.exe a\b "c\\" d\"e f"g h"i"#, &["x.exe", r"a\b", r"c\", "d\"e", "fg hi"]),
            (r#"x "" "a""b" c\\"d e""#, &["x", "", "a\"b", r"c\d e"]),
            ("x\ta  b ", &["x", "a", "b"]),
            (r#"x "open ü"#, &["x", "open ü"]),
            (r"\\host\x.exe \\a", &[r"\\host\x.exe", r"\\a"]),
        ] {
            assert_eq!(arguments(line), read, "{line}");
        }
    }
}
