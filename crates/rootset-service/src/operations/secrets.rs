//! `scan_secrets` and `redact_secrets`.

use std::sync::Arc;

use rootset_api::{RedactSecrets, RedactedMemory, ScanSecrets, SecretsFound, SecretsRedacted, UpdateMemory};
use rootset_model::MemoryId;
use rootset_model::limits::NAME_CHARS_MAX;
use rootset_model::slug::slug;
use rootset_store::{FullMemory, TextOwner, TextsAfter, Workspace};
use rootset_text::secrets::SecretScan;
use serde_json::{Map, Value, json};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Operation, confirmation_of};
use crate::secrets::scanning::{cursor_text, findings, parse_cursor};
use crate::service::Service;

/// One call looks at so many rows, or finds so much; the next one goes on.
const ROWS_MAX: usize = 1_000;
const FINDINGS_MAX: usize = 100;
const MEMORIES_MAX: usize = 100;

impl Operation for ScanSecrets {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<SecretsFound, ServiceError> {
        let workspace = service.workspace_or_trashed(caller, self.workspace_id.as_deref())?;
        let scan = service.settings.secrets.scan();
        let mut next = Some(self.cursor.as_deref().map_or(Ok(TextsAfter::START), parse_cursor)?);
        let (mut found, mut looked_at) = (Vec::new(), 0);
        while let Some(after) = next
            && looked_at < ROWS_MAX
            && found.len() < FINDINGS_MAX
        {
            let (rows, following) = service.store.stored_texts(&workspace, after)?;
            looked_at += rows.len();
            found.extend(rows.iter().flat_map(|row| findings(row, scan)));
            next = following;
        }
        Ok(SecretsFound { findings: found, looked_at, next_cursor: next.map(cursor_text) })
    }
}

impl Operation for RedactSecrets {
    fn unconfirmed(&self, service: &Service, caller: &Caller) -> ServiceError {
        match checked(self, service, caller) {
            Ok(_) => confirmation_of(self, UNCONFIRMED, json!({"confirm": true})),
            Err(error) => error,
        }
    }

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<SecretsRedacted, ServiceError> {
        let workspace = checked(&self, service, caller)?;
        if self.confirm != Some(true) {
            return Err(self.unconfirmed(service, caller));
        }
        let redact = |id: &String| {
            redact(service, caller, &workspace, id).unwrap_or_else(|error| RedactedMemory {
                memory_id: None,
                erased: 0,
                receipt: None,
                errors: None,
                error: Some(error.to_json()["error"].take()),
                warnings: None,
            })
        };
        let results: Vec<RedactedMemory> = self.memory_ids.iter().map(redact).collect();
        Ok(SecretsRedacted { failed: results.iter().filter(|it| it.error.is_some()).count(), results })
    }
}

const UNCONFIRMED: &str =
    "redacting stored memories erases their earlier revisions, cannot be undone and needs `confirm: true`";

fn checked(request: &RedactSecrets, service: &Service, caller: &Caller) -> Result<Workspace, ServiceError> {
    let count = request.memory_ids.len();
    if !(1..=MEMORIES_MAX).contains(&count) {
        return Err(ServiceError::invalid(format!("`memory_ids` has {count} items; allowed: 1 to {MEMORIES_MAX}")));
    }
    // They are repeated in the question. An id is shorter than a name may be.
    if request.memory_ids.iter().any(|id| id.len() > NAME_CHARS_MAX) {
        return Err(ServiceError::invalid("each of `memory_ids` must be the id or name of a memory"));
    }
    service.workspace(caller, request.workspace_id.as_deref())
}

/// An update that replaces what is found, and erases every revision that may hold it.
fn redact(
    service: &Arc<Service>,
    caller: &Caller,
    workspace: &Workspace,
    reference: &str,
) -> Result<RedactedMemory, ServiceError> {
    let row = service.store.memory(workspace, reference)?;
    let newest = row.newest_revision();
    let memory = service.store.full_memory(workspace, &row.id.to_string(), Some(newest))?;
    if memory.row.doc_hash.is_none() {
        return Err(ServiceError::invalid("an indexed file is redacted by indexing its folder again"));
    }
    let scan = service.settings.secrets.scan();
    let erased = found_in_all_revisions(service, workspace, row.id, scan)?;
    let unchanged =
        RedactedMemory { memory_id: Some(row.id), erased, receipt: None, errors: None, error: None, warnings: None };
    if erased == 0 {
        return Ok(unchanged);
    }
    let updated = update(&memory, workspace, scan).run(service, caller)?;
    Ok(RedactedMemory {
        receipt: updated.receipt,
        errors: (!updated.errors.is_empty()).then_some(updated.errors),
        warnings: updated.warnings,
        ..unchanged
    })
}

fn found_in_all_revisions(
    service: &Service,
    workspace: &Workspace,
    id: MemoryId,
    scan: SecretScan,
) -> Result<usize, ServiceError> {
    let mut found = 0;
    let mut next = Some(TextsAfter::Revision(id, -1));
    while let Some(after @ TextsAfter::Revision(..)) = next {
        let (rows, following) = service.store.stored_texts(workspace, after)?;
        for row in &rows {
            match row.owner {
                TextOwner::Memory { id: owner, .. } if owner == id => {
                    found += findings(row, scan).iter().map(|it| it.count).sum::<usize>();
                }
                _ => return Ok(found),
            }
        }
        next = following;
    }
    Ok(found)
}

fn update(memory: &FullMemory, workspace: &Workspace, scan: SecretScan) -> UpdateMemory {
    let clean = |text: &str| scan.redact(text).text.into_owned();
    let changed = |text: &str| Some(scan.redact(text)).filter(|it| it.count > 0).map(|it| it.text.into_owned());
    let changed_list = |items: &[String]| {
        items.iter().any(|item| changed(item).is_some()).then(|| items.iter().map(|item| clean(item)).collect())
    };
    let content = &memory.content;
    UpdateMemory {
        workspace_id: Some(workspace.id.clone()),
        memory_id: memory.row.id.to_string(),
        expected_version: Some(memory.row.version),
        name: memory
            .row
            .name
            .as_deref()
            .and_then(changed)
            .map(|name| slug(&name).unwrap_or_else(|| "redacted".to_owned())),
        topic: changed(&content.topic),
        context: changed(&content.context),
        decisions: changed_list(&content.decisions),
        rationale: changed_list(&content.rationale),
        tags: changed_list(&memory.row.tags),
        metadata: memory.row.metadata.as_deref().and_then(|json| redacted_metadata(json, scan)),
        pin_reason: memory.row.pin_reason.as_deref().and_then(changed),
        erase_previous: Some(true),
        ..UpdateMemory::default()
    }
}

fn redacted_metadata(json: &str, scan: SecretScan) -> Option<Map<String, Value>> {
    let mut value: Value = serde_json::from_str(json).ok()?;
    let before = value.clone();
    crate::secrets::redact_free_value(&mut value, scan);
    match value {
        Value::Object(fields) if Value::Object(fields.clone()) != before => Some(fields),
        _ => None,
    }
}
