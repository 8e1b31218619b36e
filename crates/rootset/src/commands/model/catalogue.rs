//! Models that `rootset model get` knows: where each is, what it may be used for, and what its files must be to the byte.
//! A manifest of the user's own says the same of one model.

use std::path::Path;

use rootset_model::json;
use rootset_provider::MODEL_FILES;
use rootset_service::ServiceError;
use serde::Deserialize;

use crate::configuration;

const CATALOGUE: &str = include_str!("catalogue.json");
/// A manifest is a page of text.
const MANIFEST_BYTES_MAX: u64 = 64 << 10;
/// As much as Rootset reads of a model's weights.
const FILE_BYTES_MAX: u64 = 2 << 30;

/// A model at a fixed revision: whatever happens there later, it stays this one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownModel {
    pub name: String,
    /// For people; one line.
    pub about: String,
    pub licence: String,
    /// Below the hub's address.
    pub place: String,
    pub files: Vec<KnownFile>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownFile {
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
}

impl KnownModel {
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// What could lead out of the folder, or fill a disk, is refused before anything is asked for.
    fn check(&self) -> Result<(), String> {
        configuration::model(&self.name).map_err(|error| error.0.message)?;
        if self.place.split('/').any(|part| part.is_empty() || part == "..") || self.place.contains(['?', '#', '\\']) {
            return Err("`place` must be a path below the hub's address, such as `owner/model/resolve/main`".to_owned());
        }
        for file in &self.files {
            let is_checksum = file.sha256.len() == 64 && file.sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
            if !MODEL_FILES.contains(&file.name.as_str()) {
                return Err(format!("`files` names `{}`; allowed: `{}`", file.name, MODEL_FILES.join("`, `")));
            }
            if !is_checksum || file.sha256.bytes().any(|byte| byte.is_ascii_uppercase()) {
                return Err(format!("`sha256` of `{}` must be 64 digits in lower-case hex", file.name));
            }
            if file.bytes == 0 || file.bytes > FILE_BYTES_MAX {
                return Err(format!("`bytes` of `{}` must be 1 to {FILE_BYTES_MAX}", file.name));
            }
        }
        Ok(())
    }
}

pub fn known() -> Vec<KnownModel> {
    serde_json::from_str(CATALOGUE).expect("a catalogue of our own, which a test reads")
}

pub fn find(name: &str) -> Result<KnownModel, ServiceError> {
    let known = known();
    let names: Vec<String> = known.iter().map(|model| format!("`{}`", model.name)).collect();
    known.into_iter().find(|model| model.name == name).ok_or_else(|| {
        ServiceError::invalid(format!("no known model is called `{}`", name.escape_debug())).with_hint(format!(
            "known: {}; for another one, `rootset model add FOLDER` takes its files, and `--manifest FILE` says where they are",
            names.join(", ")
        ))
    })
}

/// A model that the user describes.
pub fn from_manifest(path: &Path) -> Result<KnownModel, ServiceError> {
    let about = |problem: String| ServiceError::invalid(format!("`{}`: {problem}", path.display()));
    let bytes = std::fs::metadata(path).map_err(|error| about(error.to_string()))?.len();
    if bytes > MANIFEST_BYTES_MAX {
        return Err(about(format!("has {bytes} bytes, the limit is {MANIFEST_BYTES_MAX}")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| about(error.to_string()))?;
    let model: KnownModel =
        serde_json::from_str(&text).map_err(|error| about(format!("it {}", json::fault(&error))))?;
    model.check().map_err(about)?;
    Ok(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_holds_the_rules_of_a_manifest() {
        for model in known() {
            assert_eq!(model.check(), Ok(()), "{}", model.name);
            assert_eq!(find(&model.name).map(|found| found.place), Ok(model.place));
        }
    }
}
