//! Reading, replacing and removing a file that belongs to another program.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

use rootset_api::ErrorCode;
use rootset_service::ServiceError;

use crate::input;

/// `None` when there is no such file.
pub fn read(path: &Path) -> Result<Option<String>, ServiceError> {
    match fs::metadata(path) {
        Ok(_) => input::read_file(path).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path, &error)),
    }
}

/// Writes the file in one step; other programs see the old or the new text.
pub fn replace(path: &Path, text: &str) -> Result<(), ServiceError> {
    let is_there = path.exists();
    // A link stays a link: people keep such files in a repository of their own.
    let target =
        if is_there { path.canonicalize().map_err(|error| failed("find", path, &error))? } else { path.into() };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| failed("create the folder of", path, &error))?;
    // Made for nobody but its owner, which is what a new file with paths of programs may well be.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|error| failed("write beside", path, &error))?;
    file.write_all(text.as_bytes()).map_err(|error| failed("write", path, &error))?;
    if is_there {
        let mode = fs::metadata(&target).map_err(|error| failed("read", path, &error))?.permissions();
        file.as_file().set_permissions(mode).map_err(|error| failed("write", path, &error))?;
    }
    file.as_file().sync_all().map_err(|error| failed("write", path, &error))?;
    file.persist(&target).map_err(|error| failed("replace", path, &error.error))?;
    Ok(())
}

/// No file is as good as a removed one.
pub fn remove(path: &Path) -> Result<(), ServiceError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("remove", path, &error)),
        _ => Ok(()),
    }
}

fn failed(what: &str, path: &Path, error: &std::io::Error) -> ServiceError {
    ServiceError::new(ErrorCode::Forbidden, format!("cannot {what} `{}`: {error}", path.display()))
        .with_hint("`--print` shows what belongs in it")
}
