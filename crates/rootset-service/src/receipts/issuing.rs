//! From what an erasure did to the receipt that a caller gets: the backups are rewritten if somebody wants that, those
//! that still hold something are listed, and the document is signed.

use rootset_api::{Effect, HoldingBackup, ReceiptAnswer, RewrittenBackupAnswer};
use rootset_model::{Counts, RunId, Timestamp};
use rootset_store::{Receipt, Rewritten, RewrittenBackup, Searched, Workspace};

use super::document::{AskedFor, AuditLink, BackupLine, ErasedLine, FailedLine, Left, ReceiptDocument, SearchedLine};
use super::signing::{FORMAT, Signer};
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::hex;
use crate::service::Service;

/// Where copies may be that no database knows of.
const NOT_REACHED: [&str; 3] = [
    "transcripts and caches of the agents and clients that were given the text",
    "exports, and copies of the database or of backups that were made elsewhere",
    "what file systems, disks and snapshots below the files still keep",
];
/// Where PostgreSQL keeps what was removed.
const LEFT_TO_OPERATOR: [&str; 3] = [
    "dead tuples of the tables, until VACUUM has run and their pages are used again",
    "the write-ahead log with its archives and replicas, until they are recycled or expire",
    "dumps and copies of the server that were made before",
];

/// What a caller wants beside the erasure itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    pub rewritten_backups: bool,
    pub signature: bool,
}

impl Wanted {
    /// Backups hold the rows of every workspace: rewriting them is for those who may change all of it.
    pub fn checked(
        rewrite_backups: Option<bool>,
        receipt: Option<bool>,
        caller: &Caller,
    ) -> Result<Self, ServiceError> {
        let wanted = Self { rewritten_backups: rewrite_backups == Some(true), signature: receipt == Some(true) };
        if wanted.rewritten_backups {
            caller.need_scope(Effect::Admin, || "`rewrite_backups: true`")?;
            caller.need_whole_database(|| "`rewrite_backups: true`")?;
        }
        Ok(wanted)
    }

    pub fn is_something(self) -> bool {
        self.rewritten_backups || self.signature
    }
}

/// What was erased, as far as it was.
#[derive(Debug)]
pub(crate) struct Erasure<'a> {
    pub id: String,
    pub operation: &'static str,
    pub at: Timestamp,
    /// What was searched for, and in which workspaces.
    pub searched: Option<(Searched, Vec<String>)>,
    pub parts: Vec<ErasedPart<'a>>,
    pub failed: Vec<FailedPart>,
}

#[derive(Debug)]
pub(crate) struct ErasedPart<'a> {
    pub workspace: &'a Workspace,
    /// `None` where trash of several runs was purged.
    pub run: Option<RunId>,
    pub kept_pinned: usize,
    pub receipt: Receipt,
}

#[derive(Debug)]
pub(crate) struct FailedPart {
    pub workspace_id: String,
    pub problem: String,
    pub is_limit: bool,
}

impl Service {
    /// The proof of an erasure. It is done, so nothing here fails: what goes wrong is a warning.
    pub(crate) fn receipt(
        &self,
        caller: &Caller,
        erasure: &Erasure<'_>,
        wanted: Wanted,
        warnings: &mut Vec<String>,
    ) -> ReceiptAnswer {
        let rewritten = wanted.rewritten_backups.then(|| self.rewrite_backups(caller, warnings));
        let workspaces: Vec<&str> = erasure.parts.iter().map(|part| part.workspace.id.as_str()).collect();
        let mut backups = self.holding_backups(&workspaces, erasure.at, warnings);
        backups.retain(|backup| !rewritten.iter().flatten().any(|it| no_longer_holds(it, &backup.backup_id)));
        let mut rows = Counts::default();
        erasure.parts.iter().for_each(|part| rows.add_all(&part.receipt.rows));
        let mut answer = ReceiptAnswer {
            erasure_id: erasure.id.clone(),
            rows: purged_rows(&rows),
            byte_scan: byte_scan(erasure.parts.iter().map(|part| &part.receipt)).to_owned(),
            backups,
            ledger_problem: erasure.parts.iter().find_map(|part| part.receipt.ledger_problem.clone()),
            left_to_operator: (!self.store.has_file()).then(|| LEFT_TO_OPERATOR.map(str::to_owned).to_vec()),
            rewritten: rewritten.as_ref().map(|it| it.iter().map(rewritten_answer).collect()),
            signed: None,
        };
        if wanted.signature {
            match self.signed(caller, erasure, &answer) {
                Ok(signed) => answer.signed = Some(signed),
                Err(error) => warnings.push(format!("the receipt could not be signed: {error}")),
            }
        }
        answer
    }

    /// The same for what was erased in one workspace without a search.
    #[expect(clippy::too_many_arguments, reason = "one call, each argument a different thing")]
    pub(crate) fn receipt_of(
        &self,
        caller: &Caller,
        operation: &'static str,
        workspace: &Workspace,
        run: Option<RunId>,
        receipt: Receipt,
        wanted: Wanted,
        warnings: &mut Vec<String>,
    ) -> ReceiptAnswer {
        let (id, at) = (receipt.erasure.to_string(), self.now());
        let parts = vec![ErasedPart { workspace, run, kept_pinned: 0, receipt }];
        let erasure = Erasure { id, operation, at, searched: None, parts, failed: Vec::new() };
        self.receipt(caller, &erasure, wanted, warnings)
    }

    /// The fingerprint of the key that signs this installation's receipts.
    pub fn receipt_key_fingerprint(&self) -> Result<String, ServiceError> {
        Ok(self.signer()?.key().fingerprint)
    }

    fn signer(&self) -> Result<Signer, ServiceError> {
        let mut fresh = [0; 32];
        getrandom::fill(&mut fresh)
            .map_err(|_| ServiceError::new(rootset_api::ErrorCode::Internal, "the system gave no random numbers"))?;
        Ok(Signer::new(&self.store.signing_seed(&fresh)?))
    }

    fn signed(&self, caller: &Caller, erasure: &Erasure<'_>, answer: &ReceiptAnswer) -> Result<String, ServiceError> {
        let signer = self.signer()?;
        let searched = erasure.searched.as_ref();
        let out_of_reach = NOT_REACHED.iter().map(|it| (*it).to_owned());
        let document = ReceiptDocument {
            format: FORMAT,
            issued_at: self.now(),
            issued_to: caller.actor.clone(),
            program: concat!("rootset ", env!("CARGO_PKG_VERSION")).to_owned(),
            store: self.store.engine_name().to_owned(),
            erasure_id: erasure.id.clone(),
            asked: AskedFor {
                operation: erasure.operation.to_owned(),
                keyed_hash: searched.map(|(it, _)| it.asked.clone()).filter(|hash| !hash.is_empty()),
            },
            searched: searched.map(|(it, workspaces)| SearchedLine {
                workspaces: workspaces.clone(),
                kinds: it.kinds.clone(),
                kinds_left_out: it.kinds_left_out.clone(),
            }),
            erased: erasure
                .parts
                .iter()
                .map(|part| self.erased_line(part, searched.is_some()))
                .collect::<Result<_, _>>()?,
            failed: erasure.failed.iter().map(failed_line).collect(),
            byte_scan: answer.byte_scan.clone(),
            backups: backup_lines(answer),
            not_reached: out_of_reach.chain(answer.left_to_operator.iter().flatten().cloned()).collect(),
            key: signer.key(),
        };
        Ok(signer.sign(&document))
    }

    /// Items that a run left alone are told where it was the run of a search, not one whose trash was purged later.
    fn erased_line(&self, part: &ErasedPart<'_>, is_of_search: bool) -> Result<ErasedLine, ServiceError> {
        let mut left = Vec::new();
        if part.kept_pinned > 0 {
            left.push(left_line("pinned", part.kept_pinned as i64));
        }
        if let Some(run) = part.run.filter(|_| is_of_search) {
            let skips = self.store.skips_by_reason(part.workspace, run)?;
            left.extend(skips.into_iter().map(|(reason, count)| left_line(&reason, count)));
        }
        let audit = self.store.audit_head(part.workspace.key)?;
        Ok(ErasedLine {
            workspace_id: part.workspace.id.clone(),
            erasure_id: part.receipt.erasure.to_string(),
            run_id: part.run.map(|run| run.to_string()),
            rows: purged_rows(&part.receipt.rows),
            byte_scan: byte_scan([&part.receipt]).to_owned(),
            left,
            audit: audit.map(|head| AuditLink { seq: head.seq, hash: hex(&head.hash) }),
        })
    }
}

fn no_longer_holds(rewritten: &RewrittenBackup, backup_id: &str) -> bool {
    rewritten.backup_id == backup_id
        && matches!(rewritten.outcome, Rewritten::Rewritten | Rewritten::Clean | Rewritten::Removed)
}

fn rewritten_answer(backup: &RewrittenBackup) -> RewrittenBackupAnswer {
    let (outcome, problem) = match &backup.outcome {
        Rewritten::Rewritten => ("rewritten", None),
        Rewritten::Clean => ("clean", None),
        Rewritten::Removed => ("removed", None),
        Rewritten::Foreign => ("foreign", None),
        Rewritten::Failed(problem) => ("failed", Some(problem.clone())),
    };
    RewrittenBackupAnswer { backup_id: backup.backup_id.clone(), outcome: outcome.to_owned(), problem }
}

/// What became of the backups, then those that nobody tried to rewrite.
fn backup_lines(answer: &ReceiptAnswer) -> Vec<BackupLine> {
    let expires_at = |id: &str| answer.backups.iter().find(|it| it.backup_id == id).map(|it| it.expires_at);
    let rewritten = answer.rewritten.as_deref().unwrap_or_default();
    let tried = rewritten.iter().map(|it| BackupLine {
        backup_id: it.backup_id.clone(),
        state: it.outcome.clone(),
        expires_at: expires_at(&it.backup_id),
        problem: it.problem.clone(),
    });
    let is_untried = |it: &&HoldingBackup| !rewritten.iter().any(|other| other.backup_id == it.backup_id);
    let holding = answer.backups.iter().filter(is_untried).map(|it| BackupLine {
        backup_id: it.backup_id.clone(),
        state: "holds".to_owned(),
        expires_at: Some(it.expires_at),
        problem: None,
    });
    tried.chain(holding).collect()
}

fn failed_line(part: &FailedPart) -> FailedLine {
    FailedLine {
        workspace_id: part.workspace_id.clone(),
        problem: part.problem.clone(),
        decided_by: if part.is_limit { "a limit" } else { "a failure" }.to_owned(),
    }
}

fn left_line(reason: &str, count: i64) -> Left {
    let decided_by = match reason {
        "pinned" => "a pin",
        "excluded" => "the reviewer",
        _ => "the check before removal",
    };
    Left { count, reason: reason.to_owned(), decided_by: decided_by.to_owned() }
}

/// The worst of them: text that was found counts more than a scan that could not be made.
fn byte_scan<'a>(receipts: impl IntoIterator<Item = &'a Receipt>) -> &'static str {
    let outcomes: Vec<Option<bool>> = receipts.into_iter().map(|it| it.text_remains).collect();
    if outcomes.contains(&Some(true)) {
        "found"
    } else if outcomes.contains(&None) {
        "not_run"
    } else {
        "clean"
    }
}

/// Rows by kind, zeroes left out.
pub(crate) fn purged_rows(rows: &Counts) -> Counts {
    rows.without(&["bytes"]).naming(&["memories"])
}
