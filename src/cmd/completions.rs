//! `fusebox completions SHELL`: the script by which a shell completes our command lines. It asks `fusebox complete` at each TAB.

use std::process::ExitCode;

use clap::ValueEnum;

use crate::error::Result;
use crate::platform::environment::Environment;

/// Arguments of `fusebox completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fusebox completions bash > ~/.local/share/bash-completion/completions/fusebox
  fusebox completions zsh > ~/.zfunc/_fusebox              with ~/.zfunc in the fpath, before compinit
  fusebox completions fish > ~/.config/fish/completions/fusebox.fish
  fusebox completions powershell >> $PROFILE")]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// A shell with completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Bash, from 4 on
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
    /// PowerShell, from 5.1 on
    Powershell,
}

const BASH: &str = r#"_fusebox() {
    local IFS=$'\n' words=("${COMP_WORDS[@]:1:COMP_CWORD}")
    COMPREPLY=($(fusebox complete -- "${words[@]}" 2>/dev/null | sed 's/  .*//'))
}
complete -o bashdefault -o default -F _fusebox fusebox
"#;

const ZSH: &str = r#"#compdef fusebox
_fusebox() {
    local -a found
    found=("${(@f)$(fusebox complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    found=("${(@)${(@)found//:/\\:}/  /:}")
    if [[ -n "$found[1]" ]]; then _describe fusebox found; else _files; fi
}
if [[ "$funcstack[1]" = _fusebox ]]; then _fusebox "$@"; else compdef _fusebox fusebox; fi
"#;

const FISH: &str = r"function __fusebox_complete
    set -l words (commandline -opc) (commandline -ct)
    fusebox complete -- $words[2..-1] 2>/dev/null | string replace '  ' \t
end
complete -c fusebox -a '(__fusebox_complete)'
";

const POWERSHELL: &str = r#"Register-ArgumentCompleter -Native -CommandName fusebox -ScriptBlock {
    param($typed, $line, $cursor)
    $words = @($line.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | Select-Object -Skip 1 | ForEach-Object { "$_" })
    fusebox complete -- @words "$typed" 2>$null | ForEach-Object {
        $word, $help = $_ -split '  ', 2
        [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $(if ($help) { $help } else { $word }))
    }
}
"#;

/// Runs `fusebox completions`.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    env.print_data(script(args.shell));
    Ok(ExitCode::SUCCESS)
}

/// Returns the script for a shell.
pub fn script(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
        Shell::Powershell => POWERSHELL,
    }
}

/// Returns the command that puts completions where the shell of a person finds them; `None` for a shell that is not known.
pub fn offer(env: &Environment) -> Option<&'static str> {
    let shell = env.var("SHELL")?;
    match shell.rsplit('/').next()? {
        "bash" => Some(
            "mkdir -p ~/.local/share/bash-completion/completions && fusebox completions bash > ~/.local/share/bash-completion/completions/fusebox",
        ),
        "zsh" => Some("mkdir -p ~/.zfunc && fusebox completions zsh > ~/.zfunc/_fusebox"),
        "fish" => Some(
            "mkdir -p ~/.config/fish/completions && fusebox completions fish > ~/.config/fish/completions/fusebox.fish",
        ),
        _ => None,
    }
}
