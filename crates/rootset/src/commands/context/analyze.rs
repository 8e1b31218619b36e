//! Where the tokens of a session went: `rootset context analyze` and `top`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use rootset_api::{
    CandidateAnswer, ContextAnalysis, ContextGcAnalyze, ContextGcConfigure, ErrorCode, UsageAnswer, WindowPlanAnswer,
};
use rootset_model::names::HOME_WORKSPACE;
use rootset_service::{Caller, FrontEnd, Service, ServiceError};
use rootset_store::Store;

use super::files::{SessionFormat, detect, import_request};
use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{self, Column, Table, escaped, grouped, one_line};

/// Show where the tokens of a session went and what could leave
#[derive(Debug, Args)]
#[command(defer(described_by::<ContextGcAnalyze>))]
pub struct AnalyzeArguments {
    /// A session, or a file to look at without importing it
    session: String,
    #[arg(id = "target_tokens", long = "free", value_name = "TOKENS")]
    free: Option<i64>,
    /// The budget to measure a file against
    #[arg(long, value_name = "TOKENS")]
    budget: Option<i64>,
    /// The format of a file; default: detected from its contents
    #[arg(long, value_name = "FORMAT")]
    format: Option<SessionFormat>,
    /// The number of candidates to list
    #[arg(long, short = 'n', default_value_t = 10)]
    limit: i64,
}

/// List the segments that keep the most tokens reachable
#[derive(Debug, Args)]
pub struct TopArguments {
    /// The name of the session
    session: String,
    /// The number of segments to list
    #[arg(long, short = 'n', default_value_t = 20)]
    limit: i64,
}

pub fn analyze(arguments: &AnalyzeArguments, program: &Program) -> Result<(), Failure> {
    let answer = match Path::new(&arguments.session) {
        file if file.is_file() => analyze_file(file, arguments, program)?,
        _ => program.run(request(&arguments.session, arguments))?,
    };
    program.output.answer(&answer, one_screen)?;
    if !program.output.in_json() && !answer.plan.stash_segments.is_empty() {
        program.output.talk("nothing was changed");
    }
    Ok(())
}

fn request(session_id: &str, arguments: &AnalyzeArguments) -> ContextGcAnalyze {
    ContextGcAnalyze {
        session_id: session_id.to_owned(),
        target_tokens: arguments.free,
        max_candidates: Some(arguments.limit),
        ..ContextGcAnalyze::default()
    }
}

fn analyze_file(file: &Path, arguments: &AnalyzeArguments, program: &Program) -> Result<ContextAnalysis, ServiceError> {
    let format = arguments.format.map_or_else(|| detect(file), Ok)?;
    let settings = ContextGcConfigure { budget_tokens: arguments.budget, ..ContextGcConfigure::default() };
    let looked_at = LookedAt::open(file, format, settings, program)?;
    looked_at.analyze(request(LookedAt::NAME, arguments))
}

/// A file in a database of its own that is gone afterwards: looking at a file imports nothing.
pub struct LookedAt {
    service: Arc<Service>,
    caller: Caller,
    _folder: tempfile::TempDir,
}

impl LookedAt {
    const NAME: &str = "file";

    pub fn open(
        file: &Path,
        format: SessionFormat,
        settings: ContextGcConfigure,
        program: &Program,
    ) -> Result<Self, ServiceError> {
        let failed = |error: std::io::Error| {
            ServiceError::new(ErrorCode::Internal, format!("cannot create a temporary folder: {error}"))
        };
        let folder = tempfile::tempdir().map_err(failed)?;
        let store = Store::open_sqlite(&folder.path().join("analysis.db"))?;
        let service = Arc::new(Service::new(store, program.configuration()?.settings.clone())?);
        let caller = Caller::new(FrontEnd::CommandLine, "cli", HOME_WORKSPACE);
        service.run(&caller, ContextGcConfigure { session_id: Self::NAME.to_owned(), ..settings })?;
        service.run(&caller, import_request(Self::NAME.to_owned(), file, format))?;
        Ok(Self { service, caller, _folder: folder })
    }

    pub fn analyze(&self, request: ContextGcAnalyze) -> Result<ContextAnalysis, ServiceError> {
        let request = ContextGcAnalyze { session_id: Self::NAME.to_owned(), ..request };
        let mut answer = self.service.run(&self.caller, request)?;
        // A plan of a database that is gone is none.
        answer.plan.plan_id = None;
        answer.plan.expires_at = None;
        Ok(answer)
    }
}

fn one_screen(answer: &ContextAnalysis) -> String {
    let mut shown = String::new();
    let mut line = |text: &str| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    line(&usage_line(&answer.usage));
    line("");
    line(by_type(&answer.tokens_by_type).trim_end());
    line("");
    line(&format!("must stay: {}", roots(&answer.roots)));
    if answer.candidates.is_empty() {
        line("nothing may leave");
    } else {
        let total = render::counted(answer.candidates_total, "segment", "segments");
        line(&format!("may leave: {total}; first:"));
        line("");
        line(candidate_table(&answer.candidates).trim_end());
    }
    line("");
    line(&plan_lines(&answer.plan));
    shown
}

pub fn usage_line(usage: &UsageAnswer) -> String {
    let used = render::bold(format!("{} tokens", grouped(usage.tokens)));
    let shown = format!("{used}, {:.0} % of {}", usage.percent, grouped(usage.budget_tokens));
    if usage.over_limit { format!("{shown}  {}", render::warning("over the budget")) } else { shown }
}

/// The most first.
fn by_type(tokens: &BTreeMap<String, u64>) -> String {
    let mut types: Vec<(&String, u64)> = tokens.iter().map(|(name, tokens)| (name, *tokens)).collect();
    types.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let all: u64 = types.iter().map(|(_, tokens)| tokens).sum();
    let mut table = Table::new([Column::fixed("TYPE"), Column::fixed("TOKENS"), Column::fixed("SHARE")]);
    for (name, tokens) in types {
        let share = tokens as f64 / all.max(1) as f64 * 100.0;
        table.row([name.clone(), grouped(tokens), format!("{share:.0} %")]);
    }
    table.finish()
}

fn roots(roots: &BTreeMap<String, u64>) -> String {
    let kinds: Vec<String> = roots.iter().map(|(kind, count)| format!("{count} {}", kind.replace('_', " "))).collect();
    if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", ") }
}

fn candidate_table(candidates: &[CandidateAnswer]) -> String {
    let mut table = Table::new([
        Column::name("SEGMENT"),
        Column::fixed("TYPE"),
        Column::fixed("TOKENS"),
        Column::fixed("SCORE"),
        Column::text("WHY"),
    ]);
    for candidate in candidates {
        table.row([
            one_line(&candidate.segment_id, 40),
            candidate.segment_type.clone(),
            grouped(candidate.tokens),
            format!("{:.2}", candidate.score.unwrap_or_default()),
            one_line(&candidate.reason, 120),
        ]);
    }
    table.finish()
}

pub fn plan_lines(plan: &WindowPlanAnswer) -> String {
    let (stash, delete) = (plan.stash_segments.len(), plan.delete_segments.len());
    let segments = |count: usize| render::counted(count, "segment", "segments");
    let mut lines = vec![format!("plan: {}", escaped(&plan.reason))];
    if stash > 0 {
        let lost = grouped(plan.cache_tokens_lost);
        lines.push(format!("      stash {}; {lost} tokens of a cached prompt must be read again", segments(stash)));
    }
    if delete > 0 {
        lines.push(format!("      delete {}, stashed long ago", segments(delete)));
    }
    let compress: Vec<String> = plan.compress_candidates.iter().take(5).map(|id| escaped(id)).collect();
    if !compress.is_empty() {
        lines.push(format!("      long and cold, worth a summary: {}", compress.join(", ")));
    }
    lines.join("\n")
}

pub fn top(arguments: TopArguments, program: &Program) -> Result<(), Failure> {
    let answer = program.run(ContextGcAnalyze {
        session_id: arguments.session,
        max_candidates: Some(1),
        max_retainers: Some(arguments.limit),
        ..ContextGcAnalyze::default()
    })?;
    program.output.answer(&answer, |answer| {
        let mut table = Table::new([
            Column::name("SEGMENT"),
            Column::fixed("TYPE"),
            Column::fixed("TOKENS"),
            Column::fixed("RETAINED"),
            Column::text("KEPT AS"),
        ]);
        for retainer in answer.retainers.iter().flatten() {
            table.row([
                one_line(&retainer.segment_id, 60),
                retainer.segment_type.clone(),
                grouped(retainer.tokens),
                grouped(retainer.retained_tokens),
                retainer.root.as_deref().unwrap_or_default().replace('_', " "),
            ]);
        }
        table.finish()
    })
}
