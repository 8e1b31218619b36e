//! Addresses of remotes, as what they name: host, owner and name, whatever the protocol, the user or the port.

use std::path::Path;

/// Longer than any address that people use.
const CHARS_MAX: usize = 512;

/// `host/owner/name`; of a remote on this machine, its path. `None` for what is no address.
pub fn normalised(url: &str, root: &Path) -> Option<String> {
    let url = url.trim();
    if url.is_empty() || url.chars().count() > CHARS_MAX || url.chars().any(char::is_control) {
        return None;
    }
    if let Some((protocol, rest)) = url.split_once("://") {
        return match protocol.to_ascii_lowercase().as_str() {
            "file" => local(Path::new(rest)),
            _ => {
                let (authority, path) = rest.split_once('/')?;
                on_host(authority, path)
            }
        };
    }
    // `user@host:path`, unless a slash comes first: then the colon is part of a path.
    match url.split_once(':') {
        Some((authority, path)) if !authority.contains('/') => on_host(authority, path),
        _ => local(&root.join(url)),
    }
}

fn on_host(authority: &str, path: &str) -> Option<String> {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    };
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let path = parts.join("/");
    let path = path.strip_suffix(".git").unwrap_or(&path);
    (!host.is_empty() && !path.is_empty()).then(|| format!("{}/{path}", host.to_ascii_lowercase()))
}

fn local(path: &Path) -> Option<String> {
    let path = path.canonicalize().ok()?;
    Some(format!("file:{}", path.to_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Option<String> {
        normalised(url, Path::new("/nowhere"))
    }

    #[test]
    fn one_repository_has_one_address() {
        for url in [
            "https://github.com/acme/falcon.git",
            "https://alice:secret@GitHub.com/acme/falcon",
            "ssh://git@github.com:22/acme/falcon.git/",
            "git@github.com:acme/falcon.git",
            "git@github.com:/acme//falcon",
            "git://github.com/acme/falcon",
        ] {
            assert_eq!(of(url).as_deref(), Some("github.com/acme/falcon"), "{url}");
        }
        assert_eq!(of("ssh://git@[::1]:2222/x.git").as_deref(), Some("::1/x"));
        assert_ne!(of("https://github.com/acme/falcon"), of("https://github.com/acme/Falcon"));
    }

    #[test]
    fn what_is_no_address_is_none() {
        for url in [
            "",
            "https://",
            "https://host",
            "host:",
            "https://host/",
            "/does/not/exist",
            "a\u{1b}b:c",
            &"x".repeat(600),
        ] {
            assert_eq!(of(url), None, "{url:?}");
        }
    }
}
