//! Backups from strangers. An input is what a forger changed in a real one: files of a bundle (`== NAME` and then the new
//! file), or bytes of the copy of a database (`@ PLACE HEX` per line).
//!
//! A forger knows how to make a manifest agree with its files, so here it always does, unless the input has a manifest of
//! its own.

use std::path::Path;

use serde_json::{Value, json};

use crate::world::{BEGINNING, File, with_world};

const MANIFEST: &str = "manifest.json";
const DATABASE: &str = "rootset.db";
/// Marks the name of a file.
const FILE_MARK: &[u8] = b"== ";

pub fn run(input: &[u8]) {
    let Some(files) = forged(input) else { return };
    with_world(|world| {
        let id = name_of(&files);
        write(&world.folder().join("rootset.db.backups").join(&id), &files);
        let verified = world.call("backup_verify", json!({ "backup_id": id }));
        let is_well = verified.is_ok_and(|answer| answer["ok"] == true);
        let restored = world.call("backup_restore", json!({"backup_id": id, "confirm": true}));
        assert!(is_well || restored.is_err(), "restored what does not verify");
    });
}

/// The real backup with the input's changes; `None` if there are none.
fn forged(input: &[u8]) -> Option<Vec<File>> {
    if input.starts_with(b"@ ") {
        let mut files = BEGINNING.snapshot.clone();
        let database = files.iter_mut().find(|file| file.name == DATABASE)?;
        patch(&mut database.bytes, std::str::from_utf8(input).ok()?);
        return Some(agreeing(files));
    }
    let changes = sections(input);
    if changes.is_empty() {
        return None;
    }
    let has_manifest = changes.iter().any(|change| change.name == MANIFEST);
    let mut files = BEGINNING.bundle.clone();
    for change in changes {
        match files.iter_mut().find(|file| file.name == change.name) {
            Some(file) => file.bytes = change.bytes,
            None => files.push(change),
        }
    }
    Some(if has_manifest { files } else { agreeing(files) })
}

fn patch(bytes: &mut [u8], changes: &str) {
    for line in changes.lines() {
        let mut words = line.split(' ').skip(1);
        let (Some(Ok(place)), Some(hex)) = (words.next().map(str::parse::<usize>), words.next()) else { continue };
        let new = hex.as_bytes().chunks_exact(2).filter_map(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(pair, 16).ok()
        });
        for (byte, new) in bytes.iter_mut().skip(place).zip(new) {
            *byte = new;
        }
    }
}

/// Only plain names: the manifest of an input may name any path, and nobody may follow it.
fn sections(input: &[u8]) -> Vec<File> {
    let mut files: Vec<File> = Vec::new();
    for line in input.split_inclusive(|byte| *byte == b'\n') {
        if let Some(name) = line.strip_prefix(FILE_MARK) {
            let name = String::from_utf8_lossy(name).trim().to_owned();
            files.push(File { name, bytes: Vec::new() });
        } else if let Some(file) = files.last_mut() {
            file.bytes.extend_from_slice(line);
        }
    }
    let is_plain = |name: &str| {
        !name.is_empty() && name.len() < 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    files.retain(|file| is_plain(&file.name) && !file.name.starts_with('.'));
    files
}

/// With a manifest that says of every file what is true.
fn agreeing(mut files: Vec<File>) -> Vec<File> {
    let place = files.iter().position(|file| file.name == MANIFEST).expect("a backup has a manifest");
    let mut manifest: Value = serde_json::from_slice(&files[place].bytes).expect("a manifest of our own");
    let others = files.iter().filter(|file| file.name != MANIFEST);
    manifest["files"] = others
        .clone()
        .map(|file| {
            let blake3 = blake3::hash(&file.bytes).to_hex().to_string();
            json!({"name": file.name, "bytes": file.bytes.len(), "blake3": blake3})
        })
        .collect();
    for file in others {
        if let Some(table) = file.name.strip_suffix(".jsonl") {
            let rows = file.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
            manifest["tables"][table] = rows.into();
        }
    }
    files[place].bytes = manifest.to_string().into_bytes();
    files
}

/// The id of the backup that these files were made from.
fn name_of(files: &[File]) -> String {
    let real = if files.iter().any(|file| file.name == DATABASE) { &BEGINNING.snapshot } else { &BEGINNING.bundle };
    let manifest = real.iter().find(|file| file.name == MANIFEST).expect("a backup has a manifest");
    let manifest: Value = serde_json::from_slice(&manifest.bytes).expect("a manifest of our own");
    manifest["backup_id"].as_str().expect("a backup has an id").to_owned()
}

fn write(folder: &Path, files: &[File]) {
    std::fs::create_dir_all(folder).expect("a folder in a folder of our own");
    for file in files {
        std::fs::write(folder.join(&file.name), &file.bytes).expect("a file in a folder of our own");
    }
}
