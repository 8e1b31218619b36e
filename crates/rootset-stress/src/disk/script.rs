//! Several operations in one process, each acknowledged as soon as it returned.
//!
//! The hidden command `script` reads its operations from the first line of its input, says one line per operation and stops
//! at the first one that is refused. `"$field"` as an argument stands for that field of an earlier answer.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use clap::Args;
use rootset_service::{Caller, FrontEnd, Service, ServiceError, Settings};
use rootset_store::{Location, Store};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::shim::{Shim, Watch};
use crate::error::StressError;
use crate::process::location_text;
use crate::verify::ClockAhead;

/// Memories per batch of a sweep, an undo or a purge in a script: so few that few memories make several.
const BATCH_MEMORIES: usize = 6;
/// Failpoints between the first batch and the second.
const FIRST_BATCH_STORED: [&str; 3] = ["apply.started", "undo.batch_committed", "purge.batch_committed"];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub operation: String,
    pub arguments: Value,
}

impl Call {
    pub fn new(operation: &str, arguments: Value) -> Self {
        Self { operation: operation.to_owned(), arguments }
    }
}

/// A mistake that the runs have to notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum DiskMistake {
    /// Commits are not synced.
    SynchronousOff,
    /// The answer is given before the operation begins.
    EarlyAnswer,
    /// An erasure leaves its text in the log.
    LogNotEmptied,
    /// An erasure cuts the log off, and nobody makes that durable.
    LogNotSynced,
}

impl DiskMistake {
    /// As the command line calls it.
    pub fn name(self) -> String {
        let value = clap::ValueEnum::to_possible_value(&self).expect("no mistake is skipped");
        value.get_name().to_owned()
    }
}

#[derive(Clone, Debug, Args)]
pub struct Script {
    #[arg(long, value_parser = Location::parse)]
    pub database: Location,
    /// Sent by the parent process as one line.
    #[arg(skip)]
    pub calls: Vec<Call>,
    /// How far its clock is ahead: leases of a process that failed have run out by then.
    #[arg(long, default_value_t = 0)]
    pub ahead_ms: i64,
    /// Waits for a line after every answer.
    #[arg(long)]
    pub paced: bool,
    /// Goes on after a refusal, as a server does.
    #[arg(long)]
    pub keeps_going: bool,
    /// Fails after the first batch of an apply, an undo or a purge, whose later ones are not begun.
    #[arg(long)]
    pub first_batch_only: bool,
    #[arg(long, value_enum)]
    pub mistake: Option<DiskMistake>,
    /// What the system says about the room on a small disk, where the library below cannot.
    #[arg(long)]
    pub room_bytes: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    Answered(Value),
    Refused { code: String, message: String, hint: Option<String>, details: Option<Value> },
}

/// What a script said, and whether it ended by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    pub answers: Vec<Value>,
    /// The last one.
    pub refusal: Option<Said>,
    /// Everything in its order.
    pub said: Vec<Said>,
    pub has_ended_well: bool,
}

/// The whole life of the process.
pub fn run(script: &Script) -> Result<(), StressError> {
    for point in ["sweep.batch_memories", "purge.batch_memories"] {
        set(point, &format!("return({BATCH_MEMORIES})"));
    }
    if script.first_batch_only {
        FIRST_BATCH_STORED.iter().for_each(|point| set(point, "return"));
    }
    if let Some(bytes) = script.room_bytes {
        set("disk.room_bytes", &format!("return({bytes})"));
    }
    match script.mistake {
        Some(DiskMistake::SynchronousOff) => set("control.synchronous_off", "return"),
        Some(DiskMistake::LogNotEmptied) => set("control.log_not_emptied", "return"),
        Some(DiskMistake::LogNotSynced) => set("control.log_not_synced", "return"),
        Some(DiskMistake::EarlyAnswer) | None => {}
    }
    if let Err(error) = perform(script) {
        say(&refused(error))?;
    }
    Ok(())
}

fn refused(error: ServiceError) -> Said {
    let error = error.0;
    let code = error.code.as_str().to_owned();
    Said::Refused { code, message: error.message, hint: error.hint, details: error.details }
}

fn set(point: &str, action: &str) {
    fail::cfg(point, action).expect("failpoints are compiled in and the action is well-formed");
}

fn perform(script: &Script) -> Result<(), ServiceError> {
    let told = |error: std::io::Error| ServiceError::conflict(error.to_string());
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(told)?;
    let calls: Vec<Call> = serde_json::from_str(&line).map_err(|_| ServiceError::invalid("no script"))?;
    let store = Store::open(&script.database, None)?;
    let clock = Arc::new(ClockAhead { ms: script.ahead_ms });
    let service = Arc::new(Service::new_at(store, Settings::default(), clock)?);
    let caller = Caller::new(FrontEnd::CommandLine, "script", "home");
    let mut seen = Map::new();
    for call in calls {
        let arguments = filled_in(call.arguments, &seen);
        if script.mistake == Some(DiskMistake::EarlyAnswer) {
            say(&Said::Answered(Value::Null)).map_err(told)?;
        }
        let answer = match service.call(&caller, &call.operation, arguments) {
            Err(error) if script.keeps_going => {
                say(&refused(error)).map_err(told)?;
                continue;
            }
            answer => answer?,
        };
        if let Value::Object(fields) = &answer {
            seen.extend(fields.clone());
        }
        if script.mistake != Some(DiskMistake::EarlyAnswer) {
            say(&Said::Answered(answer)).map_err(told)?;
        }
        if script.paced {
            let _ = std::io::stdin().read_line(&mut String::new());
        }
    }
    Ok(())
}

fn filled_in(arguments: Value, seen: &Map<String, Value>) -> Value {
    let Value::Object(fields) = arguments else { return arguments };
    let filled = fields.into_iter().map(|(name, value)| {
        let field = value.as_str().and_then(|text| text.strip_prefix('$')).and_then(|field| seen.get(field)).cloned();
        (name, field.unwrap_or(value))
    });
    Value::Object(filled.collect())
}

/// In one write, so that the record of the disk shows the moment.
fn say(said: &Said) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(said)?;
    line.push(b'\n');
    let mut out = std::io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

impl Script {
    pub fn new(database: &Location, calls: &[Call]) -> Self {
        Self {
            database: database.clone(),
            calls: calls.to_vec(),
            ahead_ms: 0,
            paced: false,
            keeps_going: false,
            first_batch_only: false,
            mistake: None,
            room_bytes: None,
        }
    }

    /// Runs it to its end, on the disk as it is or on one that is watched.
    pub fn run_in(&self, program: &Path, disk: Option<(&Shim, &Watch<'_>)>) -> Result<Heard, StressError> {
        self.run_paced(program, disk, |_| Ok(()))
    }

    /// The same; with `paced`, `after` is called between an answer and the next operation.
    pub fn run_paced(
        &self,
        program: &Path,
        disk: Option<(&Shim, &Watch<'_>)>,
        mut after: impl FnMut(usize) -> Result<(), StressError>,
    ) -> Result<Heard, StressError> {
        let mut child = self.command(program, disk).spawn()?;
        let mut orders = child.stdin.take().expect("its standard input is a pipe");
        let calls = serde_json::to_string(&self.calls).expect("JSON values always serialise");
        writeln!(orders, "{calls}")?;
        let lines = BufReader::new(child.stdout.take().expect("its standard output is a pipe")).lines();
        let mut heard = Heard { answers: Vec::new(), refusal: None, said: Vec::new(), has_ended_well: false };
        for line in lines {
            let Ok(said) = serde_json::from_str::<Said>(&line?) else { continue };
            heard.said.push(said.clone());
            match said {
                Said::Answered(answer) => heard.answers.push(answer),
                refused @ Said::Refused { .. } => heard.refusal = Some(refused),
            }
            if self.paced && heard.refusal.is_none() {
                after(heard.answers.len())?;
                orders.write_all(b"go\n")?;
            }
        }
        heard.has_ended_well = child.wait()?.success();
        Ok(heard)
    }

    fn command(&self, program: &Path, disk: Option<(&Shim, &Watch<'_>)>) -> Command {
        let mut command = Command::new(program);
        command.arg("script").arg("--database").arg(location_text(&self.database));
        command.args(["--ahead-ms", &self.ahead_ms.to_string()]);
        if self.paced {
            command.arg("--paced");
        }
        if self.keeps_going {
            command.arg("--keeps-going");
        }
        if self.first_batch_only {
            command.arg("--first-batch-only");
        }
        if let Some(mistake) = self.mistake {
            command.args(["--mistake", &mistake.name()]);
        }
        if let Some(bytes) = self.room_bytes {
            command.args(["--room-bytes", &bytes.to_string()]);
        }
        if let Some((shim, watch)) = disk {
            shim.put_below(&mut command, watch);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        command
    }
}

impl Heard {
    /// All answers, where nothing else is in order.
    pub fn all_answered(self, calls: usize) -> Result<Vec<Value>, StressError> {
        if self.refusal.is_none() && self.has_ended_well && self.answers.len() == calls {
            return Ok(self.answers);
        }
        Err(StressError::StepEnded { ended: format!("{self:?}") })
    }
}
