//! What functions of other languages run, and do with the files that they name, as tables.

use crate::wire::bypass_detection::program_names::Names;
use crate::wire::bypass_detection::program_text::Token;

/// Functions that run a command, a text for a shell or words: those that are called so elsewhere, too, and those that are not.
pub(super) const RUNS: [&str; 7] = ["call", "popen", "run", "shell_exec", "spawn", "system", "exec"];
pub(super) const RUNS_SURELY: [&str; 9] = [
    "Popen",
    "check_call",
    "check_output",
    "execFile",
    "execFileSync",
    "execSync",
    "getoutput",
    "getstatusoutput",
    "spawnSync",
];

/// How functions begin that run a program, whose own name they are given before its arguments; and how they end.
const RUNS_NAMED: [&str; 3] = ["exec", "spawn", "posix_spawn"];
const ENDS: [&str; 9] = ["l", "le", "lp", "lpe", "v", "ve", "vp", "vpe", "p"];

/// Which files a function writes, moves or takes away, of those that it names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    First,
    Second,
    Both,
    /// The first, where a word behind it is a mode in which a file is written; in Perl the mode stands before it.
    ByMode,
}

/// Functions that write, move or take away files.
pub(super) const WRITES: [(&str, Takes); 43] = [
    ("appendFile", Takes::First),
    ("appendFileSync", Takes::First),
    ("appendTextFile", Takes::First),
    ("chmodSync", Takes::First),
    ("chownSync", Takes::First),
    ("copyFile", Takes::Second),
    ("copyFileSync", Takes::Second),
    ("copy2", Takes::Second),
    ("copyfile", Takes::Second),
    ("copytree", Takes::Second),
    ("cpSync", Takes::Second),
    ("createWriteStream", Takes::First),
    ("file_put_contents", Takes::First),
    ("fopen", Takes::ByMode),
    ("linkSync", Takes::Second),
    ("lchmod", Takes::First),
    ("open", Takes::ByMode),
    ("openSync", Takes::ByMode),
    ("outputFile", Takes::First),
    ("outputFileSync", Takes::First),
    ("outputJson", Takes::First),
    ("outputJsonSync", Takes::First),
    ("removeSync", Takes::First),
    ("renameSync", Takes::Both),
    ("rm_f", Takes::First),
    ("rm_rf", Takes::First),
    ("rmSync", Takes::First),
    ("rmdirSync", Takes::First),
    ("sysopen", Takes::First),
    ("symlinkSync", Takes::Second),
    ("truncateSync", Takes::First),
    ("unlinkSync", Takes::First),
    ("urlretrieve", Takes::Second),
    ("writeFile", Takes::First),
    ("writeFileSync", Takes::First),
    ("writeJson", Takes::First),
    ("writeJsonSync", Takes::First),
    ("writeTextFile", Takes::First),
    ("writeTextFileSync", Takes::First),
    ("xopen", Takes::ByMode),
    ("GzipFile", Takes::ByMode),
    ("TarFile", Takes::ByMode),
    ("ZipFile", Takes::ByMode),
];

/// Functions that write, move or take away files, by names that other functions have, too.
pub(super) const WRITES_HELD: [(&str, Takes); 22] = [
    ("binwrite", Takes::First),
    ("chmod", Takes::Both),
    ("chown", Takes::Both),
    ("copy", Takes::Second),
    ("cp", Takes::Second),
    ("cp_r", Takes::Second),
    ("ftruncate", Takes::First),
    ("link", Takes::Second),
    ("ln_s", Takes::Second),
    ("move", Takes::Both),
    ("mv", Takes::Both),
    ("remove", Takes::Both),
    ("rename", Takes::Both),
    ("replace", Takes::Both),
    ("rm", Takes::Both),
    ("rmtree", Takes::Both),
    ("symlink", Takes::Second),
    ("touch", Takes::First),
    ("truncate", Takes::Both),
    ("unlink", Takes::Both),
    ("utime", Takes::First),
    ("write", Takes::First),
];

/// Functions that write, make or take away the file that stands before them.
pub(super) const WRITES_INTO: [&str; 9] =
    ["chmod", "hardlink_to", "lchmod", "rmdir", "symlink_to", "touch", "unlink", "write_bytes", "write_text"];

/// Flags by which a file is opened to write.
pub(super) const FLAGS: [&str; 5] = ["O_APPEND", "O_CREAT", "O_RDWR", "O_TRUNC", "O_WRONLY"];

/// Whether a function of this name runs a program, whose own name it is given before its arguments.
pub(super) fn is_named(name: &str) -> bool {
    RUNS_NAMED.iter().any(|begin| name.strip_prefix(begin).is_some_and(|end| ENDS.contains(&end)))
}

/// Whether a function of this name may run a command.
pub(super) fn may_run(name: &str) -> bool {
    is_named(name) || RUNS_SURELY.contains(&name) || RUNS.contains(&name)
}

/// Whether the text tells of each file that a function's body writes which one it is.
pub(super) fn tells_its_files(body: &[Token], names: &Names) -> bool {
    let is_told = |token: &Token| matches!(token, Token::Text(_)) || token.is_name(|name| names.tells(name));
    body.iter().enumerate().all(|(at, token)| match &body[..at] {
        _ if token.is_name(|name| WRITES.iter().any(|row| row.0 == name)) => body.get(at + 2).is_some_and(is_told),
        [.., Token::Name("Path"), Token::Sign('('), path, Token::Sign(')'), Token::Sign('.')] => is_told(path),
        _ => !token.is_name(|name| WRITES_INTO.contains(&name)),
    })
}

/// Returns the files that a function takes of the words in quotes that it is given; a call may have a flag instead of a mode.
pub(super) fn taken<'t>(takes: Takes, given: &[&'t str], opens_to_write: bool) -> Vec<&'t str> {
    let writes =
        |mode: &str| mode.contains(['w', 'a', 'x', '+', '>']) && mode.chars().all(|it| "wax+>rbtU<:gz2|*".contains(it));
    let taken: &[&str] = match (takes, given) {
        (Takes::ByMode, [mode, rest @ ..]) if mode.starts_with(['>', '+']) => rest,
        (Takes::ByMode, [file, mode, ..]) if writes(mode) => return vec![file],
        (Takes::ByMode, [file, ..]) if opens_to_write => return vec![file],
        (Takes::ByMode, _) => &[],
        (Takes::First, [first, ..]) => return vec![first],
        (Takes::Second, [_, second, ..]) => return vec![second],
        (Takes::First | Takes::Second, _) => &[],
        (Takes::Both, _) => given,
    };
    taken.iter().take(2).copied().collect()
}
