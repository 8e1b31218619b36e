//! Settings: files, then the environment, then flags, merged and checked against one table of keys.
//!
//! Nothing is guessed: an unknown key, a wrong type or a value out of range is an error that names key, value, origin and
//! what is allowed.

mod check;
mod collector;
mod events;
mod example;
mod folders;
mod keys;
mod postgres;
mod retention;
#[cfg(feature = "http")]
mod server;
mod sources;

use std::path::{Path, PathBuf};

use figment::Figment;
use figment::value::{Dict, Value};
use rootset_model::Limits;
use rootset_model::time::parse_duration_ms;
use rootset_provider::{EndpointSettings, Secret, TOTAL_TIMEOUT_MS_DEFAULT};
use rootset_service::{
    BackupSettings, CodeSettings, ContextChange, ContextSettings, SecretPolicy, SecretSettings, ServiceError, Settings,
};
use rootset_store::{Location, PostgresSettings, default_backup_folder};

use crate::arguments::GlobalArguments;

pub use events::EventConfiguration;
pub use example::example;
#[cfg(feature = "local-model")]
pub use folders::{MODEL_DEFAULT, models};
pub use folders::{create_private, data_file, model};
#[cfg(feature = "http")]
pub use server::ServerConfiguration;
use sources::{Layer, SourceKind};

/// Where most sentence transformers are published.
#[cfg(feature = "local-model")]
const MODEL_HUB: &str = "https://huggingface.co";

/// In place of a workspace: the one that is decided where nobody names any.
pub const AUTOMATIC_WORKSPACE: &str = "auto";

/// What is in force.
#[derive(Debug)]
pub struct Configuration {
    pub database: Database,
    pub postgres: PostgresSettings,
    /// The workspace that the person names; `None`: it is that of the project around the working folder.
    pub workspace: Option<String>,
    pub settings: Settings,
    pub events: EventConfiguration,
    /// Patterns of folders in which hooks do nothing.
    pub hooks_exclude: Vec<String>,
    #[cfg(feature = "http")]
    pub server: ServerConfiguration,
    pub extract: ExtractModel,
    pub embed: EmbedModel,
    #[cfg(feature = "local-model")]
    pub model_hub: String,
    /// Every key as it is shown to people.
    pub shown: Vec<ShownSetting>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Database {
    /// In the data folder, which is made when it is missing.
    Default,
    /// The folder of a file must exist: a typing error must not make a new, empty memory.
    Named(Location),
}

impl Database {
    fn is_on_server(&self) -> bool {
        matches!(self, Self::Named(Location::Postgres(_)))
    }
}

#[derive(Debug)]
pub enum ExtractModel {
    Builtin,
    OpenAi(EndpointSettings),
}

#[derive(Debug)]
pub enum EmbedModel {
    None,
    OpenAi(EndpointSettings),
    Static(PathBuf),
    /// The folder of a sentence transformer.
    Local(PathBuf),
}

#[derive(Debug)]
pub struct ShownSetting {
    pub key: String,
    /// `null` when it is not set and has no default.
    #[expect(clippy::disallowed_types, reason = "settings have values of any type")]
    pub value: serde_json::Value,
    pub origin: String,
}

impl Configuration {
    pub fn load(global: &GlobalArguments) -> Result<Self, ServiceError> {
        Self::of_layers(sources::layers(global)?)
    }

    /// What one file with this text would set, if there were nothing else.
    pub fn of_text(text: &str) -> Result<Self, ServiceError> {
        let path = Path::new(folders::CONFIGURATION_FILE);
        Self::of_layers(vec![sources::text_of_file(path, text, SourceKind::File)?])
    }

    fn of_layers(layers: Vec<Layer>) -> Result<Self, ServiceError> {
        let mut figment = Figment::new();
        for mut layer in layers {
            check::layer(&layer)?;
            // A project's own file names its workspace only where a person allowed it: see `projects.rs` of the service.
            if layer.kind == SourceKind::WorkingFolder {
                layer.values.remove("workspace");
            }
            figment = figment.merge(layer);
        }
        Reader { figment }.read()
    }

    /// Where the database is, with its folder made when it is ours to make.
    pub fn location(&self) -> Result<Location, ServiceError> {
        match &self.database {
            Database::Named(location) => Ok(location.clone()),
            Database::Default => {
                let path = folders::default_database()?;
                folders::create_private(path.parent().unwrap_or(&path))?;
                Ok(path.into())
            }
        }
    }

    /// Where backups are, also when the database cannot be opened; `None` where nobody named a folder and the database
    /// is no file that one could lie beside.
    pub fn backup_folder(&self) -> Result<Option<PathBuf>, ServiceError> {
        match &self.settings.backup.folder {
            Some(folder) => Ok(Some(folder.clone())),
            None => Ok(self.location()?.path().map(default_backup_folder)),
        }
    }
}

/// Checked values by key, turned into the types that use them.
struct Reader {
    figment: Figment,
}

impl Reader {
    fn read(&self) -> Result<Configuration, ServiceError> {
        let defaults = Settings::default();
        let database = match self.text("db") {
            Some(db) => Database::Named(check::location(&db)?),
            None => Database::Default,
        };
        let settings = Settings {
            limits: Limits {
                plan_fraction_max: self.number("limits.plan_fraction_max").unwrap_or(defaults.limits.plan_fraction_max),
                plan_count_free: self.count("limits.plan_count_free").unwrap_or(defaults.limits.plan_count_free),
            },
            grace_ms: self.duration_ms("gc.grace", defaults.grace_ms)?,
            keep_revisions: self.count("memory.keep_revisions").unwrap_or(defaults.keep_revisions),
            untrusted_sources: self.texts("memory.untrusted_sources").unwrap_or_default().into_iter().collect(),
            secrets: SecretSettings {
                policy: self
                    .text("memory.secrets")
                    .and_then(|word| SecretPolicy::from_word(&word))
                    .unwrap_or(defaults.secrets.policy),
                personal_data: self.switch("memory.personal_data").unwrap_or(defaults.secrets.personal_data),
            },
            gc: self.collector(&defaults.gc)?,
            backup: self.backup(&defaults.backup, database.is_on_server())?,
            code: self.code(&defaults.code)?,
            context: self.context(&defaults.context)?,
            birth: self.word("context.birth").unwrap_or_default(),
            ..defaults
        };
        Ok(Configuration {
            postgres: self.postgres()?,
            workspace: self.text("workspace").filter(|name| name != AUTOMATIC_WORKSPACE),
            settings,
            events: self.events()?,
            hooks_exclude: self.texts("hooks.exclude").unwrap_or_default(),
            #[cfg(feature = "http")]
            server: self.server()?,
            extract: match self.text("extract.provider").as_deref() {
                Some("openai") => ExtractModel::OpenAi(self.endpoint("extract")?),
                _ => ExtractModel::Builtin,
            },
            embed: match self.text("embed.provider").as_deref() {
                Some("openai") => EmbedModel::OpenAi(self.endpoint("embed")?),
                Some("static") => EmbedModel::Static(self.needed("embed.provider", "static", "embed.path")?.into()),
                Some("local") => EmbedModel::Local(self.local_model()?),
                _ => EmbedModel::None,
            },
            #[cfg(feature = "local-model")]
            model_hub: self.text("models.hub").unwrap_or_else(|| MODEL_HUB.to_owned()),
            shown: self.all_shown(&database),
            database,
        })
    }

    /// A database server has backups of its own: Rootset makes its own there only on request.
    fn backup(&self, defaults: &BackupSettings, is_on_server: bool) -> Result<BackupSettings, ServiceError> {
        let interval_ms = match self.text("backup.interval").as_deref() {
            None if is_on_server => None,
            None => defaults.interval_ms,
            Some(check::OFF) => None,
            Some(_) => Some(self.duration_ms("backup.interval", 0)?),
        };
        let folder = self.text("backup.dir");
        if is_on_server && interval_ms.is_some() && folder.is_none() {
            let message = "`backup.interval` is set and the database is on a server, which needs `backup.dir`";
            return Err(ServiceError::invalid(message).with_hint("set a folder, or set the interval to `off`"));
        }
        Ok(BackupSettings {
            folder: folder.map(Into::into),
            interval_ms,
            keep_last: self.count("backup.keep_last").unwrap_or(defaults.keep_last),
            max_age_ms: self.duration_ms("backup.max_age", defaults.max_age_ms)?,
        })
    }

    fn code(&self, defaults: &CodeSettings) -> Result<CodeSettings, ServiceError> {
        Ok(CodeSettings {
            roots: self.folders("code.roots"),
            workspace_roots: collector::meant_workspaces(
                self.names("code.workspaces")
                    .into_iter()
                    .filter_map(|name| Some((self.folders(&format!("code.workspaces.{name}.roots"))?, name)))
                    .map(|(roots, name)| (name, roots))
                    .collect(),
            ),
            exclude: self.texts("code.exclude").unwrap_or_default(),
            max_file_size: self.count("code.max_file_size").map_or(defaults.max_file_size, i64::unsigned_abs),
            freshen_ms: self.count("code.freshen_ms").map_or(defaults.freshen_ms, i64::unsigned_abs),
            stale_kept_ms: self.duration_ms("code.stale_kept", defaults.stale_kept_ms)?,
        })
    }

    fn context(&self, defaults: &ContextSettings) -> Result<ContextSettings, ServiceError> {
        let duration = |key: &str| self.text(key).map(serde_json::Value::String);
        let change = ContextChange {
            budget_tokens: self.count("context.budget_tokens"),
            reserved_tokens: self.count("context.reserved_tokens"),
            soft_percent: self.number("context.soft_percent"),
            target_percent: self.number("context.target_percent"),
            hard_percent: self.number("context.hard_percent"),
            min_free_percent: self.number("context.min_free_percent"),
            mode: self.word("context.mode"),
            recent_segments: self.count("context.recent_segments"),
            decision_window: duration("context.decision_window"),
            tokenizer: self.word("context.tokenizer"),
            ..ContextChange::default()
        };
        let settings = change.applied_to(defaults).map_err(|mut error| {
            error.message = format!("section `context`: {}", error.message);
            error
        })?;
        let stash_retention_ms = self.duration_ms("context.stash_retention", settings.stash_retention_ms)?;
        Ok(ContextSettings { stash_retention_ms, ..settings })
    }

    /// A value that was checked to be one of a list of words.
    fn word<T: serde::de::DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_value(serde_json::Value::String(self.text(key)?)).ok()
    }

    fn endpoint(&self, section: &str) -> Result<EndpointSettings, ServiceError> {
        let provider = format!("{section}.provider");
        let base_url = self.needed(&provider, "openai", &format!("{section}.base_url"))?;
        let model = self.needed(&provider, "openai", &format!("{section}.model"))?;
        let mut settings = EndpointSettings::new(base_url, model);
        if let Some(text) = self.text(&format!("{section}.timeout")) {
            let timeout_ms = parse_duration_ms(&text)
                .map_err(|error| ServiceError::invalid(format!("`{section}.timeout`: {error}")))?;
            settings.timeout_ms = timeout_ms.unsigned_abs();
            settings.total_timeout_ms = TOTAL_TIMEOUT_MS_DEFAULT.max(settings.timeout_ms);
        }
        match self.text(&format!("{section}.api_key_env")) {
            Some(variable) => {
                let or_else = format!("remove `{section}.api_key_env` if the endpoint needs no key");
                Ok(settings.with_api_key(secret(&format!("{section}.api_key_env"), &variable, &or_else)?))
            }
            None => Ok(settings),
        }
    }

    /// The folder that was named, or that of a model which `rootset model` put below the data folder.
    fn local_model(&self) -> Result<PathBuf, ServiceError> {
        match (self.text("embed.path"), self.text("embed.model")) {
            (Some(path), _) => Ok(path.into()),
            (None, Some(name)) => folders::model(&name),
            (None, None) => folders::model(folders::MODEL_DEFAULT),
        }
    }

    /// A key that another key's value makes necessary.
    fn needed(&self, because: &str, value: &str, key: &str) -> Result<String, ServiceError> {
        self.text(key).ok_or_else(|| {
            ServiceError::invalid(format!("`{because}` is `{value}`, which needs `{key}`"))
                .with_hint(format!("set it in the configuration file or as `{}`", sources::variable(key)))
        })
    }

    /// Every key there is, and those of workspaces and classes that have any.
    fn all_shown(&self, database: &Database) -> Vec<ShownSetting> {
        let mut shown = Vec::new();
        for key in keys::all() {
            let Some(section) = key.named_section() else {
                shown.push(self.shown(key, key.path.to_owned(), database));
                continue;
            };
            let paths = self.names(section).into_iter().map(|name| key.path_of(&name));
            shown.extend(paths.filter(|path| self.value(path).is_some()).map(|path| self.shown(key, path, database)));
        }
        shown
    }

    fn shown(&self, key: &'static keys::Key, path: String, database: &Database) -> ShownSetting {
        let found = self.value(&path);
        let origin = found.as_ref().map_or("default", |value| {
            self.figment.get_metadata(value.tag()).map_or("default", |metadata| metadata.name.as_ref())
        });
        let value = match (&found, key.path, database) {
            (Some(_), "db", Database::Named(Location::Postgres(url))) => url.to_string().into(),
            (Some(value), ..) => check::as_json(value),
            (None, "db", _) => folders::default_database()
                .map_or(serde_json::Value::Null, |path| serde_json::Value::String(path.display().to_string())),
            (None, "backup.interval", _) if database.is_on_server() => check::OFF.into(),
            (None, ..) => key.default_value(),
        };
        ShownSetting { key: path, value, origin: origin.to_owned() }
    }

    fn value(&self, key: &str) -> Option<Value> {
        self.figment.find_value(key).ok()
    }

    fn text(&self, key: &str) -> Option<String> {
        match self.value(key)? {
            Value::String(_, text) => Some(text),
            // Durations may be milliseconds.
            Value::Num(_, number) => number.to_i128().map(|number| number.to_string()),
            _ => None,
        }
    }

    fn texts(&self, key: &str) -> Option<Vec<String>> {
        let items = self.value(key)?.into_array()?;
        Some(items.into_iter().filter_map(|item| item.into_string()).collect())
    }

    fn folders(&self, key: &str) -> Option<Vec<PathBuf>> {
        Some(self.texts(key)?.into_iter().map(Into::into).collect())
    }

    fn table(&self, section: &str) -> Option<Dict> {
        self.value(section)?.into_dict()
    }

    fn switch(&self, key: &str) -> Option<bool> {
        self.value(key)?.to_bool()
    }

    fn duration_ms(&self, key: &str, default: i64) -> Result<i64, ServiceError> {
        match self.text(key) {
            Some(text) => parse_duration_ms(&text).map_err(|error| ServiceError::invalid(format!("`{key}`: {error}"))),
            None => Ok(default),
        }
    }

    fn number(&self, key: &str) -> Option<f64> {
        check::number(&self.value(key)?)
    }

    fn count(&self, key: &str) -> Option<i64> {
        check::count(&self.value(key)?)
    }
}

/// Secrets come from the environment only: files are copied, committed and shown.
fn secret(key: &str, variable: &str, or_else: &str) -> Result<Secret, ServiceError> {
    let missing = |problem: &str| {
        ServiceError::invalid(format!("`{key}` names `{variable}`, which {problem}"))
            .with_hint(format!("export `{variable}`, or {or_else}"))
    };
    match std::env::var(variable) {
        Ok(text) if text.trim().is_empty() => Err(missing("is empty")),
        Ok(text) => Ok(Secret::new(text)),
        Err(std::env::VarError::NotPresent) => Err(missing("is not set")),
        Err(std::env::VarError::NotUnicode(_)) => Err(missing("is not UTF-8 text")),
    }
}
