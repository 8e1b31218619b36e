//! `rootset receipt`: whether a receipt of an erasure is what was signed, and what it says.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use rootset_service::receipts::{BackupLine, ErasedLine, ReceiptDocument, verify_receipt};
use serde::Serialize;

use crate::exit::{Failure, STATUS_CALLER};
use crate::input;
use crate::program::Program;
use crate::render::{self, counted, escaped, short};

#[derive(Debug, Subcommand)]
pub enum ReceiptCommand {
    /// Check a receipt and show what it says; needs no database; exits with status 1 if it was changed
    Verify {
        /// The file of the receipt
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Show the fingerprint of the key that signs the receipts of this database
    Key,
}

pub fn run(command: ReceiptCommand, program: &Program) -> Result<(), Failure> {
    match command {
        ReceiptCommand::Verify { file } => verify(&file, program),
        ReceiptCommand::Key => {
            let key = Key { fingerprint: program.service()?.receipt_key_fingerprint()? };
            program.output.answer(&key, |key| format!("{}\n", key.fingerprint))
        }
    }
}

/// Checking needs no database, so it is no operation, and its answer is ours.
#[derive(Serialize)]
struct Verified {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<ReceiptDocument>,
}

#[derive(Serialize)]
struct Key {
    fingerprint: String,
}

fn verify(file: &Path, program: &Program) -> Result<(), Failure> {
    let verified = match verify_receipt(&input::read_file(file)?) {
        Ok(receipt) => Verified { ok: true, problem: None, receipt: Some(receipt) },
        Err(problem) => Verified { ok: false, problem: Some(problem.to_string()), receipt: None },
    };
    program.output.answer(&verified, |verified| match (&verified.receipt, &verified.problem) {
        (Some(receipt), _) => in_words(receipt),
        (None, problem) => format!("{}\n", render::bad(problem.as_deref().unwrap_or("not a receipt"))),
    })?;
    if verified.ok { Ok(()) } else { Err(Failure::Said(STATUS_CALLER)) }
}

fn in_words(receipt: &ReceiptDocument) -> String {
    let mut shown = String::new();
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    line(render::good("the signature is good: not a byte was changed since this receipt was signed"));
    line(format!("signed by the key {}", escaped(&receipt.key.fingerprint)));
    line("compare it with what `rootset receipt key` shows on the database that erased".to_owned());
    line(String::new());
    line(format!(
        "erasure {} by {} ({}), receipt issued {}",
        escaped(&receipt.erasure_id),
        escaped(&receipt.issued_to),
        escaped(&receipt.asked.operation),
        short(receipt.issued_at)
    ));
    if let Some(searched) = &receipt.searched {
        let workspaces = counted(searched.workspaces.len(), "workspace", "workspaces");
        line(format!("searched {workspaces}: {}", list(&searched.workspaces)));
        line(format!("searched for: {}", list(&searched.kinds)));
        if !searched.kinds_left_out.is_empty() {
            line(format!("not searched, because nobody asked for it: {}", list(&searched.kinds_left_out)));
        }
    }
    receipt.erased.iter().for_each(|erased| line(erased_in_words(erased)));
    for left in receipt.erased.iter().flat_map(|it| it.left.iter().map(move |left| (it, left))) {
        let (erased, left) = left;
        line(format!(
            "left in {}: {} ({}), decided by {}",
            escaped(&erased.workspace_id),
            counted(left.count, "item", "items"),
            escaped(&left.reason.replace('_', " ")),
            escaped(&left.decided_by)
        ));
    }
    for failed in &receipt.failed {
        let (workspace, problem) = (escaped(&failed.workspace_id), escaped(&failed.problem));
        line(render::warning(format!("not erased in {workspace}, stopped by {}: {problem}", failed.decided_by)));
    }
    line(byte_scan(&receipt.byte_scan).to_owned());
    match receipt.backups.is_empty() {
        true => line("no backup holds it".to_owned()),
        false => receipt.backups.iter().for_each(|backup| line(backup_in_words(backup))),
    }
    line("Rootset cannot reach:".to_owned());
    receipt.not_reached.iter().for_each(|place| line(format!("  {}", escaped(place))));
    shown
}

fn list(words: &[String]) -> String {
    if words.is_empty() { "nothing".to_owned() } else { escaped(&words.join(", ")) }
}

fn erased_in_words(erased: &ErasedLine) -> String {
    let audit = erased.audit.as_ref().map_or_else(String::new, |audit| {
        format!("\n  its audit entry {} has the hash {}", audit.seq, escaped(&audit.hash))
    });
    format!("erased in {}: {}{audit}", escaped(&erased.workspace_id), escaped(&erased.rows.in_words()))
}

fn byte_scan(outcome: &str) -> &'static str {
    match outcome {
        "clean" => "the database's files were searched byte by byte: nothing of the text was found",
        "found" => "parts of the text were found in the database's files: other rows may hold the same words",
        _ => "the database's files were not searched byte by byte",
    }
}

fn backup_in_words(backup: &BackupLine) -> String {
    let id = escaped(&backup.backup_id);
    let expires = backup.expires_at.map_or_else(String::new, |at| format!("; it expires {}", short(at)));
    match (backup.state.as_str(), &backup.problem) {
        ("rewritten", _) => format!("backup {id}: rewritten without it, and verified"),
        ("clean", _) => format!("backup {id}: held nothing of it"),
        ("removed", _) => format!("backup {id}: removed, because everything in it was erased"),
        ("foreign", _) => format!("backup {id}: belongs to another database, not touched"),
        ("failed", problem) => {
            let why = escaped(problem.as_deref().unwrap_or("unknown"));
            render::warning(format!("backup {id}: could not be rewritten and may still hold it ({why}){expires}"))
        }
        _ => format!("backup {id}: may still hold it{expires}"),
    }
}
