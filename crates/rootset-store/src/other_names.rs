//! Names that lead to a memory beside the one it has: former names, keys of its writer, and which names somebody gave.
//!
//! A name made from a text changes with the text. The old one stays an alias: it leads to the memory and is given to no other while
//! this one is there. It goes with the words it was made from (`erased_names.rs`) and with the memory.

use rootset_model::slug::{is_made_from, slug};
use rootset_model::{MemoryId, WorkspaceKey};

use crate::add::names;
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::memories::MemoryRow;
use crate::statements::memories as sql;
use crate::{Store, Workspace};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherName {
    Alias,
    Key,
    Given,
}

impl OtherName {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Alias => "alias",
            Self::Key => "key",
            Self::Given => "given",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Alias, Self::Key, Self::Given].into_iter().find(|kind| kind.as_str() == word)
    }
}

impl Store {
    /// The living memory that a key leads to.
    pub fn memory_with_key(&self, workspace: &Workspace, key: &str) -> Result<Option<MemoryId>, StoreError> {
        self.read(workspace, |tx| Ok(led_to(tx, workspace.key, OtherName::Key, key)?.map(|row| row.id)))
    }
}

pub(crate) fn led_to(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    kind: OtherName,
    name: &str,
) -> Result<Option<MemoryRow>, StoreError> {
    tx.row(&sql::LED_TO, &[workspace.into(), kind.as_str().into(), name.into()], MemoryRow::read)
}

/// Notes names of new memories, all of a batch together.
pub(crate) fn insert_all(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    names: &[(MemoryId, OtherName, &str)],
) -> Result<(), StoreError> {
    if names.is_empty() {
        return Ok(());
    }
    let keys = names.iter().filter(|(_, kind, _)| *kind == OtherName::Key);
    let taken: Vec<_> = keys.map(|(_, _, name)| vec![workspace.into(), (*name).into()]).collect();
    if !taken.is_empty() {
        tx.execute_many(&sql::FREE_KEY, &taken)?;
    }
    let rows: Vec<_> = names
        .iter()
        .map(|(memory, kind, name)| vec![workspace.into(), memory.into(), kind.as_str().into(), (*name).into()])
        .collect();
    tx.execute_many(&sql::INSERT_OTHER_NAME, &rows).map(drop)
}

/// What a memory is called once its topic is another. A name that somebody gave stays; one made from the earlier topic becomes an
/// alias.
pub(crate) fn follow_topic(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    row: &mut MemoryRow,
    earlier: &str,
    topic: &str,
) -> Result<(), StoreError> {
    let Some(name) = row.name.clone() else { return Ok(()) };
    if is_made_from(&name, topic) || !is_made_from(&name, earlier) {
        return Ok(());
    }
    let others: Vec<(String, String)> =
        tx.rows(&sql::OTHER_NAMES_OF, &[workspace.into(), [row.id.0].as_slice().into()], |row| {
            Ok((row.get(1)?, row.get(2)?))
        })?;
    let has = |kind: OtherName, wanted: &str| others.iter().any(|(of, name)| of == kind.as_str() && name == wanted);
    if has(OtherName::Given, &name) {
        return Ok(());
    }
    let slug = slug(topic);
    // Back to what it was called before.
    let own = slug.as_deref().filter(|slug| has(OtherName::Alias, slug));
    let new = match own {
        Some(own) => {
            take_back(tx, workspace, row.id, own)?;
            own.to_owned()
        }
        None => names::free(tx, workspace, row.id, slug.as_deref())?,
    };
    insert_all(tx, workspace, &[(row.id, OtherName::Alias, &name)])?;
    row.name = Some(new);
    Ok(())
}

/// A former name that is the memory's name again.
pub(crate) fn take_back(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    name: &str,
) -> Result<(), StoreError> {
    let key = [workspace.into(), (&memory).into(), OtherName::Alias.as_str().into(), name.into()];
    tx.execute(&sql::DELETE_OTHER_NAME, &key).map(drop)
}
