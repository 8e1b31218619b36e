//! `rootset gc`: plans, purging, explanations.

use rootset_api::ErrorCode;
use rootset_model::PlanId;
use rootset_service::ServiceError;
use serde_json::{Value, json};

use super::{given, retention, status, undo};
use crate::arguments::{ApplyArguments, CollectorCommand, PlanArguments, PurgeArguments};
use crate::exit::Failure;
use crate::render::{self, bytes, count, counted, escaped, flag, list, text};
use crate::session::Session;
use crate::{output, prompt};

/// What is typed before something is removed for good.
const ERASE_WORD: &str = "erase";
/// The answer to a search for garbage that finds none.
pub const NO_GARBAGE: &str = "no garbage\n";

pub fn run(command: CollectorCommand, session: &Session) -> Result<(), Failure> {
    match command {
        CollectorCommand::Plan(arguments) => plan(arguments, session),
        CollectorCommand::Apply(arguments) => apply(arguments, session),
        CollectorCommand::Undo(arguments) => undo::run(arguments, session),
        CollectorCommand::Purge(arguments) => purge(arguments, session),
        CollectorCommand::Status => status::run(session),
        CollectorCommand::Retention(command) => retention::run(command, session),
        CollectorCommand::Explain { id } => explain(&id, session),
    }
}

/// A plan by its id, or a new one by strategies: no strategy looks like an id.
fn plan(arguments: PlanArguments, session: &Session) -> Result<(), Failure> {
    if let [id] = arguments.what.as_slice()
        && id.parse::<PlanId>().is_ok()
    {
        let request = json!({"plan_id": id, "offset": arguments.page.offset, "limit": arguments.page.limit});
        let answer = session.call("get_plan", request)?;
        return session.output.answer(&answer, render::plan);
    }
    let strategies = if arguments.what.is_empty() { vec!["all".to_owned()] } else { arguments.what };
    let answer = session.call("gc_plan", json!({ "strategies": strategies }))?;
    if list(&answer, "items").is_empty() {
        return session.output.answer(&answer, |_| NO_GARBAGE.to_owned());
    }
    session.output.answer(&answer, render::plan)?;
    say_how_to_apply(&answer, session);
    Ok(())
}

pub fn say_how_to_apply(plan: &Value, session: &Session) {
    session.output.talk(&format!("nothing was changed; `rootset gc apply {}` applies it", text(plan, "plan_id")));
}

fn apply(arguments: ApplyArguments, session: &Session) -> Result<(), Failure> {
    let plan = session.call("get_plan", json!({"plan_id": arguments.plan}))?;
    let approval = Approval { allow_large: arguments.allow_large };
    apply_after_approval(&plan, &arguments.exclude, approval, session)
}

/// What the caller agreed to beforehand.
#[derive(Clone, Copy, Debug)]
pub struct Approval {
    pub allow_large: bool,
}

/// Shows the plan, asks, and applies exactly this plan.
pub fn apply_after_approval(
    plan: &Value,
    exclude: &[String],
    approval: Approval,
    session: &Session,
) -> Result<(), Failure> {
    let id = text(plan, "plan_id");
    match (session.output.in_json(), session.global.yes) {
        (false, _) => session.output.text(&format!("{}\n", render::plan(plan)))?,
        // stdout is for the outcome; who is asked must still see what about.
        (true, false) => session.output.talk(&render::plan(plan)),
        (true, true) => {}
    }
    let blocked = list(plan, "blocked");
    if !blocked.is_empty() && !approval.allow_large && exclude.is_empty() {
        return Err(over_limit(id, blocked).into());
    }
    let erases = flag(plan, "purge");
    let what = counted(count(plan, "items_total"), "item", "items");
    let asked = match erases {
        true => prompt::confirm_word(session, &format!("erase {what} for good"), ERASE_WORD),
        false if only_reclaims(plan) => prompt::confirm(session, &format!("remove {what} that nothing vouches for")),
        false => prompt::confirm(session, &format!("move {what} to the trash")),
    };
    asked.map_err(|failure| with_plan(failure, id))?;
    let request = json!({
        "plan_id": id,
        "exclude": given(exclude.to_vec()),
        "allow_large": approval.allow_large.then_some(true),
        "confirm": erases.then_some(true),
    });
    let answer = session.call("gc_apply", request)?;
    session.output.answer(&answer, render::applied)
}

/// Rows that nothing serves are not trashed: there is nothing to undo.
fn only_reclaims(plan: &Value) -> bool {
    list(plan, "items").iter().all(|item| text(item, "action") == "reclaim")
}

fn over_limit(plan: &str, blocked: &[Value]) -> ServiceError {
    ServiceError::new(ErrorCode::LimitExceeded, "the plan is over a limit; nothing was changed")
        .with_hint(format!("if that is what you want: rootset gc apply {plan} --allow-large"))
        .with_details(json!({"plan_id": plan, "blocked": blocked}))
}

/// A program that could not be asked learns which plan is waiting.
fn with_plan(failure: Failure, plan: &str) -> Failure {
    match failure {
        Failure::Error(error) => {
            let hint = format!("give `--yes` if that is what you want, or run `rootset gc apply {plan}` in a terminal");
            error.with_hint(hint).with_details(json!({"plan_id": plan})).into()
        }
        other => other,
    }
}

fn purge(arguments: PurgeArguments, session: &Session) -> Result<(), Failure> {
    let what = match (&arguments.run, &arguments.older_than) {
        (Some(run), _) => format!("the trash of run {}", render::one_line(run, 64)),
        (None, age) => format!("trash older than {}", render::one_line(age.as_deref().unwrap_or_default(), 64)),
    };
    prompt::confirm_word(session, &format!("remove {what} for good"), ERASE_WORD)?;
    let request = json!({"run_id": arguments.run, "older_than": arguments.older_than, "confirm": true});
    let answer = session.call("gc_purge", request)?;
    session.output.answer(&answer, purged)?;
    say_about_remains(&answer, &session.output);
    Ok(())
}

fn purged(answer: &Value) -> String {
    format!("purged {} ({} of text)\n", render::amounts(&answer["purged"]), bytes(count(answer, "bytes_freed")))
}

fn say_about_remains(answer: &Value, output: &output::Output) {
    if output.in_json() {
        return;
    }
    if !flag(answer, "wal_clean") {
        output.talk(&render::warning("a reader still holds the old log; purge again later to clean it"));
    }
    if text(&answer["receipt"], "byte_scan") == "found" {
        output.talk(&render::warning(
            "pieces of the text are still in the files: another memory may hold the same words",
        ));
    }
    for left in list(&answer["receipt"], "left_to_operator").iter().filter_map(Value::as_str) {
        output.talk(&format!("left to the operator of the server: {left}"));
    }
}

fn explain(id: &str, session: &Session) -> Result<(), Failure> {
    let answer = session.call("gc_explain", json!({"id": id}))?;
    session.output.answer(&answer, |answer| {
        let state = if flag(answer, "alive") { render::good("alive") } else { render::warning("not alive") };
        let path: Vec<String> = list(answer, "path").iter().filter_map(Value::as_str).map(escaped).collect();
        let (kind, id) = (text(answer, "kind"), escaped(text(answer, "id")));
        let path = if path.is_empty() { String::new() } else { format!("{}\n", path.join(" → ")) };
        format!("{kind} {id}: {state}, {}\n{path}", escaped(text(answer, "reason")))
    })
}
