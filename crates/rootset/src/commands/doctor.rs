//! `rootset doctor`.

use std::fmt::Write;

use rootset_service::ServiceError;
use serde_json::{Value, json};

use super::salvage;
use crate::arguments::DoctorArguments;
use crate::exit::{Failure, STATUS_CALLER};
use crate::render::{self, count, escaped, flag, list, text};
use crate::session::Session;

pub fn run(arguments: DoctorArguments, session: &Session) -> Result<(), Failure> {
    if let Some(folder) = &arguments.salvage {
        return salvage::run(folder, session);
    }
    let outcome = session.call("doctor", json!({"repair": arguments.repair.then_some(true)}));
    let answer = match outcome {
        Err(error) if is_damage(&error) => return Err(with_advice(error, session)?.into()),
        outcome => outcome?,
    };
    session.output.answer(&answer, render)?;
    if flag(&answer, "ok") {
        return Ok(());
    }
    let is_damaged = list(&answer, "checks").iter().any(|check| text(check, "id") == "engine" && !flag(check, "ok"));
    if is_damaged && !session.output.in_json() {
        salvage::advice(session)?.iter().for_each(|step| session.output.talk(step));
        return Err(Failure::Said(STATUS_CALLER));
    }
    if !session.output.in_json() && !arguments.repair {
        session.output.talk("`rootset doctor --repair` rebuilds what can be rebuilt");
    }
    Err(Failure::Said(STATUS_CALLER))
}

fn is_damage(error: &ServiceError) -> bool {
    error.details.as_ref().is_some_and(|details| flag(details, "damaged"))
}

fn with_advice(error: ServiceError, session: &Session) -> Result<ServiceError, ServiceError> {
    let steps = salvage::advice(session)?;
    Ok(error.with_hint(steps.join("; or ")).with_details(json!({"damaged": true, "advice": steps})))
}

fn render(answer: &Value) -> String {
    let mut shown = String::new();
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    let checks = list(answer, "checks");
    for check in checks {
        let (id, detail) = (text(check, "id"), escaped(text(check, "detail")));
        if flag(check, "ok") {
            line(format!("{}   {id}", render::good("ok")));
            continue;
        }
        line(format!("{} {id}: {} {detail}", render::warning("BAD "), count(check, "count")));
        let found = list(check, "found").iter().filter_map(Value::as_str);
        found.for_each(|found| line(format!("       {}", escaped(found))));
    }
    let bad = checks.iter().filter(|check| !flag(check, "ok")).count();
    match bad {
        0 => line(format!("all {} checks hold", checks.len())),
        bad => line(format!("{bad} of {} checks do not hold", checks.len())),
    }
    shown
}
