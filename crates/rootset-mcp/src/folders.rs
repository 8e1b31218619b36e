//! The folders that a client works in, as it tells them: `roots/list`. The first decides which workspace is meant.
//!
//! A server may ask only once the client has begun, so the folders are asked for with the first request that needs them, once
//! per connection. Which workspace belongs to a folder is not decided here.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use rootset_service::Rights;

/// A client that does not answer must not keep its own first call waiting for long.
const ANSWER_WITHIN: Duration = Duration::from_secs(3);
/// More folders than anybody opens at once.
const FOLDERS_MAX: usize = 32;

/// Where an agent works, and what it may do there.
#[derive(Clone, Debug)]
pub struct Place {
    /// The workspace of calls that name none.
    pub workspace: String,
    pub rights: Rights,
}

type Deciding = dyn Fn(Vec<PathBuf>) -> Option<Place> + Send + Sync;

/// What decides the place by the folders of a client, the first one first; `None` leaves it as it is. It may read files and the
/// database.
#[derive(Clone)]
pub struct ByFolders(Arc<Deciding>);

impl ByFolders {
    pub fn new(decide: impl Fn(Vec<PathBuf>) -> Option<Place> + Send + Sync + 'static) -> Self {
        Self(Arc::new(decide))
    }

    pub(crate) async fn place(&self, context: &RequestContext<RoleServer>) -> Option<Place> {
        if !offers_folders(context) {
            return None;
        }
        let folders = folders_of(context).await?;
        let decide = self.0.clone();
        tokio::task::spawn_blocking(move || decide(folders)).await.ok().flatten()
    }
}

impl fmt::Debug for ByFolders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ByFolders")
    }
}

pub(crate) fn offers_folders(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|capabilities| capabilities.roots.is_some())
}

/// `None` if the client tells no folder of this machine.
#[expect(deprecated, reason = "clients of today tell their folders in no other way")]
async fn folders_of(context: &RequestContext<RoleServer>) -> Option<Vec<PathBuf>> {
    let asked = tokio::time::timeout(ANSWER_WITHIN, context.peer.list_roots()).await;
    let Ok(Ok(listed)) = asked else {
        tracing::warn!("the client did not tell its folders; using the one that the server was started in");
        return None;
    };
    let folders: Vec<PathBuf> =
        listed.roots.iter().take(FOLDERS_MAX).filter_map(|root| path_of(&root.uri)).filter(|it| it.is_dir()).collect();
    (!folders.is_empty()).then_some(folders)
}

/// The path that a `file:` address of this machine names.
fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let decoded = String::from_utf8(decoded(path.as_bytes())?).ok()?;
    if !decoded.starts_with('/') {
        return None;
    }
    // `/C:/Users` is a drive's folder.
    let is_drive = decoded.as_bytes().get(2) == Some(&b':') && decoded.as_bytes()[1].is_ascii_alphabetic();
    Some(PathBuf::from(if is_drive { &decoded[1..] } else { &decoded }))
}

/// With `%20` and the like as bytes; `None` if one of them is broken.
fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = after;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_files_here_are_paths() {
        let path = |uri: &str| path_of(uri).map(|path| path.display().to_string());
        assert_eq!(path("file:///home/alice/my%20src").as_deref(), Some("/home/alice/my src"));
        assert_eq!(path("file://localhost/srv/%C3%A9").as_deref(), Some("/srv/é"));
        assert_eq!(path("file:///C:/Users/alice").as_deref(), Some("C:/Users/alice"));
        for other in [
            "https://example.com/",
            "file://server/share",
            "file:relative",
            "",
            "file:///%zz",
            "file:///%4",
            "file:///%ff",
        ] {
            assert_eq!(path(other), None, "{other}");
        }
    }
}
