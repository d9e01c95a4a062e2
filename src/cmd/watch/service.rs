//! `fusebox watch --install`: the watch as a service of the person's own session, by systemd or launchd.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cmd::require_human;
use crate::error::{Error, Result};
use crate::install::files;
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::platform::run_command::Program;
use crate::platform::{environment, processes};
use crate::wire::bypass_detection::processes::SERVICE_FILES;

/// The service's files, for systemd and for launchd, which knows it by the name without its end.
const UNIT: &str = SERVICE_FILES[0];
const PLIST: &str = SERVICE_FILES[1];
/// Variables that say where Fusebox and the client keep their files: a service has none of a shell's.
const VARIABLES: [&str; 3] = ["FUSEBOX_HOME", "CLAUDE_CONFIG_DIR", "PATH"];

/// A service manager with what it is told.
struct Service {
    /// The file that describes the service.
    file: PathBuf,
    /// What the file says.
    text: String,
    /// The commands that end the one that runs, where one does.
    replace: Vec<Vec<String>>,
    /// The commands that begin it, once the file is there.
    begin: Vec<Vec<String>>,
    /// The commands that end it, before the file goes.
    end: Vec<Vec<String>>,
    /// The commands after the file has gone.
    after: Vec<Vec<String>>,
}

/// Has the watch run as a service, from now on.
pub fn install(env: &Environment) -> Result<ExitCode> {
    require_human::require(env, "watch --install")?;
    let service = of_system(env)?;
    files::write(&service.file, &service.text)?;
    for words in &service.replace {
        // Where none runs, none has to end.
        let _ended = run(words);
    }
    for words in &service.begin {
        run(words).map_err(|why| {
            Error::failed(format!("`{}`: {why}", words.join(" "))).hint(format!(
                "`{}` is written, and nothing runs it: `fusebox watch` in a terminal watches until then",
                env.short_path(&service.file)
            ))
        })?;
    }
    env.print(&format!(
        "the watch runs as a service of yours, by `{}`; `fusebox watch --uninstall` takes it away\n",
        env.short_path(&service.file)
    ));
    Ok(ExitCode::SUCCESS)
}

/// Returns the file of the service, where one is installed.
pub fn installed(env: &Environment) -> Option<PathBuf> {
    of_system(env).ok().map(|service| service.file).filter(|file| file_info::exists(file))
}

/// Takes the service away.
pub fn uninstall(env: &Environment) -> Result<ExitCode> {
    require_human::require(env, "watch --uninstall")?;
    let service = of_system(env)?;
    if !file_info::exists(&service.file) {
        env.print(&format!("no service is installed: `{}` is not there\n", env.short_path(&service.file)));
        return Ok(ExitCode::SUCCESS);
    }
    // One that has ended already cannot be ended: the file goes all the same.
    let ended = service.end.iter().filter_map(|words| run(words).err()).collect::<Vec<_>>();
    files::remove(&service.file)?;
    let after = service.after.iter().filter_map(|words| run(words).err());
    for why in ended.into_iter().chain(after) {
        env.eprintln_safe(&format!("warning: {why}"));
    }
    env.print(&format!("the service is gone, and `{}` with it\n", env.short_path(&service.file)));
    Ok(ExitCode::SUCCESS)
}

fn run(words: &[String]) -> std::result::Result<(), String> {
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    let ran = Program::new(program).args(arguments).answer("")?;
    let said = String::from_utf8_lossy(&ran.err).lines().next().map(|line| format!(" ({line})")).unwrap_or_default();
    if ran.status.success() { Ok(()) } else { Err(format!("{}{said}", ran.status)) }
}

/// Returns the service as this system runs it, or says why none can be.
fn of_system(env: &Environment) -> Result<Service> {
    let program = env.binary().ok_or_else(|| Error::failed("the path of this program is not known"))?;
    let home = env.home().ok_or_else(|| Error::failed("the home folder is not known"))?;
    let variables: Vec<(&str, String)> = VARIABLES.iter().filter_map(|name| Some((*name, env.var(name)?))).collect();
    match environment::system_name() {
        "Linux" => {
            let config = env.var("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
            Ok(of_systemd(config.join("systemd/user").join(UNIT), &program, &variables))
        }
        "macOS" => {
            let file = home.join("Library/LaunchAgents").join(PLIST);
            Ok(of_launchd(file, &program, &variables, processes::user_id()))
        }
        system => Err(Error::failed(format!("{system} has no service of a user that this installs"))
            .hint(format!("its Task Scheduler can run `\"{}\" watch` at your logon", program.display()))),
    }
}

fn of_systemd(file: PathBuf, program: &Path, variables: &[(&str, String)]) -> Service {
    let lines: String = variables
        .iter()
        .map(|(name, value)| format!("Environment={}\n", systemd_word(&format!("{name}={value}"), "%%")))
        .collect();
    // Only in a command line does `$` begin a variable.
    let program = systemd_word(&program.to_string_lossy(), "%%").replace('$', "$$");
    let text = format!(
        "[Unit]\nDescription=Fusebox: alerts, and a watchdog over coding agents\n\n[Service]\nExecStart={program} watch\n{lines}\
         Restart=on-failure\nRestartSec=10\n\n[Install]\nWantedBy=default.target\n"
    );
    let command = |words: &[&str]| ["systemctl", "--user"].iter().chain(words).map(|word| (*word).to_owned()).collect();
    Service {
        file,
        text,
        replace: Vec::new(),
        begin: vec![command(&["daemon-reload"]), command(&["enable", "--now", UNIT]), command(&["restart", UNIT])],
        end: vec![command(&["disable", "--now", UNIT])],
        after: vec![command(&["daemon-reload"])],
    }
}

/// Writes a word as a unit's file quotes it.
fn systemd_word(word: &str, percent: &str) -> String {
    let quoted = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', percent).replace('\n', "\\n");
    format!("\"{quoted}\"")
}

fn of_launchd(file: PathBuf, program: &Path, variables: &[(&str, String)], user: u32) -> Service {
    let label = PLIST.trim_end_matches(".plist");
    let lines: String = variables
        .iter()
        .map(|(name, value)| format!("    <key>{name}</key><string>{}</string>\n", xml(value)))
        .collect();
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
         \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n<dict>\n  <key>Label</key><string>{label}\
         </string>\n  <key>ProgramArguments</key>\n  <array><string>{}</string><string>watch</string></array>\n  \
         <key>EnvironmentVariables</key>\n  <dict>\n{lines}  </dict>\n  <key>RunAtLoad</key><true/>\n  <key>KeepAlive</key>\n  \
         <dict><key>SuccessfulExit</key><false/></dict>\n</dict>\n</plist>\n",
        xml(&program.to_string_lossy())
    );
    let command = |words: Vec<String>| -> Vec<String> { ["launchctl".to_owned()].into_iter().chain(words).collect() };
    let domain = format!("gui/{user}");
    let path = file.to_string_lossy().into_owned();
    let bootout = command(vec!["bootout".to_owned(), format!("{domain}/{label}")]);
    Service {
        file,
        text,
        // What is loaded already cannot be loaded again.
        replace: vec![bootout.clone()],
        begin: vec![command(vec!["bootstrap".to_owned(), domain, path])],
        end: vec![bootout],
        after: Vec::new(),
    }
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
