//! Every hint in the sources, read as the agent reads it that `rootset install` connects: what it names is there.

use std::path::{Path, PathBuf};

use rootset_api::{Effect, Profiles, catalogue};
use rootset_service::Rights;

use super::{Offer, named_in};

/// Where hints and answers are written.
const SOURCES: [&str; 3] = ["rootset-service/src", "rootset-store/src", "rootset-gc/src"];
/// Answers, not hints, that tell of operations which `core` does not have: those of other profiles, which nobody reads there.
const OF_OTHER_PROFILES: [&str; 6] =
    ["service/src/backups.rs", "/context/", "/secrets/", "operations/index.rs", "housekeeping.rs", "kinds/segment.rs"];

struct Said {
    file: String,
    text: String,
    is_hint: bool,
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of sources").map(|entry| entry.expect("an entry").path());
    let found = entries.flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] });
    found.filter(|path| path.extension().is_some_and(|it| it == "rs")).collect()
}

/// The texts in quotation marks that name an operation, without those of tests.
fn said() -> Vec<Said> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files = SOURCES.iter().flat_map(|folder| rust_files(&crates.join(folder)));
    let mut all = Vec::new();
    for path in files {
        let source = std::fs::read_to_string(&path).expect("a source");
        let source = source.split("#[cfg(test)]").next().unwrap_or_default();
        for (start, text) in literals(source) {
            // Within the same statement.
            let before = source[..start].rsplit(';').next().unwrap_or_default();
            let is_hint = before.rsplit("=>").next().unwrap_or_default().contains("with_hint(");
            if named_in(&text).next().is_some() {
                all.push(Said { file: path.display().to_string(), text, is_hint });
            }
        }
    }
    all
}

/// Where each begins, and its text with lines joined as the compiler joins them.
fn literals(source: &str) -> Vec<(usize, String)> {
    let bytes = source.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => at += source[at..].find('\n').unwrap_or(bytes.len() - at),
            // A character, not the beginning of a text.
            b'\'' if source[at..].starts_with("'\"'") => at += 3,
            b'"' => {
                let start = at;
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                let lines = source[start + 1..at.min(bytes.len())].split("\\\n");
                let joined = lines.enumerate().map(|(line, text)| if line == 0 { text } else { text.trim_start() });
                found.push((start, joined.collect()));
                at += 1;
            }
            _ => at += 1,
        }
    }
    found
}

#[test]
fn every_hint_names_a_call_that_its_receiver_has() {
    let profiles = Profiles::default();
    let scopes = [Effect::Read, Effect::Write, Effect::Destroy];
    let rights = Rights { scopes: Some(scopes.into()), ..Rights::default() };
    let offer = Offer { profiles: &profiles, rights: &rights, terminal: Some("rootset") };
    let said = said();
    let hints = said.iter().filter(|it| it.is_hint).count();
    assert!(hints >= 30, "only {hints} hints were read");
    for Said { file, text, is_hint } in &said {
        let read = match is_hint {
            true => offer.said_here(text).expect("there is a terminal"),
            false if OF_OTHER_PROFILES.iter().any(|part| file.contains(part)) => continue,
            false => text.clone(),
        };
        for operation in named_in(&read) {
            assert!(offer.has(operation.name), "{file}: `{}` is not there for: {read}", operation.name);
        }
    }
}

/// `update_memory` with `pinned: false`: the tool has the field.
#[test]
fn fields_that_a_hint_names_with_a_call_are_fields_of_it() {
    let mut checked = 0;
    for Said { file, text, .. } in said() {
        for operation in catalogue() {
            let Some((_, rest)) = text.split_once(&format!("`{}` with `", operation.name)) else { continue };
            let field = rest.split([':', '`']).next().unwrap_or_default();
            let fields = operation.input_schema()["properties"].as_object().expect("fields");
            assert!(fields.contains_key(field), "{file}: `{}` has no `{field}`: {text}", operation.name);
            checked += 1;
        }
    }
    assert!(checked >= 2, "{checked}");
}
