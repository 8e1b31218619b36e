//! `doctor`.

use std::sync::Arc;

use rootset_api::{CheckAnswer, Doctor, DoctorAnswer};
use rootset_code::{Reader, name_parts};
use rootset_store::{Check, TokenRow, UnindexedText};
use rootset_text::terms;

use crate::caller::Caller;
use crate::chunk_terms::chunk_terms;
use crate::error::ServiceError;
use crate::operation::Operation;
use crate::service::Service;
use crate::tokens::ends_soon_by;
use crate::worker::provider_failed;

fn check_answer(check: Check) -> CheckAnswer {
    CheckAnswer {
        id: check.id.to_owned(),
        ok: check.is_ok(),
        count: check.count,
        detail: check.detail.to_owned(),
        found: (!check.found.is_empty()).then_some(check.found),
    }
}

impl Operation for Doctor {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<DoctorAnswer, ServiceError> {
        if self.repair == Some(true) {
            repair(service)?;
        }
        let mut checks: Vec<CheckAnswer> = service.store.check()?.into_iter().map(check_answer).collect();
        checks.extend(ending_tokens(service)?);
        checks.extend(contradictions(service, caller)?);
        Ok(DoctorAnswer { ok: checks.iter().all(|check| check.ok), checks })
    }
}

/// A warning and not a fault: nothing is wrong with the database.
fn ending_tokens(service: &Service) -> Result<Option<CheckAnswer>, ServiceError> {
    let now = service.now();
    let tokens = service.store.tokens_ending(now, ends_soon_by(now))?;
    let told = |token: &TokenRow| {
        let end = token.expires_at.map(|at| at.to_string()).unwrap_or_default();
        format!("the token `{}` expires at {end}; `rootset token rotate {}` renews it", token.name, token.name)
    };
    Ok((!tokens.is_empty()).then(|| CheckAnswer {
        id: "tokens".to_owned(),
        ok: true,
        count: 0,
        detail: "tokens that expire soon".to_owned(),
        found: Some(tokens.iter().map(told).collect()),
    }))
}

/// A remark and not a fault: memories of the caller's workspace of which only one of two can hold. Of one workspace only, because
/// texts are compared to find them.
fn contradictions(service: &Service, caller: &Caller) -> Result<Option<CheckAnswer>, ServiceError> {
    let Ok(workspace) = service.workspace(caller, None) else { return Ok(None) };
    let count = service.contradictions(&workspace)?.contradicted_by.len();
    let (memories, say) = if count == 1 { ("memory", "says") } else { ("memories", "say") };
    let list = "`rootset list --lifecycle contradicting` lists them";
    let told = format!("{count} {memories} in `{}` {say} something else than a newer one; {list}", workspace.id);
    Ok((count > 0).then(|| CheckAnswer {
        id: "contradictions".to_owned(),
        ok: true,
        count: 0,
        detail: "memories that contradict each other".to_owned(),
        found: Some(vec![told]),
    }))
}

/// Graph and chunks first: full text is made from them. Rows that nothing vouches for are left to a plan.
pub(super) fn repair(service: &Service) -> Result<(), ServiceError> {
    service.store.repair_rows(service.now())?;
    for broken in service.store.broken_memories()? {
        let mut prepared = service.prepare_text(broken.content.clone());
        let derived = match &broken.extraction {
            Some(extraction) => Ok(extraction.clone()),
            None => service.extractor.extract(&broken.content),
        };
        let extraction = derived.map_err(|error| provider_failed(&error))?;
        prepared.derived = Some(service.derive(&prepared, extraction));
        service.store.rederive(&broken, &prepared, service.now())?;
    }
    let mut reader = Reader::new();
    let missing = service.store.unindexed_texts()?.into_iter();
    let missing: Vec<UnindexedText> = missing.map(|text| in_terms(&mut reader, text)).collect();
    Ok(service.store.repair_search(&missing)?)
}

fn in_terms(reader: &mut Reader, text: UnindexedText) -> UnindexedText {
    let (head, body) = match &text.code {
        Some(origin) => {
            let name = origin.symbol.as_deref().map(|it| (name_parts(it).last().copied().unwrap_or_default(), it));
            chunk_terms(reader, &origin.path, name, &text.body)
        }
        None => (terms::index_terms(&text.head), terms::index_terms(&text.body)),
    };
    UnindexedText { head, body, ..text }
}
