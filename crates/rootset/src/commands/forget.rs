//! `rootset forget`: a plan, a look at it, a question, and only then a removal.

use serde_json::{Value, json};

use super::collector::{Approval, apply_after_approval, say_how_to_apply};
use super::{given, joined, times};
use crate::arguments::ForgetArguments;
use crate::exit::Failure;
use crate::render::{self, counted, list};
use crate::session::Session;

pub fn run(arguments: ForgetArguments, session: &Session) -> Result<(), Failure> {
    let time =
        |option: &str, text: &Option<String>| text.as_deref().map(|text| times::behind(option, text)).transpose();
    let request = json!({
        "query": joined(&arguments.query),
        "tags": given(arguments.tags),
        "source": arguments.source,
        "written_by": arguments.written_by,
        "created_after": time("--after", &arguments.after)?,
        "created_before": time("--before", &arguments.before)?,
        "kinds": given(arguments.kinds),
        "include_pinned": arguments.include_pinned.then_some(true),
        "purge": arguments.purge.then_some(true),
    });
    let plan = session.call("forget", request)?;
    if list(&plan, "items").is_empty() {
        return session.output.answer(&plan, nothing_to_forget);
    }
    if arguments.dry_run {
        session.output.answer(&plan, render::plan)?;
        say_how_to_apply(&plan, session);
        return Ok(());
    }
    apply_after_approval(&plan, &[], Approval { allow_large: arguments.allow_large }, session)
}

fn nothing_to_forget(plan: &Value) -> String {
    match list(plan, "kept_pinned").len() as i64 {
        0 => "nothing matches\n".to_owned(),
        kept => format!(
            "nothing to remove: {} pinned; `--include-pinned` takes them too\n",
            counted(kept, "match is", "matches are")
        ),
    }
}
