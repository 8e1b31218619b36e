//! What an answer names when nothing matched: never a bare empty list. Names only point: being named is being
//! shown, no hit and no use.

use rootset_api::{Near, nearest_words};
use rootset_store::{NamedMemory, Workspace};

use crate::error::ServiceError;
use crate::service::Service;

/// In a workspace of so many notes all of them are named.
const ALL_NAMED_MAX: usize = 20;
/// In a larger one, so many.
const NEAREST_MAX: usize = 5;
/// Among so many that changed last: looking for a name must not read a large workspace.
const LOOKED_AT_MAX: usize = 500;

/// The notes to name; `None` where there are none at all.
pub(super) fn to(query: &str, service: &Service, workspace: &Workspace) -> Result<Option<Vec<Near>>, ServiceError> {
    let mut notes = service.store.recent_names(workspace, service.now(), LOOKED_AT_MAX)?;
    if notes.len() > ALL_NAMED_MAX {
        let mut places = nearest_words(query, notes.iter().map(|note| note.name.as_str()), NEAREST_MAX);
        // Nothing like it: then what changed last.
        places.extend(
            (0..notes.len())
                .filter(|place| !places.contains(place))
                .take(NEAREST_MAX - places.len())
                .collect::<Vec<_>>(),
        );
        let mut kept = Vec::with_capacity(places.len());
        for place in places {
            kept.push(notes[place].clone());
        }
        notes = kept;
    }
    Ok(named(notes, service, workspace))
}

/// The few that changed last, for who asked for nothing in particular.
pub(super) fn latest(service: &Service, workspace: &Workspace) -> Result<Option<Vec<Near>>, ServiceError> {
    let notes = service.store.recent_names(workspace, service.now(), NEAREST_MAX)?;
    Ok(named(notes, service, workspace))
}

fn named(notes: Vec<NamedMemory>, service: &Service, workspace: &Workspace) -> Option<Vec<Near>> {
    let shown = notes.iter().map(|note| (note.id, note.name.as_str()));
    service.uses.show(workspace, shown, service.now());
    let named: Vec<Near> = notes.into_iter().map(|note| Near::new(note.name, &note.context)).collect();
    (!named.is_empty()).then_some(named)
}
