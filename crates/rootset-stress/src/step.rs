//! One operation in a process of its own, which may die or fail at a failpoint, or find the disk full.
//!
//! The hidden command `step` opens the database, performs one operation and says what came of it in one line. Its parent
//! ([`Step::start`]) may hold it back until others are ready too.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::{Args, ValueEnum};
use rootset_service::scheduler::{Scheduler, Tick};
use rootset_service::{Caller, FrontEnd, GcSettings, Service, ServiceError, Settings};
use rootset_store::{Location, Store};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::StressError;
use crate::process::location_text;
use crate::verify::ClockAhead;

/// Not an operation: the scheduler looks whether something is due, with automatic deletion on.
pub const TICK: &str = "tick";
/// Memories per batch of a sweep or an undo in a step: fewer than outside of tests, so that few memories make several.
pub const BATCH_MEMORIES: usize = 300;
/// The unit of `ulimit -f` in a POSIX shell.
const LIMIT_BLOCK_BYTES: u64 = 512;

/// What happens at a failpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fault {
    /// The process dies at once, as by `kill -9`.
    Abort,
    /// The operation fails there.
    Error,
}

#[derive(Clone, Debug, Args)]
pub struct Step {
    #[arg(long, value_parser = Location::parse)]
    pub database: Location,
    #[arg(long)]
    pub operation: String,
    /// JSON, as for `rootset call`.
    #[arg(long)]
    pub arguments: String,
    #[arg(long, requires = "fault")]
    pub failpoint: Option<String>,
    #[arg(long, value_enum)]
    pub fault: Option<Fault>,
    /// How often the failpoint is passed before it strikes.
    #[arg(long, default_value_t = 0)]
    pub passes: u64,
    /// How far its clock is ahead: leases of a process that died have run out by then.
    #[arg(long, default_value_t = 0)]
    pub ahead_ms: i64,
    /// Says that it is ready when the database is open, and waits for a line.
    #[arg(long)]
    pub waits: bool,
    /// No file may grow beyond this; set by the parent process.
    #[arg(skip)]
    pub file_bytes_max: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    Ready,
    /// The last words of a process that aborts at a failpoint.
    Reached(String),
    Answered(Value),
    Refused(Refusal),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    Answered(Value),
    Refused(Refusal),
    /// It died at this failpoint.
    Aborted(String),
    /// It died without a word.
    Died,
}

impl Ended {
    /// The answer, where nothing else is in order.
    pub fn answer(self) -> Result<Value, StressError> {
        match self {
            Self::Answered(answer) => Ok(answer),
            other => Err(StressError::StepEnded { ended: format!("{other:?}") }),
        }
    }
}

/// The whole life of the process.
pub fn run(step: &Step) -> Result<(), StressError> {
    fail::cfg("sweep.batch_memories", &format!("return({BATCH_MEMORIES})")).expect("the action is well-formed");
    if let (Some(failpoint), Some(fault)) = (&step.failpoint, step.fault) {
        set(failpoint, fault, step.passes);
    }
    let said = match perform(step) {
        Ok(answer) => Said::Answered(answer),
        Err(error) => {
            let code = error.code.as_str().to_owned();
            Said::Refused(Refusal { code, message: error.0.message, hint: error.0.hint })
        }
    };
    Ok(say(&said)?)
}

fn perform(step: &Step) -> Result<Value, ServiceError> {
    let arguments: Value = serde_json::from_str(&step.arguments).map_err(|_| ServiceError::invalid("no JSON"))?;
    let store = Store::open(&step.database, None)?;
    let mut settings = Settings::default();
    if step.operation == TICK {
        settings.gc = GcSettings { enabled: true, auto_delete: true, ..GcSettings::default() };
    }
    let service = Service::new_at(store, settings, Arc::new(ClockAhead { ms: step.ahead_ms }))?;
    let service = Arc::new(service);
    if step.waits {
        say(&Said::Ready).map_err(|error| ServiceError::conflict(error.to_string()))?;
        let _ = std::io::stdin().read_line(&mut String::new());
    }
    if step.operation == TICK {
        return tick(&service);
    }
    let caller = Caller::new(FrontEnd::CommandLine, "step", "home");
    service.call(&caller, &step.operation, arguments)
}

/// One look of a scheduler at the time.
fn tick(service: &Arc<Service>) -> Result<Value, ServiceError> {
    Ok(match Scheduler::new(Arc::clone(service)).tick()? {
        Tick::Ran(round) => {
            json!({"ran": {"expired": round.expired, "trashed": round.trashed, "failed": round.failed}})
        }
        Tick::HeldElsewhere => json!({"held_elsewhere": true}),
        Tick::NotDue { .. } => json!({"not_due": true}),
        other => json!({"other": format!("{other:?}")}),
    })
}

fn set(failpoint: &str, fault: Fault, passes: u64) {
    let outcome = match fault {
        Fault::Error => fail::cfg(failpoint, &format!("{passes}*off->return")),
        Fault::Abort => {
            let (name, passed) = (failpoint.to_owned(), AtomicU64::new(0));
            fail::cfg_callback(failpoint, move || {
                if passed.fetch_add(1, Ordering::Relaxed) >= passes {
                    let _ = say(&Said::Reached(name.clone()));
                    std::process::abort();
                }
            })
        }
    };
    outcome.expect("failpoints are compiled in and the action is well-formed");
}

fn say(said: &Said) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, said)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// A step under way, from its parent's side.
#[derive(Debug)]
pub struct Running {
    child: Child,
    orders: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
}

impl Step {
    pub fn new(database: &Location, operation: &str, arguments: &Value) -> Self {
        Self {
            database: database.clone(),
            operation: operation.to_owned(),
            arguments: arguments.to_string(),
            failpoint: None,
            fault: None,
            passes: 0,
            ahead_ms: 0,
            waits: false,
            file_bytes_max: None,
        }
    }

    /// Runs it to its end.
    pub fn run_in(&self, program: &Path) -> Result<Ended, StressError> {
        self.start(program)?.end()
    }

    /// Starts it; with `waits` it stands at the start when this returns.
    pub fn start(&self, program: &Path) -> Result<Running, StressError> {
        let mut child = self.command(program).spawn()?;
        let orders = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().expect("its standard output is a pipe"));
        let mut running = Running { child, orders, lines };
        if self.waits && running.next()? != Some(Said::Ready) {
            return Err(StressError::StepEnded { ended: "before it was ready".into() });
        }
        Ok(running)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = match self.file_bytes_max {
            None => Command::new(program),
            Some(bytes) => {
                // The signal of the limit is ignored, as an error of the write is what a full disk gives.
                let script = "trap '' XFSZ; ulimit -f \"$1\"; shift; exec \"$@\"";
                let mut command = Command::new("sh");
                command.args(["-c", script, "sh", &(bytes / LIMIT_BLOCK_BYTES).to_string()]).arg(program);
                command
            }
        };
        command.arg("step").arg("--database").arg(location_text(&self.database));
        command.args(["--operation", &self.operation, "--arguments", &self.arguments]);
        command.args(["--passes", &self.passes.to_string(), "--ahead-ms", &self.ahead_ms.to_string()]);
        if let (Some(failpoint), Some(fault)) = (&self.failpoint, self.fault) {
            let fault = fault.to_possible_value().expect("no fault is skipped");
            command.args(["--failpoint", failpoint, "--fault", fault.get_name()]);
        }
        if self.waits {
            command.arg("--waits");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        command
    }
}

impl Running {
    pub fn let_go(&mut self) {
        if let Some(orders) = &mut self.orders {
            let _ = orders.write_all(b"go\n");
        }
    }

    pub fn kill(&mut self) -> Result<(), StressError> {
        Ok(self.child.kill()?)
    }

    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Listens until it has ended.
    pub fn end(mut self) -> Result<Ended, StressError> {
        let mut ended = Ended::Died;
        while let Some(said) = self.next()? {
            ended = match said {
                Said::Ready => continue,
                Said::Reached(failpoint) => Ended::Aborted(failpoint),
                Said::Answered(answer) => Ended::Answered(answer),
                Said::Refused(refusal) => Ended::Refused(refusal),
            };
        }
        self.child.wait()?;
        Ok(ended)
    }

    fn next(&mut self) -> Result<Option<Said>, StressError> {
        let mut line = String::new();
        if self.lines.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        // A killed process may leave half a line.
        Ok(serde_json::from_str(&line).ok())
    }
}

/// No step outlives its parent's plans.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One operation in this very process, for states that are only made and never interrupted.
pub fn call(database: &Location, operation: &str, arguments: Value) -> Result<Value, StressError> {
    let mut answers = call_all(database, vec![(operation, arguments)])?;
    Ok(answers.pop().unwrap_or(json!(null)))
}

pub fn call_all(database: &Location, calls: Vec<(&str, Value)>) -> Result<Vec<Value>, StressError> {
    let service = Arc::new(Service::new(Store::open(database, None)?, Settings::default())?);
    let caller = crate::verify::caller();
    let answers = calls.into_iter().map(|(operation, arguments)| service.call(&caller, operation, arguments));
    Ok(answers.collect::<Result<_, _>>()?)
}
