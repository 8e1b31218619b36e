//! Where a database is: a file of our own, or a PostgreSQL server. How it is written, how it may be shown, and how many
//! connections are worth having.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A database that can be opened, see [`crate::Store::open`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// The embedded engine.
    File(PathBuf),
    Postgres(PostgresUrl),
}

/// A `postgres://` URL. It may hold a password, so it is shown without it and without its parameters.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl(String);

/// How this process uses a PostgreSQL server; a file needs none of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostgresSettings {
    /// Connections of this process, at most.
    pub pool_size: usize,
    /// How long one statement of a reader may take. Writers get ten times as long: what they do is bounded by batches, and
    /// doing it again costs more than waiting.
    pub statement_timeout_ms: u64,
    pub connect_timeout_ms: u64,
}

impl Default for PostgresSettings {
    fn default() -> Self {
        Self { pool_size: 8, statement_timeout_ms: 30_000, connect_timeout_ms: 10_000 }
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("a path, `sqlite:PATH`, or `postgres://USER@HOST/DATABASE`")]
pub struct LocationError;

impl Location {
    /// Reads a path, `sqlite:PATH` or a `postgres://` URL.
    pub fn parse(text: &str) -> Result<Self, LocationError> {
        let is_scheme = |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        if is_scheme("postgres:") || is_scheme("postgresql:") {
            return PostgresUrl::parse(text).map(Self::Postgres);
        }
        let path = if is_scheme("sqlite:") { &text["sqlite:".len()..] } else { text };
        let path = path.strip_prefix("//").filter(|_| is_scheme("sqlite:")).unwrap_or(path);
        let is_folder = path.ends_with(std::path::is_separator);
        // SQLite would take the last one as a database in memory, which ends with the command.
        if path.trim().is_empty() || is_folder || path.contains('\0') || path.contains("://") || path == ":memory:" {
            return Err(LocationError);
        }
        Ok(Self::File(path.into()))
    }

    /// The file, where there is one of our own.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Postgres(_) => None,
        }
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Postgres(url) => write!(f, "{url}"),
        }
    }
}

impl PostgresUrl {
    fn parse(text: &str) -> Result<Self, LocationError> {
        let (_, rest) = text.split_once("://").ok_or(LocationError)?;
        if rest.trim().is_empty() || text.contains('\0') {
            return Err(LocationError);
        }
        Ok(Self(text.to_owned()))
    }

    /// With the password, for the one who connects.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// Whether the URL itself holds a password, so that it must not be written down anywhere.
    pub fn holds_password(&self) -> bool {
        let parts = self.parts();
        parts.user.is_some_and(|user| user.contains(':')) || parts.parameters().any(|(key, _)| is_secret(key))
    }

    /// The URL without its password, but with everything else that leads to the same database.
    pub fn without_password(&self) -> String {
        let parameters: Vec<String> = (self.parts().parameters())
            .filter(|(key, _)| !is_secret(key))
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        if parameters.is_empty() { self.to_string() } else { format!("{self}?{}", parameters.join("&")) }
    }

    /// Host and database in characters that every file system takes, for the names of files that belong to it.
    pub fn file_stem(&self) -> String {
        let parts = self.parts();
        let (address, database) = parts.place.split_once('/').unwrap_or((parts.place, ""));
        let parameter = |name: &str| parts.parameters().find(|(key, _)| *key == name).map(|(_, value)| value);
        let host = Some(address).filter(|host| !host.is_empty()).or_else(|| parameter("host")).unwrap_or("localhost");
        let user = parts.user.map(|user| user.split_once(':').map_or(user, |(user, _)| user));
        // As the server has it: whoever names no database means the one with the user's name.
        let database = Some(database).filter(|name| !name.is_empty()).or_else(|| parameter("dbname")).or(user);
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
        let stem: String = format!("{host}-{}", database.unwrap_or("default")).chars().map(plain).collect();
        stem.trim_start_matches(['-', '.']).chars().take(FILE_STEM_CHARS_MAX).collect()
    }

    fn parts(&self) -> UrlParts<'_> {
        let (_, rest) = self.0.split_once("://").unwrap_or(("", &self.0));
        // A password may hold characters that somebody forgot to escape. The last `@` before the parameters ends it; and
        // where there is only one behind a `?`, that is no beginning of parameters.
        let (front, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        match (front.rsplit_once('@'), parameters.rsplit_once('@')) {
            (Some((user, place)), _) => UrlParts { user: Some(user), place, parameters },
            (None, Some((_, behind))) if front.contains(':') && !parameters.starts_with("host=") => {
                let (place, parameters) = behind.split_once('?').unwrap_or((behind, ""));
                UrlParts { user: Some(front), place, parameters }
            }
            (None, _) => UrlParts { user: None, place: front, parameters },
        }
    }
}

/// Longer names than this say nothing more, and some file systems refuse them.
const FILE_STEM_CHARS_MAX: usize = 120;

struct UrlParts<'a> {
    /// With the password, if there is one.
    user: Option<&'a str>,
    /// Host, port and database.
    place: &'a str,
    parameters: &'a str,
}

impl<'a> UrlParts<'a> {
    fn parameters(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let pairs = self.parameters.split('&').filter(|pair| !pair.is_empty());
        pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
    }
}

fn is_secret(parameter: &str) -> bool {
    parameter.to_ascii_lowercase().contains("password")
}

impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UrlParts { user, place, .. } = self.parts();
        match user {
            Some(user) => write!(f, "postgres://{}@{place}", user.split_once(':').map_or(user, |(user, _)| user)),
            None => write!(f, "postgres://{place}"),
        }
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        let shown = |text: &str| {
            let location = Location::parse(text).unwrap();
            assert!(!format!("{location:?}").contains("secret"), "{text}");
            location.to_string()
        };
        assert_eq!(
            shown("postgres://ann:secret@db.example/memory?password=secret"),
            "postgres://ann@db.example/memory"
        );
        assert_eq!(shown("postgresql://ann:sec@secret@db/memory"), "postgres://ann@db/memory");
        assert_eq!(shown("postgres://ann:secret/secret@db/memory"), "postgres://ann@db/memory");
        assert_eq!(shown("postgres://ann:secret?secret@db/memory"), "postgres://ann@db/memory");
        assert_eq!(shown("postgres:///memory?host=/tmp"), "postgres:///memory");
    }

    fn url(text: &str) -> PostgresUrl {
        match Location::parse(text) {
            Ok(Location::Postgres(url)) => url,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_url_without_its_password_leads_to_the_same_database() {
        for (text, has_password, without) in [
            ("postgres://ann:secret@db:5433/memory", true, "postgres://ann@db:5433/memory"),
            ("postgres://ann@db/memory?sslmode=require", false, "postgres://ann@db/memory?sslmode=require"),
            ("postgres:///memory?host=/tmp&password=secret", true, "postgres:///memory?host=/tmp"),
            ("postgres://db:5433/memory?sslpassword=secret", true, "postgres://db:5433/memory"),
        ] {
            assert_eq!(url(text).holds_password(), has_password, "{text}");
            assert_eq!(url(text).without_password(), without);
        }
    }

    #[test]
    fn names_of_files_hold_host_and_database_and_no_password() {
        for (text, stem) in [
            ("postgres://ann:secret@db.example:5433/memory", "db.example-5433-memory"),
            ("postgres:///memory?host=/tmp/sock", "tmp-sock-memory"),
            ("postgres://ann:secret@db", "db-ann"),
            ("postgres://ann@/?dbname=memory", "localhost-memory"),
        ] {
            assert_eq!(url(text).file_stem(), stem, "{text}");
        }
    }

    #[test]
    fn files_are_paths_with_or_without_their_scheme() {
        for text in ["a/b.db", "sqlite:a/b.db", "SQLite://a/b.db"] {
            assert_eq!(Location::parse(text), Ok(Location::File("a/b.db".into())), "{text}");
        }
        for text in ["", " ", "a/", ":memory:", "mysql://x/y", "postgres:", "postgres://", "a\0b"] {
            assert_eq!(Location::parse(text), Err(LocationError), "{text:?}");
        }
    }
}
