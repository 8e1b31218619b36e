//! What a plan can take: one room per kind of object, and one list of them.
//!
//! Plan, sweep, undo, purge, explain, status, the list of the trash, backup and doctor loop over [`KINDS`] and know no kind
//! by name. What a kind knows of itself is in its room; what is the same for all is in the protocol. Statements that ask
//! about every kind at once are joined from the kinds' fragments when the crate is built (`{{each …}}` in `sql/`).

/// The statements that a kind alone needs, in its own file. `build.rs` reads them, and makes of them what `sql` is there.
macro_rules! statements {
    ($kind:ident, $text:literal) => {
        use crate::statements::$kind as sql;
    };
}

#[cfg(test)]
mod fake;
mod memory;
mod orphan;
mod phases;
mod revision;
mod segment;
mod session;
#[cfg(test)]
mod tests;
mod untracked;
mod workspace;

use std::collections::HashMap;

use rootset_model::plan::{Action, ItemKind, PlanItem};
use rootset_model::{Counts, MemoryId, RunId, Timestamp, WorkspaceKey};

pub(crate) use memory::restore as restore_memories;
pub(crate) use orphan::delete_orphans;
pub use phases::Terms;
pub(crate) use phases::{
    Description, Descriptions, Emptying, Erasing, Id, Ledger, Planned, Progress, Purging, Replaying, States, Sweep,
    TrashingAgain, Undoing, When,
};
pub(crate) use segment::{HeadChange, raise_heads};

use crate::Stamp;
use crate::backup::Table;
use crate::doctor::CountedCheck;
use crate::driver::{Row, SearchRemoval, Transaction};
use crate::error::StoreError;
use crate::explain::Explanation;
use crate::forget::{ForgetKind, ForgetRequest, ForgetSelection};
use crate::plans::PlanTotals;
use crate::purge::Erased;
use crate::status::HeapStatus;
use crate::undo::{Conflict, Undone};

/// Every kind, in the order in which they are found, swept, restored, purged and archived: a workspace after all that is
/// in it, derived rows last.
pub(crate) static KINDS: &[&dyn Kind] = &[
    &memory::Memory,
    &revision::Revision,
    &untracked::Untracked,
    &segment::Segment,
    &session::Session,
    #[cfg(test)]
    &fake::Parcel,
    &workspace::WholeWorkspace,
    &orphan::Chunk,
    &orphan::GraphRow,
];

/// Everything the protocol needs to know of a kind. A new one is a file that implements this, and a line in [`KINDS`].
///
/// `items` are always items of this very kind, and never none.
pub(crate) trait Kind: Sync {
    /// The words under which its items are stored and shown.
    fn names(&self) -> &'static [ItemKind];

    /// Whether its rows are derived: only ever reclaimed, once nothing vouches for them.
    fn is_derived(&self) -> bool {
        false
    }

    fn takes(&self, item: &PlanItem) -> bool {
        self.names().contains(&item.kind) && self.is_derived() == (item.action == Action::Reclaim)
    }

    /// An item's id as previews and outcomes show it.
    fn shown_id(&self, _name: ItemKind, object: Id, _revision: i64) -> String {
        MemoryId(object).to_string()
    }

    /// Whether the limits on how much of a source may go count its items.
    fn is_limited(&self) -> bool {
        false
    }

    // Forget.

    /// The words by which a forget asks for its rows.
    fn forgotten_as(&self) -> &'static [ForgetKind] {
        &[]
    }

    /// Adds what a forget is about, newest first. Asked if one of the words is wanted.
    fn forget(
        &self,
        _tx: &mut dyn Transaction,
        _workspace: WorkspaceKey,
        _request: &ForgetRequest<'_>,
        _found: &mut ForgetSelection,
    ) -> Result<(), StoreError> {
        Ok(())
    }

    // Plan.

    /// Adds what the items are, and what they would take along, to the totals of their plan.
    fn count_planned(
        &self,
        tx: &mut dyn Transaction,
        plan: &Planned,
        items: &[PlanItem],
        totals: &mut PlanTotals,
    ) -> Result<(), StoreError>;

    /// Names and topics for previews.
    fn describe(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        items: &[PlanItem],
        found: &mut Descriptions,
    ) -> Result<(), StoreError>;

    // Sweep.

    /// The rows as they are in this transaction.
    fn states(
        &self,
        tx: &mut dyn Transaction,
        sweep: &Sweep<'_>,
        items: &[PlanItem],
        states: &mut States,
    ) -> Result<(), StoreError>;

    /// Graph rows that the items vouch for, with their kinds. Those that nobody else vouches for go with the items.
    fn vouched_by(
        &self,
        _tx: &mut dyn Transaction,
        _workspace: WorkspaceKey,
        _items: &[PlanItem],
    ) -> Result<HashMap<Id, i64>, StoreError> {
        Ok(HashMap::new())
    }

    /// Takes the items out of every read at once; derived rows are removed. Of an [`External`] kind: notes a copy.
    fn trash(&self, tx: &mut dyn Transaction, sweep: &Sweep<'_>, items: &[PlanItem]) -> Result<Counts, StoreError>;

    /// Removes what a batch of an erasing plan has just trashed, in the same transaction.
    fn erase(
        &self,
        _tx: &mut dyn Transaction,
        _erasing: &Erasing<'_>,
        _items: &[PlanItem],
        _erased: &mut Erased,
    ) -> Result<(), StoreError> {
        Ok(())
    }

    // Undo.

    /// Brings back up to `undoing.size` rows of the run after the cursor `after`; answers where to go on if there are more.
    fn restore(
        &self,
        _tx: &mut dyn Transaction,
        _undoing: &Undoing<'_>,
        _after: &[u8],
        _undone: &mut Undone,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }

    /// Items of the run that were purged since, and cannot come back.
    fn purged_items(&self, _tx: &mut dyn Transaction, _undoing: &Undoing<'_>) -> Result<Vec<Conflict>, StoreError> {
        Ok(Vec::new())
    }

    // Purge.

    /// How terms leave full text when all of the run is purged: asked once, before its first batch.
    fn search_removal(
        &self,
        _tx: &mut dyn Transaction,
        _workspace: WorkspaceKey,
        _run: RunId,
    ) -> Result<SearchRemoval, StoreError> {
        Ok(SearchRemoval::AtOnce)
    }

    /// Removes up to `purging.size` rows that the run trashed; answers whether there are more.
    fn purge(
        &self,
        _tx: &mut dyn Transaction,
        _purging: &Purging<'_>,
        _removal: SearchRemoval,
        _erased: &mut Erased,
    ) -> Result<Progress, StoreError> {
        Ok(Progress::Done)
    }

    /// Removes up to `emptying.size` of all its rows, because their workspace goes.
    fn empty(
        &self,
        _tx: &mut dyn Transaction,
        _emptying: &Emptying<'_>,
        _erased: &mut Erased,
    ) -> Result<Progress, StoreError> {
        Ok(Progress::Done)
    }

    /// The words under which [`Erased`] counts rows that held text: it is looked for in the files afterwards.
    fn texts(&self) -> &'static [&'static str] {
        &[]
    }

    // Answers.

    /// Why the object of this id is alive, or why not; `None` where it is none of this kind.
    fn explain(
        &self,
        _tx: &mut dyn Transaction,
        _workspace: WorkspaceKey,
        _id: Id,
        _when: &When,
    ) -> Result<Option<Explanation>, StoreError> {
        Ok(None)
    }

    /// The same for a name.
    fn explain_named(
        &self,
        _tx: &mut dyn Transaction,
        _workspace: WorkspaceKey,
        _name: &str,
        _when: &When,
    ) -> Result<Option<Explanation>, StoreError> {
        Ok(None)
    }

    /// The id of a row of `runs.trash`.
    fn trashed_id(&self, name: ItemKind, row: &dyn Row) -> Result<String, StoreError> {
        Ok(self.shown_id(name, row.get(1)?, row.get(7)?))
    }

    /// Adds what lives and what is in the trash.
    fn count_heap(
        &self,
        _tx: &mut dyn Transaction,
        _workspace: WorkspaceKey,
        _now: Timestamp,
        _status: &mut HeapStatus,
    ) -> Result<(), StoreError> {
        Ok(())
    }

    // Backup and doctor.

    /// Tables of a backup that hold its rows, each after those it refers to.
    fn tables(&self) -> &'static [Table] {
        &[]
    }

    /// Removes again what the erasure ledger knows to have been erased since a backup that is being restored; answers how
    /// many roots that were.
    fn replay(&self, _tx: &mut dyn Transaction, _replaying: &Replaying<'_>) -> Result<i64, StoreError> {
        Ok(0)
    }

    /// Puts into the trash what somebody had removed before it was purged, since a backup that is being restored; counts
    /// it by kind.
    fn trash_again(&self, _tx: &mut dyn Transaction, _again: &TrashingAgain<'_>) -> Result<Counts, StoreError> {
        Ok(Counts::default())
    }

    /// Invariants of its rows.
    fn checks(&self) -> &'static [CountedCheck] {
        &[]
    }

    /// Its second phase, where its rows live outside the database.
    fn external(&self) -> Option<&dyn External> {
        None
    }
}

/// What is outside the database changes after the transaction that noted it, and may fail: [`Kind::trash`] and
/// [`Kind::restore`] note what is to be done (with a copy of what goes), the protocol carries it out with no transaction
/// open, and a second transaction notes that it is done. After a crash or a failure the same is asked again.
pub(crate) trait External: Sync {
    /// What is noted of the run and not known to be done; a few at a time.
    fn pending(&self, tx: &mut dyn Transaction, workspace: WorkspaceKey, run: RunId) -> Result<Vec<Id>, StoreError>;

    /// Makes the outside as noted. It may be so already, by an attempt whose end was not noted.
    fn carry_out(&self, workspace: WorkspaceKey, pending: &[Id]) -> Result<(), StoreError>;

    fn note_done(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        done: &[Id],
        stamp: Stamp<'_>,
    ) -> Result<(), StoreError>;
}

/// Each kind with its share of the items; kinds without any are left out.
pub(crate) fn by_kind(items: &[PlanItem]) -> impl Iterator<Item = (&'static dyn Kind, Vec<PlanItem>)> {
    KINDS.iter().filter_map(|kind| {
        let of_kind: Vec<PlanItem> = items.iter().filter(|item| kind.takes(item)).copied().collect();
        (!of_kind.is_empty()).then_some((*kind, of_kind))
    })
}

/// The kind whose items have this name, and the name; derived kinds where there is no other.
pub(crate) fn named(word: &str) -> Option<(&'static dyn Kind, ItemKind)> {
    let with_name = |kind: &&'static dyn Kind| {
        let name = kind.names().iter().find(|name| name.as_str() == word)?;
        Some((*kind, *name))
    };
    KINDS.iter().find_map(with_name)
}

/// The name of a stored item.
pub(crate) fn stored_name(word: &str) -> Result<ItemKind, StoreError> {
    named(word).map(|(_, name)| name).ok_or(StoreError::UnreadableValue("the kind of an item"))
}

/// An item's id as previews and outcomes show it.
pub(crate) fn shown_id(name: ItemKind, object: Id, revision: i64) -> String {
    match named(name.as_str()) {
        Some((kind, name)) => kind.shown_id(name, object, revision),
        None => MemoryId(object).to_string(),
    }
}

/// The ids of some items.
pub(crate) fn objects(items: &[PlanItem]) -> Vec<Id> {
    items.iter().map(|item| item.object).collect()
}
