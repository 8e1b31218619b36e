//! `rootset tour`: a guided run of real commands in a folder of its own, which is gone afterwards.
//!
//! Commands are run as a person would run them: as processes, without any of the caller's settings. Their output is their
//! own.

mod props;
mod script;

use std::fs;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use rootset_api::ErrorCode;
use rootset_service::ServiceError;
use tempfile::TempDir;

use crate::exit::{Failure, STATUS_CALLER};
use crate::program::Program;
use crate::render;
use crate::stop::Stop;
use script::{CHAPTERS, Step};

/// How often a waiting tour looks whether it was told to end.
const STEP: Duration = Duration::from_millis(50);
/// Settings of the caller's must not reach the tour: a model that costs money, a database that is dear.
const PREFIX: &str = "ROOTSET_";

pub fn run(program: &Program) -> Result<(), Failure> {
    if program.output.in_json() {
        return Err(ServiceError::invalid("`rootset tour` has no JSON output").into());
    }
    // Before the folder is made, so that no signal can leave it behind.
    let stop = Stop::on_signals()?;
    let stage = Stage::build()?;
    let is_watched = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let pace = if is_watched && !program.global.yes { Pace::on_enter() } else { Pace::AtOnce };
    let outcome = Tour { program, stop: &stop, stage: &stage, pace: &pace }.run();
    stage.strike()?;
    outcome
}

struct Tour<'a> {
    program: &'a Program,
    stop: &'a Stop,
    stage: &'a Stage,
    pace: &'a Pace,
}

impl Tour<'_> {
    fn run(&self) -> Result<(), Failure> {
        let say = |text: &str| self.program.output.text(text);
        say("A tour of Rootset, on a temporary database.\n")?;
        if let Pace::OnEnter(_) = self.pace {
            say(&format!("{}\n", render::dim("Press Enter to continue, q and Enter to stop.")))?;
        }
        for (number, chapter) in CHAPTERS.iter().enumerate() {
            let heading = format!("{}. {}", number + 1, chapter.title);
            say(&format!("\n{}\n{}\n", render::bold(heading), chapter.text))?;
            for step in chapter.steps {
                let why = if step.why.is_empty() { String::new() } else { format!("# {}\n", step.why) };
                say(&format!("\n{}{}\n", render::dim(why), render::bold(format!("$ {}", step.command()))))?;
                match self.pace.wait(self.stop) {
                    Waited::GoOn => {}
                    Waited::Enough => return Ok(()),
                    Waited::Stopped => {
                        self.program.output.talk("the tour was stopped");
                        return Err(Failure::Said(STATUS_CALLER));
                    }
                }
                self.stage.perform(step)?;
            }
        }
        say(&format!("\n{}\n{}\n", render::bold("That was it."), script::FAREWELL))
    }
}

/// The folder that everything happens in.
struct Stage {
    folder: TempDir,
    program: PathBuf,
}

impl Stage {
    fn build() -> Result<Self, ServiceError> {
        let failed = |error: std::io::Error| trouble("prepare", &error);
        let folder = tempfile::Builder::new().prefix("rootset-tour-").tempdir().map_err(failed)?;
        fs::create_dir_all(folder.path().join(script::WORK)).map_err(failed)?;
        // Named, so that the caller's own settings are not looked for.
        fs::write(folder.path().join("settings.toml"), "").map_err(failed)?;
        for (path, text) in props::files() {
            let path = folder.path().join(script::WORK).join(path);
            fs::create_dir_all(path.parent().unwrap_or(&path)).map_err(failed)?;
            fs::write(path, text).map_err(failed)?;
        }
        let program = std::env::current_exe().map_err(failed)?;
        let stage = Self { folder, program };
        // The remark about a new database would be about one that nobody keeps.
        let made = stage.command(&["stats", "--quiet"]).stdout(Stdio::null()).status().map_err(failed)?;
        made.success().then_some(stage).ok_or_else(|| ServiceError::new(ErrorCode::Internal, "cannot prepare the tour"))
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join(script::WORK)
    }

    fn perform(&self, step: &Step) -> Result<(), Failure> {
        match step.action {
            script::StepAction::Rootset(arguments) => self.run(arguments),
            script::StepAction::RemoveFile(path) => {
                Ok(fs::remove_file(self.work().join(path)).map_err(|error| trouble("go on with", &error))?)
            }
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with(PREFIX) {
                command.env_remove(name);
            }
        }
        let inside = |name: &str| self.folder.path().join(name);
        command.env("ROOTSET_DB", inside("tour.db")).env("ROOTSET_CONFIG", inside("settings.toml"));
        // The input is the tour's: whoever presses Enter talks to it.
        command.current_dir(self.work()).stdin(Stdio::null()).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Result<(), Failure> {
        let status = self.command(arguments).status().map_err(|error| trouble("run a command of", &error))?;
        // Ended by the same Ctrl-C that ends the tour: the next wait says so.
        if status.success() || status.code().is_none() {
            return Ok(());
        }
        let message = format!("`rootset {}` did not do what the tour expects", arguments.join(" "));
        Err(ServiceError::new(ErrorCode::Internal, message).into())
    }

    fn strike(self) -> Result<(), ServiceError> {
        let path: PathBuf = Path::to_owned(self.folder.path());
        self.folder.close().map_err(|error| {
            ServiceError::new(ErrorCode::Internal, format!("cannot remove `{}`: {error}", path.display()))
        })
    }
}

fn trouble(what: &str, error: &std::io::Error) -> ServiceError {
    ServiceError::new(ErrorCode::Internal, format!("cannot {what} the tour: {error}"))
        .with_hint("it needs some space in the folder for temporary files")
}

/// When the next command runs.
enum Pace {
    AtOnce,
    OnEnter(Receiver<String>),
}

impl Pace {
    /// Lines are read aside: a read does not end with a signal, and Ctrl-C must.
    fn on_enter() -> Self {
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self::OnEnter(lines)
    }

    fn wait(&self, stop: &Stop) -> Waited {
        let Self::OnEnter(lines) = self else {
            return if stop.wait(Duration::ZERO) { Waited::Stopped } else { Waited::GoOn };
        };
        loop {
            if stop.wait(STEP) {
                return Waited::Stopped;
            }
            match lines.try_recv() {
                Ok(line) if line.trim().eq_ignore_ascii_case("q") => return Waited::Enough,
                Ok(_) => return Waited::GoOn,
                Err(TryRecvError::Empty) => {}
                // The end of the input: nobody is there any more.
                Err(TryRecvError::Disconnected) => return Waited::Enough,
            }
        }
    }
}

enum Waited {
    GoOn,
    Enough,
    Stopped,
}
