//! What is refused and what passes on Windows.

use crate::wire::bypass_detection::Guard;
use crate::wire::bypass_detection::path_rules::{PathRules, from_powershell};
use crate::wire::bypass_detection::tests::ATTEMPTS;

/// A session on Windows.
fn windows_guard() -> Guard {
    let own = |path: &str| Some(path.to_owned());
    Guard {
        rules: PathRules::Windows,
        state_dir: own(r"C:\Users\You\AppData\Local\fusebox"),
        program: own(r"C:\Tools\fusebox.exe"),
        project: own(r"C:\Work\p"),
        claude_dir: own(r"C:\Users\You\.claude"),
        home: own(r"C:\Users\You"),
        folder: own(r"C:\Work\p"),
        ..Guard::default()
    }
}

#[test]
fn a_program_is_known_by_whatever_name_its_system_starts_it_by() {
    let names = |program: &str| {
        let large = program.to_uppercase();
        [
            format!("{program}.exe"),
            format!("{large}.EXE"),
            format!("'C:\\Some Tools\\{program}.exe'"),
            format!("C:/Tools/{large}"),
            format!("/c/tools/{program}.cmd"),
            format!("..\\\\{program}"),
        ]
    };
    let mut tried = 0;
    for attempt in ATTEMPTS {
        for program in ["fusebox", "claude"] {
            // Where it stands as a program, alone between blanks and quotes.
            let Some(at) = attempt.find(&format!("{program} ")) else { continue };
            if attempt[..at].ends_with(['/', '-', '.', '~']) || attempt.contains("kill") {
                continue;
            }
            for name in names(program).into_iter().filter(|name| !name.starts_with('\'') || !attempt.contains('\'')) {
                let command = format!("{}{name}{}", &attempt[..at], &attempt[at + program.len()..]);
                assert!(windows_guard().command(&command).is_some(), "{command}");
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn what_is_written_on_windows_is_known_by_its_path() {
    for (path, is_guarded) in [
        (r"C:\Work\p\.claude\fusebox.json", true),
        (r"c:\work\P\.CLAUDE\FuseBox.json", true),
        (r".claude\fusebox.local.json", true),
        ("/c/Work/p/.claude/fusebox.json", true),
        (r"~\.claude\fusebox.json", true),
        (r"C:\Users\You\AppData\Local\fusebox\state.db", true),
        (r"\\?\C:\Tools\fusebox.exe", true),
        (r"C:\Work\other\.claude\fusebox.json", false),
        (r"D:\Work\p\.claude\fusebox.json", false),
        (r"C:\Work\p\src\main.rs", false),
    ] {
        assert_eq!(windows_guard().file(path).is_some(), is_guarded, "{path}");
    }
    for (command, is_refused) in [
        (r#"& "C:\Tools\fusebox.exe" grant s1"#, true),
        (r"C:\Tools\FUSEBOX.exe grant s1", true),
        (r"Set-Content -Path C:\Work\p\.claude\fusebox.json -Value '{}'", true),
        (r"remove-item $env:LOCALAPPDATA\fusebox -Recurse", true),
        (r"Copy-Item x $Env:UserProfile\.claude\fusebox.json", true),
        (r"'{}' > .claude\fusebox.json", true),
        ("fuse`box grant s1", true),
        ("Start-Process claude --bare", true),
        ("cmd /c \"fusebox grant s1\"", true),
        ("powershell -NoProfile -Command \"claude --bare -p go\"", true),
        ("taskkill /F /IM fusebox.exe; Stop-Process -Name fusebox", true),
        (r"Get-Content .claude\fusebox.json; taskkill /IM node.exe", false),
        (r"fusebox.exe status; C:\Tools\claude.exe -p go; Write-Output 'fusebox grant'", false),
    ] {
        assert_eq!(windows_guard().command(&from_powershell(command)).is_some(), is_refused, "{command}");
    }
}
