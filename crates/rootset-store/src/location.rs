//! Where a database is: a file of our own, or a PostgreSQL server. How it is written, and how it may be shown.

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
    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, rest) = self.0.split_once("://").unwrap_or(("", &self.0));
        let place = rest.split_once('?').map_or(rest, |(place, _)| place);
        // A password may hold an `@` that somebody forgot to escape: the last one ends it.
        let place = match place.rsplit_once('@') {
            Some((user, host)) => {
                let user = user.split_once(':').map_or(user, |(user, _)| user);
                format!("{user}@{host}")
            }
            None => place.to_owned(),
        };
        write!(f, "postgres://{place}")
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
        assert_eq!(shown("postgres:///memory?host=/tmp"), "postgres:///memory");
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
