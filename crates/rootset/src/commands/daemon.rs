//! `rootset daemon`: waits, and tells the scheduler to look. Every decision is the scheduler's.

use std::time::Duration;

use rootset_model::Timestamp;
use rootset_service::scheduler::{Doubt, Round, Scheduler, Tick};
use rootset_service::{Clock, ErrorCode, ServiceError, SystemClock};
use serde_json::{Value, json};

use crate::arguments::DaemonArguments;
use crate::exit::Failure;
use crate::render::{self, count, counted};
use crate::session::Session;
use crate::stop::Stop;

/// Looks at the time at least so often: clocks are set, other schedulers die, machines wake up.
const LOOK_EVERY_MS: i64 = 60_000;
const HOW_TO_TRUST: &str = "if the time is right: rootset daemon --trust-clock";

pub fn run(arguments: DaemonArguments, session: &Session) -> Result<(), Failure> {
    // Before the database is opened: who turned it off should not get one.
    let is_enabled = session.configuration()?.settings.gc.enabled;
    if !is_enabled && !arguments.trust_clock {
        return say_disabled(session);
    }
    // From the first moment: a signal that comes while the database is opened counts too.
    let stop = Stop::on_signals()?;
    let scheduler = Scheduler::new(session.service()?.clone()).with_stop(stop.flag());
    if arguments.trust_clock {
        scheduler.trust_clock()?;
        session.output.talk("the time of this machine is accepted");
    }
    match (is_enabled, arguments.once) {
        (false, _) => say_disabled(session),
        (true, true) => once(&scheduler, session),
        (true, false) => until_stopped(&scheduler, &stop, session),
    }
}

fn say_disabled(session: &Session) -> Result<(), Failure> {
    session.output.talk("the collector is off: `gc.enabled` is false");
    if session.output.in_json() { session.output.json(&json!({"enabled": false})) } else { Ok(()) }
}

fn once(scheduler: &Scheduler, session: &Session) -> Result<(), Failure> {
    let answer = match scheduler.tick()? {
        Tick::Disabled => return say_disabled(session),
        Tick::ClockDoubted(doubt) => return Err(doubted(doubt).into()),
        Tick::HeldElsewhere => {
            let error = ServiceError::new(ErrorCode::Busy, "another scheduler is at it");
            return Err(error.with_hint("what is due is being done; nothing is left to do here").into());
        }
        Tick::NotDue { next_at } => json!({ "next_at": next_at }),
        Tick::Ran(round) => as_json(round),
    };
    session.output.answer(&answer, |answer| match answer.get("next_at").and_then(Value::as_str) {
        Some(next_at) => format!("nothing is due before {}\n", render::with_age(next_at)),
        None => in_words(answer),
    })
}

fn until_stopped(scheduler: &Scheduler, stop: &Stop, session: &Session) -> Result<(), Failure> {
    session.output.talk("the scheduler is running; Ctrl-C ends it");
    let mut last_doubt = None;
    loop {
        let tick = scheduler.tick();
        if !matches!(tick, Ok(Tick::ClockDoubted(_))) {
            last_doubt = None;
        }
        let wait_ms = match tick {
            Ok(Tick::Ran(round)) => {
                tracing::info!(target: "rootset::gc", ?round, "a round is done");
                0
            }
            Ok(Tick::NotDue { next_at }) => until(next_at),
            Ok(Tick::HeldElsewhere | Tick::Disabled) => LOOK_EVERY_MS,
            Ok(Tick::ClockDoubted(doubt)) => {
                // Said once per kind: the sizes change with every look.
                if last_doubt.replace(std::mem::discriminant(&doubt)) != Some(std::mem::discriminant(&doubt)) {
                    tracing::warn!(target: "rootset::gc", "{}: nothing is deleted; {HOW_TO_TRUST}", doubt.in_words());
                }
                LOOK_EVERY_MS
            }
            // The database may be busy, or its disk full: tomorrow is another day.
            Err(error) => {
                tracing::error!(target: "rootset::gc", %error, "a round failed");
                LOOK_EVERY_MS
            }
        };
        if stop.wait(Duration::from_millis(wait_ms.unsigned_abs())) {
            session.output.talk("the scheduler has ended");
            return Ok(());
        }
    }
}

fn until(time: Timestamp) -> i64 {
    time.0.saturating_sub(SystemClock.now().0).clamp(0, LOOK_EVERY_MS)
}

fn doubted(doubt: Doubt) -> ServiceError {
    ServiceError::conflict(format!("{}: nothing is deleted", doubt.in_words())).with_hint(HOW_TO_TRUST)
}

fn as_json(round: Round) -> Value {
    json!({
        "workspaces": round.workspaces,
        "failed": round.failed,
        "expired": round.expired,
        "trashed": round.trashed,
    })
}

fn in_words(round: &Value) -> String {
    let workspaces = counted(count(round, "workspaces"), "workspace", "workspaces");
    let (expired, trashed) = (count(round, "expired"), count(round, "trashed"));
    let failed = match count(round, "failed") {
        0 => String::new(),
        failed => render::warning(format!("; {failed} failed, see the log")),
    };
    format!("{workspaces}: {expired} expired, {trashed} moved to the trash{failed}\n")
}
