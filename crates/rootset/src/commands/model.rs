//! `rootset model`: the models that run inside Rootset, kept below the data folder.

mod catalogue;
mod keep;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use rootset_api::ErrorCode;
use rootset_provider::{DownloadError, Embedder, Hub, LocalEmbedder, ModelSummary, WantedFile};
use rootset_service::ServiceError;
use serde::Serialize;

use self::catalogue::KnownModel;
use self::keep::Part;
use crate::configuration::{self, EmbedModel};
use crate::exit::Failure;
use crate::program::Program;
use crate::progress::Bar;
use crate::prompt;
use crate::render::{Column, Table, bytes, escaped};

#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Fetch a model once, after showing its size and licence
    Get(GetArguments),
    /// Take a model that is on this machine
    Add(AddArguments),
    /// List the models that are here, and those that can be fetched
    List,
    /// Remove a model; vectors that it made stay until another model replaces them
    Remove {
        /// Its name in `rootset model list`
        name: String,
    },
}

#[derive(Debug, Args)]
pub struct GetArguments {
    /// Its name in `rootset model list`
    #[arg(required_unless_present = "manifest", conflicts_with = "manifest")]
    name: Option<String>,
    /// A JSON file that describes another model: name, about, licence, place, files with bytes and sha256
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct AddArguments {
    /// The folder with config.json, model.safetensors and tokenizer.json or vocab.txt
    folder: PathBuf,
    /// The name to keep it under; default: the name of the folder
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Link to the folder instead of copying it
    #[arg(long)]
    link: bool,
}

/// A model that is here.
#[derive(Debug, Serialize)]
struct Kept {
    name: String,
    path: String,
    bytes: u64,
    is_in_use: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimension: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_tokens: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

#[derive(Debug, Serialize)]
struct Listed {
    models: Vec<Kept>,
    can_be_fetched: Vec<Fetchable>,
}

#[derive(Debug, Serialize)]
struct Fetchable {
    name: String,
    about: String,
    licence: String,
    bytes: u64,
}

#[derive(Debug, Serialize)]
struct Removed {
    name: String,
    removed: bool,
}

pub fn run(command: ModelCommand, program: &Program) -> Result<(), Failure> {
    match command {
        ModelCommand::Get(arguments) => get(&arguments, program),
        ModelCommand::Add(arguments) => add(&arguments, program),
        ModelCommand::List => list(program),
        ModelCommand::Remove { name } => remove(&name, program),
    }
}

fn get(arguments: &GetArguments, program: &Program) -> Result<(), Failure> {
    let model = match (&arguments.manifest, &arguments.name) {
        (Some(path), _) => catalogue::from_manifest(path)?,
        (None, name) => catalogue::find(name.as_deref().unwrap_or_default())?,
    };
    let target = configuration::model(&model.name)?;
    refuse_if_there(&target, &model.name)?;
    let hub =
        Hub::new(&program.configuration()?.model_hub).map_err(|error| ServiceError::invalid(error.to_string()))?;
    let (size, host) = (bytes(i64::try_from(model.bytes()).unwrap_or(i64::MAX)), escaped(hub.host()));
    program.output.talk(&format!("{}: {}", escaped(&model.name), escaped(&model.about)));
    program.output.talk(&format!("licence: {}", escaped(&model.licence)));
    prompt::confirm(program, &format!("fetch {size} from {host} into {}", target.display()))?;
    let part = Part::begin(&target)?;
    let bar = Bar::of_bytes(program.output.shows_progress());
    fetch_all(&hub, &model, &part, &bar)?;
    drop(bar);
    let summary = check(part.path())?;
    part.finish(&target)?;
    told(program, &target, &summary)
}

fn fetch_all(hub: &Hub, model: &KnownModel, part: &Part, bar: &Bar) -> Result<(), ServiceError> {
    part.keep_only(&model.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>());
    let total = model.bytes();
    let mut before = 0;
    for known in &model.files {
        let path = format!("{}/{}", model.place, known.name);
        let wanted = WantedFile { path: &path, bytes: known.bytes, checksum: &known.sha256 };
        let mut file = part.file(&known.name)?;
        hub.fetch(wanted, &mut file, |have| bar.show(before + have, total)).map_err(failed)?;
        before += known.bytes;
    }
    Ok(())
}

fn failed(error: DownloadError) -> ServiceError {
    let code = match &error {
        DownloadError::NotThere { .. } => ErrorCode::NotFound,
        _ => ErrorCode::Internal,
    };
    let hint = match &error {
        _ if error.can_be_resumed() => "run the same command again: it goes on where it stopped",
        DownloadError::WrongChecksum { .. } | DownloadError::TooLarge { .. } => {
            "what arrived was thrown away; check `models.hub`, or fetch the model yourself and use `rootset model add FOLDER`"
        }
        DownloadError::Write(_) => "check the free space and the rights of the data folder",
        _ => "check `models.hub`, or fetch the model yourself and use `rootset model add FOLDER`",
    };
    ServiceError::new(code, error.to_string()).with_hint(hint)
}

fn add(arguments: &AddArguments, program: &Program) -> Result<(), Failure> {
    let folder = std::fs::canonicalize(&arguments.folder).map_err(|error| {
        ServiceError::invalid(format!("`{}`: {error}", arguments.folder.display()))
            .with_hint("name the folder that holds config.json and model.safetensors")
    })?;
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => folder.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default(),
    };
    let target = configuration::model(&name)?;
    refuse_if_there(&target, &name)?;
    let summary = check(&folder)?;
    if arguments.link {
        keep::link(&folder, &target)?;
    } else {
        let part = Part::begin(&target)?;
        part.copy_from(&folder)?;
        part.finish(&target)?;
    }
    told(program, &target, &summary)
}

/// The model is read as it will be when it is used: what cannot be used is not kept.
fn check(folder: &Path) -> Result<ModelSummary, ServiceError> {
    let model = LocalEmbedder::load(folder).and_then(|model| model.embed(&["a text"]).map(|_| model.summary()));
    model.map_err(|error| ServiceError::invalid(error.to_string()))
}

fn refuse_if_there(target: &Path, name: &str) -> Result<(), ServiceError> {
    if target.symlink_metadata().is_err() {
        return Ok(());
    }
    let message = format!("there is a model `{name}` already");
    Err(ServiceError::new(ErrorCode::Conflict, message)
        .with_hint(format!("`rootset model list` shows it, `rootset model remove {name}` removes it")))
}

fn told(program: &Program, target: &Path, summary: &ModelSummary) -> Result<(), Failure> {
    let mut kept = kept(target, program)?;
    (kept.dimension, kept.window_tokens) = (Some(summary.dimension), Some(summary.window_tokens));
    program.output.answer(&kept, |kept| {
        let (name, size) = (escaped(&kept.name), bytes(i64::try_from(kept.bytes).unwrap_or(i64::MAX)));
        let use_it = if kept.is_in_use {
            String::new()
        } else {
            let named = if kept.name == configuration::MODEL_DEFAULT { "" } else { "`embed.model` to its name, " };
            format!("to search with it, set {named}`embed.provider` to `local`\n")
        };
        format!("{name}: {size}, {} dimensions, in {}\n{use_it}", summary.dimension, escaped(&kept.path))
    })
}

fn list(program: &Program) -> Result<(), Failure> {
    let mut models = Vec::new();
    for folder in keep::folders(&configuration::models()?)? {
        let mut kept = kept(&folder, program)?;
        match check(&folder) {
            Ok(summary) => {
                (kept.dimension, kept.window_tokens) = (Some(summary.dimension), Some(summary.window_tokens));
            }
            Err(error) => kept.problem = Some(error.message.clone()),
        }
        models.push(kept);
    }
    let fetchable = |model: KnownModel| Fetchable {
        bytes: model.bytes(),
        name: model.name,
        about: model.about,
        licence: model.licence,
    };
    let is_here = |model: &KnownModel| models.iter().any(|kept| kept.name == model.name);
    let can_be_fetched = catalogue::known().into_iter().filter(|model| !is_here(model)).map(fetchable).collect();
    program.output.answer(&Listed { models, can_be_fetched }, in_words)
}

fn in_words(listed: &Listed) -> String {
    let size = |count: u64| bytes(i64::try_from(count).unwrap_or(i64::MAX));
    let mut text = String::new();
    if listed.models.is_empty() {
        text.push_str("no model is here\n");
    } else {
        let mut table = Table::new([
            Column::name("MODEL"),
            Column::fixed("SIZE"),
            Column::fixed("DIMENSIONS").spare(),
            Column::text("STATE"),
        ]);
        for kept in &listed.models {
            let state = match (&kept.problem, kept.is_in_use) {
                (Some(problem), _) => escaped(problem),
                (None, true) => "in use".to_owned(),
                (None, false) => "ready".to_owned(),
            };
            let dimension = kept.dimension.map(|it| it.to_string()).unwrap_or_default();
            table.row([escaped(&kept.name), size(kept.bytes), dimension, state]);
        }
        text.push_str(&table.finish());
    }
    for model in &listed.can_be_fetched {
        let Fetchable { name, about, licence, bytes } = model;
        text.push_str(&format!("rootset model get {name}: {about}; {}, licence {licence}\n", size(*bytes)));
    }
    text
}

fn remove(name: &str, program: &Program) -> Result<(), Failure> {
    let target = configuration::model(name)?;
    if !keep::is_there(&target) {
        let message = format!("there is no model `{name}`");
        let error = ServiceError::new(ErrorCode::NotFound, message);
        return Err(error.with_hint("`rootset model list` shows what is here").into());
    }
    let in_use = if kept(&target, program)?.is_in_use { ", which searches use," } else { "" };
    prompt::confirm(program, &format!("remove the model `{name}`{in_use} from {}", target.display()))?;
    keep::remove(&target)?;
    program.output.answer(&Removed { name: name.to_owned(), removed: true }, |_| format!("removed {name}\n"))
}

fn kept(folder: &Path, program: &Program) -> Result<Kept, ServiceError> {
    let is_in_use = matches!(&program.configuration()?.embed, EmbedModel::Local(used) if used == folder);
    Ok(Kept {
        name: folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        path: folder.display().to_string(),
        bytes: keep::bytes(folder),
        is_in_use,
        dimension: None,
        window_tokens: None,
        problem: None,
    })
}
