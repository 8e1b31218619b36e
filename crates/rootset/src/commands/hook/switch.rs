//! `rootset hooks on` and `off`: everywhere or in a project, for good or for a while. Works without a restart of any client.
//!
//! Kept in a file of our own, so that it is asked before the database is opened. One that cannot be read counts as `on`.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use rootset_model::Timestamp;
use rootset_model::time::parse_duration_ms;
use rootset_service::{Project, ServiceError};
use serde::{Deserialize, Serialize};

use crate::commands::install::file;
use crate::configuration::{create_private, data_file};
use crate::exit::Failure;
use crate::program::{Program, working_folder};
use crate::render::{self, escaped};

const FILE: &str = "hooks-off.json";
/// Switches hooks off for whatever is started with it.
const VARIABLE: &str = "ROOTSET_HOOKS";

#[derive(Debug, Subcommand)]
pub enum HooksCommand {
    /// Let hooks work again
    On(WhereArguments),
    /// Let hooks do nothing, from the next event on
    Off(OffArguments),
    /// Show whether hooks work here, and if not, why
    Status,
}

#[derive(Debug, Args)]
pub struct WhereArguments {
    /// Only in the project around the working folder
    #[arg(long)]
    here: bool,
}

#[derive(Debug, Args)]
pub struct OffArguments {
    #[command(flatten)]
    place: WhereArguments,
    /// For so long, such as `2h` [default: until `rootset hooks on`]
    #[arg(long = "for", value_name = "DURATION")]
    time: Option<String>,
}

/// What is switched off.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Off {
    #[serde(skip_serializing_if = "Option::is_none")]
    everywhere: Option<Time>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    folders: BTreeMap<PathBuf, Time>,
}

/// Until when; `None`: until somebody says otherwise.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Time {
    until_ms: Option<i64>,
}

impl Time {
    fn is_over(self, now_ms: i64) -> bool {
        self.until_ms.is_some_and(|until| until <= now_ms)
    }

    fn in_words(self) -> String {
        self.until_ms.map_or_else(String::new, |until| format!(" until {}", render::short(Timestamp(until))))
    }
}

impl Off {
    fn read(now_ms: i64) -> Result<Self, ServiceError> {
        let text = file::read(&data_file(FILE)?)?;
        let mut off: Self = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        off.everywhere = off.everywhere.filter(|time| !time.is_over(now_ms));
        off.folders.retain(|_, time| !time.is_over(now_ms));
        Ok(off)
    }

    fn write(&self) -> Result<(), ServiceError> {
        let path = data_file(FILE)?;
        if self.everywhere.is_none() && self.folders.is_empty() {
            return file::remove(&path);
        }
        create_private(path.parent().unwrap_or(&path))?;
        file::replace(&path, &serde_json::to_string(self).expect("paths and numbers are always JSON"))
    }

    /// The switch that a folder is under.
    fn of(&self, folder: &Path) -> Option<(Option<&Path>, Time)> {
        let below = || self.folders.iter().find(|(root, _)| folder.starts_with(root));
        self.everywhere.map(|time| (None, time)).or_else(|| below().map(|(root, time)| (Some(root.as_path()), *time)))
    }
}

/// Whoever starts a client with the variable wants no hooks in it.
pub fn is_off_by_variable() -> bool {
    std::env::var_os(VARIABLE)
        .is_some_and(|word| ["off", "0", "false"].iter().any(|off| word.eq_ignore_ascii_case(off)))
}

/// Whether somebody switched hooks off for this folder.
pub fn is_off(folder: &Path) -> Result<bool, ServiceError> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    Ok(Off::read(now_ms())?.of(&folder).is_some())
}

/// Whether one of the patterns leaves this folder out: `~` is the home folder, `*` stands for a part of a name, and `**` at the
/// end for everything below, as a folder alone does.
pub fn is_excluded(patterns: &[String], folder: &Path) -> bool {
    let resolved = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    patterns.iter().any(|pattern| [folder, &resolved].iter().any(|folder| is_below(pattern, folder)))
}

fn is_below(pattern: &str, folder: &Path) -> bool {
    let pattern = match pattern.strip_prefix('~') {
        Some(rest) => std::env::home_dir().unwrap_or_default().join(rest.trim_start_matches('/')),
        None => PathBuf::from(pattern),
    };
    let mut parts = folder.components();
    pattern.components().all(|wanted| {
        let wanted = wanted.as_os_str().to_string_lossy();
        wanted == "**" || parts.next().is_some_and(|part| matches(&wanted, part))
    })
}

/// A name with any number of stars.
fn matches(pattern: &str, part: Component<'_>) -> bool {
    let name = part.as_os_str().to_string_lossy();
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(head) else { return false };
    let mut pieces = rest.split('*').peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return name.ends_with(piece);
        }
        let Some(at) = name.find(piece) else { return false };
        name = &name[at + piece.len()..];
    }
    true
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Status {
    is_on: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<String>,
}

pub fn run(command: &HooksCommand, program: &Program) -> Result<(), Failure> {
    let now_ms = now_ms();
    let mut off = Off::read(now_ms)?;
    match command {
        HooksCommand::Status => {}
        HooksCommand::On(WhereArguments { here: true }) => drop(off.folders.remove(&project()?)),
        HooksCommand::On(WhereArguments { here: false }) => off = Off::default(),
        HooksCommand::Off(OffArguments { place, time }) => {
            let length = time.as_deref().map(parse_duration_ms).transpose();
            let length = length.map_err(|error| ServiceError::invalid(format!("`--for`: {error}")))?;
            let time = Time { until_ms: length.map(|length| now_ms.saturating_add(length)) };
            if place.here {
                off.folders.insert(project()?, time);
            } else {
                off.everywhere = Some(time);
            }
        }
    }
    if !matches!(command, HooksCommand::Status) {
        off.write()?;
    }
    let because = reason(&off, program)?;
    let status = Status { is_on: because.is_none(), because };
    program.output.answer(&status, |status| match &status.because {
        None => "hooks are on here\n".to_owned(),
        Some(because) => format!("hooks are off here: {}\n", escaped(because)),
    })?;
    Ok(())
}

/// Why hooks do nothing here.
fn reason(off: &Off, program: &Program) -> Result<Option<String>, ServiceError> {
    let folder = project()?;
    if is_off_by_variable() {
        return Ok(Some(format!("`{VARIABLE}` is set")));
    }
    if let Some((root, time)) = off.of(&folder) {
        let place = root.map_or("everywhere".to_owned(), |root| format!("in {}", root.display()));
        let on = if root.is_some() { "rootset hooks on --here" } else { "rootset hooks on" };
        return Ok(Some(format!("switched off {place}{}; `{on}` switches them on", time.in_words())));
    }
    let is_excluded = is_excluded(&program.configuration()?.hooks_exclude, &folder);
    Ok(is_excluded.then(|| "`hooks.exclude` names this folder".to_owned()))
}

/// The project around the working folder, or the folder itself.
fn project() -> Result<PathBuf, ServiceError> {
    let folder = working_folder()?;
    Ok(Project::around(&folder).map_or(folder, |project| project.root().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_folders_and_what_is_below_them() {
        let excluded = |pattern: &str, folder: &str| is_excluded(&[pattern.to_owned()], Path::new(folder));
        for pattern in ["/none/clients/**", "/none/clients", "/none/cl*/**", "/none/*li*t*", "/none/clients/"] {
            assert!(excluded(pattern, "/none/clients/acme/api"), "{pattern}");
            assert!(!excluded(pattern, "/none/other"), "{pattern}");
        }
        assert!(!excluded("/none/clients/**", "/none/clients-2"));
        assert!(!excluded("clients", "/none/clients"), "only whole paths");
        assert!(!is_excluded(&[], Path::new("/none")));
    }

    #[test]
    fn a_switch_is_over_at_its_time_and_holds_below_its_folder() {
        let time = |until_ms| Time { until_ms };
        assert!(time(Some(10)).is_over(10) && !time(Some(10)).is_over(9) && !time(None).is_over(i64::MAX));
        let off = Off { everywhere: None, folders: [("/a/b".into(), time(None))].into() };
        assert!(off.of(Path::new("/a/b/c")).is_some() && off.of(Path::new("/a/bc")).is_none());
    }
}
