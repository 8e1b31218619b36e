//! `rootset daemon`: waits, and tells the scheduler to look. Every decision is the scheduler's.

use clap::Args;
use rootset_api::ErrorCode;
use rootset_model::Timestamp;
use rootset_service::delivery::Delivery;
use rootset_service::scheduler::{Round, Scheduler, Tick, WaitingForPerson};
use rootset_service::{Service, ServiceError};
use serde::Serialize;

use crate::background::Background;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{self, counted};
use crate::rounds::{self, HOW_TO_TRUST};
use crate::stop::Stop;
use crate::{deliveries, embedding};

/// Run the collector's scheduler until it is stopped
#[derive(Debug, Args)]
pub struct DaemonArguments {
    /// Do what is due now and exit, for use from cron: 0 done, 3 something waits for a person, 2 failed
    #[arg(long)]
    pub once: bool,
    /// Accept this machine's time after its clock has jumped
    #[arg(long)]
    trust_clock: bool,
}

/// The status of `--once` when something waits for a person.
const STATUS_WAITING: u8 = 3;
/// The status of `--once` when it failed.
const STATUS_FAILED: u8 = 2;

/// What `--json` prints of one look.
#[derive(Serialize)]
struct Answer {
    #[serde(flatten)]
    looked: Looked,
    /// Sources that a person should look at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting_for_a_person: Vec<WaitingForPerson>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Looked {
    Off { enabled: bool },
    NotDue { next_at: Timestamp },
    Waiting { waiting: String },
    Ran { workspaces: usize, failed: usize, expired: i64, trashed: i64 },
}

pub fn run(arguments: DaemonArguments, program: &Program) -> Result<(), Failure> {
    let is_once = arguments.once;
    match start(arguments, program) {
        // Programs that run it once tell by the status alone what happened.
        Err(Failure::Error(error)) if is_once => {
            program.output.error(&error);
            Err(Failure::Said(STATUS_FAILED))
        }
        outcome => outcome,
    }
}

fn start(arguments: DaemonArguments, program: &Program) -> Result<(), Failure> {
    // Before the database is opened: who turned it off should not get one.
    let is_enabled = program.configuration()?.settings.gc.enabled;
    if !is_enabled && !arguments.trust_clock {
        return say_disabled(program);
    }
    // From the first moment: a signal that comes while the database is opened counts too.
    let stop = Stop::on_signals()?;
    let scheduler = Scheduler::new(program.service()?.clone()).with_stop(stop.flag());
    let deliveries = deliveries::all(program)?;
    if arguments.trust_clock {
        scheduler.trust_clock()?;
        program.output.talk("this machine's time is accepted");
    }
    match (is_enabled, arguments.once) {
        (false, _) => say_disabled(program),
        (true, true) => {
            let looked = once(&scheduler, program);
            deliveries::flush(deliveries, program);
            looked
        }
        (true, false) => until_stopped(&scheduler, deliveries, &stop, program),
    }
}

fn say_disabled(program: &Program) -> Result<(), Failure> {
    program.output.talk("the collector is off: `gc.enabled` is false");
    if program.output.in_json() { program.output.json(&Looked::Off { enabled: false }) } else { Ok(()) }
}

fn once(scheduler: &Scheduler, program: &Program) -> Result<(), Failure> {
    let looked = match scheduler.tick()? {
        Tick::Disabled => return say_disabled(program),
        Tick::Waiting(waiting) => Looked::Waiting { waiting: waiting.in_words() },
        Tick::HeldElsewhere => {
            let error = ServiceError::new(ErrorCode::Busy, "another scheduler is running");
            return Err(error.with_hint("it does what is due; there is nothing left to do here").into());
        }
        Tick::NotDue { next_at } => Looked::NotDue { next_at },
        Tick::Ran(Round { workspaces, failed, expired, trashed, .. }) => {
            Looked::Ran { workspaces, failed, expired, trashed }
        }
    };
    // Also what an earlier round found: it waits until somebody decides, however often cron looks.
    let waiting_for_a_person = program.service()?.sources_waiting_for_a_person()?;
    let answer = Answer { looked, waiting_for_a_person };
    program.output.answer(&answer, in_words)?;
    match answer {
        Answer { looked: Looked::Ran { failed: 1.., .. }, .. } => Err(Failure::Said(STATUS_FAILED)),
        Answer { waiting_for_a_person, .. } if !waiting_for_a_person.is_empty() => Err(Failure::Said(STATUS_WAITING)),
        _ => Ok(()),
    }
}

fn until_stopped(
    scheduler: &Scheduler,
    deliveries: Vec<Delivery>,
    stop: &Stop,
    program: &Program,
) -> Result<(), Failure> {
    program.say_durability()?;
    let mut background = Background::delivering(deliveries);
    embedding::start(program.service()?, Service::embed_some, &mut background);
    program.output.talk("the scheduler is running; Ctrl-C stops it");
    rounds::until_stopped(scheduler, |time| stop.wait(time));
    background.stop();
    program.output.talk("the scheduler has stopped");
    Ok(())
}

fn in_words(answer: &Answer) -> String {
    let waiting = answer.waiting_for_a_person.iter().map(|it| {
        let command = render::what_to_type(&it.source, &it.workspace_id);
        let command = command.map(|command| format!("; {command}")).unwrap_or_default();
        format!("{}: {}{command}\n", it.workspace_id, render::waiting_source(&it.source))
    });
    let looked = match &answer.looked {
        Looked::Off { .. } => String::new(),
        Looked::NotDue { next_at } => format!("nothing is due before {}\n", render::with_age(next_at)),
        Looked::Waiting { waiting } => format!("{waiting}\n{HOW_TO_TRUST}\n"),
        Looked::Ran { workspaces, failed, expired, trashed } => {
            let workspaces = counted(*workspaces, "workspace", "workspaces");
            let failed = match failed {
                0 => String::new(),
                failed => render::warning(format!("; {failed} failed, see the log")),
            };
            format!("{workspaces}: {expired} expired, {trashed} moved to the trash{failed}\n")
        }
    };
    [looked].into_iter().chain(waiting).collect()
}
