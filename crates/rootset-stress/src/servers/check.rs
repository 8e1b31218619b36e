//! The end: every acknowledged write is there, every acknowledged delete is gone, and the dead hold nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::stream::Remembered;
use super::{ServerReport, ServerSettings};
use crate::error::StressError;
use crate::model::{Model, Violation};
use crate::verify::Verifier;

pub fn everything(settings: &ServerSettings, remembered: &[Remembered]) -> Result<ServerReport, StressError> {
    let location = &settings.database;
    let mut report = ServerReport { clients: settings.clients, ..ServerReport::default() };
    let mut by_workspace: BTreeMap<&str, Vec<&Remembered>> = BTreeMap::new();
    for one in remembered {
        by_workspace.entry(&one.workspace).or_default().push(one);
        for (kind, count) in &one.acknowledged {
            *report.acknowledged.entry(kind).or_default() += count;
        }
        report.repeated += one.repeated;
        report.longest = report.longest.max(one.longest);
    }
    let mut violations = Vec::new();
    for (workspace, clients) in by_workspace {
        let verifier = Verifier::of_workspace(location, workspace)?;
        // Memories are known by their names here; files have no name of a client's.
        let mut model = Model::default();
        clients.iter().for_each(|one| model.take_over(&one.model));
        match model.compare(&[], &verifier.snapshot()?) {
            Ok(_) => report.memories += clients.iter().map(|one| one.live()).sum::<usize>(),
            Err(differences) => violations.extend(differences),
        }
        apply_anew(&verifier)?;
        for one in clients {
            report.segments += segments(&verifier, one, &mut violations)?;
            report.symbols += symbols(&verifier, one, &mut violations)?;
        }
    }
    violations.extend(Verifier::open(location)?.doctor()?);
    if violations.is_empty() { Ok(report) } else { Err(StressError::Violated(violations)) }
}

/// Everything that was begun was finished, so nobody holds a lease: the first try gets through.
fn apply_anew(verifier: &Verifier) -> Result<(), StressError> {
    let tag = "after-the-end";
    verifier.call("add_memory", json!({"text": "The last servers are dead.", "name": tag, "tags": [tag]}))?;
    let plan = verifier.call("forget", json!({"tags": [tag], "kinds": ["memories"]}))?;
    verifier.call("gc_apply", json!({"plan_id": plan["plan_id"], "allow_large": true}))?;
    Ok(())
}

fn segments(verifier: &Verifier, one: &Remembered, violations: &mut Vec<Violation>) -> Result<usize, StressError> {
    if one.segments.is_empty() {
        return Ok(0);
    }
    let answer = verifier.call("context_get", json!({ "session_id": one.session }))?;
    let shown = answer["segments"].as_array().ok_or(StressError::AnswerLacks("segments"))?;
    let found: BTreeSet<&str> = shown.iter().filter_map(|segment| segment["segment_id"].as_str()).collect();
    lost("segment", one.segments.iter(), |id| found.contains(id), violations);
    Ok(one.segments.len())
}

fn symbols(verifier: &Verifier, one: &Remembered, violations: &mut Vec<Violation>) -> Result<usize, StressError> {
    let mut found = BTreeSet::new();
    for symbol in &one.symbols {
        let answer = verifier.call("get_symbol", json!({"qualified_name": symbol, "repo": one.repo}))?;
        if answer["results"].as_array().is_some_and(|results| !results.is_empty()) {
            found.insert(symbol.as_str());
        }
    }
    lost("symbol", one.symbols.iter(), |symbol| found.contains(symbol), violations);
    // Another scan has its lease at once and nothing to do.
    let scanned = verifier.call("index_codebase", json!({"path": one.tree, "repo": one.repo}))?;
    for (field, what, wanted) in [
        ("files_unchanged", "the number of files that are indexed already", one.symbols.len()),
        ("files_indexed", "the number of files that were not", 0),
        ("stale_memories", "the number of stale files", 0),
    ] {
        if scanned[field].as_u64() != Some(wanted as u64) {
            let (wanted, found) = (wanted.to_string(), scanned[field].to_string());
            violations.push(Violation::File { what, wanted, found });
        }
    }
    Ok(one.symbols.len())
}

fn lost<'a>(
    what: &'static str,
    acknowledged: impl Iterator<Item = &'a String>,
    is_there: impl Fn(&str) -> bool,
    violations: &mut Vec<Violation>,
) {
    violations.extend(acknowledged.filter(|it| !is_there(it)).map(|it| Violation::Lost { what, name: it.clone() }));
}
