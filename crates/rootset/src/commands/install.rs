//! `rootset install`: the entry that starts `rootset mcp`, and the hooks that run `rootset hook`, in the configuration of an
//! agent.
//!
//! The files are somebody else's: only our entries are touched, every other byte stays, and if one cannot be read to the
//! end, none is changed. Undo puts back what was there, to the byte, unless somebody has written since.

mod client;
mod entry;
pub mod file;
mod hooks_document;
mod json_document;
mod record;
mod toml_document;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use rootset_api::{ErrorCode, Profile, Profiles};
use rootset_service::{Birth, ServiceError};
use serde::Serialize;
use serde_json::json;
use similar::TextDiff;

use crate::configuration::Configuration;
use crate::exit::Failure;
use crate::program::Program;
use crate::prompt;
use crate::render::{self, escaped};
use client::{Format, SettingsFile};
use entry::{Entry, HookEntry};
use record::Record;

/// Lines around a change that are shown: enough to see where it is, too few to show other servers' keys.
const DIFF_CONTEXT_LINES: usize = 2;

/// Connect an agent: write the MCP entry and the hooks into its configuration
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
    /// Only print what belongs in the files
    #[arg(long, conflicts_with = "undo")]
    print: bool,
    /// Leave the hooks out: the agent then has the tools alone
    #[arg(long, conflicts_with = "no_mcp")]
    no_hooks: bool,
    /// Leave the MCP entry out: the agent then has the hooks alone
    #[arg(long)]
    no_mcp: bool,
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
    // What is taken out needs no configuration, which may be broken.
    let takes_results = !arguments.undo && Configuration::load(&program.global)?.settings.birth != Birth::Off;
    let entries = Entries {
        server: Entry::new(arguments.profile.as_ref(), arguments.project, &program.global)?,
        hook: HookEntry::new(client, takes_results, &program.global)?,
    };
    let files = files(client, arguments)?;
    if arguments.print {
        return print(client, &files, &entries, program);
    }
    let mut record = Record::read()?;
    // Everything is decided before anything is written.
    let mut changes = Vec::new();
    for settings in &files {
        let before = file::read(&settings.path)?;
        let change = if arguments.undo {
            taken_out(settings, before.as_deref(), &record)
        } else {
            put_in(settings, before.as_deref(), &entries)
        };
        match change {
            Ok(change) => changes.push((settings, before, change)),
            Err(problem) => return refuse(settings, &entries, &problem, arguments.undo, program),
        }
    }
    let to_change: Vec<_> = changes.iter().filter(|(_, before, change)| *before != change.after).collect();
    show_and_ask(&to_change, program)?;
    for (settings, before, change) in &changes {
        write(settings, before.as_deref(), change, &mut record, arguments.undo)?;
    }
    let is_changed = !to_change.is_empty();
    let entry_only = changes.iter().any(|(_, _, change)| change.entry_only);
    let file = |(settings, before, change): &(&SettingsFile, Option<String>, Change)| InstalledFile {
        path: settings.path.clone(),
        is_hooks: settings.is_hooks(),
        changed: *before != change.after,
    };
    let installed: Vec<InstalledFile> = changes.iter().map(file).collect();
    let answer = Installed {
        client: client.as_str(),
        path: &installed[0].path,
        changed: is_changed,
        installed: !arguments.undo,
        entry_only,
        files: &installed,
    };
    program.output.answer(&answer, |_| in_words(client, arguments, &installed))?;
    if !program.output.in_json() && is_changed {
        let has_hooks = installed.iter().any(|file| file.is_hooks);
        remarks(client, arguments, &entries.server, entry_only, has_hooks, program);
    }
    Ok(())
}

/// The clients whose own files hold our hooks.
pub fn clients_with_hooks() -> Result<Vec<Client>, ServiceError> {
    let mut found = Vec::new();
    for client in Client::value_variants() {
        let Some(settings) = client::hooks_file(*client, false)? else { continue };
        let text = file::read(&settings.path)?;
        if text.is_some_and(|text| hooks_document::edited(&text, *client, None).is_ok_and(|without| without != text)) {
            found.push(*client);
        }
    }
    Ok(found)
}

/// The files of an agent that are ours to change, as far as they were asked for.
fn files(client: Client, arguments: &InstallArguments) -> Result<Vec<SettingsFile>, ServiceError> {
    let mut files = Vec::new();
    if !arguments.no_mcp {
        files.push(client::settings_file(client, arguments.project)?);
    }
    if !arguments.no_hooks {
        files.extend(client::hooks_file(client, arguments.project)?);
    }
    if files.is_empty() {
        let error = ServiceError::invalid(format!(
            "there are no hooks for {}{}",
            client.name(),
            if arguments.project { " in a project" } else { "" }
        ));
        return Err(error.with_hint("drop `--no-mcp`"));
    }
    Ok(files)
}

/// What goes into the files.
struct Entries {
    server: Entry,
    hook: HookEntry,
}

fn print(client: Client, files: &[SettingsFile], entries: &Entries, program: &Program) -> Result<(), Failure> {
    let server = files.iter().find(|file| !file.is_hooks());
    let hooks = files.iter().find(|file| file.is_hooks());
    let printed = Printed {
        client: client.as_str(),
        path: &files[0].path,
        entry: server.map(|file| entries.server.as_json(file)),
        hooks: hooks.map(|file| json!({"path": file.path, "hooks": hooks_document::printed(client, &entries.hook)})),
    };
    // What is piped into the file of a client is one document; a person sees where each belongs.
    program.output.answer(&printed, |_| snippet(&files[0], entries))?;
    if !program.output.in_json() {
        for file in &files[1..] {
            program.output.talk(&format!(
                "in {}:\n{}",
                escaped(&file.path.display().to_string()),
                snippet(file, entries)
            ));
        }
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

fn put_in(settings: &SettingsFile, before: Option<&str>, entry: &Entries) -> Result<Change, String> {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<Fields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hooks: Option<Fields>,
}

/// What `--json` prints otherwise.
#[derive(Serialize)]
struct Installed<'a> {
    client: &'static str,
    path: &'a Path,
    changed: bool,
    installed: bool,
    /// Undo found a file changed and took out nothing but the entry.
    entry_only: bool,
    files: &'a [InstalledFile],
}

#[derive(Serialize)]
struct InstalledFile {
    path: PathBuf,
    is_hooks: bool,
    changed: bool,
}

/// The whole text of the file with our entry in it, or without it.
fn edited(settings: &SettingsFile, text: &str, entry: Option<&Entries>) -> Result<String, String> {
    match settings.format {
        Format::Json { servers, has_comments, .. } => {
            let fields = entry.map(|entry| entry.server.as_json(settings));
            json_document::edited(text, servers, has_comments, fields.as_ref())
        }
        Format::Toml { servers } => toml_document::edited(text, servers, entry.map(|entry| &entry.server)),
        Format::Hooks { client } => hooks_document::edited(text, client, entry.map(|entry| &entry.hook)),
    }
}

/// What belongs in the file, for those who put it there by hand.
fn snippet(settings: &SettingsFile, entry: &Entries) -> String {
    edited(settings, "", Some(entry)).expect("an empty file takes an entry")
}

fn refuse(
    settings: &SettingsFile,
    entry: &Entries,
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

fn show_and_ask(changes: &[&(&SettingsFile, Option<String>, Change)], program: &Program) -> Result<(), Failure> {
    let mut questions = Vec::new();
    for (settings, before, change) in changes {
        let (path, after) = (&settings.path, change.after.as_deref());
        if !program.output.in_json() {
            program.output.talk(&difference(path, before.as_deref().unwrap_or_default(), after.unwrap_or_default()));
        }
        let what = match (before, after) {
            (None, _) => "create",
            (Some(_), None) => "remove",
            (Some(_), Some(_)) => "change",
        };
        questions.push(format!("{what} {}", escaped(&path.display().to_string())));
    }
    if questions.is_empty() { Ok(()) } else { prompt::confirm(program, &questions.join(" and ")) }
}

fn write(
    settings: &SettingsFile,
    before: Option<&str>,
    change: &Change,
    record: &mut Record,
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

fn in_words(client: Client, arguments: &InstallArguments, files: &[InstalledFile]) -> String {
    let line = |file: &InstalledFile| {
        let client = client.name();
        let path = escaped(&file.path.display().to_string());
        let what = if file.is_hooks { "hooks " } else { "" };
        match (arguments.undo, file.changed) {
            (false, true) => format!("{what}installed for {client}: {path}\n"),
            (false, false) => format!("{what}already installed for {client}: {path}\n"),
            (true, true) => format!("{what}removed from {client}: {path}\n"),
            (true, false) => format!("{what}not installed for {client}: {path}\n"),
        }
    };
    files.iter().map(line).collect()
}

fn remarks(
    client: Client,
    arguments: &InstallArguments,
    entry: &Entry,
    entry_only: bool,
    has_hooks: bool,
    program: &Program,
) {
    if entry_only {
        program.output.talk("the file has changed since it was installed: only our entry was taken out");
    }
    if arguments.undo {
        return;
    }
    if has_hooks {
        program.output.talk(
            "hooks: the agent hears what you pinned, said or decided, beside its own memory; `rootset hooks off` stops that",
        );
        if client == Client::Cursor {
            program.output.talk("Cursor's hooks follow its documentation and were never tried: tell us what you see");
        }
        if client == Client::Codex {
            program.output.talk("Codex runs hooks only once you trust them: start it and run /hooks");
        }
    }
    if arguments.no_mcp {
        program.output.talk(&format!("undo: rootset install {} --undo", client.as_str()));
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
