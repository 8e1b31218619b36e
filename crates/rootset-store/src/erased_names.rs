//! Names made from a topic that is erased: such a name belongs to the text and goes with its words.
//!
//! Nobody notes which names were made and which were given. A given name that is the same as the made one holds the same
//! words, so it goes as well; every other given name stays.

use std::collections::HashMap;

use rootset_model::slug::{is_made_from, slug};
use rootset_model::{MemoryId, WorkspaceKey};

use crate::add::{names, seal_of};
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::memories::{self, MemoryRow};
use crate::other_names::{self, OtherName};
use crate::statements::memories as sql;

/// Removes the former names that were made from topics which are gone. Answers them.
pub(crate) fn forget_aliases(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    gone_topics: &HashMap<MemoryId, Vec<String>>,
) -> Result<Vec<String>, StoreError> {
    let ids: Vec<[u8; 16]> = gone_topics.keys().map(|memory| memory.0).collect();
    let others: Vec<(MemoryId, String, String)> =
        tx.rows(&sql::OTHER_NAMES_OF, &[workspace.into(), ids.as_slice().into()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    let mut gone = Vec::new();
    for (memory, kind, name) in others {
        let is_made = gone_topics[&memory].iter().any(|topic| is_made_from(&name, topic));
        if kind == OtherName::Alias.as_str() && is_made {
            other_names::take_back(tx, workspace, memory, &name)?;
            gone.push(name);
        }
    }
    Ok(gone)
}

/// Gives every memory whose name was made from one of its erased topics, and not from the one it has now, a name made
/// from that. Answers the names that went.
pub(crate) fn replace(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    erased_topics: &HashMap<MemoryId, Vec<String>>,
) -> Result<Vec<String>, StoreError> {
    let ids: Vec<[u8; 16]> = erased_topics.keys().map(|memory| memory.0).collect();
    let named: Vec<(MemoryId, String, String)> =
        tx.rows(&sql::NAMES_WITH_TOPICS, &[workspace.into(), ids.as_slice().into()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    let mut gone = forget_aliases(tx, workspace, erased_topics)?;
    for (memory, name, topic) in named {
        let is_erased = erased_topics[&memory].iter().any(|erased| is_made_from(&name, erased));
        if !is_erased || is_made_from(&name, &topic) {
            continue;
        }
        let new = names::free(tx, workspace, memory, slug(&topic).as_deref())?;
        let row = memories::by_id(tx, workspace, memory)?.ok_or(StoreError::MissingRow { statement: "by_id" })?;
        let seal = seal_of(&MemoryRow { name: Some(new.clone()), ..row });
        tx.execute(&sql::SET_NAME, &[workspace.into(), (&memory).into(), (&new).into(), (&seal).into()])?;
        gone.push(name);
    }
    Ok(gone)
}
