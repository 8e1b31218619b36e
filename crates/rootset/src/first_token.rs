//! The first token: made when a server starts and there is none, and left in a file that only its owner can read.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootset_http::{Access, Authority};
use rootset_service::{Caller, ErrorCode, FrontEnd, ServiceError};

use crate::session::Session;

const NAME: &str = "first";

pub fn access(session: &Session) -> Result<Access, ServiceError> {
    let configuration = session.configuration()?;
    let path = path(&configuration.database_path()?);
    let secret = match std::fs::read_to_string(&path) {
        Ok(secret) => secret.trim().to_owned(),
        Err(_) => {
            let secret = format!("rst_{}", tempfile_name()?);
            write(&path, &secret)?;
            session.output.talk(&format!("a first token, for everything, is in {}", path.display()));
            secret
        }
    };
    Ok(Access::Tokens(Arc::new(FileToken { secret, workspace: configuration.workspace.clone() })))
}

/// Beside the database, whose owner it belongs to.
fn path(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(".token");
    path.into()
}

fn write(path: &Path, secret: &str) -> Result<(), ServiceError> {
    let failed = |error: std::io::Error| {
        ServiceError::new(ErrorCode::Forbidden, format!("cannot write the token to `{}`: {error}", path.display()))
    };
    // In a file of its own first: its mode is 0600 from the start, and nobody sees half of it.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    writeln!(file, "{secret}").map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

fn tempfile_name() -> Result<String, ServiceError> {
    let mut bytes = [0; 32];
    let filled = std::fs::File::open("/dev/urandom").and_then(|mut it| std::io::Read::read_exact(&mut it, &mut bytes));
    filled.map_err(|error| ServiceError::new(ErrorCode::Internal, error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[derive(Debug)]
struct FileToken {
    secret: String,
    workspace: String,
}

impl Authority for FileToken {
    fn authenticate(&self, secret: &str) -> Result<Caller, ServiceError> {
        if secret == self.secret {
            Ok(Caller::new(FrontEnd::Http, NAME, &self.workspace))
        } else {
            Err(ServiceError::new(ErrorCode::Unauthorized, "the token is not known"))
        }
    }
}
