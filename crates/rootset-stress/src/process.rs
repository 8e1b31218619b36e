//! A writer process from its parent's side: started, let go, listened to, stopped or killed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use rootset_store::Location;

use crate::error::StressError;
use crate::protocol::{Change, Line, Outcome};
use crate::writer::WriterArguments;

/// Longer than a writer waits for the lock (60 s): beyond it, something hangs and the test must not.
const SILENCE_SECONDS_MAX: u64 = 120;

/// When a writer is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillAt {
    /// So long after it was let go, which may be while it opens the database.
    Start { micros: u64 },
    /// So long after the parent read an acknowledgement; with 0 at once.
    Acknowledgement { number: usize, micros: u64 },
}

/// Everything a writer said.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    pub writer: usize,
    pub acknowledged: Vec<(Change, Outcome)>,
    /// Begun and not acknowledged.
    pub in_flight: Option<Change>,
    pub failure: Option<(String, String)>,
    pub is_ready: bool,
    /// It ended in good order, not by a kill.
    pub has_stopped: bool,
}

impl Observed {
    fn note(&mut self, line: Line) {
        match line {
            Line::Started => {}
            Line::Ready => self.is_ready = true,
            Line::Begin { operation } => self.in_flight = Some(operation),
            Line::Done { operation, outcome } => {
                self.in_flight = None;
                self.acknowledged.push((operation, outcome));
            }
            Line::Failed { code, message } => self.failure = Some((code, message)),
            Line::Stopped => self.has_stopped = true,
        }
    }

    /// An error that the writer saw is never in order.
    pub fn refuse_failure(&self) -> Result<(), StressError> {
        match &self.failure {
            None => Ok(()),
            Some((code, message)) => {
                Err(StressError::WriterFailed { writer: self.writer, code: code.clone(), message: message.clone() })
            }
        }
    }
}

#[derive(Debug)]
pub struct WriterProcess {
    child: Child,
    orders: Option<ChildStdin>,
    lines: Receiver<Result<Line, String>>,
    observed: Observed,
}

enum Heard {
    Line,
    Deadline,
    End,
}

impl WriterProcess {
    /// Starts the process. With `alarm`, a failure is also told there at once.
    pub fn spawn(
        program: &Path,
        arguments: &WriterArguments,
        alarm: Option<Sender<usize>>,
    ) -> Result<Self, StressError> {
        let mut child = command(program, arguments).spawn()?;
        let orders = child.stdin.take();
        let output = child.stdout.take().expect("its standard output is a pipe");
        let (sender, lines) = mpsc::channel();
        let writer = arguments.writer;
        std::thread::spawn(move || {
            for text in BufReader::new(output).lines().map_while(Result::ok) {
                let line = serde_json::from_str::<Line>(&text).map_err(|_| text);
                let is_failure =
                    !matches!(line, Ok(Line::Started | Line::Ready | Line::Begin { .. } | Line::Done { .. }));
                // Nobody listens any more when the parent failed elsewhere; the process ends with its pipes.
                if sender.send(line).is_err() {
                    return;
                }
                if let Some(alarm) = alarm.as_ref().filter(|_| is_failure) {
                    let _ = alarm.send(writer);
                }
            }
        });
        let observed = Observed { writer, ..Observed::default() };
        Ok(Self { child, orders, lines, observed })
    }

    /// Lets the writer pass the point it waits at. One that is dead already does not mind.
    pub fn let_go(&mut self) {
        if let Some(orders) = &mut self.orders {
            let _ = orders.write_all(b"go\n");
        }
    }

    /// Tells it to end in good order.
    pub fn stop(&mut self) {
        self.orders = None;
    }

    pub fn kill(&mut self) -> Result<(), StressError> {
        Ok(self.child.kill()?)
    }

    /// Listens until it has said that it started.
    pub fn wait_for_start(&mut self) -> Result<(), StressError> {
        match self.listen(self.patience())? {
            Heard::Line => self.observed.refuse_failure(),
            Heard::Deadline | Heard::End => {
                Err(StressError::WriterEnded { writer: self.observed.writer, awaited: "started" })
            }
        }
    }

    pub fn wait_for_ready(&mut self) -> Result<(), StressError> {
        while !self.observed.is_ready {
            if !matches!(self.listen(self.patience())?, Heard::Line) {
                return Err(StressError::WriterEnded { writer: self.observed.writer, awaited: "ready" });
            }
            self.observed.refuse_failure()?;
        }
        Ok(())
    }

    pub fn wait_for_acknowledgements(&mut self, count: usize) -> Result<(), StressError> {
        while self.observed.acknowledged.len() < count {
            if !matches!(self.listen(self.patience())?, Heard::Line) {
                return Err(StressError::WriterEnded { writer: self.observed.writer, awaited: "done" });
            }
            self.observed.refuse_failure()?;
        }
        Ok(())
    }

    /// Listens until the moment has come, kills it, and reads what it had said before it died.
    pub fn kill_at(mut self, moment: KillAt) -> Result<Observed, StressError> {
        let micros = match moment {
            KillAt::Start { micros } => micros,
            KillAt::Acknowledgement { number, micros } => {
                while self.observed.acknowledged.len() < number && matches!(self.listen(self.patience())?, Heard::Line)
                {
                }
                micros
            }
        };
        let deadline = Instant::now() + Duration::from_micros(micros);
        while micros > 0 && matches!(self.listen(deadline)?, Heard::Line) {}
        self.kill()?;
        self.end()
    }

    /// Listens until the process has ended, was stopped or was killed.
    pub fn end(mut self) -> Result<Observed, StressError> {
        loop {
            match self.listen(self.patience())? {
                Heard::Line => {}
                Heard::End => break,
                Heard::Deadline => {
                    let writer = self.observed.writer;
                    return Err(StressError::WriterSilent { writer, seconds: SILENCE_SECONDS_MAX });
                }
            }
        }
        self.child.wait()?;
        Ok(std::mem::take(&mut self.observed))
    }

    fn patience(&self) -> Instant {
        Instant::now() + Duration::from_secs(SILENCE_SECONDS_MAX)
    }

    fn listen(&mut self, deadline: Instant) -> Result<Heard, StressError> {
        match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Ok(line)) => {
                self.observed.note(line);
                Ok(Heard::Line)
            }
            Ok(Err(line)) => Err(StressError::Garbled { writer: self.observed.writer, line }),
            Err(RecvTimeoutError::Timeout) => Ok(Heard::Deadline),
            Err(RecvTimeoutError::Disconnected) => Ok(Heard::End),
        }
    }
}

/// Whatever happens to the parent's plans, no writer outlives them.
impl Drop for WriterProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(program: &Path, arguments: &WriterArguments) -> Command {
    let mut command = Command::new(program);
    command.arg("writer").arg("--database").arg(location_text(&arguments.database));
    let numbers = [("--seed", arguments.seed), ("--writer", arguments.writer as u64), ("--round", arguments.round)];
    for (flag, number) in numbers {
        command.arg(flag).arg(number.to_string());
    }
    command.arg("--mix").arg(word(arguments.mix)).arg("--extractor").arg(word(arguments.extractor));
    if let Some(max) = arguments.operations_max {
        command.arg("--operations-max").arg(max.to_string());
    }
    if let Some(bug) = arguments.planted_bug {
        command.arg("--planted-bug").arg(word(bug));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    command
}

fn word(value: impl ValueEnum) -> String {
    value.to_possible_value().expect("no value is skipped").get_name().to_owned()
}

/// As the arguments of another process take it.
pub fn location_text(location: &Location) -> std::ffi::OsString {
    match location {
        Location::File(path) => path.into(),
        Location::Postgres(url) => url.secret().into(),
    }
}
