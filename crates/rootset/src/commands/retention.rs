//! `rootset gc retention`.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::arguments::{RetentionCommand, RetentionTarget, SetRetentionArguments};
use crate::exit::Failure;
use crate::render::{self, count, counted, escaped, text};
use crate::session::Session;

pub fn run(command: RetentionCommand, session: &Session) -> Result<(), Failure> {
    match command {
        RetentionCommand::Show(target) => show(&target, session),
        RetentionCommand::Set(arguments) => set(arguments, session),
    }
}

fn show(target: &RetentionTarget, session: &Session) -> Result<(), Failure> {
    let answer = session.call("get_retention", json!({"source": target.source, "repo": target.repo}))?;
    session.output.answer(&answer, |answer| {
        format!("{}\n{} {}\n", policy(&answer["policy"]), render::dim("origin"), escaped(text(answer, "origin")))
    })
}

fn set(arguments: SetRetentionArguments, session: &Session) -> Result<(), Failure> {
    let request = json!({
        "source": arguments.target.source,
        "repo": arguments.target.repo,
        "max_age": arguments.max_age,
        "max_count": arguments.max_count,
        "max_version_gap": arguments.max_version_gap,
        "min_keep": arguments.min_keep,
        "keep_within": arguments.keep_within,
        "basis": arguments.basis,
    });
    let answer = session.call("set_retention", request)?;
    session.output.answer(&answer, replaced)
}

fn replaced(answer: &Value) -> String {
    let mut shown = String::new();
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    line(policy(&answer["policy"]));
    if let Some(before) = answer.get("replaces") {
        line(format!("{} {}", render::dim("before:"), policy(before)));
    }
    let expired = &answer["would_expire"];
    let (memories, used) = (count(expired, "memories"), count(expired, "recently_used"));
    let share = expired["fraction"].as_f64().unwrap_or_default() * 100.0;
    match memories {
        0 => line("nothing would expire now".to_owned()),
        _ => line(render::warning(format!(
            "{} would expire now ({share:.0} %), {used} of them used in the last 30 days",
            counted(memories, "memory", "memories")
        ))),
    }
    shown
}

/// `max_age 90d, min_keep 10`.
fn policy(policy: &Value) -> String {
    let fields = policy.as_object().into_iter().flatten();
    let rules: Vec<String> = fields
        .filter(|(_, value)| !value.is_null())
        .map(|(field, value)| match value.as_str() {
            Some(text) => format!("{} {}", escaped(field), escaped(text)),
            None => format!("{} {value}", escaped(field)),
        })
        .collect();
    if rules.is_empty() { "everything is kept".to_owned() } else { rules.join(", ") }
}
