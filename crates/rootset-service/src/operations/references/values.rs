//! Uses of a symbol that are no calls: a constant that is read, a function that is handed on, a field of a known type.
//!
//! Uses are not stored. The files that hold the name are found by the index and read again, from the stored text; how many
//! is bounded, and files beyond are counted.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rootset_api::{Certainty, ReferenceKind, ReferenceResult};
use rootset_code::{Reader, Source, language_named};
use rootset_model::code::Call;
use rootset_store::Workspace;

use super::result;
use crate::error::ServiceError;
use crate::referring::{Referring, Site};
use crate::resolving::Sym;
use crate::service::Service;

/// Files read for one question; parsing one takes about a millisecond.
const FILES_MAX: usize = 200;
/// Text read for one question.
const BYTES_MAX: usize = 8 << 20;

pub struct Uses {
    pub results: Vec<ReferenceResult>,
    /// Uses that could not be placed, and files that were not read.
    pub unresolved: usize,
}

pub fn uses(
    service: &Service,
    workspace: &Workspace,
    targets: &[Sym],
    repo: Option<&str>,
) -> Result<Uses, ServiceError> {
    let mut referring = Referring::of_values(service, workspace)?;
    let (names, mut files, mut unresolved) = referring.files_with_names_of(targets, repo)?;
    unresolved += files.len().saturating_sub(FILES_MAX);
    files.truncate(FILES_MAX);
    let memories: Vec<_> = files.iter().map(|file| file.memory).collect();
    let texts: BTreeMap<_, _> = service.store.file_texts(workspace, &memories, service.now())?.into_iter().collect();
    let symbols = referring.symbols_by_place(&files)?;
    let mut reader = Reader::new();
    let mut room = BYTES_MAX;
    let mut sites = Vec::new();
    for file in files {
        let (Some(text), Some(language)) = (texts.get(&file.memory), language_named(&file.language)) else { continue };
        let Some(left) = room.checked_sub(text.len()) else {
            unresolved += 1;
            continue;
        };
        room = left;
        let file = referring.add_file(file);
        let looked_for = names.in_file(&file);
        let source = Source { repo: &file.repo, path: &file.path, text };
        let Ok(found) = reader.uses(language, &source, &looked_for) else {
            unresolved += 1;
            continue;
        };
        let imported: BTreeSet<u32> = file.references.imports.iter().map(|import| import.line).collect();
        let is_base = |call: &Call| {
            let bases = file.references.bases.iter().filter(|base| base.symbol == call.caller);
            bases.into_iter().any(|base| rootset_code::name_parts(&base.target).last() == Some(&call.name.as_str()))
        };
        // Imports and bases are references of their own kinds.
        for call in found.into_iter().filter(|it| !imported.contains(&it.line) && !is_base(it)) {
            if let Some(user) = symbols.get(&(file.memory, i64::from(call.caller)))
                && !is_definition(targets, user, i64::from(call.line))
            {
                sites.push(Site { file: Rc::clone(&file), caller: user.clone(), call });
            }
        }
    }
    let placed = referring.placed(&sites)?;
    let mut results = Vec::new();
    for (site, placed) in sites.iter().zip(placed) {
        unresolved += usize::from(placed.is_unplaced());
        let reached = placed.targets.iter().find(|found| targets.iter().any(|target| target.is(&found.symbol)));
        if let Some(reached) = reached {
            let certainty = if reached.is_certain { Certainty::Certain } else { Certainty::Possible };
            let line = i64::from(site.call.line);
            results.push(result(&site.caller, line, ReferenceKind::Values, certainty, reached.reason));
        }
    }
    Ok(Uses { results, unresolved })
}

/// The name where it is defined is no use of it.
fn is_definition(targets: &[Sym], user: &Sym, line: i64) -> bool {
    targets.iter().any(|target| {
        let is_here = target.row.memory == user.row.memory;
        // Of what has a body, its head; a value is defined in all of its lines.
        let last = if target.row.kind.is_value() { target.row.last_line } else { target.row.first_line };
        is_here && (target.row.first_line..=last).contains(&line) || target.is(user) && !target.row.kind.is_value()
    })
}
