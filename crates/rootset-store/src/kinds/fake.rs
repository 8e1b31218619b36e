//! An external kind for tests: parcels lie in a shed that is no database, and whose door may be locked.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use rootset_gc::{RootState, Skip};
use rootset_model::plan::{Action, ItemKind, PlanItem, Reason};
use rootset_model::{Counts, ErasureId, Limits, MemoryId, PlanId, RetentionPolicy, RunId, Timestamp, WorkspaceKey};

use super::{
    Description, Descriptions, External, Id, Kind, Planned, Progress, Purging, States, Sweep, Undoing, When, objects,
};
use crate::driver::{SearchRemoval, Transaction};
use crate::error::StoreError;
use crate::explain::Explanation;
use crate::plans::PlanTotals;
use crate::purge::Erased;
use crate::undo::Undone;
use crate::{ApplyOptions, NewPlan, NewWorkspace, PurgeTarget, Stamp, Store, Workspace};

const PARCEL: ItemKind = ItemKind::new("parcel");

pub(super) struct Parcel;

/// What a real kind would keep in the outside store and in tables of its own.
struct Shed {
    is_locked: bool,
    parcels: BTreeMap<Id, &'static str>,
    trash: BTreeMap<Id, Copy>,
}

struct Copy {
    run: RunId,
    text: &'static str,
    wanted: Wanted,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wanted {
    Removed,
    /// As wanted: nothing is pending.
    Settled,
    Returned,
}

static SHED: Mutex<Shed> = Mutex::new(Shed { is_locked: false, parcels: BTreeMap::new(), trash: BTreeMap::new() });

fn shed() -> MutexGuard<'static, Shed> {
    SHED.lock().unwrap()
}

impl Kind for Parcel {
    fn names(&self) -> &'static [ItemKind] {
        &[PARCEL]
    }

    fn count_planned(
        &self,
        _tx: &mut dyn Transaction,
        _plan: &Planned,
        items: &[PlanItem],
        totals: &mut PlanTotals,
    ) -> Result<(), StoreError> {
        totals.counts.add("parcels", items.len() as i64);
        Ok(())
    }

    fn describe(
        &self,
        _tx: &mut dyn Transaction,
        _workspace: WorkspaceKey,
        items: &[PlanItem],
        found: &mut Descriptions,
    ) -> Result<(), StoreError> {
        for id in objects(items) {
            let name = shed().parcels.get(&id).map(|text| (*text).to_owned());
            found.insert(id, Description { name, ..Description::default() });
        }
        Ok(())
    }

    fn states(
        &self,
        _tx: &mut dyn Transaction,
        _sweep: &Sweep<'_>,
        items: &[PlanItem],
        states: &mut States,
    ) -> Result<(), StoreError> {
        let shed = shed();
        let there = items.iter().filter(|item| shed.parcels.contains_key(&item.object));
        states.extend(there.map(|item| ((item.object, 0), RootState::plain(1))));
        Ok(())
    }

    fn trash(&self, _tx: &mut dyn Transaction, sweep: &Sweep<'_>, items: &[PlanItem]) -> Result<Counts, StoreError> {
        let mut shed = shed();
        for id in objects(items) {
            let copy = Copy { run: sweep.run, text: shed.parcels[&id], wanted: Wanted::Removed };
            shed.trash.insert(id, copy);
        }
        Ok(Counts::of("parcels", items.len() as i64))
    }

    fn restore(
        &self,
        _tx: &mut dyn Transaction,
        undoing: &Undoing<'_>,
        _after: &[u8],
        undone: &mut Undone,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        for copy in shed().trash.values_mut().filter(|copy| copy.run == undoing.run.id) {
            copy.wanted = Wanted::Returned;
            undone.restored.add("parcels", 1);
        }
        Ok(None)
    }

    fn purge(
        &self,
        _tx: &mut dyn Transaction,
        purging: &Purging<'_>,
        _removal: SearchRemoval,
        erased: &mut Erased,
    ) -> Result<Progress, StoreError> {
        let mut shed = shed();
        let before = shed.trash.len();
        shed.trash.retain(|_, copy| copy.run != purging.ledger.run);
        erased.rows.add("parcels", (before - shed.trash.len()) as i64);
        Ok(Progress::Done)
    }

    fn explain(
        &self,
        _tx: &mut dyn Transaction,
        _workspace: WorkspaceKey,
        id: Id,
        _when: &When,
    ) -> Result<Option<Explanation>, StoreError> {
        let shed = shed();
        let is_alive = shed.parcels.contains_key(&id);
        let place = if is_alive { "in the shed" } else { "in the trash" };
        let is_known = is_alive || shed.trash.contains_key(&id);
        Ok(is_known.then(|| Explanation {
            kind: "parcel",
            id: MemoryId(id).to_string(),
            is_alive,
            reason: place.to_owned(),
            path: Vec::new(),
        }))
    }

    fn external(&self) -> Option<&dyn External> {
        Some(self)
    }
}

impl External for Parcel {
    fn pending(&self, _tx: &mut dyn Transaction, _workspace: WorkspaceKey, run: RunId) -> Result<Vec<Id>, StoreError> {
        let shed = shed();
        let open = shed.trash.iter().filter(|(_, copy)| copy.run == run && copy.wanted != Wanted::Settled);
        Ok(open.map(|(id, _)| *id).take(2).collect())
    }

    fn carry_out(&self, _workspace: WorkspaceKey, pending: &[Id]) -> Result<(), StoreError> {
        let mut shed = shed();
        if shed.is_locked {
            return Err(StoreError::UnreadableValue("the shed, which is locked"));
        }
        for id in pending {
            let (text, wanted) = (shed.trash[id].text, shed.trash[id].wanted);
            match wanted {
                Wanted::Removed => drop(shed.parcels.remove(id)),
                Wanted::Returned => drop(shed.parcels.insert(*id, text)),
                Wanted::Settled => {}
            }
        }
        Ok(())
    }

    fn note_done(
        &self,
        _tx: &mut dyn Transaction,
        _workspace: WorkspaceKey,
        done: &[Id],
        _stamp: Stamp<'_>,
    ) -> Result<(), StoreError> {
        let mut shed = shed();
        for id in done {
            if shed.trash[id].wanted == Wanted::Returned {
                shed.trash.remove(id);
            } else if let Some(copy) = shed.trash.get_mut(id) {
                copy.wanted = Wanted::Settled;
            }
        }
        Ok(())
    }
}

/// One lock at a time: two guards in one expression would wait for each other for ever.
fn in_shed_and_trash() -> (usize, usize) {
    let shed = shed();
    (shed.parcels.len(), shed.trash.len())
}

const STAMP: Stamp<'static> = Stamp { now: Timestamp(1_000), actor: "test", origin: None, way: None };

fn apply(store: &Store, workspace: &Workspace, plan: PlanId, run: RunId) -> Result<crate::Applied, StoreError> {
    let options = ApplyOptions {
        exclude: &[],
        allow_large: false,
        confirm: false,
        limits: &Limits::default(),
        grace_ms: 1_000_000,
        run,
        erasure: ErasureId([8; 16]),
        configured: RetentionPolicy::default(),
        time_limit_ms: None,
        clock: &|| STAMP.now,
        terms: &|_| String::new(),
        choices: &[],
        remains: &Default::default(),
    };
    store.apply_plan(workspace, plan, &options, STAMP.actor)
}

#[test]
fn an_external_kind_goes_through_the_whole_protocol_which_does_not_know_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_sqlite(&folder.path().join("x.db")).unwrap();
    let new = NewWorkspace { id: "shed".into(), ..NewWorkspace::default() };
    let workspace = store.create_workspace(&new, STAMP).unwrap();
    let ids: Vec<Id> = (1..=3).map(|number| [number; 16]).collect();
    shed().parcels.extend(ids.iter().map(|id| (*id, "a parcel")));
    let item = |id: &Id| PlanItem {
        kind: PARCEL,
        object: *id,
        revision: 0,
        version: 1,
        action: Action::Trash,
        reason: Reason::MATCHED,
    };
    let store_plan = |number: u8, policy: &str| {
        let plan = NewPlan {
            id: PlanId([number; 16]),
            policy: policy.into(),
            items: ids.iter().map(item).collect(),
            erases: false,
            include_pinned: false,
            is_named: false,
            marker: None,
        };
        store.store_plan(&workspace, &plan, &Limits::default(), STAMP).unwrap()
    };
    let explain = || {
        let id = MemoryId(ids[0]).to_string();
        store.explain(&workspace, &id, RetentionPolicy::default(), STAMP.now).unwrap().is_alive
    };

    let preview = store_plan(1, "{}");
    assert_eq!(preview.totals.counts.in_words(), "3 parcels");
    assert_eq!(preview.items[0].name.as_deref(), Some("a parcel"));
    assert!(explain());

    // The shed is locked: the copies are durable, nothing is lost, and applying again goes on.
    shed().is_locked = true;
    let applied = apply(&store, &workspace, preview.id, RunId([1; 16])).unwrap();
    assert!(applied.warnings[0].contains("apply the plan again"), "{:?}", applied.warnings);
    assert_eq!(in_shed_and_trash(), (3, 3));
    shed().is_locked = false;
    let applied = apply(&store, &workspace, preview.id, RunId([9; 16])).unwrap();
    assert_eq!((applied.run.id, applied.run.counts.taken.in_words()), (RunId([1; 16]), "3 parcels".to_owned()));
    assert_eq!(in_shed_and_trash(), (0, 3));
    assert!(!explain());

    let undone = store.undo_run(&workspace, applied.run.id, STAMP).unwrap();
    assert_eq!(undone.restored.in_words(), "3 parcels");
    assert_eq!(in_shed_and_trash(), (3, 0));

    let again = store_plan(2, "{}");
    let applied = apply(&store, &workspace, again.id, RunId([2; 16])).unwrap();
    let receipt = store.purge(&workspace, PurgeTarget::Run(applied.run.id), ErasureId([7; 16]), STAMP).unwrap();
    assert_eq!(receipt.rows.in_words(), "3 parcels");
    assert_eq!(in_shed_and_trash(), (0, 0));
    let (entries, _) = store.list_audit(workspace.key, &crate::AuditFilters::default(), 0, 10).unwrap();
    assert!(entries[0].counts.contains(r#""parcels":3"#), "{}", entries[0].counts);

    // A plan by strategies is looked at again as a whole: the kind says that nothing else holds what they no longer select.
    shed().parcels.extend(ids.iter().map(|id| (*id, "a parcel")));
    let chosen = store_plan(3, r#"{"strategies":["expired"]}"#);
    let applied = apply(&store, &workspace, chosen.id, RunId([3; 16])).unwrap();
    assert!(applied.run.counts.taken.is_nothing());
    assert_eq!(applied.skipped.first.iter().map(|(_, reason)| *reason).collect::<Vec<_>>(), [Skip::NotGarbage; 3]);
    assert_eq!(in_shed_and_trash(), (3, 0));
}
