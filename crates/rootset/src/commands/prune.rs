//! `rootset prune`: a plan of garbage, a look at it, a question, and only then the removal of exactly that plan.

use serde_json::json;

use super::collector::{Approval, NO_GARBAGE, apply_after_approval, say_how_to_apply};
use crate::arguments::PruneArguments;
use crate::exit::Failure;
use crate::render::{self, list};
use crate::session::Session;

pub fn run(arguments: PruneArguments, session: &Session) -> Result<(), Failure> {
    let plan = match &arguments.plan {
        Some(plan) => session.call("get_plan", json!({ "plan_id": plan }))?,
        None => session.call("prune_memory", json!({"dry_run": true, "strategy": arguments.strategy}))?,
    };
    if list(&plan, "items").is_empty() {
        return session.output.answer(&plan, |_| NO_GARBAGE.to_owned());
    }
    if arguments.dry_run {
        session.output.answer(&plan, render::plan)?;
        say_how_to_apply(&plan, session);
        return Ok(());
    }
    let approval = Approval { allow_large: arguments.allow_large };
    apply_after_approval(&plan, &arguments.exclude, approval, session)
}
