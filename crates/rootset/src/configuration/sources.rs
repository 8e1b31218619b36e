//! Where settings come from, weakest first: your own file, a file in the working folder, the environment, flags.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use figment::providers::{Format, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Metadata, Profile, Provider};
use rootset_service::ServiceError;

use super::AUTOMATIC_WORKSPACE;
use super::folders::{self, CONFIGURATION_FILE};
use super::keys::{self, Kind};
use crate::arguments::GlobalArguments;
use crate::input;
use crate::logging::LEVEL_VARIABLE;

const PREFIX: &str = "ROOTSET_";
const CONFIGURATION_VARIABLE: &str = "ROOTSET_CONFIG";
/// Settings of the tests, see CONTRIBUTING.md: whoever runs the program below `scripts/postgres` has them.
const TEST_PREFIX: &str = "ROOTSET_TEST_";

/// The settings of one source.
#[derive(Debug)]
pub struct Layer {
    pub kind: SourceKind,
    /// In words, as shown in errors and by `config show`.
    pub origin: String,
    pub values: Dict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    File,
    WorkingFolder,
    Environment,
    Flags,
}

impl SourceKind {
    /// How a key is spelt there.
    pub fn key_as_written(self, key: &str) -> String {
        match self {
            Self::Environment => variable(key),
            _ => key.to_owned(),
        }
    }
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.origin.clone())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Profile::Default.collect(self.values.clone()))
    }
}

/// The environment variable of a key.
pub fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "__").to_uppercase())
}

pub fn layers(global: &GlobalArguments) -> Result<Vec<Layer>, ServiceError> {
    let mut layers = Vec::new();
    let own = own_file(global)?;
    if let Some(path) = &own {
        layers.push(file(path, SourceKind::File)?);
    }
    let beside = PathBuf::from(CONFIGURATION_FILE);
    if beside.is_file() && !own.as_deref().is_some_and(|own| is_same_file(own, &beside)) {
        layers.push(file(&beside, SourceKind::WorkingFolder)?);
    }
    layers.extend(environment(&layers)?);
    layers.extend(flags(global));
    Ok(layers)
}

/// A file that was named must exist, the one in the configuration folder need not.
fn own_file(global: &GlobalArguments) -> Result<Option<PathBuf>, ServiceError> {
    let from_variable = std::env::var_os(CONFIGURATION_VARIABLE).filter(|value| !value.is_empty());
    let named = match (&global.config, from_variable) {
        (Some(path), _) => Some((PathBuf::from(path), "`--config`")),
        (None, Some(path)) => Some((path.into(), "`ROOTSET_CONFIG`")),
        (None, None) => None,
    };
    match named {
        // A pipe of the shell (`--config <(...)`) is as good as a file.
        Some((path, by)) if !path.exists() || path.is_dir() => {
            Err(ServiceError::invalid(format!("{by} names `{}`, which is not a file", path.display())))
        }
        Some((path, _)) => Ok(Some(path)),
        None => Ok(folders::user_configuration().filter(|path| path.exists())),
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn file(path: &Path, kind: SourceKind) -> Result<Layer, ServiceError> {
    text_of_file(path, &input::read_file(path)?, kind)
}

/// What a file at this path says, if this is its text.
pub fn text_of_file(path: &Path, text: &str, kind: SourceKind) -> Result<Layer, ServiceError> {
    let origin = match kind {
        SourceKind::WorkingFolder => format!("`{}` in the working folder", path.display()),
        _ => format!("`{}`", path.display()),
    };
    let parsed = Toml::string(text).data().map_err(|error| {
        let error = without_urls(error.to_string().trim());
        ServiceError::invalid(format!("{origin} is not TOML: {}", error.replace('\n', "\n  ")))
    })?;
    let mut values = parsed.into_values().next().unwrap_or_default();
    if let Some(folder) = path.parent() {
        anchor(&mut values, folder);
    }
    Ok(Layer { kind, origin, values })
}

/// The error shows the line it is about, and the line of a database may hold a password.
fn without_urls(error: &str) -> String {
    let line = |line: &str| line.split_once("://").map_or(line.to_owned(), |(before, _)| format!("{before}://…"));
    error.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A relative path in a file means the same wherever the command runs: it starts at the file's folder.
fn anchor(values: &mut Dict, folder: &Path) {
    let anchored = |text: &str| folder.join(text).to_string_lossy().into_owned();
    if let Some(Value::String(_, db)) = values.get_mut("db")
        && !db.contains(':')
        && !db.trim().is_empty()
    {
        *db = anchored(db);
    }
    for (section, key) in [("embed", "path"), ("backup", "dir"), ("events", "file")] {
        if let Some(Value::Dict(_, section)) = values.get_mut(section)
            && let Some(Value::String(_, path)) = section.get_mut(key)
            && !path.trim().is_empty()
        {
            *path = anchored(path);
        }
    }
}

/// Variables of the prefix, one layer each so that an error can name it. An empty variable is one that is not set.
fn environment(files: &[Layer]) -> Result<Vec<Layer>, ServiceError> {
    let mut given: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in std::env::vars_os() {
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else { continue };
        let is_setting = ![CONFIGURATION_VARIABLE, LEVEL_VARIABLE].contains(&name) && !name.starts_with(TEST_PREFIX);
        if !is_setting || value.is_empty() {
            continue;
        }
        let value = value
            .into_string()
            .map_err(|_| ServiceError::invalid(format!("the variable `{name}` is not UTF-8 text")))?;
        given.insert(name.to_owned(), value);
    }
    // A secret may live under our prefix too; its value is nobody's business here.
    let secrets = secret_variables(files, &given);
    given.retain(|name, _| !secrets.contains(name));
    Ok(given.into_iter().map(|(name, text)| variable_layer(&name, &text)).collect())
}

fn secret_variables(files: &[Layer], given: &BTreeMap<String, String>) -> Vec<String> {
    let mut names = Vec::new();
    for key in keys::all().filter(|key| key.kind == Kind::Variable) {
        names.extend(given.get(&variable(key.path)).cloned());
        for layer in files {
            let found = Value::from(layer.values.clone()).find(key.path);
            names.extend(found.and_then(Value::into_string));
        }
    }
    names
}

fn variable_layer(name: &str, text: &str) -> Layer {
    let path = name[PREFIX.len()..].to_lowercase().replace("__", ".");
    let value = match keys::find(&path).map(|key| key.kind) {
        Some(kind) => typed(kind, text),
        None => text.into(),
    };
    let values = figment::util::nest(&path, value).into_dict().unwrap_or_default();
    Layer { kind: SourceKind::Environment, origin: format!("the variable `{name}`"), values }
}

/// A variable is text; what does not read as its key's type stays text, and the check refuses it with its name.
fn typed(kind: Kind, text: &str) -> Value {
    let text = text.trim();
    match kind {
        Kind::Switch => text.parse::<bool>().map_or_else(|_| text.into(), Into::into),
        Kind::Retention => match (text.parse::<i64>(), text.parse::<f64>(), text.parse::<bool>()) {
            (Ok(whole), ..) => whole.into(),
            (_, Ok(number), _) if number.is_finite() => number.into(),
            (.., Ok(flag)) => flag.into(),
            _ => text.into(),
        },
        Kind::Count { .. } => text.parse::<i64>().map_or_else(|_| text.into(), Into::into),
        Kind::Number { .. } => text.parse::<f64>().map_or_else(|_| text.into(), Into::into),
        Kind::TextList | Kind::Hosts | Kind::Strategies => {
            text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect::<Vec<_>>().into()
        }
        _ => text.into(),
    }
}

fn flags(global: &GlobalArguments) -> Vec<Layer> {
    [("db", &global.db), ("workspace", &global.workspace)]
        .into_iter()
        .filter_map(|(key, value)| {
            // `auto` names nothing: a workspace in the person's own configuration still counts.
            let is_named = *key != *"workspace" || value.as_deref() != Some(AUTOMATIC_WORKSPACE);
            let value: Value = value.clone().filter(|_| is_named)?.into();
            let values = Dict::from([(key.to_owned(), value)]);
            Some(Layer { kind: SourceKind::Flags, origin: format!("the flag `--{key}`"), values })
        })
        .collect()
}
