//! Random lives of two workspaces: people write, use, pin and supersede, files come and go, plans are made, applied, cut
//! short, resumed, undone and purged, in any order. After every step, every invariant.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use rootset_gc::Skip;
use rootset_gc::heap::DerivedKind;
use rootset_gc::invariants::Broken;
use rootset_gc::strategies::ALL;
use rootset_invariants::{rows, steps};
use rootset_model::limits::SUPERSEDED_KEPT_MS;
use rootset_model::plan::Action;
use rootset_model::{RetentionPolicy, Timestamp};
use rootset_properties::for_longer;

use crate::heaps::policy;
use crate::model::{ApplyOptions, CODE, Fault, Id, NewMemory, Object, USER, Workspace};

/// Enough to take about half a minute without optimisation.
/// It is the one that finds most.
const WEIGHT: u32 = 8;
/// Every fault below shows within a tenth of these.
const CASES_PER_FAULT: u32 = 20_000;
const STEPS_MIN: usize = 6;
const STEPS_MAX: usize = 20;

/// Small numbers stand for things that are there by then.
#[derive(Clone, Debug)]
enum Step {
    Add(NewMemory),
    Update { memory: u8, object: Object },
    Pin { memory: u8, is_pinned: bool },
    Use { memory: u8 },
    Supersede { memory: u8, by: u8 },
    Work { memory: u8, is_in_flight: bool },
    Scan { seen: u8 },
    SetPolicy { bucket: u32, policy: RetentionPolicy },
    Import { object: Object },
    Plant { kind: DerivedKind },
    Wait { ms: i64 },
    Plan { strategies: Vec<&'static rootset_gc::Strategy> },
    Delete { memory: u8 },
    Forget { object: Object, include_pinned: bool, action: Action },
    Apply { plan: u8, exclude: Option<u8>, allow_large: bool, end: End },
    Undo { run: u8 },
    Purge { run: u8 },
}

#[derive(Clone, Copy, Debug)]
enum End {
    Regular,
    /// The process dies after so many batches; somebody may apply the plan again, later.
    Killed(usize),
    /// And somebody does, at once.
    KilledAndResumed(usize),
}

fn object() -> impl Strategy<Value = Object> {
    prop_oneof![
        2 => (0..3_u8).prop_map(Object::Entity),
        1 => (0..3_u8, 0..3_u8).prop_map(|(source, target)| Object::Relation(source, target)),
    ]
}

fn new_memory() -> impl Strategy<Value = NewMemory> {
    let objects = prop::collection::vec(object(), 0..3);
    let path = proptest::option::weighted(0.4, 0..6_u8);
    let expires_at = proptest::option::weighted(0.2, (0..200_i64).prop_map(Timestamp));
    let source_version = proptest::option::weighted(0.3, 0..5_i64);
    (objects, path, expires_at, source_version, prop::bool::weighted(0.9)).prop_map(
        |(objects, path, expires_at, source_version, is_dated)| NewMemory {
            objects,
            path,
            expires_at,
            source_version,
            is_dated,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let kinds = vec![DerivedKind::Chunk, DerivedKind::Entity, DerivedKind::Relation];
    let strategies = prop_oneof![
        2 => Just(ALL.to_vec()),
        1 => prop::sample::subsequence(ALL, 1..=ALL.len()),
    ];
    let end = prop_oneof![
        2 => Just(End::Regular),
        1 => (0..3_usize).prop_map(End::Killed),
        1 => (0..3_usize).prop_map(End::KilledAndResumed),
    ];
    let action = prop_oneof![2 => Just(Action::Trash), 1 => Just(Action::Erase)];
    let apply = (any::<u8>(), proptest::option::weighted(0.2, any::<u8>()), prop::bool::weighted(0.9), end);
    let new_policy = prop_oneof![1 => Just(RetentionPolicy::default()), 3 => policy()];
    prop_oneof![
        8 => new_memory().prop_map(Step::Add),
        2 => (any::<u8>(), object()).prop_map(|(memory, object)| Step::Update { memory, object }),
        2 => (any::<u8>(), prop::bool::weighted(0.7)).prop_map(|(memory, is_pinned)| Step::Pin { memory, is_pinned }),
        2 => any::<u8>().prop_map(|memory| Step::Use { memory }),
        2 => (any::<u8>(), any::<u8>()).prop_map(|(memory, by)| Step::Supersede { memory, by }),
        2 => (any::<u8>(), any::<bool>()).prop_map(|(memory, is_in_flight)| Step::Work { memory, is_in_flight }),
        3 => any::<u8>().prop_map(|seen| Step::Scan { seen }),
        3 => (USER..=CODE, new_policy).prop_map(|(bucket, policy)| Step::SetPolicy { bucket, policy }),
        1 => object().prop_map(|object| Step::Import { object }),
        1 => prop::sample::select(kinds).prop_map(|kind| Step::Plant { kind }),
        3 => prop_oneof![3 => 1..60_i64, 1 => Just(SUPERSEDED_KEPT_MS)].prop_map(|ms| Step::Wait { ms }),
        8 => strategies.prop_map(|strategies| Step::Plan { strategies }),
        1 => any::<u8>().prop_map(|memory| Step::Delete { memory }),
        2 => (object(), any::<bool>(), action)
            .prop_map(|(object, include_pinned, action)| Step::Forget { object, include_pinned, action }),
        10 => apply
            .prop_map(|(plan, exclude, allow_large, end)| Step::Apply { plan, exclude, allow_large, end }),
        3 => any::<u8>().prop_map(|run| Step::Undo { run }),
        2 => any::<u8>().prop_map(|run| Step::Purge { run }),
    ]
}

/// The second workspace is visited less often: things have to meet.
fn life() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let workspace = prop_oneof![5 => Just(0_usize), 1 => Just(1_usize)];
    let beginning = prop::collection::vec((Just(0), new_memory().prop_map(Step::Add)), 3..7);
    let rest = prop::collection::vec((workspace, step()), STEPS_MIN..=STEPS_MAX);
    (beginning, rest).prop_map(|(beginning, rest)| beginning.into_iter().chain(rest).collect())
}

struct Simulation {
    workspaces: [Workspace; 2],
    now: Timestamp,
    fault: Option<Fault>,
}

type Outcome<T = ()> = Result<T, String>;

fn in_words(broken: Broken) -> String {
    broken.to_string()
}

/// The last few are the likeliest: plans and runs are made to be followed.
fn choose<T: Clone>(of: &[T], number: u8) -> Option<T> {
    let last = of.len().checked_sub(1)?;
    of.get(last - usize::from(number) % of.len().min(3)).cloned()
}

fn choose_living(workspace: &Workspace, number: u8) -> Option<Id> {
    let living: Vec<Id> = workspace.living().map(|(id, _)| *id).collect();
    (!living.is_empty()).then(|| living[usize::from(number) % living.len()])
}

impl Simulation {
    fn new(fault: Option<Fault>) -> Self {
        Self { workspaces: [Workspace::new(1), Workspace::new(2)], now: Timestamp(0), fault }
    }

    fn live(&mut self, life: &[(usize, Step)]) -> Outcome {
        life.iter().try_for_each(|(place, step)| self.take(*place, step))
    }

    fn take(&mut self, place: usize, step: &Step) -> Outcome {
        self.now = self.now.saturating_add_ms(1);
        let other = self.workspaces[1 - place].clone();
        let fault = self.fault;
        let now = self.now;
        let workspace = &mut self.workspaces[place];
        match step {
            Step::Add(new) => workspace.add(new, now),
            Step::Update { memory, object } => {
                choose_living(workspace, *memory).into_iter().for_each(|id| workspace.update(id, &[*object], now));
            }
            Step::Pin { memory, is_pinned } => {
                choose_living(workspace, *memory).into_iter().for_each(|id| workspace.pin(id, *is_pinned, now));
            }
            Step::Use { memory } => {
                choose_living(workspace, *memory).into_iter().for_each(|id| workspace.serve(id, now));
            }
            Step::Supersede { memory, by } => {
                let both = choose_living(workspace, *memory).zip(choose_living(workspace, *by));
                both.into_iter().for_each(|(id, by)| workspace.supersede(id, by, now));
            }
            Step::Work { memory, is_in_flight } => {
                let memory = choose_living(workspace, *memory).and_then(|id| workspace.memories.get_mut(&id));
                memory.into_iter().for_each(|memory| memory.is_in_flight = *is_in_flight);
            }
            Step::Scan { seen } => workspace.scan(|path| seen >> path & 1 == 1, now),
            Step::SetPolicy { bucket, policy } => workspace.buckets[*bucket as usize].policy = *policy,
            Step::Import { object } => workspace.import(*object),
            Step::Plant { kind } => workspace.plant(*kind),
            Step::Wait { ms } => self.now = now.saturating_add_ms(*ms),
            Step::Plan { strategies } => plan(workspace, strategies, fault, now)?,
            Step::Delete { memory } => {
                if let Some(id) = choose_living(workspace, *memory) {
                    let plan = workspace.plan_named(id, now);
                    workspace.apply(plan, &ApplyOptions { fault, ..ApplyOptions::default() }, now)?;
                }
            }
            Step::Forget { object, include_pinned, action } => {
                workspace.plan_forget(*object, *include_pinned, *action, now);
            }
            Step::Apply { plan, exclude, allow_large, end } => {
                let plans: Vec<usize> = (0..workspace.plans.len()).collect();
                if let Some(plan) = choose(&plans, *plan) {
                    let items = &workspace.plans[plan].items;
                    let exclude = exclude.and_then(|number| choose(items, number)).map(|item| item.object);
                    let exclude = exclude.into_iter().collect();
                    let options = ApplyOptions { exclude, allow_large: *allow_large, batches_max: None, fault };
                    apply(workspace, plan, options, *end, now)?;
                }
            }
            Step::Undo { run } => undo(workspace, *run, fault)?,
            Step::Purge { run } => {
                let runs: Vec<usize> = finished_runs(workspace);
                choose(&runs, *run).into_iter().try_for_each(|run| workspace.purge(run, fault))?;
            }
        }
        if self.workspaces[1 - place] != other {
            return Err("a step in one workspace changed the other".to_owned());
        }
        check_rows(&self.workspaces[place], self.now)
    }
}

/// I6, I7, I8, I11.
fn check_rows(workspace: &Workspace, now: Timestamp) -> Outcome {
    let found = workspace.rows(now);
    rows::rows_belong_to_one_workspace(&found).map_err(in_words)?;
    rows::refcounts_are_right(&found).map_err(in_words)?;
    rows::what_is_served_is_live(&found, &workspace.served(now)).map_err(in_words)?;
    steps::every_step_is_audited(workspace.destructive_steps, &workspace.links()).map_err(in_words)
}

/// A dry run changes nothing but the stored plan, and asked again it plans the same.
fn plan(
    workspace: &mut Workspace,
    strategies: &[&'static rootset_gc::Strategy],
    fault: Option<Fault>,
    now: Timestamp,
) -> Outcome {
    let before = workspace.clone();
    let first = workspace.plan(strategies, fault, now)?;
    let second = workspace.plan(strategies, fault, now)?;
    let is_stable = workspace.plans[first].digest == workspace.plans[second].digest;
    workspace.plans.pop();
    let mut without_plan = workspace.clone();
    without_plan.plans.pop();
    if is_stable && without_plan == before { Ok(()) } else { Err("a dry run is not a dry run".to_owned()) }
}

fn apply(workspace: &mut Workspace, plan: usize, options: ApplyOptions, end: End, now: Timestamp) -> Outcome {
    let before = workspace.clone();
    match end {
        End::Killed(batches) => {
            let killed = ApplyOptions { batches_max: Some(batches), ..options };
            return workspace.apply(plan, &killed, now).map(drop);
        }
        End::Regular => drop(workspace.apply(plan, &options, now)?),
        End::KilledAndResumed(batches) => {
            let mut uninterrupted = before.clone();
            uninterrupted.apply(plan, &options, now)?;
            let killed = ApplyOptions { batches_max: Some(batches), ..options.clone() };
            let begun = workspace.apply(plan, &killed, now)?;
            if begun.is_some() {
                // What the reviewer keeps was said when the run began.
                workspace.apply(plan, &ApplyOptions { exclude: Default::default(), ..options.clone() }, now)?;
            }
            steps::resuming_changes_nothing(&uninterrupted, workspace).map_err(in_words)?;
        }
    }
    let Some(run) = workspace.plans[plan].run else {
        let is_unchanged = *workspace == before;
        return if is_unchanged { Ok(()) } else { Err("a refused plan changed something".to_owned()) };
    };
    let mut again = workspace.clone();
    again.apply(plan, &options, now)?;
    if again != *workspace {
        return Err("a second apply is not the first".to_owned());
    }
    let is_first = before.plans[plan].run.is_none();
    if is_first && !workspace.plans[plan].erases() {
        let mut undone = workspace.clone();
        undone.undo(run, options.fault);
        steps::undo_is_the_identity(&before.dump(), &undone.dump()).map_err(in_words)?;
    }
    Ok(())
}

fn finished_runs(workspace: &Workspace) -> Vec<usize> {
    let runs = workspace.runs.iter().enumerate();
    runs.filter(|(_, run)| run.is_finished && !run.is_purged).map(|(place, _)| place).collect()
}

/// Everything comes back but what has lost its path to another.
fn undo(workspace: &mut Workspace, number: u8, fault: Option<Fault>) -> Outcome {
    let Some(run) = choose(&finished_runs(workspace), number) else { return Ok(()) };
    let conflicts = workspace.undo(run, fault);
    for (id, memory) in workspace.memories.iter().filter(|(_, it)| it.trashed.is_some_and(|(of, _)| of == run)) {
        let is_taken = workspace.living().any(|(_, living)| living.path.is_some() && living.path == memory.path);
        if !conflicts.contains(id) || !is_taken {
            return Err(format!("undo left {memory:?} in the trash"));
        }
    }
    Ok(())
}

#[test]
fn the_invariants_hold_whatever_happens() {
    for_longer(WEIGHT, |config| {
        proptest!(config, |(life in life())| {
            Simulation::new(None).live(&life).map_err(TestCaseError::fail)?;
        })
    });
}

/// What the simulation says to a fault, on the same lives every time.
fn finding(fault: Fault) -> Option<String> {
    let config = Config { cases: CASES_PER_FAULT, max_shrink_iters: 0, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    let outcome = runner.run(&life(), |life| Simulation::new(Some(fault)).live(&life).map_err(TestCaseError::fail));
    match outcome {
        Ok(()) => None,
        Err(TestError::Fail(reason, _)) => Some(reason.message().to_owned()),
        Err(TestError::Abort(reason)) => panic!("the simulation gave up: {reason}"),
    }
}

#[test]
fn every_planted_fault_is_found_and_named() {
    for (fault, expected) in [
        (Fault::NoObjection(Skip::Changed), "I2 is broken"),
        (Fault::NoObjection(Skip::Pinned), "I1 is broken"),
        (Fault::NoObjection(Skip::Used), "I3 is broken"),
        (Fault::NoObjection(Skip::InFlight), "I1 is broken"),
        (Fault::NoObjection(Skip::NotGarbage), "I2 is broken"),
        (Fault::NoObjection(Skip::Trashed), "I2 is broken"),
        (Fault::NoObjection(Skip::Excluded), "swept although the reviewer keeps it"),
        (Fault::StrategiesIgnorePins, "a strategy took what is pinned"),
        (Fault::UndoForgetsOne, "I9 is broken"),
        (Fault::PurgeLeavesFullText, "I12 is broken"),
        (Fault::PurgeLeavesLog, "I12 is broken"),
        (Fault::PurgeForgetsContributions, "I7 is broken"),
        (Fault::TrashForgetsRefcounts, "I7 is broken"),
        (Fault::ResumeStartsOver, "I10 is broken"),
        (Fault::ResumeSkipsOne, "I10 is broken"),
        (Fault::ResumeForgetsExclusions, "I10 is broken"),
        (Fault::BatchWithoutAuditRow, "I11 is broken"),
        (Fault::SweepsWhatIsNotInThePlan, "I2 is broken"),
        (Fault::SkipsWhatQualifies, "was skipped as Changed for no reason"),
    ] {
        let found = finding(fault).unwrap_or_else(|| panic!("nothing notices {fault:?}"));
        assert!(found.contains(expected), "{fault:?}: {found}");
    }
}
