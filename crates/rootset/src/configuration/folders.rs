//! Where configuration and data live, by the XDG base directory specification.

use std::path::{Path, PathBuf};

use rootset_api::ErrorCode;
use rootset_service::ServiceError;
use rootset_store::platform::private_folder;

const FOLDER: &str = "rootset";
pub const CONFIGURATION_FILE: &str = "rootset.toml";
const DATABASE_FILE: &str = "rootset.db";
const MODELS_FOLDER: &str = "models";
/// What `embed.provider = "local"` means when no model is named.
pub const MODEL_DEFAULT: &str = "all-minilm-l6-v2";
/// As many as a file's name may have in most places, with room for what is added while it is fetched.
const MODEL_NAME_CHARS_MAX: usize = 64;

/// `None` without a home: there is then no such file.
pub fn user_configuration() -> Option<PathBuf> {
    Some(base("XDG_CONFIG_HOME", ".config")?.join(FOLDER).join(CONFIGURATION_FILE))
}

pub fn default_database() -> Result<PathBuf, ServiceError> {
    data_folder().map(|folder| folder.join(DATABASE_FILE)).ok_or_else(|| {
        ServiceError::invalid("there is no home folder for the database")
            .with_hint("name a database with `--db` or `ROOTSET_DB`")
    })
}

/// A file of ours that belongs to a database which is elsewhere. Its folder need not be there.
pub fn data_file(name: &str) -> Result<PathBuf, ServiceError> {
    let folder = data_folder().ok_or_else(|| {
        ServiceError::invalid(format!("there is no home folder for `{name}`"))
            .with_hint("set `XDG_DATA_HOME` to a folder that only you may read")
    })?;
    Ok(folder.join(name))
}

/// Where models are that `rootset model` knows by name.
pub fn models() -> Result<PathBuf, ServiceError> {
    data_file(MODELS_FOLDER)
}

/// The folder of one. A name is a name and leads nowhere else.
pub fn model(name: &str) -> Result<PathBuf, ServiceError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_name = name.len() <= MODEL_NAME_CHARS_MAX
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(is_plain);
    if !is_name {
        let shown: String = name.chars().take(MODEL_NAME_CHARS_MAX).collect();
        let message = format!("`{}` is not the name of a model", shown.escape_debug());
        return Err(ServiceError::invalid(message).with_hint(format!(
            "allowed: up to {MODEL_NAME_CHARS_MAX} of A-Z a-z 0-9 . _ -, beginning with a letter or digit; name a folder with \
             `embed.path`"
        )));
    }
    Ok(models()?.join(name))
}

fn data_folder() -> Option<PathBuf> {
    Some(base("XDG_DATA_HOME", ".local/share")?.join(FOLDER))
}

/// The specification says to ignore a variable that is not an absolute path.
fn base(variable: &str, below_home: &str) -> Option<PathBuf> {
    let given = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    given.or_else(|| std::env::home_dir().filter(|home| !home.as_os_str().is_empty()).map(|home| home.join(below_home)))
}

/// Memories are private: nobody else may look into the folder.
pub fn create_private(folder: &Path) -> Result<(), ServiceError> {
    private_folder().create(folder).map_err(|error| {
        ServiceError::new(ErrorCode::Forbidden, format!("cannot create the folder `{}`: {error}", folder.display()))
            .with_hint("name a database elsewhere with `--db`")
    })
}
