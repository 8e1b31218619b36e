//! Calls that fail: each call of a script in turn, once or from then on.
//!
//! Whatever an operation then says is true. An answer means that it is done, a refusal that it is not, or says otherwise
//! itself (`details.outcome`); an error of the device is not called a lack of room, and a lack of room not one of rights.
//! Nothing else is lost, and on a disk that works again the rest of the script ends where its undisturbed twin did.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rootset_trees::dump::{Dump, differences};

use super::log::{self, Record};
use super::look;
use super::power_cuts::prepared;
use super::scenarios::Scenario;
use super::script::{Heard, Said, Script};
use super::shim::{DiskError, DiskFault, Shim, Times, Watch};
use super::{DiskReport, try_in_time};
use crate::dump::Since;
use crate::error::StressError;
use crate::prepared_databases::State;

/// Beyond the lease of a process that failed.
const AHEAD_MS: i64 = 10_000;

#[derive(Clone, Debug)]
pub struct DiskFaultSettings {
    /// The binary of this crate.
    pub program: PathBuf,
    /// A folder for what the run needs.
    pub folder: PathBuf,
    /// How many faults of a scenario are tried, in an order that the seed decides; all of them if there are no more.
    pub faults_max: usize,
    /// How many of that order were tried before.
    pub from: usize,
    /// After which no fault of a scenario is begun.
    pub time: Option<Duration>,
    pub seed: u64,
}

/// The undisturbed run.
struct Measure {
    since: Since,
    /// Before it was opened.
    at_rest: Dump,
    /// After it was opened, and after each operation.
    dumps: Vec<Dump>,
    /// After the first batch of an operation that has several.
    after_first_batch: Option<Dump>,
}

pub fn run_all(settings: &DiskFaultSettings, names: &[String]) -> Result<Vec<DiskReport>, StressError> {
    let (shim, scenarios) = prepared(&settings.folder, names)?;
    scenarios.iter().map(|scenario| run(settings, &shim, scenario)).collect()
}

pub fn run(settings: &DiskFaultSettings, shim: &Shim, scenario: &Scenario) -> Result<DiskReport, StressError> {
    let (name, seed) = ("faults", settings.seed);
    let mut report = DiskReport { name, scenario: scenario.name.to_owned(), seed, ..DiskReport::default() };
    let (measure, records) = measure(settings, shim, scenario)?;
    let mut faults = possible(&records);
    report.points = faults.len();
    faults.shuffle(&mut StdRng::seed_from_u64(settings.seed));
    let faults = faults.into_iter().skip(settings.from).take(settings.faults_max).collect();
    (report.cases, report.failures) = try_in_time(faults, settings.time, |fault: &DiskFault| {
        let found = strike(settings, shim, scenario, &measure, *fault).unwrap_or_else(|error| vec![error.to_string()]);
        found.into_iter().map(|it| format!("{}, {fault}: {it}", scenario.name)).collect()
    });
    Ok(report)
}

/// Every call with every error that it can have.
fn possible(records: &[Record]) -> Vec<DiskFault> {
    let mut faults = Vec::new();
    for record in records.iter().filter(|it| !matches!(it.what, log::What::Said { .. })) {
        for times in [Times::Once, Times::Onwards] {
            let call = record.call;
            faults.push(DiskFault { call, error: DiskError::Io, times });
            if record.grows {
                faults.push(DiskFault { call, error: DiskError::Full, times });
            }
            if record.is_write() {
                faults.push(DiskFault { call, error: DiskError::Short, times });
            }
        }
    }
    faults
}

fn measure(
    settings: &DiskFaultSettings,
    shim: &Shim,
    scenario: &Scenario,
) -> Result<(Measure, Vec<Record>), StressError> {
    let room = tempfile::tempdir_in(&settings.folder)?;
    let since = scenario.state.since()?;
    let twin = scenario.state.copy_to(&in_full(room.path())?.join("twin"))?;
    let opened = scenario.state.copy_to(&in_full(room.path())?.join("opened"))?;
    let at_rest = scenario.dump(&since, &opened)?;
    Script::new(&opened.database(), &[]).run_in(&settings.program, None)?.all_answered(0)?;
    let mut dumps = vec![scenario.dump(&since, &opened)?];
    let log = room.path().join("log");
    let watch = Watch { root: twin.folder().to_owned(), log: Some(&log), ..Watch::default() };
    let script = Script { paced: true, ..Script::new(&twin.database(), &scenario.calls) };
    let heard = script.run_paced(&settings.program, Some((shim, &watch)), |_| {
        dumps.push(scenario.dump(&since, &twin)?);
        Ok(())
    })?;
    heard.all_answered(scenario.calls.len())?;
    let after_first_batch = if scenario.goes_in_batches {
        let stopped = scenario.state.copy_to(&in_full(room.path())?.join("stopped"))?;
        let script = Script { first_batch_only: true, ..Script::new(&stopped.database(), &scenario.calls) };
        let heard = script.run_in(&settings.program, None)?;
        if !is_unfinished(&heard) {
            return Err(StressError::StepEnded { ended: format!("with one batch: {heard:?}") });
        }
        Some(scenario.dump(&since, &stopped)?)
    } else {
        None
    };
    Ok((Measure { since, at_rest, dumps, after_first_batch }, log::read(&log)?))
}

fn strike(
    settings: &DiskFaultSettings,
    shim: &Shim,
    scenario: &Scenario,
    measure: &Measure,
    fault: DiskFault,
) -> Result<Vec<String>, StressError> {
    let room = tempfile::tempdir_in(&settings.folder)?;
    let state = scenario.state.copy_to(&in_full(room.path())?.join("struck"))?;
    let watch = Watch { root: state.folder().to_owned(), fault: Some(fault), ..Watch::default() };
    let script = Script::new(&state.database(), &scenario.calls);
    let heard = script.run_in(&settings.program, Some((shim, &watch)))?;
    let mut complaints = Vec::new();
    if !heard.has_ended_well {
        complaints.push("the process died".to_owned());
    }
    complaints.extend(heard.refusal.iter().flat_map(|refusal| wrong_words(refusal, fault)));
    let found = scenario.dump(&measure.since, &state)?;
    let done = match calls_done(scenario, measure, &heard, &found) {
        Ok(done) => done,
        Err(complaint) => {
            complaints.push(complaint);
            heard.answers.len()
        }
    };
    if scenario.name != "migrate" {
        complaints.extend(look::open(&state)?.complaints);
    }
    complaints.extend(again(settings, scenario, measure, &state, &heard, done)?);
    Ok(complaints)
}

/// Words that would send somebody in the wrong direction.
fn wrong_words(refusal: &Said, fault: DiskFault) -> Vec<String> {
    let Said::Refused { message, hint, .. } = refusal else { return Vec::new() };
    let words = format!("{message} {}", hint.as_deref().unwrap_or_default()).to_lowercase();
    // Paths have words of their own, by chance.
    let words: String = words.split('`').filter(|piece| !piece.starts_with('/')).collect();
    let wrong: &[&str] = match fault.error {
        DiskError::Io => &["disk is full", "purg", "quota", "permission", "read-only"],
        DiskError::Full | DiskError::Short => &["permission", "read-only"],
    };
    let mut complaints: Vec<String> =
        wrong.iter().filter(|word| words.contains(*word)).map(|word| format!("it says `{word}`: {words}")).collect();
    if hint.is_none() {
        complaints.push(format!("no hint what to do: {words}"));
    }
    complaints
}

/// How many calls are done, where what is stored does not contradict what was said.
fn calls_done(scenario: &Scenario, measure: &Measure, heard: &Heard, found: &Dump) -> Result<usize, String> {
    let answered = heard.answers.len();
    // Then a receipt may be missing.
    let has_warned =
        heard.answers.iter().any(|answer| answer["warnings"].is_array()) || outcome_said(heard) == Some("done");
    let possible = match (outcome_said(heard), &heard.refusal) {
        // What is there of it is seen when it is completed below.
        (Some("partial"), _) => return Ok(answered),
        (_, Some(_)) if scenario.goes_in_steps => return Ok(answered),
        _ if is_unfinished(heard) => return Ok(answered - 1),
        (Some("unknown"), _) => answered..=answered + 1,
        (Some("done"), _) => answered + 1..=answered + 1,
        _ => answered..=answered,
    };
    let is_as_before = answered == 0 && (found.is_empty() || *found == measure.at_rest);
    let found = if has_warned { &without_receipts(found) } else { found };
    let wanted = |done: usize| {
        let dump = &measure.dumps[done.min(scenario.calls.len())];
        if has_warned { without_receipts(dump) } else { dump.clone() }
    };
    if is_as_before && *possible.start() == 0 {
        return Ok(0);
    }
    if let Some(done) = possible.clone().find(|done| wanted(*done) == *found) {
        return Ok(done);
    }
    // Nobody knows about the commit of a first batch; it is seen below that the same call then does the rest.
    if outcome_said(heard) == Some("unknown") && measure.after_first_batch.as_ref() == Some(found) {
        return Ok(answered);
    }
    let said = heard.refusal.as_ref().map_or("answered".to_owned(), |refusal| format!("{refusal:?}"));
    let nearest = possible.map(|done| differences(&wanted(done), found)).min_by_key(Vec::len).unwrap_or_default();
    Err(format!("after {answered} answers, {said}: {}", nearest.join("; ")))
}

fn outcome_said(heard: &Heard) -> Option<&str> {
    match &heard.refusal {
        Some(Said::Refused { details: Some(details), .. }) => details["outcome"].as_str(),
        _ => None,
    }
}

fn is_unfinished(heard: &Heard) -> bool {
    heard.answers.last().is_some_and(|answer| answer["unfinished"] == true)
}

/// A receipt that could not be stored is a warning: whoever applies the plan again gets it.
fn without_receipts(dump: &Dump) -> Dump {
    let mut dump = dump.clone();
    for row in dump.get_mut("runs").into_iter().flatten() {
        row.truncate(row.find(" receipt=").unwrap_or(row.len()));
    }
    dump
}

/// With a disk that works: what was refused is done, the rest too, and then all is as it should be.
fn again(
    settings: &DiskFaultSettings,
    scenario: &Scenario,
    measure: &Measure,
    state: &State,
    heard: &Heard,
    done: usize,
) -> Result<Vec<String>, StressError> {
    let has_warned = heard.answers.iter().any(|answer| answer["warnings"].is_array());
    let rest = &scenario.calls[done.min(scenario.calls.len())..];
    // An erasure that could not empty the log does so when it is asked again.
    let erases_again = rest.is_empty() && (has_warned || heard.refusal.is_some()) && !scenario.erased.is_empty();
    let rest = if erases_again { &scenario.calls[..1] } else { rest };
    let script = Script { ahead_ms: AHEAD_MS, ..Script::new(&state.database(), rest) };
    let second = script.run_in(&settings.program, None)?;
    let mut complaints = Vec::new();
    let is_done_before = matches!(&second.refusal, Some(Said::Refused { code, .. }) if code == "conflict");
    if second.refusal.is_some() && !is_done_before {
        complaints.push(format!("refused again on a disk that works: {:?}", second.refusal));
    }
    if !is_done_before && !erases_again {
        let wanted = measure.dumps.last().expect("there is always the first");
        complaints.extend(differences(wanted, &scenario.dump(&measure.since, state)?));
    }
    complaints.extend(look::open(state)?.complaints);
    if !is_done_before {
        complaints.extend(look::holding(state.folder(), &scenario.erased)?);
    }
    Ok(complaints)
}

/// The library compares paths as they are.
fn in_full(path: &Path) -> Result<PathBuf, StressError> {
    Ok(std::fs::canonicalize(path)?)
}
