//! `rootset secrets`.

use clap::Subcommand;
use rootset_api::{RedactSecrets, ScanSecrets, SecretsFound, SecretsRedacted, StoredSecret};

use crate::exit::Failure;
use crate::program::Program;
use crate::prompt;
use crate::render::{Column, Table, counted, escaped};

#[derive(Debug, Subcommand)]
pub enum SecretsCommand {
    /// List where values that look like secrets are stored, never the values
    Scan,
    /// Replace the secrets in memories and erase their earlier revisions for good
    Redact {
        /// Ids or names; default: every memory that a scan finds
        #[arg(value_name = "MEMORY")]
        memories: Vec<String>,
    },
}

/// As many as one request takes.
const MEMORIES_PER_REQUEST: usize = 100;

pub fn run(command: SecretsCommand, program: &Program) -> Result<(), Failure> {
    match command {
        SecretsCommand::Scan => {
            let answer = scan(program)?;
            program.output.answer(&answer, render)
        }
        SecretsCommand::Redact { memories } => redact(memories, program),
    }
}

/// All pages as one answer.
fn scan(program: &Program) -> Result<SecretsFound, Failure> {
    let mut all = SecretsFound { findings: Vec::new(), looked_at: 0, next_cursor: None };
    loop {
        let page = program.run(ScanSecrets { workspace_id: None, cursor: all.next_cursor.take() })?;
        all.findings.extend(page.findings);
        all.looked_at += page.looked_at;
        all.next_cursor = page.next_cursor;
        if all.next_cursor.is_none() {
            return Ok(all);
        }
    }
}

fn redact(memories: Vec<String>, program: &Program) -> Result<(), Failure> {
    let memories = if memories.is_empty() { redactable(&scan(program)?.findings) } else { memories };
    if memories.is_empty() {
        program.output.talk("no memory holds a value that looks like a secret");
        return program.output.answer(&SecretsRedacted { results: Vec::new(), failed: 0 }, |_| String::new());
    }
    let count = counted(memories.len(), "memory", "memories");
    prompt::confirm_word(program, &format!("redact {count} and erase the earlier revisions for good"), "redact")?;
    let mut all = SecretsRedacted { results: Vec::new(), failed: 0 };
    for part in memories.chunks(MEMORIES_PER_REQUEST) {
        let request = RedactSecrets { workspace_id: None, memory_ids: part.to_vec(), confirm: Some(true) };
        let answer = program.run(request)?;
        all.results.extend(answer.results);
        all.failed += answer.failed;
    }
    program.output.answer(&all, render_redacted)
}

fn redactable(findings: &[StoredSecret]) -> Vec<String> {
    let mut ids: Vec<String> =
        findings.iter().filter(|it| it.kind == "memory" && !it.in_trash).map(|it| it.id.clone()).collect();
    ids.sort();
    ids.dedup();
    ids
}

fn render(answer: &SecretsFound) -> String {
    if answer.findings.is_empty() {
        return format!("nothing that looks like a secret in {}\n", counted(answer.looked_at, "row", "rows"));
    }
    let mut table = Table::new([
        Column::fixed("KIND"),
        Column::id("ID"),
        Column::fixed("REVISION").spare(),
        Column::fixed("FIELD"),
        Column::name("SECRET"),
        Column::fixed("COUNT").spare(),
        Column::text("REMEDY"),
    ]);
    for found in &answer.findings {
        table.row([
            found.kind.clone(),
            escaped(&found.id),
            found.revision.map(|it| it.to_string()).unwrap_or_default(),
            found.field.clone(),
            found.secret.clone(),
            found.count.to_string(),
            found.remedy.clone(),
        ]);
    }
    table.finish()
}

fn render_redacted(answer: &SecretsRedacted) -> String {
    let erased: usize = answer.results.iter().map(|it| it.erased).sum();
    let done = answer.results.len() - answer.failed;
    let mut text =
        format!("erased {} in {}\n", counted(erased, "value", "values"), counted(done, "memory", "memories"));
    for error in answer.results.iter().filter_map(|it| it.error.as_ref()) {
        text.push_str(&format!("  failed: {}\n", escaped(error["message"].as_str().unwrap_or("unknown reason"))));
    }
    text
}
