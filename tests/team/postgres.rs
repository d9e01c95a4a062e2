//! A PostgreSQL of a test's own: in a temporary folder, as a user without rights, reached by a socket alone.

use std::env;
use std::fs;
use std::io::{Write as _, stderr};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fusebox::store::team::migrations;
use tempfile::TempDir;

/// Which user runs the server where the tests run as root: `nobody`, and its group.
#[cfg(unix)]
const NOBODY: u32 = 65534;

/// How long a server may take until it is as a test needs it.
const PATIENCE: Duration = Duration::from_secs(30);

/// The ports, in the names of their sockets, of the server and of its replica.
const SERVER: &str = "5432";
const REPLICA: &str = "5433";

pub struct Postgres {
    folder: TempDir,
    programs: PathBuf,
    /// What the server is started with besides.
    options: &'static str,
}

/// Finds the folder with `initdb`, the newest of Debian's, else one on the PATH.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    versions.sort();
    let on_path = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect::<Vec<_>>();
    let has_all = |folder: &&PathBuf| folder.join("initdb").exists() && folder.join("pg_ctl").exists();
    versions.iter().rev().chain(&on_path).find(has_all).cloned()
}

impl Postgres {
    /// Starts a server without anything in it, or says aloud that there is none.
    pub fn start_empty() -> Option<Postgres> {
        Postgres::start_empty_with("-c fsync=off")
    }

    fn start_empty_with(options: &'static str) -> Option<Postgres> {
        let Some(programs) = programs() else {
            skip("there is no PostgreSQL here: `apt-get install postgresql`");
            return None;
        };
        // Of a short path: a socket's may have 107 bytes.
        let folder = tempfile::Builder::new().prefix("pg").tempdir_in("/tmp").unwrap();
        own(folder.path());
        let server = Postgres { folder, programs, options };
        server.run("initdb", &["-D", "data", "-U", "boss", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"]);
        // Reached by the socket alone, where a test does not say else.
        fs::write(server.folder.path().join("data/postgresql.conf"), "listen_addresses = ''\n").unwrap();
        server.go_on();
        Some(server)
    }

    /// Starts a server with the schema of the team's store, two teams and four logins.
    pub fn start() -> Option<Postgres> {
        Postgres::start_with("-c fsync=off")
    }

    /// Starts such a server with these options.
    pub fn start_with(options: &'static str) -> Option<Postgres> {
        let server = Postgres::start_empty_with(options)?;
        for migration in migrations() {
            server.as_login("boss", &format!("BEGIN;\n{migration}\nCOMMIT;")).unwrap();
        }
        for (login, role) in [("ann", "admin"), ("bob", "member"), ("eve", "member"), ("zoe", "admin")] {
            server.as_login("boss", &format!("CREATE ROLE {login} LOGIN IN ROLE fusebox_{role}")).unwrap();
        }
        let teams = "SELECT fusebox.create_team('core'); SELECT fusebox.set_member('core', 'bob', 'member');
            SELECT fusebox.set_member('core', 'eve', 'member'); SELECT fusebox.set_team('core', 'ann', NULL, 0, NULL);";
        server.as_login("ann", teams).unwrap();
        server.as_login("zoe", "SELECT fusebox.create_team('other')").unwrap();
        Some(server)
    }

    /// Returns the folder with the server's socket, its data and its log.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Says aloud why a test is not run.
    pub fn skip(&self, why: &str) {
        skip(why);
    }

    /// Starts the server anew with these settings, and with these lines for who may log in how.
    pub fn restart_with(&self, settings: &str, who: &str, files: &[&str]) {
        self.crash();
        files.iter().for_each(|file| own(&self.folder.path().join(file)));
        let data = self.folder.path().join("data");
        fs::write(data.join("postgresql.conf"), settings).unwrap();
        fs::write(data.join("pg_hba.conf"), who).unwrap();
        self.go_on();
    }

    /// Starts the server, as `start` and a restart do.
    pub fn go_on(&self) {
        let socket = self.folder.path().to_str().unwrap();
        let options = format!("-c unix_socket_directories={socket} {}", self.options);
        self.run("pg_ctl", &["-D", "data", "-o", &options, "-l", "log", "-w", "start"]);
    }

    /// Ends the server at once, as a crash does.
    pub fn crash(&self) {
        self.run("pg_ctl", &["-D", "data", "-m", "immediate", "-w", "stop"]);
    }

    /// Starts the server on a new timeline, as a replica that takes over does.
    pub fn take_over(&self) {
        self.crash();
        let data = self.folder.path().join("data");
        fs::write(data.join("recovery.signal"), "").unwrap();
        own(&data.join("recovery.signal"));
        let command = "\nrestore_command = 'false'\n";
        fs::OpenOptions::new()
            .append(true)
            .open(data.join("postgresql.conf"))
            .unwrap()
            .write_all(command.as_bytes())
            .unwrap();
        self.go_on();
        // The server takes writes once its recovery is over.
        wait_for("f", || self.as_login("boss", "SELECT pg_is_in_recovery()"));
    }

    /// Starts a replica that follows the server.
    pub fn replicate(&self) {
        let socket = self.folder.path().to_str().unwrap();
        let of_server = ["-h", socket, "-U", "boss", "-D", "replica", "-R", "-X", "stream", "-c", "fast", "--no-sync"];
        self.run("pg_basebackup", &of_server);
        let options = format!("-c unix_socket_directories={socket} -c port={REPLICA} {}", self.options);
        self.run("pg_ctl", &["-D", "replica", "-o", &options, "-l", "log-of-replica", "-w", "start"]);
    }

    /// Waits until the replica has all that the server has now.
    pub fn catch_up(&self) {
        let end = self.as_login("boss", "SELECT pg_current_wal_lsn()").unwrap();
        let has_all = format!("SELECT pg_last_wal_replay_lsn() >= '{end}'");
        wait_for("t", || self.ask((REPLICA, "boss"), &has_all));
    }

    /// Has the replica hear nothing more of the server.
    pub fn cut_off(&self) {
        let settings = self.folder.path().join("replica/postgresql.auto.conf");
        let mut settings = fs::OpenOptions::new().append(true).open(settings).unwrap();
        settings.write_all(b"\nprimary_conninfo = ''\n").unwrap();
        self.run("pg_ctl", &["-D", "replica", "reload"]);
        wait_for("0", || self.ask((REPLICA, "boss"), "SELECT count(*) FROM pg_stat_wal_receiver"));
    }

    /// Kills the server, and has its replica take its place, with what that has heard, on a new timeline.
    pub fn fail_over(&self) {
        self.crash();
        self.run("pg_ctl", &["-D", "replica", "-m", "fast", "-w", "stop"]);
        let at = |name: &str| self.folder.path().join(name);
        fs::rename(at("data"), at("killed")).unwrap();
        fs::rename(at("replica"), at("data")).unwrap();
        self.go_on();
        self.run("pg_ctl", &["-D", "data", "-w", "promote"]);
    }

    /// Runs statements as a login, each row on a line, its columns parted by `|`. Returns the first error's words.
    pub fn as_login(&self, login: &str, statements: &str) -> Result<String, String> {
        self.ask((SERVER, login), statements)
    }

    /// Waits until a login waits for what another keeps locked.
    pub fn wait_for_lock(&self, login: &str) {
        let waits =
            format!("SELECT count(*) > 0 FROM pg_stat_activity WHERE usename = '{login}' AND wait_event_type = 'Lock'");
        wait_for("t", || self.as_login("boss", &waits));
    }

    fn ask(&self, (port, login): (&str, &str), statements: &str) -> Result<String, String> {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-h", self.folder.path().to_str().unwrap(), "-p", port, "-U", login, "-d", "postgres", "-XAtq"]);
        psql.args(["-v", "ON_ERROR_STOP=1"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut psql = psql.spawn().unwrap();
        psql.stdin.take().unwrap().write_all(statements.as_bytes()).unwrap();
        let Output { status, stdout, stderr } = psql.wait_with_output().unwrap();
        if status.success() {
            Ok(String::from_utf8(stdout).unwrap().trim_end().to_owned())
        } else {
            Err(String::from_utf8(stderr).unwrap().lines().next().unwrap_or_default().to_owned())
        }
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(self.programs.join(program));
        command.args(arguments).current_dir(self.folder.path()).env("TZ", "UTC").stdout(Stdio::null());
        unprivileged(&mut command);
        let status = command.status().unwrap();
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        assert!(status.success(), "{program} {arguments:?}: {log}");
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        for data in ["data", "replica"].iter().filter(|data| self.folder.path().join(data).exists()) {
            let mut stop = Command::new(self.programs.join("pg_ctl"));
            stop.args(["-D", data, "-m", "immediate", "-w", "stop"]).current_dir(self.folder.path());
            unprivileged(stop.stdout(Stdio::null()));
            let _ = stop.status();
        }
    }
}

/// Waits until a server answers so.
fn wait_for(answer: &str, ask: impl Fn() -> Result<String, String>) {
    let began = Instant::now();
    loop {
        let said = ask();
        if said.as_deref() == Ok(answer) {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{said:?}, not {answer}");
    }
}

/// Says aloud why a test is not run.
fn skip(why: &str) {
    let test = thread::current().name().unwrap_or_default().to_owned();
    stderr().write_all(format!("\nSKIPPED, NOT PASSED: {test}: {why}\n").as_bytes()).unwrap();
}

/// Has a command run without rights: the server refuses to run as root.
fn unprivileged(command: &mut Command) {
    #[cfg(unix)]
    if is_root() {
        use std::os::unix::process::CommandExt as _;
        command.uid(NOBODY).gid(NOBODY);
    }
}

/// Gives a file to the user that runs the server.
fn own(path: &Path) {
    #[cfg(unix)]
    if is_root() {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}
