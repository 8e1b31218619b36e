//! A small disk that fills up: purging has to work on it, and what is purged has to be room for something new.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::script::{Call, Heard, Said, Script};
use super::shim::{Shim, Watch};
use super::{DiskReport, look};
use crate::error::StressError;
use crate::prepared_databases::State;

/// The whole disk.
const DISK_BYTES: u64 = 6 * 1024 * 1024;
/// More batches than fit.
const BATCHES: usize = 120;
const BATCH_MEMORIES: usize = 10;
const TEXT_WORDS: usize = 120;

#[derive(Clone, Debug)]
pub struct SmallDiskSettings {
    /// The binary of this crate.
    pub program: PathBuf,
    /// A folder for what the run needs.
    pub folder: PathBuf,
}

/// Who empties the disk: the process that filled it, or one that comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cleaner {
    Same,
    Later,
}

pub fn run(settings: &SmallDiskSettings) -> Result<DiskReport, StressError> {
    let shim = Shim::build(&settings.folder)?;
    let mut report = DiskReport { name: "small-disk", scenario: "purge".into(), ..DiskReport::default() };
    for cleaner in [Cleaner::Same, Cleaner::Later] {
        (report.cases, report.points) = (report.cases + 1, report.points + 1);
        let found = fill_and_clean(settings, &shim, cleaner)?;
        report.failures.extend(found.into_iter().map(|it| format!("cleaned by the {cleaner:?} process: {it}")));
    }
    Ok(report)
}

fn fill_and_clean(settings: &SmallDiskSettings, shim: &Shim, cleaner: Cleaner) -> Result<Vec<String>, StressError> {
    let room = tempfile::tempdir_in(&settings.folder)?;
    let state = State::empty(&std::fs::canonicalize(room.path())?.join("small"))?;
    let (filling, cleaning) = (filling(), cleaning());
    let run = |calls: &[Call]| -> Result<Heard, StressError> {
        let free = DISK_BYTES.saturating_sub(bytes_in(state.folder())?);
        let watch = Watch { root: state.folder().to_owned(), room_bytes: Some(free), ..Watch::default() };
        Script { keeps_going: true, room_bytes: Some(DISK_BYTES), ..Script::new(&state.database(), calls) }
            .run_in(&settings.program, Some((shim, &watch)))
    };
    let said = match cleaner {
        Cleaner::Same => run(&[filling, cleaning].concat())?.said,
        Cleaner::Later => [run(&filling)?.said, run(&cleaning)?.said].concat(),
    };
    let mut complaints = Vec::new();
    let was_full = said[..BATCHES.min(said.len())].iter().any(is_full);
    if !was_full {
        complaints.push("the disk never was full".to_owned());
    }
    for (said, call) in said.iter().skip(BATCHES).zip(&cleaning_names()) {
        if is_full(said) || matches!(said, Said::Refused { .. }) {
            complaints.push(format!("{call}: {said:?}"));
        }
    }
    if said.len() != BATCHES + cleaning_names().len() {
        complaints.push(format!("{} answers", said.len()));
    }
    complaints.extend(look::open(&state)?.complaints);
    Ok(complaints)
}

fn filling() -> Vec<Call> {
    let text = |number: usize| {
        let words: Vec<String> =
            (0..TEXT_WORDS).map(|word| format!("word{}", (number * 31 + word * 7) % 9973)).collect();
        json!({"context": format!("Large note {number}: {}", words.join(" ")), "tags": ["large"]})
    };
    let batch = |batch: usize| -> Vec<_> { (0..BATCH_MEMORIES).map(|it| text(batch * BATCH_MEMORIES + it)).collect() };
    (0..BATCHES).map(|number| Call::new("add_memories", json!({"memories": batch(number)}))).collect()
}

fn cleaning() -> Vec<Call> {
    vec![
        Call::new("forget", json!({"tags": ["large"]})),
        Call::new("gc_apply", json!({"plan_id": "$plan_id", "allow_large": true})),
        Call::new("gc_purge", json!({"run_id": "$run_id", "confirm": true})),
        Call::new("add_memories", json!({"memories": [{"context": "There is room again."}]})),
    ]
}

fn cleaning_names() -> Vec<String> {
    cleaning().into_iter().map(|it| it.operation).collect()
}

/// A batch of adds answers item by item.
fn is_full(said: &Said) -> bool {
    match said {
        Said::Refused { message, .. } => message.contains("the disk is full"),
        Said::Answered(answer) => answer["results"].to_string().contains("the disk is full"),
    }
}

fn bytes_in(folder: &Path) -> Result<u64, StressError> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { bytes_in(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}
