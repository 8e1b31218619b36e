//! Fetching files that anybody may have: weights of models. Nothing is sent but the names of the files, so redirects are
//! followed, as places that hold large files need; what arrives is judged by its checksum and not by where it came from.
//!
//! A file that was cut off is continued where it stopped. It knows no model and no folder: the caller has both.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::Duration;

use sha2::{Digest, Sha256};
use thiserror::Error;
use ureq::http::{Uri, header};
use ureq::{Agent, Error as HttpError};

use crate::endpoint::{connection_fault, is_loopback};
use crate::error::{ConnectionFault, ProviderError};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// A server that says nothing for so long has gone.
const READ_TIMEOUT: Duration = Duration::from_secs(60);
const REDIRECTS_MAX: u32 = 5;
const READ_BYTES: usize = 64 << 10;

/// Where files are fetched from.
#[derive(Debug)]
pub struct Hub {
    agent: Agent,
    base: String,
    host: String,
}

/// A file as it has to arrive.
#[derive(Clone, Copy, Debug)]
pub struct WantedFile<'a> {
    /// Below the hub's address.
    pub path: &'a str,
    pub bytes: u64,
    /// SHA-256, in hex.
    pub checksum: &'a str,
}

#[derive(Debug, Error)]
pub enum DownloadError {
    #[error("`{host}` has no `{path}`")]
    NotThere { host: String, path: String },
    #[error("`{host}` answered with status {status} for `{path}`")]
    Status { host: String, path: String, status: u16 },
    #[error("`{host}` did not answer in time")]
    TimedOut { host: String },
    #[error("no usable connection to `{host}`: {fault}")]
    Connection { host: String, fault: ConnectionFault },
    #[error("the connection to `{host}` ended after {have} of {bytes} bytes of `{path}`")]
    CutOff { host: String, path: String, have: u64, bytes: u64 },
    #[error("`{path}` of `{host}` is larger than its {bytes} bytes")]
    TooLarge { host: String, path: String, bytes: u64 },
    #[error("`{path}` of `{host}` is not the file it should be: its checksum is {found} instead of {expected}")]
    WrongChecksum { host: String, path: String, found: String, expected: String },
    #[error("cannot write the file: {0}")]
    Write(io::Error),
}

impl DownloadError {
    /// Whether the same call goes on where this one stopped.
    pub fn can_be_resumed(&self) -> bool {
        matches!(self, Self::TimedOut { .. } | Self::Connection { .. } | Self::CutOff { .. })
    }
}

impl Hub {
    pub fn new(base_url: &str) -> Result<Self, ProviderError> {
        let fault = |problem| ProviderError::Setting { setting: "models.hub", problem };
        let uri: Uri = base_url.trim().parse().map_err(|_| fault("is not a URL"))?;
        let is_encrypted = uri.scheme_str() == Some("https");
        if !(is_encrypted || uri.scheme_str() == Some("http")) || uri.host().is_none_or(str::is_empty) {
            return Err(fault("is not a URL such as `https://huggingface.co`"));
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(REDIRECTS_MAX)
            // From an encrypted place to one that is not, nothing is followed.
            .https_only(is_encrypted)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_recv_response(Some(ANSWER_TIMEOUT))
            .timeout_per_read(Some(READ_TIMEOUT))
            .user_agent(concat!("rootset/", env!("CARGO_PKG_VERSION")));
        if is_loopback(&uri) {
            config = config.proxy(None);
        }
        let host = uri.authority().map(ToString::to_string).unwrap_or_default();
        Ok(Self { agent: config.build().new_agent(), base: base_url.trim().trim_end_matches('/').to_owned(), host })
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    /// Fills the file, which may hold the beginning already. `progress` hears how many bytes are there. A file that turns
    /// out to be another one is emptied.
    pub fn fetch(
        &self,
        wanted: WantedFile<'_>,
        file: &mut File,
        mut progress: impl FnMut(u64),
    ) -> Result<(), DownloadError> {
        let mut hasher = Sha256::new();
        let mut have = hash_beginning(file, wanted.bytes, &mut hasher).map_err(DownloadError::Write)?;
        progress(have);
        if have < wanted.bytes {
            let mut response = self.ask(wanted, have)?;
            if have > 0 && response.status().as_u16() != 206 {
                // The server begins anew, and so does the file.
                (have, hasher) = (0, Sha256::new());
                empty(file)?;
            }
            // One byte more than wanted tells a file that is too large.
            let limit = (wanted.bytes - have).saturating_add(1);
            let mut body = response.body_mut().as_reader().take(limit);
            let mut buffer = vec![0; READ_BYTES];
            loop {
                let read = match body.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(read) => read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(_) => return Err(self.cut_off(wanted, have)),
                };
                file.write_all(&buffer[..read]).map_err(DownloadError::Write)?;
                hasher.update(&buffer[..read]);
                have += read as u64;
                progress(have.min(wanted.bytes));
            }
        }
        self.judge(wanted, have, hasher, file)
    }

    fn ask(&self, wanted: WantedFile<'_>, have: u64) -> Result<ureq::http::Response<ureq::Body>, DownloadError> {
        let mut request = self.agent.get(format!("{}/{}", self.base, wanted.path));
        if have > 0 {
            request = request.header(header::RANGE, format!("bytes={have}-"));
        }
        let (host, path) = (self.host.clone(), wanted.path.to_owned());
        let response = request.call().map_err(|error| match error {
            HttpError::Timeout(_) => DownloadError::TimedOut { host: host.clone() },
            other => DownloadError::Connection { host: host.clone(), fault: connection_fault(&other) },
        })?;
        match response.status().as_u16() {
            200 | 206 => Ok(response),
            404 => Err(DownloadError::NotThere { host, path }),
            status => Err(DownloadError::Status { host, path, status }),
        }
    }

    fn judge(&self, wanted: WantedFile<'_>, have: u64, hasher: Sha256, file: &mut File) -> Result<(), DownloadError> {
        if have < wanted.bytes {
            return Err(self.cut_off(wanted, have));
        }
        let (host, path) = (self.host.clone(), wanted.path.to_owned());
        if have > wanted.bytes {
            empty(file)?;
            return Err(DownloadError::TooLarge { host, path, bytes: wanted.bytes });
        }
        let found: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        if found == wanted.checksum {
            return file.sync_all().map_err(DownloadError::Write);
        }
        empty(file)?;
        Err(DownloadError::WrongChecksum { host, path, found, expected: wanted.checksum.to_owned() })
    }

    fn cut_off(&self, wanted: WantedFile<'_>, have: u64) -> DownloadError {
        let (host, path) = (self.host.clone(), wanted.path.to_owned());
        DownloadError::CutOff { host, path, have, bytes: wanted.bytes }
    }
}

/// How much of the file is there; more than is wanted cannot be its beginning.
fn hash_beginning(file: &mut File, bytes: u64, hasher: &mut Sha256) -> io::Result<u64> {
    if file.metadata()?.len() > bytes {
        file.set_len(0)?;
    }
    file.rewind()?;
    let mut buffer = vec![0; READ_BYTES];
    let mut have = 0;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(have);
        }
        hasher.update(&buffer[..read]);
        have += read as u64;
    }
}

fn empty(file: &mut File) -> Result<(), DownloadError> {
    file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).map(drop).map_err(DownloadError::Write)
}
