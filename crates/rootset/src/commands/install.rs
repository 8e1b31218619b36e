//! `rootset install`: the entry that starts `rootset mcp`, in the configuration of an agent.
//!
//! The file is somebody else's: only our entry is touched, every other byte stays, and a file that cannot be read to the
//! end is left alone. Undo puts back what was there, to the byte, unless somebody has written since.

mod client;
mod entry;
mod file;
mod json_document;
mod record;
mod toml_document;

use std::path::Path;

use clap::{Args, ValueEnum};
use rootset_api::{ErrorCode, Profile, Profiles};
use rootset_service::ServiceError;
use serde::Serialize;
use serde_json::json;
use similar::TextDiff;

use crate::exit::Failure;
use crate::program::Program;
use crate::prompt;
use crate::render::{self, escaped};
use client::{Format, SettingsFile};
use entry::Entry;
use record::Record;

/// Lines around a change that are shown: enough to see where it is, too few to show other servers' keys.
const DIFF_CONTEXT_LINES: usize = 2;

/// Connect an agent: write the MCP entry for this program into its configuration
#[derive(Debug, Args)]
pub struct InstallArguments {
    /// The agent to connect
    #[arg(
        value_name = "claude-code|cursor|vscode|codex",
        hide_possible_values = true,
        required_unless_present = "all"
    )]
    client: Option<Client>,
    /// Connect every agent that is found on this machine
    #[arg(long, conflicts_with_all = ["client", "project"])]
    all: bool,
    /// Put everything back as it was before
    #[arg(long)]
    undo: bool,
    /// Only print what belongs in the file
    #[arg(long, conflicts_with = "undo")]
    print: bool,
    /// Only for the project around the working folder, in a file that can be shared
    #[arg(long)]
    project: bool,
    #[arg(long, value_name = "NAMES", conflicts_with = "undo")]
    #[arg(help = format!("The tools the agent gets: {}, or several separated by commas [default: core]", Profile::names()))]
    profile: Option<Profiles>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Client {
    ClaudeCode,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
    Codex,
}

impl Client {
    /// As it is typed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
        }
    }

    /// As its makers write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
        }
    }
}

pub fn run(arguments: &InstallArguments, program: &Program) -> Result<(), Failure> {
    let mut clients: Vec<Client> = arguments.client.into_iter().collect();
    if arguments.all {
        for client in Client::value_variants() {
            if client::is_there(*client)? {
                clients.push(*client);
            }
        }
    }
    if clients.is_empty() {
        let hint = "name the agent: claude-code, cursor, vscode or codex";
        return Err(ServiceError::new(ErrorCode::NotFound, "no agent was found on this machine")
            .with_hint(hint)
            .into());
    }
    clients.into_iter().try_for_each(|client| install(client, arguments, program))
}

fn install(client: Client, arguments: &InstallArguments, program: &Program) -> Result<(), Failure> {
    let settings = client::settings_file(client, arguments.project)?;
    let entry = Entry::new(arguments.profile.as_ref(), arguments.project, &program.global)?;
    if arguments.print {
        let printed = Printed { client: client.as_str(), path: &settings.path, entry: entry.as_json(&settings) };
        return program.output.answer(&printed, |_| snippet(&settings, &entry));
    }
    let record = Record::read()?;
    let before = file::read(&settings.path)?;
    let change = if arguments.undo {
        taken_out(&settings, before.as_deref(), &record)
    } else {
        put_in(&settings, before.as_deref(), &entry)
    };
    let change = match change {
        Ok(change) => change,
        Err(problem) => return refuse(&settings, &entry, &problem, arguments.undo, program),
    };
    let is_changed = before != change.after;
    if is_changed {
        show_and_ask(&settings.path, before.as_deref(), change.after.as_deref(), program)?;
    }
    write(&settings, before.as_deref(), &change, record, arguments.undo)?;
    let answer = Installed {
        client: client.as_str(),
        path: &settings.path,
        changed: is_changed,
        installed: !arguments.undo,
        entry_only: change.entry_only,
    };
    program.output.answer(&answer, |_| in_words(client, arguments, &settings.path, is_changed))?;
    if !program.output.in_json() && is_changed {
        remarks(client, arguments, &entry, change.entry_only, program);
    }
    Ok(())
}

/// What becomes of the file.
struct Change {
    /// `None`: there is no file any more.
    after: Option<String>,
    /// The file is not as we left it, so nothing but the entry goes.
    entry_only: bool,
}

fn put_in(settings: &SettingsFile, before: Option<&str>, entry: &Entry) -> Result<Change, String> {
    let after = edited(settings, before.unwrap_or_default(), Some(entry))?;
    Ok(Change { after: Some(after), entry_only: false })
}

fn taken_out(settings: &SettingsFile, now: Option<&str>, record: &Record) -> Result<Change, String> {
    let Some(text) = now else { return Ok(Change { after: None, entry_only: false }) };
    let kept = record.of(&settings.path);
    if let Some(kept) = kept.filter(|kept| kept.is_as_left(now)) {
        return Ok(Change { after: kept.before.clone(), entry_only: false });
    }
    let mut after = edited(settings, text, None)?;
    let entry_only = after != text && kept.is_some();
    if let (Some(kept), Format::Json { servers, has_comments, .. }) = (kept, settings.format)
        && !json_document::has_list(kept.before.as_deref().unwrap_or_default(), servers)
    {
        after = json_document::without_empty_list(&after, servers, has_comments)?;
    }
    let is_ours = kept.is_some_and(|kept| kept.before.is_none());
    let is_shell = after.split_whitespace().collect::<String>().trim_matches(['{', '}']).is_empty();
    Ok(Change { after: (!(is_ours && is_shell)).then_some(after), entry_only })
}

/// What `--json` prints with `--print`.
#[derive(Serialize)]
struct Printed<'a, Fields> {
    client: &'static str,
    path: &'a Path,
    entry: Fields,
}

/// What `--json` prints otherwise.
#[derive(Serialize)]
struct Installed<'a> {
    client: &'static str,
    path: &'a Path,
    changed: bool,
    installed: bool,
    /// Undo found the file changed and took out nothing but the entry.
    entry_only: bool,
}

/// The whole text of the file with our entry in it, or without it.
fn edited(settings: &SettingsFile, text: &str, entry: Option<&Entry>) -> Result<String, String> {
    match settings.format {
        Format::Json { servers, has_comments, .. } => {
            let fields = entry.map(|entry| entry.as_json(settings));
            json_document::edited(text, servers, has_comments, fields.as_ref())
        }
        Format::Toml { servers } => toml_document::edited(text, servers, entry),
    }
}

/// What belongs in the file, for those who put it there by hand.
fn snippet(settings: &SettingsFile, entry: &Entry) -> String {
    edited(settings, "", Some(entry)).expect("an empty file takes an entry")
}

fn refuse(
    settings: &SettingsFile,
    entry: &Entry,
    problem: &str,
    is_undo: bool,
    program: &Program,
) -> Result<(), Failure> {
    let message = format!("`{}` cannot be changed: {problem}", settings.path.display());
    let error = ServiceError::new(ErrorCode::InvalidArgument, message);
    if is_undo {
        return Err(error.with_hint("nothing was changed; remove the entry `rootset` by hand").into());
    }
    let snippet = snippet(settings, entry);
    if program.output.in_json() {
        let details = json!({"path": settings.path, "snippet": snippet});
        return Err(error.with_hint("nothing was changed; add the snippet by hand").with_details(details).into());
    }
    program.output.text(&snippet)?;
    Err(error.with_hint("nothing was changed; add the lines above by hand").into())
}

fn show_and_ask(path: &Path, before: Option<&str>, after: Option<&str>, program: &Program) -> Result<(), Failure> {
    if !program.output.in_json() {
        program.output.talk(&difference(path, before.unwrap_or_default(), after.unwrap_or_default()));
    }
    let what = match (before, after) {
        (None, _) => "create",
        (Some(_), None) => "remove",
        (Some(_), Some(_)) => "change",
    };
    prompt::confirm(program, &format!("{what} {}", escaped(&path.display().to_string())))
}

fn write(
    settings: &SettingsFile,
    before: Option<&str>,
    change: &Change,
    mut record: Record,
    is_undo: bool,
) -> Result<(), Failure> {
    let path = &settings.path;
    // The agent may be running, and may have written its file while somebody thought about the question.
    if file::read(path)?.as_deref() != before {
        let message = format!("another program changed `{}` in the meantime", path.display());
        return Err(ServiceError::conflict(message).with_hint("nothing was changed; run the command again").into());
    }
    match change.after.as_deref().filter(|after| before != Some(*after)) {
        Some(after) => {
            if !is_undo {
                let had_entry = before.is_some_and(|text| edited(settings, text, None).is_ok_and(|it| it != text));
                record.note(path, before, had_entry, after)?;
            }
            file::replace(path, after)?;
        }
        None if change.after.is_none() => file::remove(path)?,
        None => {}
    }
    if is_undo {
        record.forget(path)?;
    }
    Ok(())
}

fn difference(path: &Path, before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let mut shown = render::bold(escaped(&path.display().to_string()));
    for line in diff.unified_diff().context_radius(DIFF_CONTEXT_LINES).to_string().lines() {
        shown.push('\n');
        let line = escaped(line);
        shown.push_str(&match line.chars().next() {
            Some('+') => render::good(line),
            Some('-') => render::bad(line),
            Some('@') => render::dim(line),
            _ => line,
        });
    }
    shown
}

fn in_words(client: Client, arguments: &InstallArguments, path: &Path, is_changed: bool) -> String {
    let client = client.name();
    let path = escaped(&path.display().to_string());
    match (arguments.undo, is_changed) {
        (false, true) => format!("installed for {client}: {path}\n"),
        (false, false) => format!("already installed for {client}: {path}\n"),
        (true, true) => format!("removed from {client}: {path}\n"),
        (true, false) => format!("not installed for {client}: {path}\n"),
    }
}

fn remarks(client: Client, arguments: &InstallArguments, entry: &Entry, entry_only: bool, program: &Program) {
    if entry_only {
        program.output.talk("the file has changed since it was installed: only our entry was taken out");
    }
    if arguments.undo {
        return;
    }
    program.output.talk(&entry.confinement);
    program.output.talk(
        "to widen that, edit the entry: `--only-workspace NAME` can be repeated or dropped, `--scopes` can add purge and admin",
    );
    if arguments.project {
        program
            .output
            .talk("the file can be shared: it starts `rootset` from the search path, where others need it too");
    }
    program.output.talk(match client {
        Client::ClaudeCode => "next: restart Claude Code; /mcp lists the server",
        Client::Cursor => "next: restart Cursor; its settings list the server under MCP",
        Client::VsCode => "next: run `MCP: List Servers` in VS Code and start it",
        Client::Codex => "next: restart Codex; /mcp lists the server",
    });
    let project = if arguments.project { " --project" } else { "" };
    program.output.talk(&format!("undo: rootset install {}{project} --undo", client.as_str()));
}
