//! Random lives of two sessions against a twin that is a list: whatever happens, loading from scratch and catching up
//! from any version that was ever known give the twin's rows.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rootset_gc::context::SegmentState;
use rootset_model::plan::{Action, Reason};
use rootset_model::{RunId, Timestamp};
use rootset_properties::for_longer;
use rootset_store::{SegmentChange, SegmentItem, SegmentRow, SessionChange, SessionHead};

use crate::harness::{World, nothing, segment, unchanged};

/// Every life has a database of its own.
const WEIGHT: u32 = 8;
const SESSIONS: [&str; 2] = ["one", "two"];

/// What happens to one of the sessions; numbers pick among what there is.
#[derive(Clone, Debug)]
enum Step {
    Change { added: usize, flipped: Vec<prop::sample::Index>, pinned: Vec<prop::sample::Index> },
    Delete(Vec<prop::sample::Index>),
    Undo(prop::sample::Index),
    Purge(prop::sample::Index),
}

fn step() -> impl Strategy<Value = (usize, Step)> {
    let some = || prop::collection::vec(any::<prop::sample::Index>(), 0..4);
    let step = prop_oneof![
        6 => (0..4usize, some(), some()).prop_map(|(added, flipped, pinned)| Step::Change { added, flipped, pinned }),
        2 => some().prop_map(Step::Delete),
        1 => any::<prop::sample::Index>().prop_map(Step::Undo),
        1 => any::<prop::sample::Index>().prop_map(Step::Purge),
    ];
    (0..SESSIONS.len(), step)
}

/// A session as a list.
#[derive(Default)]
struct Twin {
    rows: Vec<SegmentRow>,
    /// States before the deletion, by run.
    trash: BTreeMap<[u8; 16], Vec<(i64, SegmentState)>>,
    /// What was known once: a head, and the rows of that time.
    known: Vec<(SessionHead, Vec<SegmentRow>)>,
    added: usize,
}

impl Twin {
    fn pick(&self, index: &prop::sample::Index) -> Option<usize> {
        let living: Vec<usize> =
            (0..self.rows.len()).filter(|place| self.rows[*place].state != SegmentState::Deleted).collect();
        (!living.is_empty()).then(|| living[index.index(living.len())])
    }

    /// What a caller who knew `rows` at `head` has after applying what changed.
    fn caught_up(world: &World, session: &str, head: SessionHead, rows: &[SegmentRow]) -> Vec<SegmentRow> {
        let loaded = world.store.load_session(&world.workspace, session, Some(head)).unwrap().unwrap();
        if loaded.head.epoch != head.epoch {
            return loaded.segments;
        }
        let mut merged: BTreeMap<i64, SegmentRow> = rows.iter().map(|row| (row.segment, row.clone())).collect();
        merged.extend(loaded.segments.into_iter().map(|row| (row.segment, row)));
        merged.into_values().collect()
    }

    fn check(&mut self, world: &World, session: &str) -> Result<(), TestCaseError> {
        let Some(loaded) = world.try_load(session).unwrap() else {
            prop_assert!(self.rows.is_empty());
            return Ok(());
        };
        // Versions are the store's own; everything else is the twin's.
        let plain = |rows: &[SegmentRow]| -> Vec<SegmentRow> {
            rows.iter().map(|row| SegmentRow { version: 0, ..row.clone() }).collect()
        };
        prop_assert_eq!(plain(&loaded.segments), plain(&self.rows));
        for (head, rows) in &self.known {
            let caught_up = Self::caught_up(world, session, *head, rows);
            prop_assert_eq!(&caught_up, &loaded.segments, "from {:?} to {:?}", head, loaded.head);
        }
        self.known.push((loaded.head, loaded.segments));
        Ok(())
    }

    fn take(&mut self, world: &World, session: &str, step: &Step) {
        match step {
            Step::Change { added, flipped, pinned } => self.change(world, session, *added, flipped, pinned),
            Step::Delete(picked) => self.delete(world, session, picked),
            Step::Undo(index) => {
                let Some(run) = self.run(index) else { return };
                world.store.undo_run(&world.workspace, RunId(run), world.stamp()).unwrap();
                for (segment, state) in self.trash.remove(&run).unwrap() {
                    self.rows.iter_mut().filter(|row| row.segment == segment).for_each(|row| row.state = state);
                }
            }
            Step::Purge(index) => {
                let Some(run) = self.run(index) else { return };
                world.purge(RunId(run));
                let gone = self.trash.remove(&run).unwrap();
                self.rows.retain(|row| !gone.iter().any(|(segment, _)| *segment == row.segment));
            }
        }
    }

    fn run(&self, index: &prop::sample::Index) -> Option<[u8; 16]> {
        (!self.trash.is_empty()).then(|| *self.trash.keys().nth(index.index(self.trash.len())).unwrap())
    }

    fn change(
        &mut self,
        world: &World,
        session: &str,
        added: usize,
        flipped: &[prop::sample::Index],
        pinned: &[prop::sample::Index],
    ) {
        let places = |indexes: &[prop::sample::Index]| -> Vec<usize> {
            indexes.iter().filter_map(|index| self.pick(index)).collect()
        };
        let (flipped, pinned) = (places(flipped), places(pinned));
        let mut touched: Vec<usize> = flipped.iter().chain(&pinned).copied().collect();
        for place in flipped {
            let row = &mut self.rows[place];
            let is_active = row.state == SegmentState::Active;
            row.state = if is_active { SegmentState::Stashed } else { SegmentState::Active };
            row.stashed_at = is_active.then_some(Timestamp(world.now.get()));
        }
        for place in pinned {
            self.rows[place].is_pinned ^= true;
        }
        touched.sort_unstable();
        touched.dedup();
        let terms = |row: &SegmentRow| (row.state == SegmentState::Stashed).then(|| row.segment_id.clone());
        let changed: Vec<SegmentChange> = touched
            .iter()
            .map(|place| &self.rows[*place])
            .map(|row| SegmentChange { terms: terms(row), ..unchanged(row) })
            .collect();
        let new: Vec<_> =
            (0..added).map(|place| segment(&format!("{session}-{}", self.added + place), "some text")).collect();
        self.added += added;
        let change = SessionChange { added: new.clone(), changed, ..nothing(session, world.head(session)) };
        let (_, numbers) = world.change(&change);
        self.rows.extend(new.into_iter().zip(numbers).map(|(new, segment)| SegmentRow {
            segment,
            written_by: "test".into(),
            ..new.row
        }));
    }

    fn delete(&mut self, world: &World, session: &str, picked: &[prop::sample::Index]) {
        let Some(loaded) = world.try_load(session).unwrap() else { return };
        let mut places: Vec<usize> = picked.iter().filter_map(|index| self.pick(index)).collect();
        places.sort_unstable();
        places.dedup();
        let item = |row: &SegmentRow| (row.segment, row.version, Action::Trash, Reason::NAMED);
        let named: Vec<SegmentItem> = places.iter().map(|place| item(&loaded.segments[*place])).collect();
        let ids = world.ids();
        let deletion = world.try_prune(loaded.head, &named, ids).unwrap();
        let mut taken = Vec::new();
        for row in self.rows.iter_mut().filter(|row| deletion.deleted.contains(&row.segment)) {
            assert!(!row.is_pinned);
            taken.push((row.segment, row.state));
            row.state = SegmentState::Deleted;
        }
        assert_eq!(taken.len(), deletion.deleted.len());
        if !taken.is_empty() {
            self.trash.insert(ids.run.0, taken);
        }
    }
}

#[test]
fn catching_up_from_any_version_gives_what_loading_from_scratch_gives() {
    for_longer(WEIGHT, |config| {
        proptest!(config, |(steps in prop::collection::vec(step(), 1..30))| {
            let world = World::new();
            let mut twins = [Twin::default(), Twin::default()];
            for (session, step) in &steps {
                twins[*session].take(&world, SESSIONS[*session], step);
                for (twin, name) in twins.iter_mut().zip(SESSIONS) {
                    twin.check(&world, name)?;
                }
            }
            prop_assert_eq!(world.broken(), Vec::<&str>::new());
        })
    });
}
