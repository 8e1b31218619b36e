//! A folder of its own for every test: home, configuration and data are inside, and nothing of the caller's environment
//! reaches the program. With PostgreSQL, data is in a database of its own, which the environment names.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use rootset_store::Location;
use rootset_testing::{Sql, TestDatabase, TestEngine, temporary_folder};
use serde_json::Value;
use tempfile::TempDir;

pub struct Sandbox {
    folder: TempDir,
    /// Without a schema, as an operator makes it; SQLite's file is made by the program itself.
    server: Option<TestDatabase>,
}

/// What came of one command.
#[derive(Debug)]
pub struct Outcome {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of the JSON error on stdout.
    #[track_caller]
    pub fn error_code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl Sandbox {
    pub fn new() -> Self {
        let folder = temporary_folder();
        for inner in ["home", "work"] {
            std::fs::create_dir(folder.path().join(inner)).expect("a folder inside");
        }
        let server = (TestEngine::chosen() == TestEngine::Postgres).then(TestDatabase::empty);
        Self { folder, server }
    }

    /// For what is about settings and files alone, whatever engine the run is about.
    pub fn without_server() -> Self {
        Self { server: None, ..Self::new() }
    }

    /// The folder the command runs in.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Where SQLite's file is made when nothing else is said.
    pub fn sqlite_file(&self) -> PathBuf {
        self.folder.path().join("home/.local/share/rootset/rootset.db")
    }

    /// Whether anybody has made a database here.
    pub fn has_database(&self) -> bool {
        match &self.server {
            Some(database) => !database.sql().tables().expect("a list of tables").is_empty(),
            None => self.sqlite_file().exists(),
        }
    }

    pub fn sql(&self) -> Sql {
        match &self.server {
            Some(database) => database.sql(),
            None => Sql::open(&Location::File(self.sqlite_file())).expect("the database"),
        }
    }

    /// For `--db`: the file, or the one database on the server, whatever the file would be called.
    pub fn db<'a>(&'a self, file: &'a str) -> &'a str {
        self.server.as_ref().map_or(file, TestDatabase::url)
    }

    /// All that the program gets to see of the environment.
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        let home = self.folder.path().join("home");
        let mut variables = vec![("PATH", std::env::var_os("PATH").unwrap_or_default()), ("HOME", home.clone().into())];
        // Times are shown in it, and snapshots hold some.
        variables.push(("TZ", "UTC".into()));
        if let Some(database) = &self.server {
            variables.push(("ROOTSET_DB", database.url().into()));
            // On a server, people go by their names.
            variables.push(("USER", "tester".into()));
            variables.push(("ROOTSET_BACKUP__DIR", home.join(".local/share/rootset/rootset.db.backups").into()));
        }
        variables
    }

    pub fn own_configuration(&self) -> PathBuf {
        self.folder.path().join("home/.config/rootset/rootset.toml")
    }

    #[track_caller]
    pub fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.work().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder above")).expect("the folder above");
        std::fs::write(path, text).expect("a file for the test");
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rootset"));
        command.env_clear().envs(self.variables()).current_dir(self.work());
        command
    }

    pub fn run<const N: usize>(&self, arguments: [&str; N]) -> Outcome {
        outcome(self.command().args(arguments))
    }

    /// In a folder below the working folder.
    pub fn run_in<const N: usize>(&self, folder: &str, arguments: [&str; N]) -> Outcome {
        outcome(self.command().current_dir(self.work().join(folder)).args(arguments))
    }

    pub fn run_with_input<const N: usize>(&self, arguments: [&str; N], input: impl Into<Vec<u8>>) -> Outcome {
        outcome(self.command().args(arguments).write_stdin(input))
    }

    pub fn run_with_variables<const N: usize>(&self, variables: &[(&str, &str)], arguments: [&str; N]) -> Outcome {
        outcome(self.command().envs(variables.iter().copied()).args(arguments))
    }

    /// `rootset call`, which has to succeed.
    #[track_caller]
    pub fn call(&self, operation: &str, request: &str) -> Value {
        let outcome = self.run(["call", operation, request]);
        assert_eq!(outcome.status, Some(0), "{outcome:?}");
        outcome.json()
    }

    /// A command as a snapshot: status and both channels, with ids, times and folders replaced.
    pub fn transcript<const N: usize>(&self, arguments: [&str; N]) -> String {
        let outcome = self.run(arguments);
        let shown = format!(
            "status {}\n-- stdout\n{}-- stderr\n{}",
            outcome.status.unwrap_or(-1),
            outcome.stdout,
            outcome.stderr
        );
        self.redacted(&shown)
    }

    fn redacted(&self, text: &str) -> String {
        let database = match &self.server {
            Some(database) => database.location().to_string(),
            None => self.sqlite_file().display().to_string(),
        };
        let text = text.replace(&database, "[database]");
        let text = text.replace(&self.folder.path().display().to_string(), "[folder]");
        let text = replaced(&text, "########-####-####-####-############", "[id]");
        let text = replaced(&text, "0000-00-00T00:00:00.000Z", "[time]");
        replaced(&text, "0000-00-00 00:00", "[time]")
    }
}

pub fn outcome(command: &mut Command) -> Outcome {
    let output = command.output().expect("the program starts");
    Outcome {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}

/// Replaces what has a shape: `#` stands for a hexadecimal digit, `0` for a decimal one, all else for itself.
fn replaced(text: &str, shape: &str, by: &str) -> String {
    let fits = |text: &str| {
        text.len() >= shape.len()
            && text.bytes().zip(shape.bytes()).all(|(byte, shape)| match shape {
                b'#' => byte.is_ascii_hexdigit(),
                b'0' => byte.is_ascii_digit(),
                other => byte == other,
            })
    };
    let mut result = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if fits(rest) {
            result.push_str(by);
            rest = &rest[shape.len()..];
        } else {
            result.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    result
}
