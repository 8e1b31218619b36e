//! The file of a signed receipt. It is begun before anything is erased, so that a folder nobody can write to is noticed
//! while there is still a choice, and gets its name when the receipt is whole.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use rootset_api::{ErrorCode, ReceiptAnswer};
use rootset_service::ServiceError;
use tempfile::NamedTempFile;

use crate::configuration::Configuration;

/// Beside the database, as its backups are.
const BESIDE_DATABASE: &str = ".receipts";
/// Within the folder of backups, where the database is on a server.
const IN_BACKUPS: &str = "receipts";

#[derive(Debug)]
pub struct ReceiptFile {
    begun: NamedTempFile,
    folder: PathBuf,
    /// `None`: a name of its own in the folder.
    name: Option<PathBuf>,
}

impl ReceiptFile {
    /// `None` where nobody named a file and there is no folder for receipts.
    pub fn begin(given: Option<&Path>, configuration: &Configuration) -> Result<Option<Self>, ServiceError> {
        let (folder, name) = match given {
            Some(path) => (parent(path), Some(path.to_owned())),
            None => match default_folder(configuration)? {
                Some(folder) => (folder, None),
                None => return Ok(None),
            },
        };
        if let Some(path) = name.as_ref().filter(|path| fs::symlink_metadata(path).is_ok()) {
            return Err(ServiceError::conflict(format!("`{}` exists already", path.display()))
                .with_hint("name a new file for the receipt; nothing was erased"));
        }
        let cannot = |error: std::io::Error| {
            ServiceError::invalid(format!("no receipt can be written in `{}`: {error}", folder.display()))
                .with_hint("name another file with `--receipt`; nothing was erased")
        };
        if name.is_none() {
            rootset_store::platform::private_folder().create(&folder).map_err(cannot)?;
        }
        let begun = tempfile::Builder::new().prefix(".receipt-").tempfile_in(&folder).map_err(cannot)?;
        Ok(Some(Self { begun, folder, name }))
    }

    /// Writes the receipt and answers where; `None` where there is none to write.
    pub fn finish(mut self, receipt: Option<&ReceiptAnswer>) -> Result<Option<PathBuf>, ServiceError> {
        let Some((receipt, signed)) = receipt.and_then(|it| Some((it, it.signed.as_ref()?))) else { return Ok(None) };
        let path = self.name.unwrap_or_else(|| self.folder.join(format!("{}.json", receipt.erasure_id)));
        let cannot = |error: std::io::Error| {
            let message = format!("the erasure is done, but its receipt could not be written to `{}`", path.display());
            ServiceError::new(ErrorCode::Internal, format!("{message}: {error}"))
                .with_hint("apply the plan again with another `--receipt`; nothing is erased twice")
        };
        self.begun.write_all(signed.as_bytes()).and_then(|()| self.begun.as_file().sync_all()).map_err(cannot)?;
        self.begun.persist(&path).map_err(|error| cannot(error.error))?;
        rootset_store::platform::sync_folder(&self.folder).map_err(cannot)?;
        Ok(Some(path))
    }
}

fn parent(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

/// `<database>.receipts`; of a database on a server, `receipts` in the folder of backups.
fn default_folder(configuration: &Configuration) -> Result<Option<PathBuf>, ServiceError> {
    if let Some(path) = configuration.location()?.path() {
        let mut folder = path.as_os_str().to_owned();
        folder.push(BESIDE_DATABASE);
        return Ok(Some(folder.into()));
    }
    Ok(configuration.backup_folder()?.map(|folder| folder.join(IN_BACKUPS)))
}
