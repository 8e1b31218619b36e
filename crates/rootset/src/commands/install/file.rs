//! Reading and replacing a file that belongs to another program.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use rootset_api::ErrorCode;
use rootset_service::ServiceError;

use crate::input;

/// What the copy of the earlier text is called, behind the file's own name.
const BACKUP_ENDING: &str = "before-rootset";

/// `None` when there is no such file.
pub fn read(path: &Path) -> Result<Option<String>, ServiceError> {
    match fs::metadata(path) {
        Ok(_) => input::read_file(path).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path, &error)),
    }
}

/// Replaces the file in one step; whoever reads it meanwhile sees the old or the new text. Answers where the old one is
/// kept.
pub fn replace(path: &Path, is_there: bool, text: &str) -> Result<Option<PathBuf>, ServiceError> {
    // A link stays a link: people keep such files in a repository of their own.
    let target =
        if is_there { path.canonicalize().map_err(|error| failed("find", path, &error))? } else { path.into() };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| failed("create the folder of", path, &error))?;
    // Made for nobody but its owner, which is what a new file with paths of programs may well be.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|error| failed("write beside", path, &error))?;
    file.write_all(text.as_bytes()).map_err(|error| failed("write", path, &error))?;
    let mut backup = None;
    if is_there {
        let mode = fs::metadata(&target).map_err(|error| failed("read", path, &error))?.permissions();
        file.as_file().set_permissions(mode).map_err(|error| failed("write", path, &error))?;
        backup = Some(keep(&target).map_err(|error| failed("keep a copy of", path, &error))?);
    }
    file.as_file().sync_all().map_err(|error| failed("write", path, &error))?;
    file.persist(&target).map_err(|error| failed("replace", path, &error.error))?;
    Ok(backup)
}

/// A copy with the same mode.
fn keep(path: &Path) -> std::io::Result<PathBuf> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{BACKUP_ENDING}"));
    let backup = PathBuf::from(name);
    // Not written through: a link under that name is somebody's, and not ours to follow.
    match fs::remove_file(&backup) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::copy(path, &backup)?;
    Ok(backup)
}

fn failed(what: &str, path: &Path, error: &std::io::Error) -> ServiceError {
    ServiceError::new(ErrorCode::Forbidden, format!("cannot {what} `{}`: {error}", path.display()))
        .with_hint("`--print` shows what belongs in it")
}
