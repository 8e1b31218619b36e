//! `rootset daemon`: waits, and tells the scheduler to look. Every decision is the scheduler's.

use clap::Args;
use rootset_api::ErrorCode;
use rootset_model::Timestamp;
use rootset_service::ServiceError;
use rootset_service::scheduler::{Round, Scheduler, Tick};
use serde::Serialize;

use crate::exit::Failure;
use crate::program::Program;
use crate::render::{self, counted};
use crate::rounds::{self, HOW_TO_TRUST};
use crate::stop::Stop;

/// Run the collector's scheduler until it is stopped
#[derive(Debug, Args)]
pub struct DaemonArguments {
    /// Do what is due now and exit, for use from cron
    #[arg(long)]
    pub once: bool,
    /// Accept this machine's time after its clock has jumped
    #[arg(long)]
    trust_clock: bool,
}

/// What `--json` prints of one look.
#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Off { enabled: bool },
    NotDue { next_at: Timestamp },
    Waiting { waiting: String },
    Ran { workspaces: usize, failed: usize, expired: i64, trashed: i64 },
}

pub fn run(arguments: DaemonArguments, program: &Program) -> Result<(), Failure> {
    // Before the database is opened: who turned it off should not get one.
    let is_enabled = program.configuration()?.settings.gc.enabled;
    if !is_enabled && !arguments.trust_clock {
        return say_disabled(program);
    }
    // From the first moment: a signal that comes while the database is opened counts too.
    let stop = Stop::on_signals()?;
    let scheduler = Scheduler::new(program.service()?.clone()).with_stop(stop.flag());
    if arguments.trust_clock {
        scheduler.trust_clock()?;
        program.output.talk("this machine's time is accepted");
    }
    match (is_enabled, arguments.once) {
        (false, _) => say_disabled(program),
        (true, true) => once(&scheduler, program),
        (true, false) => until_stopped(&scheduler, &stop, program),
    }
}

fn say_disabled(program: &Program) -> Result<(), Failure> {
    program.output.talk("the collector is off: `gc.enabled` is false");
    if program.output.in_json() { program.output.json(&Answer::Off { enabled: false }) } else { Ok(()) }
}

fn once(scheduler: &Scheduler, program: &Program) -> Result<(), Failure> {
    let answer = match scheduler.tick()? {
        Tick::Disabled => return say_disabled(program),
        Tick::Waiting(waiting) => Answer::Waiting { waiting: waiting.in_words() },
        Tick::HeldElsewhere => {
            let error = ServiceError::new(ErrorCode::Busy, "another scheduler is running");
            return Err(error.with_hint("it does what is due; there is nothing left to do here").into());
        }
        Tick::NotDue { next_at } => Answer::NotDue { next_at },
        Tick::Ran(Round { workspaces, failed, expired, trashed }) => {
            Answer::Ran { workspaces, failed, expired, trashed }
        }
    };
    program.output.answer(&answer, in_words)
}

fn until_stopped(scheduler: &Scheduler, stop: &Stop, program: &Program) -> Result<(), Failure> {
    program.say_durability()?;
    program.output.talk("the scheduler is running; Ctrl-C stops it");
    rounds::until_stopped(scheduler, |time| stop.wait(time));
    program.output.talk("the scheduler has stopped");
    Ok(())
}

fn in_words(answer: &Answer) -> String {
    match answer {
        Answer::Off { .. } => String::new(),
        Answer::NotDue { next_at } => format!("nothing is due before {}\n", render::with_age(next_at)),
        Answer::Waiting { waiting } => format!("{waiting}\n{HOW_TO_TRUST}\n"),
        Answer::Ran { workspaces, failed, expired, trashed } => {
            let workspaces = counted(*workspaces, "workspace", "workspaces");
            let failed = match failed {
                0 => String::new(),
                failed => render::warning(format!("; {failed} failed, see the log")),
            };
            format!("{workspaces}: {expired} expired, {trashed} moved to the trash{failed}\n")
        }
    }
}
