//! The first token: made when a server starts and there is none, and left in a file that only its owner can read. A server
//! that runs on renews it, so that it does not end under whoever reads that file.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootset_api::{CreateToken, Effect, ErrorCode, RevokeToken, RotateToken};
use rootset_model::DurationMs;
use rootset_model::names::HOME_WORKSPACE;
use rootset_service::{Caller, FrontEnd, Service, ServiceError};
use rootset_store::Location;

use crate::configuration::{create_private, data_file};
use crate::program::{Program, user_name};

/// Its name, and so the actor of what is done with it.
const NAME: &str = "first";
const DAY_MS: i64 = 24 * 3_600_000;
/// It is renewed when it would be accepted for less than this.
const RENEWED_BELOW_MS: i64 = 30 * DAY_MS;
/// Long enough that a program which has read the old secret reads the file again.
const OVERLAP_MS: i64 = DAY_MS;
/// More than a secret has.
const FILE_BYTES_MAX: u64 = 1_024;

/// Makes the first token if there is none that would be let in.
pub fn ensure(program: &Program) -> Result<(), ServiceError> {
    let service = program.service()?;
    if service.has_tokens()? {
        return Ok(());
    }
    let path = path(&program.configuration()?.location()?)?;
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), create_private)?;
    let caller = Caller::new(FrontEnd::CommandLine, "cli", HOME_WORKSPACE);
    let request = CreateToken {
        name: NAME.to_owned(),
        scopes: Effect::ALL.into(),
        workspaces: ["*".to_owned()].into(),
        // Its holder is the user of this machine, personal memory included.
        owner: user_name(),
        ..CreateToken::default()
    };
    let created = match service.run(&caller, request) {
        Ok(created) => created,
        // Another server starts at the same time, and its token is as good.
        Err(error) if is_overtaken(&error) && service.has_tokens()? => return Ok(()),
        Err(error) => return Err(error),
    };
    service.act_with(&created.token);
    if let Err(error) = write(&path, &created.token) {
        // A token that nobody has would keep the next start from making one.
        service.run(&caller, RevokeToken { token_id: Some(created.token_id), name: None })?;
        return Err(error);
    }
    program.output.talk(&format!("the first token, with all rights, is in {}", path.display()));
    Ok(())
}

/// Whether somebody else has made a token first: its name is taken, or a server that checks tokens itself wants it shown.
fn is_overtaken(error: &ServiceError) -> bool {
    matches!(error.code, ErrorCode::Conflict | ErrorCode::Forbidden)
}

/// The file of the first token, and who renews what is in it.
#[derive(Debug)]
pub struct Renewal {
    service: Arc<Service>,
    path: PathBuf,
}

impl Renewal {
    pub fn of(program: &Program) -> Result<Self, ServiceError> {
        let path = path(&program.configuration()?.location()?)?;
        Ok(Self { service: program.service()?.clone(), path })
    }

    /// A failure is logged: the next look tries again.
    pub fn renew_and_log(&self) {
        match self.renew_if_due() {
            Ok(true) => tracing::info!("the first token was about to expire; its file has a new secret"),
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "renewing the first token failed; trying again later"),
        }
    }

    /// Gives the token in the file another secret when it ends soon, and writes that into the file. A process that dies in
    /// between leaves the old secret there, which is accepted for a day and renewed by the next one.
    fn renew_if_due(&self) -> Result<bool, ServiceError> {
        let Some(secret) = read(&self.path) else { return Ok(false) };
        let held = match self.service.holder_of(&secret) {
            Ok(caller) => caller,
            // Revoked, or of another database: none of ours.
            Err(error) if error.code == ErrorCode::Unauthorized => return Ok(false),
            Err(error) => return Err(error),
        };
        let is_due = self.service.ends_within(&held, RENEWED_BELOW_MS).is_some();
        let Some(token) = held.token.filter(|_| is_due && held.actor == NAME) else { return Ok(false) };
        let (id, overlap) = (token.id, Some(DurationMs(OVERLAP_MS)));
        let own = Caller::new(FrontEnd::CommandLine, "rootset", HOME_WORKSPACE);
        let caller = Caller { token: Some(token), ..own };
        let request = RotateToken { token_id: Some(id), overlap, ..RotateToken::default() };
        let rotated = self.service.run(&caller, request)?;
        self.service.act_with(&rotated.token);
        write(&self.path, &rotated.token)?;
        Ok(true)
    }
}

/// The secret in the file of the first token of this database, if this machine has one.
pub fn of_this_machine(database: &Location) -> Option<String> {
    read(&path(database).ok()?)
}

/// The secret in the file, if there is one.
fn read(path: &Path) -> Option<String> {
    let is_small = std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() <= FILE_BYTES_MAX);
    let text = if is_small { std::fs::read_to_string(path).ok()? } else { return None };
    Some(text.trim().to_owned()).filter(|secret| !secret.is_empty())
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
