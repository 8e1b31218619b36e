//! A server process from its parent's side.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use super::{ServerProgram, ServerSettings};
use crate::error::StressError;
use crate::process::location_text;

/// What a server says when it can be asked.
const LISTENING: &str = "listening on http://";
/// The kernel may hold the port of the dead for a moment.
const STARTS_MAX: usize = 50;

#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    address: SocketAddr,
}

impl ServerProcess {
    /// Starts one and waits until it listens: at any port, or at the one of its predecessor, which clients know.
    pub fn start(settings: &ServerSettings, address: Option<SocketAddr>) -> Result<Self, StressError> {
        let mut said = String::new();
        for _ in 0..STARTS_MAX {
            let mut child = command(settings, address)?.spawn()?;
            let output = child.stdout.take().expect("its standard output is a pipe");
            said.clear();
            BufReader::new(output).read_line(&mut said)?;
            let listens = said.trim().strip_prefix(LISTENING).and_then(|address| address.parse().ok());
            // Held from here on: it ends with this value.
            let mut server = Self { child, address: listens.unwrap_or(([127, 0, 0, 1], 0).into()) };
            if listens.is_some() {
                return Ok(server);
            }
            server.kill()?;
        }
        Err(StressError::ServerSilent { said: said.trim().to_owned() })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn kill(&mut self) -> Result<(), StressError> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

fn command(settings: &ServerSettings, address: Option<SocketAddr>) -> Result<Command, StressError> {
    let listen = address.unwrap_or(([127, 0, 0, 1], 0).into()).to_string();
    // Named, so that the caller's own settings are not looked for. A server indexes nothing unless it is told to.
    let configuration = settings.folder.join("settings.toml");
    std::fs::write(&configuration, format!("[code]\nroots = [{:?}]\n", settings.folder.display().to_string()))?;
    let mut command = match &settings.program {
        ServerProgram::Own(program) => Command::new(program),
        ServerProgram::Rootset(program) => Command::new(program),
    };
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ROOTSET_") {
            command.env_remove(name);
        }
    }
    match &settings.program {
        ServerProgram::Own(_) => command.args(["serve", "--listen", &listen]),
        ServerProgram::Rootset(_) => command.args(["--quiet", "serve", "--no-auth", "--listen", &listen]),
    };
    // By the environment: arguments can be seen by everybody on the machine, and a URL may hold a password.
    command
        .env("ROOTSET_DB", location_text(&settings.database))
        .env("ROOTSET_CONFIG", configuration)
        .env("ROOTSET_LOG", "error");
    command.current_dir(&settings.folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    Ok(command)
}
