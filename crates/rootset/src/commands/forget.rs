//! `rootset forget`: a plan of what matches, a look at it, a question, and only then the removal of exactly that plan.

use std::collections::BTreeMap;

use clap::Args;
use rootset_api::{Forget, ForgetAnswer, MemoryOf};
use rootset_service::ServiceError;

use super::collector::{Approval, ErasureArguments, apply_after_approval, say_how_to_apply};
use super::{given, joined, times};
use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{ShownPlan, counted};

/// Find everything that matches, show it, and remove it
#[derive(Debug, Args)]
#[command(defer(described_by::<Forget>))]
pub struct ForgetArguments {
    query: Vec<String>,
    #[arg(long = "tag", short, value_name = "TAG")]
    tags: Vec<String>,
    #[arg(long)]
    source: Option<String>,
    #[arg(long, value_name = "NAME")]
    written_by: Option<String>,
    /// The earliest creation time
    #[arg(long, value_name = "TIME")]
    after: Option<String>,
    /// The latest creation time
    #[arg(long, value_name = "TIME")]
    before: Option<String>,
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<String>,
    #[arg(long)]
    include_pinned: bool,
    #[arg(long)]
    purge: bool,
    /// Apply even if a limit is exceeded
    #[arg(long)]
    allow_large: bool,
    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,
    #[arg(long, value_name = "ID", value_delimiter = ',', conflicts_with = "everywhere")]
    workspaces: Vec<String>,
    /// Look in every workspace
    #[arg(long)]
    everywhere: bool,
    /// Look in your personal memory instead of the project's
    #[arg(long, conflicts_with_all = ["workspaces", "everywhere"])]
    personal: bool,
    /// Create a verified backup first
    #[arg(long, conflicts_with = "purge")]
    backup: bool,
    #[command(flatten)]
    erasure: ErasureArguments,
}

pub fn run(arguments: ForgetArguments, program: &Program) -> Result<(), Failure> {
    let time = |option: &str, text: &Option<String>| text.as_deref().map(|text| times::past(option, text)).transpose();
    if arguments.erasure.is_something() && !arguments.purge {
        return Err(ServiceError::invalid("`--receipt` and `--backups` are for erasures: add `--purge`").into());
    }
    let everywhere = arguments.everywhere.then(|| vec!["*".to_owned()]);
    let found = program.run(Forget {
        workspace_id: None,
        query: joined(&arguments.query),
        memory_ids: None,
        tags: given(arguments.tags),
        source: arguments.source,
        written_by: arguments.written_by,
        created_after: time("--after", &arguments.after)?,
        created_before: time("--before", &arguments.before)?,
        kinds: given(arguments.kinds),
        include_pinned: arguments.include_pinned.then_some(true),
        purge: arguments.purge.then_some(true),
        workspaces: everywhere.or_else(|| given(arguments.workspaces)),
        memory_of: arguments.personal.then_some(MemoryOf::Personal),
    })?;
    if let Some(matched) = found.matched_personal.filter(|_| !program.output.in_json()) {
        let matches = counted(matched, "match", "matches");
        program.output.talk(&format!("{matches} in your personal memory; `rootset forget --personal` shows them"));
    }
    let Some(plan) = found.plan.as_ref().filter(|plan| !plan.items.is_empty()) else {
        return program.output.answer(&found, nothing_to_forget);
    };
    let shown = ShownPlan::keeping(plan, found.kept_pinned.len());
    if arguments.dry_run {
        program.output.answer(&found, |_| shown.to_string())?;
        say_how_to_apply(plan, program);
        return Ok(());
    }
    let approval = Approval {
        exclude: Vec::new(),
        actions: BTreeMap::new(),
        allow_large: arguments.allow_large,
        backup: arguments.backup,
        erasure: arguments.erasure,
    };
    apply_after_approval(shown, approval, program)
}

fn nothing_to_forget(found: &ForgetAnswer) -> String {
    if let Some(plan) = found.plan.as_ref().filter(|plan| plan.maybe.is_some()) {
        return ShownPlan::keeping(plan, found.kept_pinned.len()).to_string();
    }
    match found.kept_pinned.len() {
        0 => "nothing matches\n".to_owned(),
        kept => format!(
            "nothing to remove: {} pinned; `--include-pinned` includes them\n",
            counted(kept, "match is", "matches are")
        ),
    }
}
