//! The manifest: what a backup says of itself, so that it can be found, checked and read without any database.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use rootset_model::Timestamp;
use serde::{Deserialize, Serialize};

pub(crate) const MANIFEST_FILE: &str = "manifest.json";
pub(crate) const SNAPSHOT_FILE: &str = "rootset.db";
/// Of the manifest itself and of bundles; a later one is refused rather than guessed at.
pub(crate) const FORMAT: u32 = 1;
/// A manifest lists a few dozen files and tables; more is no manifest.
const MANIFEST_BYTES_MAX: u64 = 1 << 20;

/// How a backup holds its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackupKind {
    /// A copy of the SQLite file.
    Snapshot,
    /// One file of JSON lines per table, for any later version and either engine.
    Jsonl,
}

impl BackupKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Jsonl => "jsonl",
        }
    }
}

/// Why a backup was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackupReason {
    Requested,
    /// Before a newer version of the program changed the schema.
    Migration,
    /// What could still be read of a damaged database.
    Salvage,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub format: u32,
    pub kind: BackupKind,
    pub reason: BackupReason,
    pub backup_id: String,
    pub created_at: Timestamp,
    pub schema_version: i64,
    pub program_version: String,
    /// Set when only this workspace is in it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub workspace_id: Option<String>,
    /// The key of the erasure ledger's hashes. Equal keys mean the same database.
    pub ledger_key: String,
    /// Whether its database notes erasures in a ledger beside it. Backups of older versions, and those made before their
    /// schema was changed, have none.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub has_ledger: bool,
    /// Rows per table.
    pub tables: BTreeMap<String, i64>,
    pub files: Vec<ManifestFile>,
    /// Of all the rest of the manifest, in hexadecimal digits: files have theirs above. Earlier versions wrote none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub checksum: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestFile {
    pub name: String,
    pub bytes: u64,
    /// In hexadecimal digits.
    pub blake3: String,
}

impl Manifest {
    pub fn rows(&self) -> i64 {
        self.tables.values().sum()
    }

    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// A backup of nothing is no backup: it never counts when old ones are removed.
    pub fn is_empty(&self) -> bool {
        ["memories", "entities"].iter().all(|table| self.tables.get(*table).copied().unwrap_or(0) == 0)
    }

    /// With its checksum.
    pub(crate) fn sealed(self) -> Self {
        Self { checksum: Some(self.computed_checksum()), ..self }
    }

    fn computed_checksum(&self) -> String {
        let rest = Self { checksum: None, ..self.clone() };
        let json = serde_json::to_vec(&rest).expect("a manifest always serialises");
        blake3::hash(&json).to_hex().to_string()
    }

    /// Whether a folder has a manifest of ours, of this or another version, intact or not: other programs call files the
    /// same, but do not say the same in them.
    pub(crate) fn is_in(folder: &Path) -> bool {
        let path = folder.join(MANIFEST_FILE);
        let Ok(file) = std::fs::symlink_metadata(&path).and_then(|_| File::open(&path)) else { return false };
        let mut text = String::new();
        let read = file.take(MANIFEST_BYTES_MAX).read_to_string(&mut text);
        read.is_ok()
            && ["\"backup_id\"", "\"schema_version\"", "\"program_version\""].iter().all(|it| text.contains(it))
    }

    /// The manifest in a folder; or why it is none.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let path = folder.join(MANIFEST_FILE);
        let found = std::fs::symlink_metadata(&path).map_err(|error| format!("no manifest: {error}"))?;
        if !found.is_file() || found.len() > MANIFEST_BYTES_MAX {
            return Err("the manifest is not a small ordinary file".into());
        }
        let mut text = String::new();
        let file = File::open(&path).map_err(|error| format!("the manifest cannot be opened: {error}"))?;
        file.take(MANIFEST_BYTES_MAX)
            .read_to_string(&mut text)
            .map_err(|error| format!("the manifest cannot be read: {error}"))?;
        // The format first: a later one may have fields that nobody here knows.
        let any: serde_json::Value = serde_json::from_str(&text)
            .map_err(|error| format!("the manifest {}", rootset_model::json::fault(&error)))?;
        match any.get("format").and_then(serde_json::Value::as_u64) {
            Some(format) if format == u64::from(FORMAT) => {}
            Some(format) => return Err(format!("the manifest has format {format}, this program reads {FORMAT}")),
            None => return Err("the manifest has no `format`".into()),
        }
        let manifest: Self = serde_json::from_value(any).map_err(|error| misfit(&error))?;
        match &manifest.checksum {
            Some(checksum) if *checksum != manifest.computed_checksum() => {
                Err("the manifest was changed: its checksum is another".into())
            }
            _ => Ok(manifest),
        }
    }
}

/// Which field does not fit. The library's messages name it, and go on about Rust's types.
fn misfit(error: &serde_json::Error) -> String {
    const FIELD_CHARS_MAX: usize = 80;
    let message = error.to_string();
    let named = |beginning: &str| {
        let field = message.strip_prefix(beginning)?.split('`').next()?;
        Some(field.chars().take(FIELD_CHARS_MAX).collect::<String>())
    };
    match (named("unknown field `"), named("missing field `")) {
        (Some(unknown), _) => format!("the manifest has an unknown field `{unknown}`"),
        (None, Some(missing)) => format!("the manifest has no `{missing}`"),
        (None, None) => "a field of the manifest has the wrong type".to_owned(),
    }
}
