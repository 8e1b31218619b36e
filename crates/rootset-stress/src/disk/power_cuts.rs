//! Power cuts: images of what the disk may hold at any moment of a script, each of which must be whole.
//!
//! Undisturbed, every state that a commit made is known: the record, replayed up to a sync with everything kept, is what
//! the process itself would have read then. An image at a later moment must hold one of these states, no older than the
//! one of the last answer. And the state at an answer must be the one that a twin without a recorder reached by the same
//! operations, so that an answer that comes too early is noticed, too.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rootset_trees::dump::{Dump, differences};
use serde_json::Value;

use super::image::{Damage, Disk};
use super::log::{self, Record, What};
use super::look;
use super::scenarios::Scenario;
use super::script::{DiskMistake, Script};
use super::shim::{Shim, Watch};
use super::{DiskReport, try_in_time};
use crate::dump::Since;
use crate::error::StressError;
use crate::prepared_databases::State;

#[derive(Clone, Debug)]
pub struct PowerCutSettings {
    /// The binary of this crate.
    pub program: PathBuf,
    /// A folder for what the run needs.
    pub folder: PathBuf,
    /// Of a scenario.
    pub images: usize,
    /// After which no image of a scenario is begun.
    pub time: Option<Duration>,
    pub seed: u64,
    /// A mistake that the run has to notice.
    pub mistake: Option<DiskMistake>,
}

/// A state that a commit made, and the first sync after which it can be on the disk.
struct Committed {
    record: usize,
    rows: Dump,
}

/// A script that ran to its end, with what it did to its disk.
struct Recorded {
    at_rest: Disk,
    /// The disk before each sync.
    at_syncs: Vec<(usize, Disk)>,
    records: Vec<Record>,
    /// The records at which an operation was answered.
    answers: Vec<usize>,
    said: Vec<Value>,
    states: Vec<Committed>,
}

impl Recorded {
    /// Where the power fails: before each sync, after each answer, at the end.
    fn moments(&self) -> Vec<usize> {
        let syncs = self.at_syncs.iter().map(|(place, _)| *place);
        let answers = self.answers.iter().map(|place| place + 1);
        let mut moments: Vec<usize> = syncs.chain(answers).chain([self.records.len()]).collect();
        moments.sort_unstable();
        moments.dedup();
        moments
    }
}

pub fn run(settings: &PowerCutSettings, shim: &Shim, scenario: &Scenario) -> Result<DiskReport, StressError> {
    let mut report = DiskReport {
        name: "power-cuts",
        scenario: scenario.name.to_owned(),
        seed: settings.seed,
        control: settings.mistake.map(DiskMistake::name),
        ..DiskReport::default()
    };
    let since = scenario.state.since()?;
    let twins = twins(settings, scenario, &since)?;
    let recorded = record(settings, shim, scenario)?;
    report.failures.extend(early_answers(settings, scenario, &since, &recorded, &twins)?);
    let moments = recorded.moments();
    report.points = moments.len();
    let mut random = StdRng::seed_from_u64(settings.seed);
    let cuts = (0..settings.images).map(|number| Cut::draw(settings, number, &moments, &mut random)).collect();
    let (cases, failures) = try_in_time(cuts, settings.time, |cut: &Cut| {
        let found = look_at(settings, scenario, &recorded, cut).unwrap_or_else(|error| vec![error.to_string()]);
        let (number, place, damage) = (cut.number, cut.place, cut.damage);
        let at = format!("{}, image {number}, {damage:?} at call {place}", scenario.name);
        found.into_iter().map(|it| format!("{at}: {it}")).collect()
    });
    report.cases = cases;
    report.failures.extend(failures);
    Ok(report)
}

/// One power cut.
struct Cut {
    number: usize,
    /// The first record that does not happen any more.
    place: usize,
    damage: Damage,
    seed: u64,
}

impl Cut {
    /// Every sync and every answer in turn, at the moment before the sync, after the answer, or somewhat earlier; and the very
    /// end. Runs with seeds that follow each other go on where the one before stopped.
    fn draw(settings: &PowerCutSettings, number: usize, moments: &[usize], random: &mut StdRng) -> Self {
        let before = settings.seed.wrapping_mul(settings.images as u64);
        let turn = (before.wrapping_add(number as u64) % moments.len() as u64) as usize;
        let last = moments[turn];
        let first = turn.checked_sub(1).map_or(0, |before| last.min(moments[before] + 1));
        let place = if random.random_bool(0.5) { last } else { random.random_range(first..=last) };
        let damage = Damage::ALL[random.random_range(0..Damage::ALL.len())];
        Self { number, place, damage, seed: random.random() }
    }
}

/// What each operation leaves when nobody looks.
fn twins(settings: &PowerCutSettings, scenario: &Scenario, since: &Since) -> Result<Vec<Dump>, StressError> {
    let room = tempfile::tempdir_in(&settings.folder)?;
    let twin = scenario.state.copy_to(&room.path().join("twin"))?;
    let mut dumps = Vec::new();
    let script = Script { paced: true, ..Script::new(&twin.database(), &scenario.calls) };
    let heard = script.run_paced(&settings.program, None, |_| {
        dumps.push(scenario.dump(since, &twin)?);
        Ok(())
    })?;
    heard.all_answered(scenario.calls.len())?;
    Ok(dumps)
}

fn record(settings: &PowerCutSettings, shim: &Shim, scenario: &Scenario) -> Result<Recorded, StressError> {
    let room = tempfile::tempdir_in(&settings.folder)?;
    let state = scenario.state.copy_to(&std::fs::canonicalize(room.path())?.join("recorded"))?;
    let at_rest = Disk::at_rest(state.folder())?;
    let log = room.path().join("log");
    let watch = Watch { root: state.folder().to_owned(), log: Some(&log), ..Watch::default() };
    let script = Script { mistake: settings.mistake, ..Script::new(&state.database(), &scenario.calls) };
    let said = script.run_in(&settings.program, Some((shim, &watch)))?.all_answered(scenario.calls.len())?;
    let records = log::read(&log)?;
    let answers: Vec<usize> = records
        .iter()
        .enumerate()
        .filter(|(_, record)| matches!(&record.what, What::Said { text } if text.starts_with(b"{\"answered\"")))
        .map(|(place, _)| place)
        .collect();
    if answers.len() != scenario.calls.len() {
        return Err(StressError::NoShim(format!("it recorded {} of {} answers", answers.len(), scenario.calls.len())));
    }
    let mut recorded = Recorded { at_rest, at_syncs: Vec::new(), records, answers, said, states: Vec::new() };
    recorded.at_syncs = at_syncs(&recorded);
    recorded.states = committed(settings, scenario, &recorded)?;
    Ok(recorded)
}

/// The states that a process would have read before each sync, each once.
fn committed(
    settings: &PowerCutSettings,
    scenario: &Scenario,
    recorded: &Recorded,
) -> Result<Vec<Committed>, StressError> {
    let mut states: Vec<Committed> = Vec::new();
    let mut disk = recorded.at_rest.clone();
    let mut note = |record: usize, disk: &Disk| -> Result<(), StressError> {
        let (_room, state) = kept(settings, scenario, disk)?;
        let rows = look::rows(&state)?;
        if states.last().is_none_or(|last| last.rows != rows) {
            states.push(Committed { record, rows });
        }
        Ok(())
    };
    note(0, &disk)?;
    for (place, record) in recorded.records.iter().enumerate() {
        if matches!(record.what, What::Sync { .. } | What::Said { .. }) {
            note(place, &disk)?;
        }
        disk.follow(record);
    }
    note(recorded.records.len(), &disk)?;
    Ok(states)
}

/// The disk as the process saw it.
fn kept(
    settings: &PowerCutSettings,
    scenario: &Scenario,
    disk: &Disk,
) -> Result<(tempfile::TempDir, State), StressError> {
    let room = tempfile::tempdir_in(&settings.folder)?;
    disk.image(room.path(), Damage::Keep, &mut StdRng::seed_from_u64(0))?;
    let state = scenario.state.in_folder(room.path());
    Ok((room, state))
}

fn at_syncs(recorded: &Recorded) -> Vec<(usize, Disk)> {
    let mut disk = recorded.at_rest.clone();
    let mut disks = Vec::new();
    for (place, record) in recorded.records.iter().enumerate() {
        if matches!(record.what, What::Sync { .. }) {
            disks.push((place, disk.clone()));
        }
        disk.follow(record);
    }
    disks
}

/// The disk as it is when the power fails at this place.
fn disk_at(recorded: &Recorded, place: usize) -> Disk {
    let before = recorded.at_syncs.iter().rev().find(|(sync, _)| *sync <= place);
    let (from, mut disk) = before.map_or_else(|| (0, recorded.at_rest.clone()), |(sync, disk)| (*sync, disk.clone()));
    recorded.records[from..place].iter().for_each(|record| disk.follow(record));
    disk
}

/// An answer whose operation the twin had done, and this process had not.
fn early_answers(
    settings: &PowerCutSettings,
    scenario: &Scenario,
    since: &Since,
    recorded: &Recorded,
    twins: &[Dump],
) -> Result<Vec<String>, StressError> {
    let mut failures = Vec::new();
    let mut disk = recorded.at_rest.clone();
    let mut twins = twins.iter();
    for (place, record) in recorded.records.iter().enumerate() {
        if recorded.answers.contains(&place) {
            let (_room, state) = kept(settings, scenario, &disk)?;
            let found = scenario.dump(since, &state)?;
            let wanted = twins.next().expect("one for every answer");
            let different = differences(wanted, &found);
            if !different.is_empty() {
                failures.push(format!("{}: answered before it was done: {}", scenario.name, different.join("; ")));
            }
        }
        disk.follow(record);
    }
    Ok(failures)
}

/// What is wrong with one image.
fn look_at(
    settings: &PowerCutSettings,
    scenario: &Scenario,
    recorded: &Recorded,
    cut: &Cut,
) -> Result<Vec<String>, StressError> {
    let room = tempfile::tempdir_in(&settings.folder)?;
    disk_at(recorded, cut.place).image(room.path(), cut.damage, &mut StdRng::seed_from_u64(cut.seed))?;
    let state = scenario.state.in_folder(room.path());
    let answered = recorded.answers.iter().filter(|place| **place < cut.place).count();
    let erased: &[String] = if answered > 0 { &scenario.erased } else { &[] };
    let mut complaints = look::holding(room.path(), erased)?;
    let rows = look::rows(&state)?;
    complaints.extend(foreign_state(recorded, cut.place, &rows));
    let opened = look::open(&state)?;
    complaints.extend(opened.complaints);
    complaints.extend(look::holding(room.path(), erased)?);
    let made = recorded.said[..answered].iter().filter_map(|answer| answer["backup_id"].as_str());
    complaints
        .extend(made.filter(|id| !opened.backups.iter().any(|it| it == id)).map(|id| format!("backup {id} is lost")));
    Ok(complaints)
}

/// Whether the rows are those of no commit between the last answer and the cut.
fn foreign_state(recorded: &Recorded, cut: usize, rows: &Dump) -> Option<String> {
    let answer = recorded.answers.iter().rev().find(|place| **place < cut).copied().unwrap_or(0);
    let states = &recorded.states;
    // The state that was there when the answer was given, and the one that is being written when the power fails.
    let first = states.iter().rposition(|it| it.record <= answer).unwrap_or(0);
    let last = states.iter().position(|it| it.record >= cut).unwrap_or(states.len() - 1);
    if states[first..=last].iter().any(|it| it.rows == *rows) {
        return None;
    }
    let nearest = differences(&states[first].rows, rows);
    let is_older = states[..first].iter().any(|it| it.rows == *rows);
    let what = if is_older { "what was answered is lost" } else { "in none of the committed states" };
    Some(format!("{what}: {}", nearest.join("; ")))
}

/// Runs the scenarios of these names, or all.
pub fn run_all(settings: &PowerCutSettings, names: &[String]) -> Result<Vec<DiskReport>, StressError> {
    let (shim, scenarios) = prepared(&settings.folder, names)?;
    scenarios.iter().map(|scenario| run(settings, &shim, scenario)).collect()
}

pub(super) fn prepared(folder: &Path, names: &[String]) -> Result<(Shim, Vec<Scenario>), StressError> {
    let shim = Shim::build(folder)?;
    let mut scenarios = super::scenarios::all(folder)?;
    if let Some(unknown) = names.iter().find(|name| !scenarios.iter().any(|it| it.name == *name)) {
        return Err(StressError::StepEnded { ended: format!("without a scenario `{unknown}`") });
    }
    scenarios.retain(|it| names.is_empty() || names.iter().any(|name| name == it.name));
    Ok((shim, scenarios))
}
