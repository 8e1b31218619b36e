//! `get_symbol`: what a name stands for, in a few lines or in full, and the outline of a file. Answers have room for about
//! 4,000 tokens; what has none is counted, and asked for by `offset`.

use std::sync::Arc;

use rootset_api::{GetSymbol, SymbolAnswer, SymbolResult};
use rootset_model::limits::SYMBOL_ANSWER_BYTES_MAX;
use rootset_store::{SymbolRow, Workspace};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::not_negative;
use crate::freshening::Told;
use crate::operation::Operation;
use crate::service::Service;

/// What is shown of a symbol, unless all of it is asked for.
const FIRST_LINES: usize = 12;
/// Less of a text shows nothing.
const TEXT_BYTES_MIN: usize = 200;
/// What the fields of a result take beside its names and texts.
const RESULT_BYTES: usize = 40;
/// Symbols whose texts are loaded: more have no room in an answer.
const SHOWN_MAX: usize = 100;

impl Operation for GetSymbol {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<SymbolAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let repo = service.repo_or_own_tree(caller, &workspace, self.repo.clone())?;
        let freshness = service.freshen(caller, &workspace, repo.as_deref())?;
        let answer = indexed(&self, service, &workspace, repo.as_deref())?;
        let files = answer.results.iter().map(|it| (it.repo.as_str(), it.file_path.as_str()));
        let Told { changed_files, indexing } = service.tell(&freshness, &workspace, files)?;
        Ok(SymbolAnswer { changed_files, indexing, ..answer })
    }
}

/// What the index says.
fn indexed(
    request: &GetSymbol,
    service: &Service,
    workspace: &Workspace,
    repo: Option<&str>,
) -> Result<SymbolAnswer, ServiceError> {
    let offset = usize::try_from(not_negative("offset", request.offset)?).unwrap_or(usize::MAX);
    let path = request.file_path.as_deref().map(str::trim).filter(|path| !path.is_empty());
    match (request.qualified_name.as_deref(), path) {
        (Some(name), path) => {
            let mut symbols = service.symbols(workspace, name, repo)?;
            if let Some(path) = path {
                let paths = service.paths_meant_by(workspace, path)?;
                symbols.retain(|symbol| paths.contains(&symbol.path));
            }
            if symbols.is_empty() {
                return Ok(unknown(service.nearest_symbols(workspace, name, repo)?));
            }
            // The name in full comes before names that only end like it, and code before fields.
            let is_full = |symbol: &SymbolRow| symbol.qualified_name == name;
            symbols.sort_by_key(|symbol| (!is_full(symbol), symbol.kind.is_value()));
            texts(service, workspace, symbols, offset, request.full.unwrap_or(false))
        }
        (None, Some(path)) => {
            let paths = service.paths_meant_by(workspace, path)?;
            let symbols = service.store.symbols_at(workspace, &paths, repo, service.now())?;
            if symbols.is_empty() {
                return Ok(unknown(service.nearest_paths(workspace, path, repo)?));
            }
            service.uses.record(workspace, symbols.first().map(|symbol| symbol.memory), service.now());
            Ok(outline(symbols, offset))
        }
        (None, None) => Err(ServiceError::invalid("neither `qualified_name` nor `file_path` is given".to_owned())),
    }
}

fn unknown(nearest: Vec<String>) -> SymbolAnswer {
    let nearest = Some(nearest).filter(|names| !names.is_empty());
    SymbolAnswer { results: Vec::new(), known: false, nearest, total: None, changed_files: None, indexing: None }
}

/// Texts, or their first lines.
fn texts(
    service: &Service,
    workspace: &Workspace,
    symbols: Vec<SymbolRow>,
    offset: usize,
    is_full: bool,
) -> Result<SymbolAnswer, ServiceError> {
    let total = symbols.len();
    let shown: Vec<SymbolRow> = symbols.into_iter().skip(offset).take(SHOWN_MAX).collect();
    let mut files: Vec<_> = shown.iter().map(|symbol| symbol.memory).collect();
    files.sort_unstable();
    files.dedup();
    let texts = service.store.file_texts(workspace, &files, service.now())?;
    service.uses.record(workspace, files, service.now());
    let mut room = SYMBOL_ANSWER_BYTES_MAX;
    let mut results = Vec::new();
    for symbol in shown {
        let text = texts.iter().find(|(memory, _)| *memory == symbol.memory);
        let Some(whole) = text.and_then(|(_, text)| text.get(symbol.start..symbol.start + symbol.length)) else {
            continue;
        };
        // A result without text says nothing: what has no room is counted.
        let names = bytes_of_names(&symbol);
        if room < names + TEXT_BYTES_MIN {
            break;
        }
        room -= names;
        let text = cut(if is_full { whole } else { first_lines(whole) }, room);
        room -= text.len();
        let full_length = (text.len() < whole.len()).then_some(whole.len());
        results.push(result(symbol, Some(text.to_owned()), full_length));
    }
    Ok(answer(results, offset, total))
}

/// Everything in a file but the file itself, by its signatures. A file that defines nothing is known, too.
fn outline(symbols: Vec<SymbolRow>, offset: usize) -> SymbolAnswer {
    let defined: Vec<SymbolRow> = symbols.into_iter().filter(|symbol| symbol.ordinal != 0).collect();
    let total = defined.len();
    let mut room = SYMBOL_ANSWER_BYTES_MAX;
    let mut results = Vec::new();
    for symbol in defined.into_iter().skip(offset) {
        let bytes = bytes_of_names(&symbol);
        if room < bytes {
            break;
        }
        room -= bytes;
        results.push(result(symbol, None, None));
    }
    answer(results, offset, total)
}

fn bytes_of_names(symbol: &SymbolRow) -> usize {
    RESULT_BYTES + symbol.qualified_name.len() + symbol.path.len() + symbol.signature.len()
}

fn result(symbol: SymbolRow, text: Option<String>, full_length: Option<usize>) -> SymbolResult {
    SymbolResult {
        qualified_name: symbol.qualified_name,
        kind: symbol.kind.as_str().to_owned(),
        repo: symbol.repo,
        file_path: symbol.path,
        lines: [symbol.first_line, symbol.last_line],
        signature: symbol.signature,
        text,
        full_length,
    }
}

fn answer(results: Vec<SymbolResult>, offset: usize, total: usize) -> SymbolAnswer {
    let is_all = offset == 0 && results.len() == total;
    let total = (!is_all).then_some(total);
    SymbolAnswer { results, known: true, nearest: None, total, changed_files: None, indexing: None }
}

fn first_lines(text: &str) -> &str {
    text.match_indices('\n').nth(FIRST_LINES - 1).map_or(text, |(at, _)| &text[..at])
}

/// As much of a text as there is room for, on a character boundary.
fn cut(text: &str, bytes_max: usize) -> &str {
    let mut end = bytes_max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

impl Service {
    /// Paths in repositories that a path may mean: as it is, below a repository's folder, behind a repository's name.
    fn paths_meant_by(&self, workspace: &Workspace, path: &str) -> Result<Vec<String>, ServiceError> {
        let plain = path.strip_prefix("./").unwrap_or(path);
        let mut paths = vec![plain.to_owned()];
        for view in self.store.repos(workspace)? {
            for start in [view.row.root.trim_end_matches('/'), view.row.repo.as_str()] {
                paths.extend(plain.strip_prefix(start).and_then(|rest| rest.strip_prefix('/')).map(str::to_owned));
            }
        }
        paths.sort_unstable();
        paths.dedup();
        Ok(paths)
    }
}
