//! A PostgreSQL server of a test's own: one that may be crashed, started again and replaced by its standby.
//!
//! Its programs are those of the folder that `ROOTSET_TEST_POSTGRES_BIN` names, which `scripts/postgres` sets.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rootset_store::Location;
use tempfile::TempDir;

use crate::folder::temporary_folder;
use crate::sql::Sql;

const VARIABLE: &str = "ROOTSET_TEST_POSTGRES_BIN";
/// Longer than a start with a recovery takes.
const START_WAIT: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Small, and durable as doctor wants it; what comes later in the file counts.
const SETTINGS: &str = "listen_addresses = ''\nshared_buffers = 32MB\nmax_connections = 60\nwal_keep_size = 128MB";

/// Ends the server when this process does, however that happens: then nobody writes to the pipe any more.
const KEEPER: &str = r#"trap '' INT TERM HUP; "$@" >>"$LOG" 2>&1 & cat >/dev/null; kill -QUIT $! 2>/dev/null; wait"#;

#[derive(Debug)]
pub struct OwnServer {
    folder: TempDir,
    keeper: Option<Child>,
}

impl OwnServer {
    /// A new one with these settings, as `postgresql.conf` has them; started.
    pub fn new(settings: &[&str]) -> io::Result<Self> {
        let mut server = Self { folder: open_folder()?, keeper: None };
        // Nobody needs what is in it after a power cut.
        let made = ["-U", "postgres", "-A", "trust", "--locale=C", "-E", "UTF8", "--no-sync", "-D"];
        server.done("initdb", &made, &[&server.data()])?;
        server.set(SETTINGS)?;
        server.set(&settings.join("\n"))?;
        server.start()?;
        Ok(server)
    }

    /// Adds lines to its settings, for the next start.
    pub fn set(&self, lines: &str) -> io::Result<()> {
        let path = self.data().join("postgresql.conf");
        let written = std::fs::read_to_string(&path)? + lines + "\n";
        std::fs::write(path, written)
    }

    /// A standby of this one, which streams from it; started.
    pub fn standby(&self) -> io::Result<Self> {
        let mut standby = Self { folder: open_folder()?, keeper: None };
        let from = self.folder.path();
        let copied = ["-U", "postgres", "-c", "fast", "-X", "stream", "-R", "--no-sync", "-h"];
        standby.done("pg_basebackup", &copied, &[from, Path::new("-D"), &standby.data()])?;
        standby.start()?;
        Ok(standby)
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@/{database}?host={}", self.folder.path().display())
    }

    pub fn sql(&self, database: &str) -> Sql {
        let location = Location::parse(&self.url(database)).expect("a URL of our own making");
        Sql::open(&location).unwrap_or_else(|error| panic!("{}: {error}\n{}", self.url(database), self.log()))
    }

    /// Starts it, and waits until it answers.
    pub fn start(&mut self) -> io::Result<()> {
        let folder = self.folder.path();
        let mut server = as_server(folder, "postgres")?;
        server.arg("-D").arg(self.data()).arg("-k").arg(folder);
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER, "sh"]).arg(server.get_program()).args(server.get_args());
        keeper.env("LOG", folder.join("log")).stdin(Stdio::piped());
        self.keeper = Some(keeper.spawn()?);
        let location = Location::parse(&self.url("postgres")).expect("a URL of our own making");
        let begun = Instant::now();
        while Sql::open(&location).is_err() {
            if begun.elapsed() > START_WAIT {
                return Err(io::Error::other(format!("the server did not start: {}", self.log())));
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Ends it as a crash does: nothing that is in its memory gets to its files.
    pub fn stop_at_once(&mut self) -> io::Result<()> {
        self.done("pg_ctl", &["-m", "immediate", "-w", "stop", "-D"], &[&self.data()])?;
        self.forget_keeper();
        Ok(())
    }

    /// Ends it in order.
    pub fn stop(&mut self) -> io::Result<()> {
        self.done("pg_ctl", &["-m", "fast", "-w", "stop", "-D"], &[&self.data()])?;
        self.forget_keeper();
        Ok(())
    }

    /// `kill -9` for all of its processes. Needs `/proc`.
    pub fn kill(&mut self) -> io::Result<()> {
        let first = std::fs::read_to_string(self.data().join("postmaster.pid"))?;
        let first = first.lines().next().unwrap_or_default().to_owned();
        // New ones come from the first alone.
        signal("-STOP", std::slice::from_ref(&first))?;
        let mut all = children_of(&first)?;
        all.push(first);
        signal("-KILL", &all)?;
        self.forget_keeper();
        // A lock file of the dead is no obstacle, but one of their processes that still ends is.
        while all.iter().any(|pid| is_alive(pid)) {
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Halts one of its processes until it is killed.
    pub fn halt(&self, pid: i64) -> io::Result<()> {
        signal("-STOP", &[pid.to_string()])
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn done(&self, program: &str, arguments: &[&str], paths: &[&Path]) -> io::Result<()> {
        let output = as_server(self.folder.path(), program)?.args(arguments).args(paths).output()?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(io::Error::other(format!("{program}: {said}")))
    }

    fn forget_keeper(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            // What it says of its end is nobody's concern.
            keeper.wait().ok();
        }
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.forget_keeper();
    }
}

/// One that whoever the server runs as may write to.
fn open_folder() -> io::Result<TempDir> {
    use std::os::unix::fs::PermissionsExt;
    let folder = temporary_folder();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777))?;
    Ok(folder)
}

/// PostgreSQL refuses to run as root.
fn as_server(folder: &Path, program: &str) -> io::Result<Command> {
    let Ok(programs) = std::env::var(VARIABLE) else {
        return Err(io::Error::other(format!(
            "`{VARIABLE}` is not set; hint: scripts/postgres sets it; beside a server of your own, name the folder of \
             PostgreSQL's programs"
        )));
    };
    let program = Path::new(&programs).join(program);
    let id = |of: &[&str]| -> io::Result<String> {
        Ok(String::from_utf8_lossy(&Command::new("id").args(of).output()?.stdout).trim().to_owned())
    };
    if id(&["-u"])? != "0" {
        return Ok(Command::new(program));
    }
    let mut command = Command::new("setpriv");
    command.arg("--reuid=nobody").arg(format!("--regid={}", id(&["-g", "nobody"])?)).arg("--clear-groups");
    command.arg("env").arg(format!("HOME={}", folder.display())).arg(program);
    Ok(command)
}

fn signal(name: &str, processes: &[String]) -> io::Result<()> {
    // Some may have ended by themselves.
    Command::new("kill").arg(name).args(processes).stderr(Stdio::null()).status().map(drop)
}

/// The second field after the name, which may hold anything, is the parent.
fn children_of(parent: &str) -> io::Result<Vec<String>> {
    let processes = std::fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_child = |process: &String| status_of(process).is_some_and(|(_, its_parent)| its_parent == parent);
    Ok(processes.filter(is_child).collect())
}

fn is_alive(process: &str) -> bool {
    status_of(process).is_some_and(|(state, _)| state != "Z")
}

/// State and parent of a process.
fn status_of(process: &str) -> Option<(String, String)> {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = status.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.to_owned(), fields.next()?.to_owned()))
}
