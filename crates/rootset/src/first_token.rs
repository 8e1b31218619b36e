//! The first token: made when a server starts and there is none, and left in a file that only its owner can read.

use std::io::Write;
use std::path::{Path, PathBuf};

use rootset_api::{CreateToken, Effect, ErrorCode, RevokeToken};
use rootset_service::{Caller, FrontEnd, ServiceError};
use rootset_store::Location;

use crate::configuration::{create_private, data_file};
use crate::program::Program;

/// Its name, and so the actor of what is done with it.
const NAME: &str = "first";

/// Makes the first token if there is none that would be let in.
pub fn ensure(program: &Program) -> Result<(), ServiceError> {
    let service = program.service()?;
    if service.has_tokens()? {
        return Ok(());
    }
    let path = path(&program.configuration()?.location()?)?;
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), create_private)?;
    let caller = Caller::new(FrontEnd::CommandLine, "cli", "default");
    let request = CreateToken {
        name: NAME.to_owned(),
        scopes: Effect::ALL.into(),
        workspaces: ["*".to_owned()].into(),
        expires_at: None,
    };
    let created = match service.run(&caller, request) {
        Ok(created) => created,
        // Another server starts at the same time, and its token is as good.
        Err(error) if error.code == ErrorCode::Conflict && service.has_tokens()? => return Ok(()),
        Err(error) => return Err(error),
    };
    if let Err(error) = write(&path, &created.token) {
        // A token that nobody has would keep the next start from making one.
        service.run(&caller, RevokeToken { token_id: Some(created.token_id), name: None })?;
        return Err(error);
    }
    program.output.talk(&format!("the first token, with all rights, is in {}", path.display()));
    Ok(())
}

/// Beside the database, whose owner it belongs to. Beside a server there is nothing: there it is in our data folder,
/// under the name of host and database.
pub fn path(database: &Location) -> Result<PathBuf, ServiceError> {
    match database {
        Location::File(path) => {
            let mut path = path.as_os_str().to_owned();
            path.push(".token");
            Ok(path.into())
        }
        Location::Postgres(url) => data_file(&format!("{}.token", url.file_stem())),
    }
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
